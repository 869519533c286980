package translate

import (
	"gatewright/internal/wire/openai"
)

// chatEncoder writes the stream for a client of chat completions.
type chatEncoder struct {
	r     *Request
	model string

	started bool
	id      string
	created int64
	part    Part   // that is open
	thought []byte // of the open part
	calls   int64
	details int
	w       writer // of one chunk, with what stands before it
	usage   Usage
}

func newChatEncoder(r *Request, model string) Encoder {
	return &chatEncoder{r: r, model: model}
}

// Event implements [Encoder].
func (e *chatEncoder) Event(dst []byte, ev *Event) []byte {
	switch ev.Kind {
	case EventStart:
		return e.start(dst, ev)
	case EventPart:
		return e.begin(e.start(dst, ev), &ev.Part)
	case EventDelta:
		return e.delta(dst, ev.Text)
	case EventSignature:
		e.part.Signature = ev.Part.Signature
	case EventPartEnd:
		return e.stop(dst)
	case EventUsage:
		e.usage = ev.Usage
	case EventFinish:
		w := e.chunk(e.start(dst, ev))
		w.raw([]byte(`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":`))
		w.text(chatReason(ev.End.Finish))
		w.close('}', ']')
		return e.send(w)
	case EventEnd:
		return e.finish(dst)
	case EventError:
		dst = append(dst, "data: "...)
		dst = openai.AppendError(dst, ev.Fault.Message, ev.Fault.Type, ev.Fault.Param, ev.Fault.Code)
		return append(dst, "\n\n"...)
	case EventPing:
	}
	return dst
}

// chunk begins a chunk.
func (e *chatEncoder) chunk(dst []byte) *writer {
	dst = append(dst, "data: {"...)
	e.w.b = dst
	w := &e.w
	w.key("id")
	w.text(e.id)
	w.textMember("object", "chat.completion.chunk")
	w.key("created")
	w.integer(e.created)
	w.key("model")
	w.text(e.model)
	return w
}

// send ends a chunk that has no usage.
func (e *chatEncoder) send(w *writer) []byte {
	if e.r.IncludeUsage {
		w.raw([]byte(`"usage":null`))
	}
	w.b = append(w.b, "}\n\n"...)
	return w.b
}

// deltaChunk begins a chunk with a delta.
func (e *chatEncoder) deltaChunk(dst []byte) *writer {
	w := e.chunk(dst)
	w.raw([]byte(`"choices":[{"index":0,"delta":{`))
	return w
}

// sendDelta ends it.
func (e *chatEncoder) sendDelta(w *writer) []byte {
	w.close('}')
	w.raw([]byte(`"logprobs":null,"finish_reason":null}]`))
	return e.send(w)
}

// start begins the answer, once.
func (e *chatEncoder) start(dst []byte, ev *Event) []byte {
	if e.started {
		return dst
	}
	e.started, e.id, e.created = true, ev.ID, ev.Created
	if e.id == "" {
		e.id = "chatcmpl-0"
	}
	w := e.deltaChunk(dst)
	w.textMember("role", "assistant")
	w.key("content")
	w.text("")
	return e.sendDelta(w)
}

// begin begins a part: a call is told with its name, and what has no pieces is
// told whole.
func (e *chatEncoder) begin(dst []byte, p *Part) []byte {
	e.part, e.thought = *p, e.thought[:0]
	switch p.Kind {
	case KindCall:
		w := e.callChunk(dst)
		w.key("id")
		w.text(p.Call.ID)
		kind, input := e.callWords()
		w.textMember("type", kind)
		w.key(kind)
		w.open('{')
		w.key("name")
		w.text(p.Call.Name)
		w.key(input)
		w.text("")
		w.close('}')
		return e.sendCall(w)
	case KindImage:
		w := e.deltaChunk(dst)
		w.key("images")
		w.open('[')
		w.chatImage(p)
		w.close(']')
		return e.sendDelta(w)
	case KindText, KindReasoning, KindRefusal, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return dst
}

// callWords returns the words that the protocol has for the kind of the open
// call and for its arguments.
func (e *chatEncoder) callWords() (kind, input string) {
	if e.part.Call.Custom {
		return "custom", "input"
	}
	return "function", "arguments"
}

// callChunk begins a chunk with a piece of the open call.
func (e *chatEncoder) callChunk(dst []byte) *writer {
	w := e.deltaChunk(dst)
	w.key("tool_calls")
	w.open('[')
	w.open('{')
	w.key("index")
	w.integer(e.calls)
	return w
}

// sendCall ends it.
func (e *chatEncoder) sendCall(w *writer) []byte {
	w.close('}', ']')
	return e.sendDelta(w)
}

// delta writes a piece of the open part.
func (e *chatEncoder) delta(dst []byte, text string) []byte {
	member := ""
	switch e.part.Kind {
	case KindText:
		member = "content"
	case KindRefusal:
		member = "refusal"
	case KindReasoning:
		if len(e.thought)+len(text) <= maxWaiting {
			e.thought = append(e.thought, text...)
		}
		if e.r.Thinking.Summary == "none" {
			return dst
		}
		member = "reasoning_content"
	case KindCall:
		w := e.callChunk(dst)
		kind, input := e.callWords()
		w.key(kind)
		w.open('{')
		w.key(input)
		w.text(text)
		w.close('}')
		return e.sendCall(w)
	case KindImage, KindAudio, KindVideo, KindDocument, KindResult:
		return dst
	}
	w := e.deltaChunk(dst)
	w.key(member)
	w.text(text)
	return e.sendDelta(w)
}

// stop ends the open part with what its maker wants back.
func (e *chatEncoder) stop(dst []byte) []byte {
	p := e.part
	google := p.Signature.Origin == OriginGoogle && p.Signature.Data != ""
	switch {
	case p.Kind == KindReasoning && p.Signature.Data != "":
		p.Text = string(e.thought)
		w := e.deltaChunk(dst)
		w.key("reasoning_details")
		w.open('[')
		e.details += w.reasoningDetails(&p, e.details)
		w.close(']')
		dst = e.sendDelta(w)
	case p.Kind == KindCall && google:
		w := e.callChunk(dst)
		kind, input := e.callWords()
		w.key(kind) // clients want one in every piece of a call
		w.open('{')
		w.key(input)
		w.text("")
		w.close('}')
		w.extraContent(p.Signature)
		dst = e.sendCall(w)
	case p.Kind == KindText && google:
		w := e.deltaChunk(dst)
		w.extraContent(p.Signature)
		dst = e.sendDelta(w)
	}
	if p.Kind == KindCall {
		e.calls++
	}
	e.part = Part{}
	return dst
}

// finish ends the stream.
func (e *chatEncoder) finish(dst []byte) []byte {
	if e.r.IncludeUsage && e.usage.Known {
		w := e.chunk(dst)
		w.raw([]byte(`"choices":[]`))
		w.key("usage")
		w.chatUsage(&e.usage)
		w.close('}')
		w.b = append(w.b, "\n\n"...)
		dst = w.b
	}
	return append(dst, "data: [DONE]\n\n"...)
}
