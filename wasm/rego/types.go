package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/types"
)

// fitness is whether a value is of a type.
type fitness uint8

const (
	fits fitness = iota
	unsure
	never
)

// fit is whether a value of a shape is of a declared type.
func fit(v *shape, t types.Type) fitness {
	if v.later || v.kinds == 0 {
		return fits
	}
	mask := kindsOf(t)
	switch {
	case !v.may(mask):
		return never
	case !v.only(mask):
		return unsure
	}
	switch t := t.(type) {
	case *types.NamedType:
		return fit(v, t.Type)
	case types.Any:
		return fitAny(v, t)
	case *types.Array:
		if t.Len() > 0 && t.Dynamic() == nil {
			return fitPlaces(v, t)
		}
		return fitItem(v, t.Dynamic())
	case *types.Set:
		return fitItem(v, t.Of())
	case *types.Object:
		return fitObject(v, t)
	}
	return fits
}

// fitAny is whether a value is of one of several types.
func fitAny(v *shape, t types.Any) fitness {
	if len(t) == 0 {
		return fits
	}
	best := never
	for _, one := range t {
		if f := fit(v, one); f < best {
			best = f
		}
	}
	if best == fits {
		return fits
	}
	// A value of several kinds may need several of the types.
	part := *v
	for k := null; k <= set; k <<= 1 {
		if part.kinds = v.kinds & k; part.kinds == 0 || part.kinds == v.kinds {
			continue
		}
		if fitAny(&part, t) != fits {
			return best
		}
	}
	if v.kinds&(v.kinds-1) == 0 {
		return best
	}
	return fits
}

// fitPlaces is whether a list is one of a fixed length.
func fitPlaces(v *shape, t *types.Array) fitness {
	if v.places == nil {
		return unsure
	}
	if len(v.places) != t.Len() {
		return never
	}
	worst := fits
	for i, p := range v.places {
		worst = max(worst, fit(p, t.Select(i)))
	}
	return worst
}

func fitItem(v *shape, t types.Type) fitness {
	if t == nil || kindsOf(t) == anything {
		return fits
	}
	if v.item == nil {
		return unsure
	}
	if v.item.kinds == 0 {
		return fits
	}
	return fit(v.item, t)
}

func fitObject(v *shape, t *types.Object) fitness {
	want := t.DynamicValue()
	if want == nil || kindsOf(want) == anything {
		return fits
	}
	worst := fits
	for _, f := range v.fields {
		worst = max(worst, fit(f, want))
	}
	if v.rest != nil {
		worst = max(worst, fit(v.rest, want))
	} else if v.fields == nil && v.kinds == anything {
		worst = max(worst, unsure)
	}
	return worst
}

// kindsOf are the kinds of a declared type.
func kindsOf(t types.Type) kinds {
	switch t := t.(type) {
	case *types.NamedType:
		return kindsOf(t.Type)
	case types.Null:
		return null
	case types.Boolean:
		return boolean
	case types.Number:
		return number
	case types.String:
		return text
	case *types.Array:
		return array
	case *types.Object:
		return objects
	case *types.Set:
		return set
	case types.Any:
		if len(t) == 0 {
			return anything
		}
		var k kinds
		for _, one := range t {
			k |= kindsOf(one)
		}
		return k
	}
	return anything
}

// typeName names a declared type.
func typeName(t types.Type) string {
	switch t := t.(type) {
	case *types.NamedType:
		return typeName(t.Type)
	case *types.Array:
		if d := t.Dynamic(); d != nil && kindsOf(d) != anything {
			return "a list of which each entry is " + typeName(d)
		}
	case *types.Set:
		if d := t.Of(); d != nil && kindsOf(d) != anything {
			return "a set of which each entry is " + typeName(d)
		}
	case types.Any:
		if names := make([]string, len(t)); len(t) > 0 {
			for i, one := range t {
				names[i] = typeName(one)
			}
			return strings.Join(names, " or ")
		}
	}
	return kindsOf(t).String()
}

// shapeOf is the shape of a declared type.
func shapeOf(t types.Type) *shape {
	switch t := t.(type) {
	case *types.NamedType:
		return shapeOf(t.Type)
	case *types.Array:
		var item *shape
		if d := t.Dynamic(); d != nil {
			item = shapeOf(d)
		}
		var places []*shape
		for i := range t.Len() {
			places = append(places, shapeOf(t.Select(i)))
			item = join(item, places[i])
		}
		if t.Dynamic() != nil {
			places = nil // there may be more
		}
		return (&shape{kinds: array, item: item, places: places}).sized()
	case *types.Set:
		return (&shape{kinds: set, item: shapeOf(t.Of())}).sized()
	case *types.Object:
		s := &shape{kinds: objects, fields: map[string]*shape{}}
		for _, p := range t.StaticProperties() {
			if name, ok := p.Key.(string); ok {
				s.fields[name] = shapeOf(p.Value)
			}
		}
		if d := t.DynamicProperties(); d != nil {
			s.key, s.rest = shapeOf(d.Key), shapeOf(d.Value)
		}
		return s.sized()
	case types.Any:
		if len(t) == 0 {
			return shapeAny
		}
		var s *shape
		for _, one := range t {
			s = join(s, shapeOf(one))
		}
		return s
	}
	return scalarShape(kindsOf(t))
}

// scalarShape is the shape of all values of some kinds, of which nothing else is
// known.
func scalarShape(k kinds) *shape {
	for _, s := range []*shape{shapeNumber, shapeText, shapeBool} {
		if s.kinds == k {
			return s
		}
	}
	return &shape{kinds: k, size: 1}
}

// result is the shape of what a built-in gives, finer than its declaration
// where it passes values on.
func (s *scope) result(name string, args []*shape) *shape {
	for _, a := range args {
		if a.later && kindsOf(declaration(name).Result()) == anything {
			return shapeLater
		}
	}
	switch name {
	case "max", "min":
		_, v := args[0].every()
		return v.missing(&cause{key: name, what: name + " of an empty list", fix: "test that there is an entry: count(list) > 0"})
	case "sort":
		return listOf(args[0].item)
	case "array.slice", "array.reverse":
		l := listOf(args[0].item)
		l.loose = args[0].loose
		return l
	case "array.concat":
		l := listOf(join(args[0].items(), args[1].items()))
		l.loose = args[0].loose || args[1].loose
		return l
	case "or", "and":
		return (&shape{kinds: set, item: join(args[0].items(), args[1].items())}).sized()
	case "minus":
		if args[0].later || args[1].later {
			return shapeLater
		}
		return args[0].present()
	case "union", "intersection":
		if args[0].item == nil {
			return &shape{kinds: set, size: 1}
		}
		return (&shape{kinds: set, item: args[0].item.item}).sized()
	case "object.union":
		return join(args[0].present(), args[1].present())
	case "object.filter", "object.remove":
		_, v := args[0].every()
		return (&shape{kinds: objects, rest: v, key: args[0].keys()}).sized()
	}
	return shapeOf(declaration(name).Result())
}
