package rego

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// scope is one body while it is evaluated.
type scope struct {
	a       *analysis
	path    string // of the rule
	rule    *ast.Rule
	vars    map[ast.Var]*shape
	sign    sign            // what it means for the rule if the body fails
	guarded map[string]bool // references that the body tests by themselves
	tested  map[string]bool // references that some test of the body uses
	negated bool            // the expression at hand stands behind not
	bare    bool            // the expression at hand is a value that stands by itself
	fails   bool            // the body can be undefined
	loose   bool            // the body iterates over a set or an object
	at      *ast.Location   // of the expression at hand

	partialArgs bool // the arguments are patterns, so that the function is not for all values
}

// sign is how the value of a rule depends on something: more makes more, more
// makes less, or it cannot be told.
type sign int8

const (
	direct  sign = 1
	unclear sign = 0
	reverse sign = -1
)

func (a *analysis) scope(path string, rule *ast.Rule, args []*shape) *scope {
	s := &scope{a: a, path: path, rule: rule, vars: map[ast.Var]*shape{}, tested: map[string]bool{}, sign: direct, at: rule.Location}
	if a.choosing(path) {
		s.sign = unclear
	}
	s.guarded = guards(rule.Body)
	for i, arg := range rule.Head.Args {
		have := shapeAny
		if i < len(args) {
			have = args[i].present()
		}
		if v, ok := arg.Value.(ast.Var); ok {
			s.vars[v] = have
			continue
		}
		s.partialArgs = true
		s.match(arg, have)
	}
	return s
}

// choosing reports whether a rule has several values to choose from, so that a
// body that fails gives another value.
func (a *analysis) choosing(path string) bool {
	return slices.ContainsFunc(a.rules[path], func(r *ast.Rule) bool { return r.Default || r.Else != nil })
}

// guards are the references that stand in a body as expressions of their own: a
// test whether they are there.
func guards(b ast.Body) map[string]bool {
	m := map[string]bool{}
	for _, e := range b {
		if t, ok := e.Terms.(*ast.Term); ok && !e.Negated {
			m[t.String()] = true
		}
	}
	return m
}

// child is a scope within this one: a comprehension or every.
func (s *scope) child(b ast.Body, sign sign) *scope {
	c := *s
	c.vars, c.guarded, c.tested = maps.Clone(s.vars), maps.Clone(s.guarded), maps.Clone(s.tested)
	maps.Copy(c.guarded, guards(b))
	c.sign, c.negated, c.bare, c.fails, c.loose = s.sign*sign, false, false, false, false
	return &c
}

func (s *scope) body(b ast.Body) {
	for _, e := range b {
		s.expr(e)
	}
}

func (s *scope) name() string { return ruleName(s.rule) }

func (s *scope) problem(fix, format string, args ...any) {
	s.a.r.at(s.at, s.name(), fix, format, args...)
}

func (s *scope) expr(e *ast.Expr) {
	s.negated, s.bare = e.Negated, false
	if e.Location != nil && e.Location.Row > 0 {
		s.at = e.Location
	}
	switch t := e.Terms.(type) {
	case *ast.Term:
		s.test(t)
	case []*ast.Term:
		s.call(t)
	case *ast.Every:
		s.every(t)
	case *ast.SomeDecl:
	default:
		s.problem("", "this form of expression is not in the dialect")
	}
	s.negated = false
}

// test is a value that stands by itself.
func (s *scope) test(t *ast.Term) {
	if v, ok := t.Value.(ast.Boolean); ok && bool(v) && !s.negated {
		return
	}
	s.bare = true
	v := s.term(t)
	s.bare = false
	s.use(v)
	s.usedByTest(v)
	s.fails = true
}

// every evaluates every x in domain { body }.
func (s *scope) every(e *ast.Every) {
	domain := s.term(e.Domain)
	s.hazard(domain, inEvery)
	c := s.child(e.Body, direct)
	key, value := s.elements(domain, "every")
	for _, b := range []struct {
		term  *ast.Term
		shape *shape
	}{{e.Key, key}, {e.Value, value}} {
		if b.term == nil {
			continue
		}
		if v, ok := b.term.Value.(ast.Var); ok {
			c.vars[v] = b.shape
		}
	}
	c.body(e.Body)
	s.fails = true
}

// head is the shape of what a rule gives, with its key.
func (s *scope) head(r *ast.Rule) (value, key *shape) {
	s.at = r.Head.Location
	if s.at == nil {
		s.at = r.Location
	}
	ref := r.Head.Ref()
	if len(ref) == 2 {
		key = s.term(ref[1])
		s.use(key)
	}
	switch {
	case r.Head.RuleKind() == ast.MultiValue:
		value = s.term(r.Head.Key)
		s.untested(value)
	case r.Head.Value != nil:
		value = s.term(r.Head.Value)
		if key != nil || s.path == "data."+admissionPackage+"."+string(OutputDecision) {
			s.untested(value)
		}
	default:
		value = shapeBool
	}
	if len(value.absent) > 0 {
		s.fails = true
	}
	if s.a.isOutput(s.path) {
		s.use(value)
		s.a.heads[s.path] = append(s.a.heads[s.path], head{r, value})
	}
	return value, key
}

