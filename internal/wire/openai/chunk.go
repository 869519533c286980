package openai

import (
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// chunkScan is one walk over a chunk.
type chunkScan struct {
	scan.Cursor
	s     *Stream
	body  []byte
	edits []scan.Edit
	info  ChunkInfo

	open    int  // offset behind the brace
	named   bool // there is a model
	members int  // passed so far
	usage   Usage
	unused  bool // a usage that is null was taken out
	payload bool // the chunk tells something beside choices and usage
	fault   bool // there is an error inside
	words   bool // there is a message where a message of an error may be
	text    span // of the text with its quotes, if the piece that was taken holds one and nothing else
}

// top walks over the members of a chunk.
func (c *chunkScan) top() {
	switch {
	case c.resume():
		c.choiceList()
		c.members++
	case c.EnterObject():
		c.open = c.Pos()
	default:
		c.notObject()
		return
	}
	var groq Usage
	for ; c.Member(); c.members++ {
		switch string(c.Key()) {
		case "choices":
			c.remember(groq.Known)
			c.choiceList()
		case "model":
			start, end := c.Skip()
			c.edits = append(c.edits, scan.Edit{Start: start, End: end, Text: c.s.model})
			c.named = true
		case "usage":
			c.usageMember(c.members)
		case "x_groq":
			groq = usageInside(&c.Cursor)
		case "id":
			keep(&c.s.id, c.Raw())
		case "created":
			keep(&c.s.created, c.Raw())
		case "error":
			c.fault = request.Filled(&c.Cursor) || c.fault
		case "object":
			raw, _, _ := c.Text()
			c.words = c.words || string(raw) == "error"
		case "message", "detail", "msg":
			c.words = request.Filled(&c.Cursor) || c.words
		case "prompt_filter_results", "moderation", "citations", "search_results":
			c.payload = request.Filled(&c.Cursor) || c.payload
		}
	}
	if c.unused {
		c.members--
	}
	if !c.named && c.members > 0 {
		c.edits = append(c.edits, scan.Edit{Start: c.open, End: c.open, Text: c.s.member})
	}
	if !c.usage.Known {
		c.usage = groq
	}
}

// notObject leaves the error that the chunk is of another kind.
func (c *chunkScan) notObject() {
	if c.Err() == nil {
		c.Fail("the chunk is not an object")
	}
}

// keep remembers the first value of its kind that says something.
func keep(into *[]byte, raw []byte) {
	if len(*into) > 0 || len(raw) > maxRaw {
		return
	}
	switch string(raw) {
	case `""`, "0", "null", "":
		return
	}
	*into = append(*into, raw...)
}

// usageMember takes the usage. One that is null stands there because the
// gateway asked for usage: a client that did not ask does not get it.
func (c *chunkScan) usageMember(index int) {
	keyStart := c.KeyStart()
	if c.Null() {
		if !c.s.wantUsage && !c.unused {
			c.unused = true
			m := scan.Member{Index: index, KeyStart: keyStart, End: c.Pos()}
			c.edits = scan.Remove(c.edits, c.body, m)
		}
		return
	}
	if u := readUsage(&c.Cursor); u.Known {
		c.usage = u
	}
}

func (c *chunkScan) choiceList() {
	if !c.EnterArray() {
		return
	}
	for c.Element() {
		if c.EnterObject() {
			c.choice()
		}
	}
}

// choicePiece is what a chunk holds for one choice, not yet taken.
type choicePiece struct {
	index            int
	open             int // offset behind its brace
	finish, filtered bool
	text             said
	delta, message   span
	noDelta          span // the value of a delta that is no object
	messageKey       int
}

// choice reads one choice. What it means is decided once the whole chunk is
// known to be good: see [chunkScan.take].
func (c *chunkScan) choice() {
	p := choicePiece{open: c.Pos()}
	for c.Member() {
		switch string(c.Key()) {
		case "index":
			if c.Kind() == scan.KindNumber {
				if raw := c.Raw(); len(raw) == 1 { // nearly always
					p.index = int(raw[0] - '0')
				} else if n, whole := request.Integer(raw); whole {
					p.index = int(n)
				}
			}
		case "finish_reason":
			raw, _, _ := c.Text()
			p.finish, p.filtered = len(raw) > 0, string(raw) == finishFilter
			c.fault = c.fault || string(raw) == finishError
		case "delta":
			c.delta(&p)
		case "message":
			if p.messageKey = c.KeyStart(); c.s.e == Chat && c.Kind() == scan.KindObject {
				p.message.start, p.message.end = c.Skip()
			}
		case "text":
			if c.s.e == Completions && request.Filled(&c.Cursor) {
				p.text = saidText
			}
		case "error":
			c.fault = request.Filled(&c.Cursor) || c.fault
		}
	}
	c.s.pieces = append(c.s.pieces, p)
}

// delta takes what should be a delta.
func (c *chunkScan) delta(p *choicePiece) {
	if c.s.e != Chat {
		return
	}
	into := &p.delta
	if c.Kind() != scan.KindObject {
		into = &p.noDelta
	}
	into.start, into.end = c.Skip()
}

// take brings the state of the stream up to date with a piece and collects the
// edits that mend it. A whole message where a delta should be becomes one.
func (c *chunkScan) take(p *choicePiece) {
	what, state := p.text, c.s.choice(p.index)
	if key := (span{p.messageKey, p.messageKey + len(`"message"`)}); !p.delta.there() && p.message.there() &&
		string(c.body[key.start:key.end]) == `"message"` {
		p.delta = p.message
		c.edits = append(c.edits, scan.Edit{Start: key.start, End: key.end, Text: deltaKey})
	}
	if p.delta.there() {
		c.s.sub = c.Sub(p.delta.start, p.delta.end)
		m := messageScan{
			Cursor: &c.s.sub, body: c.body, edits: c.edits,
			choice: p.index, table: &c.s.calls, ending: p.finish,
		}
		if c.s.thinks && state != nil {
			c.s.texts = textPlaces{}
			m.think, m.text = state.thinking(), &c.s.texts
		}
		if m.walk() && p.finish {
			c.completeCalls(&m)
		}
		what, c.edits, c.text = m.said, m.edits, m.onlyText()
	} else if p.finish && state != nil && state.think.holds() {
		what |= saidText
		c.edits = append(c.edits, heldDelta(p, state.think))
	}
	c.info.Content = c.info.Content || what != 0 || p.finish
	c.info.Finish = c.info.Finish || p.finish
	c.info.Refusal = c.info.Refusal || what&saidRefusal != 0 || p.filtered
	c.s.said |= what
	if state != nil {
		state.said |= what
		state.finished = state.finished || p.finish
	}
}

// onlyText returns where the text stands, if the chunk told nothing beside it:
// another one with the same bytes around its text tells nothing new either.
func (c *chunkScan) onlyText() (text span, only bool) {
	only = c.text.there() && len(c.s.pieces) == 1 && !c.s.thinks && !c.usage.Known && c.info == ChunkInfo{Content: true}
	return c.text, only
}

var deltaKey = []byte(`"delta"`)

// heldDelta gives a choice that ends without a delta one with the text that was
// held back.
func heldDelta(p *choicePiece, t *thinking) scan.Edit {
	delta := append(t.appendHeld([]byte{'{'}, false), '}')
	if p.noDelta.there() {
		return scan.Edit{Start: p.noDelta.start, End: p.noDelta.end, Text: delta}
	}
	text := append([]byte(`"delta":`), delta...)
	return scan.Edit{Start: p.open, End: p.open, Text: append(text, ',')}
}

// completeCalls gives empty arguments to the calls of a choice that ends and
// got none.
func (c *chunkScan) completeCalls(m *messageScan) {
	if m.calls {
		return // this chunk has calls of its own
	}
	list := c.s.calls.withoutArguments(m.choice)
	if list == nil {
		return
	}
	switch {
	case m.inserted:
		list = append([]byte{','}, list...)
	case !m.bare:
		list = append(list, ',')
	}
	m.edits = append(m.edits, scan.Edit{Start: m.open, End: m.open, Text: list})
}

// maxChoiceStates bounds what a stream remembers; more choices than a request
// may ask for are nobody's.
const maxChoiceStates = MaxChoices

// choice returns the state of a choice, nil if there are too many.
func (s *Stream) choice(index int) *choiceState {
	for i := range s.choices {
		if s.choices[i].index == index {
			return &s.choices[i]
		}
	}
	if len(s.choices) == maxChoiceStates {
		return nil
	}
	s.choices = append(s.choices, choiceState{index: index})
	return &s.choices[len(s.choices)-1]
}
