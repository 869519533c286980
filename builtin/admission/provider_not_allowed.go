package admission

import (
	"context"

	"gatewright/engine"
)

// ProviderNotAllowed removes the candidates whose provider is outside the
// caller's allowed providers, the intersection over org, team and key; an empty
// list allows any. Lasting.
type ProviderNotAllowed struct{}

var _ engine.Check = ProviderNotAllowed{}

// Name returns the reason that the check gives.
func (ProviderNotAllowed) Name() string { return string(engine.ReasonProviderNotAllowed) }

// Refuse removes the candidates whose provider the caller may not use; it never
// fails.
func (ProviderNotAllowed) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if c := &pool[i]; !r.Caller.AllowedProviders.Allows(c.Provider.ID) {
			out.Remove(i, engine.ReasonProviderNotAllowed, "this key may not use "+provider(c))
		}
	}
	return nil
}
