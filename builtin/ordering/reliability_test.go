package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestReliability(t *testing.T) {
	spec := engine.KeySpec{HighFirst: true, Integer: true, Tolerance: engine.Tolerance{Absolute: 10_000}}
	runKey(t, ordering.Reliability{}, "reliability", spec, []valueCase{
		{"not known", func(*engine.Candidate) {}, missing},
		{"ppm", func(c *engine.Candidate) { c.SuccessPPM = 998_700 }, 998_700},
		{"nothing succeeds", func(c *engine.Candidate) { c.SuccessPPM = 0 }, 0},
	})
}
