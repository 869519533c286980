package policies

import (
	"context"
	"errors"
	"fmt"

	"gatewright/engine"
)

// StrategyPrefix begins the name of the strategy that a ranking is.
const StrategyPrefix = "policy:"

// Rules are the policies of a State in the engine's terms, for one snapshot.
// They are not written after Rules has returned them.
type Rules struct {
	// Checks hold the admission policies; none without any.
	Checks []engine.Check
	// Strategies are the rankings, by the name of their strategy.
	Strategies map[string]*engine.Strategy
	// Rankings says which strategy is bound to which level.
	Rankings Rankings

	scores  map[string]*score // by policy
	release []func()
}

// Rankings are the names of the strategies that bindings put at each level.
type Rankings struct {
	Org, Team, Key, Model map[string]string // by the name of the org, team, key or model
	All                   string            // for all requests; "" = none
}

// Close gives back what the rules use. No request may use them any more.
func (r *Rules) Close() {
	for _, release := range r.release {
		release()
	}
	r.release = nil
}

// Score returns a ranking as a sort key for a combo. It must be among those that
// were named when the rules were made.
func (r *Rules) Score(policy string) (engine.SortKey, bool) {
	s, ok := r.scores[policy]
	return s, ok
}

// loader makes units. What it returned is kept until release.
type loader interface {
	load(ctx context.Context, p *Policy, v *Version, b *Binding) (u *unit, n needs, release func(), err error)
}

// assembly makes Rules.
type assembly struct {
	state  *State
	loader loader
	desk   *desk
	rules  *Rules
}

// newRules makes the rules of a state: of all bindings, and of the rankings that
// named names without one. On an error nothing is kept.
func newRules(ctx context.Context, s *State, l loader, providers []*engine.Provider, named []string) (*Rules, error) {
	a := &assembly{
		state: s, loader: l, desk: newDesk(providers),
		rules: &Rules{
			Strategies: map[string]*engine.Strategy{}, scores: map[string]*score{},
			Rankings: Rankings{
				Org: map[string]string{}, Team: map[string]string{}, Key: map[string]string{}, Model: map[string]string{},
			},
		},
	}
	if err := errors.Join(a.bindings(ctx), a.named(ctx, named)); err != nil {
		a.rules.Close()
		return nil, err
	}
	return a.rules, nil
}

// bindings makes what is bound.
func (a *assembly) bindings(ctx context.Context) error {
	var errs []error
	var admission []*bound
	rankings := map[string]int{}
	for _, b := range a.state.Bindings() {
		if p := a.state.policies[b.Policy]; p.Kind == Ranking {
			rankings[b.Policy]++
		}
	}
	for _, b := range a.state.Bindings() {
		x, err := a.bound(ctx, b)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("binding %q: %w", b.ID, err))
		case x.kind == Admission:
			admission = append(admission, x)
		default:
			name := StrategyPrefix + b.Policy
			if rankings[b.Policy] > 1 {
				name += "#" + b.ID
			}
			a.strategy(name, x)
			a.place(b, name)
		}
	}
	if len(admission) > 0 {
		a.rules.Checks = []engine.Check{newGate(admission, a.desk)}
	}
	return errors.Join(errs...)
}

// named makes the rankings that are named without a binding of their own. One
// that is bound once is taken as it is bound.
func (a *assembly) named(ctx context.Context, names []string) error {
	var errs []error
	for _, name := range names {
		if a.rules.Strategies[StrategyPrefix+name] != nil {
			continue
		}
		p, err := a.state.Policy(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("strategy %s%s: %w; there are %s", StrategyPrefix, name, ErrNotFound, a.state.names()))
			continue
		}
		if p.Kind != Ranking {
			errs = append(errs, fmt.Errorf("strategy %s%s: %w: it is an admission policy; bind it instead", StrategyPrefix, name, ErrInvalid))
			continue
		}
		x, err := a.bound(ctx, &Binding{ID: name, Policy: name})
		if err != nil {
			errs = append(errs, fmt.Errorf("strategy %s%s: %w", StrategyPrefix, name, err))
			continue
		}
		a.strategy(StrategyPrefix+name, x)
	}
	return errors.Join(errs...)
}

func (a *assembly) strategy(name string, b *bound) {
	key := newScore(b, a.desk)
	a.rules.Strategies[name] = &engine.Strategy{Name: name, Keys: []engine.KeyUse{engine.Use(key)}}
	if name == StrategyPrefix+b.binding.Policy {
		a.rules.scores[b.binding.Policy] = key
	}
}

// place notes the level that a ranking is bound to.
func (a *assembly) place(b *Binding, strategy string) {
	r := &a.rules.Rankings
	switch {
	case b.Key != "":
		r.Key[b.Key] = strategy
	case b.Team != "":
		r.Team[b.Team] = strategy
	case b.Org != "":
		r.Org[b.Org] = strategy
	case b.Model != "":
		r.Model[b.Model] = strategy
	default:
		r.All = strategy
	}
}

// bound loads the versions that a binding uses.
func (a *assembly) bound(ctx context.Context, b *Binding) (*bound, error) {
	p, err := a.state.Policy(b.Policy)
	if err != nil {
		return nil, err
	}
	x := &bound{binding: b, kind: p.Kind, share: shareOf(p.CanaryShare)}
	for _, role := range [...]struct {
		digest string
		unit   **unit
	}{{p.Active, &x.active}, {p.Canary, &x.canary}, {p.Shadow, &x.shadow}} {
		if role.digest == "" {
			continue
		}
		v, err := p.Version(role.digest)
		if err != nil {
			return nil, err
		}
		u, n, release, err := a.loader.load(ctx, p, v, b)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Digest[:minDigest], err)
		}
		a.rules.release = append(a.rules.release, release)
		*role.unit = u
		x.needs = x.needs.and(n)
	}
	return x, nil
}

// and is what either needs.
func (n needs) and(m needs) needs {
	n.id, n.metadata, n.text = n.id || m.id, n.metadata || m.metadata, max(n.text, m.text)
	if n.headers == nil {
		n.headers = m.headers // of one binding: the same
	}
	return n
}
