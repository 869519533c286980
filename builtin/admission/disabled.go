package admission

import (
	"context"

	"gatewright/engine"
)

// Disabled removes what the operator has switched off: every deployment of a
// provider that is not enabled, and single deployments that are not. It holds
// for locked requests too. Lasting.
type Disabled struct{}

var _ engine.Check = Disabled{}

// Name returns the reason that the check gives.
func (Disabled) Name() string { return string(engine.ReasonDisabled) }

// Refuse removes the candidates that are off; it never fails.
func (Disabled) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		switch c := &pool[i]; {
		case !c.Provider.Enabled:
			out.Remove(i, engine.ReasonDisabled, provider(c)+" is disabled")
		case !c.Enabled:
			out.Remove(i, engine.ReasonDisabled, "the deployment is disabled")
		}
	}
	return nil
}
