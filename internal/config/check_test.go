package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A cycle is refused exactly when there is one, whatever the classes of its
// hops, and the path in the message is one.
func TestCyclesProperty(t *testing.T) {
	classes := []string{"fallbacks", "context_window_fallbacks", "content_policy_fallbacks"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "models")
		edges := make(map[[2]int]string)
		for range rapid.IntRange(0, 10).Draw(t, "hops") {
			from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			if from != to {
				edges[[2]int{from, to}] = rapid.SampledFrom(classes).Draw(t, "class")
			}
		}
		_, problems := Parse("c.yaml", []byte(modelsText(n, edges)), testOptions())
		found := slices.IndexFunc(problems, func(p Problem) bool { return strings.Contains(p.Message, "go in a circle") })
		if want := cyclic(n, edges); (found >= 0) != want || (problems.Err() != nil) != want {
			t.Fatalf("cycle = %v, want %v, in %v:\n%v", found >= 0, want, edges, problems)
		}
		if found < 0 {
			return
		}
		_, text, _ := strings.Cut(problems[found].Message, ": ")
		way := strings.Split(text, " -> ")
		if way[0] != way[len(way)-1] {
			t.Fatalf("%s is no cycle", text)
		}
		for i := range way[1:] {
			var from, to int
			if _, err := fmt.Sscanf(way[i]+" "+way[i+1], "m%d m%d", &from, &to); err != nil {
				t.Fatal(err)
			}
			if edges[[2]int{from, to}] == "" {
				t.Fatalf("there is no hop from %s to %s in %v", way[i], way[i+1], edges)
			}
		}
	})
}

