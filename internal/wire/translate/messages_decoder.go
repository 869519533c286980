package translate

import (
	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/fault"
)

// messagesDecoder reads the stream of an upstream that speaks Messages. The
// order of its events is judged by the package of the protocol.
type messagesDecoder struct {
	r        *Request
	stream   *anthropic.Stream
	scratch  []byte
	assembly assembly

	json     bool   // the answer should be JSON, which the model was asked for
	answer   string // name of the tool whose arguments are the answer
	answered bool   // it was called
	texts    []byte // said so far, while it may still be called
	calls    int
	finished bool
	ended    bool

	block struct { // that is open
		skip   bool // nobody knows it, or its text is held
		hold   bool
		input  string // the arguments with which it began
		pieces pieces
		fence  fence
	}
}

func newMessagesDecoder(r *Request, up *Upstream) Decoder {
	d := &messagesDecoder{r: r, stream: anthropic.NewStream("")}
	plan := planMessagesFormat(r, up)
	d.json = plan.instruction != ""
	if plan.tool != nil {
		d.answer = plan.tool.Name
	}
	return d
}

// messagesEvent is what an event holds, of whatever type it is.
type messagesEvent struct {
	kind string
	id   string // of the message
	// Of a block that begins, or of a piece of one.
	block       messagesBlock
	text        string // a piece of text, thought or arguments
	signature   string
	stop        string
	sequence    string
	explanation string
}

// Event implements [Decoder].
func (d *messagesDecoder) Event(dst []Event, name, data []byte) ([]Event, error) {
	if d.ended {
		return dst, nil
	}
	var info anthropic.EventInfo
	var err error
	d.scratch, info, err = d.stream.Event(d.scratch[:0], name, data)
	switch {
	case err != nil:
		d.ended = true
		return dst, err
	case info.Fault != nil:
		d.ended = true
		return append(dst, Event{Kind: EventError, Fault: info.Fault}), nil
	case info.Drop:
		return dst, nil
	}
	ev := d.read(data)
	if ev.kind == "" {
		ev.kind = string(name)
	}
	switch ev.kind {
	case "message_start":
		dst = append(dst, Event{Kind: EventStart, ID: ev.id})
		return d.usage(dst), nil
	case "content_block_start":
		if d.assembly.open || d.block.hold || d.block.skip {
			d.ended = true
			return dst, fault.Undecodable("a block begins inside another")
		}
		return d.begin(dst, &ev), nil
	case "content_block_delta":
		dst = d.delta(dst, &ev)
		if max(len(d.texts), len(d.assembly.held)) > maxWaiting {
			d.ended = true
			return dst, tooMuchWaits()
		}
		return dst, nil
	case "content_block_stop":
		return d.stop(dst), nil
	case "message_delta":
		return d.finish(d.usage(dst), &ev), nil
	case "message_stop":
		d.ended = true
		return append(d.finish(dst, &messagesEvent{stop: "end_turn"}), Event{Kind: EventEnd}), nil
	case "ping":
		return append(dst, Event{Kind: EventPing}), nil
	}
	return dst, nil
}

// read reads an event that is known to be JSON.
func (d *messagesDecoder) read(data []byte) (ev messagesEvent) {
	m := messagesReader{reader: newAnswerReader(data), r: d.r}
	ev.block.messagesReader = &m
	m.object(func() {
		switch string(m.Key()) {
		case "type":
			ev.kind = m.text()
		case "message":
			m.object(func() {
				if string(m.Key()) == "id" {
					ev.id = m.text()
				}
			})
		case "content_block":
			m.object(ev.block.field)
		case "delta":
			m.object(func() { ev.piece(&m, &d.block.pieces) })
		}
	})
	return ev
}

// piece reads a member of a delta.
func (ev *messagesEvent) piece(m *messagesReader, p *pieces) {
	switch string(m.Key()) {
	case "text", "thinking", "partial_json":
		ev.text = p.text(m.reader)
	case "signature":
		ev.signature = m.text()
	case "stop_reason":
		ev.stop = m.text()
	case "stop_sequence":
		ev.sequence = m.text()
	case "stop_details":
		ev.explanation = m.explanation()
	}
}

