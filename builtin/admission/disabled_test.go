package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestDisabled(t *testing.T) {
	runCases(t, admission.Disabled{}, []refusalCase{
		{name: "both are on", set: func(*engine.Request, *engine.Candidate) {}},
		{name: "the provider is off", set: func(_ *engine.Request, c *engine.Candidate) { c.Provider.Enabled = false }, detail: `provider "p" is disabled`},
		{name: "the deployment is off", set: func(_ *engine.Request, c *engine.Candidate) { c.Enabled = false }, detail: "the deployment is disabled"},
		{
			name: "both are off, and the caller named the provider",
			set: func(_ *engine.Request, c *engine.Candidate) {
				c.Provider.Enabled, c.Enabled, c.Locked = false, false, true
			},
			detail: `provider "p" is disabled`,
		},
	})
}
