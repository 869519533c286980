package admission_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// refusalCase changes a request that all may serve, and one of three candidates
// that all may serve it. detail is what the check must say of that candidate;
// "" means that it stays.
type refusalCase struct {
	name   string
	set    func(r *engine.Request, c *engine.Candidate)
	detail string
	until  time.Time
}

// healthy returns a request and a candidate that no check refuses, of which as
// much is known as can be.
func healthy() (*engine.Request, engine.Candidate) {
	r := &engine.Request{
		Caller: &engine.Caller{Key: "k"}, Model: "m", Endpoint: engine.EndpointChat, Now: now,
		Needs: engine.CapTools, InputTokens: 1000, MaxOutput: 500,
	}
	d := &engine.Deployment{
		ID: "d", Model: "m", Enabled: true, Weight: 1, Context: 8000,
		Provider:  &engine.Provider{ID: "p", Enabled: true, HasCredential: true, SupplyTier: "official"},
		Price:     engine.Price{Known: true, Input: 1_000_000_000, Output: 4_000_000_000, CachedInput: engine.Unknown, CacheWrite: engine.Unknown},
		Endpoints: engine.EndpointSet(engine.EndpointChat),
		Caps:      engine.CapTools | engine.CapVision, CapsKnown: engine.CapTools | engine.CapVision,
	}
	return r, engine.Candidate{Deployment: d, Signals: engine.Signals{TTFT: 300 * time.Millisecond, Throughput: 50_000, SuccessPPM: 999_000}}
}

func runCases(t *testing.T, check engine.Check, cases []refusalCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, first := healthy()
			_, changed := healthy()
			_, last := healthy()
			c.set(r, &changed)
			var got engine.Refusals
			if err := check.Refuse(context.Background(), r, []engine.Candidate{first, changed, last}, &got); err != nil {
				t.Fatal(err)
			}
			var want []engine.Refusal
			if c.detail != "" {
				want = []engine.Refusal{{Candidate: 1, Reason: engine.Reason(check.Name()), Detail: c.detail, Until: c.until}}
			}
			if diff := cmp.Diff(want, got.List()); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("allocates nothing when all may serve", func(t *testing.T) {
		r, c := healthy()
		r.Caller.AllowedModels = engine.NewSet([]string{"m"})
		r.Caller.AllowedProviders = engine.NewSet([]string{"p"})
		r.Caller.SupplyTiers = engine.NewSet([]string{"official"})
		r.MaxTTFT, r.MaxCost = time.Second, 1_000_000_000
		c.CooldownUntil = now.Add(-time.Second)
		c.Quota = &engine.Quota{TakenAt: now, Windows: []engine.QuotaWindow{{Name: "weekly", LeftPPM: 1, ResetsAt: now.Add(time.Hour)}}}
		pool := make([]engine.Candidate, 20)
		for i := range pool {
			pool[i] = c
		}
		var out engine.Refusals
		allocations := testing.AllocsPerRun(100, func() {
			if err := check.Refuse(context.Background(), r, pool, &out); err != nil {
				t.Fatal(err)
			}
		})
		if len(out.List()) > 0 || allocations > 0 {
			t.Errorf("%d refused, %v allocations; want none", len(out.List()), allocations)
		}
	})
}
