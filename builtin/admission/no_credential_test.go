package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestNoCredential(t *testing.T) {
	runCases(t, admission.NoCredential{}, []refusalCase{
		{name: "has one, or needs none", set: func(_ *engine.Request, c *engine.Candidate) { c.Provider.HasCredential = true }},
		{name: "has none", set: func(_ *engine.Request, c *engine.Candidate) { c.Provider.HasCredential = false }, detail: `provider "p" has no credential`},
	})
}
