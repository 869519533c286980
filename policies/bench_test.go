package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewright/engine"
)

// benchPool is a pool of which something is known of every candidate.
func benchPool(n int) []engine.Candidate {
	dice := rand.New(rand.NewPCG(7, 7))
	pool := make([]engine.Candidate, n)
	for i, d := range fleet(n) {
		d.Provider.Region = [...]string{"eu-west", "eu-central", "eu-north"}[i%3]
		d.Provider.Tags = nil
		d.Price = engine.Price{Known: true, Input: dice.Int64N(5e9), Output: dice.Int64N(20e9), CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
		pool[i] = engine.Candidate{Deployment: d, Signals: engine.Signals{
			TTFT: time.Duration(200+dice.IntN(97)) * time.Millisecond, Throughput: dice.Int64N(90_000), SuccessPPM: 990_000 + dice.Int64N(10_000), Samples: 50, InFlight: dice.Int64N(9),
			TokensThisMinute: engine.Unknown,
		}}
	}
	return pool
}

// native is the ranking of testdata/wasm/guests/rank.c in Go: the floor that the
// others are measured by.
type native struct {
	scores []float64
	order  []int
}

func (f *native) rank(r *engine.Request, pool []engine.Candidate) {
	f.scores, f.order = f.scores[:0], f.order[:0]
	for i := range pool {
		c := &pool[i]
		cost := float64(c.InputPrice(r.Now))*float64(r.InputTokens) + float64(c.OutputPrice(r.Now))*float64(r.MaxOutput)
		z := r.Seed + uint64(i+1)*0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		score := cost/1e6 + float64(c.TTFT.Milliseconds())*float64(1+c.InFlight)*3 + float64(z>>11)/(1<<53)*20
		if c.Circuit == engine.CircuitOpen {
			score *= 8
		}
		f.scores, f.order = append(f.scores, score), append(f.order, i)
	}
	slices.SortFunc(f.order, func(a, b int) int {
		if f.scores[a] < f.scores[b] || f.scores[a] == f.scores[b] && a < b {
			return -1
		}
		return 1
	})
}

// residency keeps requests of a team in Europe, by one decision for the pool.
const residency = `package gatewright.admission

decision := {"only": {"region": {"values": ["eu-central", "eu-north", "eu-west"], "reason": "eu_only"}}} if input.request.team == "web"
else := {}
`

// facets does the same, and looks at what there is.
const facets = `package gatewright.admission

decision := {"only": {"region": {"values": [r | some r in input.facets.region; startswith(r, "eu-")], "reason": "eu_only"}}} if input.request.team == "web"
else := {}
`

// eachCandidate does the same by looking at every candidate.
const eachCandidate = `package gatewright.admission

exclude contains {"id": c.id, "reason": "eu_only"} if {
	some c in input.candidates
	input.request.team == "web"
	not startswith(c.region, "eu-")
}
`

// BenchmarkPolicies is what the policies of one request cost beyond the engine
// itself: the input, the evaluation, its answer applied. "floor" is a ranking in
// Go. Each records what it did, which the engine keeps for the decision: one
// allocation a stage.
func BenchmarkPolicies(b *testing.B) {
	type path struct {
		name     string
		body     []byte // of the admission; nil = none
		uncached bool
	}
	for _, candidates := range []int{3, 20} {
		pool := benchPool(candidates)
		request := ask("k")
		request.InputTokens, request.MaxOutput = 1200, 500
		b.Run(fmt.Sprintf("floor/candidates=%d", candidates), func(b *testing.B) {
			var f native
			b.ReportAllocs()
			for b.Loop() {
				f.rank(request, pool)
			}
		})
		for _, c := range []path{
			{name: "ranking alone"},
			{name: "Wasm admission", body: honest(b, "admit.wasm")},
			{name: "cached Rego by facet", body: []byte(residency)},
			{name: "cached Rego that reads facets", body: []byte(facets)},
			{name: "Rego by facet", body: []byte(residency), uncached: true},
			{name: "Rego by candidate", body: []byte(eachCandidate)},
		} {
			b.Run(fmt.Sprintf("%s/candidates=%d", c.name, candidates), func(b *testing.B) {
				benchmarkPath(b, c.body, c.uncached, request, pool)
			})
		}
	}
}

// benchmarkPath asks an admission, if there is one, and a ranking in Wasm.
func benchmarkPath(b *testing.B, admission []byte, uncached bool, request *engine.Request, pool []engine.Candidate) {
	b.Helper()
	r := newRoom(b)
	r.live("rank", honest(b, "rank.wasm"), Binding{})
	if admission != nil {
		r.live("admit", admission, Binding{})
	}
	rules := r.rules()
	if uncached {
		for _, x := range r.library.loaded {
			if p, ok := x.program.(*rule); ok {
				p.cache = nil
			}
		}
	}
	key, _ := rules.Strategies[rules.Rankings.All].Keys[0].Key.(engine.PolicyKey)
	out := make([]float64, len(pool))
	var refusals engine.Refusals
	var trail engine.Trail
	path := func() {
		for _, c := range rules.Checks {
			refusals = engine.Refusals{}
			if err := c.Refuse(b.Context(), request, pool, &refusals); err != nil || len(refusals.List()) > 0 {
				b.Fatal(refusals.List(), err)
			}
		}
		trail = engine.Trail{}
		if err := key.Rank(b.Context(), request, pool, out, &trail); err != nil || math.IsNaN(out[0]) {
			b.Fatal(out, err)
		}
	}
	path()
	b.ReportAllocs()
	for b.Loop() {
		path()
	}
}
