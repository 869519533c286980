package ordering_test

import (
	"testing"
	"time"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func priced(in, out int64) func(*engine.Candidate) {
	return func(c *engine.Candidate) { c.Price = engine.Price{Known: true, Input: in, Output: out} }
}

func onSale(sale engine.Sale) func(*engine.Candidate) {
	return func(c *engine.Candidate) {
		priced(2_500_000_000, 10_000_000_000)(c)
		c.Sale = sale
	}
}

func TestPrice(t *testing.T) {
	spec := engine.KeySpec{Integer: true, Tolerance: engine.Tolerance{RelativePPM: 20_000}}
	runKey(t, ordering.Price{}, "price", spec, []valueCase{
		{"not known", func(*engine.Candidate) {}, missing},
		{"three times input and once output", priced(2_500_000_000, 10_000_000_000), 17_500_000_000},
		{"free", priced(0, 0), 0},
		{"a promotion that runs", onSale(engine.Sale{Multiplier: 800_000, From: now, Until: now.Add(time.Hour)}), 14_000_000_000},
		{"a promotion without end", onSale(engine.Sale{Multiplier: 800_000}), 14_000_000_000},
		{"a promotion that is over", onSale(engine.Sale{Multiplier: 800_000, Until: now}), 17_500_000_000},
		{"a promotion to come", onSale(engine.Sale{Multiplier: 800_000, From: now.Add(time.Second)}), 17_500_000_000},
	})
}
