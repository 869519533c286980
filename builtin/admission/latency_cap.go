package admission

import (
	"context"
	"fmt"
	"time"

	"gatewright/engine"
)

// LatencyCap removes the candidates whose known median time to first token is
// above the smallest cap of the caller's levels and the request. A time that is
// not known removes nobody. Lasting.
type LatencyCap struct{}

var _ engine.Check = LatencyCap{}

// Name returns the reason that the check gives.
func (LatencyCap) Name() string { return string(engine.ReasonLatencyCap) }

// Refuse removes the candidates that are too slow; it never fails.
func (LatencyCap) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	limit := lowest(r.Caller.MaxTTFT, r.MaxTTFT)
	if limit == 0 {
		return nil
	}
	for i := range pool {
		if ttft := pool[i].TTFT; ttft != engine.UnknownDuration && ttft > limit {
			out.Remove(i, engine.ReasonLatencyCap,
				fmt.Sprintf("its median time to first token, %v, is above the cap of %v", ttft.Round(time.Millisecond/10), limit))
		}
	}
	return nil
}
