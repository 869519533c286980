package openai

import (
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// said is what a message, or a piece of one, holds.
type said uint8

const (
	saidText    said = 1 << iota // text or reasoning
	saidCall                     // a tool call
	saidMedia                    // sound or images
	saidRefusal                  // a refusal

	saidContent = saidText | saidCall | saidMedia
)

// messageScan walks over the message of a choice or the delta of a chunk and
// collects the edits that mend it.
type messageScan struct {
	*scan.Cursor
	body   []byte // what the cursor walks over
	edits  []scan.Edit
	choice int        // index of the choice
	table  *callTable // of the stream, nil for a whole answer
	ending bool       // the choice ends with this chunk
	think  *thinking  // splits the text, nil if it stays as it is
	text   *textPlaces

	said  said
	texts int  // strings that are not empty
	last  span // of them, with its quotes
	open  int  // offset behind the brace
	bare  bool // there are no members
	calls bool // there is a list of tool calls, empty or not

	inserted bool // something was inserted at open that no comma follows
}

// walk takes the message that is due and reports false if it is no object.
func (m *messageScan) walk() bool {
	if !m.EnterObject() {
		return false
	}
	m.open, m.bare = m.Pos(), true
	for m.Member() {
		m.bare = false
		if m.think != nil && m.takeText() {
			continue
		}
		switch string(m.Key()) {
		case "content":
			m.content()
		case "reasoning_content", "reasoning", "reasoning_details":
			m.noteText()
		case "refusal":
			m.note(saidRefusal)
		case "tool_calls":
			m.toolCalls()
		case "function_call":
			m.note(saidCall)
		case "audio", "images":
			m.note(saidMedia)
		}
	}
	if m.think != nil {
		m.splitText()
	}
	return true
}

// note takes a value and notes what it is unless it is empty.
func (m *messageScan) note(what said) {
	if request.Filled(m.Cursor) {
		m.said |= what
	}
}

// noteText takes a text, or what stands in its place.
func (m *messageScan) noteText() {
	isString := m.Kind() == scan.KindString
	start := m.Pos()
	if !request.Filled(m.Cursor) {
		return
	}
	m.said |= saidText
	if isString {
		m.texts++
		m.last = span{start, m.Pos()}
	} else {
		m.texts += 2 // the parts of a list are not looked for
	}
}

// onlyText returns where the text stands if the message holds one and nothing
// else.
func (m *messageScan) onlyText() span {
	if m.texts != 1 || m.said != saidText {
		return span{}
	}
	return m.last
}

// content takes the content: a text, or a list of parts, which clients of the
// protocol do not expect in an answer. Such a list becomes one text; parts that
// think become reasoning_content before it.
func (m *messageScan) content() {
	if m.Kind() != scan.KindArray {
		m.noteText()
		return
	}
	keyStart, start := m.KeyStart(), m.Pos()
	var text, thinking []byte
	known := false
	m.EnterArray()
	for m.Element() {
		if !m.EnterObject() {
			continue
		}
		for m.Member() {
			switch string(m.Key()) {
			case "text":
				text, known = m.join(text), true
			case "thinking":
				thinking, known = m.join(thinking), true
			}
		}
	}
	if m.Err() != nil {
		return
	}
	if !known {
		return // parts of another kind: as they are
	}
	if len(thinking) > 0 {
		insert := append([]byte(`"reasoning_content":"`), thinking...)
		m.edits = append(m.edits, scan.Edit{Start: keyStart, End: keyStart, Text: append(insert, `",`...)})
	}
	flat := append([]byte{'"'}, text...)
	m.edits = append(m.edits, scan.Edit{Start: start, End: m.Pos(), Text: append(flat, '"')})
	if len(text)+len(thinking) > 0 {
		m.said |= saidText
	}
}

// join appends the raw text that is due, or the texts of a list of parts, to
// dst. Texts with their escapes can be joined as they are.
func (m *messageScan) join(dst []byte) []byte {
	if raw, _, ok := m.Text(); ok {
		return append(dst, raw...)
	}
	if !m.EnterArray() {
		return dst
	}
	for m.Element() {
		if !m.EnterObject() {
			continue
		}
		for m.Member() {
			if string(m.Key()) != "text" {
				continue
			}
			if raw, _, ok := m.Text(); ok {
				dst = append(dst, raw...)
			}
		}
	}
	return dst
}

func (m *messageScan) toolCalls() {
	if !m.EnterArray() {
		return
	}
	m.calls = true
	for i := 0; m.Element(); i++ {
		m.said |= saidCall
		call := readCall(m.Cursor)
		switch {
		case !call.function || m.Err() != nil:
		case m.table == nil:
			m.mendWhole(&call, i)
		default:
			m.table.mend(m, &call)
		}
	}
}
