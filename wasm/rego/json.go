package rego

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of JSON from outside. OPA itself fails on numbers that are larger and
// recurses without end.
const (
	maxJSONDepth  = 64
	maxDigits     = 64  // characters of a number
	maxJSONExp    = 308 // largest exponent
	maxDocumented = 40  // characters of a text in a message
)

// scanner reads JSON strictly, without a copy where it can. After the first
// fault it reads nothing more.
type scanner struct {
	s       string
	i       int
	depth   int
	longest int    // bytes of a text that becomes a term; 0 = any
	what    string // the fault; "" = none so far
}

func (s *scanner) fail(format string, args ...any) {
	if s.what == "" {
		s.what = fmt.Sprintf(format, args...)
	}
}

func (s *scanner) failed() bool { return s.what != "" }

func (s *scanner) space() {
	for s.i < len(s.s) {
		switch s.s[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek is the next character that is not space, 0 at the end or after a fault.
func (s *scanner) peek() byte {
	if s.what != "" {
		return 0
	}
	s.space()
	if s.i == len(s.s) {
		return 0
	}
	return s.s[s.i]
}

// take takes one character if it comes next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) expect(c byte) {
	if !s.take(c) {
		s.fail("%q is missing at byte %d", string(c), s.i)
	}
}

// end is the end of the document: nothing may follow.
func (s *scanner) end() {
	if c := s.peek(); c != 0 || s.what == "" && s.i < len(s.s) {
		s.fail("something follows the end at byte %d", s.i)
	}
}

func (s *scanner) enter() bool {
	s.depth++
	if s.depth > maxJSONDepth {
		s.fail("values are nested deeper than %d", maxJSONDepth)
	}
	return s.what == ""
}

// more begins the next part of a list or object, and reports whether there is
// one: n is how many came before.
func (s *scanner) more(n int, closing byte) bool {
	if s.take(closing) {
		s.depth--
		return false
	}
	if n > 0 {
		s.expect(',')
	}
	return s.what == ""
}

// word takes null, true or false.
func (s *scanner) word(w string) bool {
	s.space()
	if s.what != "" || !strings.HasPrefix(s.s[s.i:], w) {
		return false
	}
	s.i += len(w)
	return true
}

// text reads a text; without escapes the result is a part of the document.
func (s *scanner) text() string {
	s.expect('"')
	if s.what != "" {
		return ""
	}
	start := s.i
	for s.i < len(s.s) {
		switch c := s.s[s.i]; {
		case c == '"':
			t := s.s[start:s.i]
			s.i++
			if !utf8.ValidString(t) {
				s.fail("a text that is not UTF-8 at byte %d", start)
			}
			return t
		case c == '\\':
			return s.escaped(start)
		case c < ' ':
			s.fail("a control character in a text at byte %d", s.i)
			return ""
		default:
			s.i++
		}
	}
	s.fail("a text without an end at byte %d", start)
	return ""
}

// escaped reads the rest of a text from its first escape on.
func (s *scanner) escaped(start int) string {
	b := []byte(s.s[start:s.i])
	for s.i < len(s.s) && s.what == "" {
		c := s.s[s.i]
		s.i++
		switch {
		case c == '"':
			if !utf8.Valid(b) {
				s.fail("a text that is not UTF-8 at byte %d", start)
			}
			return string(b)
		case c == '\\':
			b = s.escape(b)
		case c < ' ':
			s.fail("a control character in a text at byte %d", s.i-1)
		default:
			b = append(b, c)
		}
	}
	s.fail("a text without an end at byte %d", start)
	return ""
}

func (s *scanner) escape(b []byte) []byte {
	if s.i == len(s.s) {
		return b
	}
	c := s.s[s.i]
	s.i++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'u':
		r := s.hex()
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if strings.HasPrefix(s.s[s.i:], `\u`) {
				s.i += 2
				low = s.hex()
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				s.fail("half a surrogate pair at byte %d", s.i)
			}
		}
		return utf8.AppendRune(b, r)
	}
	s.fail("an unknown escape at byte %d", s.i-1)
	return b
}

func (s *scanner) hex() rune {
	if s.i+4 > len(s.s) {
		s.fail("a broken escape at byte %d", s.i)
		return 0
	}
	n, err := strconv.ParseUint(s.s[s.i:s.i+4], 16, 32)
	if err != nil {
		s.fail("a broken escape at byte %d", s.i)
	}
	s.i += 4
	return rune(n) //nolint:gosec // four digits
}

// number reads a number, as it is written.
func (s *scanner) number() string {
	s.space()
	start := s.i
	digits := func() bool {
		from := s.i
		for s.i < len(s.s) && s.s[s.i]-'0' < 10 {
			s.i++
		}
		return s.i > from
	}
	sign := func(chars string) bool {
		ok := s.i < len(s.s) && strings.IndexByte(chars, s.s[s.i]) >= 0
		if ok {
			s.i++
		}
		return ok
	}
	sign("-")
	first := s.i
	ok := digits() && (s.s[first] != '0' || s.i == first+1)
	if sign(".") {
		ok = digits() && ok
	}
	exponent := 0
	if sign("eE") {
		sign("+-")
		from := s.i
		ok = digits() && ok
		exponent, _ = strconv.Atoi(s.s[from:min(s.i, from+6)])
	}
	text := s.s[start:s.i]
	switch {
	case s.what != "":
		return "0"
	case !ok:
		s.fail("a value is missing or broken at byte %d", start)
		return "0"
	case len(text) > maxDigits, exponent > maxJSONExp:
		s.fail("a number that is too large or too long at byte %d", start)
		return "0"
	}
	return text
}

// skip passes over any value; keys that are there twice are faults.
func (s *scanner) skip() {
	switch c := s.peek(); c {
	case '{':
		s.object(func(string) { s.skip() })
	case '[':
		s.list(func(int) { s.skip() })
	case '"':
		s.text()
	case 'n', 't', 'f':
		if !s.word("null") && !s.word("true") && !s.word("false") {
			s.fail("an unknown word at byte %d", s.i)
		}
	default:
		s.number()
	}
}

// object reads an object: each reads the value of one key.
func (s *scanner) object(each func(key string)) {
	s.expect('{')
	if !s.enter() {
		return
	}
	var few [8]string
	var many map[string]bool
	for n := 0; s.more(n, '}'); n++ {
		key := s.text()
		s.expect(':')
		if s.what != "" {
			return
		}
		switch {
		case many != nil:
			if many[key] {
				s.fail("the key %q twice", short(key))
			}
			many[key] = true
		case n < len(few):
			for _, k := range few[:n] {
				if k == key {
					s.fail("the key %q twice", short(key))
				}
			}
			few[n] = key
			if n == len(few)-1 {
				many = make(map[string]bool, 2*len(few))
				for _, k := range few {
					many[k] = true
				}
			}
		}
		each(key)
	}
}

// list reads a list: each reads one entry.
func (s *scanner) list(each func(i int)) {
	s.expect('[')
	if !s.enter() {
		return
	}
	for n := 0; s.more(n, ']'); n++ {
		each(n)
	}
}

// checkJSON says what is wrong with a document, or "".
func checkJSON(text []byte) string {
	s := scanner{s: string(text)}
	s.skip()
	s.end()
	return s.what
}

// short is a text as it may stand in a message.
func short(s string) string {
	if len(s) > maxDocumented {
		s = strings.ToValidUTF8(s[:maxDocumented], "") + "…"
	}
	return s
}
