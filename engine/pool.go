package engine

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// plan makes the plan of one model: nil when nobody may be called now. The
// error is a refusal of the whole request.
func (w *walk) plan(ctx context.Context, m *Model, path []string) (*Plan, error) {
	pool := w.pool(m)
	w.engine.signals.Signals(w.request.Now, pool)
	if err := w.admit(ctx, pool); err != nil {
		return nil, err
	}
	strategy := w.strategy
	if m != w.res.model {
		name, _ := w.strategyOf(m)
		strategy = w.snapshot.Strategies[name]
	}
	return w.order(ctx, m, path, pool, strategy), nil
}

// pool lists the candidates of a model for this request.
func (w *walk) pool(m *Model) []Candidate {
	pool := make([]Candidate, 0, len(m.Deployments))
	locked := w.res.provider
	for _, d := range m.Deployments {
		if locked != nil && (d.Provider != locked || (w.res.upstream != "" && d.UpstreamModel != w.res.upstream)) {
			continue
		}
		if w.request.Owner != "" && d.ID != w.request.Owner {
			continue
		}
		target := w.hasTarget && w.target.Deployment == d.ID
		pool = append(pool, Candidate{
			Deployment:    d,
			Locked:        locked != nil,
			Preferred:     w.request.Caller.Preferred.Has(d.Provider.ID),
			LastOfSession: target,
			Affinity:      target && w.snapshot.AffinityOn,
		})
	}
	setTiers(pool)
	return pool
}

// setTiers numbers the priorities of a pool: 0 is the highest.
func setTiers(pool []Candidate) {
	for i := range pool {
		tier := 0
		for j := range pool {
			if pool[j].Priority > pool[i].Priority && firstOfPriority(pool, j) {
				tier++
			}
		}
		pool[i].Tier = tier
	}
}

func firstOfPriority(pool []Candidate, j int) bool {
	for i := range j {
		if pool[i].Priority == pool[j].Priority {
			return false
		}
	}
	return true
}

// admit runs every check and marks who is removed.
func (w *walk) admit(ctx context.Context, pool []Candidate) error {
	var out Refusals
	for i := range pool {
		if slices.Contains(w.tried, pool[i].ID) {
			out.Remove(i, ReasonAlreadyTried, "this request has called it")
		}
	}
	if err := w.apply("already_tried", out.list, pool); err != nil {
		return err
	}
	for _, check := range w.snapshot.Checks {
		before := len(out.list)
		if err := check.Refuse(ctx, w.request, pool, &out); err != nil {
			return fmt.Errorf("check %s: %w", check.Name(), err)
		}
		if err := w.apply(check.Name(), out.list[before:], pool); err != nil {
			return err
		}
	}
	for i := range pool {
		if s := pool[i].Skipped; s != nil {
			w.note(s)
		}
	}
	return nil
}

// apply marks the candidates that a check refused, keeping for each the reason
// that is to be named.
func (w *walk) apply(check string, list []Refusal, pool []Candidate) error {
	for i := range list {
		f := &list[i]
		if f.Candidate == WholeRequest {
			return &RefusedError{Code: f.Code, Status: f.Status, Message: f.Detail, RetryAfter: f.RetryAfter}
		}
		if f.Candidate < 0 || f.Candidate >= len(pool) {
			return fmt.Errorf("check %s: refused candidate %d of %d", check, f.Candidate, len(pool))
		}
		c := &pool[f.Candidate]
		w.modelDenied = w.modelDenied || (f.Reason == ReasonModelNotAllowed && c.Model == w.res.model.Name)
		s := &Skipped{Deployment: c.ID, Reason: f.Reason, Detail: f.Detail, Until: f.Until}
		if s.outranks(c.Skipped) {
			c.Skipped = s
		}
	}
	return nil
}

// note keeps a removal for the decision and for the error of an empty plan.
func (w *walk) note(s *Skipped) {
	w.decision.Skipped = append(w.decision.Skipped, *s)
	w.reasons = append(w.reasons, *s)
	if s.Passing() {
		w.passing = true
		w.notQuota = w.notQuota || s.Reason != ReasonQuotaExhausted
		w.until(s.Until)
	}
}

func (w *walk) until(t time.Time) {
	if w.earliest.IsZero() || t.Before(w.earliest) {
		w.earliest = t
	}
}

// order ranks the admitted candidates; nil when none may be called now.
func (w *walk) order(ctx context.Context, m *Model, path []string, pool []Candidate, strategy *Strategy) *Plan {
	o, _ := w.engine.orderers.Get().(*orderer)
	defer func() { o.pool = nil; w.engine.orderers.Put(o) }()
	o.pool, o.order = pool, o.order[:0]
	for i := range pool {
		if pool[i].Skipped == nil {
			o.order = append(o.order, i)
		}
	}
	if len(o.order) == 0 {
		return nil
	}
	o.run(ctx, w.request, strategy)
	var mended bool
	o.order, o.rank, mended = keepLaw(o.order, pool, o.rank)
	w.record(o, strategy, mended)
	p := &Plan{Model: m, Route: &m.Route, Path: path, walk: w}
	p.split = mixed(pool, o.order)
	ordered := make([]Candidate, 0, len(o.order))
	for _, i := range o.order {
		if !w.leftAlone(&pool[i]) {
			ordered = append(ordered, pool[i])
		}
	}
	n := len(ordered)
	for _, i := range o.order {
		if w.leftAlone(&pool[i]) {
			ordered = append(ordered, pool[i])
			w.noteBroken(&pool[i])
		}
	}
	for i := range ordered {
		w.decision.Order = append(w.decision.Order, ordered[i].ID)
	}
	if n == 0 {
		return nil
	}
	p.Order, p.LastResort = ordered[:n:n], ordered[n:]
	return p
}

// leftAlone reports whether a candidate is for the last resort only. The owner
// of what a request continues is called whatever its circuit says.
func (w *walk) leftAlone(c *Candidate) bool { return c.CircuitBroken() && w.request.Owner == "" }

func (w *walk) noteBroken(c *Candidate) {
	s := Skipped{Deployment: c.ID, Reason: ReasonCircuitOpen, Until: c.CircuitUntil}
	w.broken = append(w.broken, s)
	w.reasons = append(w.reasons, s)
	if c.CircuitUntil.After(w.request.Now) {
		w.until(c.CircuitUntil)
	}
}

// mixed reports whether the pool has a preferred and another part.
func mixed(pool []Candidate, order []int) bool {
	for _, i := range order {
		if pool[i].Preferred != pool[order[0]].Preferred {
			return true
		}
	}
	return false
}

// record keeps what ordering saw.
func (w *walk) record(o *orderer, strategy *Strategy, mended bool) {
	d := w.decision
	d.LawMended = d.LawMended || mended
	d.KeyFaults = append(d.KeyFaults, o.faults...)
	keys := make([]string, len(strategy.Keys))
	for k := range strategy.Keys {
		keys[k] = strategy.Keys[k].Key.Name()
	}
	values := make([]float64, len(keys)*len(o.order))
	for pos, i := range o.order {
		row := values[pos*len(keys) : (pos+1)*len(keys) : (pos+1)*len(keys)]
		for k := range keys {
			row[k] = o.value(k, i)
		}
		d.Candidates = append(d.Candidates, CandidateRecord{
			Deployment: o.pool[i].ID, Keys: keys, Values: row, Draw: o.draw[i], Position: pos, Circuit: o.pool[i].Circuit,
		})
	}
}
