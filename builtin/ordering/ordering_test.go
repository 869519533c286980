package ordering_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/engine"
)

var (
	now     = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	missing = math.NaN()
)

// valueCase is one candidate and the value that the key must give it.
type valueCase struct {
	name string
	set  func(c *engine.Candidate)
	want float64
}

// unknown returns a candidate of which nothing is known.
func unknown() engine.Candidate {
	return engine.Candidate{
		Deployment: &engine.Deployment{ID: "d", Provider: &engine.Provider{ID: "p"}},
		Signals: engine.Signals{
			TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration,
			Throughput: engine.Unknown, SuccessPPM: engine.Unknown,
			InFlight: engine.Unknown, TokensThisMinute: engine.Unknown,
		},
	}
}

func values(t *testing.T, key engine.SortKey, pool []engine.Candidate) []float64 {
	t.Helper()
	out := make([]float64, len(pool))
	for i := range out {
		out[i] = 77 // a key must write every value
	}
	if err := key.Values(context.Background(), &engine.Request{Now: now}, pool, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// runKey checks how the values of a key compare, its value for each case, and
// that it allocates nothing.
func runKey(t *testing.T, key engine.SortKey, name string, spec engine.KeySpec, cases []valueCase) {
	t.Helper()
	if key.Name() != name {
		t.Errorf("name = %q, want %q", key.Name(), name)
	}
	if diff := cmp.Diff(spec, key.Spec()); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	pool := make([]engine.Candidate, len(cases))
	for i, c := range cases {
		pool[i] = unknown()
		c.set(&pool[i])
		t.Run(c.name, func(t *testing.T) {
			got := values(t, key, pool[i:i+1])
			if diff := cmp.Diff([]float64{c.want}, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
	wantNoAllocations(t, key, pool)
}

func wantNoAllocations(t *testing.T, key engine.SortKey, pool []engine.Candidate) {
	t.Helper()
	r, out := &engine.Request{Now: now}, make([]float64, len(pool))
	allocations := testing.AllocsPerRun(100, func() {
		if err := key.Values(context.Background(), r, pool, out); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}
