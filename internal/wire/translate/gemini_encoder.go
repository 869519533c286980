package translate

import "gatewright/internal/wire/sse"

// encodeGeminiAnswer writes an answer for a client of Gemini's.
func encodeGeminiAnswer(dst []byte, a *Answer, _ *Request, model string) []byte {
	w := writer{b: append(dst, '{')}
	w.key("candidates")
	w.open('[')
	w.open('{')
	w.key("content")
	w.open('{')
	w.key("parts")
	w.open('[')
	for i := range a.Parts {
		writeGeminiPart(&w, &a.Parts[i])
	}
	w.close(']')
	w.textMember("role", "model")
	w.close('}')
	w.textMember("finishReason", geminiReason(a.End))
	w.key("index")
	w.integer(0)
	w.close('}', ']')
	writeGeminiRest(&w, &a.Usage, model, a.ID)
	w.close('}')
	return w.b
}

// geminiReason returns the finishReason of an end: the upstream's own word where
// it is one of Gemini's.
func geminiReason(end End) string {
	switch end.Finish {
	case FinishNone:
		return ""
	case FinishLength:
		return "MAX_TOKENS"
	case FinishFilter:
		return "SAFETY"
	case FinishStop, FinishCalls:
	}
	return "STOP"
}

func writeGeminiRest(w *writer, u *Usage, model, id string) {
	if u.Known {
		w.key("usageMetadata")
		w.open('{')
		w.key("promptTokenCount")
		w.integer(u.Input)
		w.integerMember("cachedContentTokenCount", u.Cached)
		w.key("candidatesTokenCount")
		w.integer(u.Output - u.Reasoning)
		w.integerMember("thoughtsTokenCount", u.Reasoning)
		w.key("totalTokenCount")
		w.integer(u.Input + u.Output)
		w.close('}')
	}
	w.textMember("modelVersion", model)
	w.textMember("responseId", id)
}

// writeGeminiPart writes a part of an answer.
func writeGeminiPart(w *writer, p *Part) {
	w.open('{')
	switch p.Kind {
	case KindText, KindRefusal, KindReasoning:
		w.key("text")
		w.text(p.Text)
		w.flagMember("thought", p.Kind == KindReasoning && !p.Redacted)
	case KindCall:
		w.key("functionCall")
		w.open('{')
		w.textMember("name", p.Call.Name)
		w.key("args")
		switch {
		case isObject(p.Call.Arguments):
			w.raw([]byte(p.Call.Arguments))
		case p.Call.Arguments == "":
			w.raw([]byte("{}"))
		default:
			w.raw([]byte(wrapCustom(p.Call.Arguments)))
		}
		w.textMember("id", p.Call.ID)
		w.close('}')
	case KindImage, KindAudio, KindVideo, KindDocument:
		writeGeminiMedia(w, &p.Media)
	case KindResult:
	}
	if p.Signature.Origin == OriginGoogle {
		w.textMember("thoughtSignature", p.Signature.Data)
	}
	w.close('}')
}

func writeGeminiMedia(w *writer, m *Media) {
	name, key, value := "inlineData", "data", m.Data
	if m.Data == "" {
		name, key, value = "fileData", "fileUri", m.URL
	}
	w.key(name)
	w.open('{')
	w.textMember("mimeType", m.MIME)
	w.textMember(key, value)
	w.close('}')
}

// geminiEncoder writes a stream for a client of Gemini's. Arguments of a call
// stand in one chunk.
type geminiEncoder struct {
	model string
	id    string
	usage Usage
	end   End
	part  Part // the open one; of a call with the arguments so far
	over  bool
}

func newGeminiEncoder(_ *Request, model string) Encoder { return &geminiEncoder{model: model} }

// Event implements [Encoder].
func (e *geminiEncoder) Event(dst []byte, ev *Event) []byte {
	if e.over {
		return dst
	}
	switch ev.Kind {
	case EventStart:
		e.id = ev.ID
	case EventPart:
		e.part = ev.Part
	case EventDelta:
		if e.part.Kind == KindCall {
			e.part.Call.Arguments += ev.Text
			return dst
		}
		return e.chunk(dst, &Part{Kind: e.part.Kind, Text: ev.Text})
	case EventSignature:
		e.part.Signature = ev.Part.Signature
	case EventPartEnd:
		return e.endPart(dst)
	case EventUsage:
		e.usage = ev.Usage
	case EventFinish:
		e.end = ev.End
	case EventEnd:
		e.over = true
		return e.chunk(dst, nil)
	case EventError:
		e.over = true
		return sse.Append(dst, "", geminiErrorBody(ev))
	case EventPing:
	}
	return dst
}

// endPart writes what of a part is told at its end: all of a call or a medium,
// and the signature of a text.
func (e *geminiEncoder) endPart(dst []byte) []byte {
	p := &e.part
	switch p.Kind {
	case KindText, KindRefusal, KindReasoning:
		if p.Signature.Origin != OriginGoogle {
			return dst
		}
		return e.chunk(dst, &Part{Kind: KindText, Signature: p.Signature})
	case KindCall, KindImage, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return e.chunk(dst, p)
}

// chunk writes one chunk; without a part it is the last.
func (e *geminiEncoder) chunk(dst []byte, p *Part) []byte {
	var w writer
	w.open('{')
	w.key("candidates")
	w.open('[')
	w.open('{')
	w.key("content")
	w.open('{')
	w.key("parts")
	w.open('[')
	if p != nil {
		writeGeminiPart(&w, p)
	}
	w.close(']')
	w.textMember("role", "model")
	w.close('}')
	if p == nil {
		w.textMember("finishReason", geminiReason(e.end))
	}
	w.key("index")
	w.integer(0)
	w.close('}', ']')
	writeGeminiRest(&w, &e.usage, e.model, e.id)
	w.close('}')
	return sse.Append(dst, "", w.b)
}

// geminiErrorBody returns the error object of an error event.
func geminiErrorBody(ev *Event) []byte {
	var w writer
	w.open('{')
	w.key("error")
	w.open('{')
	w.key("code")
	w.integer(int64(ev.Fault.Status))
	w.key("message")
	w.text(ev.Fault.Message)
	w.textMember("status", geminiStatus(ev.Fault.Status))
	w.close('}', '}')
	return w.b
}

// geminiStatus returns the service's name of an HTTP status.
func geminiStatus(status int) string {
	switch status {
	case 400:
		return "INVALID_ARGUMENT"
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 429:
		return "RESOURCE_EXHAUSTED"
	case 503:
		return "UNAVAILABLE"
	case 504:
		return "DEADLINE_EXCEEDED"
	}
	return "INTERNAL"
}
