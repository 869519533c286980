package ordering

import (
	"context"

	"gatewright/engine"
)

// InFlight is how many requests the candidate is serving now: the fewer the
// better. It is never missing: where nothing is known nothing runs.
type InFlight struct{}

var _ engine.SortKey = InFlight{}

// Name returns the key's name in the configuration.
func (InFlight) Name() string { return "in_flight" }

// Spec says how the values compare.
func (InFlight) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true}
}

// Values writes the requests in flight; it never fails.
func (InFlight) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = counted(pool[i].InFlight)
	}
	return nil
}
