package translate

import "strings"

// formatPlan says how the model is brought to answer in the form that the
// client wants.
type formatPlan struct {
	schema      []byte // by the protocol's own means: what it is held to
	held        heldSchema
	tool        *Tool  // by a call of this tool, whose arguments are the answer
	instruction string // by asking it
}

// answerTool is the tool whose arguments are the answer, unless the client has
// one of that name.
const answerTool = "json_answer"

const (
	answerToolText = "Give the answer to the user. The arguments of this tool are the whole answer; call it once, at the end."
	jsonText       = "Answer with one JSON object and nothing else: no text before or after it and no code fence around it."
)

// planFormat decides how the model is brought to the form of the answer. Where
// the client must have a tool called there is no text that could have a form.
func (m *messagesRequest) planFormat() {
	m.format = planMessagesFormat(m.r, m.up)
	switch {
	case m.r.Format.Kind == FormatJSON:
		m.lost.add("response_format", "the model is asked for JSON, but not held to it")
	case m.format.held.bounded:
		m.lost.add("response_format", whyTold)
	}
}

const whyTold = "the model is told the bounds of values and lengths, but not held to them"

// planMessagesFormat is the same for the request and for its answer.
func planMessagesFormat(r *Request, up *Upstream) (p formatPlan) {
	f := &r.Format
	if f.Kind == FormatSchema && f.Strict != nil && *f.Strict && up.SchemaOutput && (up.Adaptive || !endsWithAnswer(r)) {
		p.schema, _ = p.held.holds(f.Schema)
	}
	switch {
	case f.Kind == FormatJSON:
		p.instruction = jsonText
	case f.Kind != FormatSchema, p.schema != nil:
	case r.ToolChoice.Mode == ChoiceRequired || r.ToolChoice.Mode == ChoiceTool:
	default:
		p.tool = &Tool{Name: answerTool, Description: answerToolText, Schema: f.Schema}
		if f.Description != "" {
			p.tool.Description += " " + f.Description
		}
		for taken := true; taken; {
			if taken = findTool(r, p.tool.Name, fitMessagesName) != nil; taken {
				p.tool.Name += "_"
			}
		}
	}
	return p
}

// choice returns which tool must be called when the answer itself is a call: a
// tool of the client's or that one.
func (p *formatPlan) choice(mode ChoiceMode, name string, others bool) (ChoiceMode, string) {
	if !others || mode == ChoiceNone {
		return ChoiceTool, p.tool.Name
	}
	return ChoiceRequired, name
}

// thinkingPlan says how the model is told to think.
type thinkingPlan struct {
	on     bool
	off    bool   // it is told not to
	budget int64  // in tokens, 0 for as long as it wants
	effort string // in the protocol's words
}

// budgetShares are the parts of the output limit, in percent, that an effort may
// spend on thinking.
var budgetShares = map[Effort]int64{
	EffortMinimal: 10, EffortLow: 20, EffortMedium: 50, EffortHigh: 80, EffortXHigh: 90, EffortMax: 95,
}

const budgetLimit = 128_000 // tokens

// planThinking decides how the model is told to think. What the service refuses
// beside a budget wins over it: a tool that must be called, and a call in the
// history whose thought the client has not kept.
func (m *messagesRequest) planThinking() {
	t, p := &m.r.Thinking, &m.thinking
	wants := t.Budget > 0 || t.Adaptive || t.Effort != EffortDefault && t.Effort != EffortNone
	switch {
	case t.Effort == EffortNone && !m.up.Adaptive:
		return // that is what such a model does anyway
	case t.Effort == EffortNone:
		p.off = m.up.Reasons
		return
	case !wants:
		return
	case !m.up.Reasons:
		m.lost.add("thinking", "the model does not think")
		return
	case m.up.Adaptive:
		p.effort = m.messagesEffort()
	}
	switch {
	case m.forced():
		m.lost.add("thinking", "a model that must call a tool does not think")
	case m.up.Adaptive:
		p.on = true
	case !m.thoughtKept():
		m.lost.add("thinking", "the thought before what the model said last is not in the history, so the model goes on without")
	default:
		if p.budget = m.budget(); p.budget == 0 {
			m.lost.add("thinking", "the output limit leaves no room to think")
		}
		p.on = p.budget > 0
	}
}

