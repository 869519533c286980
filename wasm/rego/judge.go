package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// judge looks at parsed files for what can be said without knowing types: the
// packages, the shape of rules, sizes, and calls that may not be.
type judge struct {
	r       *report
	kind    Kind
	aliases map[string]bool // what the file at hand calls imports
	exprs   int
	terms   int
}

// look judges all files and returns the kind of the policy; 0 = it has none.
func look(modules map[string]*ast.Module, want Kind, r *report) Kind {
	j := &judge{r: r}
	rules := 0
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		rules += len(m.Rules)
		j.pkg(m)
		j.imports(m)
	}
	if rules > maxRules {
		r.add(Problem{Message: fmt.Sprintf("%d rules, the limit is %d", rules, maxRules), Fix: fixSplit})
		return 0
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		j.aliases = map[string]bool{}
		for _, i := range modules[name].Imports {
			j.aliases[string(i.Name())] = true
		}
		for _, rule := range modules[name].Rules {
			j.rule(rule)
		}
	}
	switch {
	case j.exprs > maxExprs:
		r.add(Problem{Message: fmt.Sprintf("%d expressions, the limit is %d", j.exprs, maxExprs), Fix: fixSplit})
	case j.terms > maxTerms:
		r.add(Problem{Message: fmt.Sprintf("more than %d terms", maxTerms), Fix: fixSplit})
	}
	switch {
	case j.kind == 0 && len(r.problems) == 0:
		r.add(Problem{Message: "there is no policy in these files", Fix: fmt.Sprintf("begin one with `package %s` or `package %s`", admissionPackage, rankingPackage)})
	case want != 0 && j.kind != 0 && j.kind != want:
		r.add(Problem{Message: fmt.Sprintf("the policy's package is that of %s, and it is to be %s", j.kind, want), Fix: fmt.Sprintf("write `package gatewright.%s`", want)})
	}
	return j.kind
}

// pkg judges a package.
func (j *judge) pkg(m *ast.Module) {
	l := m.Package.Location
	path := strings.TrimPrefix(m.Package.Path.String(), "data.")
	top, _, _ := strings.Cut(path, ".")
	switch kind := kindOf(path); {
	case kind != 0:
		if j.kind != 0 && j.kind != kind {
			j.r.at(l, "", "make two policies of it", "a policy admits or ranks, never both: the files have both packages")
		}
		j.kind = kind
	case top == root:
		j.r.at(l, "", didYouMean(path, []string{admissionPackage, rankingPackage})+" Helpers go into a package of their own, outside of "+root,
			"there is no package %s", path)
	case top == "system", top == "params", strings.HasPrefix(top, ownPrefix), strings.ContainsAny(path, `["`):
		j.r.at(l, "", "use another name", "the package name %s is taken or not plain", path)
	}
}

func kindOf(path string) Kind {
	switch path {
	case admissionPackage:
		return Admission
	case rankingPackage:
		return Ranking
	}
	return 0
}

func (j *judge) imports(m *ast.Module) {
	for _, i := range m.Imports {
		path, ok := i.Path.Value.(ast.Ref)
		if !ok {
			continue
		}
		text := path.String()
		switch head, _ := path[0].Value.(ast.Var); head {
		case "rego":
			if text != "rego.v1" {
				j.r.at(i.Location, "", "remove the line, or write `import rego.v1`", "the language is Rego version 1, not %s", text)
			}
		case "future":
			if name := string(i.Name()); len(path) != 3 || !slices.Contains(futureKeywords, name) || i.Alias != "" {
				j.r.at(i.Location, "", "remove the line: "+oneOf(futureKeywords)+" are there without it", "import %s is not in the dialect", text)
			}
		}
		if alias := string(i.Alias); alias != "" {
			j.name(i.Location, alias, "the import")
		}
	}
}

// name refuses names that would hide a built-in or something of the host.
func (j *judge) name(l *ast.Location, name, what string) {
	switch {
	case strings.HasPrefix(name, ownPrefix):
		j.r.at(l, name, "use another name", "%s %s: names that begin with %s are the host's", what, name, ownPrefix)
	case isBuiltin(name):
		j.r.at(l, name, "use another name", "%s %s hides the built-in of that name", what, name)
	}
}

