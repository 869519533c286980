package translate

import "gatewright/internal/wire/sse"

// responsesEncoder writes a stream, and collects the items for its end.
type responsesEncoder struct {
	head     responsesHead
	ids      responsesIDs
	sequence int64
	quiet    bool // only the items are wanted
	over     bool
	started  bool

	output []byte // the items that have ended, separated by commas
	count  int    // of items that have begun

	part    Part   // the open one
	isWhole bool   // it had all it has when it began, and has been told
	text    []byte // of it so far
	id      string // of its item
	index   int    // of its item

	message      string // id of the open message, empty if none is open
	messageIndex int
	contents     []byte // of it that have ended, separated by commas
	parts        int    // of them

	usage Usage
	end   End
}

func newResponsesEncoder(r *Request, model string) Encoder {
	return &responsesEncoder{head: responsesHead{r: r, model: model}}
}

// Event implements [Encoder].
func (e *responsesEncoder) Event(dst []byte, ev *Event) []byte {
	if e.over {
		return dst
	}
	switch ev.Kind {
	case EventStart:
		e.start(ev)
		dst = e.life(dst, "response.created", "in_progress", "", nil)
		return e.life(dst, "response.in_progress", "in_progress", "", nil)
	case EventPart:
		return e.begin(dst, &ev.Part)
	case EventDelta:
		return e.delta(dst, ev.Text)
	case EventSignature:
		e.part.Signature = ev.Part.Signature
	case EventPartEnd:
		return e.endPart(dst)
	case EventUsage:
		e.usage = ev.Usage
	case EventFinish:
		e.end = ev.End
		return e.endMessage(dst)
	case EventEnd:
		e.over = true
		status, reason := responsesStatus(e.end)
		return e.life(dst, "response."+status, status, reason, nil)
	case EventError:
		e.over = true
		return e.failed(dst, ev)
	case EventPing:
	}
	return dst
}

func (e *responsesEncoder) start(ev *Event) {
	e.started = true
	e.ids = newResponsesIDs(ev.ID)
	e.head.id, e.head.created = e.ids.answer(), ev.Created
}

// add adds an event; write writes its members behind the first two.
func (e *responsesEncoder) add(dst []byte, kind string, write func(*writer)) []byte {
	if e.quiet {
		return dst
	}
	var w writer
	w.open('{')
	w.textMember("type", kind)
	w.key("sequence_number")
	w.integer(e.sequence)
	e.sequence++
	write(&w)
	w.close('}')
	return sse.Append(dst, kind, w.b)
}

// life adds an event that repeats the answer.
func (e *responsesEncoder) life(dst []byte, kind, status, reason string, failure func(*writer)) []byte {
	return e.add(dst, kind, func(w *writer) {
		w.key("response")
		var output []byte
		var usage *Usage
		if status != "in_progress" {
			output, usage = e.output, &e.usage
		}
		e.head.write(w, status, reason, output, usage, failure)
	})
}

// added announces an item.
func (e *responsesEncoder) added(dst []byte, write func(*writer)) []byte {
	e.index = e.count
	e.count++
	return e.add(dst, "response.output_item.added", func(w *writer) {
		w.key("output_index")
		w.integer(int64(e.index))
		w.key("item")
		write(w)
	})
}

// done ends an item.
func (e *responsesEncoder) done(dst []byte, index int, write func(*writer)) []byte {
	w := writer{b: e.output}
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
	}
	start := len(w.b)
	write(&w)
	e.output = w.b
	item := e.output[start:]
	return e.add(dst, "response.output_item.done", func(w *writer) {
		w.key("output_index")
		w.integer(int64(index))
		w.key("item")
		w.raw(item)
	})
}

// at writes the place of what an event is about: the item, and the part of it
// unless list is empty.
func (e *responsesEncoder) at(w *writer, id string, index int, list string, part int) {
	w.textMember("item_id", id)
	w.key("output_index")
	w.integer(int64(index))
	if list != "" {
		w.key(list)
		w.integer(int64(part))
	}
}

