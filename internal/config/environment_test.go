package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func envOf(pairs ...string) Options {
	env := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return Options{Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}
}

func TestFromEnvironmentNothing(t *testing.T) {
	for _, o := range []Options{envOf(), envOf("OPENAI_API_KEY", ""), envOf("PATH", "/bin")} {
		f, problems, err := FromEnvironment(o)
		if f != nil || !errors.Is(err, ErrNoProviders) || len(problems) != 0 {
			t.Errorf("FromEnvironment = %v, %v, %v", f, problems, err)
		}
	}
	for _, part := range []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY",
		"DEEPSEEK_API_KEY", "MOONSHOT_API_KEY", "XAI_API_KEY", "TOGETHER_API_KEY", "DASHSCOPE_API_KEY", "--config", "gatewright demo",
	} {
		if !strings.Contains(ErrNoProviders.Error(), part) {
			t.Errorf("the error does not name %s: %v", part, ErrNoProviders)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	f, problems, err := FromEnvironment(envOf(
		"OPENAI_API_KEY", "sk-openai-000000000001", "OPENROUTER_API_KEY", "sk-or-00000000000002",
		"ANTHROPIC_API_KEY", "sk-ant-00000000000003", "GROQ_API_KEY", "gsk_000000000000000004",
		"DASHSCOPE_API_KEY", "sk-qwen-0000000000005", "GOOGLE_API_KEY", "AIza-0000000000000006"))
	if err != nil || len(problems) != 0 {
		t.Fatalf("FromEnvironment: %v\n%v", err, problems)
	}
	ids := make([]string, len(f.Providers))
	for i, p := range f.Providers {
		ids[i] = p.ID
		protocol := ProtocolOpenAI
		if p.ID == ProtocolAnthropic || p.ID == ProtocolGemini {
			protocol = p.ID
		}
		if !p.HasCredential() || p.Upstream.BaseURL == "" || p.Upstream.Protocol != protocol {
			t.Errorf("provider %s = %+v", p.ID, p.Upstream)
		}
	}
	if d := cmp.Diff([]string{"openai", "anthropic", "gemini", "openrouter", "groq", "qwen"}, ids); d != "" {
		t.Errorf("providers (-want +got):\n%s", d)
	}
	if f.Listen != DefaultListen || len(f.Keys) != 0 || f.Router.Selection != "balanced" || f.Router.SelectionSet {
		t.Errorf("listen %s, %d keys, router %+v", f.Listen, len(f.Keys), f.Router)
	}
	for model, want := range map[string][]string{
		"gpt-6-sol":              {"openai/gpt-6-sol: gpt-6-sol"},
		"gpt-5":                  {"openai/gpt-5: gpt-5", "openrouter/gpt-5: openai/gpt-5"},
		"claude-sonnet-4-6":      {"anthropic/claude-sonnet-4-6: claude-sonnet-4-6", "openrouter/claude-sonnet-4-6: anthropic/claude-sonnet-4.6"},
		"gemini-2.5-pro":         {"gemini/gemini-2.5-pro: gemini-2.5-pro"},
		"gpt-oss-120b":           {"openrouter/gpt-oss-120b: openai/gpt-oss-120b", "groq/gpt-oss-120b: openai/gpt-oss-120b"},
		"qwen3-max":              {"qwen/qwen3-max: qwen3-max"},
		"text-embedding-3-small": {"openai/text-embedding-3-small: text-embedding-3-small"},
	} {
		m, ok := f.Model(model)
		if !ok {
			t.Errorf("no model %s", model)
			continue
		}
		var got []string
		for _, d := range m.Deployments {
			got = append(got, d.ID+": "+d.UpstreamModel)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", model, d)
		}
	}
	// The aggregator's names are aliases, but never those of a provider that is
	// there itself.
	kimi, _ := f.Model("kimi-k2.5")
	gpt, _ := f.Model("gpt-5")
	if !slices.Contains(kimi.Aliases, "moonshotai/kimi-k2.5") || len(gpt.Aliases) != 0 {
		t.Errorf("aliases = %v and %v", kimi.Aliases, gpt.Aliases)
	}
}

// Every preset with a variable works alone, and so do all of them together.
func TestFromEnvironmentEach(t *testing.T) {
	var all []string
	for _, name := range keyVariables() {
		all = append(all, name, "sk-some-credential-1")
		f, problems, err := FromEnvironment(envOf(name, "sk-some-credential-1"))
		if err != nil || len(problems) != 0 || len(f.Providers) != 1 || len(f.Models) == 0 {
			t.Errorf("%s: %v\n%v", name, err, problems)
		}
	}
	f, problems, err := FromEnvironment(envOf(all...))
	if err != nil || len(problems) != 0 || len(f.Providers) != len(all)/2 {
		t.Errorf("all: %v\n%v", err, problems)
	}
}

func TestFromEnvironmentNotes(t *testing.T) {
	o := envOf("OPENAI_API_KEY", "sk-openai-000000000001", "AZURE_OPENAI_API_KEY", "azure-0000000000001")
	f, problems, err := FromEnvironment(o)
	if err != nil || len(f.Providers) != 1 || len(problems) != 1 || problems[0].Path != "AZURE_OPENAI_API_KEY" || problems.Err() != nil {
		t.Errorf("FromEnvironment: %v\n%v", err, problems)
	}
	o.Protocols = []string{"anthropic"}
	if _, problems, err = FromEnvironment(o); !errors.Is(err, ErrNoProviders) || !strings.Contains(problems.Error(), "OPENAI_API_KEY: the variable is set, but") {
		t.Errorf("FromEnvironment: %v\n%v", err, problems)
	}
}

// Google's own name for the variable comes second: other services of Google's
// use it too.
func TestFromEnvironmentSecondName(t *testing.T) {
	f, problems, err := FromEnvironment(envOf("GOOGLE_API_KEY", "AIza-of-google-000001", "GEMINI_API_KEY", "AIza-of-gemini-000002"))
	if err != nil || len(problems) != 0 || len(f.Providers) != 1 {
		t.Fatalf("FromEnvironment: %v\n%v", err, problems)
	}
	if got := f.Providers[0].APIKeys; len(got) != 1 || got[0].Reveal() != "AIza-of-gemini-000002" {
		t.Errorf("%d keys, the first is another", len(got))
	}
}

func TestFromEnvironmentBadKey(t *testing.T) {
	f, problems, err := FromEnvironment(envOf("OPENAI_API_KEY", "sk-openai-with-break-1\n"))
	var list Problems
	if f != nil || !errors.As(err, &list) || problems.Err() == nil {
		t.Fatalf("FromEnvironment = %v, %v", f, err)
	}
	if text := err.Error(); !strings.Contains(text, "OPENAI_API_KEY holds a line break") || strings.Contains(text, "with-break") {
		t.Errorf("error = %q", text)
	}
}
