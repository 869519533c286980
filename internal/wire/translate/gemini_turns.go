package translate

import (
	"encoding/json"
	"strings"
)

// unsigned stands for a thoughtSignature that is not there, in words that
// Google documents for histories that another model wrote.
const unsigned = "skip_thought_signature_validator"

// conversation writes systemInstruction and contents. Instructions that stand
// inside the conversation go before it, as they have no place there.
func (g *geminiRequest) conversation() error {
	turns, texts := g.r.Turns, instructions(g.r)
	if onlyInstructions(g.r) {
		g.lost.add("system", "the instructions are sent as the user's words: Gemini answers to nothing else")
		return g.contents([]Turn{{Role: RoleUser, Parts: texts}})
	}
	for i := range turns {
		if turns[i].Role == RoleSystem {
			g.lost.add("messages[].role", "instructions inside the conversation are put before it")
		}
	}
	if len(texts) > 0 {
		g.key("systemInstruction")
		g.open('{')
		g.key("parts")
		g.open('[')
		for i := range texts {
			g.textPart(&texts[i])
		}
		g.close(']', '}')
	}
	return g.contents(turns)
}

// onlyInstructions reports whether nobody says anything in a request.
func onlyInstructions(r *Request) bool {
	for i := range r.Turns {
		if r.Turns[i].Role != RoleSystem {
			return false
		}
	}
	return true
}

// contents writes the turns. Turns of the same side become one content, but what
// functions gave stands alone.
func (g *geminiRequest) contents(turns []Turn) error {
	g.key("contents")
	g.open('[')
	c := contents{geminiRequest: g, calls: map[string]*Call{}}
	for i := range turns {
		if err := c.turn(&turns[i]); err != nil {
			return err
		}
	}
	c.end()
	if g.b[len(g.b)-1] == '[' {
		return unsupported("messages", "Gemini needs at least one message that is not empty")
	}
	g.close(']')
	return nil
}

// contents writes the contents of a request.
type contents struct {
	*geminiRequest
	role    string // of the open content, empty if none is open
	results bool   // it holds what functions gave
	signed  bool   // one of its calls has a signature
	calls   map[string]*Call
	order   []string // ids of the calls of the last model's turn

	// pending is a signature that was told apart from the part that it is for.
	pending string
}

// begin begins a part of a content.
func (c *contents) begin(role string, results bool) {
	if c.role != role || c.results != results {
		c.end()
		c.open('{')
		c.textMember("role", role)
		c.key("parts")
		c.open('[')
		c.role, c.results, c.signed = role, results, false
	}
	c.comma()
	c.open('{')
}

// end ends the open content.
func (c *contents) end() {
	if c.role != "" {
		c.close(']', '}')
		c.role = ""
	}
}

// flush writes a signature that no part followed.
func (c *contents) flush() {
	if c.pending == "" {
		return
	}
	signature := c.pending
	c.pending = ""
	c.begin("model", false)
	c.key("text")
	c.text("")
	c.textMember("thoughtSignature", signature)
	c.close('}')
}

