package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// mustParse parses text that has no errors.
func mustParse(t *testing.T, text string) *File {
	t.Helper()
	f, problems := Parse("test.yaml", []byte(text), testOptions())
	if err := problems.Err(); err != nil {
		t.Fatalf("Parse:\n%v", err)
	}
	return f
}

func loadCase(t *testing.T, name string) *File {
	t.Helper()
	f, problems := Load(filepath.Join(casesDir, name), testOptions())
	if err := problems.Err(); err != nil {
		t.Fatalf("Load %s:\n%v", name, err)
	}
	return f
}

func TestDefaults(t *testing.T) {
	f := loadCase(t, "minimal.good.yaml")
	want := &File{
		Name:    filepath.Join(casesDir, "minimal.good.yaml"),
		Listen:  "127.0.0.1:20128",
		Admin:   Admin{Listen: "127.0.0.1:20129"},
		DataDir: "./data",
		Log:     Log{Level: "info", Format: "json"},
		Limits:  Limits{Body: 32 << 20, Header: 64 << 10, JSONDepth: 128, Concurrent: 4096, Answer: 32 << 20},
		Timeouts: Timeouts{
			Connect: 10 * time.Second, FirstToken: time.Minute, Idle: time.Minute,
			Answer: 600 * time.Second, Request: 20 * time.Minute, Drain: 30 * time.Second,
		},
		Providers: []Provider{{
			ID: "openai", Preset: "openai", Protocol: "openai", BaseURL: "https://api.openai.com/v1",
			APIKeys: []Secret{NewSecret(testEnv["OPENAI_API_KEY"])},
			Enabled: true, Weight: 1, SupplyTier: "official",
			Upstream: Upstream{Protocol: "openai", BaseURL: "https://api.openai.com/v1", IncludeUsage: true, Catalog: "openai", Responses: allResponses, Service: openAIService},
		}},
		Models: []Model{{
			Name: "gpt-4o",
			Deployments: []Deployment{{
				ID: "openai/gpt-4o", Provider: "openai", UpstreamModel: "gpt-4o", Enabled: true,
			}},
		}},
		Router: Router{
			Selection:   "balanced",
			RetryPolicy: RetryPolicy{MaxAttempts: 1, Timeout: time.Minute, FailureThreshold: 3, Cooldown: time.Minute},
			RetryBudget: RetryBudget{Ratio: 200_000, PerSecond: 10},
		},
		Session: Session{Affinity: true, TTL: time.Hour},
	}
	if d := cmp.Diff(want, f); d != "" {
		t.Errorf("defaults (-want +got):\n%s", d)
	}
}

