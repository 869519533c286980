package fake

import (
	"encoding/base64"
	"strings"
)

// The places where a block may stand.
const (
	inUser = 1 << iota
	inAssistant
	inResult
)

// blockRule says where blocks of a type may stand and how one is judged; what the
// service's own tools gave is not.
type blockRule struct {
	places int
	check  func(m *messagesCheck, t *messagesTurn, p place)
}

func blockRuleOf(kind string) (r blockRule, known bool) {
	switch kind {
	case "text":
		r = blockRule{inUser | inAssistant | inResult, (*messagesCheck).said}
	case "image":
		r = blockRule{inUser | inResult, (*messagesCheck).image}
	case "document":
		r = blockRule{inUser | inAssistant | inResult, (*messagesCheck).document}
	case "search_result":
		r = blockRule{inUser | inResult, (*messagesCheck).searchResult}
	case "thinking":
		r = blockRule{inAssistant, (*messagesCheck).thoughtBlock}
	case "redacted_thinking":
		r = blockRule{inAssistant, (*messagesCheck).redactedBlock}
	case "tool_use":
		r = blockRule{inAssistant, (*messagesCheck).toolUse}
	case "tool_result":
		r = blockRule{inUser, (*messagesCheck).toolResult}
	case "tool_reference":
		r = blockRule{places: inResult}
	case "container_upload":
		r = blockRule{places: inUser}
	case "server_tool_use", "mcp_tool_use", "mcp_tool_result":
		r = blockRule{places: inAssistant}
	default:
		if !strings.HasSuffix(kind, "_tool_result") {
			return r, false
		}
		r = blockRule{places: inAssistant}
	}
	return r, true
}

// blocks judges the blocks of a message, or of what a tool gave.
func (m *messagesCheck) blocks(list []place, where int, t *messagesTurn) {
	for _, p := range list {
		kind := p.required("type").text()
		rule, known := blockRuleOf(kind)
		switch {
		case m.wrong != nil:
			return
		case !known:
			p.refuse("Input tag '%s' found using 'type' does not match any of the expected tags", kind)
		case rule.places&where == 0:
			m.misplaced(p, kind, where)
		case rule.check != nil:
			t.kinds = append(t.kinds, kind)
			p.path += "." + kind
			rule.check(m, t, p)
		default:
			t.kinds = append(t.kinds, kind)
		}
		if kind != "thinking" && kind != "redacted_thinking" {
			m.cacheControl(p)
		}
	}
}

func (m *messagesCheck) misplaced(p place, kind string, where int) {
	switch where {
	case inResult:
		p.refuse("`%s` blocks are not permitted in a `tool_result`", kind)
	case inAssistant:
		p.refuse("`%s` blocks can only be in `user` messages", kind)
	default:
		p.refuse("`%s` blocks can only be in `assistant` messages", kind)
	}
}

// textBlock judges a text and returns it.
func (m *messagesCheck) textBlock(p place, whole string) string {
	p.only(names("type text cache_control citations"))
	text := p.required("text").text()
	switch {
	case m.wrong != nil:
	case text == "":
		m.fail(wrongMessages(whole, "text content blocks must be non-empty"))
	case strings.TrimSpace(text) == "":
		m.fail(wrongMessages(whole, "text content blocks must contain non-whitespace text"))
	}
	if whole == "system" {
		m.cacheControl(p)
	}
	return text
}

func (m *messagesCheck) said(t *messagesTurn, p place) {
	text := m.textBlock(p, "messages")
	t.texts = append(t.texts, text)
	if cited := p.at("citations"); t.role == roleUser && m.c.version == versionNew && cited.set() && len(cited.list()) > 0 {
		cited.refuse("Extra inputs are not permitted")
	}
}

func (m *messagesCheck) image(_ *messagesTurn, p place) {
	p.only(names("type source cache_control transformations"))
	m.source(p.required("source"), "image/jpeg", "image/png", "image/gif", "image/webp")
}

