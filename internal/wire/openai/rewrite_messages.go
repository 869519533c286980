package openai

import (
	"math"
	"slices"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// messagesRewrite is a walk over the messages of a chat that collects edits.
type messagesRewrite struct {
	scan.Cursor
	body  []byte
	edits []scan.Edit
	drop  []string // members to drop

	move  bool          // instructions move to the first user message
	gone  []scan.Member // the messages that hold them, as elements of the list
	texts []byte        // their texts, as the inside of a JSON text
	host  *message      // the first user message; nil = none that can take them
}

// message is one message as far as a rewrite looks at it.
type message struct {
	role    request.Part
	open    int       // offset behind its brace
	content span      // its value
	kind    scan.Kind // of it; KindInvalid = there is none
	bare    bool      // it is a list of no parts
	texts   []byte    // its texts, as the inside of a JSON text
}

// textBreak separates texts that become one, inside a JSON text.
const textBreak = `\n\n`

// rewriteMessages returns the edits of the messages that w asks for.
func (r *Request) rewriteMessages(body []byte, w Rewrite) []scan.Edit {
	whole := scan.NewCursor(body, math.MaxInt32) // how deep it nests was checked by the first scan
	m := messagesRewrite{
		Cursor: whole.Sub(r.input.start, r.input.end), body: body,
		move: w.NoSystemRole && r.instructed,
	}
	if r.echoes {
		m.drop = w.DropFields
	}
	if !m.EnterArray() {
		return nil
	}
	for i := 0; m.Element(); i++ {
		m.Kind() // brings the position to the value
		start, before := m.Pos(), len(m.edits)
		msg := m.message()
		switch {
		case !m.move:
		case msg.role == request.PartSystem:
			m.edits = m.edits[:before] // the whole message goes
			m.gone = append(m.gone, scan.Member{Index: i, KeyStart: start, Start: start, End: m.Pos()})
			m.texts = joinRaw(m.texts, msg.texts)
		case msg.role == request.PartUser && m.host == nil && msg.takesText():
			m.host = &msg
		}
	}
	if len(m.gone) > 0 {
		m.place()
	}
	return m.edits
}

// joinRaw adds a text to those before it. A text of nothing adds nothing.
func joinRaw(dst, text []byte) []byte {
	if len(dst) > 0 && len(text) > 0 {
		dst = append(dst, textBreak...)
	}
	return append(dst, text...)
}

// message takes one message.
func (m *messagesRewrite) message() message {
	var msg message
	if !m.EnterObject() {
		return msg
	}
	msg.open = m.Pos()
	var drop []scan.Member
	for i := 0; m.Member(); i++ {
		key := string(m.Key())
		if slices.Contains(m.drop, key) {
			drop = append(drop, m.member(i))
			continue
		}
		switch key {
		case "role":
			raw, _, _ := m.Text()
			msg.role = request.RoleOf(raw)
		case "content":
			m.content(&msg)
		case "tool_calls":
			m.calls()
		}
	}
	m.edits = scan.Remove(m.edits, m.body, drop...)
	return msg
}

// member takes the member that is due.
func (m *messagesRewrite) member(index int) scan.Member {
	keyStart := m.KeyStart()
	start, end := m.Skip()
	return scan.Member{Index: index, KeyStart: keyStart, Start: start, End: end}
}

// calls drops members of tool calls.
func (m *messagesRewrite) calls() {
	if len(m.drop) == 0 || !m.EnterArray() {
		return
	}
	for m.Element() {
		if !m.EnterObject() {
			continue
		}
		var drop []scan.Member
		for i := 0; m.Member(); i++ {
			if slices.Contains(m.drop, string(m.Key())) {
				drop = append(drop, m.member(i))
			}
		}
		m.edits = scan.Remove(m.edits, m.body, drop...)
	}
}

// content takes the content of a message: where it is, and its texts.
func (m *messagesRewrite) content(msg *message) {
	msg.kind, msg.texts, msg.bare = m.Kind(), nil, true
	msg.content.start = m.Pos()
	defer func() { msg.content.end = m.Pos() }()
	if msg.kind != scan.KindArray || !m.move {
		if raw, _, ok := m.Text(); ok {
			msg.texts = raw
		} else {
			m.Skip()
		}
		return
	}
	m.EnterArray()
	for m.Element() {
		msg.bare = false
		if raw, _, ok := m.Text(); ok {
			msg.texts = joinRaw(msg.texts, raw)
			continue
		}
		if !m.EnterObject() {
			continue
		}
		for m.Member() {
			if string(m.Key()) != "text" {
				continue
			}
			if raw, _, ok := m.Text(); ok {
				msg.texts = joinRaw(msg.texts, raw)
			}
		}
	}
}

// takesText reports whether a text can be put before the content.
func (msg *message) takesText() bool {
	switch msg.kind {
	case scan.KindString, scan.KindArray, scan.KindNull, scan.KindInvalid:
		return true
	case scan.KindBool, scan.KindNumber, scan.KindObject:
	}
	return false
}

// place takes the messages with instructions out and puts their texts at the
// head of the first user message. If there is none, one takes the place of the
// first of them.
func (m *messagesRewrite) place() {
	host := m.host
	if host == nil {
		first := m.gone[0]
		text := append([]byte(`{"role":"user","content":"`), m.texts...)
		m.edits = append(m.edits, scan.Edit{Start: first.KeyStart, End: first.End, Text: append(text, `"}`...)})
		m.edits = scan.Remove(m.edits, m.body, m.gone[1:]...)
		return
	}
	m.edits = scan.Remove(m.edits, m.body, m.gone...)
	if len(m.texts) == 0 {
		return
	}
	m.edits = append(m.edits, host.headed(m.texts))
}

// headed returns the edit that puts a text, the inside of a JSON text, before
// the content of a message.
func (msg *message) headed(text []byte) scan.Edit {
	at := msg.content.start
	switch msg.kind {
	case scan.KindString:
		if msg.content.end-at > len(`""`) {
			text = append(text, textBreak...)
		}
		return scan.Edit{Start: at + 1, End: at + 1, Text: text}
	case scan.KindArray:
		first := append([]byte(`{"type":"text","text":`), quoted(text)...)
		first = append(first, '}')
		if !msg.bare {
			first = append(first, ',')
		}
		return scan.Edit{Start: at + 1, End: at + 1, Text: first}
	case scan.KindNull:
		return scan.Edit{Start: at, End: msg.content.end, Text: quoted(text)}
	case scan.KindInvalid, scan.KindBool, scan.KindNumber, scan.KindObject: // takesText admits only the first
	}
	member := append([]byte(`"content":`), quoted(text)...)
	return scan.Edit{Start: msg.open, End: msg.open, Text: append(member, ',')}
}

// quoted makes a JSON text of its inside.
func quoted(raw []byte) []byte {
	return append(append([]byte{'"'}, raw...), '"')
}
