package abi_test

import (
	"fmt"
	"math/rand/v2"

	"gatewright/wasm/abi"
)

// example is an input in which every field has a value of its own.
func example() *abi.Input {
	return &abi.Input{
		ID: "req-7", Org: "acme", Team: "search", Key: "ci", Endpoint: "chat", Model: "gpt-large", Session: "s-1",
		Tags:     []abi.Tag{{"env", "prod"}, {"residency", "eu"}},
		Headers:  []abi.Tag{{"x-app", "web"}},
		Metadata: []abi.Tag{{"user", "17"}},
		Text:     "Grüß Gott", Granted: true,
		Flags:       abi.Stream | abi.Tools | abi.Audio,
		InputTokens: 1200, MaxOutputTokens: 500, AttemptBudget: 4,
		NowUnixMS: 1790000000123, Seed: 0xfeedface12345678,
		BudgetLeft: 12_500_000_000, RPMLeft: 59, TPMLeft: abi.NoLimitCount,
		Records: []abi.Candidate{
			{
				ID: "a/gpt", Provider: "a", Model: "gpt-large", UpstreamModel: "gpt-large-2026", Region: "eu-west", SupplyTier: "direct",
				Tags: []abi.Tag{{"gpu", "h100"}, {"team", "x"}}, Flags: abi.Tools | abi.Vision | abi.Affinity, Circuit: abi.CircuitHalfOpen,
				SkippedUntil: abi.Unknown, Tier: 0, Priority: 10, Weight: 3, ContextLimit: 128_000, MaxOutput: 4096, InFlight: 2, Samples: 400,
				PriceIn: 2_500_000_000, PriceOut: 10_000_000_000, Price: 17_500_000_000, EstCost: 8_000_000, TTFT: 310, LatencyP50: 2100, LatencyP95: 5400,
				Throughput: 61_500, Success: 998_000, QuotaLeft: 420_000, QuotaReset: 1790000060000, LastSuccess: 1789999999000,
			},
			{
				ID: "b/gpt", Provider: "b", Model: "gpt-large", UpstreamModel: "gpt-large", Flags: abi.Preferred | abi.Locked, Circuit: abi.CircuitOpen,
				Skipped: 10, SkippedUntil: 1790000030000, Tier: 1, Priority: 5, Weight: 1, ContextLimit: abi.UnknownCount, MaxOutput: abi.UnknownCount,
				PriceIn: abi.Unknown, PriceOut: abi.Unknown, Price: abi.Unknown, EstCost: abi.Unknown, TTFT: abi.Unknown, LatencyP50: abi.Unknown, LatencyP95: abi.Unknown,
				Throughput: abi.Unknown, Success: abi.Unknown, QuotaLeft: abi.Unknown, QuotaReset: abi.Unknown, LastSuccess: abi.Unknown,
			},
			{
				ID: "c/gpt", Provider: "a", Model: "gpt-large", UpstreamModel: "gpt-large-2026", Region: "us-east", SupplyTier: "reseller",
				Tags: []abi.Tag{{"team", "y"}}, SkippedUntil: abi.Unknown, Tier: 1, Priority: 5, Weight: 1, ContextLimit: 8192, MaxOutput: 1024, Samples: 30,
				PriceIn: 500_000_000, PriceOut: 1_500_000_001, Price: 3_000_000_001, EstCost: 2_000_000, TTFT: 110, LatencyP50: 900, LatencyP95: 1400,
				Throughput: 99_000, Success: 1_000_000, QuotaLeft: abi.Unknown, QuotaReset: abi.Unknown, LastSuccess: 1789999999500,
			},
		},
	}
}

// random is an input of n candidates in which anything may be.
func random(r *rand.Rand, n int) *abi.Input {
	text := func(limit int) string {
		b := make([]byte, r.IntN(limit))
		for i := range b {
			switch r.IntN(8) {
			case 0:
				b[i] = byte(r.Uint32())
			case 1:
				b[i] = `"\/`[r.IntN(3)]
			default:
				b[i] = byte('a' + r.IntN(26))
			}
		}
		return string(b)
	}
	tags := func(limit int) []abi.Tag {
		m := map[string]string{}
		for range r.IntN(limit) {
			m[fmt.Sprintf("k%d%s", r.IntN(200), text(4))] = text(20)
		}
		return abi.Tags(m)
	}
	number := func() int64 {
		switch r.IntN(5) {
		case 0:
			return abi.Unknown
		case 1:
			return int64(r.Uint64() >> 1)
		}
		return r.Int64N(1e12)
	}
	count := func() uint32 {
		if r.IntN(5) == 0 {
			return abi.UnknownCount
		}
		return r.Uint32N(1 << 20)
	}
	in := &abi.Input{
		ID: text(20), Org: text(20), Team: text(20), Key: text(20), Endpoint: text(10), Model: text(2000), Session: text(20),
		Tags: tags(80), Headers: tags(5), Metadata: tags(5), Text: text(40_000), Granted: r.IntN(2) == 0,
		Flags: abi.Flags(r.Uint32N(64)), InputTokens: count(), MaxOutputTokens: count(), AttemptBudget: count(),
		NowUnixMS: r.Int64N(4e12), Seed: r.Uint64(), BudgetLeft: r.Int64(), RPMLeft: count(), TPMLeft: count(),
	}
	words := []string{"", "alpha", "beta", "gamma", "delta\u00e9", "a\"b"}
	word := func() string { return words[r.IntN(len(words))] }
	shared := []abi.Tag{{"shared", "yes"}}
	for i := range n {
		c := abi.Candidate{
			ID: fmt.Sprintf("c%d", i), Provider: word(), Model: word(), UpstreamModel: word(), Region: word(), SupplyTier: word(),
			Flags: abi.Flags(r.Uint32N(2048)), Circuit: abi.Circuit(r.Uint32N(3)),
			Skipped: abi.Skip(max(0, r.IntN(30)-14)), SkippedUntil: number(),
			Tier: count(), Priority: count(), Weight: count(), ContextLimit: count(), MaxOutput: count(), InFlight: count(), Samples: count(),
			PriceIn: number(), PriceOut: number(), Price: number(), EstCost: number(), TTFT: number(), LatencyP50: number(), LatencyP95: number(),
			Throughput: number(), Success: number(), QuotaLeft: number(), QuotaReset: number(), LastSuccess: number(),
		}
		switch r.IntN(3) {
		case 0:
			c.Tags = shared
		case 1:
			c.Tags = []abi.Tag{{"a", word()}, {"b", word()}}
		}
		in.Records = append(in.Records, c)
	}
	return in
}
