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
	target     Target
	hasTarget  bool
	final      bool // no cross-model fallback
	pending    []pendingModel
	visited    []*Model
	tried      []string
	served     *Deployment
	servedPath []string

	// What an empty plan is explained by, over source and chain.
	earliest    time.Time // when the first candidate that is held comes back
	passing     bool      // someone is held for a passing reason
	notQuota    bool      // …and not all of them by quota
	modelDenied bool      // the caller may not use the model asked for
	broken      []Skipped // candidates whose circuit is open
	reasons     []Skipped // removed, or left alone for their circuit
}

func (e *Engine) newWalk(s *Snapshot, r *Request) *walk {
	return &walk{
		engine: e, snapshot: s, request: r,
		decision: &Decision{
			ID: r.ID, Time: r.Now, Request: r, Snapshot: s.Generation,
			Result: Result{Cost: Unknown},
		},
	}
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
	plan, err := w.plan(ctx, res.model, nil)
	if err != nil {
		return nil, err
	}
	why := w.emptiness()
	if head := w.crossModelTarget(ctx); head != nil {
		head.next = plan
		return head, nil
	}
	if plan != nil {
		return plan, nil
	}
	chain := ChainNone
	switch why {
	case emptyPassing, emptyCircuits:
		chain = ChainGeneral
	case emptyContext:
		chain = ChainContext
	case emptyLasting:
	}
	if next, ok := w.fallbackFrom(ctx, res.model, nil, chain); ok {
		return next, nil
	}
	return nil, w.refusal(why)
}

// chooseStrategy takes the first of: the request's suffix, the model's rule,
// the caller's preference, the router's default.
func (w *walk) chooseStrategy() {
	name, source := w.strategyOf(w.res.model)
	w.strategy = w.snapshot.Strategies[name]
	w.decision.Strategy, w.decision.SelectionSource = name, source
}

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
	r := w.request
	if !r.Session.Present() {
		return
	}
	w.target, w.hasTarget = w.engine.affinity.Target(w.affinityKey(), r.Now)
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
// session through a fallback, if its path still holds and it may serve now.
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
	plan, err := w.plan(ctx, model, w.target.Path)
	if err != nil || plan == nil || !plan.Order[0].Affinity {
		return nil
	}
	plan.Order, plan.LastResort, plan.head = plan.Order[:1], nil, true
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
// until a model has someone to call.
func (w *walk) fallbackFrom(ctx context.Context, m *Model, path []string, chain Chain) (*Plan, bool) {
	if w.final || chain == ChainNone {
		return nil, false
	}
	var add []pendingModel
	for _, t := range m.Route.chains[chain] {
		add = append(add, pendingModel{model: t, path: append(slices.Clip(path), t.Name)})
	}
	w.pending = append(add, w.pending...)
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		if slices.Contains(w.visited, next.model) {
			continue
		}
		w.visited = append(w.visited, next.model)
		w.onPath(next.model.Name)
		plan, err := w.plan(ctx, next.model, next.path)
		if err == nil && plan != nil {
			return plan, true
		}
		// A fallback that cannot serve now leads on through its own chain.
		for i, t := range next.model.Route.chains[ChainGeneral] {
			w.pending = slices.Insert(w.pending, i, pendingModel{model: t, path: append(slices.Clip(next.path), t.Name)})
		}
	}
	return nil, false
}

// uncalled lists the candidates that were left alone to the end because their
// circuit was open.
func (w *walk) uncalled() []Skipped {
	return slices.DeleteFunc(w.broken, func(s Skipped) bool {
		return slices.ContainsFunc(w.decision.Attempts, func(a Attempt) bool { return a.Deployment == s.Deployment })
	})
}
