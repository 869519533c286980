package admission

import (
	"context"
	"fmt"

	"gatewright/engine"
)

// ContextWindow removes the candidates whose context limit is smaller than the
// estimated input and the requested output together. A limit of 0 is not known
// and removes nobody; output that the caller does not name counts as none.
// Embeddings are not looked at: the limit is for each of their inputs, not for
// all together.
// Lasting.
type ContextWindow struct{}

var _ engine.Check = ContextWindow{}

// Name returns the reason that the check gives.
func (ContextWindow) Name() string { return string(engine.ReasonContextWindow) }

// Refuse removes the candidates that are too small; it never fails.
func (ContextWindow) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	if r.Endpoint == engine.EndpointEmbeddings {
		return nil
	}
	input, output := max(r.InputTokens, 0), max(r.MaxOutput, 0)
	for i := range pool {
		c := &pool[i]
		// Subtracted rather than added: a caller may ask for any int64.
		if c.Context > 0 && output > c.Context-input {
			out.Remove(i, engine.ReasonContextWindow,
				fmt.Sprintf("about %d input tokens and %d of output exceed its context limit of %d", input, output, c.Context))
		}
	}
	return nil
}