// begin begins a block.
func (d *messagesDecoder) begin(dst []Event, ev *messagesEvent) []Event {
	b := &ev.block
	d.block.input, d.block.pieces = "", pieces{}
	switch b.kind {
	case "text":
		if d.answer != "" {
			d.block.hold = true
			d.texts = append(d.texts, b.said...)
			return dst
		}
		return d.assembly.delta(d.assembly.begin(dst, &Part{Kind: KindText}), d.bare(b.said))
	case "thinking":
		dst = d.assembly.delta(d.assembly.begin(dst, &Part{Kind: KindReasoning}), b.thinking)
		return d.sign(dst, b.signature)
	case "redacted_thinking":
		return d.assembly.begin(dst, &Part{Kind: KindReasoning, Redacted: true, Signature: redactedSignature(b.data)})
	case "tool_use":
		if input := string(b.input); input != "" && unwrapsToNothing(input) {
			d.block.input = ""
		} else {
			d.block.input = input
		}
		if d.answer != "" && b.name == d.answer {
			d.answered, d.texts = true, nil
			return d.assembly.begin(dst, &Part{Kind: KindText})
		}
		d.calls++
		call := Call{ID: b.id, Name: b.name}
		resolveCall(&call, d.r, fitMessagesName)
		return d.assembly.begin(dst, &Part{Kind: KindCall, Call: call})
	}
	d.block.skip = true
	return dst
}

// unwrapsToNothing reports whether the input with which a call begins stands for
// what is to come.
func unwrapsToNothing(input string) bool {
	for i := range len(input) {
		switch input[i] {
		case '{', '}', ' ', '\t', '\r', '\n':
		default:
			return false
		}
	}
	return true
}

func (d *messagesDecoder) sign(dst []Event, signature string) []Event {
	if signature == "" {
		return dst
	}
	own := Signature{Origin: OriginAnthropic, Data: signature}
	if f, ok := anthropic.ParseForeign(signature); ok {
		own = Signature{Origin: Origin(f.Origin), ID: f.ID, Data: f.Data}
	}
	return d.assembly.signature(dst, own)
}

func (d *messagesDecoder) delta(dst []Event, ev *messagesEvent) []Event {
	switch {
	case d.block.skip:
		return dst
	case d.block.hold:
		d.texts = append(d.texts, ev.text...)
		return dst
	}
	if ev.text != "" {
		d.block.input = "" // what it began with was only a place
	}
	return d.sign(d.assembly.delta(dst, d.bare(ev.text)), ev.signature)
}

// bare returns a piece of the open part, without the fence around JSON.
func (d *messagesDecoder) bare(text string) string {
	if d.json && d.assembly.kind == KindText {
		return d.block.fence.add(text)
	}
	return text
}

// stop ends a block.
func (d *messagesDecoder) stop(dst []Event) []Event {
	switch {
	case d.block.hold:
		d.texts = append(d.texts, d.block.pieces.rest()...)
	case !d.block.skip:
		dst = d.assembly.delta(dst, d.block.pieces.rest())
		dst = d.assembly.delta(dst, d.block.fence.rest())
		dst = d.assembly.delta(dst, d.block.input)
		dst = d.assembly.end(dst)
	}
	d.block.hold, d.block.skip, d.block.input = false, false, ""
	return dst
}

func (d *messagesDecoder) usage(dst []Event) []Event {
	u := messagesUsage(d.stream.Usage())
	if !u.Known {
		return dst
	}
	return append(dst, Event{Kind: EventUsage, Usage: u})
}

// finish tells why the answer ended, once it is known.
func (d *messagesDecoder) finish(dst []Event, ev *messagesEvent) []Event {
	if ev.stop == "" || d.finished {
		return dst
	}
	d.finished = true
	dst = d.stop(dst)
	if len(d.texts) > 0 && !d.answered {
		dst = d.assembly.begin(dst, &Part{Kind: KindText})
		dst = d.assembly.end(d.assembly.delta(dst, string(d.texts)))
	}
	end := End{Finish: messagesFinish(ev.stop), Reason: ev.stop, StopSequence: ev.sequence}
	switch {
	case end.Finish == FinishCalls && d.calls == 0:
		end.Finish = FinishStop
	case end.Finish == FinishStop && d.calls > 0:
		end.Finish = FinishCalls
	case end.Finish == FinishFilter && ev.explanation != "":
		dst = d.assembly.begin(dst, &Part{Kind: KindRefusal})
		dst = d.assembly.end(d.assembly.delta(dst, ev.explanation))
	}
	return append(dst, Event{Kind: EventFinish, End: end})
}

// Close implements [Decoder].
func (d *messagesDecoder) Close(dst []Event) []Event {
	if !d.finished || d.ended {
		return dst
	}
	d.ended = true
	return append(dst, Event{Kind: EventEnd})
}
