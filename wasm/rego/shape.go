package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// kinds is a set of the types of values.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	number
	text
	array
	objects
	set
	anything = null | boolean | number | text | array | objects | set
	scalar   = null | boolean | number | text
)

func (k kinds) String() string {
	if k == anything {
		return "any value"
	}
	names := []string{"null", "true or false", "a number", "a text", "a list", "an object", "a set"}
	var have []string
	for i, n := range names {
		if k>>i&1 != 0 {
			have = append(have, n)
		}
	}
	return strings.Join(have, " or ")
}

// cause is why a value may be missing.
type cause struct {
	key   string // tells causes of one body apart: the reference as the compiler has it
	what  string // the reference as people know it
	fix   string // how to write it so that it is there
	never bool   // it is not there at all: a parameter that nobody set
}

// shape is what is known of a value before it exists. Shapes are never changed
// once they are made, so they share their parts.
type shape struct {
	kinds  kinds
	item   *shape            // of lists and sets; nil = nothing is known
	places []*shape          // of lists whose length is known
	fields map[string]*shape // of objects, under keys that are known
	rest   *shape            // of objects, under other keys; nil = there are none
	key    *shape            // the other keys
	value  ast.Value         // the value itself, where it is a constant
	loose  bool              // a list whose order is not the same in both forms of a policy
	later  bool              // made of data that is not known yet
	name   string            // what it is a part of: a path of the input or of data; "" = made by a rule
	part   bool              // a container of the input: nothing of it is read until something of it is used
	absent []*cause          // why it may be missing
	size   int               // shapes within it, each as often as it can be reached
}

// maxShape is the largest size of a shape: what OPA's type checker does with a
// type grows with it.
const maxShape = 2000

var (
	shapeAny    = &shape{kinds: anything, size: 1}
	shapeLater  = &shape{kinds: anything, later: true, size: 1}
	shapeNumber = &shape{kinds: number, size: 1}
	shapeText   = &shape{kinds: text, size: 1}
	shapeNone   = &shape{size: 1} // of entries that are not there
	shapeBool   = &shape{kinds: boolean, size: 1}
)

// sized fills in the size.
func (s *shape) sized() *shape {
	n := 1
	parts := []*shape{s.item, s.rest, s.key}
	if s.places != nil {
		parts = append(slices.Clone(s.places), s.rest, s.key)
	}
	for _, p := range parts {
		if p != nil {
			n += p.size
		}
	}
	for _, f := range s.fields {
		n += f.size
	}
	s.size = min(n, 1<<20)
	if s.name != "" {
		s.size = 1 // input and data: types that are there anyway
	}
	return s
}

func listOf(item *shape) *shape { return (&shape{kinds: array, item: item}).sized() }

// only reports whether a value is surely of some kinds.
func (s *shape) only(k kinds) bool { return s.kinds&^k == 0 }

// may reports whether a value can be of some kinds.
func (s *shape) may(k kinds) bool { return s.kinds&k != 0 }

// present is the shape of a value that is there.
func (s *shape) present() *shape {
	if s.absent == nil {
		return s
	}
	c := *s
	c.absent = nil
	return &c
}

// missing is the shape of a value that may be missing.
func (s *shape) missing(why ...*cause) *shape {
	if len(why) == 0 {
		return s
	}
	c := *s
	c.absent = causes(c.absent, why)
	return &c
}

// maxCauses is how many causes of one value are told apart.
const maxCauses = 16

// tooMany stands for the causes that were left out. No test names it.
var tooMany = &cause{key: "", what: "one of many values", fix: "test them one by one in rules of their own"}

// causes are those of both, each once.
func causes(a, b []*cause) []*cause {
	all := slices.Clip(a)
	for _, c := range b {
		if slices.ContainsFunc(all, func(o *cause) bool { return o.key == c.key && o.what == c.what }) {
			continue
		}
		if len(all) >= maxCauses {
			return append(all[:maxCauses:maxCauses], tooMany)
		}
		all = append(all, c)
	}
	return all
}

// known is the shape with the causes of its absence under the key of the
// reference at hand.
func (s *shape) known(key string) *shape {
	if len(s.absent) == 0 {
		return s
	}
	c := *s
	c.absent = make([]*cause, len(s.absent))
	for i, a := range s.absent {
		b := *a
		b.key = key
		c.absent[i] = &b
	}
	return &c
}

// join is what is known of a value that is of one shape or of the other.
func join(a, b *shape) *shape {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	case a.kinds == 0:
		return b.missing(a.absent...)
	case b.kinds == 0:
		return a.missing(b.absent...)
	}
	s := &shape{kinds: a.kinds | b.kinds, later: a.later || b.later, loose: a.loose || b.loose, part: a.part || b.part}
	if a.name == b.name {
		s.name = a.name
	}
	if a.value != nil && b.value != nil && a.value.Compare(b.value) == 0 {
		s.value = a.value
	}
	s.absent = causes(a.absent, b.absent)
	switch listA, listB := a.may(array|set), b.may(array|set); {
	case listA && listB && a.item != nil && b.item != nil:
		s.item = join(a.item, b.item)
	case listA && !listB:
		s.item = a.item
	case listB && !listA:
		s.item = b.item
	}
	if len(a.places) == len(b.places) && a.only(array) && b.only(array) {
		for i, p := range a.places {
			s.places = append(s.places, join(p, b.places[i]))
		}
	}
	joinObjects(s, a, b)
	return s.sized()
}

