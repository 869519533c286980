package meter

import (
	"log/slog"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Form is the form that lines are written in.
type Form uint8

// The forms, each byte for byte that of the handler of log/slog.
const (
	FormNone Form = iota // only the handler itself knows how it writes
	FormJSON             // of slog.JSONHandler
	FormText             // of slog.TextHandler
)

// encoder writes fields as one of the handlers of log/slog would, which is what
// most of a line's cost was: a handler gets every field as an attribute, asks
// what it is, and has the lists marshalled. All texts are clean, which leaves
// little to escape.
type encoder struct {
	buf   []byte
	text  bool   // FormText
	group string // "request." while that group is open, for FormText
	first bool   // of a JSON object: no comma is due
}

var _ fields = (*encoder)(nil)

// begin begins a line: its time, level and message.
func (e *encoder) begin(at time.Time) {
	at = at.Round(0)
	switch {
	case e.text:
		if !at.IsZero() {
			e.buf = append(e.buf, "time="...)
			e.buf = append(at.AppendFormat(e.buf, "2006-01-02T15:04:05.000Z07:00"), ' ')
		}
		e.buf = append(e.buf, "level=INFO msg="+message...)
	default:
		e.buf = append(e.buf, '{')
		if !at.IsZero() {
			e.buf = append(e.buf, `"time":"`...)
			e.buf = append(at.AppendFormat(e.buf, time.RFC3339Nano), `",`...)
		}
		e.buf = append(e.buf, `"level":"INFO","msg":"`+message+`"`...)
	}
}

// end ends the line.
func (e *encoder) end() {
	if !e.text {
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, '\n')
}

func (e *encoder) open(group string) {
	if e.text {
		e.group = group
		return
	}
	e.key(group)
	e.buf = append(e.buf, '{')
	e.first = true
}

func (e *encoder) close() {
	if e.text {
		e.group = ""
		return
	}
	e.buf = append(e.buf, '}')
	e.first = false
}

func (e *encoder) add(a slog.Attr) {
	e.key(a.Key)
	switch a.Value.Kind() {
	case slog.KindInt64:
		e.buf = strconv.AppendInt(e.buf, a.Value.Int64(), 10)
	case slog.KindUint64:
		e.buf = strconv.AppendUint(e.buf, a.Value.Uint64(), 10)
	case slog.KindBool:
		e.buf = strconv.AppendBool(e.buf, a.Value.Bool())
	case slog.KindFloat64:
		e.float(a.Value.Float64())
	case slog.KindAny:
		if l, ok := a.Value.Any().(*list); ok {
			e.document(l.buf)
		}
	case slog.KindString, slog.KindDuration, slog.KindTime, slog.KindGroup, slog.KindLogValuer:
		e.string(a.Value.String()) // a line has texts only
	}
}

// key begins a field. Names need no quoting.
func (e *encoder) key(name string) {
	if e.text {
		e.buf = append(e.buf, ' ')
		if e.group != "" {
			e.buf = append(append(e.buf, e.group...), '.')
		}
		e.buf = append(append(e.buf, name...), '=')
		return
	}
	if !e.first {
		e.buf = append(e.buf, ',')
	}
	e.first = false
	e.buf = append(append(append(e.buf, '"'), name...), '"', ':')
}

// string writes a text, which is clean.
func (e *encoder) string(s string) {
	switch {
	case !e.text:
		e.buf = appendQuoted(e.buf, s)
	case needsQuotes(s):
		e.buf = appendQuoted(e.buf, s)
	default:
		e.buf = append(e.buf, s...)
	}
}

// document writes JSON text, which is clean and holds no white space.
func (e *encoder) document(text []byte) {
	if e.text {
		e.buf = append(e.buf, '"')
		for _, b := range text {
			if b == '"' || b == '\\' {
				e.buf = append(e.buf, '\\')
			}
			e.buf = append(e.buf, b)
		}
		e.buf = append(e.buf, '"') // quoted in any case: it holds quotes
		return
	}
	e.buf = append(e.buf, text...)
}

// float writes milliseconds: as text in the shortest form, in JSON as
// encoding/json does, which gives only what is below 1e-6 or above 1e21 an
// exponent.
func (e *encoder) float(v float64) {
	form := byte('f')
	if e.text {
		form = 'g'
	}
	e.buf = strconv.AppendFloat(e.buf, v, form, -1, 64)
}

// needsQuotes reports whether slog.TextHandler quotes a text.
func needsQuotes(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case b <= ' ', b == '=', b == '"':
			return true
		case b >= utf8.RuneSelf:
			return needsQuotesWide(s)
		}
	}
	return s == ""
}

// needsQuotesWide is needsQuotes for a text that is not ASCII alone.
func needsQuotesWide(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == '=' || r == '"' || r == utf8.RuneError || unicode.IsSpace(r) || r >= utf8.RuneSelf && !unicode.IsPrint(r) {
			return true
		}
	}
	return false
}
