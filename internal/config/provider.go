package config

// MaxWeight is the largest weight; larger ones count as this.
const MaxWeight = 10_000

// Provider is one upstream account or endpoint.
type Provider struct {
	// ID is the name of the provider in model names, logs and metrics.
	ID string `config:",key"`
	// Preset is a known maker or server: it brings the base URL, the protocol, the
	// way to authenticate, and the environment variable that holds the credential
	// when neither api_key, keys, auth nor base_url is given.
	Preset string `config:"preset"`
	// Protocol is what the endpoint speaks; not needed with a preset.
	Protocol string `config:"protocol"`
	// BaseURL is the address before /chat/completions, for anthropic the one before
	// /messages or /v1/messages, for gemini the one before /models, without a slash
	// at its end.
	BaseURL string `config:"base_url"`
	// Resource is the name of the Azure resource, for azure-openai in place of
	// base_url.
	Resource string `config:"resource"`
	// APIVersion is the api-version that azure-openai is called with, or the
	// interface version of the protocol anthropic, 2023-06-01 or 2026-10-21.
	APIVersion string `config:"api_version" kind:"version"`
	// APIKey is the credential.
	APIKey Secret `config:"api_key"`
	// APIKeys are several credentials of one account, in place of api_key.
	//
	// After loading the list holds every credential, a single one too.
	APIKeys []Secret `config:"keys"`
	// Auth is "none" for an endpoint that takes no credential, "bearer" for one
	// that takes it in the header Authorization although its preset or protocol
	// has a header of its own: Azure with tokens of Entra ID, or Anthropic with
	// access tokens.
	Auth string `config:"auth" oneof:"none,bearer"`
	// Headers are sent with every call to the provider.
	Headers map[string]Secret `config:"headers"`
	// Enabled is false for a provider that must not be called.
	Enabled bool `config:"enabled"`
	// Priority is the tier, higher first.
	Priority int `config:"priority" min:"0" max:"10000"`
	// Weight is the share within a tier, relative to others; rounded, then clamped
	// to 0 to 10000. 0 takes nothing but requests that name the provider.
	Weight int `config:"weight" kind:"weight"`
	// SupplyTier is a label that keys can be restricted to.
	SupplyTier string `config:"supply_tier"`
	// Region is a label for policies and logs.
	Region string `config:"region"`
	// Tags are labels for policies.
	Tags map[string]string `config:"tags"`
	// Endpoints are what the provider serves, of its deployments those that the
	// catalog does not know as others; without the list everything but Responses,
	// which is served where the preset says so.
	Endpoints []string `config:"endpoints"`
	// Timeouts are the waits of calls to the provider.
	Timeouts CallTimeouts `config:"timeouts"`
	// QuotaWindows are limits of the account, which the gateway counts by itself,
	// beside those that the provider reports with its answers.
	QuotaWindows []QuotaWindow `config:"quota_windows"`

	// Upstream is how the provider is called: preset and fields above together.
	Upstream Upstream
}

// Upstream is what a caller needs to know to call a provider.
type Upstream struct {
	Protocol string // one of Protocols
	// BaseURL has no slash at its end. Below it are, by protocol, /chat/completions
	// (or Azure's deployment paths), /messages, /models/{model}:generateContent.
	BaseURL    string
	Auth       AuthKind // how the credential is sent
	AuthHeader string   // the header of AuthHeader
	APIVersion string   // Azure's query parameter api-version; "" = none
	// Version is the interface version of ProtocolAnthropic for requests that are
	// not a client's own, a date; "" = the oldest.
	Version string
	// DeploymentPaths: calls go to /openai/deployments/{upstream model}/… below
	// the base URL.
	DeploymentPaths bool
	// IncludeUsage: stream_options.include_usage is understood. Where it is not,
	// streams carry usage unasked.
	IncludeUsage bool
	// Catalog is the kind to look models up by in the catalog; "" = none.
	Catalog string
	// Responses are the endpoints of the Responses protocol that the API is known
	// to have.
	Responses []string
	// CountTokens: the API is known to count the tokens of a Messages request.
	CountTokens bool
	// Service is what else is known of the API.
	Service Service
}

// HasCredential reports whether the provider can be called: it has a
// credential or needs none.
func (p *Provider) HasCredential() bool {
	return p.Upstream.Auth == AuthNone || len(p.APIKeys) > 0
}

func (p *Provider) defaults() {
	p.Enabled, p.Weight = true, 1
}
