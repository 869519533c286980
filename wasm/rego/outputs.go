package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Output is a rule that a policy answers with, by its name.
type Output string

// The outputs of a policy. An admission policy has Decision, or Deny, Exclude or
// both; a ranking policy has Score or Order.
const (
	OutputDecision Output = "decision"
	OutputDeny     Output = "deny"
	OutputExclude  Output = "exclude"
	OutputScore    Output = "score"
	OutputOrder    Output = "order"
)

// Form is what the answer of a policy is made of.
type Form uint8

// The forms of an answer.
const (
	FormFacet     Form = iota + 1 // one decision about the pool's facets, which the host applies
	FormCandidate                 // refusals, and candidates to remove
	FormScore                     // a number for each candidate
	FormOrder                     // ids, the first is tried first
)

func (f Form) String() string {
	switch f {
	case FormFacet:
		return "facet"
	case FormCandidate:
		return "candidate"
	case FormScore:
		return "score"
	case FormOrder:
		return "order"
	}
	return "unknown"
}

// outputsOf are the outputs that a kind may have.
func outputsOf(kind Kind) []Output {
	if kind == Ranking {
		return []Output{OutputScore, OutputOrder}
	}
	return []Output{OutputDecision, OutputDeny, OutputExclude}
}

func packageOf(kind Kind) string {
	if kind == Ranking {
		return "data." + rankingPackage
	}
	return "data." + admissionPackage
}

