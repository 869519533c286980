package translate

import (
	"encoding/base64"
	"strings"
)

// conversation writes the messages.
func (c *chatRequest) conversation() error {
	c.key("messages")
	c.open('[')
	for i := range c.r.System {
		c.noteMark(&c.r.System[i])
	}
	if text := joinTexts(c.r.System); text != "" {
		c.plainMessage("system", text)
	}
	for i := range c.r.Turns {
		t := &c.r.Turns[i]
		for j := range t.Parts {
			c.noteMark(&t.Parts[j])
		}
		var err error
		switch t.Role {
		case RoleSystem:
			if text := joinTexts(t.Parts); text != "" {
				c.plainMessage("system", text)
			}
		case RoleUser:
			err = c.user(t.Parts)
		case RoleAssistant:
			err = c.assistant(t.Parts)
		}
		if err != nil {
			return err
		}
	}
	if n := len(c.r.Turns); n > 0 && c.r.Turns[n-1].Role == RoleAssistant {
		c.lost.add("messages", "the service answers anew and does not go on from the last words")
	}
	if c.b[len(c.b)-1] == '[' {
		return unsupported("messages", "the service needs at least one message that is not empty")
	}
	c.close(']')
	return nil
}

func (c *chatRequest) noteMark(p *Part) {
	if p.Cache != CacheNone {
		c.loseMark()
	}
}

func (c *chatRequest) plainMessage(role, text string) {
	c.open('{')
	c.textMember("role", role)
	c.key("content")
	c.text(text)
	c.close('}')
}

// user writes the results of calls, a message each, and then what the user says.
// What a result holds beside texts, which is all that the protocol takes there,
// goes before that.
func (c *chatRequest) user(parts []Part) error {
	said := make([]Part, 0, len(parts))
	for i := range parts {
		p := &parts[i]
		if p.Kind != KindResult {
			continue
		}
		media := c.result(p)
		if len(media) == 0 {
			continue
		}
		c.lost.add("messages[].content[].content", "images and documents in a tool's result are sent as the user's")
		said = append(said, Part{Kind: KindText, Text: "From the result of tool call " + c.fitChatID(p.Result.CallID) + ":"})
		said = append(said, media...)
	}
	for i := range parts {
		if parts[i].Kind != KindResult {
			said = append(said, parts[i])
		}
	}
	if len(said) == 0 {
		return nil
	}
	c.open('{')
	c.textMember("role", "user")
	c.key("content")
	if len(said) == 1 && said[0].Kind == KindText {
		c.text(said[0].Text)
	} else {
		c.open('[')
		for i := range said {
			if err := c.part(&said[i]); err != nil {
				return err
			}
		}
		c.close(']')
	}
	c.close('}')
	return nil
}

// result writes the texts of a result and returns the rest.
func (c *chatRequest) result(p *Part) (rest []Part) {
	for i := range p.Result.Parts {
		if kind := p.Result.Parts[i].Kind; kind != KindText && kind != KindRefusal {
			rest = append(rest, p.Result.Parts[i])
		}
	}
	if p.Result.IsError {
		c.lost.add("messages[].content[].is_error", "the protocol has no mark for a result that is an error")
	}
	c.open('{')
	c.textMember("role", "tool")
	c.key("tool_call_id")
	c.text(c.fitChatID(p.Result.CallID))
	c.key("content")
	c.text(joinTexts(p.Result.Parts))
	c.close('}')
	return rest
}

// assistant writes what the model said.
func (c *chatRequest) assistant(parts []Part) error {
	var refusal, thought strings.Builder
	calls := 0
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case KindRefusal:
			refusal.WriteString(p.Text)
		case KindReasoning:
			thought.WriteString(p.Text)
			if !c.up.KeepsReasoning {
				c.lost.add("messages[].reasoning", "the service does not take earlier thoughts back")
			}
		case KindCall:
			calls++
		case KindImage, KindAudio, KindVideo, KindDocument:
			c.lost.add("messages[].content", "media that a model made cannot stand in its turn")
		case KindText:
		case KindResult:
			return invalid("messages[].content", "a tool's result stands in an assistant's message; it belongs to the user's")
		}
	}
	text := joinTexts(parts)
	if text == "" && refusal.Len() == 0 && calls == 0 {
		return nil
	}
	c.open('{')
	c.textMember("role", "assistant")
	c.key("content")
	if text != "" {
		c.text(text)
	} else {
		c.raw([]byte("null"))
	}
	c.textMember("refusal", refusal.String())
	if c.up.KeepsReasoning {
		c.textMember("reasoning_content", thought.String())
	}
	if calls > 0 {
		c.calls(parts)
	}
	c.close('}')
	return nil
}

