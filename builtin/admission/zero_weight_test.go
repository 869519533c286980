package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestZeroWeight(t *testing.T) {
	runCases(t, admission.ZeroWeight{}, []refusalCase{
		{name: "weight 1", set: func(_ *engine.Request, c *engine.Candidate) { c.Weight = 1 }},
		{
			name:   "weight 0",
			set:    func(_ *engine.Request, c *engine.Candidate) { c.Weight = 0 },
			detail: `its weight is 0: only requests that name provider "p" go there`,
		},
		{name: "weight 0, and the caller named the provider", set: func(_ *engine.Request, c *engine.Candidate) { c.Weight, c.Locked = 0, true }},
		{
			name:   "weight 0 of the session's target",
			set:    func(_ *engine.Request, c *engine.Candidate) { c.Weight, c.Affinity = 0, true },
			detail: `its weight is 0: only requests that name provider "p" go there`,
		},
	})
}
