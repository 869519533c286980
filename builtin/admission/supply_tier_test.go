package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestSupplyTier(t *testing.T) {
	runCases(t, admission.SupplyTier{}, []refusalCase{
		{name: "no list allows all", set: func(_ *engine.Request, c *engine.Candidate) { c.Provider.SupplyTier = "economy" }},
		{name: "listed", set: func(r *engine.Request, _ *engine.Candidate) {
			r.Caller.SupplyTiers = engine.NewSet([]string{"official"})
		}},
		{
			name: "not listed",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Caller.SupplyTiers = engine.NewSet([]string{"official", "internal"})
				c.Provider.SupplyTier = "economy"
			},
			detail: `provider "p" has the supply tier "economy"; this key may use internal, official`,
		},
		{
			name: "no tier at all",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Caller.SupplyTiers = engine.NewSet([]string{"official"})
				c.Provider.SupplyTier = ""
			},
			detail: `provider "p" has no supply tier; this key may use official`,
		},
	})
}
