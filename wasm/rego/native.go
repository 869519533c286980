package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Bounds of a native evaluation.
const (
	maxInput  = 1 << 20 // bytes of JSON
	maxAnswer = 1 << 20
)

// ErrUndefined is a policy that gave no answer at all.
var ErrUndefined = errors.New("the policy gave no answer")

// Native evaluates a policy in OPA's own evaluator, where a built-in that fails
// is an error: to explain a decision, and to compare. It is some 20 times as
// slow as the compiled form and allocates; it has no place on the way of a
// request. Goroutines may share it.
type Native struct {
	query oparego.PreparedEvalQuery
}

// Native makes the evaluator of a module, with data as Module.Bind returned it.
func (m *Module) Native(ctx context.Context, data []byte) (*Native, error) {
	documents, p := document(data, "data")
	if p != nil {
		return nil, &Error{[]Problem{*p}}
	}
	modules := withAnswer(m.modules, m.Kind, m.Outputs)
	c := ast.NewCompiler().WithCapabilities(dialect()).WithDefaultRegoVersion(ast.RegoV1)
	if c.Compile(modules); c.Failed() {
		r := &report{}
		r.addErrors(c.Errors)
		return nil, r.err()
	}
	query, err := oparego.New(
		oparego.Query("data."+answerPackage+"."+answerRule),
		oparego.Compiler(c),
		oparego.Store(inmem.NewFromObjectWithOpts(documents, inmem.OptRoundTripOnWrite(false))),
		oparego.Capabilities(dialect()),
		oparego.SetRegoVersion(ast.RegoV1),
		oparego.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare rego: %w", err)
	}
	return &Native{query}, nil
}

// Eval evaluates the policy on an input, a JSON document, and returns its
// answer, for Answer.Read: all refusals and removals with their reasons. It ends
// when ctx does; a context without a deadline is not a good idea. Errors:
// ErrUndefined, ctx's, or what failed, with its place in the source.
func (n *Native) Eval(ctx context.Context, input []byte) ([]byte, error) {
	if len(input) > maxInput {
		return nil, fmt.Errorf("an input of %d bytes, the limit is %d", len(input), maxInput)
	}
	s := scanner{s: string(input)}
	value := s.term()
	s.end()
	if s.failed() {
		return nil, fmt.Errorf("input: %s", s.what)
	}
	results, err := n.query.Eval(ctx, oparego.EvalParsedInput(value.Value))
	switch {
	case err != nil && topdown.IsCancel(err) && ctx.Err() != nil:
		return nil, fmt.Errorf("the policy took too long: %w", ctx.Err())
	case err != nil:
		return nil, evalError(err)
	case len(results) == 0:
		return nil, ErrUndefined
	}
	text, err := json.Marshal(results[0].Expressions[0].Value)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes, the limit is %d", len(text), maxAnswer)
	}
	return text, nil
}

// evalError words an error of the evaluator.
func evalError(err error) error {
	if e, ok := errors.AsType[*topdown.Error](err); ok {
		p := problemAt(e.Location, "", "", "%s", strings.TrimSpace(e.Message))
		return &Error{[]Problem{p}}
	}
	return err
}
