package sdk_test

import (
	"fmt"
	"math"
	"testing"

	"gatewright/wasm/abi"
)

// one is a candidate of which nothing is known but what f says.
func one(f func(*abi.Candidate)) abi.Candidate {
	c := abi.Candidate{
		ID: "d", Provider: "p", Model: "m", SkippedUntil: abi.Unknown, ContextLimit: abi.UnknownCount, MaxOutput: abi.UnknownCount,
		PriceIn: abi.Unknown, PriceOut: abi.Unknown, Price: abi.Unknown, EstCost: abi.Unknown, TTFT: abi.Unknown, LatencyP50: abi.Unknown,
		LatencyP95: abi.Unknown, Throughput: abi.Unknown, Success: abi.Unknown, QuotaLeft: abi.Unknown,
		QuotaReset: abi.Unknown, LastSuccess: abi.Unknown,
	}
	if f != nil {
		f(&c)
	}
	return c
}

func in(region string) abi.Candidate { return one(func(c *abi.Candidate) { c.Region = region }) }

func costs(n int64) abi.Candidate { return one(func(c *abi.Candidate) { c.EstCost = n }) }

func asked(left int64, residency string, list ...abi.Candidate) *abi.Input {
	return &abi.Input{NowUnixMS: noon, BudgetLeft: left, Tags: []abi.Tag{{Key: "residency", Value: residency}}, Records: list}
}

