package ordering

import (
	"context"

	"gatewright/engine"
)

// Listed is the candidate's place in the model's list of deployments, from 0:
// the earlier the better.
type Listed struct{}

var _ engine.SortKey = Listed{}

// Name returns the key's name in the configuration.
func (Listed) Name() string { return "listed" }

// Spec says how the values compare.
func (Listed) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true}
}

// Values writes the places; it never fails.
func (Listed) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = float64(pool[i].Listed)
	}
	return nil
}
