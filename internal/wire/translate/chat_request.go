package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"gatewright/internal/wire/openai"
)

// chatRequest writes a request for an upstream that speaks chat completions.
type chatRequest struct {
	writer
	r     *Request
	up    *Upstream
	lost  losses
	tools []Tool
}

func encodeChatRequest(r *Request, up *Upstream) ([]byte, []Loss, error) {
	if up.NoSystemRole {
		r = withoutInstructions(r)
	}
	c := chatRequest{writer: writerFor(r), r: r, up: up}
	tools, lost, err := clientTools(r)
	if err != nil {
		return nil, nil, err
	}
	c.tools, c.lost = tools, lost
	if len(r.ToolChoice.Allowed) > 0 {
		c.tools = allowedTools(tools, r.ToolChoice.Allowed)
	}
	c.open('{')
	c.key("model")
	c.text(up.Model)
	if err := c.conversation(); err != nil {
		return nil, nil, err
	}
	if r.Stream {
		c.flagMember("stream", true)
		if !up.NoStreamOptions {
			c.rawMember("stream_options", []byte(`{"include_usage":true}`))
		}
	}
	c.limits()
	c.sampling()
	c.toolList()
	c.format()
	c.thought()
	c.identity()
	c.close('}')
	return c.b, c.lost, nil
}

// limits writes how long the answer may get and what ends it.
func (c *chatRequest) limits() {
	limit := c.r.MaxOutput
	if most := c.up.MaxOutput; most > 0 && limit > most {
		c.lost.add("max_tokens", "more than the model can give; it is asked for all that it can")
		limit = most
	}
	name := c.up.MaxTokensField
	switch {
	case name != "":
	case c.up.Full:
		name = openai.MaxCompletionTokens
	default:
		name = openai.MaxTokens
	}
	c.integerMember(name, limit)
	stop := c.r.Stop
	if len(stop) > chatStopLimit {
		c.lost.add("stop", "the protocol has four stop sequences; the first four are sent")
		stop = stop[:chatStopLimit]
	}
	c.textsMember("stop", stop)
}

// sampling writes how tokens are drawn. A model that reasons is not told: those
// of OpenAI refuse it.
func (c *chatRequest) sampling() {
	s := c.r.Sampling
	if s.TopK != nil {
		c.lost.add("top_k", "the protocol has no such setting")
	}
	if c.up.Full && c.up.Reasons && thinkingEffort(&c.r.Thinking) != EffortNone {
		if s.Temperature != nil && *s.Temperature != 1 || s.TopP != nil && *s.TopP != 1 {
			c.lost.add("temperature", "a model that thinks is not told how to draw")
		}
		s.Temperature, s.TopP, s.PresencePenalty, s.FrequencyPenalty = nil, nil, nil, nil
	}
	c.floatMember("temperature", s.Temperature)
	c.floatMember("top_p", s.TopP)
	c.floatMember("presence_penalty", s.PresencePenalty)
	c.floatMember("frequency_penalty", s.FrequencyPenalty)
	if s.Seed != nil {
		c.key("seed")
		c.integer(*s.Seed)
	}
}

func (c *chatRequest) toolList() {
	if len(c.tools) == 0 {
		return
	}
	c.key("tools")
	c.open('[')
	for i := range c.tools {
		c.tool(&c.tools[i])
	}
	c.close(']')
	choice := c.r.ToolChoice
	switch choice.Mode {
	case ChoiceDefault:
	case ChoiceAuto:
		c.textMember("tool_choice", "auto")
	case ChoiceNone:
		c.textMember("tool_choice", "none")
	case ChoiceRequired:
		c.textMember("tool_choice", "required")
	case ChoiceTool:
		c.key("tool_choice")
		c.open('{')
		c.textMember("type", "function")
		c.key("function")
		c.open('{')
		c.textMember("name", fitOpenAIName(choice.Name))
		c.close('}', '}')
	}
	if c.r.Serial {
		c.key("parallel_tool_calls")
		c.flag(false)
	}
}

func (c *chatRequest) tool(t *Tool) {
	c.open('{')
	c.textMember("type", "function")
	c.key("function")
	c.open('{')
	c.textMember("name", fitOpenAIName(t.Name))
	c.textMember("description", t.Description)
	c.rawMember("parameters", t.Schema)
	if t.Strict != nil && *t.Strict {
		if c.up.Full || c.up.SchemaOutput {
			c.flagMember("strict", true)
		} else {
			c.lost.add("tools[].strict", "the model is not known to be held to a schema")
		}
	}
	c.close('}', '}')
	if t.Cache != CacheNone {
		c.loseMark()
	}
}

// loseMark notes that a cache mark is lost.
func (c *chatRequest) loseMark() {
	c.lost.add("cache_control", "services of this protocol cache prompts by themselves")
}

func (c *chatRequest) format() {
	f := &c.r.Format
	switch f.Kind {
	case FormatText:
	case FormatJSON:
		c.rawMember("response_format", []byte(`{"type":"json_object"}`))
	case FormatSchema:
		c.key("response_format")
		c.open('{')
		c.textMember("type", "json_schema")
		c.key("json_schema")
		c.open('{')
		name := f.Name
		if name == "" {
			name = "answer"
		}
		c.textMember("name", fitOpenAIName(name))
		c.textMember("description", f.Description)
		c.rawMember("schema", f.Schema)
		c.optionalFlag("strict", f.Strict)
		c.close('}', '}')
	}
}

// thought writes how much the model is to think, if it can be told.
func (c *chatRequest) thought() {
	effort := thinkingEffort(&c.r.Thinking)
	wants := effort != EffortDefault && effort != EffortNone || c.r.Thinking.Adaptive
	switch {
	case !c.up.Reasons:
		if wants {
			c.lost.add("thinking", "the model is not known to reason")
		}
	default:
		c.textMember("reasoning_effort", string(effort))
	}
	if c.up.Full {
		c.textMember("verbosity", c.r.Verbosity)
	} else if c.r.Verbosity != "" {
		c.lost.add("verbosity", "the service is not known to have such a setting")
	}
}

// identity writes who asks and how to serve it.
func (c *chatRequest) identity() {
	r := c.r
	c.textMember("user", fitUser(r.User))
	if r.Cache != CacheNone {
		c.loseMark()
	}
	if c.up.Full {
		c.textMember("prompt_cache_key", r.CacheKey)
		c.textMember("service_tier", r.Tier)
		writeMetadata(&c.writer, r.Metadata)
		return
	}
	for _, f := range [...]struct {
		name string
		is   bool
	}{{"prompt_cache_key", r.CacheKey != ""}, {"service_tier", r.Tier != ""}, {"metadata", len(r.Metadata) > 0}} {
		if f.is {
			c.lost.add(f.name, "the service is not known to take it")
		}
	}
}

// fitUser returns the name of an end user in the length that the protocol takes:
// the name itself, or a hash that still tells users apart.
func fitUser(user string) string {
	if len(user) <= chatUserLimit {
		return user
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:])
}

// fitChatID returns the id of a call as the service takes it.
func (c *chatRequest) fitChatID(id string) string {
	const limit, short = 40, 9
	if !c.up.ShortCallIDs {
		return fitName(id, limit, isWordByte)
	}
	fits := len(id) == short
	for i := 0; fits && i < len(id); i++ {
		fits = isWordByte(id[i]) && id[i] != '_' && id[i] != '-'
	}
	if fits {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.ToLower(hex.EncodeToString(sum[:]))[:short]
}
