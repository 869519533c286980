package translate

import (
	"math"

	"gatewright/internal/wire/anthropic"
)

// messagesRequest writes a request for an upstream that speaks Messages.
type messagesRequest struct {
	writer
	r     *Request
	up    *Upstream
	lost  losses
	marks int // cache marks written

	tools    []Tool     // that the model is given
	strict   int        // of them, those to whose schema it is held
	choice   ToolChoice // which of them it may call
	format   formatPlan
	limit    int64 // max_tokens
	thinking thinkingPlan
}

func encodeMessagesRequest(r *Request, up *Upstream) ([]byte, []Loss, error) {
	m := messagesRequest{writer: writerFor(r), r: r, up: up}
	if err := m.plan(); err != nil {
		return nil, nil, err
	}
	m.open('{')
	m.key("model")
	m.text(up.Model)
	m.key("max_tokens")
	m.integer(m.limit)
	m.system()
	if err := m.conversation(); err != nil {
		return nil, nil, err
	}
	m.toolList()
	m.flagMember("stream", r.Stream)
	m.stop()
	m.sampling()
	m.thought()
	m.identity()
	m.close('}')
	return m.b, m.lost, nil
}

// plan decides what depends on each other: tools, the form of the answer, the
// output limit, thinking.
func (m *messagesRequest) plan() error {
	tools, lost, err := clientTools(m.r)
	if err != nil {
		return err
	}
	for _, l := range lost {
		m.lost.add(l.Path, l.Why)
	}
	m.tools, m.choice = tools, m.r.ToolChoice
	if len(m.choice.Allowed) > 0 {
		m.tools = allowedTools(tools, m.choice.Allowed)
	}
	if len(m.tools) == 0 {
		m.choice.Mode = ChoiceDefault
		if m.tools = calledTools(m.r); len(m.tools) > 0 {
			m.choice.Mode = ChoiceNone // the service wants every tool of a history declared
		}
	}
	m.planFormat()
	m.limit = m.outputLimit()
	m.planThinking()
	return nil
}

// outputLimit returns max_tokens: what the client says, or else all that the
// model can give.
func (m *messagesRequest) outputLimit() int64 {
	most := m.up.MaxOutput
	switch limit := m.r.MaxOutput; {
	case limit == 0 && most > 0:
		return most
	case limit == 0:
		return messagesOutput
	case most > 0 && limit > most:
		m.lost.add("max_tokens", "more than the model can give; it is asked for all that it can")
		return most
	default:
		return limit
	}
}

// cacheControl writes a cache mark, up to as many as the service takes.
func (m *messagesRequest) cacheControl(mark CacheMark) {
	if mark == CacheNone {
		return
	}
	if m.marks == messagesMarkLimit {
		m.lost.add("cache_control", "the service takes four marks; the first four are sent")
		return
	}
	m.marks++
	m.key("cache_control")
	m.open('{')
	m.key("type")
	m.text("ephemeral")
	if mark == CacheLong {
		m.key("ttl")
		m.text(string(mark))
	}
	m.close('}')
}

// system writes the instructions: those of the client, those that stand inside
// the conversation, for which the protocol has no safe place, and the one that
// asks for JSON.
func (m *messagesRequest) system() {
	texts := instructions(m.r)
	if len(texts) == 0 && m.format.instruction == "" || m.onlyInstructions() {
		return
	}
	for i := range m.r.Turns {
		if m.r.Turns[i].Role == RoleSystem {
			m.lost.add("messages[].role", "instructions inside the conversation are put before it")
		}
	}
	m.key("system")
	m.open('[')
	for i := range texts {
		m.textBlock(texts[i].Text, texts[i].Cache)
	}
	if m.format.instruction != "" {
		m.textBlock(m.format.instruction, CacheNone)
	}
	m.close(']')
}

// onlyInstructions reports whether nobody says anything: then the instructions
// are what the model answers to.
func (m *messagesRequest) onlyInstructions() bool {
	for i := range m.r.Turns {
		if m.r.Turns[i].Role != RoleSystem {
			return false
		}
	}
	return true
}

// instructions returns all texts of a request that are instructions.
func instructions(r *Request) []Part {
	texts := make([]Part, 0, len(r.System)+1)
	add := func(parts []Part) {
		for i := range parts {
			if parts[i].Kind == KindText && parts[i].Text != "" {
				texts = append(texts, parts[i])
			}
		}
	}
	add(r.System)
	for i := range r.Turns {
		if r.Turns[i].Role == RoleSystem {
			add(r.Turns[i].Parts)
		}
	}
	return texts
}

// textBlock writes a text block.
func (m *messagesRequest) textBlock(text string, mark CacheMark) {
	m.open('{')
	m.key("type")
	m.text("text")
	m.key("text")
	m.text(text)
	m.cacheControl(mark)
	m.close('}')
}

// toolList writes the tools and which of them may be called.
func (m *messagesRequest) toolList() {
	if len(m.tools) == 0 && m.format.tool == nil {
		return
	}
	m.key("tools")
	m.open('[')
	for i := range m.tools {
		m.tool(&m.tools[i])
	}
	if m.format.tool != nil {
		m.tool(m.format.tool)
	}
	m.close(']')
	m.toolChoice()
}

func (m *messagesRequest) tool(t *Tool) {
	m.open('{')
	m.key("name")
	m.text(fitMessagesName(t.Name))
	m.textMember("description", t.Description)
	schema, merged := objectSchema(t.Schema)
	if merged {
		m.lost.add("tools[].parameters", "alternatives at the head of a schema are merged into one object")
	}
	strict := t.Strict != nil && *t.Strict
	if strict {
		schema, strict = m.heldTool(schema)
	}
	m.key("input_schema")
	m.raw(schema)
	m.flagMember("strict", strict)
	m.cacheControl(t.Cache)
	m.close('}')
}

