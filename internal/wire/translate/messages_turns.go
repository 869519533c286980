package translate

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// firstWords stands for what the user said before an answer with which a
// conversation begins: the service wants the user to begin.
const firstWords = "."

// lastWords stand behind an answer with which a conversation ends. Newer models
// do not go on from it: they want the user to have the last word.
const lastWords = "Go on."

// messagesTurns writes the messages. Turns of one side become one message, since
// services that follow the protocol want the sides to take turns.
type messagesTurns struct {
	*messagesRequest
	open    bool
	role    Role              // of the open message
	lastOne bool              // it is the last turn
	ids     map[string]string // of the calls so far, by what they were
	taken   map[string]bool
}

// conversation writes the messages of a request.
func (m *messagesRequest) conversation() error {
	c := messagesTurns{messagesRequest: m, ids: map[string]string{}, taken: map[string]bool{}}
	m.key("messages")
	c.writer.open('[')
	if m.onlyInstructions() {
		m.lost.add("system", "the instructions are sent as the user's words: the service answers to nothing else")
		for _, p := range instructions(m.r) {
			c.begin(RoleUser)
			m.textBlock(p.Text, p.Cache)
		}
	}
	last := len(m.r.Turns) - 1
	for last >= 0 && m.r.Turns[last].Role == RoleSystem {
		last--
	}
	for i := range m.r.Turns {
		c.lastOne = i == last
		if err := c.turn(&m.r.Turns[i]); err != nil {
			return err
		}
	}
	if !c.open {
		return unsupported("messages", "the service needs at least one message that is not empty")
	}
	if c.role == RoleAssistant && m.up.Adaptive {
		c.lost.add("messages", "the conversation ends with an answer; a user's message is put behind it")
		c.begin(RoleUser)
		m.textBlock(lastWords, CacheNone)
	}
	c.end()
	m.close(']')
	return nil
}

// begin begins a block of a message of the given side.
func (c *messagesTurns) begin(role Role) {
	if c.open && c.role == role {
		return
	}
	if !c.open && role == RoleAssistant {
		c.lost.add("messages", "the conversation begins with an answer; a user's message is put before it")
		c.begin(RoleUser)
		c.textBlock(firstWords, CacheNone)
	}
	c.end()
	c.writer.open('{')
	c.key("role")
	c.text(role.String())
	c.key("content")
	c.writer.open('[')
	c.open, c.role = true, role
}

// end ends the open message.
func (c *messagesTurns) end() {
	if c.open {
		c.close(']', '}')
	}
}

func (c *messagesTurns) turn(t *Turn) error {
	if t.Role == RoleSystem {
		return nil // among the instructions
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		final := c.lastOne && i == len(t.Parts)-1
		if err := c.part(t.Role, p, final); err != nil {
			return err
		}
	}
	return nil
}

func (c *messagesTurns) part(role Role, p *Part, final bool) error {
	switch p.Kind {
	case KindText, KindRefusal:
		text := p.Text
		if final && role == RoleAssistant {
			text = strings.TrimRight(text, " \t\r\n") // the service wants no blanks at the end of what it goes on from
		}
		if !isBlank(text) {
			c.begin(role)
			c.textBlock(text, p.Cache)
		}
	case KindReasoning:
		c.reasoning(role, p)
	case KindImage, KindDocument, KindAudio, KindVideo:
		if role == RoleAssistant {
			c.lost.add("messages[].content", "media that a model made cannot stand in its turn")
			return nil
		}
		c.begin(role)
		return c.media(p)
	case KindCall:
		c.begin(role)
		c.call(p)
	case KindResult:
		c.begin(role)
		return c.result(p)
	}
	return nil
}

// reasoning writes a thought that the service can check; it refuses others.
func (c *messagesTurns) reasoning(role Role, p *Part) {
	s := &p.Signature
	if role != RoleAssistant || s.Origin != OriginAnthropic || s.Data == "" {
		c.lost.add("messages[].reasoning", "thoughts that Anthropic's models have not signed are refused by them")
		return
	}
	c.begin(role)
	c.thinkingBlock(p)
}

