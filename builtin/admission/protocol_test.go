package admission_test

import (
	"testing"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestProtocol(t *testing.T) {
	runCases(t, admission.Protocol{}, []refusalCase{
		{name: "served among others", set: func(_ *engine.Request, c *engine.Candidate) {
			c.Endpoints = engine.EndpointSet(engine.EndpointCompletions, engine.EndpointChat)
		}},
		{
			name: "not served",
			set: func(_ *engine.Request, c *engine.Candidate) {
				c.Endpoints = engine.EndpointSet(engine.EndpointEmbeddings)
			},
			detail: "it does not serve chat",
		},
		{name: "translated", set: func(_ *engine.Request, c *engine.Candidate) {
			c.Endpoints, c.Translated = engine.EndpointSet(engine.EndpointMessages), engine.EndpointSet(engine.EndpointChat)
		}},
		{name: "native, and needed so", set: func(r *engine.Request, c *engine.Candidate) {
			r.Native, c.Endpoints = "background", engine.EndpointSet(engine.EndpointChat)
		}},
		{
			name: "translated, and needed natively",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.Native, c.Endpoints, c.Translated = "background", 0, engine.EndpointSet(engine.EndpointChat)
			},
			detail: "it serves chat by translation, which cannot carry background",
		},
		{name: "serves nothing", set: func(_ *engine.Request, c *engine.Candidate) { c.Endpoints = 0 }, detail: "it does not serve chat"},
	})
}
