package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ref is the shape of a reference. Variables in it that are not bound get bound.
func (s *scope) ref(r ast.Ref) *shape {
	v, i := s.base(r)
	for ; i < len(r); i++ {
		v = s.project(v, r[i], r[:i+1])
	}
	return v
}

// base is what a reference begins with: a variable, the input, data or a rule,
// and how many parts of the reference name it.
func (s *scope) base(r ast.Ref) (v *shape, used int) {
	switch {
	case r[0].Equal(ast.InputRootDocument):
		return s.a.input, 1
	case r[0].Equal(ast.DefaultRootDocument):
		return s.document(r)
	}
	name, ok := r[0].Value.(ast.Var)
	if !ok {
		return s.term(r[0]), 1
	}
	if have := s.vars[name]; have != nil {
		return have, 1
	}
	s.vars[name] = shapeAny
	return shapeAny, 1
}

// document is a rule or a part of data.
func (s *scope) document(r ast.Ref) (v *shape, used int) {
	path := "data"
	for i := 1; i < len(r) && !s.a.packages[parent(path)]; i++ {
		name, ok := r[i].Value.(ast.String)
		if !ok {
			break
		}
		path += "." + string(name)
		if len(s.a.rules[path]) > 0 {
			s.uses(path, i+1 < len(r))
			return s.a.rule(path), i + 1
		}
	}
	if s.a.isPackage(path) {
		s.problem("name one rule of it", "%s stands for whole packages", path)
		return shapeLater, len(r)
	}
	if pkg := parent(path); s.a.packages[pkg] {
		name := path[len(pkg)+1:]
		s.problem(didYouMean(name, s.a.namesIn(pkg)), "there is no rule %s in package %s", name, strings.TrimPrefix(pkg, "data."))
		return shapeLater, len(r)
	}
	return s.a.data, 1
}