func (c *messagesTurns) call(p *Part) {
	arguments := p.Call.Arguments
	switch {
	case p.Call.Custom:
		arguments = wrapCustom(arguments)
	case !isObject(arguments):
		if !isBlank(arguments) {
			c.lost.add("messages[].tool_calls[].function.arguments", "arguments that are no JSON object are wrapped in one")
		}
		arguments = objectArguments(arguments)
	}
	c.writer.open('{')
	c.textMember("type", "tool_use")
	c.key("id")
	c.text(c.callID(p.Call.ID))
	c.key("name")
	c.text(fitMessagesName(p.Call.Name))
	c.key("input")
	c.raw([]byte(arguments))
	c.cacheControl(p.Cache)
	c.close('}')
}

// callID returns the id of a call in a form that the service takes, and which no
// call before it has: some services number the calls of every answer anew.
func (c *messagesTurns) callID(id string) string {
	fit := fitMessagesID(id)
	for n := 2; c.taken[fit]; n++ {
		fit = fitMessagesID(id + "_" + strconv.Itoa(n))
	}
	c.ids[id], c.taken[fit] = fit, true
	return fit
}

func (c *messagesTurns) result(p *Part) error {
	c.writer.open('{')
	c.textMember("type", "tool_result")
	c.key("tool_use_id")
	if id, known := c.ids[p.Result.CallID]; known {
		c.text(id)
	} else {
		c.text(fitMessagesID(p.Result.CallID))
	}
	if len(p.Result.Parts) > 0 {
		c.key("content")
		c.writer.open('[')
		for i := range p.Result.Parts {
			if err := c.resultPart(&p.Result.Parts[i]); err != nil {
				return err
			}
		}
		c.close(']')
	}
	c.flagMember("is_error", p.Result.IsError)
	c.cacheControl(p.Cache)
	c.close('}')
	return nil
}

func (c *messagesTurns) resultPart(p *Part) error {
	switch p.Kind {
	case KindText, KindRefusal, KindReasoning:
		if !isBlank(p.Text) {
			c.textBlock(p.Text, p.Cache)
		}
		return nil
	case KindImage, KindDocument, KindAudio, KindVideo:
		return c.media(p)
	case KindCall, KindResult:
	}
	return nil
}

// media writes an image or a document.
func (c *messagesTurns) media(p *Part) error {
	m := &p.Media
	if m.Detail != "" && m.Detail != "auto" {
		c.lost.add("messages[].content[].image_url.detail", "the service has no such setting")
	}
	c.writer.open('{')
	switch p.Kind {
	case KindImage:
		c.textMember("type", "image")
		if m.MIME == "" {
			m = &Media{URL: m.URL, Data: m.Data, FileID: m.FileID, Origin: m.Origin, MIME: imageType(m.Data)}
		}
	case KindDocument:
		c.textMember("type", "document")
		c.textMember("title", m.Name)
	case KindAudio, KindVideo, KindText, KindReasoning, KindRefusal, KindCall, KindResult:
		return unsupported("messages[].content", "Messages takes no %s; send text, images or documents", p.Kind)
	}
	c.key("source")
	if err := c.source(p.Kind, m); err != nil {
		return err
	}
	c.cacheControl(p.Cache)
	c.close('}')
	return nil
}

func (c *messagesTurns) source(kind Kind, m *Media) error {
	c.writer.open('{')
	switch {
	case m.FileID != "" && m.Origin == OriginAnthropic:
		c.textMember("type", "file")
		c.textMember("file_id", m.FileID)
	case m.FileID != "":
		return unsupported("messages[].content", "the %s lies in the store of another service; send its content", kind)
	case m.Plain != "":
		c.plainSource(m.Plain)
	case m.URL != "":
		if !isWeb(m.URL) {
			return unsupported("messages[].content", "the %s has an address that is neither http nor https; send its content", kind)
		}
		c.textMember("type", "url")
		c.textMember("url", m.URL)
	case kind == KindDocument && strings.HasPrefix(m.MIME, "text/"):
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return invalid("messages[].content", "the data of the document is not base64")
		}
		c.plainSource(string(text))
	case kind == KindDocument && m.MIME != "application/pdf":
		return unsupported("messages[].content", "Messages takes documents of type application/pdf and text/plain, not %q", m.MIME)
	default:
		c.textMember("type", "base64")
		c.key("media_type")
		c.text(m.MIME)
		c.key("data")
		c.text(m.Data)
	}
	c.close('}')
	return nil
}

func (c *messagesTurns) plainSource(text string) {
	c.textMember("type", "text")
	c.textMember("media_type", "text/plain")
	c.key("data")
	c.text(text)
}