func (c *contents) turn(t *Turn) error {
	if t.Role == RoleAssistant {
		c.order = c.order[:0]
		for i := range t.Parts {
			if err := c.said(&t.Parts[i]); err != nil {
				return err
			}
		}
		c.flush()
		return nil
	}
	if t.Role == RoleSystem {
		return nil // among the instructions
	}
	if err := c.given(t.Parts); err != nil {
		return err
	}
	for i := range t.Parts {
		if err := c.asked(&t.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// said writes a part of the model's.
func (c *contents) said(p *Part) error {
	signature := ""
	if p.Signature.Origin == OriginGoogle {
		signature = p.Signature.Data
	}
	switch p.Kind {
	case KindReasoning:
		c.thought(p, signature)
	case KindText, KindRefusal:
		if signature == "" {
			signature, c.pending = c.pending, ""
		}
		if p.Text == "" && signature == "" {
			return nil
		}
		c.begin("model", false)
		c.key("text")
		c.text(p.Text)
		c.textMember("thoughtSignature", signature)
		c.close('}')
	case KindCall:
		c.call(p, signature)
	case KindImage, KindAudio, KindVideo, KindDocument:
		return c.media("model", p)
	case KindResult:
		return unsupported("messages[].content", "a tool result cannot be the model's own")
	}
	return nil
}

// thought writes reasoning if Google can read it.
func (c *contents) thought(p *Part, signature string) {
	switch {
	case p.Signature.Origin != OriginGoogle && p.Signature.Origin != OriginNone:
		c.lost.add("messages[].content[](reasoning)", "only the maker that wrote it can read it")
	case p.Redacted || p.Text == "":
		if signature != "" {
			c.pending = signature
		}
	case signature == "":
		c.lost.add("messages[].content[](reasoning)", "reasoning without its signature is not sent back")
	default:
		c.begin("model", false)
		c.key("text")
		c.text(p.Text)
		c.flagMember("thought", true)
		c.textMember("thoughtSignature", signature)
		c.close('}')
	}
}

// call writes a call. Of calls side by side only the first has a signature.
func (c *contents) call(p *Part, signature string) {
	if signature == "" {
		signature, c.pending = c.pending, ""
	}
	c.begin("model", false)
	if signature == "" && !c.signed && c.model.signs() {
		signature = unsigned
	}
	c.signed = true
	c.key("functionCall")
	c.open('{')
	c.textMember("name", fitGeminiName(p.Call.Name))
	c.key("args")
	c.raw(c.arguments(&p.Call))
	c.textMember("id", p.Call.ID)
	c.close('}')
	c.textMember("thoughtSignature", signature)
	c.close('}')
	c.calls[p.Call.ID] = &p.Call
	c.order = append(c.order, p.Call.ID)
}

// arguments returns the arguments of a call as an object.
func (c *contents) arguments(call *Call) []byte {
	switch {
	case call.Custom:
		return []byte(wrapCustom(call.Arguments))
	case strings.TrimSpace(call.Arguments) == "":
		return []byte("{}")
	case isObject(call.Arguments):
		return []byte(call.Arguments)
	}
	c.lost.add("messages[].tool_calls[].function.arguments", "arguments that are no JSON object are wrapped in one")
	return []byte(objectArguments(call.Arguments))
}

// given writes what functions gave, in the order in which they were called.
func (c *contents) given(parts []Part) error {
	done := make([]bool, len(parts))
	write := func(i int) error {
		done[i] = true
		return c.result(&parts[i].Result)
	}
	for _, id := range c.order {
		for i := range parts {
			if parts[i].Kind != KindResult || done[i] || parts[i].Result.CallID != id {
				continue
			}
			if err := write(i); err != nil {
				return err
			}
		}
	}
	for i := range parts {
		if parts[i].Kind != KindResult || done[i] {
			continue
		}
		if err := write(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *contents) result(r *Result) error {
	name := r.Name
	if call := c.calls[r.CallID]; call != nil {
		name = call.Name
	}
	if name == "" {
		return unsupported("messages[].tool_call_id", "the conversation holds no call with the id %q; Gemini must know which function gave a result", r.CallID)
	}
	c.begin("user", true)
	c.key("functionResponse")
	c.open('{')
	c.textMember("name", fitGeminiName(name))
	c.key("response")
	c.open('{')
	if r.IsError {
		c.key("error")
	} else {
		c.key("output")
	}
	c.output(r.Parts)
	c.close('}')
	c.textMember("id", r.CallID)
	c.close('}', '}')
	return nil
}

// output writes the texts of a result: as they are if they are JSON with members
// or elements, else as one text.
func (c *contents) output(parts []Part) {
	texts := make([]string, 0, len(parts))
	for i := range parts {
		if parts[i].Kind == KindText {
			texts = append(texts, parts[i].Text)
		}
	}
	text := strings.Join(texts, "") // one is not copied
	if trimmed := strings.TrimSpace(text); trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(trimmed)) {
		c.raw([]byte(trimmed))
		return
	}
	c.text(text)
}

// asked writes a part of the user's that is no result; of a result it writes the
// media, which no response of a function holds.
func (c *contents) asked(p *Part) error {
	switch p.Kind {
	case KindText, KindRefusal:
		if p.Text == "" {
			return nil
		}
		c.begin("user", false)
		c.key("text")
		c.text(p.Text)
		c.close('}')
	case KindImage, KindAudio, KindVideo, KindDocument:
		return c.media("user", p)
	case KindResult:
		for i := range p.Result.Parts {
			if one := &p.Result.Parts[i]; one.Kind != KindText {
				if err := c.asked(one); err != nil {
					return err
				}
			}
		}
	case KindReasoning, KindCall:
		return unsupported("messages[].content", "a user's message cannot hold a %s", p.Kind)
	}
	if p.Cache != CacheNone {
		c.lost.add("messages[].content[].cache_control", "Gemini caches by the prompt alone")
	}
	return nil
}

// textPart writes an instruction.
func (g *geminiRequest) textPart(p *Part) {
	g.open('{')
	g.key("text")
	g.text(p.Text)
	g.close('}')
	if p.Cache != CacheNone {
		g.lost.add("system[].cache_control", "Gemini caches by the prompt alone")
	}
}
