package policies

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// rule is a Rego policy as a program: one compiled here, which gives all its
// outputs at once, or a module of OPA's own tool, with an entry point for each.
type rule struct {
	kind    Kind
	form    rego.Form
	reads   *abi.Reads
	outputs []rego.Output // of a policy compiled here; nil for OPA's modules
	module  *wasm.Module  // with outputs
	parts   []part        // without
	cache   *cache        // nil = nothing is kept
}

// part is one entry point of a module of OPA's own tool.
type part struct {
	output rego.Output
	module *wasm.Module
}

var _ program = (*rule)(nil)

// hits counts what the cache knew; nil without one.
func (p *rule) hits() *atomic.Uint64 {
	if p.cache == nil {
		return nil
	}
	return &p.cache.hits
}

// errUndefined is a policy without an answer: in Rego that is what becomes of
// most errors, so it is never read as "nothing to say".
var errUndefined = errors.New("its answer is undefined")

// decide implements program.
func (p *rule) decide(ctx context.Context, in *input, out *verdict) error {
	if p.cache == nil {
		out.begin()
	}
	var err error
	if out.asked, err = abi.AppendJSON(out.asked[:0], &in.Input, stageOf(p.kind), p.reads); err != nil {
		return err
	}
	if p.cache != nil {
		if known := p.cache.get(out.asked); known != nil {
			return p.apply(known, in, out)
		}
		out.begin() // what is asked is short then
	}
	if err := p.evaluate(ctx, in, out); err != nil {
		return err
	}
	if p.cache != nil {
		p.cache.put(out.asked, &out.answer)
	}
	return p.apply(&out.answer, in, out)
}

// evaluate asks the module what is in out.asked and reads its answer.
func (p *rule) evaluate(ctx context.Context, in *input, out *verdict) error {
	if p.outputs != nil {
		if err := out.eval(ctx, p.module); err != nil {
			return err
		}
		return out.answer.Read(out.said, p.outputs, in.find())
	}
	out.answer.Reset()
	for i := range p.parts {
		x := &p.parts[i]
		if err := out.eval(ctx, x.module); err != nil {
			return fmt.Errorf("%s: %w", x.output, err)
		}
		if err := out.answer.ReadOutput(x.output, out.said, in.find()); err != nil {
			return err
		}
	}
	return nil
}

func (v *verdict) eval(ctx context.Context, m *wasm.Module) (err error) {
	v.said, err = m.Eval(ctx, v.asked, v.said[:0])
	if errors.Is(err, wasm.ErrUndefined) {
		return errUndefined
	}
	return err
}

// apply puts an answer into the engine's terms.
func (p *rule) apply(a *rego.Answer, in *input, out *verdict) error {
	switch p.form {
	case rego.FormFacet:
		return applyDecision(&a.Decision, in, out)
	case rego.FormCandidate:
		if len(a.Refusals) > 0 {
			out.refuse(&a.Refusals[0])
		}
		for _, m := range a.Removals {
			r := removal{index: m.Candidate, reason: m.Reason}
			if m.Until != 0 {
				r.until = time.UnixMilli(m.Until)
			}
			out.removals = append(out.removals, r)
		}
	case rego.FormScore:
		out.unscored(len(in.Records))
		for _, s := range a.Scores {
			out.scores[s.Candidate] = s.Value
		}
	case rego.FormOrder:
		out.unscored(len(in.Records))
		for place, i := range a.Order {
			out.scores[i] = float64(place)
		}
	default:
		return fmt.Errorf("an answer of the form %s", p.form)
	}
	return nil
}

func (v *verdict) refuse(f *rego.Refusal) {
	v.refusal = refusal{status: f.Status, code: f.Code, message: f.Message, retryAfter: time.Duration(f.RetryAfter) * time.Second}
}