// What the admission says, by hand: 0 keeps a candidate.
func TestAdmissionCases(t *testing.T) {
	quota := func(left, reset int64) abi.Candidate {
		return one(func(c *abi.Candidate) { c.QuotaLeft, c.QuotaReset = left, reset })
	}
	tagged := func(region, tag string) abi.Candidate {
		return one(func(c *abi.Candidate) { c.Region, c.Tags = region, []abi.Tag{{Key: "residency", Value: tag}} })
	}
	skipped := in("us")
	skipped.Skipped = abi.SkipOf("disabled")
	cases := []struct {
		name    string
		params  string
		in      *abi.Input
		want    []uint32
		until   map[int]int64
		refusal abi.Refusal
	}{
		{name: "empty pool", in: asked(1, "")},
		{name: "nothing known", in: asked(1, "", one(nil)), want: []uint32{0}},
		{name: "a region and what is in it", in: asked(1, "eu", in("eu"), in("eu-west"), in("eu-"), in("europe"), in("us"), in("e"), in("")), want: []uint32{0, 0, 0, 1, 1, 1, 1}},
		{name: "a region of many bytes", in: asked(1, "日本", in("日本"), in("日本-東"), in("日"), in("日本東")), want: []uint32{0, 0, 1, 1}},
		{name: "a region that is no UTF-8", in: asked(1, "eu\xff", in("eu"), in("eu?"), in("eu?-west")), want: []uint32{1, 0, 0}},
		{name: "any region", in: asked(1, "eu", tagged("us", "any"), tagged("us", "anywhere"), tagged("us", "")), want: []uint32{0, 1, 1}},
		{
			name: "regions of the parameters", params: `{"regions":["us","\u65e5\u672c"]}`,
			in: asked(1, "", in("us"), in("us-east"), in("日本"), in(""), tagged("eu", "any")), want: []uint32{0, 1, 0, 1, 0},
		},
		{name: "the request's region counts before them", params: `{"regions":["us"]}`, in: asked(1, "eu", in("us"), in("eu")), want: []uint32{1, 0}},
		{name: "the empty region in a list", params: `{"regions":[""]}`, in: asked(1, "", in("us"), in("")), want: []uint32{1, 0}},
		{name: "too dear", in: asked(10, "", costs(10), costs(11), costs(0), one(nil)), want: []uint32{0, 2, 0, 0}},
		{name: "a share", params: `{"share_ppm":333333}`, in: asked(3_000_001, "", costs(999_999), costs(1_000_000)), want: []uint32{0, 2}},
		{name: "a share of the largest budget", params: `{"share_ppm":999999}`, in: asked(abi.NoLimit-1, "", costs(math.MaxInt64/1_000_000*999_999), costs(math.MaxInt64)), want: []uint32{0, 2}},
		{name: "no budget is no limit", params: `{"share_ppm":1}`, in: asked(abi.NoLimit, "", costs(math.MaxInt64)), want: []uint32{0}},
		{
			name: "quota used up", in: asked(1, "", quota(0, noon+1), quota(0, noon), quota(0, abi.Unknown), quota(1, noon+1), quota(abi.Unknown, noon+1), quota(0, last)),
			want: []uint32{3, 0, 0, 0, 0, 3}, until: map[int]int64{0: noon + 1, 5: last},
		},
		{name: "skipped candidates are left alone", in: asked(1, "eu", skipped, in("us")), want: []uint32{0, 1}},
		{name: "budget used up", in: asked(0, "eu", in("us")), want: []uint32{0}, refusal: abi.Refusal{Status: 402, Reason: budgetEmpty, RetryAfter: 12 * 3600}},
		{name: "budget overdrawn", in: asked(-5, ""), refusal: abi.Refusal{Status: 402, Reason: budgetEmpty, RetryAfter: 12 * 3600}},
	}
	r := newRuntime(t)
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					want := &abi.Result{Refusal: c.refusal}
					if c.refusal.Status != 0 {
						want.Message = []byte("the budget is used up")
					}
					for i, reason := range c.want {
						v := abi.Verdict{Reason: reason, Until: abi.Unknown}
						if until, ok := c.until[i]; ok {
							v.Until = until
						}
						if reason != 0 {
							want.Removed++
						}
						want.Verdicts = append(want.Verdicts, v)
					}
					if diff := sameAnswer(answer(t, load(t, r, language, "admission", c.params), c.in), want); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// What the ranking scores, by hand; NaN is no score. An unknown number comes as
// the pool's median, so it stays unknown only where nobody knows it.
func TestRankingCases(t *testing.T) {
	known := func(cost, ttft, p95, quota int64) abi.Candidate {
		return one(func(c *abi.Candidate) { c.EstCost, c.TTFT, c.LatencyP95, c.QuotaLeft = cost, ttft, p95, quota })
	}
	skipped, open, half := known(1, 1, 1, 1), known(1, 1, 1, 1), known(9, 0, 0, 1_000_000)
	skipped.Skipped, open.Circuit, half.Circuit = abi.SkipOf("cooldown"), abi.CircuitOpen, abi.CircuitHalfOpen
	stream := func(list ...abi.Candidate) *abi.Input { return &abi.Input{Flags: abi.Stream, Records: list} }
	whole := func(list ...abi.Candidate) *abi.Input { return &abi.Input{Records: list} }
	none := math.NaN()
	cases := []struct {
		name   string
		params string
		in     *abi.Input
		want   []float64
	}{
		{name: "empty pool", in: stream()},
		{name: "nothing known", in: stream(one(nil), one(nil)), want: []float64{0, 0}},
		{name: "price and the first token", in: stream(known(5_000, 200, 900, 1_000_000)), want: []float64{205_000}},
		{name: "price and the whole answer", in: whole(known(5_000, 200, 900, 1_000_000)), want: []float64{905_000}},
		{name: "ties", in: stream(known(100_000, 100, 0, 500_000), known(0, 200, 0, 500_000), known(200_000, 0, 0, 500_000)), want: []float64{200_000, 200_000, 200_000}},
		{name: "quota", in: stream(known(1000, 0, 0, 100_000), known(1000, 0, 0, 99_999), known(1_000_000, 0, 0, 50_000), known(1_000_000, 0, 0, 0)), want: []float64{1000, 1000, 1_500_000, 2_000_000}},
		{name: "no floor", params: `{"quota_floor_ppm":0}`, in: stream(known(1_000_000, 0, 0, 0)), want: []float64{1_000_000}},
		{name: "time is free", params: `{"ms_nusd":0}`, in: stream(known(7, 100, 0, 1_000_000)), want: []float64{7}},
		{name: "the median", in: stream(known(10, 1, 0, 1_000_000), one(nil), known(20, 3, 0, 1_000_000)), want: []float64{1010, 2015, 3020}},
		{
			name: "out of all bounds", params: `{"ms_nusd":1000000,"quota_floor_ppm":1}`,
			in: whole(known(math.MaxInt64, 0, math.MaxInt64, -1), known(-1, 0, -1, math.MaxInt64)), want: []float64{2 * (1e15 + 3.6e12), 0},
		},
		{name: "skipped and open", in: stream(skipped, open, half), want: []float64{none, none, 9}},
	}
	r := newRuntime(t)
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					if diff := sameAnswer(answer(t, load(t, r, language, "ranking", c.params), c.in), &abi.Result{Scores: c.want}); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// crowded is a large pool with as many tags as there may be: a policy finds one of
// them within its budget.
func crowded() *abi.Input {
	in := pool(800)
	for i := range in.Records {
		m := map[string]string{"residency": [...]string{"any", "eu"}[i%2]}
		for k := range abi.MaxPairs - 1 {
			m[fmt.Sprintf("%c-%02d", 'a'+k%26, k)] = "v"
		}
		in.Records[i].Tags = abi.Tags(m)
	}
	return in
}

// Large pools need larger buffers, and every size gives the rule's answer, also
// a small one after a large one. Nothing of one request reaches the next.
func TestSizes(t *testing.T) {
	r := newRuntime(t)
	admit, rank := loadAll(t, r, "admission", limits{Regions: []string{"us-east"}}), loadAll(t, r, "ranking", weights{})
	for _, n := range []int{0, 1, 3, 20, 61, 200, 1000, 1000, abi.MaxRecords, 3, 0, 500} {
		mustAgree(t, pool(n), &admit, 0, &rank, 0)
	}
	mustAgree(t, crowded(), &admit, 0, &rank, 0)
	for l, language := range admit.names {
		if n := admit.modules[l][0].Stats().Outgrown + rank.modules[l][0].Stats().Outgrown; n > 0 {
			t.Errorf("%s: %d instances were replaced because a call made their memory grow", language, n)
		}
	}
}
