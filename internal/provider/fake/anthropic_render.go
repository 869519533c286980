package fake

// render writes the answer in Anthropic's form.
func (anthropic) render(out *rendering, c *call, a *answer) {
	w := messageWriter{out: out, c: c, a: a}
	switch {
	case c.endpoint == EndpointModels:
		renderMessagesModels(out, c, a)
	case c.endpoint == EndpointCountTokens:
		out.buf = append(appendField(out.buf, `{"input_tokens":`, a.usage.Prompt), '}')
	case c.stream:
		w.stream()
	default:
		w.whole()
	}
}

// messageWriter writes one message, whole or as events.
type messageWriter struct {
	out *rendering
	c   *call
	a   *answer
}

// head appends the members with which a message begins.
func (w *messageWriter) head(b []byte) []byte {
	b = append(b, `{"id":"msg_`...)
	b = append(b, w.a.id...)
	b = append(b, `","type":"message","role":"assistant","model":`...)
	b = appendString(b, w.a.model)
	return append(b, ',')
}

func (w *messageWriter) whole() {
	b := w.head(w.out.buf)
	w.out.key = len(b)
	b = append(b, `"content":`...)
	w.out.lo = len(b)
	b = append(b, '[')
	b = w.blocks(b)
	b = append(b, ']')
	w.out.hi = len(b)
	b = append(b, ',')
	b = w.stop(b)
	b = append(b, `,"usage":`...)
	b = append(w.usage(b, w.a.usage), '}')
	w.out.buf = b
}

// blocks appends the content.
func (w *messageWriter) blocks(b []byte) []byte {
	start := len(b)
	next := func() {
		if len(b) > start {
			b = append(b, ',')
		}
	}
	if len(w.a.reasoning) > 0 {
		b = w.thought(b)
	}
	for i := range w.a.calls {
		next()
		b = w.call(b, i)
		b = append(append(append(b, `,"input":`...), w.a.calls[i].arguments...), '}')
	}
	if len(w.a.pieces) > 0 {
		next()
		b = append(appendPieces(append(b, `{"type":"text","text":`...), w.a.pieces), '}')
	}
	return b
}

// thinking is the reasoning as one text, unescaped.
func (w *messageWriter) thinking() string { return joinPieces(w.a.reasoning) }

// thought appends the block of the reasoning, in the form that the request asks
// for.
func (w *messageWriter) thought(b []byte) []byte {
	signature := signatureOf(makerAnthropic, w.thinking())
	if w.a.sealed {
		return append(appendString(append(b, `{"type":"redacted_thinking","data":`...), signature), '}')
	}
	b = append(b, `{"type":"thinking","thinking":`...)
	if w.a.hidden {
		b = append(b, `""`...)
	} else {
		b = appendPieces(b, w.a.reasoning)
	}
	return append(appendString(append(b, `,"signature":`...), signature), '}')
}

// call appends the beginning of the block of call number i.
func (w *messageWriter) call(b []byte, i int) []byte {
	b = append(b, `{"type":"tool_use","id":"toolu_`...)
	b = append(b, w.a.calls[i].id...)
	b = append(b, `","name":`...)
	return appendString(b, w.a.calls[i].name)
}

// stop appends why the message ended.
func (w *messageWriter) stop(b []byte) []byte {
	reason := "end_turn"
	switch {
	case w.a.window:
		reason = "model_context_window_exceeded"
	case w.a.finish == finishToolCalls:
		reason = "tool_use"
	case w.a.finish == finishLength:
		reason = "max_tokens"
	case w.a.finish == finishFilter || w.a.refusal != "":
		reason = "refusal"
	case w.a.stopped != "":
		reason = "stop_sequence"
	}
	b = append(b, `"stop_reason":"`...)
	b = append(b, reason...)
	b = append(b, `","stop_sequence":`...)
	b = appendNullable(b, w.a.stopped)
	if w.a.refusal != "" {
		b = append(b, `,"stop_details":{"type":"refusal","category":null,"explanation":`...)
		b = append(appendString(b, w.a.refusal), '}')
	}
	return b
}

// usage appends a usage. What was read from a cache, or written to it, is not
// among the input_tokens.
func (w *messageWriter) usage(b []byte, u Usage) []byte {
	b = appendField(b, `{"input_tokens":`, max(u.Prompt-u.Cached-u.CacheWrite, 0))
	b = appendField(b, `,"cache_creation_input_tokens":`, u.CacheWrite)
	b = appendField(b, `,"cache_read_input_tokens":`, u.Cached)
	b = appendField(b, `,"cache_creation":{"ephemeral_5m_input_tokens":`, u.CacheWrite)
	b = append(b, `,"ephemeral_1h_input_tokens":0}`...)
	b = appendField(b, `,"output_tokens":`, u.Completion)
	if u.Reasoning > 0 {
		b = append(appendField(b, `,"output_tokens_details":{"thinking_tokens":`, u.Reasoning), '}')
	}
	return append(b, `,"service_tier":"standard"}`...)
}

func renderMessagesModels(out *rendering, c *call, a *answer) {
	model := func(b []byte, id string) []byte {
		b = appendString(append(b, `{"type":"model","id":`...), id)
		b = appendString(append(b, `,"display_name":`...), id)
		return append(b, `,"created_at":"2026-01-01T00:00:00Z"}`...)
	}
	if c.model != "" {
		out.buf = model(out.buf, c.model)
		return
	}
	b := out.buf
	b = append(b, `{"data":[`...)
	for i, id := range a.models {
		if i > 0 {
			b = append(b, ',')
		}
		b = model(b, id)
	}
	first, last := "", ""
	if n := len(a.models); n > 0 {
		first, last = a.models[0], a.models[n-1]
	}
	b = appendNullable(append(b, `],"has_more":false,"first_id":`...), first)
	out.buf = append(appendNullable(append(b, `,"last_id":`...), last), '}')
}
