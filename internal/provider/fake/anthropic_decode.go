package fake

import (
	"encoding/json"
	"strings"
)

// messagesCheck judges one request as Anthropic's service does, and reads of it
// what the simulation needs.
type messagesCheck struct {
	inspection
	c      *call
	marks  int             // blocks with a cache_control
	tools  map[string]bool // by name
	manual bool            // the model is told how many tokens to think
	forced bool            // a tool must be called
	turns  []messagesTurn
}

// The members of requests. What tells how to make the answer has no place where
// tokens are counted.
var (
	messagesMembers = names(`model max_tokens messages system tools tool_choice stop_sequences stream thinking output_config
		metadata service_tier cache_control container context_management diagnostics inference_geo speed user_profile_id
		workspace_id mcp_servers temperature top_p top_k`)
	countMembers = names(`model messages system tools tool_choice thinking output_config cache_control context_management
		speed mcp_servers`)
)

// samplingMembers are not permitted in the newer interface.
var samplingMembers = []string{"temperature", "top_k", "top_p"}

// decode reads the body of a request as strictly as Anthropic's service.
func (anthropic) decode(c *call, body []byte) *apiError {
	c.choices, c.thought, c.bounded = 1, thoughtNone, true
	if c.endpoint == EndpointModels {
		return nil
	}
	m := messagesCheck{c: c, inspection: inspection{manner: &messagesManner}, tools: map[string]bool{}}
	root, err := m.parse(body)
	if err != nil {
		return wrongMessages("", "The request body is not valid JSON: "+err.Error())
	}
	m.request(root)
	if m.wrong != nil {
		return m.wrong
	}
	c.promptTokens = promptSize(body, "system", "messages", "tools")
	return nil
}

// promptSize estimates the tokens of what members of a body hold.
func promptSize(body []byte, members ...string) int {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return 1 // cannot be: it was read
	}
	n := 0
	for _, name := range members {
		n += len(all[name])
	}
	return tokensOf(n)
}

func (m *messagesCheck) request(root place) {
	counting := m.c.endpoint == EndpointCountTokens
	if counting {
		root.only(countMembers)
	} else {
		root.only(messagesMembers)
	}
	if m.c.version == versionNew {
		for _, name := range samplingMembers {
			if root.at(name).set() {
				m.fail(m.manner.unknown("", name))
			}
		}
	}
	m.c.model = root.required("model").text()
	if !counting {
		m.limit(root.required("max_tokens"))
		m.c.stream = root.at("stream").flag()
	}
	m.system(root.at("system"))
	m.toolList(root.at("tools"))
	m.toolChoice(root.at("tool_choice"))
	m.thinking(root)
	m.sampling(root)
	m.output(root.at("output_config"))
	m.identity(root)
	m.cacheControl(root)
	m.conversation(root.required("messages"))
	if m.marks > maxMarks {
		m.fail(wrongMessages("", "A maximum of 4 blocks with cache_control may be provided. Found "+itoa(m.marks)+"."))
	}
}

// maxMarks is how many blocks may be marked for the cache.
const maxMarks = 4

func (m *messagesCheck) limit(p place) {
	m.c.maxTokens = p.whole()
	if p.set() && m.c.maxTokens < 1 {
		p.refuse("Input should be greater than or equal to 1")
	}
}

// system reads a text or a list of text blocks.
func (m *messagesCheck) system(p place) {
	if !p.set() || p.isText() {
		return
	}
	for _, one := range p.list() {
		if kind := one.required("type").choice("text"); kind == "text" {
			m.textBlock(one, "system")
		}
	}
}

