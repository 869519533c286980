package policies

import (
	"context"
	"math"

	"gatewright/engine"
)

// scoreName is the name of the sort key that a ranking is.
const scoreName = "score"

// score is one bound ranking as an engine.SortKey.
type score struct {
	bound *bound
	desk  *desk
}

var _ engine.PolicyKey = (*score)(nil)

func newScore(b *bound, d *desk) *score { return &score{bound: b, desk: d} }

// Name returns the key's name in the configuration.
func (s *score) Name() string { return scoreName }

// Spec says that low scores are good, within the tolerance of the binding, and
// that a candidate without one goes behind all that have one. Scores that are
// whole numbers compare exactly, as those of the built-in keys do: the rounding
// that fractions are allowed would be 1.8 seconds of an instant.
func (s *score) Spec() engine.KeySpec {
	return engine.KeySpec{Missing: engine.MissingLast, Integer: true, Tolerance: s.bound.binding.Tolerance}
}

// Values writes the scores and records nothing.
func (s *score) Values(ctx context.Context, r *engine.Request, pool []engine.Candidate, out []float64) error {
	var trail engine.Trail
	defer trail.End()
	return s.Rank(ctx, r, pool, out, &trail)
}

// Rank writes the scores. The error is the policy's fault; without an active
// version all scores are missing.
func (s *score) Rank(ctx context.Context, r *engine.Request, pool []engine.Candidate, out []float64, trail *engine.Trail) error {
	for i := range out {
		out[i] = math.NaN()
	}
	b := s.bound
	u, mode := b.used(r)
	if u == nil && b.shadow == nil || len(pool) == 0 {
		return nil
	}
	m := s.desk.about(r, pool, trail)
	m.in.client(r, &b.needs)
	var fault error
	if u != nil {
		took, err := u.run(ctx, r, &m.in, &m.used)
		rec := b.record(u, engine.StageOrdering, mode, took)
		if fault = err; fault != nil {
			failedRanking(fault, &rec)
		} else {
			rec.Outcome = engine.OutcomeRanked
			copy(out, m.used.scores)
		}
		trail.Record(rec)
	}
	if b.shadow != nil && b.shadow != u {
		s.compare(ctx, r, pool, m, u != nil && fault == nil, trail)
	}
	return fault
}

// compare evaluates the shadow and tells whether it would have ordered otherwise
// than what was used, if that gave scores.
func (s *score) compare(ctx context.Context, r *engine.Request, pool []engine.Candidate, m *scratch, ranked bool, trail *engine.Trail) {
	u := s.bound.shadow
	took, err := u.run(ctx, r, &m.in, &m.shadow)
	rec := s.bound.record(u, engine.StageOrdering, engine.ModeShadow, took)
	if err != nil {
		failedRanking(err, &rec)
	} else {
		rec.Outcome = engine.OutcomeRanked
		rec.Differs = ranked && !sameRanking(m.used.scores, m.shadow.scores, func(i int) bool { return pool[i].Skipped == nil })
	}
	if rec.Differs {
		u.gauge.differs.Add(1)
	}
	trail.Record(rec)
}

func failedRanking(err error, rec *engine.PolicyRecord) {
	rec.Outcome, rec.Detail = engine.OutcomeFallback, bounded(err.Error())
	if err == errSuspended { //nolint:errorlint // run returns it bare
		rec.Outcome = engine.OutcomeSuspended
	}
}
