package fake

import (
	"slices"
	"strconv"
	"strings"
)

// render writes the answer in Google's form.
func (gemini) render(out *rendering, c *call, a *answer) {
	out.crlf = true
	w := candidateWriter{out: out, c: c, a: a}
	switch {
	case c.endpoint == EndpointModels:
		renderGeminiModels(out, c, a)
	case c.endpoint == EndpointGeminiCount:
		b := appendField(out.buf, `{"totalTokens":`, a.usage.Prompt)
		out.buf = append(appendField(b, `,"promptTokensDetails":[{"modality":"TEXT","tokenCount":`, a.usage.Prompt), "}]}"...)
	case c.endpoint == EndpointGeminiEmbed:
		renderGeminiEmbed(out, c, a)
	case c.stream:
		w.stream()
	case c.array:
		out.bare = true
		w.stream()
		w.brackets()
	default:
		w.whole()
	}
}

// candidateWriter writes one answer, whole or in chunks.
type candidateWriter struct {
	out    *rendering
	c      *call
	a      *answer
	spoken int // pieces so far, thoughts not counted
}

// whole writes an answer that is not streamed.
func (w *candidateWriter) whole() {
	b := w.out.buf
	b = append(b, '{')
	if w.a.blocked != "" {
		b = w.feedback(b)
	} else {
		w.out.key = len(b)
		b = append(b, `"candidates":`...)
		w.out.lo = len(b)
		b = append(b, '[')
		for i := range w.c.choices {
			if i > 0 {
				b = append(b, ',')
			}
			b = w.candidate(b, i, w.parts(), w.finish())
		}
		b = append(b, ']')
		w.out.hi = len(b)
	}
	w.spoken = max(w.a.usage.Completion-w.a.usage.Reasoning, 0)
	w.out.buf = w.tail(append(b, ','), true)
}

// feedback appends why the prompt was blocked.
func (w *candidateWriter) feedback(b []byte) []byte {
	b = appendString(append(b, `"promptFeedback":{"blockReason":`...), w.a.blocked)
	if w.a.blockedText != "" {
		b = appendString(append(b, `,"blockReasonMessage":`...), w.a.blockedText)
	}
	return append(b, '}')
}

// candidate appends one candidate with parts; finish may be empty.
func (w *candidateWriter) candidate(b []byte, index int, parts []string, finish string) []byte {
	b = append(b, `{"content":{`...)
	if len(parts) > 0 {
		b = append(append(append(b, `"parts":[`...), strings.Join(parts, ",")...), "],"...)
	}
	b = append(b, `"role":"model"}`...)
	if finish != "" {
		b = appendString(append(b, `,"finishReason":`...), finish)
	}
	if finish != "" && w.a.refusal != "" {
		b = appendString(append(b, `,"finishMessage":`...), w.a.refusal)
		b = append(b, `,"safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]`...)
	}
	return append(appendField(b, `,"index":`, index), '}')
}

// finish is why the answer ended. A call has no reason of its own.
func (w *candidateWriter) finish() string {
	switch {
	case w.a.malformed:
		return "MALFORMED_FUNCTION_CALL"
	case w.a.refusal != "":
		return "SAFETY"
	case w.a.finish == finishFilter:
		return "PROHIBITED_CONTENT"
	case w.a.finish == finishLength || w.a.window:
		return "MAX_TOKENS"
	}
	return "STOP"
}

// parts are the parts of the whole answer.
func (w *candidateWriter) parts() []string {
	var parts []string
	if len(w.a.reasoning) > 0 && !w.a.hidden {
		parts = append(parts, w.thought(w.a.reasoning...))
	}
	for i := range w.a.calls {
		parts = append(parts, w.call(i))
	}
	if len(w.a.pieces) > 0 {
		text := string(appendPieces(nil, w.a.pieces))
		parts = append(parts, `{"text":`+text+w.signature(text)+`}`)
	}
	return parts
}

// thought is a part with reasoning.
func (w *candidateWriter) thought(pieces ...string) string {
	return `{"text":` + string(appendPieces(nil, pieces)) + `,"thought":true}`
}

// call is a part with call number i. Of calls side by side the first is signed;
// ids have those of the models that sign.
func (w *candidateWriter) call(i int) string {
	one := &w.a.calls[i]
	b := appendString([]byte(`{"functionCall":{"name":`), one.name)
	b = append(append(b, `,"args":`...), one.arguments...)
	if w.c.signs() {
		b = appendString(append(b, `,"id":`...), one.id)
	}
	b = append(b, '}')
	if i == 0 {
		b = append(b, w.signature(one.name)...)
	}
	return string(append(b, '}'))
}

// signature is the member of a part that holds the signature, where there is one.
func (w *candidateWriter) signature(of string) string {
	if !w.c.signs() {
		return ""
	}
	return `,"thoughtSignature":` + string(appendString(nil, signatureOf(makerGoogle, of)))
}

