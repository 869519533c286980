package translate

import (
	"strings"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/scan"
)

// messagesReader reads a request of a client of Messages.
type messagesReader struct {
	*reader
	r        *Request
	names    map[string]string // of the tools that were called, by the ids of the calls; nil for an answer
	effort   string            // output_config.effort
	messages bool
}

func decodeMessagesRequest(body []byte) (*Request, []Loss, error) {
	m := messagesReader{reader: newReader(body), r: &Request{IncludeUsage: true}, names: map[string]string{}}
	m.object(m.field)
	if err := m.finish(); err != nil {
		return nil, nil, err
	}
	switch {
	case m.r.Model == "":
		return nil, nil, invalid("model", "is missing; name the model to use")
	case !m.messages:
		return nil, nil, invalid("messages", "is missing; it is what the model answers to")
	}
	if m.r.Thinking.Effort == EffortDefault {
		m.r.Thinking.Effort = Effort(m.effort)
	}
	return m.r, m.losses, nil
}

func (m *messagesReader) field() {
	r := m.r
	switch string(m.Key()) {
	case "model":
		r.Model = m.text()
	case "messages":
		m.messages = true
		m.array(func(int) { m.message() })
	case "system":
		r.System = m.system()
	case "max_tokens":
		r.MaxOutput = m.integer(0, anthropic.MaxOutput)
	case "stream":
		r.Stream = m.flag()
	case "stop_sequences":
		m.array(func(int) { r.Stop = append(r.Stop, m.text()) })
	case "temperature":
		r.Sampling.Temperature = m.float()
	case "top_p":
		r.Sampling.TopP = m.float()
	case "top_k":
		r.Sampling.TopK = m.float()
	case "tools":
		m.array(func(int) { r.Tools = append(r.Tools, m.tool()) })
	case "tool_choice":
		m.toolChoice()
	case "thinking":
		m.thinking()
	case "output_config":
		m.outputConfig()
	case "output_format":
		m.format()
	default:
		m.identity()
	}
}

// identity reads the fields that say who asks and how to serve it.
func (m *messagesReader) identity() {
	switch string(m.Key()) {
	case "metadata":
		m.object(func() {
			if string(m.Key()) == "user_id" {
				m.r.User = m.text()
				return
			}
			m.unknown()
		})
	case "service_tier":
		switch m.text() {
		case "auto":
			m.r.Tier = "auto"
		case "standard_only":
			m.r.Tier = "default"
		default:
			m.lose("only Anthropic's service has such a tier")
		}
	case "cache_control":
		m.r.Cache = m.cacheMark()
	case "disable_fallbacks", "session_id", "litellm_session_id":
		m.Skip() // the gateway's own
	case "context_management":
		m.drop("only Anthropic's service edits the context by itself")
	case "mcp_servers", "container":
		m.drop("only Anthropic's service runs tools by itself")
	case "inference_geo", "speed":
		m.drop("only Anthropic's service offers it")
	default:
		m.unknown()
	}
}

// system reads the system text. The line by which Claude Code tells its maker
// about itself is left out: other makers do not know it, and since it changes
// with every request it would spoil their caches.
func (m *messagesReader) system() (parts []Part) {
	for _, p := range m.onlyText(m.content()) {
		switch {
		case strings.HasPrefix(p.Text, "x-anthropic-billing-header:"):
			m.lose("a line for Anthropic's own books")
		default:
			parts = append(parts, p)
		}
	}
	return parts
}

func (m *messagesReader) message() {
	var turn Turn
	role := ""
	m.object(func() {
		switch string(m.Key()) {
		case "role":
			role = m.text()
			switch role {
			case "user":
				turn.Role = RoleUser
			case "assistant":
				turn.Role = RoleAssistant
			case "system":
				turn.Role = RoleSystem
			default:
				m.invalid("must be user, assistant or system, not %q", role)
			}
		case "content":
			turn.Parts = m.content()
		default:
			m.unknown()
		}
	})
	if role == "" && m.err == nil {
		m.invalid("has no role; write user or assistant")
	}
	switch turn.Role {
	case RoleUser:
		turn.Parts = resultsFirst(turn.Parts)
	case RoleAssistant:
		turn.Parts = ownSignatures(turn.Parts)
	case RoleSystem:
		turn.Parts = m.onlyText(turn.Parts)
	}
	m.r.Turns = append(m.r.Turns, turn)
}

// resultsFirst puts the results of calls before whatever else a user says.
func resultsFirst(parts []Part) []Part {
	sorted := true
	for i := 1; i < len(parts); i++ {
		sorted = sorted && (parts[i].Kind != KindResult || parts[i-1].Kind == KindResult)
	}
	if sorted {
		return parts
	}
	out := make([]Part, 0, len(parts))
	for _, want := range [...]bool{true, false} {
		for i := range parts {
			if (parts[i].Kind == KindResult) == want {
				out = append(out, parts[i])
			}
		}
	}
	return out
}

