package fake

import (
	"slices"
	"strings"
)

// The sides of a conversation. Anthropic takes instructions inside it, too.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// messagesTurn is one message, as far as the rules between messages need it.
type messagesTurn struct {
	role    string
	place   place
	kinds   []string // of the blocks
	texts   []string
	calls   []placed // ids of tool_use
	results []placed // ids of tool_result
}

// placed is a text and the block that it stands in.
type placed struct {
	place

	id string
}

// conversation judges the messages: each by itself, then what they owe to each
// other. Turns of one side may follow one another, as the service takes them
// together; but what tools gave stands in the message right behind the call.
func (m *messagesCheck) conversation(p place) {
	for _, one := range p.list() {
		m.message(one)
	}
	if m.wrong != nil {
		return
	}
	if len(m.turns) == 0 {
		m.fail(wrongMessages("messages", "at least one message is required"))
		return
	}
	if m.turns[0].role != roleUser {
		m.fail(wrongMessages("messages", `first message must use the "user" role`))
	}
	seen := map[string]bool{}
	for i := range m.turns {
		m.pairing(i, seen)
	}
	m.ending()
	m.thoughtKept()
	m.c.last = m.last
}

func (m *messagesCheck) message(p place) {
	p.only(names("role content"))
	t := messagesTurn{place: p}
	t.role = p.required("role").choice(roleUser, roleAssistant, roleSystem)
	content := p.required("content")
	where := inUser
	if t.role == roleAssistant {
		where = inAssistant
	}
	switch {
	case m.wrong != nil:
		return
	case content.isText():
		text := content.text()
		t.kinds = []string{"text"}
		t.texts = []string{text}
		if strings.TrimSpace(text) == "" {
			t.kinds = nil
		}
	default:
		m.blocks(content.list(), where, &t)
	}
	m.turns = append(m.turns, t)
}

// pairing holds each tool_use to a tool_result in the next message, and each
// tool_result to a tool_use in the one before.
func (m *messagesCheck) pairing(i int, seen map[string]bool) {
	t := &m.turns[i]
	if len(t.kinds) == 0 && (t.role != roleAssistant || i < len(m.turns)-1) {
		m.fail(wrongMessages(t.place.path, "all messages must have non-empty content except for the optional final assistant message"))
	}
	var missing []string
	for _, call := range t.calls {
		if seen[call.id] {
			m.fail(wrongMessages(blockPath(call), "`tool_use` ids must be unique"))
		}
		seen[call.id] = true
		if i+1 < len(m.turns) && !m.turns[i+1].answers(call.id) || i+1 == len(m.turns) {
			missing = append(missing, call.id)
		}
	}
	if len(missing) > 0 {
		m.fail(wrongMessages(t.place.path, "`tool_use` ids were found without `tool_result` blocks immediately after: "+strings.Join(missing, ", ")+
			". Each `tool_use` block must have a corresponding `tool_result` block in the next message."))
	}
	given := map[string]bool{}
	for _, result := range t.results {
		switch {
		case i == 0 || !m.turns[i-1].has(result.id):
			m.fail(wrongMessages(blockPath(result), "unexpected `tool_use_id` found in `tool_result` blocks: "+result.id+
				". Each `tool_result` block must have a corresponding `tool_use` block in the previous message."))
		case given[result.id]:
			m.fail(wrongMessages(blockPath(result), "each `tool_use` must have a single result. Found multiple `tool_result` blocks with id: "+result.id))
		}
		given[result.id] = true
	}
}

// blockPath is the path of a block without its type.
func blockPath(p placed) string { return p.path[:strings.LastIndexByte(p.path, '.')] }

// has reports whether a call stands in the turn.
func (t *messagesTurn) has(id string) bool {
	return slices.ContainsFunc(t.calls, func(p placed) bool { return p.id == id })
}

// answers reports whether the turn begins with what tools gave and the call's
// result is among it.
func (t *messagesTurn) answers(id string) bool {
	for i, kind := range t.kinds {
		if kind != "tool_result" {
			return false
		}
		if t.results[i].id == id {
			return true
		}
	}
	return false
}

// ending judges a last message that the model is to go on from.
func (m *messagesCheck) ending() {
	t := &m.turns[len(m.turns)-1]
	if t.role != roleAssistant || len(t.kinds) == 0 {
		return
	}
	switch last := t.kinds[len(t.kinds)-1]; {
	case last == "thinking" || last == "redacted_thinking":
		m.fail(wrongMessages(t.place.path, "The final block in an assistant message cannot be `thinking`."))
	case last != "text":
	case strings.TrimRight(t.texts[len(t.texts)-1], " \t\r\n") != t.texts[len(t.texts)-1]:
		m.fail(wrongMessages("messages", "final assistant content cannot end with trailing whitespace"))
	}
}

// thoughtKept holds a request that gives the model a number of tokens to think to
// the thought before the last calls.
func (m *messagesCheck) thoughtKept() {
	last := len(m.turns) - 1
	if !m.manual {
		return
	}
	if t := &m.turns[last]; t.role == roleUser {
		if len(t.results) == 0 {
			return
		}
		last--
	}
	if last < 0 || m.turns[last].role != roleAssistant || len(m.turns[last].kinds) == 0 {
		return
	}
	t := &m.turns[last]
	if first := t.kinds[0]; first != "thinking" && first != "redacted_thinking" {
		m.fail(wrongMessages(t.place.path+".content.0.type", "Expected `thinking` or `redacted_thinking`, but found `"+first+
			"`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."))
	}
}

// last tells how the conversation ends.
func (m *messagesCheck) last() lastMessage {
	end := &m.turns[len(m.turns)-1]
	out := lastMessage{role: end.role}
	if len(end.results) > 0 {
		out.role = roleTool
	}
	for i := len(m.turns) - 1; i >= 0; i-- {
		if t := &m.turns[i]; t.role == roleUser && len(t.texts) > 0 {
			out.user = strings.Join(t.texts, "\n")
			break
		}
	}
	return out
}
