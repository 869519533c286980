package engine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Model is a public name that clients ask for.
type Model struct {
	Name        string
	Aliases     []string
	Deployments []*Deployment // in the order listed
	Route       Route
}

// Route is how requests for a model are ordered, tried and handed on.
type Route struct {
	Strategy string // "" = the router's
	Source   string // the level that set Strategy
	Retry    RetryPolicy
	chains   [chainCount][]*Model
	// Chains names the fallback models by table; NewSnapshot resolves them.
	Chains map[Chain][]string
}

// CallerTable finds who a request comes from.
type CallerTable interface {
	// Lookup returns the caller that a presented secret belongs to, in constant
	// time with respect to the secrets that exist.
	Lookup(secret string) (*Caller, bool)
	// Anonymous returns the caller that requests without a secret get from
	// loopback; ok is false when keys are defined.
	Anonymous() (*Caller, bool)
}

// Limits bound what one request may use. They reload with the configuration.
type Limits struct {
	Body       int64 // bytes of a request body
	Header     int64 // bytes of a request's headers
	Answer     int64 // bytes of an answer that is held whole
	JSONDepth  int
	Concurrent int64         // requests running at once
	Request    time.Duration // deadline of all waiting before commit
}

// Spec is what a snapshot is made of. The snapshot takes ownership: nothing in
// it may be written afterwards.
type Spec struct {
	Generation uint64
	Providers  []*Provider
	Models     []*Model
	Strategies map[string]*Strategy
	Checks     []Check // in the order they run
	Default    string  // router.selection; "" = none set, so balanced
	Callers    CallerTable
	Limits     Limits
	AffinityOn bool
	SessionTTL time.Duration
	// SessionHeaders are header names that carry a session, before the known
	// clients' own.
	SessionHeaders []string
}

// Snapshot is one generation of configuration: immutable, shared by all
// requests that began while it was current, closed when the last of them ends.
type Snapshot struct {
	Spec
	names     map[string]*Model // public names and aliases
	providers map[string]*Provider
	upstream  map[upstreamName]*Model // provider and upstream model name
	all       map[string]*Deployment  // by id
	refs      atomic.Int64            // 1 for being current + 1 per request; closed below 1
	onClose   func()

	defaultSource string // the level that Default comes from
}

type upstreamName struct{ provider, model string }

// StrategyBalanced is the strategy when nothing else is configured.
const StrategyBalanced = "balanced"

// NewSnapshot indexes a specification and checks that every reference in it
// holds. onClose (may be nil) runs when the snapshot was replaced and its last
// request ended.
func NewSnapshot(spec Spec, onClose func()) (*Snapshot, error) {
	s := &Snapshot{
		Spec:      spec,
		names:     make(map[string]*Model, len(spec.Models)),
		providers: make(map[string]*Provider, len(spec.Providers)),
		upstream:  make(map[upstreamName]*Model),
		all:       make(map[string]*Deployment),
		onClose:   onClose,
	}
	s.refs.Store(1)
	errs := s.indexProviders()
	errs = append(errs, s.indexModels()...)
	errs = append(errs, s.resolveRoutes()...)
	s.defaultSource = "router"
	if s.Default == "" {
		s.Default, s.defaultSource = StrategyBalanced, "default"
	}
	if spec.Strategies[s.Default] == nil {
		errs = append(errs, fmt.Errorf("router.selection: there is no strategy %q", s.Default))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Snapshot) indexProviders() (errs []error) {
	for _, p := range s.Providers {
		if s.providers[p.ID] != nil {
			errs = append(errs, fmt.Errorf("providers.%s: defined twice", p.ID))
		}
		s.providers[p.ID] = p
	}
	return errs
}

func (s *Snapshot) indexModels() (errs []error) {
	for _, m := range s.Models {
		for _, n := range append([]string{m.Name}, m.Aliases...) {
			if old := s.names[n]; old != nil {
				errs = append(errs, fmt.Errorf("models.%s: the name %q is taken by model %q", m.Name, n, old.Name))
				continue
			}
			s.names[n] = m
		}
		for i, d := range m.Deployments {
			if old, taken := s.all[d.ID]; taken {
				errs = append(errs, fmt.Errorf("models.%s.deployments[%d]: the id %q is taken in model %q", m.Name, i, d.ID, old.Model))
			}
			s.all[d.ID] = d
			d.hash = drawHash(d.ID)
			if key := (upstreamName{d.Provider.ID, d.UpstreamModel}); s.upstream[key] == nil {
				s.upstream[key] = m
			}
		}
	}
	return errs
}

// resolveRoutes turns the names in the models' routes into what they name.
func (s *Snapshot) resolveRoutes() (errs []error) {
	for _, m := range s.Models {
		for chain, targets := range m.Route.Chains {
			for i, t := range targets {
				target := s.names[t]
				if target == nil {
					errs = append(errs, fmt.Errorf("models.%s.%s[%d]: there is no model %q", m.Name, chain, i, t))
					continue
				}
				m.Route.chains[chain] = append(m.Route.chains[chain], target)
			}
		}
		if n := m.Route.Strategy; n != "" && s.Strategies[n] == nil {
			errs = append(errs, fmt.Errorf("models.%s: there is no strategy %q", m.Name, n))
		}
	}
	return errs
}

// Model returns the model that a public name or alias stands for.
func (s *Snapshot) Model(name string) (*Model, bool) {
	m, ok := s.names[name]
	return m, ok
}

// Provider returns the provider of that id.
func (s *Snapshot) Provider(id string) (*Provider, bool) {
	p, ok := s.providers[id]
	return p, ok
}

// Deployment returns the deployment of that id.
func (s *Snapshot) Deployment(id string) (*Deployment, bool) {
	d, ok := s.all[id]
	return d, ok
}

// acquire counts a request in; it fails when the snapshot is closed.
func (s *Snapshot) acquire() bool {
	for {
		n := s.refs.Load()
		if n < 1 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release counts a request out. It must be called once for each Acquire.
func (s *Snapshot) Release() {
	if s.refs.Add(-1) == 0 && s.onClose != nil {
		s.onClose()
	}
}
