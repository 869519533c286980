package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/config/catalog"
)

const resolveText = `
timeouts: {connect: 7s, idle: 40s, answer: 8m}
providers:
  openai: {preset: openai, priority: 5, weight: 20, timeouts: {connect: 3s}}
  other: {protocol: openai, base_url: https://o.example/v1, api_key: "${A_KEY}", weight: 30}
  same-host: {protocol: openai, base_url: https://api.openai.com/v1, api_key: "${A_KEY}"}
models:
  gpt-4o:
    deployments:
      - openai
      - {provider: openai, id: dear, upstream_model: gpt-6-sol, cost: {output: 99}, timeouts: {idle: 20s}}
      - {provider: other, enabled: false, limit: {context: 1000}}
      - {provider: other, id: thinker, capabilities: [reasoning]}
      - {provider: other, id: mute, capabilities: []}
      - same-host
  split: {deployments: [openai, other, same-host]}
  even: {deployments: [openai, other]}
  unrouted: {deployments: [other]}
router:
  models:
    gpt-4o:
      selection: price
      providers:
        openai: {priority: 9, cost: {input: 1, output: 2, cached_input: 0.5}}
        other: {weight: 0, limit: {context: 2000, output: 500}, cost: {input: 4}}
    split:
      selection: traffic-split
      allocations: [{deployment_id: openai/split, weight: 3}, {deployment_id: other/split, weight: 0}]
      providers: {same-host: {weight: 77}}
    even: {selection: traffic-split, allocations: []}
`

func TestResolve(t *testing.T) {
	f := mustParse(t, resolveText)
	m, _ := f.Model("gpt-4o")
	got := f.Resolve(m)
	provider := func(id string) *Provider { p, _ := f.Provider(id); return p }
	want := []Resolved{
		{
			ID: "openai/gpt-4o", Model: "gpt-4o", Provider: provider("openai"), UpstreamModel: "gpt-4o", Enabled: true,
			Priority: 9, Weight: 20,
			Cost:         Cost{Input: new(int64(1_000_000_000)), Output: new(int64(2_000_000_000)), CachedInput: new(int64(500_000_000))},
			Limit:        Limit{Context: new(int64(128_000)), Output: new(int64(16_384))},
			Capabilities: []string{"tools", "vision", "files", "json_schema"}, CapabilitiesKnown: true,
			Mode:        catalog.ModeChat,
			Translation: Translation{Full: true, SchemaOutput: true},
			Dialect:     Dialect{DropFields: reasoningFields},
			Timeouts:    CallTimeouts{Connect: 3 * time.Second, Idle: 40 * time.Second, Answer: 8 * time.Minute},
		},
		{
			ID: "dear", Model: "gpt-4o", Provider: provider("openai"), UpstreamModel: "gpt-6-sol", Listed: 1, Enabled: true,
			Priority: 9, Weight: 20,
			Cost: Cost{
				Input: new(int64(1_000_000_000)), Output: new(int64(99_000_000_000)),
				CachedInput: new(int64(500_000_000)), CacheWrite: new(int64(2_500_000_000)),
			},
			Limit:        Limit{Context: new(int64(1_050_000))},
			Capabilities: []string{"reasoning"}, Reasoning: true,
			Mode:        catalog.ModeChat,
			Translation: Translation{Full: true, Reasons: true},
			Dialect:     Dialect{MaxTokensField: "max_completion_tokens", DropFields: reasoningFields},
			Timeouts:    CallTimeouts{Connect: 3 * time.Second, FirstToken: 5 * time.Minute, Idle: 20 * time.Second, Answer: 8 * time.Minute},
		},
		{
			ID: "other/gpt-4o", Model: "gpt-4o", Provider: provider("other"), UpstreamModel: "gpt-4o", Listed: 2,
			Cost: Cost{Input: new(int64(4_000_000_000))}, Limit: Limit{Context: new(int64(1000)), Output: new(int64(500))},
			Timeouts: CallTimeouts{Connect: 7 * time.Second, Idle: 40 * time.Second, Answer: 8 * time.Minute},
		},
		{
			ID: "thinker", Model: "gpt-4o", Provider: provider("other"), UpstreamModel: "gpt-4o", Listed: 3, Enabled: true,
			Cost: Cost{Input: new(int64(4_000_000_000))}, Limit: Limit{Context: new(int64(2000)), Output: new(int64(500))},
			Capabilities: []string{"reasoning"}, CapabilitiesKnown: true, Reasoning: true,
			Translation: Translation{Reasons: true},
			Timeouts:    CallTimeouts{Connect: 7 * time.Second, FirstToken: 5 * time.Minute, Idle: 5 * time.Minute, Answer: 8 * time.Minute},
		},
		{
			ID: "mute", Model: "gpt-4o", Provider: provider("other"), UpstreamModel: "gpt-4o", Listed: 4, Enabled: true,
			Cost: Cost{Input: new(int64(4_000_000_000))}, Limit: Limit{Context: new(int64(2000)), Output: new(int64(500))},
			Capabilities: []string{}, CapabilitiesKnown: true,
			Timeouts: CallTimeouts{Connect: 7 * time.Second, Idle: 40 * time.Second, Answer: 8 * time.Minute},
		},
		{
			ID: "same-host/gpt-4o", Model: "gpt-4o", Provider: provider("same-host"), UpstreamModel: "gpt-4o", Listed: 5, Enabled: true,
			Weight:       1,
			Cost:         Cost{Input: new(int64(2_500_000_000)), Output: new(int64(10_000_000_000)), CachedInput: new(int64(1_250_000_000))},
			Limit:        Limit{Context: new(int64(128_000)), Output: new(int64(16_384))},
			Capabilities: []string{"tools", "vision", "files", "json_schema"}, CapabilitiesKnown: true,
			Mode:        catalog.ModeChat,
			Translation: Translation{Full: true, SchemaOutput: true},
			Dialect:     Dialect{DropFields: reasoningFields},
			Timeouts:    CallTimeouts{Connect: 7 * time.Second, Idle: 40 * time.Second, Answer: 8 * time.Minute},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Resolve (-want +got):\n%s", d)
	}
}

func TestResolveWeights(t *testing.T) {
	f := mustParse(t, resolveText)
	for model, want := range map[string][]int{
		"split":    {3, 0, 1}, // allocations replace all other weights
		"even":     {1, 1},
		"unrouted": {30},
	} {
		m, _ := f.Model(model)
		var got []int
		for _, r := range f.Resolve(m) {
			got = append(got, r.Weight)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", model, d)
		}
	}
}

// A timeout that is longer than what reasoning models get stays.
func TestReasoningNeverShortens(t *testing.T) {
	f := mustParse(t, `
timeouts: {first_token: 10m, idle: 10m}
providers: {p: {protocol: openai, base_url: https://o.example/v1, auth: none}}
models: {m: {deployments: [{provider: p, capabilities: [reasoning]}]}}
`)
	got := f.Resolve(&f.Models[0])[0].Timeouts
	if got.FirstToken != 10*time.Minute || got.Idle != 10*time.Minute {
		t.Errorf("timeouts = %+v", got)
	}
	if f.Router.RetryPolicy.Timeout != 10*time.Minute {
		t.Errorf("timeout of the retry policy = %v", f.Router.RetryPolicy.Timeout)
	}
}
