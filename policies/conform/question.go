package conform

import (
	"fmt"
	"math"
	"strings"

	"gatewright/wasm/abi"
)

// question is an input that a module is asked, and the clause that demands an
// answer to it.
type question struct {
	name   string
	clause abi.Clause
	in     *abi.Input
}

// now is when the made-up requests come: a working day at noon.
const now = 1_780_315_200_000

// request is an ordinary request with so many candidates, about all of which
// everything is known.
func request(candidates int) *abi.Input {
	in := &abi.Input{
		ID: "0198c2d4", Org: "acme", Team: "search", Key: "ci", Endpoint: "chat", Model: "large", Session: "s-17",
		Tags:     []abi.Tag{{Key: "residency", Value: "eu"}, {Key: "tier", Value: "gold"}},
		Metadata: []abi.Tag{{Key: "job", Value: "nightly"}},
		Flags:    abi.Stream | abi.Tools, InputTokens: 1200, MaxOutputTokens: 800, AttemptBudget: 4, NowUnixMS: now, Seed: 0x9e3779b97f4a7c15,
		BudgetLeft: 25_000_000_000, RPMLeft: 60, TPMLeft: 90_000,
	}
	for i := range candidates {
		in.Records = append(in.Records, candidate(i))
	}
	return in
}

// candidate is one of a pool. Its figures follow from its number, with gaps and
// jumps: a pool is not sorted by any of them.
func candidate(i int) abi.Candidate {
	n := int64(i)
	spread := (n*7919 + 13) % 997 // 997 is prime: the first 997 differ
	c := abi.Candidate{
		ID: fmt.Sprintf("d-%04d", i), Provider: fmt.Sprintf("provider-%d", i%17), Model: "large", UpstreamModel: "large-2",
		Region: [...]string{"eu", "us-east", "eu-west", ""}[i%4], SupplyTier: [...]string{"direct", "reseller"}[i%2],
		Tags:  []abi.Tag{{Key: "residency", Value: [...]string{"eu", "any"}[i%2]}},
		Flags: abi.Stream | abi.Tools | abi.Vision, SkippedUntil: abi.Unknown,
		Tier: uint32(i % 3), Priority: uint32(3 - i%3), Weight: 1, ContextLimit: 128_000, MaxOutput: 8192, //nolint:gosec // small
		InFlight: uint32(i % 9), Samples: uint32(50 + i), //nolint:gosec // small
		PriceIn: 200_000_000 + spread*5_000_000, PriceOut: 800_000_000 + spread*15_000_000, EstCost: 500_000 + spread*20_000,
		TTFT: 200 + (spread*31)%1500, LatencyP50: 900 + (spread*17)%4000, LatencyP95: 5000 + (spread*17)%4000,
		Throughput: 20_000 + spread*90, Success: 1_000_000 - (spread%50)*1000, QuotaLeft: (spread * 1009) % 1_000_001,
		QuotaReset: now + spread*60_000, LastSuccess: now - spread*500,
	}
	c.Price = abi.Blended(c.PriceIn, c.PriceOut)
	return c
}

// changed is an ordinary request with its candidates changed.
func changed(candidates int, change func(i int, c *abi.Candidate)) *abi.Input {
	in := request(candidates)
	for i := range in.Records {
		change(i, &in.Records[i])
	}
	return in
}

// asked is an ordinary request whose own part is changed.
func asked(candidates int, change func(in *abi.Input)) *abi.Input {
	in := request(candidates)
	change(in)
	return in
}

// forget makes everything about a candidate unknown that may be.
func forget(c *abi.Candidate) {
	c.Samples, c.ContextLimit, c.MaxOutput = 0, abi.UnknownCount, abi.UnknownCount
	for _, n := range [...]*int64{
		&c.PriceIn, &c.PriceOut, &c.Price, &c.EstCost, &c.TTFT, &c.LatencyP50, &c.LatencyP95, &c.Throughput,
		&c.Success, &c.QuotaLeft, &c.QuotaReset, &c.LastSuccess,
	} {
		*n = abi.Unknown
	}
}

