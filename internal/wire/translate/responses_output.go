package translate

import (
	"strconv"
	"strings"
)

// An answer's items: what a client of Responses gets for parts. Texts and
// refusals side by side are the contents of one message. What a model thought is
// a reasoning item with a summary, which is what clients show; a signature is
// its encrypted content. A signature that belongs to a text or a call stands in
// a reasoning item of its own behind it.

// responsesIDs makes the ids of an answer and its items.
type responsesIDs struct {
	core  string // of the answer's id
	items int
}

// newResponsesIDs returns ids that are made of the upstream's id.
func newResponsesIDs(id string) responsesIDs {
	const limit = 48
	core := strings.TrimPrefix(strings.TrimPrefix(id, "resp_"), "msg_")
	if core == "" {
		core = "0"
	}
	return responsesIDs{core: fitName(core, limit, isWordByte)}
}

func (ids *responsesIDs) answer() string { return "resp_" + ids.core }

// next returns the id of the next item; prefix is "msg", "rs" and the like.
func (ids *responsesIDs) next(prefix string) string {
	ids.items++
	return prefix + "_" + ids.core + "_" + strconv.Itoa(ids.items-1)
}

// idPrefix is what the ids of the items begin with that a part becomes.
func idPrefix(p *Part) string {
	switch p.Kind {
	case KindReasoning:
		return "rs"
	case KindCall:
		if p.Call.Custom {
			return "ctc"
		}
		return "fc"
	case KindImage:
		return "ig"
	case KindText, KindRefusal, KindAudio, KindVideo, KindDocument, KindResult:
	}
	return "msg"
}

// writeContentPart writes a part of a message.
func writeContentPart(w *writer, kind Kind, text string) {
	w.open('{')
	if kind == KindRefusal {
		w.textMember("type", "refusal")
		w.key("refusal")
		w.text(text)
	} else {
		w.textMember("type", "output_text")
		w.key("text")
		w.text(text)
		w.rawMember("annotations", []byte("[]"))
		w.rawMember("logprobs", []byte("[]"))
	}
	w.close('}')
}

// writeMessageItem writes a message with the given contents, raw and separated
// by commas.
func writeMessageItem(w *writer, id, status string, contents []byte) {
	w.open('{')
	w.textMember("id", id)
	w.textMember("type", "message")
	w.textMember("status", status)
	w.textMember("role", "assistant")
	w.key("content")
	w.open('[')
	w.b = append(w.b, contents...)
	w.close(']', '}')
}

// writeReasoningItem writes what a model thought.
func writeReasoningItem(w *writer, id, text, encrypted string) {
	w.open('{')
	w.textMember("id", id)
	w.textMember("type", "reasoning")
	w.key("summary")
	w.open('[')
	if text != "" {
		writeSummary(w, text)
	}
	w.close(']')
	w.textMember("encrypted_content", encrypted)
	w.close('}')
}

func writeSummary(w *writer, text string) {
	w.open('{')
	w.textMember("type", "summary_text")
	w.key("text")
	w.text(text)
	w.close('}')
}

func writeImageItem(w *writer, id string, m *Media) {
	w.open('{')
	w.textMember("id", id)
	w.textMember("type", "image_generation_call")
	w.textMember("status", "completed")
	w.textMember("result", m.Data)
	w.textMember("output_format", strings.TrimPrefix(m.MIME, "image/"))
	w.close('}')
}

// responsesHead is what all objects of one answer have in common.
type responsesHead struct {
	r       *Request
	model   string
	id      string
	created int64
}

// write writes the answer: status is its status, reason that of an incomplete
// one, output its items, raw and separated by commas, fault the error of a
// failed one.
func (h *responsesHead) write(w *writer, status, reason string, output []byte, u *Usage, failure func(*writer)) {
	w.open('{')
	w.textMember("id", h.id)
	w.textMember("object", "response")
	w.key("created_at")
	w.integer(h.created)
	w.textMember("status", status)
	w.key("error")
	if failure != nil {
		failure(w)
	} else {
		w.raw([]byte("null"))
	}
	w.key("incomplete_details")
	if reason != "" {
		w.open('{')
		w.textMember("reason", reason)
		w.close('}')
	} else {
		w.raw([]byte("null"))
	}
	w.rawMember("instructions", []byte("null"))
	w.textMember("model", h.model)
	w.key("output")
	w.open('[')
	w.b = append(w.b, output...)
	w.close(']')
	w.key("usage")
	if u != nil && u.Known {
		writeResponsesUsage(w, u)
	} else {
		w.raw([]byte("null"))
	}
	h.repeat(w)
	w.close('}')
}

