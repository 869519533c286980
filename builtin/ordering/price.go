package ordering

import (
	"context"

	"gatewright/engine"
)

// Price is input × 3 + output of what the caller pays now, promotions included,
// in nano-USD per million tokens: the lower the better, and prices within 2 %
// of the cheapest count as equal. Unknown prices are missing.
type Price struct{}

var _ engine.SortKey = Price{}

// Name returns the key's name in the configuration.
func (Price) Name() string { return "price" }

// Spec says how the values compare.
func (Price) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true, Tolerance: engine.Tolerance{RelativePPM: priceBand}}
}

// Values writes the blended prices; it never fails.
func (Price) Values(_ context.Context, r *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = known(pool[i].BlendedPrice(r.Now))
	}
	return nil
}
