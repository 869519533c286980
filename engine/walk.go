package engine

import (
	"context"
	"slices"
	"time"
)

// walk is one request on its way through the engine. It is used by one
// goroutine.
type walk struct {
	engine     *Engine
	snapshot   *Snapshot
	request    *Request
	decision   *Decision
	res        resolution
	strategy   *Strategy
	target     Target // what served the session last
	hasTarget  bool
	final      bool // no cross-model fallback
	counted    bool // the input's tokens; not again
	pending    []pendingModel
	visited    []*Model
	tried      []string // deployments that this request has called
	served     *Deployment
	servedPath []string
	notes      notes
	room       room
}

// room is memory that nearly every walk needs, in one piece with it.
type room struct {
	plan    Plan // the first
	planned bool // it is in use
	visited [1]*Model
	tried   [1]string
	out     Refusals
	spare   []Candidate // behind the pool at hand, for its order

	// Of the decision's record; nil = given away.
	candidates []CandidateRecord
	order      []string
	attempts   []Attempt
}

// record is a decision in one piece with room for the one candidate and the one
// attempt that most have, and for an admission and a ranking.
type record struct {
	decision   Decision
	candidates [1]CandidateRecord
	order      [1]string
	attempts   [1]Attempt
	policies   [2]PolicyRecord
}

// pendingModel is a fallback model that has not been tried.
type pendingModel struct {
	model *Model
	path  []string
	chain Chain // the table that named it
}

func (e *Engine) newWalk(s *Snapshot, r *Request) *walk {
	kept := &record{decision: Decision{
		ID: r.ID, Time: r.Now, Request: r, Snapshot: s.Generation,
		Result: Result{Cost: Unknown},
	}}
	w := &walk{engine: e, snapshot: s, request: r, decision: &kept.decision}
	w.visited, w.tried = w.room.visited[:0], w.room.tried[:0]
	w.room.candidates, w.room.order, w.room.attempts = kept.candidates[:0], kept.order[:0], kept.attempts[:0]
	w.room.out.Trail = NewTrail(kept.policies[:])
	return w
}

// newPlan returns a plan that is not in use.
func (w *walk) newPlan() *Plan {
	if w.room.planned {
		return new(Plan)
	}
	w.room.planned = true
	return &w.room.plan
}

// first makes the plan that the request begins with.
func (w *walk) first(ctx context.Context) (*Plan, error) {
	r, d := w.request, w.decision
	res, err := w.snapshot.resolve(r)
	if err != nil {
		return nil, err
	}
	w.res = res
	d.Model, d.Resolved = res.model.Name, res.how
	w.final = res.provider != nil || r.Owner != "" || r.DisableFallbacks
	w.chooseStrategy()
	w.findTarget()
	w.visited = append(w.visited, res.model)
	plan, why, err := w.plan(ctx, res.model, nil)
	if err != nil {
		return nil, w.explain(err)
	}
	if plan != nil || why != emptyLasting {
		if head := w.crossModelTarget(ctx); head != nil {
			head.next = plan
			return head, nil
		}
	}
	if plan != nil {
		return plan, nil
	}
	if next, ok := w.fallbackFrom(ctx, res.model, nil, why.chain()); ok {
		return next, nil
	}
	return nil, w.refusal(why)
}

// explain adds to a refusal of the whole request what admission had removed.
func (w *walk) explain(err error) error {
	if refused, ok := err.(*RefusedError); ok { //nolint:errorlint // admit returns it bare
		refused.Skipped = slices.Clone(w.notes.skipped)
	}
	return err
}

// chooseStrategy finds the strategy of the model that was asked for.
func (w *walk) chooseStrategy() {
	name, source := w.strategyOf(w.res.model)
	w.strategy = w.snapshot.Strategies[name]
	w.decision.Strategy, w.decision.SelectionSource = name, source
}

// strategyOf takes the first of: the request's suffix, the caller's preference,
// the router's rule for the model, the router's default.
func (w *walk) strategyOf(m *Model) (name, source string) {
	c := w.request.Caller
	switch {
	case w.res.strategy != "" && m == w.res.model:
		return w.res.strategy, "request"
	case c.Strategy != "" && w.snapshot.Strategies[c.Strategy] != nil:
		return c.Strategy, c.StrategySource
	case m.Route.Strategy != "":
		return m.Route.Strategy, m.Route.Source
	}
	return w.snapshot.Default, w.snapshot.defaultSource
}