// questions are all that a module is asked once.
func questions() []question {
	list := []question{
		{"3 candidates", abi.ClauseAnswers, request(3)},
		{"20 candidates", abi.ClauseAnswers, request(20)},
		{"200 candidates", abi.ClauseAnswers, request(200)},
		{"20 candidates, not streamed", abi.ClauseAnswers, asked(20, func(in *abi.Input) { in.Flags = 0 })},
		{"20 candidates, no limits, tags or session", abi.ClauseAnswers, asked(20, plain)},

		{"no candidate", abi.ClauseCount, request(0)},
		{"one candidate", abi.ClauseCount, request(1)},
		{"65 candidates", abi.ClauseCount, request(65)},
		{"1,024 candidates", abi.ClauseCount, request(abi.MaxRecords)},

		{"20 candidates, nothing known of any", abi.ClauseUnknown, changed(20, func(_ int, c *abi.Candidate) { forget(c) })},
		{"one candidate, nothing known of it", abi.ClauseUnknown, changed(1, func(_ int, c *abi.Candidate) { forget(c) })},
		{"20 candidates, nothing known of each second", abi.ClauseUnknown, changed(20, everySecond(forget))},
		{"20 candidates, nothing known of the first", abi.ClauseUnknown, changed(20, first(forget))},

		{"20 candidates, each second skipped", abi.ClauseSkipped, changed(20, everySecond(skip))},
		{"20 candidates, the first skipped", abi.ClauseSkipped, changed(20, first(skip))},
		{"20 candidates, all skipped", abi.ClauseSkipped, changed(20, func(_ int, c *abi.Candidate) { skip(c) })},
		{"20 candidates, each for another reason", abi.ClauseSkipped, changed(20, func(i int, c *abi.Candidate) {
			c.Skipped = abi.Skip(i % len(abi.SkipNames)) //nolint:gosec // small
		})},
		{"20 candidates, circuits open", abi.ClauseSkipped, changed(20, func(_ int, c *abi.Candidate) { c.Circuit = abi.CircuitOpen })},
		{"20 candidates, circuits of all kinds", abi.ClauseSkipped, changed(20, func(i int, c *abi.Candidate) { c.Circuit = abi.Circuit(i % 3) })}, //nolint:gosec // small

		{"20 candidates that are the same", abi.ClauseTies, changed(20, func(_ int, c *abi.Candidate) {
			id := c.ID
			*c = candidate(0)
			c.ID = id
		})},
		{"20 candidates that are the same, and cost nothing", abi.ClauseTies, changed(20, func(_ int, c *abi.Candidate) {
			id := c.ID
			*c = candidate(0)
			c.ID, c.PriceIn, c.PriceOut, c.Price, c.EstCost = id, 0, 0, 0, 0
		})},
		{"20 candidates, two and two the same", abi.ClauseTies, changed(20, func(i int, c *abi.Candidate) {
			id := c.ID
			*c = candidate(i / 2)
			c.ID = id
		})},
	}
	list = append(list, textQuestions()...)
	return append(list, numberQuestions()...)
}

func everySecond(f func(*abi.Candidate)) func(int, *abi.Candidate) {
	return func(i int, c *abi.Candidate) {
		if i%2 == 1 {
			f(c)
		}
	}
}

func first(f func(*abi.Candidate)) func(int, *abi.Candidate) {
	return func(i int, c *abi.Candidate) {
		if i == 0 {
			f(c)
		}
	}
}

func skip(c *abi.Candidate) {
	c.Skipped, c.SkippedUntil = abi.SkipOf("cooldown"), now+30_000
}

// plain is a caller of whom there is nothing to say.
func plain(in *abi.Input) {
	in.Org, in.Team, in.Session, in.Tags, in.Metadata = "", "", "", nil, nil
	in.InputTokens, in.MaxOutputTokens = 0, 0
	in.BudgetLeft, in.RPMLeft, in.TPMLeft = abi.NoLimit, abi.NoLimitCount, abi.NoLimitCount
}

// oddTexts are texts that somebody may send.
var oddTexts = [...]string{
	"", " ", "\x00", "a\x00b", "\"quoted\"", `back\slash`, "line\nbreak\r\n\ttab", "../../etc/passwd", "{{.}} %s %n ${x}",
	"ünïcödé", "日本語のモデル", "مرحبا", "👩‍👩‍👧‍👦", "\u202etfel-ot-thgir", "\ufeffmark", "\U0010ffff", strings.Repeat("é", 600), strings.Repeat("日", 400),
	strings.Repeat("x", 255), strings.Repeat("x", 256), strings.Repeat("x", 257), strings.Repeat("x", 4096),
	strings.Repeat("x", 255) + "é", strings.Repeat("x", 254) + "日",
}

