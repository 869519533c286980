package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatewright/wasm"
	"gatewright/wasm/abi"
	"gatewright/wasm/check"
)

const (
	noon = 1_767_225_600_000 + 12*3_600_000 // 2026-01-01T12:00:00Z
	last = 253_402_300_799_999              // the last instant that a removal may end at
)

// pool is a request with n candidates that differ in everything that the examples
// read; each fifth is not measured, each seventh is skipped.
func pool(n int) *abi.Input {
	in := &abi.Input{
		ID: "r", Org: "o", Team: "t", Key: "k", Endpoint: "chat", Model: "m", Tags: []abi.Tag{{Key: "residency", Value: "eu"}},
		Flags: abi.Stream, InputTokens: 1000, MaxOutputTokens: 500, AttemptBudget: 4, NowUnixMS: noon, Seed: 12_345,
		BudgetLeft: 5_000_000, RPMLeft: 10, TPMLeft: 100,
	}
	for i := range n {
		k := int64(i)
		c := abi.Candidate{
			ID: fmt.Sprintf("d-%d", i), Provider: fmt.Sprintf("p-%d", i%5), Model: "m", UpstreamModel: "u",
			Region: [...]string{"eu-west", "us-east", "eu", "", "europe"}[i%5], SkippedUntil: abi.Unknown, Weight: 1,
			ContextLimit: 128_000, MaxOutput: 4096, Samples: 50, Circuit: abi.Circuit(i % 4 % 3),
			PriceIn: 1_000_000_000 + k, PriceOut: 4_000_000_000 - k, Price: 7_000_000_000 + 2*k, EstCost: 3_000_000 + k*10_007%4_000_000, TTFT: 300 + k*31%700,
			LatencyP50: 900, LatencyP95: 2000 + k*97%3000, Throughput: 50_000, Success: 990_000,
			QuotaLeft: k * 70_001 % 1_000_000, QuotaReset: noon + 60_000, LastSuccess: abi.Unknown,
		}
		if i%5 == 3 {
			c.Samples, c.EstCost, c.TTFT, c.LatencyP95, c.QuotaLeft, c.QuotaReset = 0, abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown
		}
		if i%7 == 6 {
			c.Skipped = abi.SkipOf("cooldown")
		}
		if i%11 == 9 {
			c.Tags = []abi.Tag{{Key: "a", Value: "1"}, {Key: "residency", Value: "any"}, {Key: "z", Value: "2"}}
		}
		in.Records = append(in.Records, c)
	}
	return in
}

// Odd texts: of the client they may be no UTF-8 and too long.
var (
	regions  = []string{"", "eu", "eu-west", "eu-west-1", "eu-", "europe", "e", "us-east", "日本", "日本-東", "é", "\x00", "-", "any", "EU"}
	fromAway = append([]string{"eu\xff", "\xff", "日\xe6", strings.Repeat("eu", 600), strings.Repeat("é", 700)}, regions...)
)

func numbers(odd ...int64) *rapid.Generator[int64] {
	return rapid.OneOf(rapid.SampledFrom(append(odd, abi.Unknown, 0, 1, -1, math.MaxInt64, math.MinInt64+1)), rapid.Int64Range(0, 20_000_000), rapid.Int64())
}

func tags(key string, values []string) *rapid.Generator[[]abi.Tag] {
	return rapid.Custom(func(t *rapid.T) []abi.Tag {
		m := map[string]string{}
		for range rapid.IntRange(0, 3).Draw(t, "others") {
			m[rapid.SampledFrom([]string{"", "a", "resid", "residency-old", "z", "日本", "Residency"}).Draw(t, "key")] = rapid.SampledFrom(values).Draw(t, "other")
		}
		if rapid.Bool().Draw(t, "named") {
			m[key] = rapid.SampledFrom(values).Draw(t, "value")
		}
		return abi.Tags(m)
	})
}

var candidates = rapid.Custom(func(t *rapid.T) abi.Candidate {
	number := func(name string, odd ...int64) int64 { return numbers(odd...).Draw(t, name) }
	return abi.Candidate{
		ID: rapid.String().Draw(t, "id"), Provider: rapid.SampledFrom(regions).Draw(t, "provider"), Model: "m",
		Region: rapid.SampledFrom(regions).Draw(t, "region"), Tags: tags("residency", regions).Draw(t, "tags"),
		Skipped: abi.Skip(rapid.SampledFrom([]int{0, 0, 0, 1, 9, 15}).Draw(t, "skipped")), SkippedUntil: abi.Unknown,
		Circuit: abi.Circuit(rapid.IntRange(0, 2).Draw(t, "circuit")),
		PriceIn: abi.Unknown, PriceOut: abi.Unknown, Price: abi.Unknown, LatencyP50: abi.Unknown, Throughput: abi.Unknown, Success: abi.Unknown, LastSuccess: abi.Unknown,
		EstCost: number("cost", 1_000_000_000_000_000, 1_000_000_000_000_001), TTFT: number("ttft", 3_600_000, 3_600_001),
		LatencyP95: number("p95", 3_600_000), QuotaLeft: number("quota", 0, 0, 99_999, 100_000, 1_000_000, 1_000_001),
		QuotaReset: rapid.OneOf(rapid.Just(abi.Unknown), rapid.Int64Range(0, last), rapid.Int64Range(noon-2, noon+2)).Draw(t, "reset"),
	}
})