// begin begins a part.
func (e *responsesEncoder) begin(dst []byte, p *Part) []byte {
	e.part, e.text, e.isWhole = *p, e.text[:0], false
	if p.Kind == KindText || p.Kind == KindRefusal {
		return e.beginText(dst)
	}
	dst = e.endMessage(dst)
	switch p.Kind {
	case KindReasoning:
		if p.Redacted {
			e.isWhole = true
			return e.sealed(dst, &p.Signature, false)
		}
		e.id = e.ids.next(idPrefix(p))
		dst = e.added(dst, func(w *writer) { writeReasoningItem(w, e.id, "", "") })
		return e.add(dst, "response.reasoning_summary_part.added", func(w *writer) {
			e.at(w, e.id, e.index, "summary_index", 0)
			w.key("part")
			writeSummary(w, "")
		})
	case KindCall:
		e.id = e.ids.next(idPrefix(p))
		e.part.Call.ID = messagesAnswerID(p.Call.ID, e.head.id) // the ids of a history differ here too
		begun := e.part.Call
		begun.Arguments = ""
		return e.added(dst, func(w *writer) { writeResponsesCall(w, e.id, begun.Name, &begun, "in_progress") })
	case KindImage:
		if p.Media.Data == "" {
			break
		}
		e.isWhole = true
		id := e.ids.next(idPrefix(p))
		write := func(w *writer) { writeImageItem(w, id, &p.Media) }
		dst = e.added(dst, write)
		return e.done(dst, e.index, write)
	case KindText, KindRefusal, KindAudio, KindVideo, KindDocument, KindResult:
	}
	e.isWhole = true // the protocol has no room for it
	return dst
}

// sealed adds a reasoning item that holds nothing but a signature; behind says
// that it is that of the item before.
func (e *responsesEncoder) sealed(dst []byte, s *Signature, behind bool) []byte {
	if s.Data == "" {
		return dst
	}
	id, encrypted := e.ids.next("rs"), sealSignature(s, behind)
	write := func(w *writer) { writeReasoningItem(w, id, "", encrypted) }
	dst = e.added(dst, write)
	return e.done(dst, e.index, write)
}

// beginText begins a part of a message, and the message if none is open.
func (e *responsesEncoder) beginText(dst []byte) []byte {
	if e.message == "" {
		e.message = e.ids.next("msg")
		e.contents, e.parts = e.contents[:0], 0
		dst = e.added(dst, func(w *writer) { writeMessageItem(w, e.message, "in_progress", nil) })
		e.messageIndex = e.index
	}
	return e.add(dst, "response.content_part.added", func(w *writer) {
		e.at(w, e.message, e.messageIndex, "content_index", e.parts)
		w.key("part")
		writeContentPart(w, e.part.Kind, "")
	})
}

