package anthropic

import (
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// place says where a text stands, for what identifies a conversation.
type place uint8

const (
	placeElse place = iota
	placeSystem
	placeFirst // the first user's message
)

// system takes the system text: a text, or a list of text blocks.
func (s *requestScan) system() {
	s.content(placeSystem)
}

// message takes one message, of which the cursor is inside. Its role may stand
// behind its content, so what it adds to the opening is taken back if it turns
// out to be no user's.
func (s *requestScan) message() {
	s.history.begin()
	o := &s.r.opening
	where, user := placeFirst, false
	if o.done {
		where = placeElse
	}
	for s.Member() {
		switch string(s.Key()) {
		case "role":
			raw, _, _ := s.Text()
			user = string(raw) == "user"
			s.history.role = string(raw)
		case "content":
			s.content(where)
		}
	}
	s.history.end()
	if where != placeFirst {
		return
	}
	if !user {
		o.first = texts{}
	}
	o.done = user
}

// content takes a content: a text, or a list of blocks.
func (s *requestScan) content(where place) {
	if s.Kind() == scan.KindString {
		s.counted(where)
		return
	}
	if !s.EnterArray() {
		return // null, or the upstream's to judge
	}
	inside := s.inside
	s.inside = true
	var m removal
	open := s.Pos()
	for i := 0; s.Element(); i++ {
		kind, foreign := s.Kind(), false
		start := s.Pos()
		switch kind {
		case scan.KindString:
			s.counted(where)
		case scan.KindObject:
			foreign = s.block(where)
		case scan.KindInvalid, scan.KindNull, scan.KindBool, scan.KindNumber, scan.KindArray:
			s.Skip()
		}
		m.note(s.r, i, start, s.Pos(), foreign)
		if !inside && kind == scan.KindObject {
			s.history.block(s.kind, foreign)
		}
	}
	s.inside = inside
	m.close(s.r, open)
}

// counted takes a text that the model will read.
func (s *requestScan) counted(where place) {
	start := s.Pos()
	_, decoded, ok := s.Text()
	if !ok {
		return
	}
	s.r.TextBytes += int64(decoded)
	found := span{start + 1, s.Pos() - 1}
	switch where {
	case placeSystem:
		s.r.opening.addSystem(s.r.body, found)
	case placeFirst:
		s.r.opening.first.add(found)
	case placeElse:
	}
}

// block takes one block of a content. Its type says what the model must be able
// to read, and is looked at nowhere else: a tool may well have a property of
// type "image". It reports whether the block is a foreign thought.
func (s *requestScan) block(where place) (foreign bool) {
	s.EnterObject()
	var source span
	var document, file bool
	var typ string
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			raw, _, _ := s.Text()
			typ = blockType(raw)
			s.r.Vision = s.r.Vision || string(raw) == "image"
			document = string(raw) == "document"
		case "text", "thinking", "title", "context":
			if s.Kind() == scan.KindString {
				s.counted(where)
			}
		case "content": // of a tool's result
			s.Kind()
			s.content(where)
		case "input":
			before := s.StringBytes()
			s.Skip()
			s.r.TextBytes += s.StringBytes() - before
		case "signature":
			raw, _, _ := s.Text()
			foreign = request.IsForeign(raw)
		case "source":
			s.Kind()
			source.start = s.Pos()
			file = s.source()
			source.end = s.Pos()
		}
	}
	s.kind = typ
	s.r.Files = s.r.Files || document && file
	if where == placeFirst {
		s.r.opening.first.add(source)
	}
	return foreign
}

// source takes where an image or a document comes from, and reports whether it
// is more than text.
func (s *requestScan) source() (file bool) {
	if !s.EnterObject() {
		return false
	}
	var kind string
	var text int64
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			raw, _, _ := s.Text()
			kind = string(raw)
		case "data":
			_, decoded, _ := s.Text()
			text = int64(decoded)
		case "content":
			s.Kind()
			s.content(placeElse)
		}
	}
	switch kind {
	case "text":
		s.r.TextBytes += text
		return false
	case "content":
		return false
	case "file": // that lies in the maker's store
		s.r.native("source.type file")
	}
	return true
}
