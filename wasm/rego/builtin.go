package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Bounds of a built-in that the host serves. The longest text that a policy is
// given, a prompt's, is well within them, also where JSON needs six bytes for one
// of its characters: else whoever writes a long one could make a policy fail.
const (
	maxHostArgs   = 256 << 10 // bytes of the arguments together, as JSON
	maxHostText   = 64 << 10  // bytes of one text
	maxHostResult = 256 << 10 // bytes of the result, as JSON
)

// BuiltinError is a built-in that gave no value.
type BuiltinError struct {
	Name string
	What string
}

func (e *BuiltinError) Error() string { return e.Name + ": " + e.What }

// Builtin is the built-in of that name, as a module's Builtins have it. It takes
// its arguments as a JSON array and gives its result as JSON; it keeps neither.
// It is pure, bounded in time and memory by bounds of its own, never panics, and
// may run in parallel. The error is a *BuiltinError: the arguments are not of its
// types, are beyond its bounds, or have no result. Whoever runs the module must
// end the evaluation then: an error that became an undefined value could turn a
// refusal into a permission.
func Builtin(name string) (func(args []byte) ([]byte, error), bool) {
	plain := strings.TrimPrefix(name, strictPrefix)
	moved := plain != name
	call := topdown.GetBuiltin(plain)
	if call == nil || moved && !hasStrict(plain) || !moved && (builtins[plain] == 0 || builtins[plain] == inModule) {
		return nil, false
	}
	b := &hosted{name: plain, arity: len(declaration(plain).FuncArgs().Args), call: call, bound: bounds[plain]}
	return b.serve, true
}

// hosted is one built-in.
type hosted struct {
	name  string
	arity int
	call  topdown.BuiltinFunc
	bound func(args []*ast.Term) string // what is beyond the bounds, or ""
}

func (b *hosted) fail(format string, args ...any) error {
	return &BuiltinError{b.name, fmt.Sprintf(format, args...)}
}

// reason is what OPA says, without the name and the code of the error.
func (b *hosted) reason(err error) string {
	what := err.Error()
	if e, ok := errors.AsType[*topdown.Error](err); ok {
		what = e.Message
	}
	return strings.TrimPrefix(what, b.name+": ")
}

func (b *hosted) serve(args []byte) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, b.fail("%v", p)
		}
	}()
	if len(args) > maxHostArgs {
		return nil, b.fail("the arguments have more than %d bytes", maxHostArgs)
	}
	terms, what := operands(args)
	switch {
	case what != "":
		return nil, b.fail("%s", what)
	case len(terms) != b.arity:
		return nil, b.fail("%d arguments, it takes %d", len(terms), b.arity)
	}
	if b.bound != nil {
		if what := b.bound(terms); what != "" {
			return nil, b.fail("%s", what)
		}
	}
	var value ast.Value
	c := topdown.BuiltinContext{Context: context.Background(), Metrics: metrics.NoOp(), Cancel: topdown.NewCancel()}
	if err := b.call(c, terms, func(t *ast.Term) error { value = t.Value; return nil }); err != nil {
		return nil, b.fail("%s", b.reason(err))
	}
	if value == nil {
		return nil, b.fail("there is no result")
	}
	if result, err = appendValue(nil, value); err != nil {
		return nil, b.fail("%v", err)
	}
	if len(result) > maxHostResult {
		return nil, b.fail("the result has more than %d bytes", maxHostResult)
	}
	return result, nil
}

// Costs in units of an instruction budget: a unit is about a nanosecond.
const (
	costCall = 2000
	costByte = 40
	costStep = 8 // of a regular expression's program, for each byte of the text
)

// BuiltinCost is what a call of a built-in may cost at most, in units of the
// budget, so that it can be charged before it is made.
func BuiltinCost(name string, args []byte) int64 {
	n := int64(costCall + costByte*len(args))
	if plain := strings.TrimPrefix(name, strictPrefix); strings.HasPrefix(plain, "regex.") || plain == "glob.match" {
		s := scanner{s: string(args)}
		s.expect('[')
		if s.peek() == '"' {
			n += costStep * int64(steps(s.text())*len(args))
		}
	}
	return n
}

// operands reads the arguments of a call.
func operands(args []byte) (terms []*ast.Term, what string) {
	s := scanner{s: string(args), longest: maxHostText}
	if s.peek() != '[' {
		return nil, "the arguments are not a list"
	}
	s.list(func(int) { terms = append(terms, s.term()) })
	s.end()
	return terms, s.what
}

// term reads a value.
func (s *scanner) term() *ast.Term {
	switch s.peek() {
	case '{':
		var pairs [][2]*ast.Term
		s.object(func(key string) { pairs = append(pairs, [2]*ast.Term{ast.StringTerm(key), s.term()}) })
		return ast.ObjectTerm(pairs...)
	case '[':
		var items []*ast.Term
		s.list(func(int) { items = append(items, s.term()) })
		return ast.ArrayTerm(items...)
	case '"':
		t := s.text()
		if s.longest > 0 && len(t) > s.longest {
			s.fail("a text of more than %d bytes", s.longest)
		}
		return ast.StringTerm(t)
	case 'n', 't', 'f':
		switch {
		case s.word("null"):
			return ast.InternedNullTerm
		case s.word("true"):
			return ast.InternedTerm(true)
		case s.word("false"):
			return ast.InternedTerm(false)
		}
		s.fail("an unknown word at byte %d", s.i)
		return ast.InternedNullTerm
	}
	return ast.NumberTerm(json.Number(s.number()))
}

// appendValue appends a value as JSON.
func appendValue(b []byte, v ast.Value) ([]byte, error) {
	switch v := v.(type) {
	case ast.Boolean:
		return strconv.AppendBool(b, bool(v)), nil
	case ast.Number:
		return append(b, string(v)...), nil
	}
	x, err := ast.JSON(v)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	return append(b, text...), nil
}