var inputs = rapid.Custom(func(t *rapid.T) *abi.Input {
	return &abi.Input{
		ID: "r", Org: "日本", Model: rapid.SampledFrom(fromAway).Draw(t, "model"), Session: rapid.SampledFrom(fromAway).Draw(t, "session"),
		Tags: tags("residency", fromAway).Draw(t, "tags"), Headers: tags("x", fromAway).Draw(t, "headers"),
		Flags: abi.Flags(rapid.Uint32Range(0, 63).Draw(t, "flags")), Seed: rapid.Uint64().Draw(t, "seed"),
		NowUnixMS:  rapid.OneOf(rapid.SampledFrom([]int64{noon, noon - 1, 0, -1, last}), rapid.Int64Range(0, last)).Draw(t, "now"),
		BudgetLeft: rapid.OneOf(numbers(abi.NoLimit, abi.NoLimit-1), rapid.Just(abi.NoLimit)).Draw(t, "left"),
		Records:    rapid.SliceOfN(candidates, 0, 30).Draw(t, "candidates"),
	}
})

// policies are an example with each of several parameters, in each language.
type policies[P any] struct {
	params  []P
	modules [][]*wasm.Module // by language, as the parameters
	names   []string         // of the languages
}

func loadAll[P any](t *testing.T, r *wasm.Runtime, policy string, params ...P) policies[P] {
	t.Helper()
	p := policies[P]{params: params}
	for _, language := range languages {
		if language == "go" && testing.Short() {
			continue
		}
		var list []*wasm.Module
		for _, one := range params {
			text, err := json.Marshal(one)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, load(t, r, language, policy, string(text)))
		}
		p.modules, p.names = append(p.modules, list), append(p.names, language)
	}
	return p
}

var (
	admissions = []limits{
		{}, {Share: 1}, {Share: 333_333}, {Share: 999_999}, {Regions: []string{"eu-west"}}, {Regions: []string{"日本", "", "é", "eu"}, Share: 1_000_000},
	}
	rankings = []weights{{}, {MS: new(int64)}, {MS: new(int64(1_000_000)), Floor: new(int64(1_000_000))}, {MS: new(int64(17)), Floor: new(int64)}, {Floor: new(int64(1))}}
)

// For any input every language gives the answer of the rule in Go.
func TestSameDecisions(t *testing.T) {
	r := newRuntime(t)
	admit := loadAll(t, r, "admission", admissions...)
	rank := loadAll(t, r, "ranking", rankings...)
	rapid.Check(t, func(t *rapid.T) {
		in := inputs.Draw(t, "input")
		n := rapid.IntRange(0, len(admit.params)-1).Draw(t, "admission")
		k := rapid.IntRange(0, len(rank.params)-1).Draw(t, "ranking")
		mustAgree(t, in, &admit, n, &rank, k)
	})
}

func mustAgree(t failer, in *abi.Input, admit *policies[limits], n int, rank *policies[weights], k int) {
	t.Helper()
	admission := admit.params[n].admitted(documentOf(t, in, abi.Admission))
	ranking := rank.params[k].ranked(documentOf(t, in, abi.Ranking))
	for l, name := range admit.names {
		if diff := sameAnswer(answer(t, admit.modules[l][n], in), admission); diff != "" {
			t.Fatalf("%s, admission, %+v (-want +got):\n%s", name, admit.params[n], diff)
		}
		if diff := sameAnswer(answer(t, rank.modules[l][k], in), ranking); diff != "" {
			t.Fatalf("%s, ranking, %+v (-want +got):\n%s", name, rank.params[k], diff)
		}
	}
}

// answer is what a module says of in.
func answer(t failer, m *wasm.Module, in *abi.Input) *abi.Result {
	t.Helper()
	ask, out := m.Admit, &abi.Result{}
	if m.Info().Kind == check.KindRanking {
		ask = m.Rank
	}
	if err := ask(context.Background(), in, out); err != nil {
		t.Fatalf("%v", err)
	}
	return out
}
