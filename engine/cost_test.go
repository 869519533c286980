package engine_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatewright/engine"
)

// TestEstimatedCost holds the estimate to the cost of the same tokens, and that to
// exact numbers, rounded half up, of all sizes.
func TestEstimatedCost(t *testing.T) {
	const most = math.MaxInt64 / 8
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 100_000), rapid.Int64Range(0, 1<<40))
		d := &engine.Deployment{Price: engine.Price{
			Known: rapid.IntRange(0, 9).Draw(t, "known") > 0,
			Input: number.Draw(t, "input price"), Output: number.Draw(t, "output price"),
			CachedInput: engine.Unknown, CacheWrite: engine.Unknown,
		}}
		if rapid.Bool().Draw(t, "sale") {
			d.Sale = engine.Sale{Multiplier: rapid.Int64Range(0, 2_000_000).Draw(t, "multiplier"), Until: now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "until")))}
		}
		r := &engine.Request{InputTokens: number.Draw(t, "input"), MaxOutput: number.Draw(t, "output"), Now: now}
		got := d.EstimatedCost(r)
		if want := d.Cost(engine.Usage{Known: true, Input: r.InputTokens, Output: r.MaxOutput}, now); got != want {
			t.Fatalf("estimated %d, it costs %d", got, want)
		}
		if !d.Price.Known || d.Sale.Multiplier != 0 {
			return
		}
		exact := new(big.Int)
		for _, x := range [...][2]int64{{r.InputTokens, d.Price.Input}, {r.MaxOutput, d.Price.Output}} {
			if x[0] > 0 && x[1] > 0 {
				part := new(big.Int).Mul(big.NewInt(x[0]), big.NewInt(x[1]))
				exact.Add(exact, part.Div(part.Add(part, big.NewInt(500_000)), big.NewInt(1_000_000)))
			}
		}
		if exact.Cmp(big.NewInt(most)) > 0 {
			exact.SetInt64(most)
		}
		if got != exact.Int64() {
			t.Fatalf("%d tokens at %d and %d at %d: got %d, want %d", r.InputTokens, d.Price.Input, r.MaxOutput, d.Price.Output, got, exact.Int64())
		}
	})
}