func textQuestions() []question {
	list := make([]question, 0, len(oddTexts)+4)
	for _, text := range oddTexts {
		list = append(list, question{"3 candidates, texts are " + shown(text), abi.ClauseTexts, everyText(text)})
	}
	pairs := func(value string) (list []abi.Tag) {
		for i := range abi.MaxPairs {
			list = append(list, abi.Tag{Key: fmt.Sprintf("k%03d", i), Value: value})
		}
		return list
	}
	return append(list,
		question{"3 candidates, 64 pairs of each kind", abi.ClauseTexts, asked(3, func(in *abi.Input) {
			in.Tags, in.Headers, in.Metadata = pairs("v"), pairs(strings.Repeat("w", 200)), pairs("é")
			for i := range in.Records {
				in.Records[i].Tags = pairs("t")
			}
		})},
		question{"3 candidates, an empty prompt", abi.ClauseTexts, asked(3, func(in *abi.Input) { in.Granted = true })},
		question{"3 candidates, a prompt of 32 KiB", abi.ClauseTexts, asked(3, func(in *abi.Input) {
			in.Granted, in.Text = true, strings.Repeat("Why? é ", abi.MaxGranted/8)
		})},
		question{"200 candidates, ids of 200 bytes", abi.ClauseTexts, changed(200, func(i int, c *abi.Candidate) {
			c.ID = fmt.Sprintf("%0200d", i)
		})},
	)
}

// everyText is a request whose texts are all the same one.
func everyText(text string) *abi.Input {
	in := changed(3, func(i int, c *abi.Candidate) {
		c.Provider, c.Model, c.UpstreamModel, c.Region, c.SupplyTier = text, text, text, text, text
		c.ID = fmt.Sprint(text, i)
		c.Tags = []abi.Tag{{Key: "residency", Value: text}, {Key: "zone", Value: text}}
	})
	in.ID, in.Org, in.Team, in.Key, in.Model, in.Session, in.Endpoint = text, text, text, text, text, text, "chat"
	in.Tags, in.Metadata = []abi.Tag{{Key: "residency", Value: text}, {Key: "tier", Value: text}}, []abi.Tag{{Key: "job", Value: text}}
	return in
}

// shown is a text, or the beginning of a long one.
func shown(text string) string {
	const most = 20
	runes := []rune(text)
	if len(runes) <= most {
		return fmt.Sprintf("%+q", text)
	}
	return fmt.Sprintf("%+q and so on, %d bytes", string(runes[:3]), len(text))
}

func numberQuestions() []question {
	all := func(c *abi.Candidate, n int64) {
		c.PriceIn, c.PriceOut, c.Price, c.EstCost, c.TTFT, c.LatencyP50, c.LatencyP95 = n, n, n, n, n, n, n
		c.Throughput, c.QuotaReset, c.LastSuccess = n, n, n
	}
	return []question{
		{"20 candidates, numbers 0, but of each second", abi.ClauseNumbers, asked(20, func(in *abi.Input) {
			in.InputTokens, in.MaxOutputTokens, in.AttemptBudget, in.Seed = 0, 0, 0, 0
			in.BudgetLeft, in.RPMLeft, in.TPMLeft = 0, 0, 0
			for i := 0; i < len(in.Records); i += 2 {
				c := &in.Records[i]
				all(c, 0)
				c.Success, c.QuotaLeft = 0, 0
				c.Tier, c.Priority, c.Weight, c.ContextLimit, c.MaxOutput, c.InFlight, c.Samples = 0, 0, 0, 0, 0, 0, 0
			}
		})},
		{"20 candidates, numbers as large as they go, but of each second", abi.ClauseNumbers, asked(20, func(in *abi.Input) {
			const most = math.MaxUint32 - 1
			in.InputTokens, in.MaxOutputTokens, in.AttemptBudget, in.Seed = most, most, most, math.MaxUint64
			in.BudgetLeft, in.RPMLeft, in.TPMLeft = math.MaxInt64-1, most, most
			for i := 0; i < len(in.Records); i += 2 {
				c := &in.Records[i]
				all(c, math.MaxInt64)
				c.Success, c.QuotaLeft = 1_000_000, 1_000_000
				c.Priority, c.Weight, c.ContextLimit, c.MaxOutput, c.InFlight, c.Samples = most, most, most, most, most, most
			}
		})},
		{"3 candidates, an overdrawn budget", abi.ClauseNumbers, asked(3, func(in *abi.Input) { in.BudgetLeft = -1 })},
		{"3 candidates, a budget of 1", abi.ClauseNumbers, asked(3, func(in *abi.Input) { in.BudgetLeft = 1 })},
		{"3 candidates, in 1970", abi.ClauseNumbers, asked(3, func(in *abi.Input) { in.NowUnixMS = 0 })},
		{"3 candidates, at the end of 9999", abi.ClauseNumbers, asked(3, func(in *abi.Input) { in.NowUnixMS = 253402300799999 })},
		{"3 candidates, all flags", abi.ClauseNumbers, asked(3, func(in *abi.Input) {
			in.Flags = 63
			for i := range in.Records {
				in.Records[i].Flags = 63 | abi.Affinity | abi.Preferred | abi.Locked
			}
		})},
	}
}
