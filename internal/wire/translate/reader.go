package translate

import (
	"strconv"
	"strings"

	"gatewright/internal/wire/scan"
)

// maxDepth bounds the nesting of what is read.
const maxDepth = 256

// reader reads one JSON text, knows where it is and keeps what is lost. Keys
// count by their exact spelling and a member that is null counts as absent.
//
// A strict reader, for requests, ends at the first value that is wrong with an
// error that says where. A lenient one, for answers, skips such values: a client
// is better served with the rest.
type reader struct {
	scan.Cursor
	lenient bool
	path    []byte // of the value that is due: "messages[3].content[0].text"
	losses  losses
	err     error // *InvalidError or *UnsupportedError
}

// newReader returns a strict reader, for a request.
func newReader(body []byte) *reader {
	return &reader{Cursor: scan.NewCursor(body, maxDepth)}
}

// newAnswerReader returns a lenient reader, for an answer.
func newAnswerReader(body []byte) *reader {
	return &reader{Cursor: scan.NewCursor(body, maxDepth), lenient: true}
}

// finish ends the walk and returns the first error.
func (r *reader) finish() error {
	if r.err != nil {
		return r.err
	}
	if err := r.Close(); err != nil {
		return &InvalidError{Message: "the body is not valid JSON: " + err.Error()}
	}
	return nil
}

// stop ends the walk with an error.
func (r *reader) stop(err error) {
	if r.err == nil && r.Err() == nil {
		r.err = err
	}
	r.Fail("stopped")
}

// invalid ends the walk of a strict reader: the value at hand is wrong.
func (r *reader) invalid(format string, args ...any) {
	if !r.lenient {
		r.stop(invalid(string(r.path), format, args...))
	}
}

// unsupported ends the walk of a strict reader: the value at hand cannot be
// translated.
func (r *reader) unsupported(format string, args ...any) {
	if !r.lenient {
		r.stop(unsupported(string(r.path), format, args...))
	}
}

// wrong handles a value that is due and of another kind than it should be.
func (r *reader) wrong(want string) {
	kind := r.Kind()
	if r.lenient || kind == scan.KindInvalid {
		r.Skip()
		return
	}
	r.invalid("must be %s, not %s", want, kind)
}

// drop skips the value that is due and notes that it is lost.
func (r *reader) drop(why string) {
	r.Skip()
	r.lose(why)
}

// unknown drops a member that the protocol's codec does not know.
func (r *reader) unknown() { r.drop("not known to the translation") }

// lose notes that the value at hand is lost.
func (r *reader) lose(why string) {
	if !r.lenient {
		r.losses.add(withoutIndexes(r.path), why)
	}
}

