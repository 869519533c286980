package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestThroughput(t *testing.T) {
	spec := engine.KeySpec{HighFirst: true, Integer: true, Tolerance: engine.Tolerance{RelativePPM: 200_000}}
	runKey(t, ordering.Throughput{}, "throughput", spec, []valueCase{
		{"not known", func(*engine.Candidate) {}, missing},
		{"milli-tokens per second", func(c *engine.Candidate) { c.Throughput = 53_250 }, 53_250},
		{"known to be nothing", func(c *engine.Candidate) { c.Throughput = 0 }, 0},
	})
}