// heldTool returns a tool's schema, and whether the model is held to it: as it is
// if it cannot be.
func (m *messagesRequest) heldTool(schema []byte) ([]byte, bool) {
	const why = "the model cannot be held to the schema"
	if !m.up.SchemaOutput || m.strict == heldTools {
		m.lost.add("tools[].strict", why)
		return schema, false
	}
	held, ok := m.format.held.holds(schema)
	if !ok {
		m.lost.add("tools[].strict", why)
		return schema, false
	}
	if m.strict++; m.format.held.bounded {
		m.lost.add("tools[].strict", whyTold)
	}
	return held, true
}

func (m *messagesRequest) toolChoice() {
	mode, name := m.choice.Mode, m.choice.Name
	if m.format.tool != nil {
		mode, name = m.format.choice(mode, name, len(m.tools) > 0)
	}
	kind := "auto"
	switch mode {
	case ChoiceDefault:
		if !m.r.Serial {
			return
		}
	case ChoiceAuto:
	case ChoiceNone:
		kind = "none"
	case ChoiceRequired:
		kind = "any"
	case ChoiceTool:
		kind = "tool"
	}
	m.key("tool_choice")
	m.open('{')
	m.key("type")
	m.text(kind)
	if kind == "tool" {
		m.key("name")
		m.text(fitMessagesName(name))
	}
	m.flagMember("disable_parallel_tool_use", m.r.Serial && kind != "none")
	m.close('}')
}

// forced reports whether the model must call a tool.
func (m *messagesRequest) forced() bool {
	return m.format.tool != nil || m.choice.Mode == ChoiceRequired || m.choice.Mode == ChoiceTool
}

func (m *messagesRequest) stop() {
	kept := make([]string, 0, len(m.r.Stop))
	for _, s := range m.r.Stop {
		if isBlank(s) {
			m.lost.add("stop", "a stop sequence of blanks is not taken")
			continue
		}
		kept = append(kept, s)
	}
	m.textsMember("stop_sequences", kept)
}

// identity writes who asks and how to serve it.
func (m *messagesRequest) identity() {
	r := m.r
	switch {
	case len(r.User) > messagesUserLimit:
		m.lost.add("user", "longer than the service takes")
	case r.User != "":
		m.key("metadata")
		m.open('{')
		m.key("user_id")
		m.text(r.User)
		m.close('}')
	}
	m.cacheControl(r.Cache)
	switch r.Tier {
	case "":
	case "auto":
		m.textMember("service_tier", "auto")
	case "default":
		m.textMember("service_tier", "standard_only")
	default:
		m.lost.add("service_tier", "the service has no such tier")
	}
	if r.CacheKey != "" {
		m.lost.add("prompt_cache_key", "the service finds cached prompts by itself")
	}
	if len(r.Metadata) > 0 {
		m.lost.add("metadata", "the service keeps none")
	}
	if r.Verbosity != "" {
		m.lost.add("verbosity", "the service has no such setting")
	}
}

// sampling writes how tokens are drawn, as far as the interface version, the
// model and its thinking let it be said.
func (m *messagesRequest) sampling() {
	s := &m.r.Sampling
	for _, f := range [...]struct {
		name string
		is   bool
	}{
		{"presence_penalty", s.PresencePenalty != nil && *s.PresencePenalty != 0},
		{"frequency_penalty", s.FrequencyPenalty != nil && *s.FrequencyPenalty != 0},
		{"seed", s.Seed != nil},
	} {
		if f.is {
			m.lost.add(f.name, "the service has no such setting")
		}
	}
	temperature, topP, topK := s.Temperature, s.TopP, s.TopK
	drop := func(name string, value **float64, why string) {
		if *value != nil {
			m.lost.add(name, why)
			*value = nil
		}
	}
	if topP != nil && *topP >= 1 {
		topP = nil // all tokens: what the service does anyway
	}
	if !anthropic.TakesSampling(m.up.Version) {
		const why = "the interface version refuses sampling fields"
		drop("temperature", &temperature, why)
		drop("top_p", &topP, why)
		drop("top_k", &topK, why)
	}
	if m.thinking.on {
		const why, least = "a model that thinks is not told how to draw", 0.95
		if temperature != nil && *temperature == 1 {
			temperature = nil
		}
		drop("temperature", &temperature, why)
		drop("top_k", &topK, why)
		if topP != nil && *topP < least {
			drop("top_p", &topP, why)
		}
	}
	if temperature != nil && topP != nil {
		drop("top_p", &topP, "newer models take temperature or top_p, not both")
	}
	if temperature != nil && *temperature > 1 {
		m.lost.add("temperature", "at most 1 here; 1 is sent")
		one := 1.0
		temperature = &one
	}
	m.floatMember("temperature", temperature)
	m.floatMember("top_p", topP)
	m.integerMember("top_k", wholeTopK(topK, &m.lost))
}

// wholeTopK returns top_k as services of other makers want it, a whole number
// above 0; 0 for none, which some clients write for all tokens.
func wholeTopK(value *float64, lost *losses) int64 {
	if value == nil || *value <= 0 {
		return 0
	}
	const most = 1 << 30 // more than a vocabulary holds
	whole := math.Round(min(max(*value, 1), most))
	if whole != *value {
		lost.add("top_k", "a whole number here; the nearest is sent")
	}
	return int64(whole)
}
