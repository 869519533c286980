package ordering

import (
	"context"

	"gatewright/engine"
)

// Usage is how many tokens the candidate took in the current minute: the fewer
// the better. It is never missing: where nothing is known nothing was used.
type Usage struct{}

var _ engine.SortKey = Usage{}

// Name returns the key's name in the configuration.
func (Usage) Name() string { return "usage" }

// Spec says how the values compare.
func (Usage) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true}
}

// Values writes the current minute's tokens; it never fails.
func (Usage) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = counted(pool[i].TokensThisMinute)
	}
	return nil
}
