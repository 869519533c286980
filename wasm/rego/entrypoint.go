package rego

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Entrypoint is an entry point of a module that OPA's own tool compiled.
type Entrypoint struct {
	Name   string // as the module has it
	Output Output // what it gives, for Answer.ReadOutput
}

// Entrypoints tells which entry point of an OPA module gives which output of a
// policy: gatewright/admission/deny gives deny. Others are left alone. It
// refuses a set of entry points that is no policy, or two.
//
// A module that was not compiled here has none of what Compile proves: a type
// error in it is an undefined rule, and an undefined deny is no refusal.
func Entrypoints(names []string) (list []Entrypoint, kind Kind, form Form, err error) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		stage, rule, ok := strings.Cut(strings.TrimPrefix(name, root+"/"), "/")
		if !ok || !strings.HasPrefix(name, root+"/") {
			continue
		}
		k := kindOf(root + "." + stage)
		if k == 0 || !slices.Contains(outputsOf(k), Output(rule)) {
			continue
		}
		if kind != 0 && k != kind {
			return nil, 0, 0, fmt.Errorf("the module has entry points of %s and of %s; a policy admits or ranks, never both", kind, k)
		}
		kind = k
		list = append(list, Entrypoint{name, Output(rule)})
	}
	has := func(o Output) bool {
		return slices.ContainsFunc(list, func(e Entrypoint) bool { return e.Output == o })
	}
	switch {
	case len(list) == 0:
		return nil, 0, 0, fmt.Errorf("none of the entry points %s is an output of a policy; build with -e %s/admission/%s or -e %s/ranking/%s",
			oneOf(names), root, OutputDecision, root, OutputScore)
	case has(OutputDecision) && len(list) > 1:
		return nil, 0, 0, errors.New("the module has decision and other outputs; a policy has decision, or deny and exclude")
	case has(OutputScore) && has(OutputOrder):
		return nil, 0, 0, errors.New("the module has score and order; a policy has one of them")
	case has(OutputDecision):
		form = FormFacet
	case has(OutputScore):
		form = FormScore
	case has(OutputOrder):
		form = FormOrder
	default:
		form = FormCandidate
	}
	return list, kind, form, nil
}
