package rego

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Problem is one thing that is wrong with a policy, where, and what to write
// instead.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0 = the whole file
	Column  int    `json:"column"` // from 1; 0 = the whole line
	Rule    string `json:"rule"`   // the rule of the policy that it stands in; "" = none
	Message string `json:"message"`
	Fix     string `json:"fix"` // what to do; "" where the message says it
}

func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
	}
	if p.Column > 0 {
		s += fmt.Sprintf(":%d", p.Column)
	}
	if s != "" {
		s += ": "
	}
	s += p.Message
	if p.Fix != "" {
		s += "; " + p.Fix
	}
	return s
}

// Error is a policy that was refused, with every problem that could be found,
// in the order of the source.
type Error struct {
	Problems []Problem
}

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	lines := make([]string, 0, len(e.Problems)+1)
	lines = append(lines, fmt.Sprintf("%d problems:", len(e.Problems)))
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// maxProblems is how many problems are told at once.
const maxProblems = 50

// report collects problems.
type report struct {
	problems []Problem
	seen     map[Problem]bool
	compiled string // the module in the bundle; "" = there is none
}

func (r *report) add(p Problem) {
	if len(r.problems) >= maxProblems || r.seen[p] {
		return
	}
	if r.seen == nil {
		r.seen = map[Problem]bool{}
	}
	r.seen[p] = true
	r.problems = append(r.problems, p)
}

// at reports a problem at a place of the source.
func (r *report) at(l *ast.Location, rule, fix, format string, args ...any) {
	r.add(problemAt(l, rule, fix, format, args...))
}

func problemAt(l *ast.Location, rule, fix, format string, args ...any) Problem {
	p := Problem{Rule: rule, Message: fmt.Sprintf(format, args...), Fix: fix}
	if l != nil {
		p.File, p.Line, p.Column = l.File, l.Row, l.Col
	}
	return p
}

// err is all problems in the order of the source, or nil.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Error{Problems: inOrder(r.problems)}
}

func inOrder(list []Problem) []Problem {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

// addErrors reports what OPA's parser or compiler found.
func (r *report) addErrors(err error) {
	if list, ok := errors.AsType[ast.Errors](err); ok {
		for _, e := range list {
			r.addOPA(e)
		}
		return
	}
	if e, ok := errors.AsType[*ast.Error](err); ok {
		r.addOPA(e)
		return
	}
	if err != nil {
		r.add(Problem{Message: err.Error()})
	}
}

func (r *report) addOPA(e *ast.Error) {
	message, fix := explain(e)
	r.at(e.Location, "", fix, "%s", message)
}

// explain words an error of OPA, with what to do where that can be told.
func explain(e *ast.Error) (message, fix string) {
	message, _, _ = strings.Cut(e.Message, "\n")
	switch {
	case strings.Contains(message, "`if` keyword is required"), strings.Contains(message, "`contains` keyword is required"):
		fix = "this is Rego of before version 1: write `name if { … }` or `name contains value if { … }`"
	case strings.HasPrefix(message, "undefined function "):
		return undefinedFunction(strings.TrimPrefix(message, "undefined function "))
	case e.Code == ast.TypeErr && e.Details != nil:
		if lines := e.Details.Lines(); len(lines) > 0 {
			message += " (" + strings.Join(strings.Fields(strings.Join(lines[:min(len(lines), 8)], " ")), " ") + ")"
		}
	case strings.HasPrefix(message, "declared var "), strings.HasPrefix(message, "assigned var "):
		fix = "remove it, or write _ for a value that does not matter"
	case e.Code == ast.RecursionErr:
		fix = "a rule may not use itself, also not by way of others"
	}
	return message, fix
}

// undefinedFunction says why a function is not there.
func undefinedFunction(name string) (message, fix string) {
	if why, ok := refusal(name); ok {
		return fmt.Sprintf("the built-in %s is refused: %s", name, why.because), why.instead
	}
	return "there is no function " + name, didYouMean(name, allowedNames())
}