func modelsText(n int, edges map[[2]int]string) string {
	var b strings.Builder
	b.WriteString("providers: {p: {protocol: openai, base_url: https://p.example/v1, auth: none}}\nmodels:\n")
	for m := range n {
		targets := make(map[string][]string)
		for e, class := range edges {
			if e[0] == m {
				targets[class] = append(targets[class], fmt.Sprintf("m%d", e[1]))
			}
		}
		fmt.Fprintf(&b, "  m%d: {deployments: [p]", m)
		for class, list := range targets {
			slices.Sort(list)
			fmt.Fprintf(&b, ", %s: [%s]", class, strings.Join(list, ", "))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// cyclic removes models that nobody leads on from until none is left to remove.
func cyclic(n int, edges map[[2]int]string) bool {
	gone := make(map[int]bool)
	for range n {
		for m := range n {
			leads := false
			for e := range edges {
				leads = leads || (e[0] == m && !gone[e[1]])
			}
			if !leads {
				gone[m] = true
			}
		}
	}
	return len(gone) < n
}

func TestLongCycleIsCutInTheMessage(t *testing.T) {
	edges := make(map[[2]int]string)
	for i := range 50 {
		edges[[2]int{i, (i + 1) % 50}] = "fallbacks"
	}
	_, problems := Parse("c.yaml", []byte(modelsText(50, edges)), testOptions())
	const want = "m0 -> m1 -> m2 -> m3 -> m4 -> m5 -> m6 -> m7 -> m8 -> m9 -> m10 -> m11 -> … -> m0"
	if len(problems) != 1 || !strings.HasSuffix(problems[0].Message, want) {
		t.Errorf("problems:\n%v", problems)
	}
}

func TestListen(t *testing.T) {
	tests := []struct {
		listen string
		want   string // "" = taken
	}{
		{"127.0.0.1:20128", ""},
		{"127.0.0.1:0", ""},
		{"[::1]:20128", ""},
		{"LOCALHOST:1", ""},
		{"[::ffff:127.0.0.1]:1", ""},
		{":20128", "without keys"},
		{"0.0.0.0:1", "without keys"},
		{"10.0.0.1:1", "without keys"},
		{"gateway.example:1", "without keys"},
		{"20128", "is not host:port"},
		{"localhost", "is not host:port"},
		{"::1:20128", "is not host:port"},
		{"127.0.0.1:http", "the port of"},
		{"127.0.0.1:70000", "the port of"},
		{"127.0.0.1:-1", "the port of"},
		{"127.0.0.256:1", "neither a name nor an IP address"},
		{"a b:1", "neither a name nor an IP address"},
	}
	for _, tt := range tests {
		t.Run(tt.listen, func(t *testing.T) {
			text := fmt.Sprintf("listen: %q\nproviders: {openai: {preset: openai}}\nmodels: {m: {deployments: [openai]}}", tt.listen)
			_, problems := Parse("a.yaml", []byte(text), testOptions())
			if got := problems.Error(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("problems = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestKeysQuietTheLoopbackWarning(t *testing.T) {
	_, problems := Parse("a.yaml", []byte(`
listen: :20128
providers: {openai: {preset: openai}}
models: {m: {deployments: [openai]}}
keys: {ci: {secret: "${CI_KEY}"}}
`), testOptions())
	if len(problems) != 0 {
		t.Errorf("problems:\n%v", problems)
	}
}

func TestPrivateHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "vllm": true, "10.1.2.3": true, "192.168.1.1": true, "127.0.0.1": true, "::1": true, "fd00::1": true,
		"gpu.local": true, "llm.svc": true, "llm.internal": true, "0.0.0.0": true,
		"a.example": false, "8.8.8.8": false, "2001:db8::1": false, "local.example": false,
	} {
		ip, _ := netip.ParseAddr(host) // the zero Addr for names
		if got := privateHost(host, ip); got != want {
			t.Errorf("privateHost(%s) = %v", host, got)
		}
	}
}

func TestHostName(t *testing.T) {
	for host, want := range map[string]bool{
		"a": true, "a.example": true, "a.example.": true, "a-b.c_d": true, "1a.b": true,
		"": false, "-a": false, "a-": false, "a..b": false, "1.2.3": false, "0x7f.1": false, "2130706433": false, "a b": false, "ä.example": false,
		strings.Repeat("a", 64): false, strings.Repeat("a.", 127) + "b": false,
	} {
		if got := hostName(host); got != want {
			t.Errorf("hostName(%q) = %v", host, got)
		}
	}
}

func TestPresets(t *testing.T) {
	names := make([]string, 0, len(presets))
	for _, p := range Presets() {
		names = append(names, p.Name)
		protocol := ProtocolOpenAI
		if p.Name == ProtocolAnthropic || p.Name == ProtocolGemini {
			protocol = p.Name
		}
		if p.Protocol != protocol || p.SupplyTier != "official" {
			t.Errorf("%s speaks %q, tier %q", p.Name, p.Protocol, p.SupplyTier)
		}
		if (p.Auth == AuthNone) != (len(p.EnvKeys) == 0) || (p.Auth == AuthHeader) != (p.AuthHeader != "") {
			t.Errorf("%s: auth %v, variables %q, header %q", p.Name, p.Auth, p.EnvKeys, p.AuthHeader)
		}
		// What a preset brings must pass the checks that users' values pass.
		text := fmt.Sprintf("providers: {p: {preset: %s, resource: x}}\nmodels: {m: {deployments: [p]}}", p.Name)
		if p.BaseURL != "" {
			text = strings.ReplaceAll(text, ", resource: x", "")
		}
		for _, key := range append(p.EnvKeys, "") { // of the last, none is needed
			f, problems := Parse("p.yaml", []byte(text), envOf(key, "sk-some-credential-1"))
			if p.Auth != AuthNone && key == "" {
				continue
			}
			if len(problems) != 0 || !f.Providers[0].HasCredential() {
				t.Errorf("%s with %s:\n%v", p.Name, key, problems)
			}
		}
		if p.BaseURL != "" {
			presetByAddress(t, p)
		}
	}
	if d := cmp.Diff([]string{
		"openai", "anthropic", "gemini", "openrouter", "groq", "mistral", "deepseek", "moonshot", "qwen", "xai", "together",
		"zai", "cerebras", "perplexity", "huggingface", "ollama", "vllm", "azure-openai",
	}, names); d != "" {
		t.Errorf("presets (-want +got):\n%s", d)
	}
}

// presetByAddress names the address of a preset, and nothing else of it.
func presetByAddress(t *testing.T, p Preset) {
	t.Helper()
	addresses := map[string]string{p.Protocol: p.BaseURL}
	want := map[string]Upstream{p.Protocol: {
		Protocol: p.Protocol, BaseURL: p.BaseURL, Auth: AuthNone, IncludeUsage: true, Catalog: p.Catalog, Responses: p.Responses,
		CountTokens: p.CountTokens, Service: p.Service,
	}}
	if p.CompatibleURL != "" {
		addresses[ProtocolOpenAI] = p.CompatibleURL
		want[ProtocolOpenAI] = Upstream{
			Protocol: ProtocolOpenAI, BaseURL: p.CompatibleURL, Auth: AuthNone, IncludeUsage: true, Catalog: p.Catalog,
			Service: p.CompatibleService,
		}
	}
	for protocol, address := range addresses {
		text := fmt.Sprintf("providers: {p: {protocol: %s, auth: none, base_url: %s}}\nmodels: {m: {deployments: [p]}}", protocol, address)
		f, problems := Parse("p.yaml", []byte(text), envOf())
		if len(problems) != 0 {
			t.Errorf("%s by its address:\n%v", p.Name, problems)
			continue
		}
		if p.Catalog == "" {
			continue // an address on this machine may be anybody's
		}
		if d := cmp.Diff(want[protocol], f.Providers[0].Upstream); d != "" {
			t.Errorf("%s by its address (-want +got):\n%s", p.Name, d)
		}
	}
}

// The names that the documentation gives.
func TestNames(t *testing.T) {
	var keys []string
	for _, k := range SortKeys() {
		keys = append(keys, k.Name)
	}
	if d := cmp.Diff([]string{
		"priority", "price", "input_price", "latency", "throughput", "reliability", "in_flight", "usage", "quota_reset", "quota_left",
		"last_good", "affinity", "listed", "score",
	}, keys); d != "" {
		t.Errorf("sort keys (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{
		"balanced", "price", "latency", "throughput", "reliability", "priority", "quota-reset", "quota-aware", "last-known-good",
		"traffic-split", "simple-shuffle", "random", "least-busy", "latency-based-routing", "cost-based-routing", "usage-based-routing",
	}, BuiltinStrategies()); d != "" {
		t.Errorf("strategies (-want +got):\n%s", d)
	}
	for _, s := range BuiltinStrategies() {
		mustParse(t, "providers: {openai: {preset: openai}}\nmodels: {m: {deployments: [openai]}}\nrouter: {selection: "+s+"}")
	}
	for _, c := range Capabilities() {
		mustParse(t, "providers: {openai: {preset: openai}}\nmodels: {m: {deployments: [{provider: openai, capabilities: ["+c+"]}]}}")
	}
}

// Callers may change the lists they get.
func TestListsAreCopies(t *testing.T) {
	SortKeys()[0].Name, BuiltinStrategies()[0], Capabilities()[0], Presets()[0].Name = "x", "x", "x", "x"
	if SortKeys()[0].Name == "x" || BuiltinStrategies()[0] == "x" || Capabilities()[0] == "x" || Presets()[0].Name == "x" {
		t.Error("a list is shared")
	}
}