// rule judges a rule with its else branches.
func (j *judge) rule(r *ast.Rule) {
	ref := r.Head.Ref()
	name := ruleName(r)
	j.name(r.Location, name, "the rule")
	if len(ref) > 2 || len(ref) == 2 && (r.Head.RuleKind() == ast.MultiValue || len(r.Head.Args) > 0) {
		j.r.at(r.Location, name, "write `name := value`, `name[key] := value`, `name contains value` or `name(argument) := value`",
			"the rule %s has a name of several parts", ref)
	}
	branches := 0
	for b := r; b != nil; b = b.Else {
		branches++
		j.body(b.Body, name, 0)
		for _, a := range b.Head.Args {
			j.term(a, name, 0, 0)
		}
		for _, t := range []*ast.Term{b.Head.Key, b.Head.Value} {
			if t != nil {
				j.term(t, name, 0, 0)
			}
		}
		if b == r {
			j.term(ast.NewTerm(ref[1:]), name, 0, 0)
		}
	}
	if branches > maxElse {
		j.r.at(r.Location, name, "look the value up in an object instead", "%d else branches, the limit is %d", branches, maxElse)
	}
}

// ruleName is the first part of a rule's name.
func ruleName(r *ast.Rule) string {
	switch v := r.Head.Ref()[0].Value.(type) {
	case ast.Var:
		return string(v)
	case ast.String:
		return string(v)
	}
	return string(r.Head.Name)
}

func (j *judge) body(b ast.Body, rule string, nested int) {
	if len(b) > maxBody {
		j.r.at(b[maxBody].Location, rule, "give some of them a rule of their own", "%d expressions in one body, the limit is %d", len(b), maxBody)
	}
	for _, e := range b {
		j.expr(e, rule, nested)
	}
}

func (j *judge) expr(e *ast.Expr, rule string, nested int) {
	j.exprs++
	if len(e.With) > 0 {
		j.r.at(e.With[0].Location, rule, "pass the value to a function; `with` is for tests", "`with` replaces what a rule is given")
	}
	if nested > maxComprehension {
		j.r.at(e.Location, rule, "give the inner one a rule or a function of its own", "comprehensions, every and template strings are nested deeper than %d", maxComprehension)
		return
	}
	switch t := e.Terms.(type) {
	case *ast.Term:
		j.term(t, rule, 0, nested)
	case []*ast.Term:
		j.call(t, e.Location, rule, 0, nested)
	case *ast.SomeDecl:
		for _, s := range t.Symbols {
			j.term(s, rule, 0, nested)
		}
	case *ast.Every:
		j.term(t.Domain, rule, 0, nested)
		j.body(t.Body, rule, nested+1)
	default:
		j.r.at(e.Location, rule, "", "this form of expression is not in the dialect")
	}
}

// term walks a term; depth counts terms within terms.
func (j *judge) term(t *ast.Term, rule string, depth, nested int) {
	j.terms++
	if depth > maxDepth {
		j.r.at(t.Location, rule, "give the inner parts names", "an expression of more than %d parts within each other", maxDepth)
		return
	}
	depth++
	switch v := t.Value.(type) {
	case ast.Ref:
		for _, p := range v {
			if p != nil {
				j.term(p, rule, depth, nested)
			}
		}
	case ast.Call:
		j.call(v, t.Location, rule, depth, nested)
	case *ast.Array:
		j.literal(t, v.Len(), rule)
		v.Foreach(func(e *ast.Term) { j.term(e, rule, depth, nested) })
	case ast.Set:
		j.literal(t, v.Len(), rule)
		v.Foreach(func(e *ast.Term) { j.term(e, rule, depth, nested) })
	case ast.Object:
		j.literal(t, v.Len(), rule)
		v.Foreach(func(k, e *ast.Term) {
			j.term(k, rule, depth, nested)
			j.term(e, rule, depth, nested)
		})
	case *ast.ArrayComprehension:
		j.term(v.Term, rule, depth, nested)
		j.body(v.Body, rule, nested+1)
	case *ast.SetComprehension:
		j.term(v.Term, rule, depth, nested)
		j.body(v.Body, rule, nested+1)
	case *ast.ObjectComprehension:
		j.term(v.Key, rule, depth, nested)
		j.term(v.Value, rule, depth, nested)
		j.body(v.Body, rule, nested+1)
	case *ast.TemplateString:
		for _, p := range v.Parts {
			switch p := p.(type) {
			case *ast.Expr:
				j.expr(p, rule, nested+1)
			case *ast.Term:
				j.term(p, rule, depth, nested)
			}
		}
	case ast.Var, ast.String, ast.Number, ast.Boolean, ast.Null:
	default:
		j.r.at(t.Location, rule, "", "this form of value is not in the dialect")
	}
}

// literal judges the length of a list, set or object that is written out.
func (j *judge) literal(t *ast.Term, n int, rule string) {
	if n > maxLiteral {
		j.r.at(t.Location, rule, "put it into data: data.json of a bundle, or the binding's data", "%d entries are written out, the limit is %d", n, maxLiteral)
	}
}
