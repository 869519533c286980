//go:build wasip1

package gatewright

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Params are the binding's parameters: a JSON object of whole numbers, texts,
// true, false, and lists of texts. A policy that has some reads each of them into
// a variable of its own:
//
//	//go:wasmexport gw_configure
//	func configure(at, size uint32) int32 {
//		return gatewright.Configure(at, size, func(p *gatewright.Params) error {
//			most = p.Int("most", 5, 0, 100)
//			regions = p.Texts("regions")
//			return nil
//		})
//	}
//
// What is of another type, out of range or read by nobody is refused, and the log
// says which. A policy with other parameters may give JSON to encoding/json.
type Params struct {
	JSON string // as the binding has it; who parses it calls Done

	at    int // of the reader, in JSON
	list  []param
	wrong string // about the first that is wrong; "" = none
}

type param struct {
	name         string
	value        any // int64, bool or string
	listed, used bool
}

// Int is a whole number of a range; fallback when the binding does not name it.
func (p *Params) Int(name string, fallback, least, most int64) int64 {
	n, ok := single[int64](p, name, "is not a whole number")
	switch {
	case !ok:
		return fallback
	case n < least:
		p.blame(name, "is too small")
	case n > most:
		p.blame(name, "is too large")
	}
	return n
}

// Bool is true or false; fallback when the binding does not name it.
func (p *Params) Bool(name string, fallback bool) bool {
	if b, ok := single[bool](p, name, "is neither true nor false"); ok {
		return b
	}
	return fallback
}

// Text is a text; fallback when the binding does not name it.
func (p *Params) Text(name, fallback string) string {
	if s, ok := single[string](p, name, "is not a text"); ok {
		return s
	}
	return fallback
}

// Texts are a list of texts, or one text; nil when the binding does not name it.
func (p *Params) Texts(name string) []string {
	list, _ := take[string](p, name, "is not a list of texts")
	return list
}

// Done says that all parameters were read in another way.
func (p *Params) Done() { p.list, p.wrong = nil, "" }

func single[T any](p *Params, name, wanted string) (value T, ok bool) {
	list, listed := take[T](p, name, wanted)
	if listed {
		p.blame(name, wanted)
	}
	if len(list) == 0 {
		return value, false
	}
	return list[0], true
}

// take are all values of a name, which are marked as read.
func take[T any](p *Params, name, wanted string) (list []T, listed bool) {
	for i := range p.list {
		q := &p.list[i]
		if q.name != name {
			continue
		}
		q.used = true
		v, ok := q.value.(T)
		if !ok {
			p.blame(name, wanted)
		}
		list, listed = append(list, v), q.listed
	}
	return list, listed
}

func (p *Params) blame(name, what string) {
	if p.wrong == "" {
		p.wrong = name[:min(len(name), 100)] + " " + what
	}
}

// Configure is what gw_configure returns, when f reads the parameters.
func Configure(at, size uint32, f func(*Params) error) int32 {
	if at != uint32(uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))) || size > uint32(len(buffer)) {
		return BadInput
	}
	p := &Params{JSON: string(buffer[:size])}
	p.object()
	if p.wrong == "" {
		if err := f(p); err != nil && p.wrong == "" {
			Log(Error, err.Error())
			return code(err, BadInput)
		}
	}
	for _, q := range p.list {
		if !q.used {
			p.blame(q.name, "is not a parameter of this policy")
		}
	}
	if p.wrong == "" {
		return OK
	}
	Log(Error, p.wrong)
	return BadInput
}

// What follows reads the parameters. The gateway has checked that they are JSON.

func (p *Params) here() byte {
	if p.at < len(p.JSON) {
		return p.JSON[p.at]
	}
	return 0
}

// peek is what follows the blanks.
func (p *Params) peek() byte {
	for strings.IndexByte(" \t\r\n", p.here()) >= 0 {
		p.at++
	}
	return p.here()
}

func (p *Params) skip(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *Params) object() {
	if !p.skip('{') {
		p.wrong = "parameters must be an object"
		return
	}
	for p.peek() == '"' && p.wrong == "" {
		name := p.text()
		for _, q := range p.list {
			if q.name == name {
				p.blame(name, "stands twice")
			}
		}
		p.skip(':')
		switch {
		case p.peek() == 'n':
			p.at += len("null") // as if it were not there
		case p.skip('['):
			for !p.skip(']') && p.here() != 0 && p.wrong == "" {
				p.value(name, true)
				p.skip(',')
			}
		default:
			p.value(name, false)
		}
		p.skip(',')
	}
}

func (p *Params) value(name string, listed bool) {
	q := param{name: name, listed: listed}
	switch c := p.peek(); {
	case c == '"':
		q.value = p.text()
	case c == 't':
		p.at += len("true")
		q.value = true
	case c == 'f':
		p.at += len("false")
		q.value = false
	case c == '-' || '0' <= c && c <= '9':
		q.value = p.number(name)
	default:
		p.blame(name, "is neither a number, a text, true, false nor a list of them")
		return
	}
	p.list = append(p.list, q)
}

func (p *Params) number(name string) int64 {
	negative := p.skip('-')
	n := int64(0)
	for ; '0' <= p.here() && p.here() <= '9'; p.at++ {
		digit := int64(p.here() - '0')
		if n > (1<<63-1-digit)/10 {
			p.blame(name, "is too large")
			n = 0
		}
		n = n*10 + digit
	}
	if c := p.here(); c == '.' || c == 'e' || c == 'E' {
		p.blame(name, "is not a whole number")
	}
	if negative {
		return -n
	}
	return n
}

func (p *Params) text() string {
	p.at++
	var b []byte
	for p.here() != '"' && p.at < len(p.JSON) {
		c := p.here()
		p.at++
		if c != '\\' {
			b = append(b, c)
			continue
		}
		c = p.here()
		p.at++
		switch c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'u':
			b = utf8.AppendRune(b, p.escaped())
			continue
		}
		b = append(b, c)
	}
	p.at++
	return string(b)
}

// escaped is the character behind \u. A half of a pair that stands alone is U+FFFD.
func (p *Params) escaped() rune {
	r := p.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if back := p.at; strings.HasPrefix(p.JSON[min(p.at, len(p.JSON)):], `\u`) {
		p.at += 2
		if pair := utf16.DecodeRune(r, p.hex()); pair != utf8.RuneError {
			return pair
		}
		p.at = back
	}
	return utf8.RuneError
}

func (p *Params) hex() (r rune) {
	for range 4 {
		c := rune(p.here())
		p.at++
		if c > '9' {
			c += 9
		}
		r = r<<4 | c&15
	}
	return r
}