// findTarget looks the session's last deployment up.
func (w *walk) findTarget() {
	if w.request.Session.Present() {
		w.target, w.hasTarget = w.engine.affinity.Target(w.affinityKey(), w.request.Now)
	}
}

func (w *walk) affinityKey() AffinityKey {
	return AffinityKey{Session: w.request.Session.Key, Family: w.request.Endpoint.Family(), Model: w.res.model.Name}
}

// remember writes the session's new target after a success.
func (w *walk) remember(now time.Time) {
	if w.served == nil || !w.request.Session.Present() {
		return
	}
	t := Target{Deployment: w.served.ID, Path: w.servedPath}
	w.engine.affinity.Succeeded(w.affinityKey(), t, w.request.Now, now.Add(w.snapshot.SessionTTL))
}

// crossModelTarget returns a plan of the one deployment that last served this
// session through a fallback, if its path still holds and it may serve now. It
// stands in front of the plan of the model asked for, in the decision too; what
// else was seen of its pool is noted only if the request falls back to it.
func (w *walk) crossModelTarget(ctx context.Context) *Plan {
	if !w.hasTarget || len(w.target.Path) == 0 || w.final || !w.snapshot.AffinityOn || w.strategy.lists(KeyAffinity) {
		return nil
	}
	model := w.res.model
	for _, name := range w.target.Path {
		next := w.snapshot.names[name]
		if next == nil || !model.leadsTo(next) {
			return nil
		}
		model = next
	}
	d, before := w.decision, w.notes
	trail := &w.room.out.Trail
	order, candidates, faults, policies, told, mended := d.Order, d.Candidates, d.Faults, d.Policies, len(trail.list), d.LawMended
	d.Order, d.Candidates = nil, nil
	plan, _, err := w.plan(ctx, model, w.target.Path)
	found := d.Candidates
	w.notes, d.Order, d.Candidates, d.Faults, d.Policies, d.LawMended = before, order, candidates, faults, policies, mended
	trail.list = trail.list[:told]
	if err != nil || plan == nil || !plan.Order[0].Affinity {
		return nil
	}
	plan.Order, plan.LastResort, plan.head, plan.byAffinity = plan.Order[:1], nil, true, true
	d.Order = slices.Insert(d.Order, 0, plan.Order[0].ID)
	for _, c := range found {
		if c.Deployment == plan.Order[0].ID {
			d.Candidates = slices.Insert(d.Candidates, 0, c)
		}
	}
	w.onPath(w.target.Path...)
	return plan
}

// onPath notes fallback models for the decision, each once.
func (w *walk) onPath(models ...string) {
	for _, m := range models {
		if !slices.Contains(w.decision.FallbackPath, m) {
			w.decision.FallbackPath = append(w.decision.FallbackPath, m)
		}
	}
}

func (m *Model) leadsTo(next *Model) bool {
	for _, chain := range m.Route.chains {
		if slices.Contains(chain, next) {
			return true
		}
	}
	return false
}

// fallbackFrom tries the chain of a model, then what earlier chains left over,
// until a model has someone to call. A fallback that cannot serve for now leads
// on through a chain of its own. What is too long, or was refused for its
// content, goes only where a table for that leads; a general failure may go on
// along any.
func (w *walk) fallbackFrom(ctx context.Context, m *Model, path []string, chain Chain) (*Plan, bool) {
	if w.final || chain == ChainNone {
		return nil, false
	}
	w.queue(m, path, chain)
	for {
		i := slices.IndexFunc(w.pending, func(p pendingModel) bool { return chain == ChainGeneral || p.chain == chain })
		if i < 0 {
			return nil, false
		}
		next := w.pending[i]
		w.pending = slices.Delete(w.pending, i, i+1)
		if slices.Contains(w.visited, next.model) {
			continue
		}
		w.visited = append(w.visited, next.model)
		w.onPath(next.model.Name)
		plan, why, err := w.plan(ctx, next.model, next.path)
		if err == nil && plan != nil {
			return plan, true
		}
		if err == nil {
			w.queue(next.model, next.path, why.chain())
		}
	}
}

// queue puts a model's fallbacks in front of those that are still to be tried.
func (w *walk) queue(m *Model, path []string, chain Chain) {
	targets := m.Route.chains[chain]
	add := make([]pendingModel, 0, len(targets)+len(w.pending))
	for _, t := range targets {
		add = append(add, pendingModel{model: t, path: append(slices.Clip(path), t.Name), chain: chain})
	}
	w.pending = append(add, w.pending...)
}
