package ordering

import (
	"context"
	"time"

	"gatewright/engine"
)

// LastGood is 1 for the deployment of the pool with the newest success, of this
// session if it has one, else of all requests, and 0 for the rest. Deployments
// that admission removed do not compete; two successes of the same instant are
// both the newest; where nothing has succeeded yet all are 0.
type LastGood struct{}

var _ engine.SortKey = LastGood{}

// Name returns the key's name in the configuration.
func (LastGood) Name() string { return "last_good" }

// Spec says how the values compare.
func (LastGood) Spec() engine.KeySpec {
	return engine.KeySpec{HighFirst: true, Integer: true}
}

// Values writes 1 for the last good candidate; it never fails.
func (LastGood) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	var newest time.Time
	session := false
	for i := range pool {
		c := &pool[i]
		if c.Skipped != nil {
			continue
		}
		session = session || c.LastOfSession
		if c.LastSuccess.After(newest) {
			newest = c.LastSuccess
		}
	}
	for i := range pool {
		c := &pool[i]
		good := !newest.IsZero() && c.LastSuccess.Equal(newest)
		if session {
			good = c.LastOfSession
		}
		out[i] = flag(good && c.Skipped == nil)
	}
	return nil
}