// thinking reads how the model is to think.
func (m *messagesCheck) thinking(root place) {
	p := root.at("thinking")
	if !p.set() {
		return
	}
	kind := p.required("type").choice("enabled", "adaptive", "disabled")
	p.path += "." + kind
	switch kind {
	case "enabled":
		p.only(names("type budget_tokens display"))
		budget := p.required("budget_tokens")
		n := budget.whole()
		switch {
		case n < leastBudget:
			budget.refuse("Input should be greater than or equal to 1024")
		case m.c.endpoint == EndpointMessages && n >= m.c.maxTokens:
			m.fail(wrongMessages("", "`max_tokens` must be greater than `thinking.budget_tokens`."))
		}
		m.manual = true
	case "adaptive":
		p.only(names("type display"))
	default:
		p.only(names("type"))
		return
	}
	m.c.thought = thoughtSaid
	if p.at("display").choice("summarized", "omitted") == "omitted" {
		m.c.thought = thoughtHidden
	}
	if m.forced {
		m.fail(wrongMessages("", "Thinking may not be enabled when tool_choice forces tool use."))
	}
}

// leastBudget is how many tokens a model must be allowed to think.
const leastBudget = 1024

// thinks reports whether the request asks the model to think.
func (m *messagesCheck) thinks() bool { return m.c.thought != thoughtNone }

// sampling reads temperature, top_p and top_k.
func (m *messagesCheck) sampling(root place) {
	heat, p, k := root.at("temperature"), root.at("top_p"), root.at("top_k")
	for _, share := range []place{heat, p} {
		if n := share.number(); share.set() && (n < 0 || n > 1) {
			share.refuse("Input should be between 0 and 1")
		}
	}
	if k.set() && k.whole() < 0 {
		k.refuse("Input should be greater than or equal to 0")
	}
	switch {
	case m.thinks() && heat.set() && heat.number() != 1:
		m.fail(wrongMessages("", "`temperature` may only be set to 1 when thinking is enabled."))
	case m.thinks() && p.set() && p.number() < 0.95:
		m.fail(wrongMessages("", "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."))
	case m.thinks() && k.set():
		m.fail(wrongMessages("", "`top_k` must be unset when thinking is enabled."))
	case heat.set() && p.set() && !takesBoth(m.c.model):
		m.fail(wrongMessages("", "`temperature` and `top_p` cannot both be specified for this model. Please use only one."))
	}
}

// takesBoth reports whether a model is an old one, which takes temperature and
// top_p together.
func takesBoth(model string) bool {
	return strings.HasPrefix(model, "claude-3") || strings.HasPrefix(model, "claude-2")
}

// output reads the effort and the form of the answer.
func (m *messagesCheck) output(p place) {
	if !p.set() {
		return
	}
	p.only(names("effort format"))
	p.at("effort").choice("low", "medium", "high", "xhigh", "max")
	format := p.at("format")
	if !format.set() {
		return
	}
	format.only(names("type schema"))
	format.required("type").choice("json_schema")
	schema := format.required("schema")
	m.strictSchema(schema)
	m.c.structured, m.c.schema = true, schema.raw()
}

// identity reads what does not change the answer, and where it ends.
func (m *messagesCheck) identity(root place) {
	if meta := root.at("metadata"); meta.set() {
		meta.only(names("user_id"))
		if user := meta.at("user_id"); len(user.text()) > maxUser {
			user.refuse("String should have at most 256 characters")
		}
	}
	root.at("service_tier").choice("auto", "standard_only")
	root.at("speed").choice("standard", "fast")
	stops := root.at("stop_sequences")
	if !stops.set() {
		return
	}
	m.c.stops = stops.texts()
	for _, s := range m.c.stops {
		if strings.TrimSpace(s) == "" {
			stops.refuse("each stop sequence must contain non-whitespace")
		}
	}
}

// maxUser is the length of a user_id.
const maxUser = 256

// cacheControl judges the mark of a block, if it has one.
func (m *messagesCheck) cacheControl(block place) {
	p := block.at("cache_control")
	if !p.set() {
		return
	}
	m.marks++
	p.only(names("type ttl"))
	p.required("type").choice("ephemeral")
	p.at("ttl").choice("5m", "1h")
}
