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
