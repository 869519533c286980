package admission

import (
	"context"
	"strings"

	"gatewright/engine"
)

// Capability removes the candidates that are known not to have an ability that
// the request needs: vision, audio, video, files, tools, JSON schema,
// reasoning. An ability of which nothing is known removes nobody. Lasting.
type Capability struct{}

var _ engine.Check = Capability{}

// Name returns the reason that the check gives.
func (Capability) Name() string { return string(engine.ReasonCapability) }

// Refuse removes the candidates that lack an ability; it never fails.
func (Capability) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		c := &pool[i]
		if lacks := r.Needs & c.CapsKnown &^ c.Caps; lacks != 0 {
			out.Remove(i, engine.ReasonCapability, "it does not support "+strings.Join(lacks.Names(), ", "))
		}
	}
	return nil
}
