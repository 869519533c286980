package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// analysis follows the shapes of values from the input and data through all
// rules, without a value. It works on what OPA's compiler makes of a policy
// before it checks types: references are resolved, variables are unique within a
// rule, calls within calls are taken apart, and expressions stand in an order in
// which each variable is bound before it is used.
type analysis struct {
	r     *report
	kind  Kind
	rules map[string][]*ast.Rule // by path, like data.lib.limit
	paths []string               // of rules, in the order of the source

	packages map[string]bool // by path, like data.lib
	input    *shape
	data     *shape

	values  map[string]*shape // of rules, by path
	busy    map[string]bool
	calls   map[string]*shape // of functions, by path and arguments
	shapes  map[*shape]int    // numbers of shapes, for the keys of calls
	counted int               // bodies that were evaluated

	idle     bool              // what is read now is not needed for an answer
	reads    map[string]bool   // paths of the input and of data
	heads    map[string][]head // what the outputs give, by path
	hazards  []hazard
	edges    map[string][]edge   // from rule to rule
	unproven map[string][]string // built-ins by the rule that calls them, of arguments that could be wrong
	hosted   map[string]bool     // built-ins that the module calls at the host
}

// maxBodies is how many bodies an analysis evaluates: functions are evaluated
// again for each kind of arguments.
const maxBodies = 20_000

// head is what one body of an output gives.
type head struct {
	rule  *ast.Rule
	shape *shape
}

// edge is the use of a rule by another.
type edge struct {
	to   string
	sign sign
}

func newAnalysis(kind Kind, modules map[string]*ast.Module, data *shape, r *report) *analysis {
	a := &analysis{
		r: r, kind: kind, rules: map[string][]*ast.Rule{}, packages: map[string]bool{}, input: inputShape(kind), data: data,
		values: map[string]*shape{}, busy: map[string]bool{}, calls: map[string]*shape{}, shapes: map[*shape]int{},
		heads: map[string][]head{}, reads: map[string]bool{}, edges: map[string][]edge{}, unproven: map[string][]string{}, hosted: map[string]bool{},
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		a.packages[m.Package.Path.String()] = true
		for _, rule := range m.Rules {
			path := m.Package.Path.String() + "." + ruleName(rule)
			if len(a.rules[path]) == 0 {
				a.paths = append(a.paths, path)
			}
			a.rules[path] = append(a.rules[path], rule)
		}
	}
	return a
}

// run evaluates the outputs first, then what they do not use.
func (a *analysis) run(outputs []string) {
	for _, path := range outputs {
		a.rule(path)
	}
	a.idle = true
	for _, path := range a.paths {
		if rule := a.rules[path][0]; len(rule.Head.Args) == 0 {
			a.rule(path)
		}
	}
}

// rule is the shape of a rule's value, which all definitions of it share.
func (a *analysis) rule(path string) *shape {
	if v := a.values[path]; v != nil {
		return v
	}
	if a.busy[path] {
		return shapeAny // OPA has refused recursion before
	}
	a.busy[path] = true
	var v, key *shape
	total := false
	for _, rule := range a.rules[path] {
		value, k, all := a.define(path, rule, nil)
		v, key = join(v, value), join(key, k)
		total = total || all
	}
	first := a.rules[path][0]
	switch {
	case first.Head.RuleKind() == ast.MultiValue:
		v = (&shape{kinds: set, item: v.present()}).sized()
	case key != nil:
		v = a.objectRule(path, v.present(), key)
	case total:
		v = v.present()
	case len(v.absent) == 0:
		v = v.missing(&cause{key: path, what: shortPath(path), fix: "give the rule a value for all cases: default " + ruleName(first) + " := …"})
	}
	v = a.bounded(v, first, path)
	a.values[path] = v
	return v
}

// objectRule is the shape of a rule name[key] := value. Keys that are written
// out are known.
func (a *analysis) objectRule(path string, v, key *shape) *shape {
	s := &shape{kinds: objects, rest: v, key: key}
	fields := map[string]*shape{}
	for _, rule := range a.rules[path] {
		ref := rule.Head.Ref()
		if len(ref) < 2 {
			continue
		}
		k, ok := ref[1].Value.(ast.String)
		if !ok {
			return s.sized()
		}
		fields[string(k)] = v.missing(&cause{key: path + "." + string(k), what: shortPath(path) + "." + string(k), fix: "test it first, or take it with object.get"})
	}
	s.rest, s.key, s.fields = nil, nil, fields
	return s.sized()
}

// bounded reports a shape that is too large for OPA's type checker.
func (a *analysis) bounded(v *shape, rule *ast.Rule, path string) *shape {
	if v.size <= maxShape {
		return v
	}
	a.r.at(rule.Location, ruleName(rule), "use fewer or flatter objects, and move lists into data", "the value of %s is made of more than %d parts", shortPath(path), maxShape)
	return shapeAny
}

// shortPath is a rule's path as people write it.
func shortPath(path string) string {
	path = strings.TrimPrefix(path, "data."+admissionPackage+".")
	return strings.TrimPrefix(path, "data."+rankingPackage+".")
}

// define evaluates one definition of a rule with its else branches, for
// arguments if it is a function. total is whether it has a value in every case.
func (a *analysis) define(path string, rule *ast.Rule, args []*shape) (value, key *shape, total bool) {
	if rule.Default {
		s := a.scope(path, rule, args)
		value, _ = s.head(rule)
		return value, nil, true
	}
	for b := rule; b != nil; b = b.Else {
		if a.counted++; a.counted > maxBodies {
			if a.counted == maxBodies+1 {
				a.r.at(rule.Location, ruleName(rule), "call fewer functions of functions", "the policy calls functions in more ways than can be followed")
			}
			return shapeAny, nil, true
		}
		s := a.scope(path, b, args)
		s.body(b.Body)
		v, k := s.head(b)
		value, key = join(value, v), join(key, k)
		if !s.fails && !s.partialArgs {
			total = true
		}
	}
	return value, key, total
}

// isOutput reports whether a path is that of an output of the policy's kind.
func (a *analysis) isOutput(path string) bool {
	name, ok := strings.CutPrefix(path, packageOf(a.kind)+".")
	return ok && slices.Contains(outputsOf(a.kind), Output(name))
}
