package meter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A module decides bit for bit the same with the budget in it, and uses the
// same units in both engines.
func TestSameDecisions(t *testing.T) {
	for file, export := range map[string]string{"rank.wasm": "gw_rank", "admit.wasm": "gw_admit"} {
		plain := read(t, "guests", file)
		metered := instrument(t, plain)
		type pair struct{ plain, metered *instance }
		var pairs []pair
		for _, e := range engines {
			r := newEngine(t, e.config())
			pairs = append(pairs, pair{instantiate(t, r, plain), instantiate(t, r, metered)})
		}
		r := rand.New(rand.NewPCG(7, 8))
		for _, count := range []int{0, 1, 2, 7, 8, 9, 20, 50, 200} {
			t.Run(fmt.Sprint(file, " with ", count), func(t *testing.T) {
				in := request(r, count)
				want, _ := pairs[0].plain.decide(t, export, in)
				if want.err != "<nil>" || (count > 20 && want.result[0] == 0) {
					t.Fatalf("the plain module answers %v, %s", want.result, want.err)
				}
				var units []int64
				for i, p := range pairs {
					if got, _ := p.plain.decide(t, export, in); !got.equal(want) {
						t.Errorf("%s: the plain module decides otherwise", engines[i].name)
					}
					got, used := p.metered.decide(t, export, in)
					if !got.equal(want) {
						t.Errorf("%s: the metered module decides otherwise: %v, want %v", engines[i].name, got.result, want.result)
					}
					units = append(units, used)
				}
				if units[0] != units[1] || units[0] <= int64(50*count) {
					t.Errorf("the engines use %v units for %d candidates", units, count)
				}
			})
		}
	}
}

// With the units that a decision takes it comes out; with one less it does not
// (0.9 and 1.1 times a budget lie on either side of this).
func TestExactBudget(t *testing.T) {
	in := request(rand.New(rand.NewPCG(3, 4)), 20)
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			r := newEngine(t, e.config())
			i := instantiate(t, r, instrument(t, read(t, "guests", "rank.wasm")))
			want, used := i.decide(t, "gw_rank", in)
			at, _, _ := i.call(enough, "gw_alloc", uint64(len(in)))
			i.Memory().Write(uint32(at[0]), in)
			got, _, err := i.call(used, "gw_rank", at[0], uint64(len(in)))
			if err != nil || int64(i.budget.Get()) != 0 || got[0] != want.result[0] {
				t.Errorf("with %d units: %v, %v, %d left", used, got, err, int64(i.budget.Get()))
			}
			_, _, err = i.call(used-1, "gw_rank", at[0], uint64(len(in)))
			if err == nil || int64(i.budget.Get()) >= 0 {
				t.Errorf("with one unit less: %v, %d left", err, int64(i.budget.Get()))
			}
		})
	}
}
