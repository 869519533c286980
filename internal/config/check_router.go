package config

import "slices"

// maxAttemptsEver is how many calls one request makes at most, whatever a
// policy says.
const maxAttemptsEver = 10

// checkStrategies checks the names and the length of combos.
func (c *checker) checkStrategies() {
	for _, s := range c.f.Strategies {
		at := path("strategies").key(s.Name)
		for i, u := range s.Keys {
			if u.Policy != "" {
				c.rankingName(u.Policy, at.index(i).key("policy"))
			}
		}
		switch {
		case slices.Contains(strategyNames, s.Name):
			c.fail(at, "choose another name", "%s is the name of a built-in strategy", s.Name)
		case !c.id(s.Name, "strategy", at):
		case len(s.Keys) == 0 && !c.broken(at):
			c.fail(at, "write a list such as [{key: priority}, {key: price, tolerance: 2%}]", "the strategy has no sort key")
		case len(s.Keys) > maxStrategyKeys:
			c.fail(at, removeIt+" or split it", "the strategy has %d sort keys, and %d are the most", len(s.Keys), maxStrategyKeys)
		}
	}
}

// checkRouter checks the router's settings and those of single models.
func (c *checker) checkRouter() {
	r := &c.f.Router
	r.SelectionSet = c.given("router.selection")
	c.strategyName(r.Selection, "router.selection")
	if r.Selection == "" {
		c.fail("router.selection", "write balanced", "the strategy is empty text")
	}
	if r.RetryPolicy.Timeout == 0 {
		r.RetryPolicy.Timeout = c.f.Timeouts.FirstToken
	}
	if r.RetryPolicy.Cooldown == 0 {
		r.RetryPolicy.Cooldown = defaultCooldown
	}
	if n := r.RetryPolicy.MaxAttempts; n > maxAttemptsEver {
		c.warn("router.retry_policy.max_attempts", "write 10 or less", "one request makes %d calls at most, over all deployments", maxAttemptsEver)
	}
	for i := range r.Models {
		c.checkRoute(&r.Models[i])
	}
}

func (c *checker) checkRoute(route *ModelRoute) {
	at := path("router.models").key(route.Model)
	m := c.models[route.Model]
	switch {
	case m == nil:
		c.exists(route.Model, "model", &c.modelNames, at)
		return
	case m.Name != route.Model:
		c.fail(at, "write "+c.shown(m.Name), "%s is an alias; settings stand under the model's name", c.shown(route.Model))
		return
	}
	c.strategyName(route.Selection, at.key("selection"))
	c.checkAllocations(route, m, at)
	if len(route.Providers) == 0 {
		return
	}
	var serving nameSet
	for _, d := range m.Deployments {
		serving.add(d.Provider)
	}
	for _, o := range route.Providers {
		inner := at.key("providers").key(o.Provider)
		if c.exists(o.Provider, "provider", &c.providers, inner) && !serving.has(o.Provider) {
			c.fail(inner, "remove it, or list the provider among the model's deployments", "the provider %s does not serve the model", o.Provider)
		}
	}
}

// checkAllocations checks the weights of traffic-split.
func (c *checker) checkAllocations(route *ModelRoute, m *Model, at path) {
	if route.Allocations == nil {
		return
	}
	at = at.key("allocations")
	if selection := route.effective(&c.f.Router); selection != trafficSplit {
		c.fail(at, "write selection: "+trafficSplit+" beside it, or remove it", "allocations belong to %s, and the model's selection is %s", trafficSplit, c.shown(selection))
	}
	var ids nameSet
	for _, d := range m.Deployments {
		ids.add(d.ID)
	}
	seen := make(map[string]bool, len(route.Allocations))
	positive := 0
	for i, a := range route.Allocations {
		inner := at.index(i)
		if c.broken(inner) {
			positive++
			continue
		}
		switch {
		case a.DeploymentID == "":
			c.fail(inner, suggest("", ids.list, ""), "the allocation has no deployment_id")
		case seen[a.DeploymentID]:
			c.fail(inner, "remove one of the two", "the deployment %s stands twice", c.shown(a.DeploymentID))
		case !ids.has(a.DeploymentID):
			c.fail(inner.key("deployment_id"), suggest(a.DeploymentID, ids.list, ""), "the model has no deployment %s", c.shown(a.DeploymentID))
		}
		seen[a.DeploymentID] = true
		switch {
		case a.Weight == nil:
			c.fail(inner, "write weight: 1, or another number from 0 to 10000", "the allocation has no weight")
		case *a.Weight > 0:
			positive++
		}
	}
	if positive == 0 && len(seen) >= len(ids.list) && len(ids.list) > 0 {
		c.fail(at, "give at least one deployment a weight above 0", "every deployment has the weight 0, so the model is never served")
	}
}

// effective is the strategy of the model as the file sets it.
func (m *ModelRoute) effective(r *Router) string {
	if m.Selection != "" {
		return m.Selection
	}
	return r.Selection
}