// tail appends what every chunk ends with. The usage grows with what was said.
func (w *candidateWriter) tail(b []byte, usage bool) []byte {
	if usage {
		b = append(w.usage(b), ',')
	}
	b = appendString(append(b, `"modelVersion":`...), w.a.model)
	b = append(b, `,"responseId":"`...)
	b = append(b, w.a.id...)
	return append(b, `"}`...)
}

func (w *candidateWriter) usage(b []byte) []byte {
	u := w.a.usage
	said := min(w.spoken, max(u.Completion-u.Reasoning, 0))
	b = appendField(b, `"usageMetadata":{"promptTokenCount":`, u.Prompt)
	if said > 0 {
		b = appendField(b, `,"candidatesTokenCount":`, said)
	}
	b = appendField(b, `,"totalTokenCount":`, u.Prompt+said+u.Reasoning)
	if u.Cached > 0 {
		b = appendField(b, `,"cachedContentTokenCount":`, u.Cached)
	}
	b = appendField(b, `,"promptTokensDetails":[{"modality":"TEXT","tokenCount":`, u.Prompt)
	b = append(b, "}]"...)
	if u.Reasoning > 0 {
		b = appendField(b, `,"thoughtsTokenCount":`, u.Reasoning)
	}
	return append(b, '}')
}

// stream writes the chunks of an answer. There is no event for the role, and none
// for the end.
func (w *candidateWriter) stream() {
	if w.a.prelude {
		w.chunk(framePrelude, false, func(b []byte) []byte { return b })
	}
	if w.a.blocked != "" {
		w.chunk(frameFinish, false, w.feedback)
		return
	}
	if !w.a.hidden {
		for _, p := range w.a.reasoning {
			w.part(w.thought(p), false)
		}
	}
	for i := range w.a.calls {
		w.part(w.call(i), true)
	}
	for _, p := range w.a.pieces {
		w.part(`{"text":"`+p+`"}`, true)
	}
	w.spoken = max(w.a.usage.Completion-w.a.usage.Reasoning, 0)
	w.finale()
}

// finale writes the chunk that ends the answer. A text is signed behind its end;
// one that holds nothing has no part there either.
func (w *candidateWriter) finale() {
	var parts []string
	switch {
	case len(w.a.pieces) > 0:
		parts = []string{`{"text":""` + w.signature(joinPieces(w.a.pieces)) + `}`}
	case len(w.a.calls) > 0:
		parts = []string{`{"text":""}`}
	}
	for i := range w.c.choices {
		w.chunk(frameFinish, false, func(b []byte) []byte {
			return append(w.candidate(append(b, `"candidates":[`...), i, parts, w.finish()), ']')
		})
	}
}

// part writes a chunk with one part, for each of the answers.
func (w *candidateWriter) part(part string, said bool) {
	if said {
		w.spoken += w.c.choices
	}
	for i := range w.c.choices {
		w.chunk(frameContent, i == 0, func(b []byte) []byte {
			return append(w.candidate(append(b, `"candidates":[`...), i, []string{part}, ""), ']')
		})
	}
}

func (w *candidateWriter) chunk(kind frameKind, paced bool, body func(b []byte) []byte) {
	w.out.begin(kind, paced)
	b := w.out.buf
	b = append(b, '{')
	n := len(b)
	if b = body(b); len(b) > n {
		b = append(b, ',')
	}
	usage := w.a.usageForm != usageOnFinish || kind == frameFinish
	w.out.buf = w.tail(b, usage)
	w.out.end()
}

// brackets makes one JSON array of the chunks of a stream: each begins with the
// bracket or the comma before it.
func (w *candidateWriter) brackets() {
	old := slices.Clone(w.out.buf)
	b := w.out.buf[:0]
	for i := range w.out.frames {
		f := &w.out.frames[i]
		data := old[f.lo:f.hi]
		f.from, f.lo = len(b), len(b)
		if i == 0 {
			b = append(b, '[')
		} else {
			b = append(b, ",\r\n"...)
		}
		b = append(b, data...)
		if i == len(w.out.frames)-1 {
			b = append(b, ']')
		}
		f.hi = len(b)
	}
	w.out.buf = b
}

func renderGeminiModels(out *rendering, c *call, a *answer) {
	model := func(b []byte, id string) []byte {
		b = append(appendString(append(b, `{"name":`...), "models/"+id), `,"version":"001","displayName":`...)
		b = appendString(b, id)
		b = append(b, `,"inputTokenLimit":`...)
		b = strconv.AppendInt(b, 1<<20, 10)
		return append(b, `,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]}`...)
	}
	if c.model != "" {
		out.buf = model(out.buf, c.model)
		return
	}
	b := out.buf
	b = append(b, `{"models":[`...)
	for i, id := range a.models {
		if i > 0 {
			b = append(b, ',')
		}
		b = model(b, id)
	}
	b = append(b, "]}"...)
	out.buf = b
}
