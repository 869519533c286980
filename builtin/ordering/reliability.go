package ordering

import (
	"context"

	"gatewright/engine"
)

// Reliability is the success rate of the last 24 h in ppm: the higher the
// better, and values within one percentage point (10,000) of the best count as
// equal. Missing below the minimum of samples.
type Reliability struct{}

var _ engine.SortKey = Reliability{}

// Name returns the key's name in the configuration.
func (Reliability) Name() string { return "reliability" }

// Spec says how the values compare.
func (Reliability) Spec() engine.KeySpec {
	return engine.KeySpec{HighFirst: true, Integer: true, Tolerance: engine.Tolerance{Absolute: successBand}}
}

// Values writes the success rates; it never fails.
func (Reliability) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = known(pool[i].SuccessPPM)
	}
	return nil
}
