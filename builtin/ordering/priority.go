package ordering

import (
	"context"

	"gatewright/engine"
)

// Priority is the candidate's priority, 0 to 10000: the higher the better. A
// strategy that lists it places the tiers there instead of before all its keys.
type Priority struct{}

var _ engine.SortKey = Priority{}

// Name returns the key's name in the configuration.
func (Priority) Name() string { return engine.KeyPriority }

// Spec says how the values compare.
func (Priority) Spec() engine.KeySpec {
	return engine.KeySpec{HighFirst: true, Integer: true}
}

// Values writes the priorities; it never fails.
func (Priority) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = float64(pool[i].Priority)
	}
	return nil
}
