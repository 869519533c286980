package ordering_test

import (
	"testing"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

func TestListed(t *testing.T) {
	spec := engine.KeySpec{Integer: true}
	runKey(t, ordering.Listed{}, "listed", spec, []valueCase{
		{"first", func(*engine.Candidate) {}, 0},
		{"third", func(c *engine.Candidate) { c.Listed = 2 }, 2},
	})
}
