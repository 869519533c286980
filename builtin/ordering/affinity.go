package ordering

import (
	"context"

	"gatewright/engine"
)

// Affinity is 1 for the deployment that last served the session, where affinity
// is on, and 0 for the rest. A strategy that lists it places the session's
// target there instead of before everything.
type Affinity struct{}

var _ engine.SortKey = Affinity{}

// Name returns the key's name in the configuration.
func (Affinity) Name() string { return engine.KeyAffinity }

// Spec says how the values compare.
func (Affinity) Spec() engine.KeySpec {
	return engine.KeySpec{HighFirst: true, Integer: true}
}

// Values writes 1 for the session's target; it never fails.
func (Affinity) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = flag(pool[i].Affinity)
	}
	return nil
}
