package admission

import (
	"context"

	"gatewright/engine"
)

// ZeroWeight removes candidates whose effective weight is 0, whatever strategy
// the request asks for. A request that names the provider bypasses weights.
// Lasting.
type ZeroWeight struct{}

var _ engine.Check = ZeroWeight{}

// Name returns the reason that the check gives.
func (ZeroWeight) Name() string { return string(engine.ReasonZeroWeight) }

// Refuse removes the candidates that weigh nothing; it never fails.
func (ZeroWeight) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if c := &pool[i]; c.Weight <= 0 && !c.Locked {
			out.Remove(i, engine.ReasonZeroWeight, "its weight is 0: only requests that name "+provider(c)+" go there")
		}
	}
	return nil
}
