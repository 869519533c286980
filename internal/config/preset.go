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

// The protocols that an upstream may speak.
const (
	ProtocolOpenAI    = "openai"    // OpenAI's API and everything compatible with it
	ProtocolAnthropic = "anthropic" // Anthropic's Messages
	ProtocolGemini    = "gemini"    // Google's generateContent
)

// protocols are the names that protocol may have; which of them the gateway
// speaks is in Options.
var protocols = []string{ProtocolOpenAI, ProtocolAnthropic, ProtocolGemini}

// Preset is what is known of a maker's API or of a server.
type Preset struct {
	Name         string
	Protocol     string
	BaseURL      string // "" = the provider must say
	Auth         AuthKind
	AuthHeader   string   // with AuthHeader
	EnvKeys      []string // the variables that usually hold the credential, the first that is set counts
	IncludeUsage bool     // stream_options.include_usage is understood
	SupplyTier   string
	Catalog      string // kind in the catalog; "" = its models are not listed
	// Responses are the endpoints of the Responses protocol that it has.
	Responses []string
	// CountTokens: it counts the tokens of a Messages request.
	CountTokens bool
	// CompatibleURL is the base URL of the endpoint at which a maker with a
	// protocol of its own speaks OpenAI's, for protocol: openai; "" = none.
	CompatibleURL string
	// Service is what else is known of it, and CompatibleService the same of the
	// endpoint at CompatibleURL.
	Service, CompatibleService Service
}

// What auth may say.
const (
	authNone   = "none"
	authBearer = "bearer"
)

// anthropicVersions are the interface versions of ProtocolAnthropic, oldest
// first.
var anthropicVersions = []string{"2023-06-01", "2026-10-21"}

// The headers that carry the credential where a protocol has one of its own.
const (
	anthropicHeader = "x-api-key"
	geminiHeader    = "x-goog-api-key"
)

// authOf is how a credential is sent in a protocol, where nothing says
// otherwise.
func authOf(protocol string) (AuthKind, string) {
	switch protocol {
	case ProtocolAnthropic:
		return AuthHeader, anthropicHeader
	case ProtocolGemini:
		return AuthHeader, geminiHeader
	}
	return AuthBearer, ""
}

// azurePreset is the one preset that needs more than a base URL.
const (
	azurePreset     = "azure-openai"
	azureHost       = ".openai.azure.com"
	azureAPIVersion = "2024-10-21"
	// azureUsageSince is the first version that takes stream_options; a name that
	// is no date comes after all dates.
	azureUsageSince = "2024-09-01"
)

// azureNewer are the versions of the API below /openai/v1; the first is the one
// that is called without naming it.
var azureNewer = []string{"v1", "preview", "latest"}

// The endpoints of Responses as they are served: all of them, what Azure has of
// them, and the creation of answers with whatever is kept of these.
var (
	allResponses   = []string{endpointResponses, endpointCompact, endpointInputTokens}
	azureResponses = []string{endpointResponses, endpointCompact}
	someResponses  = []string{endpointResponses}
)

// presets are in the order of the documentation; those that name no protocol
// speak OpenAI's. Mistral refuses stream_options.include_usage (422) and sends
// usage unasked; Z.ai and Perplexity send it unasked too.
var presets = []Preset{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", EnvKeys: []string{"OPENAI_API_KEY"}, IncludeUsage: true, Catalog: "openai", Responses: allResponses, Service: openAIService},
	{
		Name: "anthropic", Protocol: ProtocolAnthropic, BaseURL: "https://api.anthropic.com/v1", Auth: AuthHeader, AuthHeader: anthropicHeader,
		EnvKeys: []string{"ANTHROPIC_API_KEY"}, IncludeUsage: true, Catalog: "anthropic", CountTokens: true,
		CompatibleURL: "https://api.anthropic.com/v1", Service: Service{Full: true}, CompatibleService: Service{EffortOnly: none},
	},
	{
		Name: "gemini", Protocol: ProtocolGemini, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Auth: AuthHeader, AuthHeader: geminiHeader,
		EnvKeys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, IncludeUsage: true, Catalog: "gemini",
		CompatibleURL: "https://generativelanguage.googleapis.com/v1beta/openai", Service: geminiService, CompatibleService: geminiChatService,
	},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", EnvKeys: []string{"OPENROUTER_API_KEY"}, IncludeUsage: true, Catalog: "openrouter", Responses: someResponses},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", EnvKeys: []string{"GROQ_API_KEY"}, IncludeUsage: true, Catalog: "groq", Responses: someResponses, Service: groqService},
	{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", EnvKeys: []string{"MISTRAL_API_KEY"}, Catalog: "mistral", Service: mistralService},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com", EnvKeys: []string{"DEEPSEEK_API_KEY"}, IncludeUsage: true, Catalog: "deepseek", Responses: someResponses, Service: deepseekService},
	{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", EnvKeys: []string{"MOONSHOT_API_KEY"}, IncludeUsage: true, Catalog: "moonshot", Service: moonshotService},
	{Name: "qwen", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", EnvKeys: []string{"DASHSCOPE_API_KEY"}, IncludeUsage: true, Catalog: "qwen", Service: qwenService},
	{Name: "xai", BaseURL: "https://api.x.ai/v1", EnvKeys: []string{"XAI_API_KEY"}, IncludeUsage: true, Catalog: "xai", Responses: someResponses, Service: xaiService},
	{Name: "together", BaseURL: "https://api.together.xyz/v1", EnvKeys: []string{"TOGETHER_API_KEY"}, IncludeUsage: true, Catalog: "together", Service: togetherService},
	{Name: "zai", BaseURL: "https://api.z.ai/api/paas/v4", EnvKeys: []string{"ZAI_API_KEY"}, Catalog: "zai", Service: zaiService},
	{Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", EnvKeys: []string{"CEREBRAS_API_KEY"}, IncludeUsage: true, Catalog: "cerebras", Service: cerebrasService},
	{Name: "perplexity", BaseURL: "https://api.perplexity.ai", EnvKeys: []string{"PERPLEXITY_API_KEY"}, Catalog: "perplexity", Service: perplexityService},
	{Name: "huggingface", BaseURL: "https://router.huggingface.co/v1", EnvKeys: []string{"HF_TOKEN"}, IncludeUsage: true, Service: Service{ThinkTags: true}},
	{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Auth: AuthNone, IncludeUsage: true, Responses: someResponses, Service: ollamaService},
	{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", Auth: AuthNone, IncludeUsage: true, Responses: someResponses},
	{
		Name: azurePreset, Auth: AuthHeader, AuthHeader: "api-key", EnvKeys: []string{"AZURE_OPENAI_API_KEY"},
		IncludeUsage: true, Catalog: "azure", Responses: azureResponses, Service: azureService,
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
		if list[i].Protocol == "" {
			list[i].Protocol = ProtocolOpenAI
		}
		list[i].SupplyTier = officialTier
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
