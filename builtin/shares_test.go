package builtin_test

import (
	"fmt"
	"math"
	"testing"

	"gatewright/builtin"
	"gatewright/engine"
)

// The shares are counted over fixed seeds, so a count never changes by chance:
// it changes when the draw does. The bound is five standard deviations, which
// none of the few hundred counts of a fair draw exceeds.
const (
	shareSeeds = 20_000
	sigmas     = 5
)

// seedings are what sessions may look like: hashes, or the plainest numbers.
var seedings = map[string]func(i int) uint64{
	"spread":     func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 },
	"sequential": func(i int) uint64 { return uint64(i) },
}

func TestDrawShares(t *testing.T) {
	equal := []int{1, 1, 1, 1, 1, 1, 1}
	cases := []struct {
		strategy string
		weights  []int
		counts   []int // the weights that count; nil = the weights themselves
	}{
		{"balanced", []int{6000, 4000}, nil},
		{"balanced", []int{1, 2, 3, 4}, nil},
		{"balanced", []int{1, 10_000}, nil},
		{"balanced", equal, nil},
		{"balanced", []int{0, 3, 1}, nil},
		{"traffic-split", []int{3, 7}, nil},
		{"random", []int{1, 10_000, 50}, []int{1, 1, 1}},
		{"simple-shuffle", []int{7, 0, 1}, []int{1, 0, 1}},
		{"least-busy", []int{1, 3}, nil},    // all idle: the draw decides
		{"price", []int{1, 2}, nil},         // no price known: the draw decides
		{"last-known-good", equal[:3], nil}, // nothing has succeeded yet
	}
	for _, c := range cases {
		if c.counts == nil {
			c.counts = c.weights
		}
		for name, seed := range seedings {
			t.Run(fmt.Sprintf("%s/%v/%s", c.strategy, c.weights, name), func(t *testing.T) {
				checkShares(t, c.strategy, c.weights, c.counts, seed)
			})
		}
	}
}

// checkShares counts who comes first and, for each first, who comes second:
// what is left is drawn from by weight again.
func checkShares(t *testing.T, strategy string, weights, counts []int, seed func(int) uint64) {
	t.Helper()
	w := &world{request: &engine.Request{Now: caseNow, Caller: &engine.Caller{}, Endpoint: engine.EndpointChat}, checks: builtin.Checks()}
	total := 0
	for i, weight := range weights {
		c := healthyCandidate(string(rune('a' + i)))
		c.Weight = weight
		w.candidates = append(w.candidates, c)
		total += counts[i]
	}
	p, err := w.planner(builtin.Strategies()[strategy])
	if err != nil {
		t.Fatal(err)
	}
	first := make([]int, len(weights))
	second := make([][]int, len(weights))
	for i := range second {
		second[i] = make([]int, len(weights))
	}
	for i := range shareSeeds {
		d, err := p.plan(seed(i))
		if err != nil {
			t.Fatal(err)
		}
		a := w.index(d.Order[0])
		first[a]++
		if len(d.Order) > 1 {
			second[a][w.index(d.Order[1])]++
		}
	}
	for i := range weights {
		wantShare(t, w.candidates[i].ID+" first", first[i], shareSeeds, counts[i], total)
		for j := range weights {
			if left := total - counts[i]; j != i && left > 0 {
				wantShare(t, w.candidates[j].ID+" behind "+w.candidates[i].ID, second[i][j], first[i], counts[j], left)
			}
		}
	}
}

func wantShare(t *testing.T, what string, got, of, weight, total int) {
	t.Helper()
	p := float64(weight) / float64(total)
	want := p * float64(of)
	// One more than the deviation, for counts that are hardly ever met.
	bound := sigmas*math.Sqrt(want*(1-p)) + 1
	if weight == 0 {
		bound = 0
	}
	if math.Abs(float64(got)-want) > bound {
		t.Errorf("%s: %d of %d, want %.1f ± %.1f", what, got, of, want, bound)
	}
}
