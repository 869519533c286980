package admission

import (
	"context"
	"strconv"
	"strings"
	"time"

	"gatewright/engine"
)

// QuotaExhausted removes the candidates of which a fresh quota snapshot shows a
// window used up whose reset is known and ahead. Of several such windows the
// one that resets last decides. An unknown share, an unknown or past reset and
// an old snapshot remove nobody. Passing: it ends at that reset.
type QuotaExhausted struct{}

var _ engine.Check = QuotaExhausted{}

// Name returns the reason that the check gives.
func (QuotaExhausted) Name() string { return string(engine.ReasonQuotaExhausted) }

// Refuse removes the candidates without quota; it never fails.
func (QuotaExhausted) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		quota := pool[i].FreshQuota(r.Now)
		if quota == nil {
			continue
		}
		var until time.Time
		for w := range quota.Windows {
			if exhausted(&quota.Windows[w], r.Now) && quota.Windows[w].ResetsAt.After(until) {
				until = quota.Windows[w].ResetsAt
			}
		}
		if !until.IsZero() {
			out.RemoveUntil(i, engine.ReasonQuotaExhausted, explainQuota(quota, r.Now), until)
		}
	}
	return nil
}

func exhausted(w *engine.QuotaWindow, now time.Time) bool {
	return w.LeftPPM <= 0 && w.LeftPPM != engine.Unknown && w.ResetsAt.After(now)
}

// explainQuota names every window that is used up and when it resets.
func explainQuota(q *engine.Quota, now time.Time) string {
	var parts []string
	for i := range q.Windows {
		if w := &q.Windows[i]; exhausted(w, now) {
			parts = append(parts, "quota window "+strconv.Quote(w.Name)+" is used up until "+instant(w.ResetsAt))
		}
	}
	return strings.Join(parts, ", ")
}
