package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCovers(t *testing.T) {
	const upstream = "vendor/gpt-5.1-2026"
	cases := []struct {
		name   string
		covers []string
		model  string
		want   bool
	}{
		{"nothing written", nil, "m", true},
		{"an empty list", []string{}, "m", true},
		{"the public name", []string{"gpt-5"}, "gpt-5", true},
		{"the upstream name", []string{upstream}, "m", true},
		{"neither name", []string{"gpt-5"}, "gpt-5-mini", false},
		{"case counts", []string{"GPT-5"}, "gpt-5", false},
		{"any text behind", []string{"gpt-*"}, "gpt-5-mini", true},
		{"also none", []string{"gpt-5*"}, "gpt-5", true},
		{"any text before", []string{"*-mini"}, "gpt-5-mini", true},
		{"in the middle", []string{"gpt-*-mini"}, "gpt-5-mini", true},
		{"but not the same text twice", []string{"gpt-*-mini"}, "gpt-mini", false},
		{"several", []string{"g*5*m*"}, "gpt-5-mini", true},
		{"several in another order", []string{"*mini*5*"}, "gpt-5-mini", false},
		{"slashes are text", []string{"vendor*2026"}, "m", true},
		{"everything", []string{"*"}, "", true},
		{"one of several", []string{"x", "m"}, "m", true},
		{"but not one left out", []string{"gpt-*", "!gpt-*-mini"}, "gpt-5-mini", false},
		{"whatever the order", []string{"!gpt-*-mini", "gpt-*"}, "gpt-5-mini", false},
		{"those beside it", []string{"gpt-*", "!gpt-*-mini"}, "gpt-5", true},
		{"left out by the other name", []string{"m", "!vendor/*"}, "m", false},
		{"only left out", []string{"!gpt-*"}, "claude", true},
		{"only left out, and it is", []string{"!gpt-*"}, "gpt-5", false},
		{"other signs are text", []string{"gpt-?"}, "gpt-5", false},
		{"stars side by side", []string{"gpt**5"}, "gpt-5", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := QuotaWindow{Covers: c.covers}
			if got := w.CoversModel(c.model, upstream); got != c.want {
				t.Errorf("%q covers %s (%s): %v, want %v", c.covers, c.model, upstream, got, c.want)
			}
		})
	}
}

func TestQuotaWindows(t *testing.T) {
	const text = `
providers:
  a:
    preset: ollama
    quota_windows:
      - {name: weekly, period: 7d, unit: tokens, limit: 1000000000000000, covers: ["*"]}
      - {limit: 1, unit: requests, period: 1s, name: r}
      - {name: money, period: 1h30m, unit: usd, limit: 12.345678901}
models: {m: {deployments: [{provider: a, cost: {input: 1, output: 1}}]}}
`
	f, problems := Parse("quota.yaml", []byte(text), testOptions())
	if f == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []QuotaWindow{
		{Name: "weekly", Period: 7 * 24 * time.Hour, Unit: QuotaTokens, Limit: 1_000_000_000_000_000, Covers: []string{"*"}},
		{Name: "r", Period: time.Second, Unit: QuotaRequests, Limit: 1},
		{Name: "money", Period: 90 * time.Minute, Unit: QuotaUSD, Limit: 12_345_678_901},
	}
	if diff := cmp.Diff(want, f.Providers[0].QuotaWindows); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
}