// parent is a path without its last part.
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// namesIn are the rules of a package.
func (a *analysis) namesIn(pkg string) (names []string) {
	for _, p := range a.paths {
		if name, ok := strings.CutPrefix(p, pkg+"."); ok && !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

// isPackage reports whether rules stand below a path.
func (a *analysis) isPackage(path string) bool {
	return slices.ContainsFunc(a.paths, func(p string) bool { return strings.HasPrefix(p, path+".") })
}

// uses notes that this rule uses another. How is clear only where the rule
// stands as a test, or is iterated.
func (s *scope) uses(path string, iterated bool) {
	sign := s.sign
	switch {
	case s.a.choosing(path), !s.bare && (s.negated || !iterated):
		sign = unclear
	case s.negated:
		sign *= reverse
	}
	s.a.edges[s.path] = append(s.a.edges[s.path], edge{path, sign})
}

// project is what stands in a value under a key, which may be a variable that
// gets bound. ref is the reference up to the key.
func (s *scope) project(v *shape, key *ast.Term, ref ast.Ref) *shape {
	if free, ok := s.unbound(key); ok {
		k, value := s.elements(v, readable(v, ref[:len(ref)-1]))
		s.loose = s.loose || v.may(set|objects) && !v.later || v.loose
		s.bind(free, k)
		return value.within(v, oneOfAll)
	}
	if v.later {
		s.keyShape(key)
		if name, ok := key.Value.(ast.String); ok && v.name != "" {
			out := &shape{kinds: anything, later: true, name: v.name + "." + string(name), size: 1}
			s.a.read(out.name)
			return out.missing(v.absent...)
		}
		return shapeLater.missing(s.why(v, "[…]", ref)).missing(v.absent...)
	}
	var out *shape
	switch k := key.Value.(type) {
	case ast.String:
		out = s.field(v, string(k), ref)
	case ast.Number:
		if i, ok := k.Int(); ok && i >= 0 && i < len(v.places) && v.only(array) {
			out = v.places[i]
			break
		}
		out = s.dynamic(v, constant(k), ref)
	default:
		out = s.dynamic(v, s.keyShape(key), ref)
	}
	step := oneOfAll
	if name, ok := key.Value.(ast.String); ok {
		step = "." + string(name)
	}
	out = out.within(v, step)
	if out.name != "" && !out.part {
		s.a.read(out.name)
	}
	return out.missing(v.absent...)
}

// within is the shape under its path in data, as the policy goes there: what it
// was made of may have had another.
func (s *shape) within(v *shape, step string) *shape {
	if !strings.HasPrefix(v.name, "data") || s.kinds == 0 {
		return s
	}
	c := *s
	c.name = v.name + step
	return &c
}

func (s *scope) keyShape(key *ast.Term) *shape {
	k := s.term(key)
	s.use(k)
	if _, isVar := key.Value.(ast.Var); isVar && s.negated {
		s.hazard(k, behindNot)
	}
	return k
}

// field is what stands under a name.
func (s *scope) field(v *shape, name string, ref ast.Ref) *shape {
	f := v.fields[name]
	switch {
	case f != nil:
		f = f.known(ref.String())
		if v.only(objects) {
			return f
		}
		return f.missing(s.why(v, "."+name, ref))
	case v.name == "input.facets" && isFacet(name):
		item := leaf(text, "input.facets."+name)
		return &shape{kinds: array, name: item.name, item: item, size: 1}
	case v.rest != nil && v.rest.later:
		return &shape{kinds: anything, later: true, name: v.name + "." + name, size: 1}
	case v.rest != nil:
		f = v.rest
		if f.name != "" && f.kinds == text { // a map of texts in the input
			f = leaf(text, f.name+"."+name)
		}
		return f.missing(s.why(v, `["`+name+`"]`, ref))
	case v.kinds == 0:
		return v
	case v.kinds == anything:
		return shapeAny.missing(s.why(v, "."+name, ref))
	case !v.may(objects | set):
		s.problem("", "%s is %s and has no field %q", readable(v, ref[:len(ref)-1]), v.kinds, name)
		return shapeLater
	case v.may(set):
		return s.dynamic(v, constant(ast.String(name)), ref)
	}
	return s.unknown(v, name, ref)
}

// unknown is a field that does not exist.
func (s *scope) unknown(v *shape, name string, ref ast.Ref) *shape {
	names := slices.Sorted(maps.Keys(v.fields))
	hint := didYouMean(name, names)
	if len(names) == 0 {
		hint = "it is empty"
	}
	what := readable(v, ref[:len(ref)-1])
	if strings.HasPrefix(v.name, "data") {
		return (&shape{size: 1}).missing(&cause{key: ref.String(), what: what + "." + name, never: true, fix: hint})
	}
	s.problem(hint, "%s has no field %q", what, name)
	return shapeLater // so that nothing is said of what follows
}

// dynamic is what stands under a key that is only known when the policy runs.
func (s *scope) dynamic(v, key *shape, ref ast.Ref) *shape {
	switch {
	case v.part && v.may(array):
		s.a.read(v.name + oneOfAll)
	case v.part:
		s.use(v)
	}
	if v.kinds == 0 {
		return v
	}
	if !v.may(array | objects | set) {
		s.problem("", "%s is %s and has no parts", readable(v, ref[:len(ref)-1]), v.kinds)
		return shapeLater
	}
	if v.loose {
		s.problem(fixLoose, "the place of an entry says nothing: the list was made of a set or an object, in no order")
	}
	keys, value := v.every()
	if !keys.may(key.kinds) && keys.kinds != 0 && !key.later {
		fix := ""
		if key.only(number) && keys.only(text) {
			fix = `make the key a text: sprintf("%d", [key])`
		}
		s.problem(fix, "nothing is ever found: the key is %s, the keys of %s are %s", key.kinds, readable(v, ref[:len(ref)-1]), keys.kinds)
	}
	return value.missing(s.why(v, "[…]", ref))
}

// oneOfAll ends the path of an entry of a list. Alone it says that the list is
// read, and no field of its entries.
const oneOfAll = "[_]"

// elements are the keys and the values of what is iterated.
func (s *scope) elements(v *shape, what string) (key, value *shape) {
	for _, c := range v.absent {
		if c.never && !s.negated {
			s.note(c, neverThere)
		}
	}
	if v.kinds == 0 {
		return shapeNone, shapeNone
	}
	if !v.may(array | objects | set) {
		s.problem("", "%s is %s and has no parts", what, v.kinds)
		return shapeLater, shapeLater
	}
	if v.part {
		name := v.name
		if v.may(array) {
			name += oneOfAll
		}
		s.a.read(name)
	}
	return v.every()
}

// why is the cause of a value that is not under a key.
func (s *scope) why(v *shape, key string, ref ast.Ref) *cause {
	what := readable(v, ref[:len(ref)-1])
	fix := "take it with object.get and a default, or test it first in a rule of its own"
	if name, ok := strings.CutPrefix(key, `["`); ok {
		fix = fmt.Sprintf(`say what counts without it: object.get(%s, "%s, "")`, what, strings.TrimSuffix(name, "]"))
	}
	return &cause{key: ref.String(), what: what + key, fix: fix}
}

// readable is what people call a value: its path in the input or in data, or the
// reference itself.
func readable(v *shape, ref ast.Ref) string {
	if v.name != "" {
		if rest, ok := strings.CutPrefix(v.name, "input.candidates[_]"); ok {
			return "c" + rest // as the contract's examples have it
		}
		return v.name
	}
	s := ref.String()
	if strings.HasPrefix(s, "__local") {
		return "the value"
	}
	return shortPath(s)
}

// read notes that a path of the input or of data is read.
func (a *analysis) read(name string) {
	if !a.idle {
		a.reads[name] = true
	}
}

// use notes that all of a value is used.
func (s *scope) use(v *shape) {
	switch {
	case v.part && v.name == "input":
		s.problem("name the fields that are needed: input.request.team", "all of input is used")
	case v.part:
		s.a.read(v.name)
	case v.name == "" && v.kinds != 0:
		for _, p := range []*shape{v.item, v.rest, v.key} {
			if p != nil {
				s.use(p)
			}
		}
		for _, f := range v.fields {
			s.use(f)
		}
	}
}