func TestComplete(t *testing.T) {
	f := loadCase(t, "complete.good.yaml")
	tests := []struct {
		name      string
		got, want any
	}{
		{"provider", f.Providers[0], Provider{
			ID: "provider-a", Protocol: "openai", BaseURL: "https://a.example/v1",
			APIKey: NewSecret(testEnv["A_KEY"]), APIKeys: []Secret{NewSecret(testEnv["A_KEY"])},
			Headers: map[string]Secret{"X-Team": NewSecret("llm")}, Enabled: true, Weight: 1000,
			SupplyTier: "official", Region: "eu", Tags: map[string]string{"zdr": "yes"},
			Endpoints: []string{"chat", "completions", "embeddings", "responses"},
			Timeouts:  CallTimeouts{Connect: 5 * time.Second, FirstToken: 30 * time.Second, Idle: 45 * time.Second, Answer: 5 * time.Minute},
			QuotaWindows: []QuotaWindow{{
				Name: "weekly", Period: 7 * 24 * time.Hour, Unit: QuotaTokens, Limit: 50_000_000, Covers: []string{"model-*", "!model-x*"},
			}},
			Upstream: Upstream{Protocol: "openai", BaseURL: "https://a.example/v1", IncludeUsage: true},
		}},
		{"several keys", len(f.Providers[1].APIKeys), 2},
		{"azure", f.Providers[4].Upstream, Upstream{
			Protocol: "openai", BaseURL: "https://corp-eu.openai.azure.com", Auth: AuthHeader, AuthHeader: "api-key",
			APIVersion: "2025-01-01-preview", DeploymentPaths: true, IncludeUsage: true, Catalog: "azure", Responses: azureResponses,
			Service: azureService,
		}},
		{"local server", f.Providers[5].Upstream, Upstream{
			Protocol: "openai", BaseURL: "http://127.0.0.1:11434/v1", Auth: AuthNone, IncludeUsage: true, Responses: someResponses,
			Service: ollamaService,
		}},
		{"no credential", f.Providers[6].Upstream.Auth, AuthNone},
		{"model", f.Models[0], Model{
			Name: "model-m", Aliases: []string{"m", "llama3.1:70b"},
			Deployments: []Deployment{
				{ID: "provider-a/model-m", Provider: "provider-a", UpstreamModel: "model-m", Enabled: true},
				{
					ID: "deployment-b", Provider: "provider-b", UpstreamModel: "m-2026", Enabled: true,
					Cost: Cost{
						Input: new(int64(2_500_000_000)), Output: new(int64(10_000_000_000)),
						CachedInput: new(int64(1_250_000_000)), CacheWrite: new(int64(3_125_000_000)),
					},
					Limit:        Limit{Context: new(int64(128000)), Output: new(int64(16384))},
					Capabilities: []string{"tools", "vision", "json_schema"},
					Endpoints:    []string{"chat", "responses", "responses_input_tokens"},
					NoSystemRole: new(true), Reasoning: "think_tags", HistoryReasoning: "drop",
					MaxTokensField: "max_completion_tokens", EmbeddingFormat: "float",
					Sale: &Sale{
						Multiplier: 800_000,
						From:       time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
					},
					Timeouts: CallTimeouts{Connect: 10 * time.Second, FirstToken: 90 * time.Second, Idle: time.Minute, Answer: 600 * time.Second},
				},
				{ID: "provider-c/model-m", Provider: "provider-c", UpstreamModel: "model-m"},
			},
			Fallbacks: []string{"model-n"}, ContextWindowFallbacks: []string{"model-n"}, ContentPolicyFallbacks: []string{},
		}},
		{"router", f.Router, Router{
			Selection: "everyday-coding", SelectionSet: true,
			RetryPolicy: RetryPolicy{MaxAttempts: 2, Timeout: 45500 * time.Millisecond, FailureThreshold: 3, Cooldown: time.Minute},
			RetryBudget: RetryBudget{Ratio: 200_000, PerSecond: 10},
			Models: []ModelRoute{
				{Model: "model-m", Selection: "price", Providers: []ProviderOverride{
					{
						Provider: "provider-a", Priority: new(30), Weight: new(6000),
						Cost:  Cost{Input: new(int64(3_000_000_000)), Output: new(int64(12_000_000_000))},
						Limit: Limit{Context: new(int64(200000))},
					},
					{Provider: "provider-b", Priority: new(30), Weight: new(4000)},
					{Provider: "provider-c", Priority: new(20)},
				}},
				{Model: "gpt-4o", Selection: "traffic-split", Allocations: []Allocation{
					{DeploymentID: "openai/gpt-4o", Weight: new(3)}, {DeploymentID: "corp/gpt-4o", Weight: new(7)},
				}},
			},
		}},
		{"strategies", f.Strategies, []Strategy{
			{Name: "everyday-coding", Keys: []KeyUse{
				{Key: "priority"},
				{Key: "quota_left", Enough: new(int64(300_000))},
				{Key: "price", Tolerance: &Tolerance{RelativePPM: 20_000}},
				{Key: "last_good"},
			}},
			{Name: "cheap-but-quick", Keys: []KeyUse{
				{Key: "price", Tolerance: &Tolerance{RelativePPM: 50_000}, Max: new(int64(20_000_000_000))},
				{
					Key: "latency", Max: new(int64(3 * time.Second)), Enough: new(int64(500 * time.Millisecond)),
					Tolerance: &Tolerance{Absolute: int64(250 * time.Millisecond)},
				},
				{Key: "throughput", Enough: new(int64(49_500))},
				{Key: "reliability", Tolerance: &Tolerance{Absolute: 10_000}, Enough: new(int64(995_000))},
				{Key: "in_flight", Tolerance: &Tolerance{Absolute: 2}, Max: new(int64(100))},
				{Key: "usage"},
				{Key: "quota_reset", Tolerance: &Tolerance{Absolute: int64(time.Hour)}},
				{Key: "input_price", Tolerance: &Tolerance{Absolute: 50_000_000}},
				{Key: "affinity"},
				{Key: "listed"},
			}},
			{Name: "by-score", Keys: []KeyUse{
				{Key: "score", Policy: "drain-first", Tolerance: &Tolerance{Absolute: 1_500_000}, Max: new(int64(100_000_000))},
				{Key: "score", Policy: "uploaded", Tolerance: &Tolerance{RelativePPM: 1_000_000}},
			}},
		}},
		{"admin", f.Admin, Admin{
			Listen: "127.0.0.1:20129", Token: NewSecret(testEnv["ADMIN_TOKEN"]), Hosts: []string{"gateway.example"}, Signers: []string{"Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="},
		}},
		{"policies", f.Policies, []Policy{
			{
				Name: "office-hours", File: "policies/office-hours.rego", Kind: "admission",
				Path: filepath.Join(casesDir, "policies/office-hours.rego"), Format: PolicyRego,
			},
			{
				Name: "drain-first", File: "../wasm/guests/rank.wasm", Profile: "small",
				Path: filepath.Join(casesDir, "../wasm/guests/rank.wasm"), Format: PolicyWasm,
			},
		}},
		{"bindings", f.Bindings, []Binding{
			{
				ID: "office-hours-key-ci-model-model-m", Policy: "office-hours", Key: "ci", Model: "model-m", OnFault: "fail_open",
				Parameters: Parameters(`{"from":8,"to":20,"zones":{"weekend":false,"share":0.25}}`),
				Grant:      []string{"last_user", "header.X-Tenant"}, Stateful: true, Order: 10,
			},
			{ID: "office-hours", Policy: "office-hours"},
			{ID: "drain", Policy: "drain-first", Model: "vendor.model-v2:0", Tolerance: &Tolerance{RelativePPM: 50_000}},
			{ID: "uploaded-model-vendor.model-v2_0", Policy: "uploaded", Model: "vendor.model-v2:0", Tolerance: &Tolerance{Absolute: 500_000}},
		}},
		{"session", f.Session, Session{Affinity: true, TTL: time.Hour, Headers: []string{"X-Conversation"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tt.got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The documentation sends people to this file for a start.
func TestExampleCombos(t *testing.T) {
	f := loadCase(t, "combos.good.yaml")
	twoPercent := &Tolerance{RelativePPM: 20_000}
	want := []Strategy{
		{Name: "quota-then-price", Keys: []KeyUse{
			{Key: "priority"},
			{Key: "quota_left", Enough: new(int64(300_000))},
			{Key: "price", Tolerance: twoPercent},
			{Key: "last_good"},
		}},
		{Name: "price-first", Keys: []KeyUse{{Key: "price", Tolerance: twoPercent}, {Key: "quota_left"}, {Key: "priority"}}},
		{Name: "stay-on-what-works", Keys: []KeyUse{{Key: "last_good"}, {Key: "priority"}, {Key: "quota_left"}, {Key: "price"}}},
	}
	if d := cmp.Diff(want, f.Strategies); d != "" {
		t.Errorf("combos (-want +got):\n%s", d)
	}
	// They sort by price: an example without prices would show nothing.
	for _, r := range f.Resolve(&f.Models[0]) {
		if !r.Provider.HasCredential() || r.Cost.Input == nil || r.Cost.Output == nil {
			t.Errorf("%s: credential %v, cost %+v", r.ID, r.Provider.HasCredential(), r.Cost)
		}
	}
}

// Who reads a decision must be able to tell a strategy that somebody chose from
// the default, also where both are the same.
func TestSelectionSet(t *testing.T) {
	tests := []struct {
		name, router  string
		wantSelection string
		wantSet       bool
	}{
		{"no router", "", "balanced", false},
		{"an empty router", "router:", "balanced", false},
		{"a router without it", "router: {retry_budget: {per_second: 1}}", "balanced", false},
		{"a name without a value", "router: {selection: }", "balanced", false},
		{"null", "router: {selection: null}", "balanced", false},
		{"of a model alone", "router: {models: {m: {selection: price}}}", "balanced", false},
		{"written", "router: {selection: price}", "price", true},
		{"written as the default is", "router: {selection: balanced}", "balanced", true},
		{"taken in", "router: {<<: {selection: price}}", "price", true},
		{"from the environment", `router: {selection: "${STRATEGY}"}`, "latency", true},
	}
	o := envOf("STRATEGY", "latency")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, problems := Parse("test.yaml", []byte(`
providers: {p: {protocol: openai, base_url: https://p.example/v1, auth: none}}
models: {m: {deployments: [p]}}
`+tt.router), o)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if got := f.Router; got.Selection != tt.wantSelection || got.SelectionSet != tt.wantSet {
				t.Errorf("selection %q, set %v; want %q, %v", got.Selection, got.SelectionSet, tt.wantSelection, tt.wantSet)
			}
		})
	}
}

func TestKeysAreHashed(t *testing.T) {
	f := loadCase(t, "complete.good.yaml")
	ci := f.Keys[0]
	// printf %s gw-ci-3f1c9a7e5b2d8064 | sha256sum
	const want = "sha256:4207f6964059e5305f31f782bf1f82db10a00df904eff1ecdeeeb681c9596fae"
	if ci.HashText != want || fmt.Sprintf("sha256:%x", ci.Hash) != want {
		t.Errorf("hash = %s and %x, want %s", ci.HashText, ci.Hash, want)
	}
	if ci.Secret.IsSet() {
		t.Error("the secret of a key is kept")
	}
	ci.Hash, ci.HashText = [32]byte{}, ""
	if d := cmp.Diff(Key{
		ID: "ci", Enabled: true, AllowRequestStrategy: true, ExposeRouting: true,
		AllowedModels: []string{"model-m", "model-n"}, AllowedProviders: []string{"provider-a", "provider-b", "provider-c"},
		SupplyTiers: []string{"official", "economy"}, MaxTTFT: 2500 * time.Millisecond, MaxRequestCost: 50_000_000,
		Strategy: "cheap-but-quick", PreferredProviders: []string{"provider-b"},
	}, ci); d != "" {
		t.Errorf("key (-want +got):\n%s", d)
	}
	const web = "sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"
	if got := f.Keys[1].HashText; got != web || fmt.Sprintf("sha256:%x", f.Keys[1].Hash) != web {
		t.Errorf("hash = %s, want %s", got, web)
	}
}

// The case "complete" is what people copy from: every key of every section must
// be in it.
func TestCompleteNamesEveryKey(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(casesDir, "complete.good.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	written := make(map[string]bool)
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				written[c.Value] = true
			}
			walk(c)
		}
	}
	walk(&root)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[File](), reflect.TypeFor[Log](), reflect.TypeFor[Limits](), reflect.TypeFor[Timeouts](),
		reflect.TypeFor[Provider](), reflect.TypeFor[CallTimeouts](), reflect.TypeFor[Model](), reflect.TypeFor[Deployment](),
		reflect.TypeFor[Cost](), reflect.TypeFor[Limit](), reflect.TypeFor[Sale](), reflect.TypeFor[Router](), reflect.TypeFor[RetryPolicy](),
		reflect.TypeFor[RetryBudget](), reflect.TypeFor[ModelRoute](), reflect.TypeFor[Allocation](), reflect.TypeFor[ProviderOverride](),
		reflect.TypeFor[KeyUse](), reflect.TypeFor[Key](), reflect.TypeFor[Session](), reflect.TypeFor[Admin](), reflect.TypeFor[Policy](),
		reflect.TypeFor[Binding](),
	} {
		for name, f := range fieldsOf(typ) {
			if !written[name] {
				t.Errorf("no %s of %s in the complete case", name, typ.Name())
			}
			for _, bound := range []string{f.min, f.max} {
				fm, ok := formOf(indirect(typ.Field(f.index).Type), f)
				if bound == "" {
					continue
				}
				if !ok || fm.count == nil {
					t.Errorf("%s.%s has a bound and is no number", typ.Name(), name)
				} else if _, err := fm.count(bound); err != nil {
					t.Errorf("%s.%s: bound %q: %v", typ.Name(), name, bound, err)
				}
			}
		}
	}
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func TestAnchors(t *testing.T) {
	f := loadCase(t, "anchors.good.yaml")
	c, _ := f.Provider("c")
	got := []any{c.BaseURL, c.Region, c.Timeouts.FirstToken, c.Timeouts.Idle, len(c.APIKeys)}
	want := []any{"https://c.example/v1", "eu", 2 * time.Minute, 10 * time.Second, 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("c (-want +got):\n%s", d)
	}
	n, _ := f.Model("n")
	if len(n.Deployments) != 3 || n.Deployments[0].ID != "a/n" {
		t.Errorf("deployments of n = %+v", n.Deployments)
	}
}

