package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// tellingCheck is a user's admission: it removes one candidate and tells.
type tellingCheck struct{ removes string }

func (tellingCheck) Name() string { return "policy:guard" }

func (c tellingCheck) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	rec := engine.PolicyRecord{Name: "guard", Stage: engine.StageAdmission, Outcome: engine.OutcomeAllowed}
	for i := range pool {
		if pool[i].ID == c.removes {
			out.Remove(i, "policy:guard", "not today")
			rec.Outcome, rec.Removed = engine.OutcomeRemoved, 1
		}
	}
	out.Trail.Record(rec)
	return nil
}

// tellingKey is a user's ranking: by what it was told, or a fault.
type tellingKey struct {
	scores map[string]float64
	err    error
}

func (tellingKey) Name() string         { return "score" }
func (tellingKey) Spec() engine.KeySpec { return engine.KeySpec{Missing: engine.MissingLast} }

func (tellingKey) Values(context.Context, *engine.Request, []engine.Candidate, []float64) error {
	return errors.New("the engine must let it tell")
}

func (k tellingKey) Rank(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64, trail *engine.Trail) error {
	rec := engine.PolicyRecord{Name: "rank", Stage: engine.StageOrdering, Outcome: engine.OutcomeRanked}
	if k.err != nil {
		rec.Outcome, rec.Detail = engine.OutcomeFallback, k.err.Error()
	}
	trail.Record(rec)
	for i := range pool {
		out[i] = k.scores[pool[i].ID]
	}
	return k.err
}

func TestPoliciesAreRecorded(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m", "c/m"})
	w.spec.Checks = append(w.spec.Checks, tellingCheck{removes: "c/m"})
	key := tellingKey{scores: map[string]float64{"a/m": 2, "b/m": 1}}
	w.spec.Strategies["policy:rank"] = &engine.Strategy{Name: "policy:rank", Keys: []engine.KeyUse{{Key: key}}}
	w.spec.Default = "policy:rank"
	s := w.start(t)
	d, err := w.serve(s, request("m"))
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.PolicyRecord{
		{Name: "guard", Stage: "admission", Outcome: engine.OutcomeRemoved, Removed: 1},
		{Name: "rank", Stage: "ordering", Outcome: engine.OutcomeRanked},
	}
	if diff := cmp.Diff(want, d.Policies); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b/m", "a/m"}, d.Order); diff != "" {
		t.Error(diff)
	}
}

func TestAFaultOfARankingLeavesTheBaseOrder(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m"})
	w.deployment("b/m").Priority = 1
	key := tellingKey{scores: map[string]float64{"a/m": 1, "b/m": 2}, err: errors.New("out of budget")}
	w.spec.Strategies["policy:rank"] = &engine.Strategy{Name: "policy:rank", Keys: []engine.KeyUse{{Key: key}}}
	w.spec.Default = "policy:rank"
	d, err := w.serve(w.start(t), request("m"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b/m", "a/m"}, d.Order); diff != "" {
		t.Error(diff)
	}
	if len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeFallback || d.Policies[0].Detail != "out of budget" {
		t.Errorf("got %+v", d.Policies)
	}
	if len(d.Faults) != 1 || d.Faults[0].Rule != "score" {
		t.Errorf("got %v", d.Faults)
	}
}
