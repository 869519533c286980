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
		{name: "serves nothing", set: func(_ *engine.Request, c *engine.Candidate) { c.Endpoints = 0 }, detail: "it does not serve chat"},
	})
}
