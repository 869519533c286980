package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestPriority(t *testing.T) {
	spec := engine.KeySpec{HighFirst: true, Integer: true}
	runKey(t, ordering.Priority{}, "priority", spec, []valueCase{
		{"default", func(*engine.Candidate) {}, 0},
		{"set", func(c *engine.Candidate) { c.Priority = 10_000 }, 10_000},
	})
}
