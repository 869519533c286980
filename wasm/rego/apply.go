package rego

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// call is an expression that applies a function: with one term more than the
// function has arguments it binds the result, else it is a test.
func (s *scope) call(terms []*ast.Term) {
	ref, ok := terms[0].Value.(ast.Ref)
	if !ok {
		s.problem("", "a call of something that is no function")
		return
	}
	name := ref.String()
	if name == "eq" && len(terms) == 3 {
		s.eq(terms[1], terms[2])
		return
	}
	function := s.a.rules[name]
	arity, known := s.a.arity(name)
	if !known {
		s.problem("", "there is no function %s", name)
		return
	}
	if len(terms)-1 < arity || len(terms)-1 > arity+1 {
		s.problem("", "%s takes %d arguments, it is given %d", shortPath(name), arity, len(terms)-1)
		return
	}
	args := make([]*shape, arity)
	for i, t := range terms[1 : 1+arity] {
		args[i] = s.term(t)
		if s.negated {
			s.hazard(args[i], behindNot)
		}
	}
	var result *shape
	if len(function) > 0 {
		result = s.function(name, args)
	} else {
		result = s.builtin(name, terms[1:1+arity], args)
	}
	for _, a := range args {
		result = result.missing(a.absent...)
	}
	if len(terms)-1 == arity {
		s.fails = true
		for _, a := range args {
			s.usedByTest(a)
		}
		return
	}
	s.give(terms[arity+1], result)
}

// give binds the result of a call, or compares with it.
func (s *scope) give(out *ast.Term, result *shape) {
	if v, ok := s.unbound(out); ok {
		s.bind(v, result)
		return
	}
	s.fails = true
	s.usedByTest(result)
	if s.pattern(out) {
		s.match(out, result)
		return
	}
	v := s.term(out)
	s.use(v)
	s.use(result)
	s.comparable(result, v, "==")
}

// arity is how many arguments a function of the policy takes, or a built-in,
// also one that was moved to the host.
func (a *analysis) arity(name string) (n int, known bool) {
	if function := a.rules[name]; len(function) > 0 {
		return len(function[0].Head.Args), true
	}
	name = strings.TrimPrefix(name, strictPrefix)
	if builtins[name] == 0 {
		return 0, false
	}
	return len(declaration(name).FuncArgs().Args), true
}

// function is the shape of what a function of the policy gives.
func (s *scope) function(path string, args []*shape) *shape {
	a := s.a
	sign := s.sign
	switch {
	case a.choosing(path):
		sign = unclear
	case s.negated:
		sign *= reverse
	}
	a.edges[s.path] = append(a.edges[s.path], edge{path, sign})
	var b strings.Builder
	b.WriteString(path)
	for _, arg := range args {
		b.WriteString("," + a.number(arg))
	}
	key := b.String()
	if v := a.calls[key]; v != nil {
		return v
	}
	if a.busy[path] {
		return shapeAny
	}
	a.busy[path] = true
	defer delete(a.busy, path)
	var v *shape
	total := false
	for _, rule := range a.rules[path] {
		value, _, all := a.define(path, rule, args)
		v = join(v, value)
		total = total || all
	}
	first := a.rules[path][0]
	if total {
		v = v.present()
	} else if len(v.absent) == 0 {
		name := ruleName(first)
		v = v.missing(&cause{key: path, what: name + "(…)", fix: fmt.Sprintf("give the function a value for all cases: default %s(_) := …", name)})
	}
	v = a.bounded(v, first, path)
	a.calls[key] = v
	return v
}

// number tells shapes apart: the same shape has the same number. What may be
// missing matters to the caller only.
func (a *analysis) number(v *shape) string {
	if v.only(scalar) && v.name == "" {
		return v.kinds.String()
	}
	n, ok := a.shapes[v]
	if !ok {
		n = len(a.shapes)
		a.shapes[v] = n
	}
	return strconv.Itoa(n)
}

// builtin judges the call of a built-in and gives the shape of its result.
func (s *scope) builtin(name string, terms []*ast.Term, args []*shape) *shape {
	host, moved := strings.CutPrefix(name, strictPrefix)
	if moved {
		s.a.hosted[name] = true
	} else if builtins[name] == atHost {
		s.a.hosted[name] = true
	}
	switch name {
	case "gt", "gte", "lt", "lte":
		s.ordered(args, name)
		return shapeBool
	case "neq", "equal":
		s.useAll(args)
		s.comparable(args[0], args[1], map[string]string{"neq": "!=", "equal": "=="}[name])
		if name == "neq" && !s.negated {
			s.hazard(args[0], differs)
			s.hazard(args[1], differs)
		}
		return shapeBool
	case "object.get":
		return s.get(terms, args)
	case "count":
		s.countable(args[0])
	case "internal.member_2", "internal.member_3":
		s.member(args)
		return shapeBool
	case "internal.print", "print":
		return shapeBool
	default:
		s.useAll(args)
	}
	if moved {
		name = host
	} else {
		s.fitting(name, args)
	}
	return s.result(name, args)
}

func (s *scope) useAll(args []*shape) {
	for _, a := range args {
		s.use(a)
	}
}

// countable notes the use of what count needs: the list, not its fields.
func (s *scope) countable(v *shape) {
	if v.part && v.may(array) {
		s.a.read(v.name + oneOfAll)
		return
	}
	s.use(v)
}

func (s *scope) member(args []*shape) {
	s.useAll(args)
	list := args[len(args)-1]
	if list.kinds == 0 {
		return
	}
	if !list.may(array | objects | set) {
		s.problem("write a list, an object or a set behind in", "in looks through %s", list.kinds)
		return
	}
	if _, v := list.every(); v.kinds != 0 {
		s.comparable(args[len(args)-2], v, "in")
	}
}

