package admission

import (
	"context"

	"gatewright/engine"
)

// CostCap removes the candidates on which the request's estimated cost to the
// caller is above the smallest cap of the caller's levels and the request. A
// price that is not known removes nobody. Lasting.
type CostCap struct{}

var _ engine.Check = CostCap{}

// Name returns the reason that the check gives.
func (CostCap) Name() string { return string(engine.ReasonCostCap) }

// Refuse removes the candidates that are too expensive; it never fails.
func (CostCap) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	limit := lowest(r.Caller.MaxCost, r.MaxCost)
	if limit == 0 {
		return nil
	}
	for i := range pool {
		if cost := pool[i].EstimatedCost(r); cost != engine.Unknown && cost > limit {
			out.Remove(i, engine.ReasonCostCap, "the estimated cost, "+usd(cost)+", is above the cap of "+usd(limit))
		}
	}
	return nil
}
