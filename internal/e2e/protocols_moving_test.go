package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// protocolUpstreams are the deployments of the model moving, by the upstream of
// each.
var protocolUpstreams = []string{"oai", "ant", "gem"}

// serve lets one of the upstreams serve and the others fail.
func (s simulator) serve(name, fault string) {
	s.t.Helper()
	_, rest, _ := strings.Cut(protocolsScript, "&upstream")
	behaviour, _, _ := strings.Cut(rest, "  ant:")
	for _, one := range protocolUpstreams {
		text := behaviour
		if one != name {
			text += "    always: " + fault + "\n"
		}
		s.behave(one, text)
	}
}

// A conversation with tools that was begun at an upstream of one protocol goes on
// at the others' when it fails, call for call.
func TestConversationMovesBetweenProtocols(t *testing.T) {
	t.Parallel()
	orders := [][3]string{
		{"oai", "ant", "gem"}, {"oai", "gem", "ant"}, {"ant", "oai", "gem"}, {"ant", "gem", "oai"}, {"gem", "oai", "ant"}, {"gem", "ant", "oai"},
	}
	for client, begin := range talkers {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			gw, sim := protocolsGateway(t)
			for i, order := range orders {
				c := begin(gw, "moving")
				fault := []string{"http-503", "overloaded", "{fault: http-429, retry_after: \"0\"}", "reset", "error-200", "choices-null"}[i]
				for step := range 6 {
					who := order[(step+step/3)%3]
					sim.serve(who, fault)
					ask := turn{text: fmt.Sprintf("Question %d?", step), tools: true, think: i%2 == 1}
					if step%2 == 1 {
						ask.text, ask.results = "", []string{"12:00", "clear"}
					}
					got := c.send(t.Context(), ask)
					if got.deployment != who || got.broken != nil || got.status != 0 {
						t.Fatalf("%v, step %d: got %+v, want an answer of %s", order, step, got, who)
					}
					if step%2 == 0 {
						checkCalls(t, &got)
					} else if want := fmt.Sprintf("Question %d?", step-1); got.text != want || got.finish != "stop" {
						t.Fatalf("%v, step %d: got %+v, want %q", order, step, got, want)
					}
				}
			}
		})
	}
}
