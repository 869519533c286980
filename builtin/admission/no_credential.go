package admission

import (
	"context"

	"gatewright/engine"
)

// NoCredential removes the candidates whose provider has no credential and is
// not marked as needing none. Lasting.
type NoCredential struct{}

var _ engine.Check = NoCredential{}

// Name returns the reason that the check gives.
func (NoCredential) Name() string { return string(engine.ReasonNoCredential) }

// Refuse removes the candidates that could not authenticate; it never fails.
func (NoCredential) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if c := &pool[i]; !c.Provider.HasCredential {
			out.Remove(i, engine.ReasonNoCredential, provider(c)+" has no credential")
		}
	}
	return nil
}