// ownSignatures gives the signatures that stand in blocks of their own to the
// parts that they belong to.
func ownSignatures(parts []Part) []Part {
	out := parts[:0]
	for i := range parts {
		p := parts[i]
		f, foreign := anthropic.ParseForeign(p.Signature.Data)
		if p.Kind != KindReasoning || !foreign {
			out = append(out, p)
			continue
		}
		own := Signature{Origin: Origin(f.Origin), ID: f.ID, Data: f.Data}
		if f.Before {
			if len(out) > 0 {
				out[len(out)-1].Signature = own
			}
			continue
		}
		p.Signature = own
		p.Redacted = p.Text == ""
		if p.Redacted && own.Data == "" {
			continue // nothing is left of it
		}
		out = append(out, p)
	}
	return out
}

func (m *messagesReader) tool() (t Tool) {
	kind := ""
	m.object(func() {
		switch string(m.Key()) {
		case "type":
			kind = m.text()
		case "name":
			t.Name = m.text()
		case "description":
			t.Description = m.text()
		case "input_schema":
			t.Schema = m.schema()
		case "strict":
			strict := m.flag()
			t.Strict = &strict
		case "cache_control":
			t.Cache = m.cacheMark()
		case "allowed_callers", "defer_loading", "input_examples", "eager_input_streaming":
			m.drop("only Anthropic's service knows it")
		default:
			// A tool of the maker's own has fields of its own.
			m.unknown()
		}
	})
	if kind != "" && kind != "custom" {
		t.Kind, t.Type = ToolServer, kind
		if t.Name == "" {
			t.Name = kind
		}
	}
	if t.Name == "" && m.err == nil {
		m.invalid("has no name")
	}
	return t
}

// schema reads a JSON schema, which is an object.
func (m *messagesReader) schema() []byte {
	if m.Kind() != scan.KindObject {
		m.wrong("an object")
		return nil
	}
	return m.raw()
}

func (m *messagesReader) toolChoice() {
	c := &m.r.ToolChoice
	m.object(func() {
		switch string(m.Key()) {
		case "type":
			kind := m.text()
			switch kind {
			case "auto":
				c.Mode = ChoiceAuto
			case "any":
				c.Mode = ChoiceRequired
			case "tool":
				c.Mode = ChoiceTool
			case "none":
				c.Mode = ChoiceNone
			default:
				m.invalid("must be auto, any, tool or none, not %q", kind)
			}
		case "name":
			c.Name = m.text()
		case "disable_parallel_tool_use":
			m.r.Serial = m.flag()
		default:
			m.unknown()
		}
	})
	if c.Mode == ChoiceTool && c.Name == "" && m.err == nil {
		m.invalid("names no tool; add \"name\"")
	}
}

func (m *messagesReader) thinking() {
	t := &m.r.Thinking
	m.object(func() {
		switch string(m.Key()) {
		case "type":
			kind := m.text()
			switch kind {
			case "enabled":
			case "adaptive":
				t.Adaptive = true
			case "disabled":
				t.Effort = EffortNone
			default:
				m.invalid("must be enabled, adaptive or disabled, not %q", kind)
			}
		case "budget_tokens":
			t.Budget = m.integer(0, anthropic.MaxOutput)
		case "display":
			if m.text() == "omitted" {
				t.Summary = "none"
			} else {
				t.Summary = "auto"
			}
		default:
			m.unknown()
		}
	})
}

func (m *messagesReader) outputConfig() {
	m.object(func() {
		switch string(m.Key()) {
		case "effort":
			m.effort = m.text()
		case "format":
			m.format()
		default:
			m.unknown()
		}
	})
}

// format reads the form of the answer's text.
func (m *messagesReader) format() {
	f := &m.r.Format
	m.object(func() {
		switch string(m.Key()) {
		case "type":
			if kind := m.text(); kind != "json_schema" {
				m.unsupported("%q is not known; only json_schema can be translated", kind)
			}
			strict := true
			f.Kind, f.Strict = FormatSchema, &strict
		case "schema":
			f.Schema = m.schema()
		case "name":
			f.Name = m.text()
		default:
			m.unknown()
		}
	})
}

// cacheMark reads a cache_control.
func (r *reader) cacheMark() CacheMark {
	mark := CacheShort
	r.object(func() {
		switch string(r.Key()) {
		case "type":
			r.text()
		case "ttl":
			if r.text() == string(CacheLong) {
				mark = CacheLong
			}
		default:
			r.unknown()
		}
	})
	return mark
}
