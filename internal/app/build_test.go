package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/builtin"
	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/provider"
)

// parse reads a configuration that must be good.
func parse(t *testing.T, text string) *config.File {
	t.Helper()
	env := func(name string) (string, bool) { return "sk-long-value-of-" + name, true }
	file, problems := config.Parse("test.yaml", []byte(text), config.Options{Env: env})
	if file == nil {
		t.Fatal(problems)
	}
	return file
}

const complete = `
providers:
  maker: {preset: openai, api_key: "${A}", priority: 5, weight: 10, region: eu, supply_tier: economy, tags: {zdr: "yes"}, timeouts: {idle: 7s}}
  local: {protocol: openai, base_url: "http://127.0.0.1:1/v1", auth: none, enabled: false}
models:
  chat:
    aliases: [c]
    deployments:
      - {provider: maker, upstream_model: gpt-4.1-mini, sale: {multiplier: 0.5}}
      - {id: own, provider: local, cost: {input: 1.25, output: 2}, limit: {context: 1000, output: 100}, capabilities: [tools], timeouts: {first_token: 3s}}
    fallbacks: [other]
  other: {deployments: [local]}
  vectors: {deployments: [{provider: maker, upstream_model: text-embedding-3-small}]}
router:
  selection: price
  retry_policy: {max_attempts: 2, timeout_seconds: 9, failure_threshold: 4, cooldown_seconds: 5}
  models:
    chat:
      selection: thrifty
      providers: {local: {priority: 7, weight: 3}}
strategies:
  thrifty: [{key: price, tolerance: 3%}, {key: latency, max: 2500ms}]
keys:
  ci: {secret: "${CI}", allowed_models: [c], max_ttft_ms: 1500, max_request_cost: 0.25, preferred_providers: [maker]}
session: {affinity: off, ttl: 5m}
`

func buildSnapshot(t *testing.T, text string) *engine.Snapshot {
	t.Helper()
	pool := newClients()
	t.Cleanup(pool.close)
	return buildFile(t, &App{clients: pool}, parse(t, text))
}

func TestBuild(t *testing.T) {
	s := buildSnapshot(t, complete)
	m, ok := s.Model("c")
	if !ok || m.Name != "chat" {
		t.Fatalf("the alias leads to %+v", m)
	}
	listed, own := m.Deployments[0], m.Deployments[1]
	if listed.ID != "maker/chat" || listed.Provider.ID != "maker" || listed.Priority != 5 || listed.Weight != 10 || !listed.Provider.HasCredential {
		t.Errorf("first deployment = %+v", listed)
	}
	if !listed.Price.Known || listed.Context == 0 || listed.Sale.Multiplier != 500_000 || listed.Timeouts.Idle != 7*time.Second {
		t.Errorf("first deployment lacks what the catalog and its provider say: %+v", listed)
	}
	if !listed.Endpoints.Has(engine.EndpointChat) || listed.Endpoints.Has(engine.EndpointEmbeddings) {
		t.Errorf("endpoints of a chat model = %b", listed.Endpoints)
	}
	if _, ok := listed.Target.(*provider.Target); !ok {
		t.Errorf("target = %T", listed.Target)
	}
	if own.ID != "own" || own.Priority != 7 || own.Weight != 3 || own.Provider.Enabled || own.Context != 1000 || own.MaxOutput != 100 {
		t.Errorf("second deployment = %+v", own)
	}
	if want := (engine.Price{Known: true, Input: 1_250_000_000, Output: 2_000_000_000, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}); own.Price != want {
		t.Errorf("price = %+v, want %+v", own.Price, want)
	}
	if own.Caps != engine.CapTools || own.CapsKnown != engine.AllCapabilities || own.Timeouts.FirstToken != 3*time.Second {
		t.Errorf("second deployment: caps %v known %v, waits %+v", own.Caps, own.CapsKnown, own.Timeouts)
	}
	if want := (engine.RetryPolicy{MaxAttempts: 2, Timeout: 9 * time.Second, FailureThreshold: 4, Cooldown: 5 * time.Second}); m.Route.Retry != want {
		t.Errorf("retry policy = %+v, want %+v", m.Route.Retry, want)
	}
	if m.Route.Strategy != "thrifty" || m.Route.Source != "model" || s.Default != "price" || s.AffinityOn || s.SessionTTL != 5*time.Minute {
		t.Errorf("route %+v, default %q, affinity %v, ttl %v", m.Route, s.Default, s.AffinityOn, s.SessionTTL)
	}
	thrifty := s.Strategies["thrifty"]
	if got := thrifty.Keys[0].Tolerance; got.RelativePPM != 30_000 {
		t.Errorf("tolerance = %+v, want 3 %%", got)
	}
	if got := *thrifty.Keys[1].Max; got != 2500 {
		t.Errorf("max = %v, want 2500 ms", got)
	}
	v, _ := s.Model("vectors")
	if d := v.Deployments[0]; !d.Price.Known || !d.Endpoints.Has(engine.EndpointEmbeddings) || d.Endpoints.Has(engine.EndpointChat) {
		t.Errorf("an embedding model: price %+v, endpoints %b", d.Price, d.Endpoints)
	}
	caller, ok := s.Callers.Lookup("sk-long-value-of-CI")
	if !ok {
		t.Fatal("the key is not found")
	}
	want := engine.Caller{
		Key: "ci", AllowedModels: engine.NewSet([]string{"chat"}), MaxTTFT: 1500 * time.Millisecond,
		MaxCost: 250_000_000, StrategySource: "key", Preferred: engine.NewSet([]string{"maker"}),
	}
	if diff := cmp.Diff(want, *caller); diff != "" {
		t.Errorf("caller (-want +got):\n%s", diff)
	}
}

