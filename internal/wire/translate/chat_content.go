package translate

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// chatMessage is one message as it is read. What its members mean is decided by
// its role, which may stand behind them.
type chatMessage struct {
	*chatReader
	role      string
	name      string
	content   []Part
	refusal   string
	calls     []Part
	callID    string
	cache     CacheMark
	thoughts  chatThoughts
	signature Signature
}

// message reads a message and adds it to the conversation.
func (c *chatReader) message() {
	m := chatMessage{chatReader: c}
	c.object(m.field)
	if c.err != nil || c.Err() != nil {
		return
	}
	if n := len(m.content); n > 0 && m.cache != CacheNone {
		m.content[n-1].Cache = m.cache
	}
	switch m.role {
	case "system", "developer":
		m.instructions()
	case "user":
		m.user()
	case "assistant":
		m.assistant()
	case "tool":
		m.result(m.callID)
	case "function":
		c.invalid("role function is not translated; write role tool, which has taken its place")
	case "":
		c.invalid("has no role; write system, user, assistant or tool")
	default:
		c.invalid("role must be system, developer, user, assistant or tool, not %q", m.role)
	}
}

func (m *chatMessage) field() {
	switch string(m.Key()) {
	case "role":
		m.role = m.text()
	case "content":
		m.content = m.parts()
	case "name":
		m.name = m.text()
	case "refusal":
		m.refusal = m.text()
	case "tool_calls":
		m.array(func(int) { m.call() })
	case "tool_call_id":
		m.callID = m.text()
	case "cache_control":
		m.cache = m.cacheMark()
	case "reasoning_content", "reasoning":
		m.thoughts.plain = m.text()
	case "reasoning_details":
		m.array(func(int) { m.thoughts.detail(m.reader) })
	case "thinking_blocks":
		m.thinkingBlocks()
	case "extra_content":
		m.signature = m.extraContent()
	case "function_call":
		m.unsupported("not translated; write tool_calls, which have taken its place")
	case "audio":
		m.drop("sound of an earlier answer lies in the store of its maker")
	case "annotations":
		m.drop("citations are their maker's own")
	default:
		m.unknown()
	}
}

// thinkingBlocks reads thoughts in the form of Anthropic's blocks, as LiteLLM
// gives them to its clients.
func (m *chatMessage) thinkingBlocks() {
	reader := messagesReader{reader: m.reader, r: m.r, names: m.names}
	m.thoughts.parts = ownSignatures(reader.content())
}

func (m *chatMessage) instructions() {
	if m.name != "" {
		m.losses.add("messages[].name", "other protocols name no speakers")
	}
	texts := m.onlyText(m.content)
	if len(m.r.Turns) == 0 {
		m.r.System = append(m.r.System, texts...)
		return
	}
	m.r.Turns = append(m.r.Turns, Turn{Role: RoleSystem, Parts: texts})
}

func (m *chatMessage) user() {
	if m.name != "" {
		m.losses.add("messages[].name", "other protocols name no speakers")
	}
	m.r.Turns = append(m.r.Turns, Turn{Role: RoleUser, Parts: m.content})
}

func (m *chatMessage) assistant() {
	parts := m.thoughts.all()
	parts = append(parts, m.content...)
	if m.signature.Data != "" && len(m.content) > 0 {
		parts[len(parts)-1].Signature = m.signature
	}
	if m.refusal != "" {
		parts = append(parts, Part{Kind: KindRefusal, Text: m.refusal})
	}
	for i := range m.calls {
		if s := m.thoughts.ofCall(m.calls[i].Call.ID); m.calls[i].Signature.Data == "" {
			m.calls[i].Signature = s
		}
	}
	parts = append(parts, m.calls...)
	m.r.Turns = append(m.r.Turns, Turn{Role: RoleAssistant, Parts: parts})
}

// result adds what a tool gave. All results of one answer's calls stand in one
// turn.
func (m *chatMessage) result(id string) {
	cache := CacheNone
	for i := range m.content {
		if m.content[i].Cache != CacheNone {
			cache, m.content[i].Cache = m.content[i].Cache, CacheNone
		}
	}
	p := Part{Kind: KindResult, Result: Result{CallID: id, Name: m.names[id], Parts: m.content}, Cache: cache}
	if n := len(m.r.Turns); n > 0 {
		if last := &m.r.Turns[n-1]; last.Role == RoleUser && allResults(last.Parts) {
			last.Parts = append(last.Parts, p)
			return
		}
	}
	m.r.Turns = append(m.r.Turns, Turn{Role: RoleUser, Parts: []Part{p}})
}

func allResults(parts []Part) bool {
	for i := range parts {
		if parts[i].Kind != KindResult {
			return false
		}
	}
	return len(parts) > 0
}

