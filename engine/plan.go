package engine

import (
	"context"
	"strings"
	"time"
)

// Plan is one ordered pool. Order is a permutation of what admission let pass,
// less the broken circuits, which stand in LastResort in the order they had.
type Plan struct {
	Model      *Model
	Route      *Route
	Order      []Candidate
	LastResort []Candidate
	Path       []string // fallback models that led here; empty for the first
	walk       *walk
	source     string // what ordered the pool
	split      bool   // the pool had a preferred and another part
	byAffinity bool   // the first of Order stands there for the sake of the session
	head       bool   // only the session's target, which another model has
	next       *Plan  // behind a head: the plan of the model asked for; may be nil
}

// Fallback returns the plan to try once this one is used up by failures of the
// class, if there is one. It is the executor's one door back into the engine.
func (p *Plan) Fallback(ctx context.Context, class FailureClass) (*Plan, bool) {
	chain := class.Rule().Chain
	if chain == ChainNone {
		return nil, false
	}
	if p.head {
		if p.next != nil && class.Rule().Next {
			return p.next, true
		}
		return p.walk.fallbackFrom(ctx, p.walk.res.model, nil, chain)
	}
	return p.walk.fallbackFrom(ctx, p.Model, p.Path, chain)
}

// HasChain reports whether a failure of the class could lead to another plan.
func (p *Plan) HasChain(class FailureClass) bool {
	rule, route := class.Rule(), p.Route
	if p.head {
		if p.next != nil && rule.Next {
			return true
		}
		route = &p.walk.res.model.Route
	}
	return rule.Chain != ChainNone && !p.walk.final && len(route.chains[rule.Chain]) > 0
}

// Attempted records one call in the decision.
func (p *Plan) Attempted(a Attempt) {
	d := p.walk.decision
	d.Attempts = append(roomFor(d.Attempts, 1, &p.walk.room.attempts), a)
}

// Attempts returns how many calls this request has made.
func (p *Plan) Attempts() int { return len(p.walk.decision.Attempts) }

// AddUpstream adds time spent on a call to an upstream.
func (p *Plan) AddUpstream(d time.Duration) { p.walk.decision.Upstream += d }

// Failed says that a candidate has been called and may not be tried again by
// this request.
func (p *Plan) Failed(c *Candidate) { p.walk.tried = append(p.walk.tried, c.ID) }

// Served says that the candidate answered, for affinity.
func (p *Plan) Served(c *Candidate) {
	p.walk.served, p.walk.servedPath = c.Deployment, p.Path
}

// Final reports that the request may neither be failed over nor fall back: its
// owner alone can serve it.
func (p *Plan) Final() bool { return p.walk.request.Owner != "" }

// Name is the model's public name as the client is to see it: the name or alias
// that was asked for, in a fallback the name of the model that serves.
func (p *Plan) Name() string {
	if p.Model == p.walk.res.model {
		return p.walk.res.name
	}
	return p.Model.Name
}

// Source names why a candidate of the plan stands where it does.
func (p *Plan) Source(c *Candidate) string {
	switch {
	case p.Final():
		return "owner"
	case c.Locked:
		return "locked"
	case p.byAffinity && c.ID == p.Order[0].ID:
		return "affinity"
	case len(p.Path) > 0:
		return "fallback"
	case p.split && c.Preferred:
		return "preferred"
	}
	return p.source
}

// sourceOf names what ordered a pool: the strategy, or the rule that it stands
// for alone. A ranking that failed has ordered nothing.
func (o *orderer) sourceOf(s *Strategy) string {
	switch {
	case strings.HasPrefix(s.Name, policyReason) && len(o.keys) > 0 && !o.keys[0].skipped:
		name, _, _ := strings.Cut(s.Name, "#") // behind it stands the binding
		return name
	case s.Name == "quota-reset":
		return "quota_reset"
	}
	return "strategy"
}
