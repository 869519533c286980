package admission

import (
	"context"
	"strconv"

	"gatewright/engine"
)

// SupplyTier removes the candidates whose provider's supply tier is outside the
// caller's, the intersection over org, team and key; an empty list allows any,
// and a provider without a tier passes no other. Lasting.
type SupplyTier struct{}

var _ engine.Check = SupplyTier{}

// Name returns the reason that the check gives.
func (SupplyTier) Name() string { return string(engine.ReasonSupplyTier) }

// Refuse removes the candidates whose tier the caller may not use; it never
// fails.
func (SupplyTier) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	allowed := r.Caller.SupplyTiers
	for i := range pool {
		c := &pool[i]
		if allowed.Allows(c.Provider.SupplyTier) {
			continue
		}
		tier := " has no supply tier"
		if c.Provider.SupplyTier != "" {
			tier = " has the supply tier " + strconv.Quote(c.Provider.SupplyTier)
		}
		out.Remove(i, engine.ReasonSupplyTier, provider(c)+tier+"; this key may use "+list(allowed))
	}
	return nil
}
