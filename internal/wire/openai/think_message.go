package openai

import (
	"bytes"

	"gatewright/internal/wire/scan"
)

// SplitThinking says that the answer of a chat may begin with what the model
// thought, between tags: the client gets it as reasoning_content. It is to be
// called before the first chunk. However an upstream cuts the same text into
// chunks, the client gets the same texts.
func (s *Stream) SplitThinking() { s.thinks = s.e == Chat }

// SplitThinking is the same for a whole answer. body is the text that was
// checked; [Answer.AppendWithModel] makes the change. An answer with reasoning
// in a field of its own is left alone, and completions are.
func (a *Answer) SplitThinking(body []byte) {
	c := scan.NewCursor(body, maxDepth)
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		if string(c.Key()) != "choices" || !c.EnterArray() {
			continue
		}
		for c.Element() {
			if !c.EnterObject() {
				continue
			}
			for c.Member() {
				if string(c.Key()) != "message" || !c.EnterObject() {
					continue
				}
				m := messageScan{Cursor: &c, body: body, edits: a.edits, ending: true, think: &thinking{}, text: &textPlaces{}}
				m.open, m.bare = c.Pos(), true
				for m.Member() {
					m.bare = false
					m.takeText()
				}
				m.splitText()
				a.edits = m.edits
			}
		}
	}
}

// textPlaces is where a message, or a piece of one, has the texts that a split
// changes.
type textPlaces struct {
	content  field // a text or null
	other    bool  // the content is something else
	thought  field // reasoning_content, a text or null
	reasoned bool  // there is reasoning in a field of its own
}

// takeText takes the member that is due if a split has to know it, and reports
// whether it did.
func (m *messageScan) takeText() bool {
	t := m.text
	switch string(m.Key()) {
	case "content":
		if t.other = !m.textOrNull(); t.other {
			return false
		}
		t.content.read(m.Cursor, 0)
		return true
	case "reasoning_content", "reasoning":
		if !m.textOrNull() {
			return false
		}
		var f field
		key := string(m.Key())
		if f.read(m.Cursor, 0); len(f.raw) > 0 {
			t.reasoned = true
			m.said |= saidText
		}
		if key == "reasoning_content" {
			t.thought = f
		}
		return true
	}
	return false
}

func (m *messageScan) textOrNull() bool {
	kind := m.Kind()
	return kind == scan.KindString || kind == scan.KindNull
}

// splitText moves what the text of a message, or of this piece of one, thinks to
// reasoning_content.
func (m *messageScan) splitText() {
	t, state := m.text, m.think
	if t.reasoned && state.phase == thinkBefore && len(state.held) == 0 {
		state.phase = thinkAfter
	}
	raw := t.content.raw
	if state.settled() {
		if len(raw) > 0 {
			m.said |= saidText
		}
		return
	}
	thought, said := state.feed(raw, nil, nil)
	if m.ending {
		thought, said = state.flush(thought, said)
	}
	if len(thought)+len(said) > 0 {
		m.said |= saidText
	}
	if len(thought) == 0 && bytes.Equal(said, raw) {
		return
	}
	var insert []byte
	switch {
	case len(thought) == 0:
	case t.thought.there:
		all := append(bytes.Clone(t.thought.raw), thought...)
		m.edits = append(m.edits, scan.Edit{Start: t.thought.Start, End: t.thought.End, Text: quoted(all)})
	default:
		insert = append(append(insert, `"reasoning_content":`...), quoted(thought)...)
	}
	switch {
	case t.content.there:
		m.edits = append(m.edits, scan.Edit{Start: t.content.Start, End: t.content.End, Text: quoted(said)})
	case len(said) > 0 && !t.other:
		if len(insert) > 0 {
			insert = append(insert, ',')
		}
		insert = append(append(insert, `"content":`...), quoted(said)...)
	}
	if len(insert) == 0 {
		return
	}
	if m.inserted = m.bare; !m.bare {
		insert = append(insert, ',')
	}
	m.edits = append(m.edits, scan.Edit{Start: m.open, End: m.open, Text: insert})
}

// appendHeld appends the members for what the text of a choice still holds back,
// now that it has ended, to the inside of an object. comma says that others
// stand before them.
func (t *thinking) appendHeld(dst []byte, comma bool) []byte {
	if t == nil {
		return dst
	}
	thought, said := t.flush(nil, nil)
	for _, f := range [...]struct {
		key string
		raw []byte
	}{{`"reasoning_content":`, thought}, {`"content":`, said}} {
		if len(f.raw) == 0 {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		dst, comma = append(append(dst, f.key...), quoted(f.raw)...), true
	}
	return dst
}

// holds reports whether something is held back.
func (t *thinking) holds() bool { return t != nil && len(t.held) > 0 }