// repeat writes what an answer repeats of its request. The instructions are left
// out, since clients have them and they are long.
func (h *responsesHead) repeat(w *writer) {
	r := h.r
	tools := make([]Tool, 0, len(r.Tools))
	for i := range r.Tools {
		if r.Tools[i].Kind != ToolServer {
			tools = append(tools, r.Tools[i])
		}
	}
	if len(tools) == 0 {
		w.rawMember("tools", []byte("[]"))
	}
	writeResponsesTools(w, tools, asIs)
	if r.ToolChoice.Mode == ChoiceDefault || len(tools) == 0 {
		w.textMember("tool_choice", "auto")
	} else {
		writeResponsesChoice(w, &r.ToolChoice, tools, asIs)
	}
	w.key("parallel_tool_calls")
	w.flag(!r.Serial)
	writeOrNull(w, "max_output_tokens", r.MaxOutput != 0, func() { w.integer(r.MaxOutput) })
	writeOrNull(w, "temperature", r.Sampling.Temperature != nil, func() { w.float(*r.Sampling.Temperature) })
	writeOrNull(w, "top_p", r.Sampling.TopP != nil, func() { w.float(*r.Sampling.TopP) })
	w.key("reasoning")
	w.open('{')
	writeOrNull(w, "effort", r.Thinking.Effort != "", func() { w.text(string(r.Thinking.Effort)) })
	writeOrNull(w, "summary", r.Thinking.Summary != "", func() { w.text(r.Thinking.Summary) })
	w.close('}')
	if r.Format.Kind == FormatText && r.Verbosity == "" {
		w.rawMember("text", []byte(`{"format":{"type":"text"}}`))
	}
	writeResponsesText(w, r)
	w.rawMember("previous_response_id", []byte("null"))
	w.key("store")
	w.flag(false)
	w.textMember("truncation", "disabled")
	if len(r.Metadata) == 0 {
		w.rawMember("metadata", []byte("{}"))
	}
	writeMetadata(w, r.Metadata)
}

func writeOrNull(w *writer, name string, there bool, write func()) {
	w.key(name)
	if there {
		write()
		return
	}
	w.raw([]byte("null"))
}

func writeResponsesUsage(w *writer, u *Usage) {
	w.open('{')
	w.key("input_tokens")
	w.integer(u.Input)
	w.key("input_tokens_details")
	w.open('{')
	w.key("cached_tokens")
	w.integer(u.Cached)
	w.integerMember("cache_write_tokens", u.CacheWrite)
	w.close('}')
	w.key("output_tokens")
	w.integer(u.Output)
	w.key("output_tokens_details")
	w.open('{')
	w.key("reasoning_tokens")
	w.integer(u.Reasoning)
	w.close('}')
	w.key("total_tokens")
	w.integer(u.Input + u.Output)
	w.close('}')
}

// responsesStatus returns the status of an answer and the reason of an
// incomplete one.
func responsesStatus(end End) (status, reason string) {
	switch end.Finish {
	case FinishLength:
		return "incomplete", "max_output_tokens"
	case FinishFilter:
		return "incomplete", "content_filter"
	case FinishNone, FinishStop, FinishCalls:
	}
	return "completed", ""
}

// encodeResponsesAnswer writes a whole answer: what its stream would end with.
func encodeResponsesAnswer(dst []byte, a *Answer, r *Request, model string) []byte {
	e := responsesEncoder{head: responsesHead{r: r, model: model}, quiet: true}
	e.start(&Event{ID: a.ID, Created: a.Created})
	for i := range a.Parts {
		p := &a.Parts[i]
		e.begin(nil, p)
		if !e.isWhole {
			e.text = append(e.text[:0], p.Text...)
			if p.Kind == KindCall {
				e.text = append(e.text[:0], p.Call.Arguments...)
			}
		}
		e.endPart(nil)
	}
	e.end = a.End
	e.endMessage(nil)
	status, reason := responsesStatus(a.End)
	var w writer
	e.head.write(&w, status, reason, e.output, &a.Usage, nil)
	return append(dst, w.b...)
}
