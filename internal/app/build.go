package app

import (
	"errors"
	"fmt"

	"gatewright/builtin"
	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/config/catalog"
	"gatewright/internal/wire/tokens"
	"gatewright/policies"
)

// builder turns one configuration file, with the policies that there are, into a
// specification of a snapshot.
type builder struct {
	file      *config.File
	rules     *policies.Rules
	targets   *targets
	providers map[string]*engine.Provider
}

// spec builds everything that the file describes, or says what does not fit.
func (b *builder) spec(generation uint64) (engine.Spec, error) {
	f := b.file
	combos, err := strategies(f, b.rules)
	if err != nil {
		return engine.Spec{}, err
	}
	keys, err := callers(f, &b.rules.Rankings)
	if err != nil {
		return engine.Spec{}, fmt.Errorf("keys: %w", err)
	}
	fallback, err := b.selection()
	if err != nil {
		return engine.Spec{}, err
	}
	spec := engine.Spec{
		Generation: generation,
		Strategies: combos,
		Checks:     append(builtin.Checks(), b.rules.Checks...),
		Default:    fallback,
		Callers:    keys,
		Limits: engine.Limits{
			Body: f.Limits.Body, Header: f.Limits.Header, Answer: f.Limits.Answer,
			JSONDepth: f.Limits.JSONDepth, Concurrent: int64(f.Limits.Concurrent), Request: f.Timeouts.Request,
		},
		AffinityOn:     f.Session.Affinity,
		SessionTTL:     f.Session.TTL,
		SessionHeaders: f.Session.Headers,
	}
	for i := range f.Providers {
		spec.Providers = append(spec.Providers, b.providers[f.Providers[i].ID])
	}
	var errs []error
	for i := range f.Models {
		m, err := b.model(&f.Models[i])
		errs = append(errs, err)
		spec.Models = append(spec.Models, m)
	}
	return spec, errors.Join(errs...)
}

// providersOf are the providers of a file, by id.
func providersOf(f *config.File) map[string]*engine.Provider {
	list := make(map[string]*engine.Provider, len(f.Providers))
	for i := range f.Providers {
		p := &f.Providers[i]
		list[p.ID] = &engine.Provider{
			ID: p.ID, Enabled: p.Enabled, HasCredential: p.HasCredential(),
			SupplyTier: p.SupplyTier, Region: p.Region, Tags: p.Tags,
		}
	}
	return list
}

// selection is the strategy of requests for which nothing nearer sets one: the
// file's, or the ranking that is bound to all requests; "" when there is none.
func (b *builder) selection() (string, error) {
	r, bound := &b.file.Router, b.rules.Rankings.All
	switch {
	case !r.SelectionSet:
		return bound, nil
	case bound != "":
		return "", twoStrategies("router.selection", r.Selection, bound)
	}
	return r.Selection, nil
}

// model builds one public name with its deployments and its route.
func (b *builder) model(m *config.Model) (*engine.Model, error) {
	route := b.file.Router.Route(m.Name)
	if route == nil {
		route = &config.ModelRoute{Model: m.Name}
	}
	var errs []error
	strategy := route.Selection
	if bound := b.rules.Rankings.Model[m.Name]; bound != "" {
		if strategy != "" {
			errs = append(errs, twoStrategies("router.models."+m.Name+".selection", strategy, bound))
		}
		strategy = bound
	}
	out := &engine.Model{
		Name: m.Name, Aliases: m.Aliases,
		Route: engine.Route{
			Strategy: strategy,
			Source:   "model",
			Retry:    b.retryPolicy(),
			Chains: map[engine.Chain][]string{
				engine.ChainGeneral: m.Fallbacks,
				engine.ChainContext: m.ContextWindowFallbacks,
				engine.ChainContent: m.ContentPolicyFallbacks,
			},
		},
	}
	for i, r := range b.file.Resolve(m) {
		d, err := b.deployment(&r)
		if err != nil {
			errs = append(errs, fmt.Errorf("models.%s.deployments[%d]: %w", m.Name, i, err))
			continue
		}
		out.Deployments = append(out.Deployments, d)
	}
	return out, errors.Join(errs...)
}

func (b *builder) retryPolicy() engine.RetryPolicy {
	p := b.file.Router.RetryPolicy
	wait := p.Timeout
	if wait == 0 {
		wait = b.file.Timeouts.FirstToken
	}
	return engine.RetryPolicy{
		MaxAttempts: p.MaxAttempts, Timeout: wait, FailureThreshold: p.FailureThreshold, Cooldown: p.Cooldown,
	}
}

// deployment builds one deployment of what its levels of configuration came to.
func (b *builder) deployment(r *config.Resolved) (*engine.Deployment, error) {
	out := &engine.Deployment{
		ID: r.ID, Model: r.Model, Provider: b.providers[r.Provider.ID], UpstreamModel: r.UpstreamModel,
		Enabled: r.Enabled, Listed: r.Listed, Priority: r.Priority, Weight: r.Weight,
		Price:     price(r),
		Context:   orZero(r.Limit.Context),
		MaxOutput: orZero(r.Limit.Output),
		TokenSize: tokens.Size(r.UpstreamModel),
		Timeouts: engine.Timeouts{
			Connect: r.Timeouts.Connect, FirstToken: r.Timeouts.FirstToken, Idle: r.Timeouts.Idle, Answer: r.Timeouts.Answer,
		},
	}
	out.Endpoints, out.Translated = endpoints(r)
	out.Caps, out.CapsKnown = capabilities(r)
	if r.Sale != nil {
		out.Sale = engine.Sale{Multiplier: r.Sale.Multiplier, From: r.Sale.From, Until: r.Sale.Until}
	}
	target, err := b.targets.target(r)
	if err != nil {
		return nil, err
	}
	out.Target = target
	return out, nil
}

// price is known when its input and its output are.
func price(r *config.Resolved) engine.Price {
	output := r.Cost.Output
	if output == nil && r.Mode == catalog.ModeEmbedding {
		output = new(int64) // embeddings have no output tokens
	}
	if r.Cost.Input == nil || output == nil {
		return engine.Price{}
	}
	p := engine.Price{Known: true, Input: *r.Cost.Input, Output: *output, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
	if v := r.Cost.CachedInput; v != nil {
		p.CachedInput = *v
	}
	if v := r.Cost.CacheWrite; v != nil {
		p.CacheWrite = *v
	}
	return p
}

// orZero is the number, or 0 for one that is not known.
func orZero(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// capabilities are what a deployment can do, and of which abilities that is
// known. What is not known removes nobody.
func capabilities(r *config.Resolved) (has, known engine.Capabilities) {
	for _, n := range r.Capabilities {
		c, _ := engine.CapabilityByName(n) // configuration and catalog hold known names
		has |= c
	}
	if r.CapabilitiesKnown {
		return has, engine.AllCapabilities
	}
	return has, has
}
