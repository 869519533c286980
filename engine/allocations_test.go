//go:build !race

package engine_test

// The race detector lets pools forget what is in them, so what is allocated means
// something only without it.

import (
	"testing"
	"time"

	"gatewright/engine"
)

// TestServeAllocations guards what the engine itself costs a request: the walk,
// the decision, the pool, and for pools of several what the decision keeps of
// each.
func TestServeAllocations(t *testing.T) {
	for _, c := range []struct {
		name string
		pool []string
		most float64
	}{
		{"one candidate", []string{"m", "a/m"}, 3},
		{"several", []string{"m", "a/m", "b/m", "c/m", "d/m"}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.pool)
			s := w.start(t)
			e := engine.New(s, w, w, trivial{}, w)
			r, ctx := withSession(request("m"), 1), t.Context()
			clock := func() time.Time { return now }
			n := testing.AllocsPerRun(100, func() {
				if _, err := e.Serve(ctx, s, r, nil, clock); err != nil {
					t.Fatal(err)
				}
			})
			if n > c.most {
				t.Errorf("%.0f allocations, want at most %.0f", n, c.most)
			}
		})
	}
}
