package ordering

import (
	"context"

	"gatewright/engine"
)

// InputPrice is what the caller pays now for input alone, promotions included,
// in nano-USD per million tokens: the lower the better. Unknown prices are
// missing.
type InputPrice struct{}

var _ engine.SortKey = InputPrice{}

// Name returns the key's name in the configuration.
func (InputPrice) Name() string { return "input_price" }

// Spec says how the values compare.
func (InputPrice) Spec() engine.KeySpec {
	return engine.KeySpec{Integer: true}
}

// Values writes the input prices; it never fails.
func (InputPrice) Values(_ context.Context, r *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = known(pool[i].InputPrice(r.Now))
	}
	return nil
}
