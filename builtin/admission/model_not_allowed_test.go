package admission_test

import (
	"context"
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestModelNotAllowed(t *testing.T) {
	runCases(t, admission.ModelNotAllowed{}, []refusalCase{
		{name: "no list allows all", set: func(_ *engine.Request, c *engine.Candidate) { c.Model = "other" }},
		{name: "listed", set: func(r *engine.Request, _ *engine.Candidate) {
			r.Caller.AllowedModels = engine.NewSet([]string{"x", "m"})
		}},
		{
			name: "not listed",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Caller.AllowedModels = engine.NewSet([]string{"m"})
				c.Model = "other"
			},
			detail: `this key may not use the model "other"`,
		},
		{
			name: "the public name counts, not what the client wrote",
			set: func(r *engine.Request, _ *engine.Candidate) {
				r.Model = "an-alias:p"
				r.Caller.AllowedModels = engine.NewSet([]string{"m"})
			},
		},
	})
}

// A pool is of one model, so the check empties it or leaves it whole.
func TestModelNotAllowedEmptiesThePool(t *testing.T) {
	r, c := healthy()
	r.Caller.AllowedModels = engine.NewSet([]string{"other"})
	var out engine.Refusals
	if err := (admission.ModelNotAllowed{}).Refuse(context.Background(), r, []engine.Candidate{c, c, c}, &out); err != nil {
		t.Fatal(err)
	}
	for i, f := range out.List() {
		if f.Candidate != i {
			t.Errorf("refusal %d is of candidate %d; the engine answers for the request, not the check", i, f.Candidate)
		}
	}
	if got := len(out.List()); got != 3 {
		t.Errorf("%d of 3 removed", got)
	}
}
