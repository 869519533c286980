package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// checkProviders checks every provider and works out how it is called.
func (c *checker) checkProviders() {
	if len(c.f.Providers) == 0 && !c.broken("providers") {
		c.fail("providers", "write providers: {openai: {preset: openai}}, or another preset", "there is no provider")
	}
	for i := range c.f.Providers {
		p := &c.f.Providers[i]
		at := path("providers").key(p.ID)
		c.id(p.ID, "provider", at)
		pre, ok := c.presetOf(p, at)
		if ok {
			c.upstream(p, pre, at)
			c.credentials(p, pre, at)
		}
		c.checkHeaders(p, at)
		c.checkEndpoints(p.Endpoints, at.key("endpoints"))
		if p.SupplyTier == "" {
			p.SupplyTier = officialTier
		}
		if c.id(p.SupplyTier, "supply tier", at.key("supply_tier")) {
			c.tiers.add(p.SupplyTier)
		}
		c.tierOf[p.ID] = p.SupplyTier
	}
}

// presetOf returns the preset of a provider; one made of its protocol alone
// when it names none.
func (c *checker) presetOf(p *Provider, at path) (Preset, bool) {
	if c.broken(at.key("preset")) || c.broken(at.key("protocol")) {
		return Preset{}, false
	}
	if p.Protocol != "" && !slices.Contains(protocols, p.Protocol) {
		c.fail(at.key("protocol"), suggest(p.Protocol, protocols, ""), "there is no protocol %s", c.shown(p.Protocol))
		return Preset{}, false
	}
	pre := Preset{Protocol: p.Protocol, IncludeUsage: true, SupplyTier: officialTier}
	pre.Auth, pre.AuthHeader = authOf(p.Protocol)
	switch {
	case p.Preset != "":
		var ok bool
		if pre, ok = preset(p.Preset); !ok {
			c.fail(at.key("preset"), suggest(p.Preset, presetNames(), ""), "there is no preset %s", c.shown(p.Preset))
			return Preset{}, false
		}
		if p.Protocol == ProtocolOpenAI && pre.CompatibleURL != "" {
			pre = pre.compatible()
		}
		if p.Protocol != "" && p.Protocol != pre.Protocol {
			c.fail(at.key("protocol"), "remove it: the preset brings it", "the preset %s speaks %s", pre.Name, pre.Protocol)
			return Preset{}, false
		}
	case p.Protocol == "":
		fix := "write protocol: openai and base_url, or a preset"
		if name, ok := nearest(p.ID, presetNames()); ok {
			fix = "write preset: " + name + ", or protocol: openai and base_url"
		}
		c.fail(at, fix, "the provider has neither preset nor protocol")
		return Preset{}, false
	}
	if !slices.Contains(c.protocol, pre.Protocol) {
		c.fail(at.key("protocol"), "write one of "+strings.Join(c.protocol, ", "), "the protocol %s is known, but this version does not speak it upstream", pre.Protocol)
		return Preset{}, false
	}
	return pre, true
}

// upstream works out the address and what follows from it.
func (c *checker) upstream(p *Provider, pre Preset, at path) {
	up := Upstream{
		Protocol: pre.Protocol, BaseURL: pre.BaseURL, Auth: pre.Auth, AuthHeader: pre.AuthHeader,
		IncludeUsage: pre.IncludeUsage, Catalog: pre.Catalog, Responses: pre.Responses, CountTokens: pre.CountTokens,
		Service: pre.Service,
	}
	azure := pre.Name == azurePreset
	c.versions(p, &up, azure, at)
	urlAt := at.key("base_url")
	switch {
	case p.BaseURL != "":
		base, version, ok := c.baseURL(p.BaseURL, azure, urlAt)
		if !ok {
			break
		}
		up.BaseURL = versioned(up.Protocol, base)
		if version != "" && p.APIVersion == "" {
			up.APIVersion = version
		}
		if known, ok := presetAt(base); ok && up.Catalog == "" && known.Catalog != "" {
			up.Catalog = known.Catalog
			if known.Protocol != up.Protocol && up.Protocol == ProtocolOpenAI && known.CompatibleURL != "" {
				known = known.compatible()
			}
			if known.Protocol == up.Protocol {
				up.Responses, up.CountTokens, up.Service = known.Responses, known.CountTokens, known.Service
			}
		}
	case up.BaseURL == "" && !c.broken(urlAt) && !c.broken(at.key("resource")):
		fix := "write base_url: https://host/v1"
		if azure {
			fix = "write resource: the-name-of-the-resource, or base_url"
		}
		c.fail(at, fix, "the provider has no address")
	}
	if azure && up.BaseURL != "" {
		c.azurePath(p, &up, at)
		up.IncludeUsage = up.APIVersion == "" || up.APIVersion >= azureUsageSince
	}
	p.Upstream = up
	p.Protocol, p.BaseURL, p.APIVersion = up.Protocol, up.BaseURL, cmp.Or(up.APIVersion, up.Version)
}

