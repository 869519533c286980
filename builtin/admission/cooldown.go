package admission

import (
	"context"

	"gatewright/engine"
)

// Cooldown removes the candidates whose upstream asked to be left alone until
// an instant that is still ahead. Passing: it ends at that instant.
type Cooldown struct{}

var _ engine.Check = Cooldown{}

// Name returns the reason that the check gives.
func (Cooldown) Name() string { return string(engine.ReasonCooldown) }

// Refuse removes the candidates that are cooling; it never fails.
func (Cooldown) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if until := pool[i].CooldownUntil; until.After(r.Now) {
			out.RemoveUntil(i, engine.ReasonCooldown, "its upstream answered 429 and asked to wait until "+instant(until), until)
		}
	}
	return nil
}
