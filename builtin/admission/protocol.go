package admission

import (
	"context"

	"gatewright/engine"
)

// Protocol removes the candidates that serve the request's endpoint neither
// natively nor by translation. Lasting.
type Protocol struct{}

var _ engine.Check = Protocol{}

// Name returns the reason that the check gives.
func (Protocol) Name() string { return string(engine.ReasonProtocol) }

// Refuse removes the candidates without the endpoint; it never fails.
func (Protocol) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		switch c := &pool[i]; {
		case c.Endpoints.Has(r.Endpoint):
		case !c.Translated.Has(r.Endpoint):
			out.Remove(i, engine.ReasonProtocol, "it does not serve "+r.Endpoint.String())
		case r.Native != "":
			out.Remove(i, engine.ReasonProtocol, "it serves "+r.Endpoint.String()+" by translation, which cannot carry "+r.Native)
		}
	}
	return nil
}
