package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// TestPlansDoNotShareRoom has one request make two plans of one candidate each:
// what the decision keeps of the first must outlast the second.
func TestPlansDoNotShareRoom(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m"}, []string{"n", "a/n"})
	w.model("m").Route.Chains[engine.ChainGeneral] = []string{"n"}
	w.affinity[engine.AffinityKey{Session: [16]byte{1}, Family: "generate", Model: "m"}] = engine.Target{Deployment: "a/n", Path: []string{"n"}}
	w.fails["a/n"] = engine.ClassServer
	d, err := w.serve(w.start(t), withSession(request("m"), 1))
	if err != nil {
		t.Fatal(err)
	}
	var order, attempts []string
	for i, c := range d.Candidates {
		if order = append(order, c.Deployment); c.Deployment != d.Order[i] {
			t.Errorf("candidate %d is %s, in the order %s", i, c.Deployment, d.Order[i])
		}
	}
	for _, a := range d.Attempts {
		attempts = append(attempts, a.Deployment)
	}
	want := []string{"a/n", "a/m"}
	if diff := cmp.Diff([][]string{want, want}, [][]string{order, attempts}); diff != "" {
		t.Errorf("order and attempts (-want +got):\n%s", diff)
	}
}

// trivial serves from the first candidate at once.
type trivial struct{}

func (trivial) Execute(_ context.Context, _ *engine.Request, p *engine.Plan, _ engine.Sink) (engine.Result, error) {
	c := &p.Order[0]
	p.Failed(c)
	p.Attempted(engine.Attempt{Deployment: c.ID, Status: 200})
	p.Served(c)
	return engine.Result{Status: 200, Deployment: c.ID, Cost: engine.Unknown}, nil
}

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
			if raceDetector {
				t.Skip("the race detector lets pools forget what is in them")
			}
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

func BenchmarkServe(b *testing.B) {
	w := newWorld(b, []string{"m", "a/m"})
	s := w.start(b)
	e := engine.New(s, w, w, trivial{}, w)
	r := withSession(request("m"), 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Serve(b.Context(), s, r, nil, func() time.Time { return now }); err != nil {
			b.Fatal(err)
		}
	}
}
