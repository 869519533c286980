package responses

import (
	"bytes"
	"strings"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// The events that decide something.
const (
	eventCompleted  = "response.completed"
	eventIncomplete = "response.incomplete"
	eventFailed     = "response.failed"
	eventCancelled  = "response.cancelled"
	eventItemAdded  = "response.output_item.added"
	eventItemDone   = "response.output_item.done"
	eventRefusal    = "response.refusal.delta"
	eventError      = "error"
)

// eventScan is one walk over an event.
type eventScan struct {
	scan.Cursor
	s     *Stream
	body  []byte
	edits []scan.Edit

	open, count int // offset behind the brace, and the members
	kind        string
	index       int64 // output_index, -1 if absent
	itemID      span  // item_id
	item        span  // the value of item.id
	of          outputItem
	delta       bool // there is a delta with something in it
	whole       bool // the same for what events that end something repeat
	refusal     bool // and it is a refusal
	fault       span // an error
	usage       Usage
	next        int64      // the number after its own, 0 if it has none
	response    answerScan // of the member response
	answer      Answer
	hasResponse bool
}

// members takes the members of the event.
func (e *eventScan) members() {
	if !e.EnterObject() {
		if e.Err() == nil {
			e.Fail("the event is not an object")
		}
		return
	}
	e.open = e.Pos()
	for ; e.Member(); e.count++ {
		switch string(e.Key()) {
		case "type":
			e.kind = request.LooseText(&e.Cursor)
		case "sequence_number":
			e.sequence()
		case "output_index":
			if e.Kind() == scan.KindNumber {
				if n, whole := request.Integer(e.Raw()); whole && n >= 0 {
					e.index = n
				}
			}
		case "item_id":
			e.itemID.start, e.itemID.end = e.Skip()
		case "item":
			e.itemMember()
		case "delta", "partial_image_b64":
			e.delta = request.Filled(&e.Cursor) || e.delta
		case "text", "arguments", "input", "code", "transcript":
			e.whole = request.Filled(&e.Cursor) || e.whole
		case "refusal":
			e.refusal = request.Filled(&e.Cursor)
		case "part":
			e.part()
		case "response":
			e.responseMember()
		case "error":
			e.fault = errorPlace(&e.Cursor)
		}
	}
}

func (e *eventScan) sequence() {
	if e.Kind() != scan.KindNumber {
		return
	}
	if n, whole := request.Integer(e.Raw()); whole {
		e.next = n + 1
	}
}

// part takes a part of a message, which is announced empty and repeated whole.
func (e *eventScan) part() {
	if !e.EnterObject() {
		return
	}
	for e.Member() {
		switch string(e.Key()) {
		case "text", "transcript":
			e.whole = request.Filled(&e.Cursor) || e.whole
		case "refusal":
			e.refusal = request.Filled(&e.Cursor) || e.refusal
		}
	}
}

// itemMember takes an item: its id, and what it holds.
func (e *eventScan) itemMember() {
	e.Kind() // brings the position to the value
	start := e.Pos()
	if !e.EnterObject() {
		return
	}
	for e.Member() {
		if string(e.Key()) == "id" {
			e.item.start, e.item.end = e.Skip()
		}
	}
	if e.Err() != nil {
		return
	}
	c := e.Sub(start, e.Pos())
	c.EnterObject()
	e.of = readItem(&c)
}

// responseMember takes the answer so far, or the whole one.
func (e *eventScan) responseMember() {
	e.Kind() // brings the position to the value
	start := e.Pos()
	if !e.EnterObject() {
		return
	}
	e.hasResponse = true
	open, n := e.Pos(), 0
	for ; e.Member(); n++ {
		switch string(e.Key()) {
		case "id":
			keep(&e.s.id, e.Raw())
		case "created_at":
			keep(&e.s.created, e.Raw())
		}
	}
	if e.Err() != nil {
		return
	}
	e.response = answerScan{Cursor: e.Sub(start, e.Pos()), a: &e.answer}
	e.response.EnterObject()
	e.response.members()
	e.usage = e.answer.Usage
	for _, m := range e.answer.model {
		e.edits = append(e.edits, scan.Edit{Start: m.start, End: m.end, Text: e.s.model})
	}
	if len(e.answer.model) == 0 && n > 0 {
		text := append([]byte(`"model":`), e.s.model...)
		e.edits = append(e.edits, scan.Edit{Start: open, End: open, Text: append(text, ',')})
	}
}

// keep remembers the last value that says something.
func keep(into *[]byte, raw []byte) {
	if len(raw) > maxRaw || len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return
	}
	*into = append((*into)[:0], raw...)
}

// failure returns the fault that the event tells, nil if it tells none.
func (e *eventScan) failure(name []byte) *fault.Fault {
	text := e.body
	switch e.kind {
	case eventFailed, eventCancelled:
		if e.response.fault.there() {
			text = e.body[e.response.fault.start:e.response.fault.end]
		}
	case eventError:
		if e.fault.there() {
			text = e.body[e.fault.start:e.fault.end]
		}
	default:
		switch {
		case e.fault.there():
			text = e.body[e.fault.start:e.fault.end]
		case string(name) == eventError:
		default:
			return nil
		}
	}
	f := fault.Parse(statusOK, text)
	return &f
}

// take brings the state of the stream up to date and collects the edits that
// give the event's item its id.
func (e *eventScan) take() (info EventInfo) {
	s := e.s
	e.remember()
	var what said
	switch {
	case e.kind == eventItemAdded && e.of.said&saidContent != 0, e.kind == eventItemDone:
		what = e.of.said
	case e.kind == eventRefusal && e.delta, e.refusal:
		what = saidRefusal
	case e.delta && strings.HasSuffix(e.kind, ".delta"), e.whole, e.delta:
		what = saidContent
	}
	s.said |= what
	info.Content = what != 0
	info.Refusal = what&saidRefusal != 0
	if e.kind == eventCompleted || e.kind == eventIncomplete {
		s.finished = true
		s.said |= e.response.said
		info.Content, info.Finish = true, true
		info.Refusal = e.answer.Reason == reasonFilter || s.said&saidRefusal != 0
	}
	info.Refusal = info.Refusal && s.said&saidContent == 0
	return info
}

// remember takes what the upstream issued, and mends ids that change.
func (e *eventScan) remember() {
	s := e.s
	if e.hasResponse {
		o := e.answer.Owned
		if o.Response != "" {
			s.owned.Response = o.Response
		}
		if o.Conversation != "" {
			s.owned.Conversation = o.Conversation
		}
		for _, id := range o.Items {
			s.owned.addItem(id)
		}
		for _, sum := range o.Encrypted {
			s.owned.addSum(sum)
		}
	}
	s.owned.addItem(e.of.id)
	s.owned.addEncrypted(e.of.encrypted)
	if e.index < 0 {
		return
	}
	if e.kind == eventItemAdded && e.item.there() {
		s.items.announce(e.index, e.body[e.item.start:e.item.end])
	}
	id := s.items.of(e.index)
	for _, place := range [...]span{e.itemID, e.item} {
		if id != nil && place.there() && !bytes.Equal(e.body[place.start:place.end], id) {
			e.edits = append(e.edits, scan.Edit{Start: place.start, End: place.end, Text: id})
		}
	}
}
