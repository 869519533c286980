package config

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// knownOf resolves one deployment: a provider, and what the deployment says.
func knownOf(t *testing.T, provider, deployment string) Resolved {
	t.Helper()
	f := mustParse(t, fmt.Sprintf("providers: {p: {%s, api_key: \"${A_KEY}\"}}\nmodels: {m: {deployments: [{provider: p, %s}]}}", provider, deployment))
	return f.Resolve(&f.Models[0])[0]
}

func TestTranslation(t *testing.T) {
	tests := []struct {
		provider, deployment string
		want                 Translation
	}{
		// OpenAI: everything, and efforts where the model reasons.
		{"preset: openai", "upstream_model: gpt-4o", Translation{Full: true, SchemaOutput: true}},
		{"preset: openai", "upstream_model: gpt-5", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: openai", "upstream_model: gpt-5-2026-08-01", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: openai", "upstream_model: o1-mini", Translation{Full: true}},
		{"preset: openai", "upstream_model: unheard-of", Translation{Full: true}},
		{"protocol: openai, base_url: https://api.openai.com/v1", "upstream_model: gpt-5", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: openai, base_url: https://proxy.example/v1", "upstream_model: gpt-5", Translation{Full: true, Reasons: true, SchemaOutput: true}},

		// Azure: its dated versions lack the newest fields.
		{"preset: azure-openai, resource: x", "upstream_model: gpt-5", Translation{Reasons: true, SchemaOutput: true}},
		{"preset: azure-openai, resource: x, api_version: v1", "upstream_model: gpt-5", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: azure-openai, resource: x", "upstream_model: our-o3, capabilities: [reasoning]", Translation{Reasons: true}},

		// Anthropic: a budget until 4.5, from 4.6 on the model decides.
		{"preset: anthropic", "upstream_model: claude-haiku-4-5", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: anthropic", "upstream_model: claude-haiku-4-5-20251001", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: anthropic", "upstream_model: claude-sonnet-4-6", Translation{Full: true, Reasons: true, Adaptive: true, SchemaOutput: true}},
		{"preset: anthropic", "upstream_model: claude-opus-5", Translation{Full: true, Reasons: true, Adaptive: true, SchemaOutput: true}},
		{"preset: anthropic", "upstream_model: claude-opus-5-5", Translation{Full: true, Reasons: true, Adaptive: true}},
		{"preset: anthropic, protocol: openai", "upstream_model: claude-opus-5", Translation{SchemaOutput: true}},
		{"protocol: anthropic, base_url: https://claude.example", "upstream_model: claude-opus-5, capabilities: [reasoning]", Translation{Reasons: true, Adaptive: true}},
		{"protocol: anthropic, base_url: https://claude.example", "upstream_model: claude-opus-5", Translation{Adaptive: true}},

		// Gemini: natively, and at Google's chat endpoint, which wants signatures back.
		{"preset: gemini", "upstream_model: gemini-2.5-pro", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: gemini", "upstream_model: models/gemini-2.5-pro", Translation{Full: true, Reasons: true, SchemaOutput: true}},
		{"preset: gemini, protocol: openai", "upstream_model: gemini-2.5-pro", Translation{Reasons: true, KeepsReasoning: true, SchemaOutput: true}},

		// Those who want their reasoning back, or ids of nine characters.
		{"preset: deepseek", "upstream_model: deepseek-v4-pro", Translation{Reasons: true, KeepsReasoning: true, SchemaOutput: true}},
		{"protocol: anthropic, base_url: https://api.deepseek.com/anthropic", "upstream_model: deepseek-v4-pro", Translation{Reasons: true, SchemaOutput: true}},
		{"preset: moonshot", "upstream_model: kimi-k2.6", Translation{KeepsReasoning: true, SchemaOutput: true}},
		{"preset: zai", "upstream_model: glm-5", Translation{KeepsReasoning: true}},
		{"preset: cerebras", "upstream_model: gpt-oss-120b", Translation{Reasons: true, SchemaOutput: true}},
		{"preset: cerebras", "upstream_model: zai-glm-4.7", Translation{}},
		{"preset: perplexity", "upstream_model: sonar-reasoning-pro", Translation{}},
		{"preset: mistral", "upstream_model: magistral-medium-latest", Translation{ShortCallIDs: true, SchemaOutput: true}},

		// Efforts where some models of a service take them.
		{"preset: groq", "upstream_model: openai/gpt-oss-120b", Translation{Reasons: true, SchemaOutput: true}},
		{"preset: groq", "upstream_model: qwen/qwen3-32b", Translation{}},
		{"preset: xai", "upstream_model: grok-4.5", Translation{Reasons: true, SchemaOutput: true}},
		{"preset: xai", "upstream_model: grok-4-0709", Translation{}},
		{"preset: together", "upstream_model: openai/gpt-oss-120b", Translation{Reasons: true, SchemaOutput: true}},
		{"preset: together", "upstream_model: zai-org/GLM-4.6", Translation{}},
		{"preset: qwen", "upstream_model: qwen3-max", Translation{}},
		{"preset: openrouter", "upstream_model: openai/gpt-5", Translation{Reasons: true}},

		// Elsewhere the operator knows.
		{"preset: ollama", "upstream_model: qwen3, capabilities: [reasoning]", Translation{Reasons: true}},
		{"protocol: openai, base_url: https://a.example/v1", "upstream_model: gpt-5", Translation{}},
		{"protocol: openai, base_url: https://a.example/v1", "upstream_model: x, capabilities: [json_schema]", Translation{SchemaOutput: true}},
	}
	for _, tt := range tests {
		t.Run(tt.provider+" "+tt.deployment, func(t *testing.T) {
			if d := cmp.Diff(tt.want, knownOf(t, tt.provider, tt.deployment).Translation); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestAdaptive(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-3-7-sonnet-20250219": false, "claude-3-haiku": false, "claude-sonnet-4-20250514": false, "claude-opus-4-1": false,
		"claude-haiku-4-5": false, "claude-sonnet-4-5-20250929": false, "claude-opus-4-6": true, "claude-opus-4.7": true,
		"claude-sonnet-5": true, "claude-opus-5-20270101": true, "claude-fable-5-1": true, "anthropic.claude-opus-4-6-v1:0": true,
		"CLAUDE-OPUS-4-8": true, "claude-opus-10": true, "claude-instant": false, "claude-": false, "gpt-5": false, "": false,
	} {
		if got := adaptive(model); got != want {
			t.Errorf("adaptive(%q) = %v", model, got)
		}
	}
}

func TestDialect(t *testing.T) {
	tests := []struct {
		provider, deployment string
		want                 Dialect
	}{
		{"preset: openai", "upstream_model: gpt-4o", Dialect{DropFields: reasoningFields}},
		{"preset: openai", "upstream_model: gpt-5", Dialect{DropFields: reasoningFields, MaxTokensField: "max_completion_tokens"}},
		{
			"preset: openai", "upstream_model: o1-mini-2024-09-12",
			Dialect{NoSystemRole: true, DropFields: reasoningFields, MaxTokensField: "max_completion_tokens"},
		},
		{"preset: openai", "upstream_model: o1-mini, no_system_role: false, max_tokens_field: as_sent, history_reasoning: as_sent", Dialect{}},
		{
			"preset: azure-openai, resource: x", "upstream_model: our-o3, capabilities: [reasoning]",
			Dialect{DropFields: reasoningFields, MaxTokensField: "max_completion_tokens"},
		},
		{"preset: mistral", "upstream_model: mistral-large-latest", Dialect{DropFields: reasoningFields, MaxTokensField: "max_tokens"}},
		{"preset: groq", "upstream_model: qwen/qwen3-32b", Dialect{DropFields: butReasoning, ThinkTags: true}},
		{"preset: groq", "upstream_model: qwen/qwen3-32b, reasoning: as_sent", Dialect{DropFields: butReasoning}},
		{"preset: together", "upstream_model: deepseek-ai/DeepSeek-V3.1", Dialect{ThinkTags: true, MaxTokensField: "max_tokens"}},
		{"preset: cerebras", "upstream_model: gpt-oss-120b", Dialect{DropFields: butReasoning}},
		{"preset: huggingface", "upstream_model: deepseek-ai/DeepSeek-R1", Dialect{ThinkTags: true}},
		{"preset: perplexity", "upstream_model: sonar-reasoning-pro", Dialect{ThinkTags: true, MaxTokensField: "max_tokens"}},
		{"preset: deepseek", "upstream_model: deepseek-v4-pro", Dialect{MaxTokensField: "max_tokens"}},
		{"preset: openrouter", "upstream_model: openai/gpt-5", Dialect{}},
		{"preset: gemini", "upstream_model: gemini-2.5-pro", Dialect{}},
		{"preset: gemini", "upstream_model: gemma-3-27b-it", Dialect{NoSystemRole: true}},
		{"preset: gemini", "upstream_model: gemma-4, no_system_role: true", Dialect{NoSystemRole: true}},
		{"preset: gemini, protocol: openai", "upstream_model: models/gemma-3-27b-it", Dialect{NoSystemRole: true}},
		{"preset: anthropic", "upstream_model: claude-opus-5", Dialect{}},
		{"protocol: openai, base_url: https://a.example/v1", "upstream_model: m", Dialect{}},
		{
			"protocol: openai, base_url: https://a.example/v1",
			"upstream_model: m, reasoning: think_tags, history_reasoning: drop, max_tokens_field: max_tokens, embedding_format: float, no_system_role: true",
			Dialect{NoSystemRole: true, MaxTokensField: "max_tokens", ThinkTags: true, DropFields: reasoningFields, EmbeddingFormat: "float"},
		},
		{"protocol: openai, base_url: https://a.example/v1", "upstream_model: m, embedding_format: as_sent", Dialect{}},
	}
	for _, tt := range tests {
		t.Run(tt.provider+" "+tt.deployment, func(t *testing.T) {
			if d := cmp.Diff(tt.want, knownOf(t, tt.provider, tt.deployment).Dialect); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestAddressesOfProtocols(t *testing.T) {
	f := loadCase(t, "protocols.good.yaml")
	claude := Upstream{
		Protocol: ProtocolAnthropic, BaseURL: "https://api.anthropic.com/v1", Auth: AuthHeader, AuthHeader: "x-api-key",
		Catalog: "anthropic", CountTokens: true,
	}
	newer, token, elsewhere, versioned := claude, claude, claude, claude
	newer.Version = "2026-10-21"
	token.Auth, token.AuthHeader = AuthBearer, ""
	elsewhere.BaseURL, elsewhere.Catalog, elsewhere.CountTokens = "https://api.deepseek.com/anthropic/v1", "deepseek", false
	elsewhere.Version = "2023-06-01"
	versioned.BaseURL, versioned.Catalog, versioned.CountTokens = "https://c.example/anthropic/v1", "", false
	gemini := Upstream{
		Protocol: ProtocolGemini, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Auth: AuthHeader, AuthHeader: "x-goog-api-key",
		Catalog: "gemini",
	}
	express := gemini
	express.BaseURL, express.Catalog = "https://aiplatform.googleapis.com/v1/publishers/google", ""
	claudeChat := Upstream{Protocol: ProtocolOpenAI, BaseURL: "https://api.anthropic.com/v1", Catalog: "anthropic"}
	geminiChat := Upstream{Protocol: ProtocolOpenAI, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Catalog: "gemini"}
	want := map[string]Upstream{
		"claude": claude, "claude-newer": newer, "claude-token": token, "elsewhere": elsewhere, "elsewhere-versioned": versioned,
		"claude-compatible": claudeChat, "claude-by-address": claudeChat,
		"gemini": gemini, "gemini-compatible": geminiChat, "gemini-host": gemini, "express": express,
	}
	for _, p := range f.Providers {
		got, up := p.Upstream, want[p.ID]
		got.Service, up.IncludeUsage = Service{}, true
		if d := cmp.Diff(up, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", p.ID, d)
		}
	}
}
