package config

import (
	"slices"
	"time"

	"gatewright/internal/config/catalog"
)

// reasoningWait is how long models that think before they answer may take to
// their first token and between tokens, where nothing sets a time.
const reasoningWait = 5 * time.Minute

// Resolved is what a deployment comes to when the file, the router's overrides
// and the catalog are laid over each other.
type Resolved struct {
	ID            string
	Model         string // public name
	Provider      *Provider
	UpstreamModel string
	Listed        int  // place in the model's list, from 0
	Enabled       bool // of the deployment; the provider has its own

	Priority int // the override's, else the provider's
	Weight   int // the allocation's under traffic-split, else the override's, else the provider's

	Cost  Cost  // the deployment's, else the override's, else the catalog's, each price for itself
	Limit Limit // likewise

	// Capabilities are all abilities when CapabilitiesKnown, else those that are
	// certain.
	Capabilities      []string
	CapabilitiesKnown bool
	Reasoning         bool
	Mode              catalog.Mode // "" = not in the catalog
	Endpoints         []string     // all that are served; nil = not said

	Sale *Sale // nil = none

	Translation Translation // for requests of other protocols
	Dialect     Dialect     // for requests of OpenAI's protocol

	// Timeouts are all set but FirstToken: 0 there means the timeout of the retry
	// policy that is in force.
	Timeouts CallTimeouts
}

// Resolve returns what the deployments of a model of this file come to, in the
// order of the list. The result belongs to the caller; what its pointers lead
// to is the file's and the catalog's.
func (f *File) Resolve(m *Model) []Resolved {
	route := f.Router.Route(m.Name)
	if route == nil {
		route = &ModelRoute{}
	}
	list := make([]Resolved, 0, len(m.Deployments))
	for i := range m.Deployments {
		d := &m.Deployments[i]
		if p, ok := f.Provider(d.Provider); ok {
			list = append(list, f.resolve(m, d, p, route, i))
		}
	}
	return list
}

func (f *File) resolve(m *Model, d *Deployment, p *Provider, route *ModelRoute, listed int) Resolved {
	over := route.override(p.ID)
	entry, known := catalog.Lookup(p.Upstream.Catalog, d.UpstreamModel)
	if !known {
		entry = &catalog.Model{}
	}
	r := Resolved{
		ID: d.ID, Model: m.Name, Provider: p, UpstreamModel: d.UpstreamModel, Listed: listed, Enabled: d.Enabled,
		Priority: first(over.Priority, p.Priority),
		Weight:   f.weight(d, p, route, over),
		Cost: Cost{
			Input:       given(d.Cost.Input, over.Cost.Input, entry.Input),
			Output:      given(d.Cost.Output, over.Cost.Output, entry.Output),
			CachedInput: given(d.Cost.CachedInput, over.Cost.CachedInput, entry.CachedInput),
			CacheWrite:  given(d.Cost.CacheWrite, over.Cost.CacheWrite, entry.CacheWrite),
		},
		Limit: Limit{
			Context: given(d.Limit.Context, over.Limit.Context, entry.Context),
			Output:  given(d.Limit.Output, over.Limit.Output, entry.MaxOutput),
		},
		Capabilities: slices.Clone(d.Capabilities), CapabilitiesKnown: d.Capabilities != nil,
		Mode: entry.Mode, Endpoints: d.Endpoints, Sale: d.Sale,
	}
	if d.Capabilities == nil {
		r.Capabilities, r.CapabilitiesKnown = slices.Clone(entry.Capabilities), entry.CapabilitiesKnown
	}
	r.Reasoning = slices.Contains(r.Capabilities, "reasoning")
	r.Timeouts = f.callTimeouts(d, p, r.Reasoning)
	r.Translation, r.Dialect = translation(&r), dialect(&r, d)
	return r
}

// weight is the effective weight. Allocations stand for traffic-split alone, so
// they are the model's only weights where they are given.
func (f *File) weight(d *Deployment, p *Provider, route *ModelRoute, over ProviderOverride) int {
	if route.Allocations == nil || route.effective(&f.Router) != trafficSplit {
		return first(over.Weight, p.Weight)
	}
	i := slices.IndexFunc(route.Allocations, func(a Allocation) bool { return a.DeploymentID == d.ID })
	if i < 0 {
		return 1
	}
	return first(route.Allocations[i].Weight, 1)
}

// callTimeouts lays the waits of all levels over each other.
func (f *File) callTimeouts(d *Deployment, p *Provider, reasoning bool) CallTimeouts {
	t := CallTimeouts{
		Connect:    nearer(d.Timeouts.Connect, p.Timeouts.Connect),
		FirstToken: nearer(d.Timeouts.FirstToken, p.Timeouts.FirstToken),
		Idle:       nearer(d.Timeouts.Idle, p.Timeouts.Idle),
		Answer:     nearer(d.Timeouts.Answer, p.Timeouts.Answer),
	}
	if reasoning {
		t.FirstToken = nearer(t.FirstToken, max(reasoningWait, f.Timeouts.FirstToken))
		t.Idle = nearer(t.Idle, max(reasoningWait, f.Timeouts.Idle))
	}
	t.Connect = nearer(t.Connect, f.Timeouts.Connect)
	t.Idle = nearer(t.Idle, f.Timeouts.Idle)
	t.Answer = nearer(t.Answer, f.Timeouts.Answer)
	return t
}

// override returns what the route sets for a provider.
func (m *ModelRoute) override(provider string) ProviderOverride {
	for _, o := range m.Providers {
		if o.Provider == provider {
			return o
		}
	}
	return ProviderOverride{}
}

// first returns what p points to, else the default.
func first[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

// given returns the first of the levels that is set.
func given(levels ...*int64) *int64 {
	for _, l := range levels {
		if l != nil {
			return l
		}
	}
	return nil
}

// nearer returns the nearer wait if it is set.
func nearer(near, far time.Duration) time.Duration {
	if near != 0 {
		return near
	}
	return far
}
