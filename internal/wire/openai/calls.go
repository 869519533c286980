package openai

import (
	"strconv"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// toolCall is a tool call, or a piece of one, and the places of what it holds.
type toolCall struct {
	function bool // it calls a function: the only kind that is mended
	open     int  // offset behind its brace

	index    int
	hasIndex bool

	id, name, args field
}

// field is a member that should be a text.
type field struct {
	scan.Member
	there bool
	null  bool
	raw   []byte // the text between the quotes, empty if it is none
}

// readCall takes the tool call that is due.
func readCall(c *scan.Cursor) (t toolCall) {
	if !c.EnterObject() {
		return t
	}
	t.open = c.Pos()
	for i := 0; c.Member(); i++ {
		switch string(c.Key()) {
		case "id":
			t.id.read(c, i)
		case "index":
			if c.Kind() == scan.KindNumber {
				n, whole := request.Integer(c.Raw())
				t.index, t.hasIndex = int(n), whole && n >= 0
			}
		case "function":
			t.function = c.EnterObject()
			for j := 0; t.function && c.Member(); j++ {
				switch string(c.Key()) {
				case "name":
					t.name.read(c, j)
				case "arguments":
					t.args.read(c, j)
				}
			}
		}
	}
	t.function = t.function && c.Err() == nil
	return t
}

func (f *field) read(c *scan.Cursor, index int) {
	*f = field{there: true, null: c.Kind() == scan.KindNull}
	f.Index, f.KeyStart, f.Start = index, c.KeyStart(), c.Pos()
	var ok bool
	if f.raw, _, ok = c.Text(); !ok {
		c.Skip()
	}
	f.End = c.Pos()
}

// fill returns the edit that gives the field, a member of the call itself, a
// value.
func (f *field) fill(name string, open int, value []byte) scan.Edit {
	if f.there {
		return scan.Edit{Start: f.Start, End: f.End, Text: value}
	}
	text := append([]byte{'"'}, name...)
	text = append(text, '"', ':')
	text = append(text, value...)
	return scan.Edit{Start: open, End: open, Text: append(text, ',')}
}

var (
	noArguments    = []byte(`"{}"`)
	emptyArguments = []byte(`""`)
)

// madeUpID returns an id, in quotes, for a call that came without one. The same
// text always gives the same id, and another answer another one, since its text
// holds its own id and time.
func (m *messageScan) madeUpID(index int) []byte {
	sum := hash(hash(hash(hashStart, string(m.body)), strconv.Itoa(m.choice)), strconv.Itoa(index))
	id := strconv.AppendUint([]byte(`"call_`), sum, 16)
	return append(id, '"')
}

const hashStart = 14695981039346656037 // FNV-1a

// hash adds s and its end to an FNV-1a hash.
func hash(sum uint64, s string) uint64 {
	const prime = 1099511628211
	for i := range len(s) {
		sum = (sum ^ uint64(s[i])) * prime
	}
	return (sum ^ 0x100) * prime
}

// callState is what a stream remembers of one call of a choice.
type callState struct {
	choice, index int
	id, name      uint64 // hashes
	args          bool   // a piece of its arguments came
}

// callTable follows the calls of a stream.
type callTable struct {
	calls []callState
}

// maxCalls bounds what a stream remembers; calls beyond it pass as they are.
const maxCalls = 256

// at returns the state of a call, nil if it is new.
func (t *callTable) at(choice, index int) *callState {
	for i := range t.calls {
		if c := &t.calls[i]; c.choice == choice && c.index == index {
			return c
		}
	}
	return nil
}

// placeOf tells which call a piece without an index belongs to: one with a
// known id to that, one without an id to the last, and any other is new.
func (t *callTable) placeOf(choice int, id []byte) int {
	last, next, sum := 0, 0, hash(hashStart, string(id))
	for i := range t.calls {
		c := &t.calls[i]
		if c.choice != choice {
			continue
		}
		if len(id) > 0 && c.id == sum {
			return c.index
		}
		last, next = c.index, max(next, c.index+1)
	}
	if len(id) == 0 {
		return last
	}
	return next
}

// mend brings a piece of a call to the form that clients expect: an index in
// each piece, id and name in the first piece and only there, since some clients
// join them, and arguments that are texts.
func (t *callTable) mend(m *messageScan, call *toolCall) {
	if !call.hasIndex {
		call.index = t.placeOf(m.choice, call.id.raw)
		m.insert(call.open, `"index":`+strconv.Itoa(call.index)+`,`)
	}
	known := t.at(m.choice, call.index)
	switch {
	case known != nil:
		known.goOn(m, call)
	case len(t.calls) == maxCalls:
		return
	default:
		t.calls = append(t.calls, callState{choice: m.choice, index: call.index})
		known = &t.calls[len(t.calls)-1]
		known.begin(m, call)
	}
	known.args = known.args || len(call.args.raw) > 0
	if call.args.null {
		text := emptyArguments
		if m.ending && !known.args {
			text, known.args = noArguments, true
		}
		m.edits = append(m.edits, scan.Edit{Start: call.args.Start, End: call.args.End, Text: text})
	}
}

// mendWhole mends a call of a whole answer, the one at the given place.
func (m *messageScan) mendWhole(call *toolCall, place int) {
	if len(call.id.raw) == 0 {
		m.edits = append(m.edits, call.id.fill("id", call.open, m.madeUpID(place)))
	}
	if call.args.null {
		m.edits = append(m.edits, scan.Edit{Start: call.args.Start, End: call.args.End, Text: noArguments})
	}
}

func (m *messageScan) insert(at int, text string) {
	m.edits = append(m.edits, scan.Edit{Start: at, End: at, Text: []byte(text)})
}

// begin mends the first piece.
func (s *callState) begin(m *messageScan, call *toolCall) {
	id := string(call.id.raw)
	if id == "" && len(call.name.raw) > 0 {
		made := m.madeUpID(s.index)
		m.edits = append(m.edits, call.id.fill("id", call.open, made))
		id = string(made[1 : len(made)-1])
	}
	s.id, s.name = hash(hashStart, id), hash(hashStart, string(call.name.raw))
}

// goOn mends a later piece. One with another id is another call in the place of
// the first, which is left as it is.
func (s *callState) goOn(m *messageScan, call *toolCall) {
	if id := hash(hashStart, string(call.id.raw)); len(call.id.raw) > 0 && id != s.id {
		s.id, s.name, s.args = id, hash(hashStart, string(call.name.raw)), false
		return
	}
	if call.id.there {
		m.edits = scan.Remove(m.edits, m.body, call.id.Member)
	}
	if call.name.there && (len(call.name.raw) == 0 || hash(hashStart, string(call.name.raw)) == s.name) {
		m.edits = scan.Remove(m.edits, m.body, call.name.Member)
	}
}

// withoutArguments returns the calls of a choice that got no arguments at all, as a
// list of tool call pieces that gives them empty ones; empty if there are none.
func (t *callTable) withoutArguments(choice int) []byte {
	var list []byte
	for i := range t.calls {
		c := &t.calls[i]
		if c.choice != choice || c.args {
			continue
		}
		c.args = true
		if list == nil {
			list = append(list, `"tool_calls":[`...)
		} else {
			list = append(list, ',')
		}
		list = append(list, `{"index":`...)
		list = strconv.AppendInt(list, int64(c.index), 10)
		list = append(list, `,"function":{"arguments":"{}"}}`...)
	}
	if list != nil {
		list = append(list, ']')
	}
	return list
}
