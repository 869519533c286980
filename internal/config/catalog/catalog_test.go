package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookup(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	tests := []struct {
		name       string
		kind       string
		model      string
		want       string // "" = not found
		input, out *int64
		context    *int64
		reasoning  bool
	}{
		{name: "exact", kind: "openai", model: "gpt-4o", want: "gpt-4o", input: n(2_500_000_000), out: n(10_000_000_000), context: n(128_000)},
		{name: "only the younger list", kind: "openai", model: "gpt-6-sol", want: "gpt-6-sol", input: n(2_000_000_000), out: n(10_000_000_000), context: n(1_050_000), reasoning: true},
		{name: "the younger list's price counts", kind: "openai", model: "gpt-5.6-sol", want: "gpt-5.6-sol", input: n(4_000_000_000), out: n(20_000_000_000), context: n(1_050_000), reasoning: true},
		{name: "the larger context counts", kind: "openai", model: "gpt-5", want: "gpt-5", input: n(1_250_000_000), out: n(10_000_000_000), context: n(400_000), reasoning: true},
		{name: "but not a stale price", kind: "deepseek", model: "deepseek-chat", want: "deepseek-chat", input: n(280_000_000), out: n(420_000_000), context: n(131_072)},
		{name: "prices in steps: the first", kind: "qwen", model: "qwen3-max", want: "qwen3-max", input: n(1_200_000_000), out: n(6_000_000_000), context: n(258_048), reasoning: true},
		{name: "date behind the name", kind: "openai", model: "gpt-4o-2024-08-06", want: "gpt-4o", input: n(2_500_000_000), out: n(10_000_000_000), context: n(128_000)},
		{name: "a dated version of its own", kind: "openai", model: "gpt-4o-2024-05-13", want: "gpt-4o-2024-05-13", input: n(5_000_000_000), out: n(15_000_000_000), context: n(128_000)},
		{name: "compact date", kind: "anthropic", model: "claude-sonnet-4-5-20250929", want: "claude-sonnet-4-5", input: n(3_000_000_000), out: n(15_000_000_000), context: n(200_000), reasoning: true},
		{name: "latest", kind: "openai", model: "gpt-4o-latest", want: "gpt-4o", input: n(2_500_000_000), out: n(10_000_000_000), context: n(128_000)},
		{name: "models/ before the name", kind: "gemini", model: "models/gemini-2.5-flash", want: "gemini-2.5-flash", input: n(300_000_000), out: n(2_500_000_000), context: n(1_048_576), reasoning: true},
		{name: "slashes", kind: "groq", model: "openai/gpt-oss-20b", want: "openai/gpt-oss-20b", input: n(75_000_000), out: n(300_000_000), context: n(131_072), reasoning: true},
		{name: "another provider's model", kind: "groq", model: "gpt-4o"},
		{name: "no kind", kind: "", model: "gpt-4o"},
		{name: "unknown", kind: "openai", model: "gpt-nobody"},
		{name: "a date alone", kind: "openai", model: "-20240513"},
		{name: "empty", kind: "openai", model: ""},
		{name: "a separator in the name", kind: "openai", model: "x\tgpt-4o"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := Lookup(tt.kind, tt.model)
			if ok != (tt.want != "") {
				t.Fatalf("Lookup(%q, %q) found = %v, want %v", tt.kind, tt.model, ok, tt.want != "")
			}
			if !ok {
				return
			}
			got := []any{m.Name, m.Input, m.Output, m.Context, m.Reasoning()}
			want := []any{tt.want, tt.input, tt.out, tt.context, tt.reasoning}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("Lookup(%q, %q) (-want +got):\n%s", tt.kind, tt.model, d)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	tests := []struct {
		kind, model string
		want        []string
		known       bool
	}{
		{"openai", "gpt-4o", []string{"tools", "vision", "files", "json_schema"}, true},
		{"openai", "text-embedding-3-small", nil, true},
		{"openai", "gpt-6-sol", []string{"reasoning"}, false},
		{"openrouter", "openai/gpt-5", []string{"reasoning"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.kind+" "+tt.model, func(t *testing.T) {
			m, ok := Lookup(tt.kind, tt.model)
			if !ok {
				t.Fatal("not found")
			}
			if d := cmp.Diff(tt.want, m.Capabilities); d != "" || m.CapabilitiesKnown != tt.known {
				t.Errorf("capabilities (-want +got):\n%s\nknown = %v, want %v", d, m.CapabilitiesKnown, tt.known)
			}
		})
	}
}

func TestOffered(t *testing.T) {
	list := Offered("openai")
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
		if m.Mode != ModeChat && m.Mode != ModeEmbedding {
			t.Errorf("%s is offered for %s", m.Name, m.Mode)
		}
	}
	for _, want := range []string{"gpt-4o", "gpt-6-sol", "text-embedding-3-large"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not offered", want)
		}
	}
	for _, not := range []string{"gpt-5-pro", "gpt-4o-mini-tts", "gpt-5-image"} {
		if slices.Contains(names, not) {
			t.Errorf("%s is offered", not)
		}
	}
	if got := Offered("nobody"); len(got) != 0 {
		t.Errorf("Offered of an unknown kind = %v", got)
	}
	for _, m := range Offered("xai") {
		if m.Name == "grok-3" {
			t.Error("a retired model is offered")
		}
	}
}

// The reader leaves bad lines out; the embedded table must have none, and its
// numbers must be what money and tokens can be.
func TestTableIsSound(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")[1:]
	if got := len(load().models); got != len(lines) {
		t.Errorf("%d of %d lines are read", got, len(lines))
	}
	const dearest = 1_000_000_000_000 // 1,000 dollars per million tokens
	for _, m := range load().models {
		for what, p := range map[string]*int64{"input": m.Input, "output": m.Output, "cached": m.CachedInput, "cache write": m.CacheWrite} {
			if p != nil && (*p < 0 || *p > dearest) {
				t.Errorf("%s %s: %s price %d", m.Kind, m.Name, what, *p)
			}
		}
		if m.Input == nil || (m.Context != nil && *m.Context <= 0) {
			t.Errorf("%s %s: no input price, or a context of nothing", m.Kind, m.Name)
		}
	}
}

func TestParseLeavesOutBadLines(t *testing.T) {
	good := "k\tm\tchat\t1\t2\t\t\t3\t\t?tools\tyes"
	x := parse("head\n" + good + "\nshort\tline\n" + strings.Replace(good, "\t1\t", "\tone\t", 1) + "\n")
	if len(x.models) != 1 || x.models[0].Name != "m" || *x.models[0].Input != 1 || x.models[0].CapabilitiesKnown {
		t.Errorf("models = %+v", x.models)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parse(table)
	}
}
