package app

import (
	"slices"
	"strings"
	"testing"

	"gatewright/engine"
	"gatewright/internal/config"
)

// TestResponsesEndpoints: Responses are served where the preset, the address or
// the configuration says so.
func TestResponsesEndpoints(t *testing.T) {
	s := buildSnapshot(t, `
providers:
  maker: {preset: openai, api_key: "${A}"}
  azure: {preset: azure-openai, resource: corp, api_key: "${A}"}
  router: {preset: openrouter, api_key: "${A}"}
  mistral: {preset: mistral, api_key: "${A}"}
  address: {protocol: openai, base_url: "https://api.openai.com/v1", api_key: "${A}"}
  local: {protocol: openai, base_url: "http://127.0.0.1:1/v1", auth: none}
  listed: {protocol: openai, base_url: "http://127.0.0.1:2/v1", auth: none, endpoints: [chat, responses, responses_compact]}
models:
  chat: {deployments: [{provider: maker, upstream_model: gpt-4.1-mini}]}
  codex: {deployments: [{provider: maker, upstream_model: gpt-5-codex}]}
  vectors: {deployments: [{provider: maker, upstream_model: text-embedding-3-small}]}
  azure: {deployments: [azure]}
  router: {deployments: [{provider: router, upstream_model: openai/gpt-5}]}
  mistral: {deployments: [{provider: mistral, upstream_model: mistral-large-latest}]}
  address: {deployments: [{provider: address, upstream_model: gpt-4.1-mini}]}
  local: {deployments: [local]}
  switched: {deployments: [{provider: local, endpoints: [responses]}]}
  listed: {deployments: [listed]}
  off: {deployments: [{provider: maker, upstream_model: gpt-4.1-mini, endpoints: [chat]}]}
`)
	const text, some = "chat completions", "responses responses_stored"
	for model, want := range map[string]string{
		"chat":     text + " responses responses_compact responses_input_tokens responses_stored",
		"codex":    "responses responses_compact responses_input_tokens responses_stored",
		"vectors":  "embeddings",
		"router":   text + " " + some,
		"mistral":  text,
		"address":  text + " responses responses_compact responses_input_tokens responses_stored",
		"switched": some,
		"listed":   "chat responses responses_compact responses_stored",
		"off":      "chat",
	} {
		if got := served(t, s, model); got != want {
			t.Errorf("%s serves %q, want %q", model, got, want)
		}
	}
	if got := served(t, s, "local"); strings.Contains(got, "responses") || !strings.Contains(got, text) {
		t.Errorf("local serves %q", got)
	}
	if got := served(t, s, "azure"); !strings.HasSuffix(got, "responses responses_compact responses_stored") {
		t.Errorf("azure serves %q", got)
	}
}

// served lists what the first deployment of a model serves.
func served(t *testing.T, s *engine.Snapshot, model string) string {
	t.Helper()
	m, ok := s.Model(model)
	if !ok {
		t.Fatalf("there is no model %q", model)
	}
	var got []string
	for e := engine.EndpointNone; e.String() != "none" || e == engine.EndpointNone; e++ {
		if m.Deployments[0].Endpoints.Has(e) {
			got = append(got, e.String())
		}
	}
	return strings.Join(got, " ")
}

// What can be configured is what there is, but for what is kept of responses,
// which those serve who make them.
func TestEndpointNamesAgree(t *testing.T) {
	names := config.Endpoints()
	for _, n := range names {
		if _, ok := engine.EndpointByName(n); !ok {
			t.Errorf("the endpoint %q is unknown to the engine", n)
		}
	}
	for e := engine.EndpointNone + 1; e.String() != "none"; e++ {
		if e != engine.EndpointStored && !slices.Contains(names, e.String()) {
			t.Errorf("the endpoint %q cannot be configured", e)
		}
	}
	for _, p := range config.Presets() {
		if got := named(p.Responses); got&^responsesEndpoints != 0 {
			t.Errorf("preset %s: %v are not of Responses", p.Name, p.Responses)
		}
	}
}