// document judges a document. The newer interface takes none from the assistant.
func (m *messagesCheck) document(t *messagesTurn, p place) {
	if t.role == roleAssistant && m.c.version == versionNew {
		p.refuse("`document` blocks can only be in `user` messages")
		return
	}
	p.only(names("type source cache_control citations context title"))
	m.source(p.required("source"), "application/pdf")
}

// source judges where an image or a document comes from.
func (m *messagesCheck) source(p place, types ...string) {
	kinds := []string{"base64", "url", "file"}
	if types[0] == "application/pdf" {
		kinds = append(kinds, "text", "content")
	}
	kind := p.required("type").choice(kinds...)
	if m.wrong != nil {
		return
	}
	p.path += "." + kind
	switch kind {
	case "base64":
		p.only(names("type media_type data"))
		p.required("media_type").choice(types...)
		data := p.required("data")
		if _, err := base64.StdEncoding.DecodeString(data.text()); err != nil || data.text() == "" {
			data.refuse("Invalid base64 data")
		}
	case "url":
		p.only(names("type url"))
		if address := p.required("url"); !strings.HasPrefix(address.text(), "https://") && !strings.HasPrefix(address.text(), "http://") {
			address.refuse("Only HTTPS URLs are supported.")
		}
	case "file":
		p.only(names("type file_id"))
		p.required("file_id").text()
	case "text":
		p.only(names("type media_type data"))
		p.required("media_type").choice("text/plain")
		p.required("data").text()
	case "content":
		p.only(names("type content"))
		if inner := p.required("content"); !inner.isText() {
			m.blocks(inner.list(), inResult, &messagesTurn{role: roleUser})
		}
	}
}

func (m *messagesCheck) searchResult(_ *messagesTurn, p place) {
	p.only(names("type source title content citations cache_control"))
	p.required("source").text()
	p.required("title").text()
	for _, one := range p.required("content").list() {
		m.textBlock(one, "messages")
	}
}

// thoughtBlock takes a thought that its maker has signed, unchanged.
func (m *messagesCheck) thoughtBlock(_ *messagesTurn, p place) {
	p.only(names("type thinking signature"))
	thought, signature := p.required("thinking").text(), p.required("signature").text()
	genuine := signature == signatureOf(makerAnthropic, thought)
	if thought == "" { // it was not shown
		genuine = isSignature(makerAnthropic, signature)
	}
	if !genuine && m.wrong == nil {
		p.path = strings.TrimSuffix(p.path, ".thinking")
		p.refuse("Invalid `signature` in `thinking` block")
	}
}

func (m *messagesCheck) redactedBlock(_ *messagesTurn, p place) {
	p.only(names("type data"))
	if !isSignature(makerAnthropic, p.required("data").text()) {
		p.path = strings.TrimSuffix(p.path, ".redacted_thinking")
		p.refuse("Invalid `data` in `redacted_thinking` block")
	}
}

func (m *messagesCheck) toolUse(t *messagesTurn, p place) {
	p.only(names("type id name input cache_control caller toolset_name"))
	id, name, input := p.required("id"), p.required("name"), p.required("input")
	switch {
	case m.wrong != nil:
	case !messagesToolID.MatchString(id.text()):
		id.refuse("String should match pattern '%s'", messagesToolID)
	case !messagesToolName.MatchString(name.text()):
		name.refuse("String should match pattern '%s'", messagesToolName)
	case !input.isObject():
		input.mistyped(typeObject)
	}
	t.calls = append(t.calls, placed{p, id.text()})
}

func (m *messagesCheck) toolResult(t *messagesTurn, p place) {
	p.only(names("type tool_use_id content is_error cache_control toolset_name"))
	id := p.required("tool_use_id")
	if !messagesToolID.MatchString(id.text()) {
		id.refuse("String should match pattern '%s'", messagesToolID)
	}
	p.at("is_error").flag()
	t.results = append(t.results, placed{p, id.text()})
	if content := p.at("content"); content.set() && !content.isText() {
		m.blocks(content.list(), inResult, &messagesTurn{role: roleUser})
	}
}