// bind gives a variable its value.
func (s *scope) bind(v ast.Var, value *shape) {
	value = s.a.bounded(value, s.rule, s.path)
	s.vars[v] = value
	if len(value.absent) > 0 {
		s.fails = true
	}
}

// unbound reports whether a term is a variable without a value.
func (s *scope) unbound(t *ast.Term) (ast.Var, bool) {
	v, ok := t.Value.(ast.Var)
	if !ok {
		return "", false
	}
	_, bound := s.vars[v]
	return v, !bound && v != ast.InputRootDocument.Value && v != ast.DefaultRootDocument.Value
}

// term is the shape of a term.
func (s *scope) term(t *ast.Term) *shape {
	switch v := t.Value.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String:
		return constant(v)
	case ast.Var:
		if have, ok := s.vars[v]; ok {
			return have
		}
		return s.ref(ast.Ref{t})
	case ast.Ref:
		return s.ref(v)
	case *ast.Array:
		l := &shape{kinds: array, item: shapeNone}
		v.Foreach(func(e *ast.Term) {
			var p *shape
			s.part(l, &p, e)
			l.item, l.places = join(l.item, p), append(l.places, p)
		})
		return l.sized()
	case ast.Set:
		l := &shape{kinds: set, item: shapeNone}
		v.Foreach(func(e *ast.Term) { s.part(l, &l.item, e) })
		return l.sized()
	case ast.Object:
		return s.object(v)
	case *ast.ArrayComprehension:
		c := s.child(v.Body, unclear)
		c.body(v.Body)
		l := listOf(c.term(v.Term).present())
		l.loose = c.loose
		return l
	case *ast.SetComprehension:
		c := s.child(v.Body, unclear)
		c.body(v.Body)
		return (&shape{kinds: set, item: c.term(v.Term).present()}).sized()
	case *ast.ObjectComprehension:
		c := s.child(v.Body, unclear)
		c.body(v.Body)
		key := c.term(v.Key).present()
		s.use(key)
		return (&shape{kinds: objects, key: key, rest: c.term(v.Value).present()}).sized()
	}
	s.problem("", "this form of value is not in the dialect")
	return shapeAny
}

// part adds a part to a list, set or object that is written out: if the part is
// missing, so is the whole.
func (s *scope) part(whole *shape, place **shape, t *ast.Term) {
	v := s.term(t)
	whole.absent = causes(whole.absent, v.absent)
	*place = join(*place, v.present())
}

func (s *scope) object(o ast.Object) *shape {
	w := &shape{kinds: objects, fields: map[string]*shape{}}
	o.Foreach(func(k, v *ast.Term) {
		if name, ok := k.Value.(ast.String); ok {
			var f *shape
			s.part(w, &f, v)
			w.fields[string(name)] = f
			return
		}
		s.part(w, &w.key, k)
		s.use(w.key)
		s.part(w, &w.rest, v)
	})
	return w.sized()
}

// eq is a = b: it binds variables, takes values apart, or compares.
func (s *scope) eq(a, b *ast.Term) {
	if v, ok := s.unbound(a); ok {
		s.bind(v, s.term(b))
		return
	}
	if v, ok := s.unbound(b); ok {
		s.bind(v, s.term(a))
		return
	}
	s.fails = true
	if s.pattern(a) {
		s.match(a, s.term(b))
		return
	}
	if s.pattern(b) {
		s.match(b, s.term(a))
		return
	}
	x, y := s.term(a), s.term(b)
	for t, v := range map[*ast.Term]*shape{a: x, b: y} {
		s.use(v)
		s.usedByTest(v)
		if _, isVar := t.Value.(ast.Var); isVar && s.negated {
			s.hazard(v, behindNot)
		}
	}
	if !s.negated && x.nothing() {
		s.hazard(y, asNothing)
	}
	if !s.negated && y.nothing() {
		s.hazard(x, asNothing)
	}
	s.comparable(x, y, "==")
}

// nothing reports whether a value is a constant that people take for one that
// is missing.
func (s *shape) nothing() bool {
	switch v := s.value.(type) {
	case ast.String:
		return v == ""
	case ast.Boolean:
		return !bool(v)
	case ast.Null:
		return true
	}
	return false
}

// pattern reports whether a term binds variables within a list or object.
func (s *scope) pattern(t *ast.Term) bool {
	found := false
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(func(e *ast.Term) {
			_, free := s.unbound(e)
			found = found || free || s.pattern(e)
		})
	case ast.Object:
		v.Foreach(func(_, e *ast.Term) {
			_, free := s.unbound(e)
			found = found || free || s.pattern(e)
		})
	}
	return found
}

// match takes a value apart.
func (s *scope) match(pattern *ast.Term, v *shape) {
	s.usedByTest(v)
	switch p := pattern.Value.(type) {
	case ast.Var:
		if _, free := s.unbound(pattern); free {
			s.bind(p, v.present())
			return
		}
		s.use(v)
	case *ast.Array:
		_, item := s.elements(v, "a list pattern")
		for i := range p.Len() {
			if len(v.places) == p.Len() {
				item = v.places[i]
			}
			s.match(p.Elem(i), item)
		}
	case ast.Object:
		p.Foreach(func(k, e *ast.Term) { s.match(e, s.project(v, k, ast.Ref{pattern, k})) })
	default:
		s.use(v)
		s.comparable(s.term(pattern), v, "==")
	}
}
