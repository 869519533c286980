package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// note is a memo that counts how often it was given back.
type note struct {
	pool []engine.Candidate
	done int
}

func (n *note) Done() { n.done++ }

// leaving is an admission that leaves a note for each pool.
type leaving struct {
	notes  *[]*note
	refuse bool
}

func (leaving) Name() string { return "policy:leaving" }

func (c leaving) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	n := &note{pool: pool}
	*c.notes = append(*c.notes, n)
	out.Trail.Leave(n)
	out.Trail.Record(engine.PolicyRecord{Name: "leaving", Stage: engine.StageAdmission})
	if c.refuse {
		out.Refuse(engine.Refusal{Code: "no", Status: 403})
	}
	return nil
}

// finding is a ranking that looks for the note of its pool.
type finding struct{ found *[]*note }

func (finding) Name() string         { return "score" }
func (finding) Spec() engine.KeySpec { return engine.KeySpec{Missing: engine.MissingLast} }

func (finding) Values(context.Context, *engine.Request, []engine.Candidate, []float64) error {
	return errors.New("the engine must let it tell")
}

func (k finding) Rank(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64, trail *engine.Trail) error {
	n, _ := trail.Left().(*note)
	if n == nil || n.done > 0 || &n.pool[0] != &pool[0] {
		return errors.New("the note of the pool is not there")
	}
	*k.found = append(*k.found, n)
	trail.Record(engine.PolicyRecord{Name: "finding", Stage: engine.StageOrdering})
	for i := range pool {
		out[i] = float64(-i)
	}
	return nil
}

// TestMemoOfAPool leaves something with each pool of a request: it is there when the
// pool is ordered, and given back once whatever becomes of the pool.
func TestMemoOfAPool(t *testing.T) {
	for _, tc := range []struct {
		name     string
		refuse   bool
		fails    string
		left     int
		found    int
		policies []string
	}{
		{name: "served", left: 1, found: 1, policies: []string{"leaving", "finding"}},
		{name: "a fallback", fails: "a/m", left: 2, found: 2, policies: []string{"leaving", "finding", "leaving", "finding"}},
		{name: "refused", refuse: true, left: 1, policies: []string{"leaving"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, []string{"m", "a/m", "b/m"}, []string{"n", "a/n"})
			w.model("m").Route.Chains[engine.ChainGeneral] = []string{"n"}
			if tc.fails != "" {
				w.fails["a/m"], w.fails["b/m"] = engine.ClassServer, engine.ClassServer
			}
			var left, found []*note
			w.spec.Checks = append(w.spec.Checks, leaving{notes: &left, refuse: tc.refuse})
			w.spec.Strategies["policy:find"] = &engine.Strategy{Name: "policy:find", Keys: []engine.KeyUse{{Key: finding{&found}}}}
			w.spec.Default = "policy:find"
			d, err := w.serve(w.start(t), request("m"))
			if (err != nil) != tc.refuse {
				t.Fatal(err)
			}
			if len(d.Faults) > 0 {
				t.Error(d.Faults)
			}
			if len(left) != tc.left || len(found) != tc.found {
				t.Errorf("%d notes were left and %d found, want %d and %d", len(left), len(found), tc.left, tc.found)
			}
			for i, n := range left {
				if n.done != 1 {
					t.Errorf("note %d was given back %d times", i, n.done)
				}
			}
			var names []string
			for _, p := range d.Policies {
				names = append(names, p.Name)
			}
			if diff := cmp.Diff(tc.policies, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTrail(t *testing.T) {
	var room [1]engine.PolicyRecord
	trail := engine.NewTrail(room[:])
	first, second := &note{}, &note{}
	trail.Leave(first)
	trail.Leave(second)
	if first.done != 1 || trail.Left() != engine.Memo(second) {
		t.Errorf("the first was given back %d times, left is %v", first.done, trail.Left())
	}
	trail.Record(engine.PolicyRecord{Name: "a"})
	trail.Record(engine.PolicyRecord{Name: "b"})
	trail.End()
	trail.End()
	if second.done != 1 || trail.Left() != nil {
		t.Errorf("the second was given back %d times, left is %v", second.done, trail.Left())
	}
	if diff := cmp.Diff([]engine.PolicyRecord{{Name: "a"}, {Name: "b"}}, trail.List()); diff != "" {
		t.Error(diff)
	}
	if room[0].Name != "a" {
		t.Error("the first record stands elsewhere")
	}
}

// TestForgottenPoolLeavesNoRecords has a session whose fallback no longer serves, so
// that its pool is looked at and forgotten: the policies are told of the pools that
// were used.
func TestForgottenPoolLeavesNoRecords(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m"}, []string{"n", "a/n", "b/n"})
	w.fails["a/m"] = engine.ClassServer
	w.model("m").Route.Chains[engine.ChainGeneral] = []string{"n"}
	w.affinity[engine.AffinityKey{Session: [16]byte{1}, Family: "generate", Model: "m"}] = engine.Target{Deployment: "gone/n", Path: []string{"n"}}
	var left, found []*note
	w.spec.Checks = append(w.spec.Checks, leaving{notes: &left})
	w.spec.Strategies["policy:find"] = &engine.Strategy{Name: "policy:find", Keys: []engine.KeyUse{{Key: finding{&found}}}}
	w.spec.Default = "policy:find"
	d, err := w.serve(w.start(t), withSession(request("m"), 1))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range d.Policies {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"leaving", "finding", "leaving", "finding"}, names); diff != "" || len(left) != 3 {
		t.Errorf("%d pools were asked about, want 3; told is (-want +got):\n%s", len(left), diff)
	}
}