func (c *chatRequest) calls(parts []Part) {
	c.key("tool_calls")
	c.open('[')
	for i := range parts {
		p := &parts[i]
		if p.Kind != KindCall {
			continue
		}
		arguments := p.Call.Arguments
		if p.Call.Custom {
			arguments = wrapCustom(arguments)
		}
		c.open('{')
		c.key("id")
		c.text(c.fitChatID(p.Call.ID))
		c.textMember("type", "function")
		c.key("function")
		c.open('{')
		c.key("name")
		c.text(fitOpenAIName(p.Call.Name))
		c.key("arguments")
		c.text(arguments)
		c.close('}')
		if c.up.KeepsReasoning {
			c.extraContent(p.Signature)
		}
		c.close('}')
	}
	c.close(']')
}

// part writes a part of what a user says.
func (c *chatRequest) part(p *Part) error {
	const path = "messages[].content"
	m := &p.Media
	if m.FileID != "" && m.Origin != OriginOpenAI {
		return unsupported(path, "the %s lies in the store of another service; send its content", p.Kind)
	}
	c.open('{')
	switch p.Kind {
	case KindText, KindRefusal, KindReasoning:
		c.textMember("type", "text")
		c.key("text")
		c.text(p.Text)
	case KindImage:
		if m.FileID != "" {
			return unsupported(path, "chat completions take no file ids of images; send the image or its address")
		}
		c.textMember("type", "image_url")
		c.address("image_url", m, imageType(m.Data))
	case KindVideo:
		c.textMember("type", "video_url")
		c.address("video_url", m, "video/mp4")
	case KindAudio:
		if m.Data == "" {
			return unsupported(path, "chat completions take sound only as data, not by its address")
		}
		c.textMember("type", "input_audio")
		c.key("input_audio")
		c.open('{')
		c.textMember("data", m.Data)
		c.textMember("format", audioFormat(m.MIME))
		c.close('}')
	case KindDocument:
		if err := c.document(m); err != nil {
			return err
		}
	case KindCall, KindResult:
		return invalid(path, "a %s stands where a user speaks", p.Kind)
	}
	c.close('}')
	return nil
}

// audioFormat returns the word that the protocol has for a type.
func audioFormat(mime string) string {
	switch format := strings.TrimPrefix(mime, "audio/"); format {
	case "mpeg":
		return "mp3"
	case "x-wav", "wave", "vnd.wave":
		return "wav"
	default:
		return format
	}
}

func (c *chatRequest) address(member string, m *Media, mime string) {
	c.key(member)
	c.open('{')
	c.key("url")
	if m.Data != "" {
		c.text(dataURL(m, mime))
	} else {
		c.text(m.URL)
	}
	c.textMember("detail", m.Detail)
	c.close('}')
}

// document writes a document: as text if it is nothing else, which every model
// reads.
func (c *chatRequest) document(m *Media) error {
	plain := m.Plain
	if strings.HasPrefix(m.MIME, "text/") && m.Data != "" {
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return invalid("messages[].content", "the data of the document is not base64")
		}
		plain = string(text)
	}
	switch {
	case plain != "":
		if m.Name != "" {
			plain = m.Name + "\n\n" + plain
		}
		c.textMember("type", "text")
		c.textMember("text", plain)
		return nil
	case m.URL != "":
		return unsupported("messages[].content", "chat completions take no documents by their address; send the content")
	}
	c.textMember("type", "file")
	c.key("file")
	c.open('{')
	c.textMember("file_id", m.FileID)
	if m.Data != "" {
		name := m.Name
		if name == "" {
			name = "document"
		}
		c.textMember("filename", name)
		c.textMember("file_data", dataURL(m, "application/pdf"))
	}
	c.close('}')
	return nil
}
