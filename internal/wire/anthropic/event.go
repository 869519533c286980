package anthropic

import (
	"strings"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// eventKind is what an event is by its type.
type eventKind uint8

const (
	kindOther eventKind = iota
	kindStart
	kindBlockStart
	kindBlockDelta
	kindBlockStop
	kindDelta
	kindStop
	kindPing
	kindError
)

func kindOf(name []byte) eventKind {
	switch string(name) {
	case "message_start":
		return kindStart
	case "content_block_start":
		return kindBlockStart
	case "content_block_delta":
		return kindBlockDelta
	case "content_block_stop":
		return kindBlockStop
	case "message_delta":
		return kindDelta
	case "message_stop":
		return kindStop
	case "ping":
		return kindPing
	case "error":
		return kindError
	}
	return kindOther
}

// eventScan is one walk over an event.
type eventScan struct {
	scan.Cursor
	s      *Stream
	kind   eventKind
	typ    []byte // empty if there is none
	edits  []scan.Edit
	counts Counts // of the stream with this event's

	index   int
	says    bool // there is something to see
	calls   bool // a tool is called
	ends    bool // there is a stop_reason
	refusal bool
	message bool   // there is a message
	fault   bool   // there is an error inside
	words   bool   // there is a message where a message of an error may be
	odd     string // what is wrong with the event, which is JSON
}

// name returns the name that the event goes by: its type, or else the one that
// it came with.
func (e *eventScan) name(sent []byte) []byte {
	if len(e.typ) > 0 {
		return e.typ
	}
	return sent
}

// top walks over the members of an event and adds what the libraries of the
// makers cannot do without.
func (e *eventScan) top(sent []byte) {
	if !e.EnterObject() {
		if e.Err() == nil {
			e.Fail("the event is not an object")
		}
		return
	}
	open, members := e.Pos(), 0
	var usage member
	for ; e.Member(); members++ {
		switch string(e.Key()) {
		case "type":
			raw, decoded, ok := e.Text()
			if !ok {
				e.odd = "the type of the event is no string"
			}
			if e.typ = raw; decoded != len(raw) {
				e.typ = scan.AppendText(nil, raw)
			}
		case "index":
			if e.Kind() == scan.KindNumber {
				n, _ := request.Integer(e.Raw())
				e.index = int(n)
			}
		case "message":
			e.start()
		case "content_block":
			e.block()
		case "delta":
			e.delta()
		case "usage":
			usage = e.member(scan.KindObject)
			e.counts.Add(&e.Cursor)
			usage.end = e.end()
		case "error":
			e.fault = request.Filled(&e.Cursor) || e.fault
		}
	}
	if e.Err() != nil {
		return
	}
	e.kind = kindOf(e.name(sent))
	switch {
	case e.fault || e.odd != "":
	case len(e.name(sent)) == 0 && e.words:
		e.fault = true
	case len(e.name(sent)) == 0:
		e.odd = "the event has no type"
	case len(e.typ) == 0:
		e.fill(member{}, open, members == 0, `"type":`+string(scan.AppendString(nil, string(sent))))
	}
	switch {
	case e.odd != "":
	case e.kind == kindStart && !e.message:
		e.odd = "message_start has no message"
	case e.kind == kindDelta:
		e.fill(usage, open, false, `"usage":{"output_tokens":0}`)
	}
}

// member is a member that an event should have: of the right kind, or in need
// of another value.
type member struct {
	good       bool
	start, end int
}

// member begins to take the value that is due, which should be of a kind.
func (e *eventScan) member(kind scan.Kind) member {
	return member{good: e.Kind() == kind, start: e.Pos()}
}

// end skips the value unless it has been taken and returns the offset behind it.
func (e *eventScan) end() int {
	if e.Kind() != scan.KindInvalid {
		e.Skip()
	}
	return e.Pos()
}

// fill gives an object, whose brace ends at open, a member unless it has a good
// one. bare says that the object has no other members.
func (e *eventScan) fill(m member, open int, bare bool, text string) {
	switch {
	case m.good:
	case m.end > m.start:
		value := text[strings.IndexByte(text, ':')+1:]
		e.edits = append(e.edits, scan.Edit{Start: m.start, End: m.end, Text: []byte(value)})
	case bare:
		e.edits = append(e.edits, scan.Edit{Start: open, End: open, Text: []byte(text)})
	default:
		e.edits = append(e.edits, scan.Edit{Start: open, End: open, Text: []byte(text + ",")})
	}
}

// start takes the message of a message_start.
func (e *eventScan) start() {
	if !e.EnterObject() {
		// The message of an error that stands at the top.
		e.words = e.Kind() == scan.KindString && request.Filled(&e.Cursor)
		return
	}
	open, named := e.Pos(), false
	var content, usage member
	for e.Member() {
		e.message = true
		switch string(e.Key()) {
		case "model":
			start, end := e.Skip()
			e.edits = append(e.edits, scan.Edit{Start: start, End: end, Text: e.s.model})
			named = true
		case "content":
			content = e.member(scan.KindArray)
			content.end = e.end()
		case "usage":
			usage = e.member(scan.KindObject)
			e.counts.Add(&e.Cursor)
			usage.end = e.end()
		}
	}
	if !e.message {
		return
	}
	if !named {
		e.edits = append(e.edits, scan.Edit{Start: open, End: open, Text: e.s.member})
	}
	e.fill(content, open, false, `"content":[]`)
	e.fill(usage, open, false, `"usage":{"input_tokens":0,"output_tokens":0}`)
}

// block takes the block of a content_block_start.
func (e *eventScan) block() {
	if !e.EnterObject() {
		return
	}
	var plain, words bool
	for e.Member() {
		switch string(e.Key()) {
		case "type":
			raw, _, _ := e.Text()
			plain = string(raw) == "text" || string(raw) == "thinking"
			e.calls = string(raw) == "tool_use"
		case "text", "thinking", "signature":
			words = request.Filled(&e.Cursor) || words
		}
	}
	e.says = words || !plain
}

// delta takes the delta of a block or of the message.
func (e *eventScan) delta() {
	if !e.EnterObject() {
		return
	}
	for e.Member() {
		switch string(e.Key()) {
		case "text", "partial_json", "thinking", "signature", "citation":
			e.says = request.Filled(&e.Cursor) || e.says
		case "stop_reason":
			raw, _, ok := e.Text()
			e.ends = ok && len(raw) > 0
			e.refusal = string(raw) == stopRefusal
		}
	}
}
