package translate

import (
	"encoding/json"
	"strconv"

	"gatewright/internal/wire/scan"
)

// writer appends JSON text. Commas are written where they are due; nothing
// checks that brackets match.
type writer struct {
	b []byte
}

// writerFor returns a writer with room for a request. What it holds decides, since
// most of a large one is text; escapes may need more.
func writerFor(r *Request) writer {
	const beside = 128 // bytes around a part
	size := 4 * beside
	for i := range r.Tools {
		t := &r.Tools[i]
		size += beside + len(t.Description) + len(t.Schema)
	}
	for i := range r.System {
		size += r.System[i].size()
	}
	for i := range r.Turns {
		for j := range r.Turns[i].Parts {
			size += beside + r.Turns[i].Parts[j].size()
		}
	}
	return writer{b: make([]byte, 0, size+size/5)} // code has an escape every dozen bytes or so
}

// size is about how many bytes the part holds.
func (p *Part) size() int {
	n := len(p.Text) + len(p.Media.Data) + len(p.Media.Plain) + len(p.Media.URL) + len(p.Call.Arguments) + len(p.Signature.Data)
	for i := range p.Result.Parts {
		n += p.Result.Parts[i].size()
	}
	return n
}

// comma writes one unless a container was just opened, a key written, or
// nothing written since start.
func (w *writer) comma() {
	if len(w.b) == 0 {
		return
	}
	switch w.b[len(w.b)-1] {
	case '{', '[', ':', ',', '\n', ' ':
		return
	}
	w.b = append(w.b, ',')
}

// open begins an object or an array: '{' or '['.
func (w *writer) open(bracket byte) {
	w.comma()
	w.b = append(w.b, bracket)
}

// close ends an object or an array: '}' or ']'.
func (w *writer) close(brackets ...byte) { w.b = append(w.b, brackets...) }

// key writes the name of a member, which needs no escapes.
func (w *writer) key(name string) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *writer) text(s string) {
	w.comma()
	w.b = scan.AppendString(w.b, s)
}

// raw writes JSON text as it is.
func (w *writer) raw(text []byte) {
	w.comma()
	w.b = append(w.b, text...)
}

func (w *writer) integer(n int64) {
	w.comma()
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) float(f float64) {
	w.comma()
	w.b = strconv.AppendFloat(w.b, f, 'g', -1, 64)
}

func (w *writer) flag(v bool) {
	w.comma()
	w.b = strconv.AppendBool(w.b, v)
}

// The member functions write a member unless its value is empty.

func (w *writer) textMember(name, value string) {
	if value != "" {
		w.key(name)
		w.text(value)
	}
}

func (w *writer) rawMember(name string, value []byte) {
	if len(value) > 0 {
		w.key(name)
		w.raw(value)
	}
}

func (w *writer) integerMember(name string, value int64) {
	if value != 0 {
		w.key(name)
		w.integer(value)
	}
}

func (w *writer) floatMember(name string, value *float64) {
	if value != nil {
		w.key(name)
		w.float(*value)
	}
}

func (w *writer) flagMember(name string, value bool) {
	if value {
		w.key(name)
		w.flag(value)
	}
}

// optionalFlag writes a member unless value is nil.
func (w *writer) optionalFlag(name string, value *bool) {
	if value != nil {
		w.key(name)
		w.flag(*value)
	}
}

// textsMember writes a list of strings unless it is empty.
func (w *writer) textsMember(name string, values []string) {
	if len(values) == 0 {
		return
	}
	w.key(name)
	w.open('[')
	for _, v := range values {
		w.text(v)
	}
	w.close(']')
}

// isObject reports whether text is a JSON object.
func isObject(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return json.Valid([]byte(text))
		}
		return false
	}
	return false
}