func TestAzureAddresses(t *testing.T) {
	f := loadCase(t, "azure.good.yaml")
	for id, want := range map[string]Upstream{
		"by-resource": {BaseURL: "https://corp-eu.openai.azure.com", APIVersion: "2024-10-21", DeploymentPaths: true},
		"by-url":      {BaseURL: "https://corp.example", APIVersion: "2024-06-01", DeploymentPaths: true},
		"newer":       {BaseURL: "https://corp-us.openai.azure.com/openai/v1"},
		"by-name":     {BaseURL: "https://corp-uk.openai.azure.com/openai/v1"},
		"preview":     {BaseURL: "https://corp.services.ai.azure.com/openai/v1", APIVersion: "preview"},
		"entra":       {BaseURL: "https://corp-eu.openai.azure.com", APIVersion: "2025-01-01-preview", DeploymentPaths: true},
	} {
		p, _ := f.Provider(id)
		want.Protocol, want.IncludeUsage, want.Catalog = "openai", id != "by-url", "azure" // that version has no stream_options
		if id != "entra" {
			want.Auth, want.AuthHeader = AuthHeader, "api-key"
		}
		want.Responses, want.Service = azureResponses, azureService
		want.Service.Full = !want.DeploymentPaths
		if d := cmp.Diff(want, p.Upstream); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
}

func TestJSON(t *testing.T) {
	f := loadCase(t, "json.good.json")
	got := []any{f.Listen, f.Providers[0].BaseURL, f.Providers[0].Weight, f.Models[0].Aliases, f.Session.Affinity}
	want := []any{"127.0.0.1:0", "https://a.example/v1", 1000, []string{"mé", "m😀"}, false}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestLoadFaults(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, make([]byte, maxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone.yaml")
	tests := []struct{ name, path, want string }{
		{"not there", gone, gone + ": cannot be read: no such file or directory; name another with --config"},
		{"a folder", dir, dir + ": cannot be read: is a directory"},
		{"too large", large, large + ": the file is larger than 4 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, problems := Load(tt.path, testOptions())
			if got := problems.Error(); f != nil || got != tt.want {
				t.Errorf("Load = %v, %q, want %q", f, got, tt.want)
			}
		})
	}
}

// A hidden value must not show up cut off, quoted or inside a longer text.
func TestSecretsAreHiddenInEveryShape(t *testing.T) {
	long := strings.Repeat("correct-horse-battery-staple-", 10)
	odd := "quote\"backslash\\tab\tumlautü"
	env := map[string]string{"LONG": long, "ODD": odd}
	text := `
providers:
  a: {protocol: "${LONG}", auth: none}
  b: {preset: "x-${ODD}-y"}
  c: {protocol: openai, base_url: "https://${LONG}@a.example/v1", auth: none}
  d: {protocol: openai, base_url: "https://a.example/v1", api_key: "${ODD}", region: [1]}
models: {m: {deployments: ["${LONG}", "${ODD}"], fallbacks: ["${LONG}"]}}
listen: "${ODD}"
log: {level: "${LONG}"}
`
	_, problems := Parse("hidden.yaml", []byte(text), Options{Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	got := problems.Error()
	for _, part := range []string{"correct-horse", "backslash", "umlaut"} {
		if strings.Contains(got, part) {
			t.Errorf("a part of a secret (%s) is shown in:\n%s", part, got)
		}
	}
	if len(problems.Errors()) < 8 {
		t.Errorf("only these were found:\n%s", got)
	}
}

func TestProtocolsOfTheGateway(t *testing.T) {
	text := `
providers: {a: {protocol: anthropic, base_url: https://a.example, api_key: "${A_KEY}"}}
models: {m: {deployments: [a]}}
`
	o := testOptions()
	o.Protocols = []string{"openai", "anthropic"}
	f, problems := Parse("p.yaml", []byte(text), o)
	if problems.Err() != nil || f.Providers[0].Upstream.Protocol != "anthropic" {
		t.Errorf("problems:\n%v", problems)
	}
	o.Protocols = []string{"anthropic"}
	text = strings.ReplaceAll(text, "protocol: anthropic, base_url: https://a.example", "preset: groq")
	if _, problems = Parse("p.yaml", []byte(text), o); !strings.Contains(problems.Error(), "the protocol openai is known, but this version does not speak it") {
		t.Errorf("problems:\n%v", problems)
	}
}

// A preset's variable must not be sent to another address.
func TestPresetKeyStaysHome(t *testing.T) {
	f := mustParse(t, `
providers: {a: {preset: openai, base_url: https://a.example/v1}, b: {preset: openai}}
models: {m: {deployments: [a, b]}}
`)
	a, _ := f.Provider("a")
	b, _ := f.Provider("b")
	if a.HasCredential() || !b.HasCredential() {
		t.Errorf("credentials: at another address %v, at its own %v", a.HasCredential(), b.HasCredential())
	}
}

func TestServerPresetTakesKey(t *testing.T) {
	f := mustParse(t, `
providers: {a: {preset: vllm, api_key: "${A_KEY}"}, b: {preset: vllm}}
models: {m: {deployments: [a, b]}}
`)
	if a, b := f.Providers[0].Upstream.Auth, f.Providers[1].Upstream.Auth; a != AuthBearer || b != AuthNone {
		t.Errorf("auth with a key = %v, without = %v", a, b)
	}
}

func TestProblems(t *testing.T) {
	ps := Problems{
		{File: "f", Message: "no place"},
		{File: "f", Line: 3, Column: 1, Path: "b", Message: "late", Fix: "mend it"},
		{File: "f", Line: 2, Column: 9, Path: "a", Message: "early", Severity: SeverityWarning},
		{Message: "bare", Line: 2},
	}
	ps.sort()
	const want = ":2: bare\nf:2:9: warning: a: early\nf:3:1: b: late; mend it\nf: no place"
	if got := ps.Error(); got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if got := []int{len(ps.Errors()), len(ps.Warnings())}; !slices.Equal(got, []int{3, 1}) {
		t.Errorf("errors and warnings = %v", got)
	}
	asJSON, err := json.Marshal(ps[1])
	const wantJSON = `{"severity":"warning","file":"f","line":2,"column":9,"path":"a","message":"early"}`
	if err != nil || string(asJSON) != wantJSON {
		t.Errorf("JSON = %s, %v, want %s", asJSON, err, wantJSON)
	}
	if ps.Warnings().Err() != nil || Problems(nil).Err() != nil {
		t.Error("warnings alone are an error")
	}
}
