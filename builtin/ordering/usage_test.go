package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestUsage(t *testing.T) {
	spec := engine.KeySpec{Integer: true}
	runKey(t, ordering.Usage{}, "usage", spec, []valueCase{
		{"not known is none", func(*engine.Candidate) {}, 0},
		{"none", func(c *engine.Candidate) { c.TokensThisMinute = 0 }, 0},
		{"some", func(c *engine.Candidate) { c.TokensThisMinute = 120_000 }, 120_000},
	})
}
