package config

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"gatewright/internal/config/catalog"
)

// maxQuotaWindows is how many quota windows one provider may have.
const maxQuotaWindows = 32

// What a quota window counts.
const (
	QuotaRequests = "requests"
	QuotaTokens   = "tokens"
	QuotaUSD      = "usd"
)

// QuotaWindow is a limit of the account at the provider over a stretch of time.
//
// The gateway counts by itself what it has used. A window begins with its first
// use and ends a period later; the next use begins another.
type QuotaWindow struct {
	// Name is what logs and the reasons of skipped candidates call it, once per
	// provider.
	Name string `config:"name" example:"weekly"`
	// Period is how long a window lasts from its first use.
	Period time.Duration `config:"period" min:"1s" max:"366d" example:"7d"`
	// Unit is what is counted: requests, tokens (input and output), or usd at the
	// deployments' cost.
	Unit string `config:"unit" oneof:"requests,tokens,usd"`
	// Limit is how much there is in a window, a whole number of requests or tokens,
	// or an amount in US dollars.
	//
	// It is kept in the unit, dollars in nano-USD.
	Limit int64 `config:"limit" kind:"amount"`
	// Covers are patterns of the models that use the window up, by their public or
	// their upstream name: * stands for any text, ! in front excludes. Without any,
	// all models do.
	Covers []string `config:"covers"`
}

// excludes begins a pattern of models that a window does not cover.
const excludes = "!"

// CoversModel reports whether a deployment, by its public and its upstream model
// name, uses the window up: no pattern with ! matches either name, and one
// without does, or there is none without.
func (w *QuotaWindow) CoversModel(model, upstream string) bool {
	covered, listed := false, false
	for _, p := range w.Covers {
		pattern, not := strings.CutPrefix(p, excludes)
		matches := matchName(pattern, model) || matchName(pattern, upstream)
		switch {
		case not && matches:
			return false
		case !not:
			listed = true
			covered = covered || matches
		}
	}
	return covered || !listed
}

// matchName reports whether a name matches a pattern, in which * stands for any
// text, also for none and for slashes.
func matchName(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[last])
}

// quotaForms are how the limit of a unit is written.
var quotaForms = map[string]boundForm{
	QuotaRequests: {form{wants: "a whole number of requests", number: true, count: forms["int"].count}, "1", "1000000000000000"},
	QuotaTokens:   {form{wants: "a whole number of tokens", number: true, count: forms["int"].count}, "1", "1000000000000000"},
	QuotaUSD:      {forms["usd"], "0.000001", "1000000000"},
}

// readNode reads the object. The unit decides how the limit is written, so it
// is read first.
func (w *QuotaWindow) readNode(d *decoder, n *yaml.Node, at path) {
	if !d.isMapping(n, at) {
		return
	}
	t := reflect.TypeFor[QuotaWindow]()
	fields, values := fieldsOf(t), make(map[string]*yaml.Node)
	for _, e := range d.known(n, t, at) {
		if !isNull(e.value) {
			values[e.name] = e.value
		}
	}
	for _, name := range []string{"name", "period", "unit", "limit"} {
		if values[name] == nil {
			d.fail(at, "write it as in {name: weekly, period: 7d, unit: tokens, limit: 1000000}", "the %s of the window is missing", name)
		}
	}
	v := reflect.ValueOf(w).Elem()
	for _, name := range []string{"name", "period", "unit", "covers"} {
		if values[name] != nil {
			d.value(values[name], v.Field(fields[name].index), fields[name], at.key(name))
		}
	}
	form, ok := quotaForms[w.Unit]
	if values["limit"] == nil || !ok {
		return
	}
	limit, inner := values["limit"], at.key("limit")
	if limit, ok = d.enter(limit, inner); !ok {
		return
	}
	defer d.leave()
	d.scalar(limit, reflect.ValueOf(&w.Limit).Elem(), field{min: form.least, max: form.most}, form.form, inner)
}

// checkQuotas checks the quota windows of every provider, once the models are
// known.
func (c *checker) checkQuotas() {
	deployments := c.resolveAll()
	for i := range c.f.Providers {
		p := &c.f.Providers[i]
		at := path("providers").key(p.ID).key("quota_windows")
		if len(p.QuotaWindows) > maxQuotaWindows {
			c.fail(at, "", "there are %d windows, and %d are the most", len(p.QuotaWindows), maxQuotaWindows)
			continue
		}
		for k := range p.QuotaWindows {
			w, inner := &p.QuotaWindows[k], at.index(k)
			whole := !c.broken(inner)
			if whole || w.Name != "" {
				c.quotaName(p, k, inner.key("name"))
			}
			c.checkCovers(w, inner.key("covers"))
			if whole {
				c.checkCovered(w, deployments[p.ID], inner)
			}
		}
	}
}

// resolveAll returns what the deployments come to, by provider; nothing when no
// provider has a quota window.
func (c *checker) resolveAll() map[string][]Resolved {
	if !slices.ContainsFunc(c.f.Providers, func(p Provider) bool { return len(p.QuotaWindows) > 0 }) {
		return nil
	}
	all := make(map[string][]Resolved, len(c.f.Providers))
	for i := range c.f.Models {
		for _, r := range c.f.Resolve(&c.f.Models[i]) {
			all[r.Provider.ID] = append(all[r.Provider.ID], r)
		}
	}
	return all
}

// quotaName checks the name of the k-th window of a provider.
func (c *checker) quotaName(p *Provider, k int, at path) {
	name := p.QuotaWindows[k].Name
	if !c.id(name, "quota window", at) {
		return
	}
	first := slices.IndexFunc(p.QuotaWindows, func(w QuotaWindow) bool { return w.Name == name })
	if first < k {
		c.fail(at, "choose another", "quota_windows[%d] has that name already", first)
	}
}

// checkCovers checks the patterns of a window.
func (c *checker) checkCovers(w *QuotaWindow, at path) {
	for i, p := range w.Covers {
		inner := at.index(i)
		pattern, _ := strings.CutPrefix(p, excludes)
		switch {
		case c.broken(inner):
		case pattern == "":
			c.fail(inner, "write a name, or part of one as in gpt-*", "the pattern is empty")
		case !c.freeName(pattern, "model", inner):
		case slices.Contains(w.Covers[:i], p):
			c.fail(inner, "remove it", "the pattern stands twice")
		case strings.ContainsAny(pattern, "?[]!"):
			c.warn(inner, "use *, the only sign that stands for other text", "the pattern matches only names that hold these very signs")
		}
	}
}

// checkCovered warns of a window that counts nothing, or not everything.
func (c *checker) checkCovered(w *QuotaWindow, deployments []Resolved, at path) {
	covered := false
	var unpriced []string
	for i := range deployments {
		r := &deployments[i]
		if !w.CoversModel(r.Model, r.UpstreamModel) {
			continue
		}
		covered = true
		if r.Cost.Input == nil || r.Cost.Output == nil && r.Mode != catalog.ModeEmbedding {
			unpriced = append(unpriced, r.ID)
		}
	}
	switch {
	case len(deployments) > 0 && !covered:
		c.warn(c.written(at.key("covers"), at), "write names as they stand under models, or upstream ones", "no deployment of the provider is covered")
	case w.Unit == QuotaUSD && len(unpriced) > 0:
		c.warn(at, "write cost at the deployment", "the window does not count what has no known cost: %s", strings.Join(unpriced, ", "))
	}
}