// outputs finds the outputs of a policy and what form they make.
func (a *analysis) outputs() (list []Output, form Form) {
	for _, o := range outputsOf(a.kind) {
		if len(a.rules[packageOf(a.kind)+"."+string(o)]) > 0 {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		var names []string
		for _, o := range outputsOf(a.kind) {
			names = append(names, string(o))
		}
		fix := "write one of the rules " + oneOf(names)
		for _, p := range a.paths {
			if name := shortPath(p); name != p {
				if n := near(name, names); n != "" {
					fix = "did you mean " + n + " where there is " + name + "?"
				}
			}
		}
		message := "the policy answers nothing: none of its rules is an output"
		if name := a.r.compiled; name != "" { // opa build -t wasm leaves the entrypoints out of the Rego
			message = "the policy answers nothing: its rules were compiled into " + name
			fix = "build the bundle without `-t wasm`, or take " + name + " out of it and upload that"
		}
		a.r.add(Problem{Message: message, Fix: fix})
		return nil, 0
	}
	both := func(x, y Output) bool { return slices.Contains(list, x) && slices.Contains(list, y) }
	switch {
	case both(OutputDecision, OutputDeny), both(OutputDecision, OutputExclude):
		a.refuseOutput(OutputDecision, "write one of the two forms", "a policy has `decision`, or `deny` and `exclude`, not both")
	case both(OutputScore, OutputOrder):
		a.refuseOutput(OutputOrder, "write one of the two", "a policy has `score` or `order`, not both")
	}
	switch list[0] {
	case OutputDecision:
		return list, FormFacet
	case OutputScore:
		return list, FormScore
	case OutputOrder:
		return list, FormOrder
	case OutputDeny, OutputExclude:
	}
	return list, FormCandidate
}

func (a *analysis) refuseOutput(o Output, fix, message string) {
	a.r.at(a.first(o).Location, string(o), fix, "%s", message)
}

func (a *analysis) first(o Output) *ast.Rule {
	return a.rules[packageOf(a.kind)+"."+string(o)][0]
}

// unused reports rules of the policy's own package that no answer depends on:
// most likely a misspelt output.
func (a *analysis) unused(used map[string]map[sign]bool) {
	var names []string
	for _, o := range outputsOf(a.kind) {
		names = append(names, string(o))
	}
	for _, path := range a.paths {
		name, ours := strings.CutPrefix(path, packageOf(a.kind)+".")
		if !ours || used[path] != nil {
			continue
		}
		fix := "remove it, or use it in an output: " + oneOf(names)
		if n := near(name, names); n != "" {
			fix = "did you mean " + n + "?"
		} else if strings.HasPrefix(name, "test_") {
			fix = "tests go into a file whose name ends in " + testSuffix
		}
		a.r.at(a.rules[path][0].Location, name, fix, "rule %s is never used", name)
	}
}

// judgeOutputs checks what the outputs give, as far as it is known before they
// run. What is not known is checked when they answer.
func (a *analysis) judgeOutputs(list []Output) {
	for _, o := range list {
		rule := a.first(o)
		c := &outputCheck{a: a, rule: rule, name: string(o)}
		v := a.rule(packageOf(a.kind) + "." + string(o))
		if len(rule.Head.Args) > 0 {
			c.wrong("an output takes no arguments", "%s is a function", o)
			continue
		}
		switch o {
		case OutputDeny, OutputExclude:
			if rule.Head.RuleKind() != ast.MultiValue {
				c.wrong("write `"+string(o)+" contains { … } if { … }`", "%s must be a set of objects", o)
				continue
			}
			for _, h := range a.heads[packageOf(a.kind)+"."+string(o)] {
				c.rule = h.rule
				if o == OutputDeny {
					c.object(h.shape, "an element of deny", refusalKeys, "code")
				} else {
					c.object(h.shape, "an element of exclude", removalKeys, "id", "reason")
				}
			}
		case OutputDecision:
			c.decision(v)
		case OutputScore:
			c.score(v)
		case OutputOrder:
			if v.loose {
				c.wrong("make it of a list: input.candidates, or sort(…)", "order is made of a set or an object, in no order")
			}
			if c.of(v, array, "order", "write order := [id, …]") && v.item != nil {
				c.of(v.item, text, "an entry of order", "write the id of the candidate: c.id")
			}
		}
	}
}

// Keys of the parts of an answer, and of which kind each is.
var (
	refusalKeys  = map[string]kinds{"code": text, "message": text, "status": number, "retry_after": number}
	removalKeys  = map[string]kinds{"id": text, "reason": text, "until": number}
	decisionKeys = map[string]kinds{"refuse": objects, "only": objects, "deny": objects, "limits": objects}
	onlyKeys     = map[string]kinds{"values": array | set, "reason": text}
	limitKeys    = map[string]kinds{"value": number, "reason": text}
)

// outputCheck reports what is wrong with the shape of an output.
type outputCheck struct {
	a    *analysis
	rule *ast.Rule
	name string
}

func (c *outputCheck) wrong(fix, format string, args ...any) {
	at := c.rule.Head.Location
	if at == nil || at.Row == 0 {
		at = c.rule.Location
	}
	c.a.r.at(at, c.name, fix, format, args...)
}

// of reports a value that is surely of another kind, and whether it may be of
// this one. A value of several kinds is judged when it comes.
func (c *outputCheck) of(v *shape, want kinds, what, fix string) bool {
	if v.kinds == 0 || v.may(want) {
		return v.kinds != 0
	}
	c.wrong(fix, "%s is %s, not %s", what, v.kinds, want)
	return false
}

// object checks the keys of an object and that those it needs are there.
func (c *outputCheck) object(v *shape, what string, keys map[string]kinds, need ...string) {
	names := slices.Sorted(maps.Keys(keys))
	if !c.of(v, objects, what, "write { "+quoted(names)+" }") {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(v.fields)) {
		if keys[k] == 0 {
			c.wrong(didYouMean(k, names), "%s has no key %q", what, k)
			continue
		}
		c.of(v.fields[k], keys[k], what+": "+k, "")
	}
	if !v.only(objects) || v.rest != nil || v.later {
		return
	}
	for _, k := range need {
		if v.fields[k] == nil {
			c.wrong("", "%s needs the key %q", what, k)
		}
	}
}

func quoted(names []string) string {
	return `"` + strings.Join(names, `": …, "`) + `": …`
}

func (c *outputCheck) decision(v *shape) {
	if c.rule.Head.RuleKind() == ast.MultiValue || len(c.rule.Head.Ref()) > 1 {
		c.wrong("write decision := { … } if { … }, and else := {}", "decision must be one object")
		return
	}
	if len(v.absent) > 0 {
		c.wrong("end it with `else := {}`, or add `default decision := {}`", "decision has no value in some cases, which would be a fault each time")
	}
	for _, h := range c.a.heads["data."+admissionPackage+"."+string(OutputDecision)] {
		c.rule = h.rule
		c.branch(h.shape)
	}
	if c.a.readsCandidates() {
		c.rule = c.a.first(OutputDecision)
		c.wrong("use input.facets, or write deny and exclude", "a decision is about facets and cannot look at input.candidates")
	}
}

// branch is the decision of one body.
func (c *outputCheck) branch(v *shape) {
	c.object(v, "decision", decisionKeys)
	if f := v.fields["refuse"]; f != nil {
		c.object(f, "refuse", refusalKeys, "code")
	}
	if only := v.fields["only"]; only != nil {
		c.facets(only, "only")
		for _, k := range slices.Sorted(maps.Keys(only.fields)) {
			c.object(only.fields[k], "only: "+k, onlyKeys, "values", "reason")
		}
	}
	if deny := v.fields["deny"]; deny != nil {
		c.facets(deny, "deny")
		for _, k := range slices.Sorted(maps.Keys(deny.fields)) {
			c.of(deny.fields[k], objects, "deny: "+k, "write { value: reason }")
		}
	}
	if limits := v.fields["limits"]; limits != nil {
		for _, k := range slices.Sorted(maps.Keys(limits.fields)) {
			if !slices.Contains(limitNames, k) {
				c.wrong(didYouMean(k, limitNames), "there is no limit %q", k)
				continue
			}
			c.object(limits.fields[k], "limits: "+k, limitKeys, "value", "reason")
		}
	}
}

func (c *outputCheck) facets(v *shape, what string) {
	for _, k := range slices.Sorted(maps.Keys(v.fields)) {
		if !isFacet(k) {
			c.wrong(didYouMean(k, facetNames)+" A tag is tag.NAME", "%s: there is no facet %q", what, k)
		}
	}
}

func (c *outputCheck) score(v *shape) {
	if !c.of(v, objects, "score", "write score[c.id] := … if some c in input.candidates") {
		return
	}
	key, value := v.every()
	if v.fields == nil {
		c.of(key, text, "a key of score", "write score[c.id]")
	}
	c.of(value, number, "a score", "the score is a number, the lower the earlier")
}

func (a *analysis) readsCandidates() bool {
	for path := range a.reads {
		if strings.HasPrefix(path, "input.candidates") {
			return true
		}
	}
	return false
}