// joinObjects joins what is known of the keys of two objects. A key that only
// one of them has may be missing, which projecting it says.
func joinObjects(s, a, b *shape) {
	switch {
	case !a.may(objects):
		s.fields, s.rest, s.key = b.fields, b.rest, b.key
		return
	case !b.may(objects):
		s.fields, s.rest, s.key = a.fields, a.rest, a.key
		return
	}
	if len(a.fields)+len(b.fields) > 0 {
		s.fields = maps.Clone(a.fields)
		if s.fields == nil {
			s.fields = map[string]*shape{}
		}
		for k, f := range b.fields {
			s.fields[k] = join(s.fields[k], f)
		}
		for k, f := range s.fields {
			if a.fields[k] == nil || b.fields[k] == nil {
				s.fields[k] = f.missing(&cause{key: k, what: k, fix: `take it with object.get(…, "` + k + `", default)`})
			}
		}
	}
	s.rest, s.key = join(a.rest, b.rest), join(a.key, b.key)
}

// every is what is known of any value in a container, and of its keys.
func (s *shape) every() (key, value *shape) {
	if s.later {
		return shapeLater, shapeLater
	}
	if s.kinds == anything && s.item == nil && s.rest == nil && s.fields == nil {
		return shapeAny, shapeAny
	}
	if s.may(array) {
		key, value = join(key, shapeNumber), join(value, s.items())
	}
	if s.may(set) {
		key, value = join(key, s.items()), join(value, s.items())
	}
	if s.may(objects) {
		if len(s.fields) > 0 {
			key = join(key, shapeText)
			for _, k := range slices.Sorted(maps.Keys(s.fields)) {
				value = join(value, s.fields[k].present())
			}
		}
		if s.rest != nil {
			key, value = join(key, s.keys()), join(value, s.rest)
		}
	}
	if value == nil {
		return shapeNone, shapeNone // it is empty
	}
	return key, value
}

func (s *shape) items() *shape {
	if s.item == nil {
		return shapeAny
	}
	return s.item
}

func (s *shape) keys() *shape {
	if s.key == nil {
		return shapeAny
	}
	return s.key
}

// constant is the shape of a scalar that is written out.
func constant(v ast.Value) *shape {
	s := &shape{value: v, size: 1}
	switch v.(type) {
	case ast.Null:
		s.kinds = null
	case ast.Boolean:
		s.kinds = boolean
	case ast.Number:
		s.kinds = number
	default:
		s.kinds = text
	}
	return s
}

// inputShape is the input of a policy of one kind.
func inputShape(kind Kind) *shape {
	top := &shape{kinds: objects, name: "input", part: true, fields: map[string]*shape{
		"v":       leaf(number, "input.v"),
		"request": fieldsShape(requestFields, "input.request", kind),
		"caller":  fieldsShape(callerFields, "input.caller", kind),
		"facets":  facetShape(),
	}}
	const candidates = "input.candidates"
	item := fieldsShape(candidateFields, candidates+"[_]", kind)
	top.fields["candidates"] = &shape{kinds: array, name: candidates, part: true, item: item, size: 1}
	top.size = 1
	return top
}

func leaf(k kinds, name string) *shape { return &shape{kinds: k, name: name, size: 1} }

func fieldsShape(fields []field, name string, kind Kind) *shape {
	s := &shape{kinds: objects, name: name, part: true, fields: map[string]*shape{}, size: 1}
	for _, f := range fields {
		at := name + "." + f.name
		var v *shape
		switch f.sort {
		case sortText, sortCircuit:
			v = leaf(text, at)
		case sortInteger:
			v = leaf(number, at)
		case sortBool:
			v = leaf(boolean, at)
		case sortTextMap:
			v = &shape{kinds: objects, name: at, part: true, rest: leaf(text, at), key: shapeText, size: 1}
		case sortSkipped:
			v = &shape{kinds: null | objects, name: at, part: true, size: 1, fields: map[string]*shape{
				"reason": leaf(text, at+".reason"), "until_unix_ms": leaf(number, at+".until_unix_ms"),
			}}
		}
		if f.absent && (kind == Admission || !f.median) {
			v = v.missing(&cause{key: at, what: readable(&shape{name: at}, nil), fix: optionalFix(f)})
		}
		s.fields[f.name] = v
	}
	return s
}

func optionalFix(f field) string {
	owner := "c"
	if f.name == "text" {
		owner = "input.request"
	}
	missing := "0"
	if f.sort == sortText {
		missing = `""`
	}
	return `say what counts while nobody knows it: object.get(` + owner + `, "` + f.name + `", ` + missing + `)`
}

func facetShape() *shape {
	const name = "input.facets"
	s := &shape{kinds: objects, name: name, part: true, fields: map[string]*shape{}, size: 1}
	for _, f := range facetNames {
		at := name + "." + f
		item := leaf(text, at)
		if f == tierFacet {
			item = leaf(number, at)
		}
		s.fields[f] = &shape{kinds: array, name: at, item: item, size: 1}
	}
	return s
}

// dataShape is a document that is known, at a path of data.
func dataShape(v any, name string) *shape {
	s := &shape{name: name, size: 1}
	switch v := v.(type) {
	case nil:
		s.kinds = null
	case bool:
		s.kinds = boolean
	case string:
		s.kinds, s.value = text, ast.String(v)
	case []any:
		s.kinds = array
		for _, e := range v {
			s.item = join(s.item, dataShape(e, name+"[_]"))
		}
		if s.item == nil {
			s.item = &shape{name: name + "[_]", size: 1}
		}
	case map[string]any:
		s.kinds = objects
		s.fields = make(map[string]*shape, len(v))
		for k, e := range v {
			s.fields[k] = dataShape(e, name+"."+k)
		}
	default:
		s.kinds = number
	}
	return s
}
