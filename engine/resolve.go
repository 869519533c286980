package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// resolution is what a model string came to.
type resolution struct {
	model    *Model
	name     string    // public name or alias that was asked for
	how      string    // "model", "alias", "locked"
	provider *Provider // locked to it; nil = free
	upstream string    // the locked name was this upstream name; "" = a public one
	strategy string    // ":@S"; "" = none
}

// resolve finds what the model string names: a whole name first, then
// provider/model, then one suffix behind the last ":@" or ":".
func (s *Snapshot) resolve(r *Request) (resolution, error) {
	if res, ok := s.resolveName(r.Model); ok {
		return res, s.checkProvider(r, res)
	}
	left, suffix, override := splitSuffix(r.Model)
	if suffix == "" {
		return resolution{}, notFound(r.Model)
	}
	base, ok := s.resolveName(left)
	if !ok {
		if s.suffixed(left) {
			return resolution{}, conflicting(r.Model)
		}
		return resolution{}, notFound(r.Model)
	}
	// "m:@S:P" splits at ":@", so the provider hides in the strategy's name.
	if override && s.hidesProvider(suffix) {
		return resolution{}, conflicting(r.Model)
	}
	if !override {
		return s.resolveProvider(r, base, suffix)
	}
	if base.provider != nil {
		return resolution{}, conflicting(r.Model)
	}
	if !r.Caller.AllowRequestStrategy {
		return resolution{}, &RefusedError{
			Code: CodeStrategyOverrideNotAllowed, Param: "model",
			Message: fmt.Sprintf("this key may not choose a strategy: ask for %q without %q, or let the operator set allow_request_strategy", left, ":@"+suffix),
		}
	}
	if s.Strategies[suffix] == nil {
		return resolution{}, &RefusedError{
			Code: CodeUnknownStrategy, Param: "model",
			Message: fmt.Sprintf("there is no strategy %q; there are %s", suffix, strings.Join(slices.Sorted(maps.Keys(s.Strategies)), ", ")),
		}
	}
	base.strategy = suffix
	return base, nil
}

// resolveName takes the whole string as a name, or as provider/model.
func (s *Snapshot) resolveName(name string) (resolution, bool) {
	if m := s.names[name]; m != nil {
		if m.Name == name {
			return resolution{model: m, name: name, how: "model"}, true
		}
		return resolution{model: m, name: name, how: "alias"}, true
	}
	id, rest, ok := strings.Cut(name, "/")
	if !ok {
		return resolution{}, false
	}
	p := s.providers[id]
	if p == nil {
		return resolution{}, false
	}
	return s.lock(p, rest)
}

// lock finds the model that provider p serves under a public name, an alias or
// its own upstream name.
func (s *Snapshot) lock(p *Provider, name string) (resolution, bool) {
	if m := s.names[name]; m != nil && m.servedBy(p) {
		return resolution{model: m, name: name, how: "locked", provider: p}, true
	}
	if m := s.upstream[upstreamName{p.ID, name}]; m != nil {
		return resolution{model: m, name: m.Name, how: "locked", provider: p, upstream: name}, true
	}
	return resolution{}, false
}

func (m *Model) servedBy(p *Provider) bool {
	for _, d := range m.Deployments {
		if d.Provider == p {
			return true
		}
	}
	return false
}

// resolveProvider handles the suffix ":P".
func (s *Snapshot) resolveProvider(r *Request, base resolution, id string) (resolution, error) {
	p := s.providers[id]
	switch {
	case p == nil:
		return resolution{}, notFound(r.Model)
	case base.provider != nil:
		return resolution{}, conflicting(r.Model)
	case !base.model.servedBy(p):
		return resolution{}, &RefusedError{
			Code: CodeModelNotFound, Param: "model",
			Message: fmt.Sprintf("provider %q does not serve the model %q", id, base.model.Name),
		}
	}
	base.provider, base.how = p, "locked"
	return base, s.checkProvider(r, base)
}

// checkProvider refuses a provider that the caller named and may not have.
func (s *Snapshot) checkProvider(r *Request, res resolution) error {
	p := res.provider
	switch {
	case p == nil:
		return nil
	case !r.Caller.AllowedProviders.Allows(p.ID):
		return &RefusedError{
			Code: CodeProviderNotAllowed, Param: "model",
			Message: fmt.Sprintf("this key may not use the provider %q: ask for %q without it", p.ID, res.model.Name),
		}
	case !p.Enabled:
		return &RefusedError{
			Code: CodeProviderDisabled, Param: "model",
			Message: fmt.Sprintf("the provider %q is disabled: ask for %q without it", p.ID, res.model.Name),
		}
	}
	return nil
}

// splitSuffix splits at the last ":@", else at the last ":".
func splitSuffix(name string) (left, suffix string, override bool) {
	if i := strings.LastIndex(name, ":@"); i >= 0 {
		return name[:i], name[i+2:], true
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:], false
	}
	return name, "", false
}

// suffixed reports whether name is itself a good name with a suffix.
func (s *Snapshot) suffixed(name string) bool {
	left, suffix, override := splitSuffix(name)
	if _, ok := s.resolveName(left); !ok || suffix == "" {
		return false
	}
	return override || s.providers[suffix] != nil
}

// hidesProvider reports whether a strategy suffix is a strategy and a provider.
func (s *Snapshot) hidesProvider(suffix string) bool {
	i := strings.LastIndexByte(suffix, ':')
	return i >= 0 && s.Strategies[suffix] == nil && s.providers[suffix[i+1:]] != nil
}

func notFound(name string) error {
	return &RefusedError{
		Code: CodeModelNotFound, Param: "model",
		Message: fmt.Sprintf("the model %q does not exist; GET /v1/models lists what this key may use", name),
	}
}

func conflicting(name string) error {
	return &RefusedError{
		Code: CodeConflictingSuffixes, Param: "model",
		Message: fmt.Sprintf("%q names a provider or strategy twice: use one of provider/model, model:provider and model:@strategy", name),
	}
}
