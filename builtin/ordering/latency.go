package ordering

import (
	"context"
	"math"

	"gatewright/engine"
)

// Latency is the median time to first token of the last 24 h in whole
// milliseconds, rounded down: the lower the better, and times within 20 % of
// the fastest count as equal. Missing below the minimum of samples.
type Latency struct{}

var _ engine.SortKey = Latency{}

// Name returns the key's name in the configuration.
func (Latency) Name() string { return "latency" }

// Spec says how the values compare.
func (Latency) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true, Tolerance: engine.Tolerance{RelativePPM: speedBand}}
}

// Values writes the times; it never fails.
func (Latency) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		if pool[i].TTFT == engine.UnknownDuration {
			out[i] = math.NaN()
			continue
		}
		out[i] = float64(pool[i].TTFT.Milliseconds())
	}
	return nil
}
