package ordering

import (
	"context"

	"gatewright/engine"
)

// Throughput is the median output of the last 24 h in milli-tokens per second:
// the higher the better, and values within 20 % of the fastest count as equal.
// Missing below the minimum of samples.
type Throughput struct{}

var _ engine.SortKey = Throughput{}

// Name returns the key's name in the configuration.
func (Throughput) Name() string { return "throughput" }

// Spec says how the values compare.
func (Throughput) Spec() engine.KeySpec {
	return engine.KeySpec{HighFirst: true, Integer: true, Tolerance: engine.Tolerance{RelativePPM: speedBand}}
}

// Values writes the output speeds; it never fails.
func (Throughput) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = known(pool[i].Throughput)
	}
	return nil
}
