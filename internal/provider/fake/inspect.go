package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// manner is how a maker's service tells what is wrong with a request: where, and
// in which words.
type manner struct {
	// key and index name a member and an element of what stands at path.
	key   func(path, key string) string
	index func(path string, i int) string
	// wrong makes an error of a problem at path, which may be empty.
	wrong func(path, problem string) *apiError
	// unknown, absent, mistyped and unlisted are problems: a member that nobody
	// knows, one that is missing, one of another type (text, whole number, number,
	// truth, list, object), one that is none of the values that there are.
	unknown  func(path, key string) *apiError
	absent   func(path string) *apiError
	mistyped func(path, want string, got any) *apiError
	unlisted func(path string, want []string, got string) *apiError
	// snake takes members under a name in snake_case, too.
	snake bool
}

// The types that a member can have.
const (
	typeText   = "text"
	typeWhole  = "whole number"
	typeNumber = "number"
	typeTruth  = "truth"
	typeList   = "list"
	typeObject = "object"
)

// inspection judges the JSON of a request as a strict service does. The first
// problem stays; what comes behind it is not judged.
type inspection struct {
	manner *manner
	wrong  *apiError
}

// place is a value and where it stands. The value nil is null, or absent.
type place struct {
	in   *inspection
	path string
	v    any
}

// parse reads a body, which must be one JSON object.
func (in *inspection) parse(body []byte) (place, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return place{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return place{}, errors.New("there is something behind the end of the JSON")
	}
	if _, ok := v.(map[string]any); !ok {
		return place{}, errors.New("the JSON is no object")
	}
	return place{in: in, v: v}, nil
}

// fail notes a problem, unless there is one.
func (in *inspection) fail(e *apiError) {
	if in.wrong == nil {
		in.wrong = e
	}
}

// refuse notes a problem with the place.
func (p place) refuse(format string, args ...any) {
	p.in.fail(p.in.manner.wrong(p.path, fmt.Sprintf(format, args...)))
}

// set reports whether there is a value.
func (p place) set() bool { return p.v != nil }

// at is the member of an object.
func (p place) at(key string) place {
	object, _ := p.v.(map[string]any)
	v, ok := object[key]
	if !ok && p.in.manner.snake {
		v = object[snakeCase(key)]
	}
	return place{p.in, p.in.manner.key(p.path, key), v}
}

// required is the same for a member that must be there.
func (p place) required(key string) place {
	m := p.at(key)
	if !m.set() {
		p.in.fail(p.in.manner.absent(m.path))
	}
	return m
}

// only checks that the place holds an object with no other members than known.
func (p place) only(known map[string]bool) {
	object, ok := p.v.(map[string]any)
	if !ok {
		p.mistyped(typeObject)
		return
	}
	var strange []string
	for key := range object {
		if !known[key] && (!p.in.manner.snake || !known[camelCase(key)]) {
			strange = append(strange, key)
		}
	}
	if len(strange) > 0 {
		p.in.fail(p.in.manner.unknown(p.path, slices.Min(strange)))
	}
}

func (p place) mistyped(want string) {
	if p.set() {
		p.in.fail(p.in.manner.mistyped(p.path, want, p.v))
	}
}

// list is the elements of a list.
func (p place) list() []place {
	list, ok := p.v.([]any)
	if !ok {
		p.mistyped(typeList)
		return nil
	}
	out := make([]place, len(list))
	for i, v := range list {
		out[i] = place{p.in, p.in.manner.index(p.path, i), v}
	}
	return out
}

// isText and isObject tell the type without judging it.
func (p place) isText() bool { _, ok := p.v.(string); return ok }

func (p place) isObject() bool { _, ok := p.v.(map[string]any); return ok }

// text is the value of a text.
func (p place) text() string {
	s, ok := p.v.(string)
	if !ok {
		p.mistyped(typeText)
	}
	return s
}

// texts is a list of texts.
func (p place) texts() []string {
	list := p.list()
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = one.text()
	}
	return out
}

// flag is the value of a truth.
func (p place) flag() bool {
	b, ok := p.v.(bool)
	if !ok {
		p.mistyped(typeTruth)
	}
	return b
}

// whole is the value of a whole number.
func (p place) whole() int {
	n, ok := p.v.(json.Number)
	i, err := strconv.Atoi(n.String())
	if p.set() && (!ok || err != nil) {
		p.mistyped(typeWhole)
	}
	return i
}

// number is the value of a number.
func (p place) number() float64 {
	n, ok := p.v.(json.Number)
	f, err := n.Float64()
	if p.set() && (!ok || err != nil) {
		p.mistyped(typeNumber)
	}
	return f
}

// choice is the value of a text that must be one of those listed.
func (p place) choice(values ...string) string {
	s := p.text()
	if p.set() && !slices.Contains(values, s) {
		p.in.fail(p.in.manner.unlisted(p.path, values, s))
	}
	return s
}

// raw is the JSON of the value; nil when there is none.
func (p place) raw() json.RawMessage {
	if !p.set() {
		return nil
	}
	text, err := json.Marshal(p.v)
	if err != nil { // cannot be: it was read from JSON
		return nil
	}
	return text
}

// names makes a set of the words of a text.
func names(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// snakeCase writes fooBar as foo_bar.
func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// camelCase writes foo_bar as fooBar.
func camelCase(name string) string {
	var b strings.Builder
	up := false
	for _, r := range name {
		switch {
		case r == '_':
			up = true
			continue
		case up && r >= 'a' && r <= 'z':
			r -= 'a' - 'A'
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}
