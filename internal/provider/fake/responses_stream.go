package fake

import "strconv"

// stream writes the events of a response. Of a kept one that is asked for from
// some event on, the earlier ones are left out.
func (r *responder) stream() {
	if r.c.responses.background {
		r.life(framePrelude, "response.created", statusQueued)
		r.life(framePrelude, "response.queued", statusQueued)
	} else {
		r.life(framePrelude, "response.created", statusInProgress)
	}
	r.life(framePrelude, "response.in_progress", statusInProgress)
	index := 0
	if len(r.a.reasoning) > 0 {
		r.thoughts(index)
		index++
	}
	for n := range r.a.calls {
		r.called(index+n, n)
	}
	if len(r.a.calls) == 0 {
		r.said(index)
	}
	end := r.status()
	r.life(frameFinish, "response."+end, end)
}

// event writes one event; body appends what follows its type and number.
func (r *responder) event(kind frameKind, paced bool, name string, body func(b []byte) []byte) {
	number := r.seq
	r.seq++
	if number <= r.c.responses.behind && r.c.responses.action == storedGet {
		return
	}
	r.out.beginNamed(kind, paced, name)
	b := r.out.buf
	b = append(b, `{"type":"`...)
	b = append(b, name...)
	b = append(b, `","sequence_number":`...)
	b = strconv.AppendInt(b, int64(number), 10)
	r.out.buf = append(body(append(b, ',')), '}')
	r.out.end()
}

// life writes an event that holds the response.
func (r *responder) life(kind frameKind, name, status string) {
	r.event(kind, false, name, func(b []byte) []byte {
		b = append(b, `"response":`...)
		r.out.buf = b
		r.response(status)
		return r.out.buf
	})
}

// place writes an event about the item at an index.
func (r *responder) place(kind frameKind, paced bool, name, id string, index int, body func(b []byte) []byte) {
	r.event(kind, paced, name, func(b []byte) []byte {
		b = appendString(append(b, `"item_id":`...), id)
		b = appendField(b, `,"output_index":`, index)
		return body(append(b, ','))
	})
}

// item writes an event that holds an item.
func (r *responder) item(kind frameKind, name string, index int, item func(b []byte, done bool) []byte, done bool) {
	r.event(kind, false, name, func(b []byte) []byte {
		return item(append(appendField(b, `"output_index":`, index), `,"item":`...), done)
	})
}

const (
	itemAdded = "response.output_item.added"
	itemDone  = "response.output_item.done"
)

// thoughts writes the events of the reasoning. What follows is content too, so
// all of them are.
func (r *responder) thoughts(index int) {
	const place = `"summary_index":0,`
	id := "rs_" + string(r.a.id)
	text := func(key string, add func([]byte) []byte) func([]byte) []byte {
		return func(b []byte) []byte { return add(append(append(b, place...), key...)) }
	}
	all := func(b []byte) []byte { return appendPieces(b, r.a.reasoning) }
	r.item(framePrelude, itemAdded, index, r.reasoning, false)
	r.place(framePrelude, false, "response.reasoning_summary_part.added", id, index, func(b []byte) []byte {
		return append(b, place+`"part":{"type":"summary_text","text":""}`...)
	})
	for _, p := range r.a.reasoning {
		r.place(frameContent, true, "response.reasoning_summary_text.delta", id, index, text(`"delta":"`, func(b []byte) []byte {
			return append(append(b, p...), '"')
		}))
	}
	r.place(frameContent, false, "response.reasoning_summary_text.done", id, index, text(`"text":`, all))
	r.place(frameContent, false, "response.reasoning_summary_part.done", id, index, text(`"part":{"type":"summary_text","text":`, func(b []byte) []byte {
		return append(all(b), '}')
	}))
	r.item(frameContent, itemDone, index, r.reasoning, true)
}

// opening is the kind of the events that announce an item: content when there
// was some before.
func opening(index int) frameKind {
	if index > 0 {
		return frameContent
	}
	return framePrelude
}

// called writes the events of call number n. What comes before the last item is
// content, so that nothing of the end stands between.
func (r *responder) called(index, n int) {
	id, one, end := callItem(r.a, n), &r.a.calls[n], frameFinish
	if n < len(r.a.calls)-1 {
		end = frameContent
	}
	item := r.toolCall(n)
	r.item(opening(index), itemAdded, index, item, false)
	for _, p := range argumentPieces(one.arguments) {
		r.place(frameContent, true, "response.function_call_arguments.delta", id, index, func(b []byte) []byte {
			return appendString(append(b, `"delta":`...), p)
		})
	}
	r.place(end, false, "response.function_call_arguments.done", id, index, func(b []byte) []byte {
		return appendString(append(b, `"arguments":`...), one.arguments)
	})
	r.item(end, itemDone, index, item, true)
}

// said writes the events of a message.
func (r *responder) said(index int) {
	const place = `"content_index":0,`
	id := "msg_" + string(r.a.id)
	kind, key, texts := "response.output_text", `"text":`, r.a.pieces
	if r.a.refusal != "" {
		quoted := string(appendString(nil, r.a.refusal))
		kind, key, texts = "response.refusal", `"refusal":`, []string{quoted[1 : len(quoted)-1]}
	}
	part := func(done bool) func([]byte) []byte {
		return func(b []byte) []byte { return r.part(append(b, place+`"part":`...), done) }
	}
	r.item(opening(index), itemAdded, index, r.message, false)
	r.place(opening(index), false, "response.content_part.added", id, index, part(false))
	for _, p := range texts {
		r.place(frameContent, true, kind+".delta", id, index, func(b []byte) []byte {
			return append(append(append(b, place+`"logprobs":[],"delta":"`...), p...), '"')
		})
	}
	r.place(frameFinish, false, kind+".done", id, index, func(b []byte) []byte {
		return appendPieces(append(append(b, place...), key...), texts)
	})
	r.place(frameFinish, false, "response.content_part.done", id, index, part(true))
	r.item(frameFinish, itemDone, index, r.message, true)
}

// appendFailed appends the events that tell an error in a stream after so many
// events: the error, then the response that failed.
func appendFailed(dst []byte, c *call, a *answer, e *apiError, events int) []byte {
	var out rendering
	r := responder{out: &out, c: c, a: a, seq: events}
	r.event(frameFinish, false, "error", func(b []byte) []byte {
		b = append(b, `"error":{"type":`...)
		b = appendNullable(b, e.typ)
		b = appendCode(append(b, `,"code":`...), e.code)
		b = appendString(append(b, `,"message":`...), e.message)
		return append(b, `,"param":null}`...)
	})
	r.life(frameFinish, "response.failed", statusFailed)
	return append(dst, out.buf...)
}
