package translate

import "strings"

// turn writes the items of a turn: messages of the parts between calls, results
// and reasoning.
func (w *responsesRequest) turn(t *Turn) error {
	role := t.Role.String()
	if t.Role == RoleSystem {
		role = "developer"
	}
	open := false
	end := func() {
		if open {
			w.close(']', '}')
			open = false
		}
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Cache != CacheNone {
			w.lost.add("messages[].content[].cache_control", "OpenAI caches by itself")
		}
		switch p.Kind {
		case KindCall:
			end()
			w.call(p.Call)
		case KindResult:
			end()
			if err := w.result(&p.Result); err != nil {
				return err
			}
		case KindReasoning:
			end()
			w.thought(p)
		case KindText, KindRefusal, KindImage, KindAudio, KindVideo, KindDocument:
			if p.Kind == KindText && p.Text == "" {
				continue
			}
			if !open {
				open = true
				w.open('{')
				w.textMember("type", "message")
				w.textMember("role", role)
				w.key("content")
				w.open('[')
			}
			if t.Role == RoleAssistant && p.Kind != KindText && p.Kind != KindRefusal {
				return unsupported("messages[].content[].type", "Responses takes no %s of the model's own", p.Kind)
			}
			if err := w.part(p, t.Role == RoleAssistant); err != nil {
				return err
			}
		}
	}
	end()
	return nil
}

// call writes a call of an earlier turn.
func (w *responsesRequest) call(c Call) {
	if c.Custom && !w.up.Full {
		c.Custom, c.Arguments = false, wrapCustom(c.Arguments)
	}
	w.custom[c.ID] = c.Custom
	writeResponsesCall(&w.writer, "", fitOpenAIName(c.Name), &c, "")
}

// thought writes reasoning that the upstream's maker can read.
func (w *responsesRequest) thought(p *Part) {
	if p.Signature.Origin != OriginOpenAI || p.Signature.Data == "" {
		w.lost.add("messages[].content[](reasoning)", "only the maker that wrote it can read it")
		return
	}
	w.open('{')
	w.textMember("type", "reasoning")
	w.textMember("id", p.Signature.ID)
	w.key("summary")
	w.open('[')
	if p.Text != "" {
		w.open('{')
		w.textMember("type", "summary_text")
		w.textMember("text", p.Text)
		w.close('}')
	}
	w.close(']')
	w.textMember("encrypted_content", p.Signature.Data)
	w.close('}')
}

// result writes what a call gave.
func (w *responsesRequest) result(r *Result) error {
	kind := "function_call_output"
	if w.custom[r.CallID] {
		kind = "custom_tool_call_output"
	}
	w.open('{')
	w.textMember("type", kind)
	w.textMember("call_id", fitCallID(r.CallID))
	w.key("output")
	if r.IsError {
		w.lost.add("messages[].content[].is_error", "Responses has no mark for a call that failed; the text says it")
	}
	if len(r.Parts) == 0 || len(r.Parts) == 1 && r.Parts[0].Kind == KindText {
		w.text(joinTexts(r.Parts))
	} else {
		w.open('[')
		for i := range r.Parts {
			if err := w.part(&r.Parts[i], false); err != nil {
				return err
			}
		}
		w.close(']')
	}
	w.close('}')
	return nil
}

// joinTexts returns the texts of parts, a blank line between them.
func joinTexts(parts []Part) string {
	texts := make([]string, 0, len(parts))
	for i := range parts {
		if parts[i].Kind == KindText && parts[i].Text != "" {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// part writes a part of a message or a result.
func (w *responsesRequest) part(p *Part, models bool) error {
	w.open('{')
	switch p.Kind {
	case KindText:
		kind := "input_text"
		if models {
			kind = "output_text"
		}
		w.textMember("type", kind)
		w.key("text")
		w.text(p.Text)
	case KindRefusal:
		w.textMember("type", "refusal")
		w.textMember("refusal", p.Text)
	case KindImage:
		w.textMember("type", "input_image")
		if err := w.place(&p.Media, "image_url", "image_url"); err != nil {
			return err
		}
		w.textMember("detail", p.Media.Detail)
	case KindDocument:
		if p.Media.Plain != "" {
			w.textMember("type", "input_text")
			w.textMember("text", p.Media.Plain)
			break
		}
		w.textMember("type", "input_file")
		w.textMember("filename", p.Media.Name)
		if err := w.place(&p.Media, "file_data", "file_url"); err != nil {
			return err
		}
	case KindAudio:
		w.textMember("type", "input_audio")
		w.key("input_audio")
		w.open('{')
		w.textMember("data", p.Media.Data)
		w.textMember("format", strings.TrimPrefix(p.Media.MIME, "audio/"))
		w.close('}')
	case KindVideo:
		return unsupported("messages[].content[].type", "Responses takes no video")
	case KindReasoning, KindCall, KindResult:
		return unsupported("messages[].content[].type", "a %s cannot stand inside a tool result", p.Kind)
	}
	w.close('}')
	return nil
}

// place writes where a medium is.
func (w *responsesRequest) place(m *Media, data, url string) error {
	switch {
	case m.FileID != "" && m.Origin != OriginOpenAI:
		return unsupported("messages[].content[].file_id", "a file in another maker's store cannot be read; send its content or a URL")
	case m.FileID != "":
		w.textMember("file_id", m.FileID)
	case m.Data != "":
		w.textMember(data, "data:"+m.MIME+";base64,"+m.Data)
	default:
		w.textMember(url, m.URL)
	}
	return nil
}

// fitOpenAIName returns the name under which a function is offered.
func fitOpenAIName(name string) string {
	const limit = 64
	return fitName(name, limit, isWordByte)
}

// fitCallID returns the id of a call in a form that the service takes: at most
// 64 bytes.
func fitCallID(id string) string {
	const limit = 64
	return fitName(id, limit, isWordByte)
}
