package policies

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gatewright/wasm"
	"gatewright/wasm/abi"
)

// guest is a module of the contract's ABI as a program.
type guest struct {
	module  *wasm.Module
	kind    Kind
	reasons []string
}

var _ program = (*guest)(nil)

func newGuest(m *wasm.Module, kind Kind) *guest {
	return &guest{module: m, kind: kind, reasons: m.Info().Reasons}
}

// decide implements program.
func (g *guest) decide(ctx context.Context, in *input, out *verdict) error {
	out.begin()
	if g.kind == Ranking {
		if err := g.module.Rank(ctx, &in.Input, &out.guest); err != nil {
			return err
		}
		out.rank(&out.guest, len(in.Records))
		return nil
	}
	if err := g.module.Admit(ctx, &in.Input, &out.guest); err != nil {
		return err
	}
	return g.admit(&out.guest, out)
}

// admit takes over what an admission answered.
func (g *guest) admit(r *abi.Result, out *verdict) error {
	if f := r.Refusal; f.Status != 0 {
		code, err := g.reason(f.Reason)
		if err != nil {
			return err
		}
		out.refusal = refusal{
			status: int(f.Status), code: code, message: string(r.Message), retryAfter: time.Duration(f.RetryAfter) * time.Second,
		}
	}
	for i, v := range r.Verdicts {
		if v.Reason == 0 {
			continue
		}
		reason, err := g.reason(v.Reason)
		if err != nil {
			return err
		}
		m := removal{index: i, reason: reason}
		if v.Until != abi.Unknown {
			m.until = time.UnixMilli(v.Until)
		}
		out.removals = append(out.removals, m)
	}
	return nil
}

// reason is the name of a reason by its number; 0 has none.
func (g *guest) reason(n uint32) (string, error) {
	switch {
	case n == 0:
		return "", nil
	case int(n) > len(g.reasons):
		return "", fmt.Errorf("reason %d of %d", n, len(g.reasons))
	}
	return g.reasons[n-1], nil
}

// rank turns what a ranking answered into one score a candidate: an order is the
// scores 0, 1, 2 and so on.
func (v *verdict) rank(r *abi.Result, candidates int) {
	if !r.Ordered {
		v.scores = append(v.scores[:0], r.Scores...)
		return
	}
	if len(r.Order) < candidates {
		v.unscored(candidates)
	} else {
		v.scores = slices.Grow(v.scores[:0], candidates)[:candidates] // each is written
	}
	for position, i := range r.Order {
		v.scores[i] = float64(position)
	}
}

// unscored gives no candidate a score.
func (v *verdict) unscored(candidates int) {
	v.scores = v.scores[:0]
	for range candidates {
		v.scores = append(v.scores, math.NaN())
	}
}
