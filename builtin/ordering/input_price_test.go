package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestInputPrice(t *testing.T) {
	runKey(t, ordering.InputPrice{}, "input_price", engine.KeySpec{Integer: true}, []valueCase{
		{"not known", func(*engine.Candidate) {}, missing},
		{"output does not count", priced(2_500_000_000, 10_000_000_000), 2_500_000_000},
		{"free", priced(0, 5), 0},
		{"a promotion that runs", onSale(engine.Sale{Multiplier: 800_000}), 2_000_000_000},
		{"a promotion that is over", onSale(engine.Sale{Multiplier: 800_000, Until: now}), 2_500_000_000},
	})
}