// messagesEffort returns the effort in the protocol's words.
func (m *messagesRequest) messagesEffort() string {
	t := &m.r.Thinking
	if t.Budget > 0 {
		m.lost.add("thinking.budget_tokens", "the model decides for itself how long it thinks")
	}
	switch t.Effort {
	case EffortMinimal:
		return string(EffortLow)
	case EffortXHigh:
		return string(EffortHigh)
	case EffortLow, EffortMedium, EffortHigh, EffortMax:
		return string(t.Effort)
	case EffortDefault, EffortNone:
	}
	return ""
}

// budget returns how many tokens the model may think: below the output limit, 0
// if there is no room.
func (m *messagesRequest) budget() int64 {
	budget := m.r.Thinking.Budget
	if budget == 0 {
		share, known := budgetShares[m.r.Thinking.Effort]
		if !known {
			share = budgetShares[EffortMedium]
		}
		budget = m.limit * share / 100
	}
	budget = min(max(budget, messagesBudget), budgetLimit, m.limit-1)
	if budget < messagesBudget {
		return 0
	}
	return budget
}

// thoughtKept reports whether what the model said last comes after a thought that
// the service can check, if it is to go on from there: from its last calls, or
// from the answer with which the conversation ends. Otherwise it refuses to think.
func (m *messagesRequest) thoughtKept() bool {
	last := true
	for i := len(m.r.Turns) - 1; i >= 0; i-- {
		turn := &m.r.Turns[i]
		switch turn.Role {
		case RoleSystem:
			continue
		case RoleUser:
			if !hasKind(turn.Parts, KindResult) {
				return true // a new question
			}
		case RoleAssistant:
			if last || hasKind(turn.Parts, KindCall) {
				return m.firstThinks(i)
			}
		}
		last = false
	}
	return true
}

// firstThinks reports whether the message of the model's to which a turn belongs
// begins with a thought that the service can check.
func (m *messagesRequest) firstThinks(turn int) bool {
	for turn > 0 && m.r.Turns[turn-1].Role != RoleUser {
		turn--
	}
	for ; turn < len(m.r.Turns); turn++ {
		t := &m.r.Turns[turn]
		if t.Role == RoleAssistant && len(t.Parts) > 0 {
			s := &t.Parts[0].Signature
			return t.Parts[0].Kind == KindReasoning && s.Origin == OriginAnthropic && s.Data != ""
		}
	}
	return true
}

// endsWithAnswer reports whether the conversation ends with words of the model's,
// from which it is to go on.
func endsWithAnswer(r *Request) bool {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if t := &r.Turns[i]; t.Role != RoleSystem && len(t.Parts) > 0 {
			return t.Role == RoleAssistant
		}
	}
	return false
}

func hasKind(parts []Part, kind Kind) bool {
	for i := range parts {
		if parts[i].Kind == kind {
			return true
		}
	}
	return false
}

// thought writes thinking and output_config.
func (m *messagesRequest) thought() {
	p := &m.thinking
	switch {
	case p.on && p.budget == 0:
		m.key("thinking")
		m.raw([]byte(`{"type":"adaptive"}`))
	case p.on:
		m.key("thinking")
		m.open('{')
		m.textMember("type", "enabled")
		m.integerMember("budget_tokens", p.budget)
		m.close('}')
	case p.off:
		m.key("thinking")
		m.raw([]byte(`{"type":"disabled"}`))
	}
	if p.effort == "" && m.format.schema == nil {
		return
	}
	m.key("output_config")
	m.open('{')
	m.textMember("effort", p.effort)
	if m.format.schema != nil {
		m.key("format")
		m.open('{')
		m.textMember("type", "json_schema")
		m.rawMember("schema", m.format.schema)
		m.close('}')
	}
	m.close('}')
}

// isBlank reports whether a text has nothing to see.
func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