// TestEndpoints: what the catalog knows decides, and what it does not know may
// be asked for anything.
func TestEndpoints(t *testing.T) {
	s := buildSnapshot(t, `
providers:
  maker: {preset: openai, api_key: "${A}"}
  local: {protocol: openai, base_url: "http://127.0.0.1:1/v1", auth: none}
models:
  chat: {deployments: [{provider: maker, upstream_model: gpt-4.1-mini}]}
  vectors: {deployments: [{provider: maker, upstream_model: text-embedding-3-small}]}
  ears: {deployments: [{provider: maker, upstream_model: gpt-4o-transcribe}]}
  judge: {deployments: [{provider: maker, upstream_model: omni-moderation-latest}]}
  ranker: {deployments: [{provider: local, upstream_model: rerank-v3.5}]}
`)
	const (
		text    = "chat completions"
		vectors = "embeddings"
		media   = "images_generations images_edits images_variations audio_transcriptions audio_translations audio_speech"
		all     = text + " " + vectors + " " + media + " moderations rerank"
	)
	for model, want := range map[string]string{"chat": text, "vectors": vectors, "ears": media, "judge": all, "ranker": all} {
		m, ok := s.Model(model)
		if !ok {
			t.Fatalf("there is no model %q", model)
		}
		var got []string
		for e := engine.EndpointChat; e <= engine.EndpointRerank; e++ {
			if m.Deployments[0].Endpoints.Has(e) {
				got = append(got, e.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s serves %q, want %q", model, strings.Join(got, " "), want)
		}
	}
}

func TestBuildNamesWhatCannotBeCalled(t *testing.T) {
	file := parse(t, complete)
	file.Providers[0].APIKeys[0] = config.NewSecret("one\nzebra")
	if err := Check(t.Context(), file); err == nil || !strings.Contains(err.Error(), `provider "maker"`) || strings.Contains(err.Error(), "zebra") {
		t.Errorf("error = %v, want one that names the provider and not the key", err)
	}
	if err := Check(t.Context(), parse(t, complete)); err != nil {
		t.Errorf("a good file: %v", err)
	}
}

// What the configuration knows by name must exist, and the other way round.
func TestNamesAgree(t *testing.T) {
	keys := builtin.SortKeys()
	for _, k := range config.SortKeys() {
		if _, ok := keys[k.Name]; ok == (k.Unit == config.UnitScore) { // of a policy
			t.Errorf("sort key %q: built in: %v", k.Name, ok)
		}
		if key, ok := keys[k.Name]; ok && key.Spec().HighFirst != k.HighFirst {
			t.Errorf("sort key %q: the configuration and the rule disagree on what is good", k.Name)
		}
		delete(keys, k.Name)
	}
	for name := range keys {
		t.Errorf("sort key %q cannot be configured", name)
	}
	strategies := builtin.Strategies()
	for _, name := range config.BuiltinStrategies() {
		if strategies[name] == nil {
			t.Errorf("strategy %q can be configured and does not exist", name)
		}
		delete(strategies, name)
	}
	for name := range strategies {
		t.Errorf("strategy %q cannot be configured", name)
	}
	for _, name := range config.Capabilities() {
		if _, ok := engine.CapabilityByName(name); !ok {
			t.Errorf("capability %q is unknown to the engine", name)
		}
	}
}