// versions checks and fills in what says how the API is called: Azure has more
// of it than others.
func (c *checker) versions(p *Provider, up *Upstream, azure bool, at path) {
	if azure {
		c.azure(p, up, at)
		return
	}
	c.onlyFor(at.key("resource"), "the preset "+azurePreset)
	versionAt := at.key("api_version")
	switch {
	case up.Protocol != ProtocolAnthropic:
		c.onlyFor(versionAt, "the preset "+azurePreset+" and the protocol "+ProtocolAnthropic)
	case p.APIVersion == "":
	case !slices.Contains(anthropicVersions, p.APIVersion):
		c.fail(versionAt, suggest(p.APIVersion, anthropicVersions, ""), "the protocol %s has no version %s", ProtocolAnthropic, c.shown(p.APIVersion))
	default:
		up.Version = p.APIVersion
	}
}

// onlyFor refuses a field that others have.
func (c *checker) onlyFor(at path, others string) {
	if _, written := c.places[at]; written {
		c.fail(at, removeIt, "only %s has it", others)
	}
}

// versioned returns a base URL with the version that is part of all paths of a
// protocol: the makers' SDKs are given the address without it.
func versioned(protocol, base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	switch protocol {
	case ProtocolAnthropic:
		if !strings.HasSuffix(u.Path, "/v1") {
			return base + "/v1"
		}
	case ProtocolGemini:
		if u.Path == "" {
			return base + "/v1beta"
		}
	}
	return base
}

// azure fills in what calls to Azure's API need.
func (c *checker) azure(p *Provider, up *Upstream, at path) {
	up.DeploymentPaths, up.APIVersion = true, azureAPIVersion
	if p.APIVersion != "" {
		up.APIVersion = p.APIVersion
		if !idName(p.APIVersion) {
			c.fail(at.key("api_version"), "write a version such as "+azureAPIVersion, "the version is not valid")
		}
	}
	if p.Resource == "" {
		return
	}
	inner := at.key("resource")
	switch {
	case p.BaseURL != "":
		c.fail(inner, "remove one of the two", "both resource and base_url are given")
	case !idName(p.Resource) || strings.Contains(p.Resource, "."):
		c.fail(inner, "write the name before "+azureHost, "the name of the resource is not valid")
	default:
		up.BaseURL = "https://" + p.Resource + azureHost
	}
}

// compatible returns the preset of the same maker's OpenAI-compatible endpoint.
func (p Preset) compatible() Preset {
	p.Protocol, p.BaseURL, p.CountTokens, p.Service = ProtocolOpenAI, p.CompatibleURL, false, p.CompatibleService
	p.Auth, p.AuthHeader = authOf(p.Protocol)
	return p
}

// azurePath settles which of the two forms of Azure's API is called. In the
// newer one, below /openai/v1, the model is in the body and there are no dated
// versions.
func (c *checker) azurePath(p *Provider, up *Upstream, at path) {
	const newer = "/openai/v1"
	base, named := up.BaseURL, slices.Contains(azureNewer, up.APIVersion)
	switch {
	case strings.HasSuffix(base, newer):
	case named && !strings.Contains(base, "/openai"):
		up.BaseURL += newer
	case strings.HasSuffix(base, "/openai") || strings.Contains(base, "/openai/"):
		c.fail(at.key("base_url"), "remove /openai and what follows it; the name of Azure's deployment is upstream_model of a model's deployment",
			"the address is not that of the resource")
		return
	default:
		return
	}
	up.DeploymentPaths, up.Service.Full = false, true
	switch {
	case up.APIVersion == azureNewer[0], p.APIVersion == "" && up.APIVersion == azureAPIVersion:
		up.APIVersion = "" // what is sent without any
	case !named:
		c.fail(c.written(at.key("api_version"), at.key("base_url")), removeIt, "there are no dated versions below /openai/v1")
	}
}

