package ordering_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestLastGood(t *testing.T) {
	candidate := func(set ...func(*engine.Candidate)) engine.Candidate {
		c := unknown()
		for _, f := range set {
			f(&c)
		}
		return c
	}
	success := func(ago time.Duration) func(*engine.Candidate) {
		return func(c *engine.Candidate) { c.LastSuccess = now.Add(-ago) }
	}
	session := func(c *engine.Candidate) { c.LastOfSession = true }
	removed := func(c *engine.Candidate) { c.Skipped = &engine.Skipped{Reason: engine.ReasonCooldown} }
	cases := []struct {
		name string
		pool []engine.Candidate
		want []float64
	}{
		{"nothing has succeeded", []engine.Candidate{candidate(), candidate()}, []float64{0, 0}},
		{"the newest", []engine.Candidate{candidate(success(time.Hour)), candidate(), candidate(success(time.Second))}, []float64{0, 0, 1}},
		{"the session's own before a newer one", []engine.Candidate{candidate(success(time.Hour), session), candidate(success(0))}, []float64{1, 0}},
		{"the session's own need not be known otherwise", []engine.Candidate{candidate(success(0)), candidate(session)}, []float64{0, 1}},
		{"the session's own was removed", []engine.Candidate{candidate(session, removed, success(0)), candidate(success(time.Minute))}, []float64{0, 1}},
		{"the newest was removed", []engine.Candidate{candidate(success(0), removed), candidate(success(time.Hour)), candidate()}, []float64{0, 1, 0}},
		{"two at one instant", []engine.Candidate{candidate(success(0)), candidate(success(0)), candidate(success(1))}, []float64{1, 1, 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, values(t, ordering.LastGood{}, c.pool)); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			wantNoAllocations(t, ordering.LastGood{}, c.pool)
		})
	}
	runKey(t, ordering.LastGood{}, "last_good", engine.KeySpec{HighFirst: true, Integer: true}, nil)
}
