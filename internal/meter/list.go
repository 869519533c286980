package meter

import (
	"bytes"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// list is a JSON array that grows up to a budget; what does not fit is counted.
// Its memory is used again for the next one.
type list struct {
	buf  []byte // the array so far, with a comma where the next element goes
	left int    // bytes that it may still take
	cut  int    // elements that did not fit
}

// begin makes the list an empty one.
func (l *list) begin(budget int) *list {
	l.buf, l.left, l.cut = append(l.buf[:0], '['), budget, 0
	return l
}

// add keeps the array that the caller made of l.buf by appending one element,
// unless the element does not fit or an earlier one did not.
func (l *list) add(grown []byte) {
	element := grown[len(l.buf):]
	cost := quotedSize(element) + 1
	if l.cut > 0 || cost > l.left {
		l.cut++
		return
	}
	l.left -= cost
	grown = append(grown, ',')
	l.buf = grown
}

// end hands the list over under its name, and how much of it was cut. An empty
// list is left out.
func (l *list) end(f fields, name string) {
	if n := len(l.buf) - 1; n > 0 {
		l.buf[n] = ']' // the last comma
		f.add(slog.Any(name, l))
	}
	if l.cut > 0 {
		f.add(slog.Int(name+"_cut", l.cut))
	}
}

// document hands other JSON text over, which stands in the list's memory.
func (l *list) document(f fields, name string, text []byte) {
	l.buf = text
	f.add(slog.Any(name, l))
}

// quotedSize is what the element takes where a handler quotes it as text.
func quotedSize(element []byte) int {
	return len(element) + bytes.Count(element, []byte{'"'}) + bytes.Count(element, []byte{'\\'})
}

// appendComma appends a comma unless b ends with open.
func appendComma(b []byte, open byte) []byte {
	if b[len(b)-1] == open {
		return b
	}
	return append(b, ',')
}

// appendField appends a JSON member with a text value.
func appendField(b []byte, name, value string, limit int) []byte {
	b = append(append(append(b, '"'), name...), '"', ':')
	return appendString(b, value, limit)
}

// appendString appends a JSON string of at most limit bytes of text.
func appendString(b []byte, s string, limit int) []byte { return appendQuoted(b, clean(s, limit)) }

// appendQuoted appends a clean text as a JSON string, which is a string of Go's
// as well.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(append(b, s[from:i]...), '\\')
			from = i
		}
	}
	return append(append(b, s[from:]...), '"')
}

// appendTime appends an instant, in UTC, as a JSON string.
func appendTime(b []byte, t time.Time, layout string) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), layout), '"')
}

func appendInt(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }

// appendFloat appends a JSON number; what JSON cannot write becomes null.
func appendFloat(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// clean cuts s to limit bytes and makes it printable: valid UTF-8 without
// control characters, so that no handler needs to escape more than quotes.
func clean(s string, limit int) string {
	const ellipsis = "…"
	short := len(s) <= limit
	if !short {
		s = s[:limit-len(ellipsis)]
	}
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == 0x7f {
			plain = false
			break
		}
	}
	if !plain {
		s = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, s)
	}
	if short {
		return s
	}
	return s + ellipsis
}
