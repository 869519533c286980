package config

import (
	"slices"
	"strings"
)

// checkModels checks names, aliases and deployments.
func (c *checker) checkModels() {
	if len(c.f.Models) == 0 && !c.broken("models") {
		c.fail("models", "write models: {name: {deployments: [provider]}}", "there is no model")
	}
	for i := range c.f.Models {
		m := &c.f.Models[i]
		at := path("models").key(m.Name)
		c.freeName(m.Name, "model", at)
		c.checkAliases(m, at)
		c.checkDeployments(m, at)
	}
	c.hiddenNames()
}

// checkAliases enters the aliases of a model beside all names.
func (c *checker) checkAliases(m *Model, at path) {
	for i, alias := range m.Aliases {
		inner := at.key("aliases").index(i)
		if c.broken(inner) || !c.freeName(alias, "alias", inner) {
			continue
		}
		switch other := c.models[alias]; {
		case other == nil:
			c.models[alias] = m
			c.modelNames.add(alias)
		case other.Name == alias:
			c.fail(inner, "remove it or choose another", "the alias %s is the name of a model", c.shown(alias))
		case other == m:
			c.fail(inner, "remove it", "the alias %s stands twice", c.shown(alias))
		default:
			c.fail(inner, "remove it or choose another", "the alias %s belongs to the model %s already", c.shown(alias), c.shown(other.Name))
		}
	}
}

// checkDeployments checks the deployments of a model and fills in what they
// leave out.
func (c *checker) checkDeployments(m *Model, at path) {
	list := at.key("deployments")
	switch {
	case len(m.Deployments) == 0 && !c.broken(at):
		c.fail(at, "write deployments: [provider]", "the model has no deployment")
	case len(m.Deployments) > MaxDeployments:
		c.fail(list, "split the model and join the parts with fallbacks", "the model has %d deployments, and %d are the most", len(m.Deployments), MaxDeployments)
	}
	for i := range m.Deployments {
		d := &m.Deployments[i]
		inner := list.index(i)
		if c.broken(inner) {
			continue
		}
		if d.Provider == "" {
			c.fail(inner, "write provider: one of the ids under providers", "the deployment names no provider")
			continue
		}
		if !c.exists(d.Provider, "provider", &c.providers, c.written(inner.key("provider"), inner)) {
			continue
		}
		if d.UpstreamModel == "" {
			d.UpstreamModel = m.Name
		} else {
			c.freeName(d.UpstreamModel, "upstream model", inner.key("upstream_model"))
		}
		c.upstreams[served{d.Provider, d.UpstreamModel}] = true
		c.deploymentID(m, d, inner)
		c.references(d.Capabilities, "capability", &capabilitySet, inner.key("capabilities"))
		c.checkEndpoints(d.Endpoints, inner.key("endpoints"))
		c.checkDialect(d, inner)
		c.checkSale(d.Sale, inner.key("sale"))
	}
}

// checkDialect refuses settings of bodies that the deployment never gets: a
// translation writes its own.
func (c *checker) checkDialect(d *Deployment, at path) {
	p, _ := c.f.Provider(d.Provider)
	if p == nil || p.Upstream.Protocol == ProtocolOpenAI || p.Upstream.Protocol == "" {
		return
	}
	for _, set := range []struct {
		name string
		is   bool
	}{
		{"no_system_role", d.NoSystemRole != nil && p.Upstream.Protocol == ProtocolAnthropic},
		{"reasoning", d.Reasoning != ""},
		{"history_reasoning", d.HistoryReasoning != ""},
		{"max_tokens_field", d.MaxTokensField != ""},
		{"embedding_format", d.EmbeddingFormat != ""},
	} {
		if set.is {
			c.fail(at.key(set.name), removeIt, "the provider %s speaks %s, and the setting is for %s", p.ID, p.Upstream.Protocol, ProtocolOpenAI)
		}
	}
}

// written returns the path if the file has it, else the one around it.
func (c *checker) written(at, around path) path {
	if _, ok := c.places[at]; ok {
		return at
	}
	return around
}

// deploymentID fills in the id and refuses one that is taken.
func (c *checker) deploymentID(m *Model, d *Deployment, at path) {
	given := d.ID != ""
	if !given {
		d.ID = d.Provider + "/" + m.Name
	}
	idAt := c.written(at.key("id"), at)
	if given && !c.freeName(d.ID, "deployment", idAt) {
		return
	}
	first, taken := c.deployments[d.ID]
	switch {
	case !taken:
		c.deployments[d.ID] = at
	case given:
		c.fail(idAt, "choose another", "the id %s is taken by %s", c.shown(d.ID), first)
	default:
		c.fail(at, "give each an id: {id: …, provider: "+d.Provider+"}", "the id %s is taken by %s", c.shown(d.ID), first)
	}
}

func (c *checker) checkSale(s *Sale, at path) {
	switch {
	case s == nil || c.broken(at):
	case s.Multiplier == 0:
		c.fail(at, "write multiplier: 0.8 for 20 % off", "the sale has no multiplier")
	case !s.Until.IsZero() && !s.Until.After(s.From):
		c.fail(at.key("until"), "write a later date", "the sale ends before it begins")
	}
}

// hiddenNames warns of names that a client can no longer use to lock a request
// to a provider, because a model or alias has the same spelling.
func (c *checker) hiddenNames() {
	for _, name := range c.modelNames.list {
		if len(name) > maxName {
			continue // refused already
		}
		for i := range len(name) {
			if name[i] != '/' {
				continue
			}
			if p, rest := name[:i], name[i+1:]; c.providers.has(p) && c.serves(p, rest) {
				m := c.models[name]
				at := path("models").key(m.Name)
				if j := slices.Index(m.Aliases, name); j >= 0 {
					at = at.key("aliases").index(j)
				}
				c.warn(at, "choose another name", "the name %s hides the model %s locked to the provider %s", c.shown(name), c.shown(rest), p)
			}
		}
	}
}

// serves reports whether a provider serves a model of that name, alias or
// upstream name.
func (c *checker) serves(provider, name string) bool {
	if c.upstreams[served{provider, name}] {
		return true
	}
	m := c.models[name]
	return m != nil && slices.ContainsFunc(m.Deployments, func(d Deployment) bool { return d.Provider == provider })
}

// strategyName checks a reference to a strategy; "" is none.
func (c *checker) strategyName(name string, at path) {
	policy, isPolicy := strings.CutPrefix(name, policyPrefix)
	switch {
	case name == "" || c.broken(at):
	case isPolicy:
		c.rankingName(policy, at)
	default:
		c.exists(name, "strategy", &c.strategies, at)
	}
}
