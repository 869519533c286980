package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestCapability(t *testing.T) {
	runCases(t, admission.Capability{}, []refusalCase{
		{name: "able", set: func(*engine.Request, *engine.Candidate) {}},
		{
			name:   "known not to be able",
			set:    func(_ *engine.Request, c *engine.Candidate) { c.Caps &^= engine.CapTools },
			detail: "it does not support tools",
		},
		{name: "not known whether able", set: func(_ *engine.Request, c *engine.Candidate) { c.Caps, c.CapsKnown = 0, engine.CapVision }},
		{name: "unable, but nobody needs it", set: func(r *engine.Request, c *engine.Candidate) { r.Needs, c.Caps = 0, 0 }},
		{
			name: "every lack is named, what is not known is not",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Needs = engine.CapVision | engine.CapAudio | engine.CapJSONSchema
				c.Caps, c.CapsKnown = 0, engine.CapVision|engine.CapJSONSchema
			},
			detail: "it does not support vision, json_schema",
		},
	})
}