// presetAt returns the preset of the maker whose API an address belongs to,
// whatever the path.
func presetAt(base string) (Preset, bool) {
	u, err := url.Parse(base)
	if err != nil {
		return Preset{}, false
	}
	for _, pre := range Presets() {
		if known, err := url.Parse(pre.BaseURL); err == nil && known.Host != "" && known.Host == u.Host {
			return pre, true
		}
	}
	return Preset{}, false
}

// credentials gathers the credentials of a provider and how they are sent.
func (c *checker) credentials(p *Provider, pre Preset, at path) {
	keyAt, keysAt, authAt := at.key("api_key"), at.key("keys"), at.key("auth")
	_, keyWritten := c.places[keyAt]
	_, keysWritten := c.places[keysAt]
	if c.broken(keyAt) || c.broken(keysAt) || c.broken(authAt) {
		return
	}
	switch {
	case keyWritten && keysWritten:
		c.fail(keysAt, "remove one of the two", "both api_key and keys are given")
		return
	case p.Auth == authNone && (keyWritten || keysWritten):
		c.fail(authAt, "remove it or the credential", "auth: none is given beside a credential")
		return
	case p.Auth == authNone:
		p.Upstream.Auth, p.Upstream.AuthHeader = AuthNone, ""
		return
	case keyWritten:
		p.APIKeys = []Secret{p.APIKey}
		c.credential(p.APIKey, keyAt)
	case keysWritten:
		c.severalKeys(p.APIKeys, keysAt)
	default:
		c.keyFromEnvironment(p, pre)
	}
	if p.Auth == authBearer || len(p.APIKeys) > 0 && p.Upstream.Auth == AuthNone { // or a server that usually asks for nothing
		p.Upstream.Auth, p.Upstream.AuthHeader = AuthBearer, ""
	}
	if !p.HasCredential() && p.Enabled && !c.broken(at) {
		fix := "write api_key: \"${NAME}\", or auth: none if the endpoint asks for nothing"
		if len(pre.EnvKeys) > 0 {
			fix = "set " + strings.Join(pre.EnvKeys, " or ") + ", or write api_key"
		}
		c.warn(at, fix, "the provider has no credential, so it is never called")
	}
}

func (c *checker) severalKeys(keys []Secret, at path) {
	if len(keys) == 0 {
		c.fail(at, "write api_key, or auth: none if the endpoint asks for nothing", "the list is empty")
	}
	first := make(map[string]int, len(keys))
	for i, k := range keys {
		inner := at.index(i)
		c.credential(k, inner)
		if j, twice := first[k.Reveal()]; twice && k.IsSet() {
			c.fail(inner, "remove one of the two", "it is the same as keys[%d]", j)
			continue
		}
		first[k.Reveal()] = i
	}
}

func (c *checker) credential(s Secret, at path) {
	if !s.IsSet() {
		c.fail(at, "write it, or auth: none if the endpoint asks for nothing", "the credential is empty")
		return
	}
	c.headerSafe(s.Reveal(), "credential", at)
}

// keyFromEnvironment takes the variable that the preset names, but never for
// another address than the preset's own.
func (c *checker) keyFromEnvironment(p *Provider, pre Preset) {
	base := path("providers").key(p.ID).key("base_url")
	if _, other := c.places[base]; other {
		return
	}
	if name, text := variable(pre, c.lookup); name != "" {
		c.hide(text, shortestHidden)
		p.APIKeys = []Secret{NewSecret(text)}
		c.headerSafe(text, "credential in "+name, path("providers").key(p.ID))
	}
}

// variable returns the first of a preset's variables that is set, and what it
// holds.
func variable(pre Preset, lookup func(string) (string, bool)) (name, text string) {
	for _, name := range pre.EnvKeys {
		if text, ok := lookup(name); ok && text != "" {
			return name, text
		}
	}
	return "", ""
}
