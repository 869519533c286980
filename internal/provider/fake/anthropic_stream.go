package fake

// stream writes the events of a message.
func (w *messageWriter) stream() {
	if w.a.prelude {
		w.event(framePrelude, eventPing, nil)
	}
	starts := 1
	if w.a.roleEach {
		starts = 2
	}
	for range starts {
		w.start()
	}
	w.event(frameRole, eventPing, nil)
	index := 0
	if len(w.a.reasoning) > 0 {
		w.streamThought()
		index++
	}
	for i := range w.a.calls {
		w.streamCall(index, i)
		index++
	}
	if len(w.a.pieces) > 0 {
		w.streamText(index)
	}
	w.end()
}

// event writes one event; body appends what follows its type.
func (w *messageWriter) event(kind frameKind, name string, body func(b []byte) []byte) {
	w.out.beginNamed(kind, false, name)
	w.body(name, body)
}

// delta writes an event with a piece of content.
func (w *messageWriter) delta(kind string, index int, paced bool, body func(b []byte) []byte) {
	const name = "content_block_delta"
	w.out.beginNamed(frameContent, paced, name)
	w.body(name, func(b []byte) []byte {
		b = appendField(b, `,"index":`, index)
		b = append(append(append(b, `,"delta":{"type":"`...), kind...), '"')
		return append(body(b), '}')
	})
}

func (w *messageWriter) body(name string, body func(b []byte) []byte) {
	b := append(append(append(w.out.buf, `{"type":"`...), name...), '"')
	if body != nil {
		b = body(b)
	}
	b = append(b, '}')
	w.out.buf = b
	w.out.end()
}

// start announces the message, with what is known of the usage by then.
func (w *messageWriter) start() {
	w.event(frameRole, "message_start", func(b []byte) []byte {
		b = append(b, `,"message":`...)
		b = w.head(b)
		b = append(b, `"content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
		u := Usage{}
		if w.a.usageForm != usageOnFinish {
			u = Usage{Prompt: w.a.usage.Prompt, Cached: w.a.usage.Cached, CacheWrite: w.a.usage.CacheWrite, Completion: 1}
		}
		return append(w.usage(b, u), '}')
	})
}

// block announces a block and returns what its events are: content, once one of
// them was.
func (w *messageWriter) block(kind frameKind, index int, block func(b []byte) []byte) {
	w.event(kind, "content_block_start", func(b []byte) []byte {
		b = appendField(b, `,"index":`, index)
		return append(block(append(b, `,"content_block":`...)), '}')
	})
}

func (w *messageWriter) blockEnd(kind frameKind, index int) {
	w.event(kind, "content_block_stop", func(b []byte) []byte { return appendField(b, `,"index":`, index) })
}

// opens is the kind of an event that announces a block with nothing in it yet.
func opens(index int) frameKind {
	if index > 0 {
		return frameContent
	}
	return frameRole
}

// streamThought writes the events of the reasoning. What comes behind it is
// content, too, so its end is.
func (w *messageWriter) streamThought() {
	signature := signatureOf(makerAnthropic, w.thinking())
	if w.a.sealed {
		w.out.beginNamed(frameContent, true, "content_block_start")
		w.body("content_block_start", func(b []byte) []byte {
			return w.thought(append(b, `,"index":0,"content_block":`...))
		})
		w.blockEnd(frameContent, 0)
		return
	}
	w.block(frameRole, 0, func(b []byte) []byte { return append(b, `{"type":"thinking","thinking":"","signature":""`...) })
	if !w.a.hidden {
		for _, p := range w.a.reasoning {
			w.delta("thinking_delta", 0, true, func(b []byte) []byte {
				return append(append(append(b, `,"thinking":"`...), p...), '"')
			})
		}
	}
	w.delta("signature_delta", 0, w.a.hidden, func(b []byte) []byte { return appendString(append(b, `,"signature":`...), signature) })
	w.blockEnd(frameContent, 0)
}

// streamCall writes the events of call number i.
func (w *messageWriter) streamCall(index, i int) {
	w.out.beginNamed(frameContent, true, "content_block_start")
	w.body("content_block_start", func(b []byte) []byte {
		b = appendField(b, `,"index":`, index)
		b = w.call(append(b, `,"content_block":`...), i)
		return append(b, `,"input":{}}`...)
	})
	for n, p := range append([]string{""}, argumentPieces(w.a.calls[i].arguments)...) {
		w.delta("input_json_delta", index, n > 0, func(b []byte) []byte { return appendString(append(b, `,"partial_json":`...), p) })
	}
	end := frameContent
	if i == len(w.a.calls)-1 {
		end = frameFinish
	}
	w.blockEnd(end, index)
}

func (w *messageWriter) streamText(index int) {
	w.block(opens(index), index, func(b []byte) []byte { return append(b, `{"type":"text","text":""`...) })
	for _, p := range w.a.pieces {
		w.delta("text_delta", index, true, func(b []byte) []byte {
			return append(append(append(b, `,"text":"`...), p...), '"')
		})
	}
	w.blockEnd(frameFinish, index)
}

// end writes how the message ended and what it took. A usage that grows comes
// several times.
func (w *messageWriter) end() {
	final := w.a.usage
	if w.a.usageForm == usageRepeated {
		for n := 1; n < min(final.Completion, repeatedUsage); n++ {
			u := final
			u.Completion = n
			w.messageDelta(`"stop_reason":null,"stop_sequence":null`, u)
		}
	}
	w.messageDelta(string(w.stop(nil)), final)
	w.event(frameDone, eventStop, nil)
}

// repeatedUsage is how often a usage that grows is told.
const repeatedUsage = 4

func (w *messageWriter) messageDelta(delta string, u Usage) {
	w.event(frameFinish, "message_delta", func(b []byte) []byte {
		b = append(append(append(b, `,"delta":{`...), delta...), `},"usage":`...)
		return w.usage(b, u)
	})
}