// withoutIndexes returns a path with the numbers between brackets left out.
func withoutIndexes(path []byte) string {
	var b strings.Builder
	inside := false
	for _, c := range path {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case inside:
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// object takes an object and calls member for each member that is not null, its
// value due and Key its name. What member does not take is skipped.
func (r *reader) object(member func()) {
	if !r.EnterObject() {
		r.wrong("an object")
		return
	}
	n := len(r.path)
	for r.Member() {
		if r.Null() {
			continue
		}
		if n > 0 {
			r.path = append(r.path, '.')
		}
		r.path = append(r.path, r.Key()...)
		member()
		r.path = r.path[:n]
	}
}

// array takes an array and calls element for each element with its index.
func (r *reader) array(element func(i int)) {
	if !r.EnterArray() {
		r.wrong("an array")
		return
	}
	n := len(r.path)
	for i := 0; r.Element(); i++ {
		r.path = append(r.path, '[')
		r.path = strconv.AppendInt(r.path, int64(i), 10)
		r.path = append(r.path, ']')
		element(i)
		r.path = r.path[:n]
	}
}

// text takes a string.
func (r *reader) text() string {
	raw, decoded, ok := r.Text()
	if !ok {
		r.wrong("a string")
		return ""
	}
	if r.lenient {
		return string(scan.AppendText(make([]byte, 0, decoded), raw))
	}
	s, err := scan.Text(raw, decoded)
	if err != nil {
		r.invalid("the %v", err)
	}
	return s
}

// flag takes true or false.
func (r *reader) flag() bool {
	value, ok := r.Bool()
	if !ok {
		r.wrong("true or false")
	}
	return value
}

// raw takes a value of any kind as it is.
func (r *reader) raw() []byte { return r.Raw() }

// float takes a number; nil if it is none.
func (r *reader) float() *float64 {
	if r.Kind() != scan.KindNumber {
		r.wrong("a number")
		return nil
	}
	f, err := strconv.ParseFloat(string(r.Raw()), 64)
	if err != nil {
		r.invalid("is out of range")
		return nil
	}
	return &f
}

// integer takes a whole number from least to most, in whatever form: 512, 512.0
// and 5.12e2 are the same.
func (r *reader) integer(least, most int64) int64 {
	if r.Kind() != scan.KindNumber {
		r.wrong("an integer")
		return 0
	}
	raw := r.Raw()
	n, whole := wholeNumber(raw)
	if whole && n >= least && n <= most {
		return n
	}
	if !r.lenient {
		r.invalid("must be an integer from %d to %d, not %.40s", least, most, raw)
	}
	return 0
}

func wholeNumber(raw []byte) (n int64, whole bool) {
	const longest, exact = 40, 1 << 53
	if len(raw) == 0 || len(raw) > longest {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || f > exact || f < -exact {
		return 0, false
	}
	return int64(f), true
}

// onlyText returns the texts of instructions, which can be nothing else.
func (r *reader) onlyText(parts []Part) []Part {
	out := parts[:0]
	for i := range parts {
		if parts[i].Kind == KindText {
			out = append(out, parts[i])
		} else {
			r.lose("instructions can only be text")
		}
	}
	return out
}

// tokens takes a count of tokens or a time; what is none is 0.
func (r *reader) tokens() int64 {
	const most = 1 << 40 // more is nonsense
	n, whole := int64(0), false
	if r.Kind() == scan.KindNumber {
		n, whole = wholeNumber(r.Raw())
	}
	if !whole || n < 0 || n > most {
		return 0
	}
	return n
}

// pieces decodes a text that comes in pieces: an escaped surrogate pair may be
// cut between two of them.
type pieces struct {
	held [6]byte // the first half of a pair, as it was escaped
	some bool
}

// text takes a string that is due and returns its text; without the half of a
// pair that it ends with, which the next one begins with.
func (p *pieces) text(r *reader) string {
	raw, decoded, ok := r.Text()
	if !ok {
		r.wrong("a string")
		return ""
	}
	if !p.some && decoded == len(raw) {
		return string(raw)
	}
	if p.some {
		raw = append(p.held[:len(p.held):len(p.held)], raw...)
		p.some = false
	}
	if n := len(raw) - len(p.held); n >= 0 && endsInHighHalf(raw) {
		copy(p.held[:], raw[n:])
		raw, p.some = raw[:n], true
	}
	return string(scan.AppendText(make([]byte, 0, decoded+len(p.held)), raw))
}

// rest returns what is left of a half that nothing followed.
func (p *pieces) rest() string {
	if !p.some {
		return ""
	}
	p.some = false
	return "\uFFFD"
}

// endsInHighHalf reports whether raw ends in an escape of the first half of a
// surrogate pair, \ud800 to \udbff.
func endsInHighHalf(raw []byte) bool {
	s := raw[len(raw)-6:]
	if s[0] != '\\' || s[1] != 'u' || s[2]|0x20 != 'd' || !strings.ContainsRune("89abAB", rune(s[3])) {
		return false
	}
	backslashes := 0
	for i := len(raw) - 6; i >= 0 && raw[i] == '\\'; i-- {
		backslashes++
	}
	return backslashes%2 == 1
}
