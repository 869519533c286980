package config

import "slices"

// AuthKind is how a credential is sent.
type AuthKind uint8

// The ways to send a credential.
const (
	AuthBearer AuthKind = iota // Authorization: Bearer …
	AuthHeader                 // a header of its own, Upstream.AuthHeader
	AuthNone                   // none is sent
)

// ProtocolOpenAI is the protocol of OpenAI's API and of everything compatible
// with it.
const ProtocolOpenAI = "openai"

// protocols are the names that protocol may have; which of them this version
// speaks is in Options.
var protocols = []string{ProtocolOpenAI, "anthropic", "gemini"}

// Preset is what is known of a maker's API or of a server.
type Preset struct {
	Name         string
	Protocol     string
	BaseURL      string // "" = the provider must say
	Auth         AuthKind
	AuthHeader   string // with AuthHeader
	EnvKey       string // the variable that usually holds the credential; "" = none
	IncludeUsage bool   // stream_options.include_usage is understood
	SupplyTier   string
	Catalog      string // kind in the catalog; "" = its models are not listed
	// Responses are the endpoints of the Responses protocol that it has.
	Responses []string
}

// azurePreset is the one preset that needs more than a base URL.
const (
	azurePreset     = "azure-openai"
	azureHost       = ".openai.azure.com"
	azureAPIVersion = "2024-10-21"
)

// The endpoints of Responses as they are served: all of them, what Azure has of
// them, and the creation of answers with whatever is kept of these.
var (
	allResponses   = []string{endpointResponses, endpointCompact, endpointInputTokens}
	azureResponses = []string{endpointResponses, endpointCompact}
	someResponses  = []string{endpointResponses}
)

// presets are in the order of the documentation. Anthropic and Gemini are
// called at their OpenAI-compatible endpoints. Mistral refuses
// stream_options.include_usage (422) and sends usage unasked.
var presets = []Preset{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", EnvKey: "OPENAI_API_KEY", IncludeUsage: true, Catalog: "openai", Responses: allResponses},
	{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", EnvKey: "ANTHROPIC_API_KEY", IncludeUsage: true, Catalog: "anthropic"},
	{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", EnvKey: "GEMINI_API_KEY", IncludeUsage: true, Catalog: "gemini"},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", EnvKey: "OPENROUTER_API_KEY", IncludeUsage: true, Catalog: "openrouter", Responses: someResponses},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", EnvKey: "GROQ_API_KEY", IncludeUsage: true, Catalog: "groq", Responses: someResponses},
	{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", EnvKey: "MISTRAL_API_KEY", Catalog: "mistral"},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com", EnvKey: "DEEPSEEK_API_KEY", IncludeUsage: true, Catalog: "deepseek", Responses: someResponses},
	{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", EnvKey: "MOONSHOT_API_KEY", IncludeUsage: true, Catalog: "moonshot"},
	{Name: "qwen", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", EnvKey: "DASHSCOPE_API_KEY", IncludeUsage: true, Catalog: "qwen"},
	{Name: "xai", BaseURL: "https://api.x.ai/v1", EnvKey: "XAI_API_KEY", IncludeUsage: true, Catalog: "xai", Responses: someResponses},
	{Name: "together", BaseURL: "https://api.together.xyz/v1", EnvKey: "TOGETHER_API_KEY", IncludeUsage: true, Catalog: "together"},
	{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Auth: AuthNone, IncludeUsage: true, Responses: someResponses},
	{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", Auth: AuthNone, IncludeUsage: true, Responses: someResponses},
	{
		Name: azurePreset, Auth: AuthHeader, AuthHeader: "api-key", EnvKey: "AZURE_OPENAI_API_KEY",
		IncludeUsage: true, Catalog: "azure", Responses: azureResponses,
	},
}

// officialTier is the supply tier of a provider that names none.
const (
	officialTier = "official"
	economyTier  = "economy"
)

// Presets lists everything that preset may name.
func Presets() []Preset {
	list := slices.Clone(presets)
	for i := range list {
		list[i].Protocol, list[i].SupplyTier = ProtocolOpenAI, officialTier
	}
	return list
}

// preset returns the preset of that name.
func preset(name string) (Preset, bool) {
	list := Presets()
	i := slices.IndexFunc(list, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return list[i], true
}

func presetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	return names
}
