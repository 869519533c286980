package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestAffinity(t *testing.T) {
	spec := engine.KeySpec{HighFirst: true, Integer: true}
	runKey(t, ordering.Affinity{}, "affinity", spec, []valueCase{
		{"another", func(*engine.Candidate) {}, 0},
		{"target", func(c *engine.Candidate) { c.Affinity = true }, 1},
		{"target while affinity is off", func(c *engine.Candidate) { c.LastOfSession = true }, 0},
	})
}