// comparable reports a comparison that has the same result for all values.
func (s *scope) comparable(a, b *shape, op string) {
	if a.kinds == 0 || b.kinds == 0 || a.later || b.later || a.may(b.kinds) {
		if (a.loose || b.loose) && op != "in" {
			s.problem(fixLoose+", or compare sets", "%s compares lists of which one is made of a set or an object, in no order", op)
		}
		return
	}
	s.problem("compare values of the same kind; to_number and sprintf make one of the other", "%s compares %s with %s, which are never equal", op, a.kinds, b.kinds)
}

// ordered judges a comparison by size. Between values of different kinds it is
// true or false by their kind alone.
func (s *scope) ordered(args []*shape, name string) {
	s.useAll(args)
	if !s.negated {
		s.hazard(args[0], bySize)
		s.hazard(args[1], bySize)
	}
	a, b := args[0], args[1]
	if a.later || b.later || a.kinds == 0 || b.kinds == 0 {
		return
	}
	const one = null | boolean | number | text | array | objects | set
	if a.kinds == b.kinds && a.kinds&(a.kinds-1) == 0 && a.kinds&one != 0 {
		return
	}
	sign := map[string]string{"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}[name]
	s.problem("compare values of the same kind: use to_number for texts that are numbers", "%s compares %s with %s: their kinds decide, not their values", sign, a.kinds, b.kinds)
}

// get is object.get(value, key, default).
func (s *scope) get(terms []*ast.Term, args []*shape) *shape {
	v, key, other := args[0], args[1], args[2]
	s.use(key)
	if v.kinds == 0 {
		return other
	}
	s.fitting("object.get", args)
	path := ast.Ref{terms[0]}
	steps := []*ast.Term{terms[1]}
	if list, ok := terms[1].Value.(*ast.Array); ok {
		steps = steps[:0]
		list.Foreach(func(t *ast.Term) { steps = append(steps, t) })
	} else if key.may(array) {
		s.use(v)
		return join(shapeAny, other)
	}
	v = v.present()
	for _, t := range steps {
		path = append(path, t)
		v = s.project(v, t, path).present()
	}
	if v.kinds == 0 {
		return other
	}
	return join(v, other.present())
}

// fitting checks the arguments of a built-in. What fits surely is fine; what
// never fits is a problem; the rest is noted, so that the call goes to the host,
// where a value of the wrong type is a fault.
func (s *scope) fitting(name string, args []*shape) {
	if name == "minus" || name == "div" {
		s.arithmetic(name, args)
		return
	}
	for i, want := range declaration(name).FuncArgs().Args {
		switch fit(args[i], want) {
		case fits:
		case never:
			s.problem("", "argument %d of %s is %s, not %s", i+1, shown(name), describe(args[i]), typeName(want))
		case unsure:
			s.unsure(name, i, args[i], want)
		}
	}
	if where := builtins[name]; where == atHost || where == strict {
		s.doorway(name, args)
	}
	for i, a := range args {
		if a.loose && orderly[name] || name == "concat" && a.may(set) && !a.later && a.kinds != anything {
			s.problem(fixLoose, "argument %d of %s is made of a set or an object, in no order", i+1, shown(name))
		}
	}
}

const fixLoose = "sort it: sort(the_set)"

// orderly are built-ins whose result depends on the order of a list.
var orderly = map[string]bool{
	"concat": true, "array.slice": true, "sprintf": true, "json.marshal": true, "internal.template_string": true, "object.subset": true,
}

// doorway refuses sets for built-ins of the host: on the way there they become
// lists, in no order.
func (s *scope) doorway(name string, args []*shape) {
	for i, a := range args {
		if containsSet(a) && !strings.HasPrefix(name, "strings.any_") {
			s.problem("give it a list: [x | some x in the_set], or sort(the_set)", "argument %d of %s holds a set", i+1, shown(name))
		}
	}
}

func (s *scope) unsure(name string, i int, have *shape, want types.Type) {
	if builtins[name] == atHost {
		return // it finds out by itself
	}
	if !hasStrict(name) || containsSet(have) {
		s.problem("make sure of it first: is_number, is_text, to_number", "argument %d of %s may be %s, and it takes %s", i+1, shown(name), describe(have), typeName(want))
		return
	}
	s.a.unproven[s.path] = append(s.a.unproven[s.path], name)
}

// containsSet reports whether a value may hold a set, which does not pass the
// door to the host.
func containsSet(v *shape) bool {
	if v.kinds == anything {
		return false // from JSON, which has none
	}
	if v.may(set) {
		return true
	}
	for _, p := range []*shape{v.item, v.rest} {
		if p != nil && containsSet(p) {
			return true
		}
	}
	for _, f := range v.fields {
		if containsSet(f) {
			return true
		}
	}
	return false
}

// arithmetic checks a - b, which also takes sets, and a / b.
func (s *scope) arithmetic(name string, args []*shape) {
	a, b := args[0], args[1]
	if a.later || b.later || a.kinds == 0 || b.kinds == 0 {
		return
	}
	if a.only(number) && b.only(number) || name == "minus" && a.only(set) && b.only(set) {
		return
	}
	s.problem("use to_number for a text that is a number", "%s takes two numbers, not %s and %s", shown(name), describe(a), describe(b))
}

// shown is a built-in as people write it.
func shown(name string) string {
	signs := map[string]string{"plus": "+", "minus": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "internal.template_string": "a template string"}
	if s := signs[name]; s != "" {
		return s
	}
	return name
}

// describe names the kinds of a value with those of its entries.
func describe(v *shape) string {
	if v.item != nil && v.only(array|set) {
		return fmt.Sprintf("%s of which an entry is %s", v.kinds, v.item.kinds)
	}
	return v.kinds.String()
}
