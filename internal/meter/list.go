package meter

import (
	"bytes"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// document is JSON text. JSON handlers show it as a value, others as text.
type document []byte

// MarshalJSON returns the document.
func (d document) MarshalJSON() ([]byte, error) { return d, nil }

// MarshalText returns the document.
func (d document) MarshalText() ([]byte, error) { return d, nil }

// list is a JSON array that grows up to a budget; what does not fit is counted.
type list struct {
	buf  []byte // the array so far, with a comma where the next element goes
	left int    // bytes that it may still take
	cut  int    // elements that did not fit
}

func newList(budget int) *list { return &list{left: budget} }

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

// attrs appends the list under its name, and how much of it was cut. An empty
// list is left out.
func (l *list) attrs(attrs []slog.Attr, name string) []slog.Attr {
	if n := len(l.buf); n > 0 {
		array := make(document, 0, n+1)
		array = append(append(append(array, '['), l.buf[:n-1]...), ']')
		attrs = append(attrs, slog.Any(name, array))
	}
	if l.cut > 0 {
		attrs = append(attrs, slog.Int(name+"_cut", l.cut))
	}
	return attrs
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
func appendString(b []byte, s string, limit int) []byte {
	b = append(b, '"')
	for _, c := range []byte(clean(s, limit)) {
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
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
