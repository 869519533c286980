package config

import (
	"slices"
	"strings"
)

// checkBindings checks the bindings by themselves and against the rest of the
// file.
func (c *checker) checkBindings() {
	owners := make(map[string]path, len(c.f.Bindings))
	for i := range c.f.Bindings {
		b := &c.f.Bindings[i]
		at := path("bindings").index(i)
		c.boundTo(b, at)
		c.grants(b.Grant, at.key("grant"))
		if c.broken(at) {
			continue
		}
		c.stage(b, at)
		if !c.bindingID(b, at) {
			continue
		}
		if other, taken := owners[b.ID]; taken {
			c.fail(at, "give each an id of its own", "the id %s is that of %s already", c.shown(b.ID), other)
			continue
		}
		owners[b.ID] = at
	}
}

// boundTo checks what a binding names.
func (c *checker) boundTo(b *Binding, at path) {
	if b.Policy == "" {
		if !c.broken(at) {
			c.fail(at, "write policy: NAME", "the binding has no policy")
		}
	} else {
		c.policyNamed(b.Policy, "policy", at.key("policy"))
	}
	if b.Key != "" {
		c.exists(b.Key, "key", &c.keys, at.key("key"))
	}
	if b.Model == "" {
		return
	}
	if m := c.models[b.Model]; m != nil {
		b.Model = m.Name
	} else {
		c.exists(b.Model, "model", &c.modelNames, at.key("model"))
	}
}

// stage checks that a binding asks for nothing that policies of its kind do not
// have. Where the file does not say the kind, it must be possible for one.
func (c *checker) stage(b *Binding, at path) {
	kind := c.kindOf(b.Policy)
	tolerance := b.Tolerance != nil && *b.Tolerance != Tolerance{}
	switch {
	case kind == kindAdmission && tolerance:
		c.fail(at.key("tolerance"), removeIt, "%s is an admission policy, which has no scores", c.shown(b.Policy))
		return
	case kind != kindRanking && !tolerance:
		return
	}
	because := "only a ranking has a tolerance, and "
	if kind == kindRanking {
		because = c.shown(b.Policy) + " is a ranking: "
	}
	if b.Key != "" && b.Model != "" {
		c.fail(at, "name one of the two, or none for all requests", "%sit becomes the strategy of one level, key or model", because)
	}
	if b.OnFault == "fail_open" {
		c.fail(at.key("on_fault"), removeIt, "%sits fault leaves the base order and serves the request", because)
	}
	if b.Order != 0 {
		c.fail(at.key("order"), removeIt, "%sa request has one of them", because)
	}
}

// bindingID gives the binding the id that its scope makes, if it has none.
func (c *checker) bindingID(b *Binding, at path) bool {
	if c.given(at.key("id")) {
		return c.policyNamed(b.ID, "binding", at.key("id"))
	}
	b.ID = b.Policy
	for _, scope := range [...]struct{ what, name string }{{"key", b.Key}, {"model", b.Model}} {
		if scope.name != "" {
			b.ID += "-" + scope.what + "-" + strings.Map(func(r rune) rune {
				if notInPolicyName(r) {
					return '_'
				}
				return r
			}, scope.name)
		}
	}
	if len(b.ID) > maxPolicyName {
		c.fail(at, "write id: NAME", "the binding needs an id: the one made of its names has more than %d characters", maxPolicyName)
		return false
	}
	return true
}

// The names of grants.
const (
	grantText     = "text"
	grantLastUser = "last_user"
	grantHeader   = "header."
)

// maxGrantedHeaders bounds what one policy is given of headers.
const maxGrantedHeaders = 32

// credentialHeaders are never granted.
var credentialHeaders = []string{"authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key"}

// grants checks what a binding lets its policy see.
func (c *checker) grants(list []string, at path) {
	seen := make(map[string]bool, len(list))
	headers := 0
	for i, name := range list {
		inner := at.index(i)
		if c.broken(inner) {
			continue
		}
		header, isHeader := strings.CutPrefix(name, grantHeader)
		header = strings.ToLower(header)
		switch {
		case isHeader && !headerToken(header):
			c.fail(inner, "write header. and the name, such as header.x-tenant", "%s names no header", c.shown(name))
		case isHeader && slices.Contains(credentialHeaders, header):
			c.fail(inner, "policies know the caller as request.key", "%s holds a credential, which no policy sees", c.shown(name))
		case isHeader:
			headers++
			name = grantHeader + header
		case name != grantText && name != grantLastUser:
			c.fail(inner, suggest(name, []string{grantText, grantLastUser, grantHeader + "NAME"}, ""), "there is no grant %s", c.shown(name))
		}
		if seen[name] && !c.broken(inner) {
			c.fail(inner, removeIt, "it stands twice")
		}
		seen[name] = true
	}
	if headers > maxGrantedHeaders {
		c.fail(at, "grant fewer", "%d headers are granted, and %d are the most", headers, maxGrantedHeaders)
	}
}
