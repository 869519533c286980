package translate

import (
	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/sse"
)

// messagesEncoder writes the stream for a client of Messages. The end of a
// message tells the usage, so it waits for the end of the stream.
type messagesEncoder struct {
	r     *Request
	model string
	w     writer // of the data of one event

	started bool
	id      string // the upstream's
	index   int    // of the block that is open, or of the next
	open    bool   // a block is open
	part    Part   // that is open
	text    bool   // it is a text or thought that has not said anything
	calls   bool
	refused bool
	said    bool
	end     End
	usage   Usage
}

func newMessagesEncoder(r *Request, model string) Encoder {
	return &messagesEncoder{r: r, model: model}
}

// Event implements [Encoder].
func (e *messagesEncoder) Event(dst []byte, ev *Event) []byte {
	switch ev.Kind {
	case EventStart:
		return e.start(dst, ev.ID)
	case EventPart:
		return e.begin(dst, &ev.Part)
	case EventDelta:
		return e.delta(dst, ev.Text)
	case EventSignature:
		e.part.Signature = ev.Part.Signature
	case EventPartEnd:
		return e.stop(dst)
	case EventUsage:
		e.usage = ev.Usage
	case EventFinish:
		e.end = ev.End
	case EventEnd:
		return e.finish(dst)
	case EventError:
		return anthropic.AppendErrorEvent(dst, anthropic.ErrorType(ev.Fault.Status), ev.Fault.Message, "")
	case EventPing:
		return sse.Append(dst, "ping", []byte(`{"type":"ping"}`))
	}
	return dst
}

// event begins the data of an event.
func (e *messagesEncoder) event(kind string) *writer {
	e.w.b = e.w.b[:0]
	e.w.open('{')
	e.w.textMember("type", kind)
	return &e.w
}

// send ends the data of an event and frames it.
func (e *messagesEncoder) send(dst []byte, kind string) []byte {
	e.w.close('}')
	return sse.Append(dst, kind, e.w.b)
}

func (e *messagesEncoder) start(dst []byte, id string) []byte {
	if e.started {
		return dst
	}
	e.started, e.id = true, id
	if id == "" {
		id = "0"
	}
	w := e.event("message_start")
	w.key("message")
	w.open('{')
	w.key("id")
	w.text(fitMessageID(id))
	w.textMember("type", "message")
	w.textMember("role", "assistant")
	w.key("model")
	w.text(e.model)
	w.key("content")
	w.raw([]byte(`[],"stop_reason":null,"stop_sequence":null,"usage":`))
	w.messagesUsage(&e.usage)
	w.close('}')
	return e.send(dst, "message_start")
}

// begin begins a part. The block of a text begins with its first words, since
// an empty one may not go back to the service.
func (e *messagesEncoder) begin(dst []byte, p *Part) []byte {
	dst = e.start(dst, "")
	e.part = *p
	switch p.Kind {
	case KindCall:
		e.calls = true
		w := e.beginBlock()
		w.textMember("type", "tool_use")
		w.key("id")
		w.text(messagesAnswerID(p.Call.ID, e.id))
		w.key("name")
		w.text(p.Call.Name)
		w.key("input")
		w.raw([]byte("{}"))
		w.close('}')
		return e.send(dst, "content_block_start")
	case KindText, KindRefusal, KindReasoning:
		e.text = p.Kind != KindReasoning || e.r.wantsThoughts()
	case KindImage, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return dst
}

// beginBlock begins the event that begins a block.
func (e *messagesEncoder) beginBlock() *writer {
	e.open = true
	w := e.event("content_block_start")
	w.key("index")
	w.integer(int64(e.index))
	w.key("content_block")
	w.open('{')
	return w
}

// beginText begins the block of a text or a thought.
func (e *messagesEncoder) beginText(dst []byte) []byte {
	e.text = false
	w := e.beginBlock()
	if e.part.Kind == KindReasoning {
		w.raw([]byte(`"type":"thinking","thinking":"","signature":""`))
	} else {
		w.raw([]byte(`"type":"text","text":""`))
		e.refused = e.refused || e.part.Kind == KindRefusal
		e.said = e.said || e.part.Kind == KindText
	}
	w.close('}')
	return e.send(dst, "content_block_start")
}

// delta writes a piece of the open part.
func (e *messagesEncoder) delta(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	if e.text {
		dst = e.beginText(dst)
	}
	if !e.open {
		return dst // a thought that the client has not asked for
	}
	switch e.part.Kind {
	case KindText, KindRefusal:
		return e.piece(dst, "text_delta", "text", text)
	case KindReasoning:
		return e.piece(dst, "thinking_delta", "thinking", text)
	case KindCall:
		return e.piece(dst, "input_json_delta", "partial_json", text)
	case KindImage, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return dst
}

func (e *messagesEncoder) piece(dst []byte, kind, member, text string) []byte {
	w := e.event("content_block_delta")
	w.key("index")
	w.integer(int64(e.index))
	w.key("delta")
	w.open('{')
	w.textMember("type", kind)
	w.key(member)
	w.text(text)
	w.close('}')
	return e.send(dst, "content_block_delta")
}

// stop ends the open part. A thought tells its signature; that of another part
// follows in a block of its own.
func (e *messagesEncoder) stop(dst []byte) []byte {
	p := &e.part
	signed := p.Signature.Data != ""
	if p.Kind == KindReasoning {
		switch {
		case e.text && signed:
			e.text = false
			return e.signatureBlock(dst)
		case e.open:
			dst = e.piece(dst, "signature_delta", "signature", messagesSignature(p.Signature, false))
		}
	}
	e.text = false
	dst = e.stopBlock(dst)
	if p.Kind != KindReasoning && keepsSignature(p, e.r) {
		dst = e.signatureBlock(dst)
	}
	return dst
}

func (e *messagesEncoder) stopBlock(dst []byte) []byte {
	if !e.open {
		return dst
	}
	w := e.event("content_block_stop")
	w.key("index")
	w.integer(int64(e.index))
	e.open = false
	e.index++
	return e.send(dst, "content_block_stop")
}

// signatureBlock writes a block that holds nothing but a signature: of a thought
// without text, or of the block before it.
func (e *messagesEncoder) signatureBlock(dst []byte) []byte {
	p := e.part
	w := e.beginBlock()
	w.b = w.b[:len(w.b)-1] // the block is written whole
	if p.Kind == KindReasoning {
		w.thinkingBlock(&p)
	} else {
		w.signatureBehind(p.Signature)
	}
	return e.stopBlock(e.send(dst, "content_block_start"))
}

// finish ends the message.
func (e *messagesEncoder) finish(dst []byte) []byte {
	dst = e.start(dst, "")
	w := e.event("message_delta")
	w.key("delta")
	w.open('{')
	w.key("stop_reason")
	w.text(messagesReason(e.end, e.calls, e.refused && !e.said))
	w.stopSequence(&e.end)
	w.close('}')
	w.key("usage")
	w.messagesUsage(&e.usage)
	dst = e.send(dst, "message_delta")
	e.event("message_stop")
	return e.send(dst, "message_stop")
}
