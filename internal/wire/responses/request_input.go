package responses

import (
	"fmt"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// inputField takes input: a text, or a list of items.
func (s *requestScan) inputField() error {
	s.input = true
	if s.Kind() == scan.KindString {
		s.words()
		s.r.opening.Settle(0, request.PartUser)
		return nil
	}
	if !s.EnterArray() {
		return s.WrongType("input", "a string or an array")
	}
	var foreign []scan.Member // items that no upstream of the protocol can read
	i := 0
	for ; s.Element(); i++ {
		s.Kind() // brings the position to the value
		start := s.Pos()
		if err := s.ObjectAt("input", i); err != nil {
			return err
		}
		if s.item(i) {
			foreign = append(foreign, scan.Member{Index: i, KeyStart: start, End: s.Pos()})
		}
	}
	if s.Err() == nil {
		s.r.foreign = scan.Remove(nil, s.r.body, foreign...)
	}
	if i == 0 && s.Err() == nil {
		s.input = false // as good as none
	}
	return nil
}

// item is what an item says of itself before it is known what it is: its type
// may stand behind everything else.
type item struct {
	kind      string
	id        string
	role      request.Part
	encrypted []byte
}

// item takes one item of the input, of which the cursor is inside, and reports
// whether it is a thought of another maker's model.
func (s *requestScan) item(index int) (foreign bool) {
	var it item
	var room [2]string
	ids := room[:0] // an upstream might read any of them
	mark := s.r.opening.Len()
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			it.kind = request.LooseText(&s.Cursor)
		case "id":
			if it.id = request.LooseText(&s.Cursor); it.id != "" {
				ids = append(ids, it.id)
			}
		case "role":
			it.role = s.Role()
		case "content":
			s.content()
		case "output":
			s.content()
		case "name", "arguments", "input":
			s.r.TextBytes += s.TextBytes()
		case "encrypted_content":
			it.encrypted, _, _ = s.Text()
		}
	}
	s.r.opening.Settle(mark, it.role)
	if it.kind == "reasoning" && request.IsForeign(it.encrypted) {
		return true
	}
	if s.settle(&it, index) {
		s.r.Owned.References = append(s.r.Owned.References, ids...)
	}
	return false
}

// settle notes what the item names of an upstream's state, and whether it is one
// that only an upstream of this protocol knows. It reports whether the item does
// nothing but refer to another.
func (s *requestScan) settle(it *item, index int) (reference bool) {
	o := &s.r.Owned
	o.addItem(it.id)
	o.addEncrypted(it.encrypted)
	switch it.kind {
	case "", "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output":
		if it.kind != "" || it.role != request.PartNone {
			return false
		}
		reference = true // without anything that would make an item
	case "reasoning":
		return false
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools":
		return false // what the upstream did by itself; the answer that follows says what came of it
	case "item_reference":
		reference = true
	}
	s.r.native(fmt.Sprintf("input[%d].type", index))
	return reference
}

// words takes a text that the model will read and that may open the
// conversation.
func (s *requestScan) words() {
	start := s.Pos()
	s.r.TextBytes += s.TextBytes()
	s.r.opening.Add(request.PartNone, start+1, s.Pos()-1)
}

// content takes the content of a message or what a call gave: a text, or a list
// of parts.
func (s *requestScan) content() {
	if s.Kind() == scan.KindString {
		s.words()
		return
	}
	if !s.EnterArray() {
		return // null, or the upstream's to judge
	}
	for s.Element() {
		if s.EnterObject() {
			s.part()
		}
	}
}

// part takes a part of a content, of which the cursor is inside. Its type says
// what the model must be able to read.
func (s *requestScan) part() {
	var start, end int
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			s.partType()
		case "text", "refusal":
			if s.Kind() == scan.KindString {
				s.words()
			}
		case "image_url", "input_audio", "file_data", "file_id", "file_url":
			start, end = s.Skip()
		}
	}
	s.r.opening.Add(request.PartNone, start, end)
}

func (s *requestScan) partType() {
	raw, _, _ := s.Text()
	switch string(raw) {
	case "input_image":
		s.r.Vision = true
	case "input_audio":
		s.r.Audio = true
	case "input_file":
		s.r.Files = true
	}
}
