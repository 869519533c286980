package ordering

import (
	"context"
	"math"

	"gatewright/engine"
)

// QuotaReset is when the longest quota window that covers the model resets, in
// Unix milliseconds: the earlier the better, so that quota is used before it
// lapses. Without a fresh snapshot, or when that reset is not known, the
// candidate goes after all that have a value.
type QuotaReset struct{}

var _ engine.SortKey = QuotaReset{}

// Name returns the key's name in the configuration.
func (QuotaReset) Name() string { return "quota_reset" }

// Spec says how the values compare.
func (QuotaReset) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true, Missing: engine.MissingLast}
}

// Values writes the instants; it never fails.
func (QuotaReset) Values(_ context.Context, r *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = math.NaN()
		if reset := pool[i].QuotaReset(r.Now); !reset.IsZero() {
			out[i] = float64(reset.UnixMilli())
		}
	}
	return nil
}
