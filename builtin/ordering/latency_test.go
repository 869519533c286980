package ordering_test

import (
	"testing"
	"time"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestLatency(t *testing.T) {
	spec := engine.KeySpec{Integer: true, Tolerance: engine.Tolerance{RelativePPM: 200_000}}
	ttft := func(d time.Duration) func(*engine.Candidate) { return func(c *engine.Candidate) { c.TTFT = d } }
	runKey(t, ordering.Latency{}, "latency", spec, []valueCase{
		{"not known", func(*engine.Candidate) {}, missing},
		{"milliseconds", ttft(1250 * time.Millisecond), 1250},
		{"rounded down", ttft(3*time.Millisecond + 999*time.Microsecond), 3},
		{"below one", ttft(400 * time.Microsecond), 0},
	})
}