// delta adds a piece of the open part.
func (e *responsesEncoder) delta(dst []byte, text string) []byte {
	if e.isWhole || text == "" {
		return dst
	}
	e.text = append(e.text, text...)
	kind := "response.output_text.delta"
	id, index, list, part := e.message, e.messageIndex, "content_index", e.parts
	switch e.part.Kind {
	case KindRefusal:
		kind = "response.refusal.delta"
	case KindReasoning:
		kind = "response.reasoning_summary_text.delta"
		id, index, list, part = e.id, e.index, "summary_index", 0
	case KindCall:
		kind = "response.function_call_arguments.delta"
		if e.part.Call.Custom {
			kind = "response.custom_tool_call_input.delta"
		}
		id, index, list, part = e.id, e.index, "", 0
	case KindText, KindImage, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return e.add(dst, kind, func(w *writer) {
		e.at(w, id, index, list, part)
		w.key("delta")
		w.text(text)
		if e.part.Kind == KindText {
			w.rawMember("logprobs", []byte("[]"))
		}
	})
}

// endPart ends the open part, and its item unless that is a message.
func (e *responsesEncoder) endPart(dst []byte) []byte {
	if e.isWhole {
		return dst
	}
	e.isWhole = true
	switch e.part.Kind {
	case KindReasoning:
		return e.endThought(dst)
	case KindCall:
		return e.endCall(dst)
	case KindText, KindRefusal, KindImage, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return e.endText(dst)
}

func (e *responsesEncoder) endText(dst []byte) []byte {
	kind, text := e.part.Kind, string(e.text)
	name, field := "response.output_text.done", "text"
	if kind == KindRefusal {
		name, field = "response.refusal.done", "refusal"
	}
	dst = e.add(dst, name, func(w *writer) {
		e.at(w, e.message, e.messageIndex, "content_index", e.parts)
		w.key(field)
		w.text(text)
		if kind == KindText {
			w.rawMember("logprobs", []byte("[]"))
		}
	})
	dst = e.add(dst, "response.content_part.done", func(w *writer) {
		e.at(w, e.message, e.messageIndex, "content_index", e.parts)
		w.key("part")
		writeContentPart(w, kind, text)
	})
	w := writer{b: e.contents}
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
	}
	writeContentPart(&w, kind, text)
	e.contents = w.b
	e.parts++
	if e.part.Signature.Data != "" {
		return e.endMessage(dst)
	}
	return dst
}

// endMessage ends the open message. The signature of its last text follows it.
func (e *responsesEncoder) endMessage(dst []byte) []byte {
	if e.message == "" {
		return dst
	}
	id := e.message
	e.message = ""
	status := "completed"
	if e.end.Finish == FinishLength {
		status = "incomplete"
	}
	dst = e.done(dst, e.messageIndex, func(w *writer) { writeMessageItem(w, id, status, e.contents) })
	signature := e.part.Signature
	if e.part.Kind != KindText && e.part.Kind != KindRefusal {
		return dst
	}
	return e.sealed(dst, &signature, true)
}

func (e *responsesEncoder) endThought(dst []byte) []byte {
	text, encrypted := string(e.text), sealSignature(&e.part.Signature, false)
	dst = e.add(dst, "response.reasoning_summary_text.done", func(w *writer) {
		e.at(w, e.id, e.index, "summary_index", 0)
		w.key("text")
		w.text(text)
	})
	dst = e.add(dst, "response.reasoning_summary_part.done", func(w *writer) {
		e.at(w, e.id, e.index, "summary_index", 0)
		w.key("part")
		writeSummary(w, text)
	})
	return e.done(dst, e.index, func(w *writer) { writeReasoningItem(w, e.id, text, encrypted) })
}

func (e *responsesEncoder) endCall(dst []byte) []byte {
	call := e.part.Call
	call.Arguments = string(e.text)
	kind, field := "response.function_call_arguments.done", "arguments"
	if call.Custom {
		kind, field = "response.custom_tool_call_input.done", "input"
	} else if call.Arguments == "" {
		call.Arguments = "{}"
	}
	dst = e.add(dst, kind, func(w *writer) {
		e.at(w, e.id, e.index, "", 0)
		w.key(field)
		w.text(call.Arguments)
	})
	dst = e.done(dst, e.index, func(w *writer) { writeResponsesCall(w, e.id, call.Name, &call, "completed") })
	return e.sealed(dst, &e.part.Signature, true)
}

// failed adds the two events that tell an error.
func (e *responsesEncoder) failed(dst []byte, ev *Event) []byte {
	f := ev.Fault
	code := f.Code
	if code == "" {
		code = f.Kind.String()
	}
	cause := func(w *writer) {
		w.textMember("code", code)
		w.key("message")
		w.text(f.Message)
	}
	dst = e.add(dst, "error", func(w *writer) {
		w.key("error")
		w.open('{')
		w.textMember("type", f.Type)
		cause(w)
		w.key("param")
		w.raw([]byte("null"))
		w.close('}')
		cause(w)
		w.key("param")
		w.raw([]byte("null"))
	})
	if !e.started {
		return dst
	}
	return e.life(dst, "response.failed", "failed", "", func(w *writer) {
		w.open('{')
		cause(w)
		w.close('}')
	})
}
