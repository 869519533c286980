package engine

import (
	"context"
	"fmt"
	"slices"
)

// plan makes the plan of one model. It is nil when nobody may be called now,
// and why says for what reason. The error is a refusal of the whole request.
func (w *walk) plan(ctx context.Context, m *Model, path []string) (p *Plan, why emptiness, err error) {
	pool := w.pool(m)
	defer w.room.out.Trail.End()
	w.estimate(pool)
	w.engine.signals.Signals(w.request.Now, pool)
	err = w.admit(ctx, pool)
	found := w.note(pool)
	if err != nil {
		return nil, emptyLasting, err
	}
	strategy := w.strategy
	if m != w.res.model {
		name, _ := w.strategyOf(m)
		strategy = w.snapshot.Strategies[name]
	}
	p = w.order(ctx, m, path, pool, strategy)
	if p == nil && slices.ContainsFunc(pool, func(c Candidate) bool { return c.Skipped == nil }) {
		return nil, emptyCircuits, nil
	}
	return p, found, nil
}

// pool lists the candidates of a model for this request.
func (w *walk) pool(m *Model) []Candidate {
	pool := make([]Candidate, 0, 2*len(m.Deployments))
	locked := w.res.provider
	for _, d := range m.Deployments {
		if locked != nil && (d.Provider != locked || (w.res.upstream != "" && d.UpstreamModel != w.res.upstream)) {
			continue
		}
		if w.request.Owner != "" && !w.owns(m, d) {
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
	w.room.spare = pool[len(pool):]
	return slices.Clip(pool)
}

// owns reports whether d can continue what the request's owner issued: it is the
// owner, or the model is one that the owner does not serve and d is of the
// owner's provider.
func (w *walk) owns(m *Model, d *Deployment) bool {
	if d.ID == w.request.Owner {
		return true
	}
	owner := w.snapshot.all[w.request.Owner]
	return owner != nil && owner.Model != m.Name && owner.Provider == d.Provider
}

// setTiers numbers the priorities of a pool: 0 is the highest.
func setTiers(pool []Candidate) {
	same := true
	for i := range pool {
		same = same && pool[i].Priority == pool[0].Priority
	}
	if same {
		return
	}
	priorities := make([]int, len(pool))
	for i := range pool {
		priorities[i] = -pool[i].Priority
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	for i := range pool {
		pool[i].Tier, _ = slices.BinarySearch(priorities, -pool[i].Priority)
	}
}

// admit runs every check and marks who is removed. The error is a refusal of
// the whole request, by a rule or for the fault of one.
func (w *walk) admit(ctx context.Context, pool []Candidate) error {
	out := &w.room.out
	out.list = out.list[:0]
	for i := range pool {
		if slices.Contains(w.tried, pool[i].ID) {
			out.Remove(i, ReasonAlreadyTried, "this request has called it")
		}
	}
	if err := w.apply(out.list, pool); err != nil {
		return err
	}
	var refused error
	defer w.tell()
	for _, check := range w.snapshot.Checks {
		before := len(out.list)
		err := check.Refuse(ctx, w.request, pool, out)
		if err == nil {
			err = w.apply(out.list[before:], pool)
		}
		switch _, isRefusal := err.(*RefusedError); { //nolint:errorlint // apply returns it bare
		case err == nil:
		case isRefusal:
			refused = firstError(refused, err)
		default:
			w.decision.Faults = append(w.decision.Faults, RuleFault{Rule: check.Name(), Err: err})
			refused = firstError(refused, &RefusedError{
				Code: CodePolicyError, Message: fmt.Sprintf("the admission rule %q cannot decide", check.Name()),
			})
		}
	}
	return refused
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// apply marks the candidates that a check refused, keeping for each the reason
// that is to be named.
func (w *walk) apply(list []Refusal, pool []Candidate) error {
	for i := range list {
		f := &list[i]
		if f.Candidate == WholeRequest {
			return &RefusedError{Code: f.Code, Status: f.Status, Message: f.Detail, RetryAfter: f.RetryAfter}
		}
		if f.Candidate < 0 || f.Candidate >= len(pool) {
			return fmt.Errorf("refused candidate %d of %d", f.Candidate, len(pool))
		}
		c := &pool[f.Candidate]
		w.notes.denied = w.notes.denied || (f.Reason == ReasonModelNotAllowed && c.Model == w.res.model.Name)
		s := &Skipped{Deployment: c.ID, Reason: f.Reason, Detail: f.Detail, Until: f.Until, Code: f.Code}
		if s.outranks(c.Skipped) {
			c.Skipped = s
		}
	}
	return nil
}

// order ranks the admitted candidates; nil when none may be called now.
func (w *walk) order(ctx context.Context, m *Model, path []string, pool []Candidate, strategy *Strategy) *Plan {
	o, _ := w.engine.orderers.Get().(*orderer)
	defer func() { o.pool, o.trail = nil, nil; w.engine.orderers.Put(o) }()
	o.pool, o.order = pool, o.order[:0]
	for i := range pool {
		if pool[i].Skipped == nil {
			o.order = append(o.order, i)
		}
	}
	if len(o.order) == 0 {
		return nil
	}
	o.trail = &w.room.out.Trail
	o.run(ctx, w.request, strategy)
	w.tell()
	var mended bool
	o.order, o.rank, mended = keepLaw(o.order, pool, o.rank)
	w.record(o, strategy, mended)
	p := w.newPlan()
	*p = Plan{Model: m, Route: &m.Route, Path: path, walk: w, source: o.sourceOf(strategy), split: mixed(pool, o.order)}
	ordered := w.room.spare
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
	w.decision.Order = roomFor(w.decision.Order, len(ordered), &w.room.order)
	for i := range ordered {
		w.decision.Order = append(w.decision.Order, ordered[i].ID)
	}
	if n == 0 {
		return nil
	}
	p.Order, p.LastResort = ordered[:n:n], ordered[n:]
	p.byAffinity = p.Order[0].Affinity && !strategy.lists(KeyAffinity)
	return p
}

// tell puts what policies did so far into the decision.
func (w *walk) tell() {
	if list := w.room.out.Trail.list; len(list) > 0 {
		w.decision.Policies = list
	}
}

// leftAlone reports whether a candidate is for the last resort only. The owner
// of what a request continues is called whatever its circuit says.
func (w *walk) leftAlone(c *Candidate) bool { return c.CircuitBroken() && w.request.Owner == "" }

// roomFor returns a list with room for n more. For one that is not there yet that
// is first, if it is large enough and has not been given away.
func roomFor[T any](list []T, n int, first *[]T) []T {
	if list == nil && n > 0 && n <= cap(*first) {
		list, *first = *first, nil
		return list
	}
	return slices.Grow(list, n)
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
	d.Faults = append(d.Faults, o.faults...)
	keys := make([]string, len(strategy.Keys))
	for k := range strategy.Keys {
		keys[k] = strategy.Keys[k].Key.Name()
	}
	values := make([]float64, len(keys)*len(o.order))
	d.Candidates = roomFor(d.Candidates, len(o.order), &w.room.candidates)
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
