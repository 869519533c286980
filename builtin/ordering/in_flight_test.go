package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestInFlight(t *testing.T) {
	spec := engine.KeySpec{Integer: true}
	runKey(t, ordering.InFlight{}, "in_flight", spec, []valueCase{
		{"not known is none", func(*engine.Candidate) {}, 0},
		{"idle", func(c *engine.Candidate) { c.InFlight = 0 }, 0},
		{"busy", func(c *engine.Candidate) { c.InFlight = 17 }, 17},
	})
}
