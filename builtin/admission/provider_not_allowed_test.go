package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestProviderNotAllowed(t *testing.T) {
	runCases(t, admission.ProviderNotAllowed{}, []refusalCase{
		{name: "no list allows all", set: func(_ *engine.Request, c *engine.Candidate) { c.Provider.ID = "other" }},
		{name: "listed", set: func(r *engine.Request, _ *engine.Candidate) {
			r.Caller.AllowedProviders = engine.NewSet([]string{"x", "p"})
		}},
		{
			name: "not listed",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Caller.AllowedProviders = engine.NewSet([]string{"p"})
				c.Provider.ID = "other"
			},
			detail: `this key may not use provider "other"`,
		},
		{
			name: "not listed, though preferred and named",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Caller.AllowedProviders = engine.NewSet([]string{"p"})
				c.Provider.ID, c.Preferred, c.Locked = "other", true, true
			},
			detail: `this key may not use provider "other"`,
		},
	})
}