// call reads a tool call.
func (m *chatMessage) call() {
	p := Part{Kind: KindCall}
	m.object(func() {
		switch string(m.Key()) {
		case "id":
			p.Call.ID = m.text()
		case "type", "index":
			m.Skip()
		case "function":
			m.object(func() { m.function(&p.Call) })
		case "custom":
			p.Call.Custom = true
			m.object(func() { m.function(&p.Call) })
		case "extra_content":
			p.Signature = m.extraContent()
		default:
			m.unknown()
		}
	})
	m.names[p.Call.ID] = p.Call.Name
	m.calls = append(m.calls, p)
}

func (m *chatMessage) function(call *Call) {
	switch string(m.Key()) {
	case "name":
		call.Name = m.text()
	case "arguments", "input":
		call.Arguments = m.text()
	default:
		m.unknown()
	}
}

// extraContent reads the place in which Google's chat endpoint, and clients that
// know it, keep a signature.
func (r *reader) extraContent() (s Signature) {
	r.object(func() {
		if string(r.Key()) != "google" {
			r.unknown()
			return
		}
		r.object(func() {
			if string(r.Key()) == "thought_signature" {
				s = Signature{Origin: OriginGoogle, Data: r.text()}
				return
			}
			r.unknown()
		})
	})
	return s
}

// parts reads a content: a text, or a list of parts.
func (m *chatMessage) parts() (parts []Part) {
	if m.Kind() == scan.KindString {
		if text := m.text(); text != "" {
			parts = append(parts, Part{Kind: KindText, Text: text})
		}
		return parts
	}
	m.array(func(int) {
		if m.Kind() == scan.KindString {
			parts = append(parts, Part{Kind: KindText, Text: m.text()})
			return
		}
		p := chatPart{chatMessage: m}
		m.object(p.field)
		parts = p.append(parts)
	})
	return parts
}

// chatPart is one part of a content as it is read.
type chatPart struct {
	*chatMessage
	kind  string
	said  string
	media Media
	mark  CacheMark
	inner []Part
}

func (p *chatPart) field() {
	switch string(p.Key()) {
	case "type":
		p.kind = p.text()
	case "text", "refusal":
		p.said = p.text()
	case "image_url", "video_url":
		p.address()
	case "input_audio":
		p.audio()
	case "file":
		p.file()
	case "cache_control":
		p.mark = p.cacheMark()
	case "thinking": // Mistral: a list of texts
		p.inner = p.parts()
	default:
		p.unknown()
	}
}

// address reads an image_url or a video_url: an object, or the address itself.
func (p *chatPart) address() {
	set := func(url string) {
		if mime, data, ok := cutDataURL(url); ok {
			p.media.MIME, p.media.Data = mime, data
			return
		}
		p.media.URL = url
	}
	if p.Kind() == scan.KindString {
		set(p.text())
		return
	}
	p.object(func() {
		switch string(p.Key()) {
		case "url":
			set(p.text())
		case "detail":
			p.media.Detail = p.text()
		default:
			p.unknown()
		}
	})
}

func (p *chatPart) audio() {
	p.object(func() {
		switch string(p.Key()) {
		case "data":
			p.media.Data = p.text()
		case "format":
			p.media.MIME = "audio/" + p.text()
		default:
			p.unknown()
		}
	})
}

func (p *chatPart) file() {
	p.object(func() {
		switch string(p.Key()) {
		case "file_data":
			value := p.text()
			mime, data, ok := cutDataURL(value)
			switch {
			case ok:
				p.media.MIME, p.media.Data = mime, data
			case isWeb(value):
				p.media.URL = value
			default:
				p.media.MIME, p.media.Data = "application/pdf", value
			}
		case "filename":
			p.media.Name = p.text()
		case "file_id":
			p.media.FileID, p.media.Origin = p.text(), OriginOpenAI
		case "format":
			p.media.MIME = p.text()
		default:
			p.unknown()
		}
	})
}

// append appends the part to parts.
func (p *chatPart) append(parts []Part) []Part {
	one := Part{Cache: p.mark, Text: p.said, Media: p.media}
	switch p.kind {
	case "text", "input_text", "output_text":
		one.Kind = KindText
		if one.Text == "" {
			return parts
		}
	case "refusal":
		one.Kind = KindRefusal
	case "image_url":
		one.Kind = KindImage
	case "input_audio":
		one.Kind = KindAudio
	case "video_url":
		one.Kind = KindVideo
	case "file":
		one.Kind = KindDocument
	case "thinking":
		texts := make([]string, 0, len(p.inner))
		for i := range p.inner {
			texts = append(texts, p.inner[i].Text)
		}
		one.Kind, one.Text = KindReasoning, strings.Join(texts, "")
	case "":
		p.invalid("has no type; write {\"type\":\"text\",\"text\":…}")
		return parts
	default:
		p.unsupported("a part of type %q cannot be translated", p.kind)
		return parts
	}
	return append(parts, one)
}
