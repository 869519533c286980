package ordering

import (
	"context"

	"gatewright/engine"
)

// QuotaLeft is the share left in the tightest quota window that covers the
// model, in ppm: the higher the better, and values within five percentage
// points (50,000) of the fullest count as equal. Missing without a fresh
// snapshot, and when it knows no share.
type QuotaLeft struct{}

var _ engine.SortKey = QuotaLeft{}

// Name returns the key's name in the configuration.
func (QuotaLeft) Name() string { return "quota_left" }

// Spec says how the values compare.
func (QuotaLeft) Spec() engine.KeySpec {
	return engine.KeySpec{HighFirst: true, Integer: true, Tolerance: engine.Tolerance{Absolute: quotaBand}}
}

// Values writes the shares; it never fails.
func (QuotaLeft) Values(_ context.Context, r *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = known(pool[i].QuotaLeft(r.Now))
	}
	return nil
}
