package admission

import (
	"context"
	"strconv"

	"gatewright/engine"
)

// ModelNotAllowed removes the candidates of a model that is not in the key's
// allowed models; an empty list allows any. All candidates of a pool are of one
// model, so the pool is emptied: the engine answers 403 model_not_allowed when
// it was the model asked for, and passes over it when it was a fallback.
// Lasting.
type ModelNotAllowed struct{}

var _ engine.Check = ModelNotAllowed{}

// Name returns the reason that the check gives.
func (ModelNotAllowed) Name() string { return string(engine.ReasonModelNotAllowed) }

// Refuse removes the candidates whose model the key may not use; it never
// fails.
func (ModelNotAllowed) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if model := pool[i].Model; !r.Caller.AllowedModels.Allows(model) {
			out.Remove(i, engine.ReasonModelNotAllowed, "this key may not use the model "+strconv.Quote(model))
		}
	}
	return nil
}
