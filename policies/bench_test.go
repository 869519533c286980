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

// benchPool is a pool of which everything is known of every candidate but quota, as
// of keys that pay by use: reading quota windows would be half of what the ranking in
// Go costs, and make the others look cheaper than they are.
func benchPool(n int) []engine.Candidate {
	dice := rand.New(rand.NewPCG(7, 7))
	pool := make([]engine.Candidate, n)
	for i, d := range fleet(n) {
		d.Provider.Region = [...]string{"eu-west", "eu-central", "eu-north"}[i%3]
		d.Provider.Tags = nil
		d.Price = engine.Price{Known: true, Input: dice.Int64N(5e9), Output: dice.Int64N(20e9), CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
		first := time.Duration(200+dice.IntN(97)) * time.Millisecond
		pool[i] = engine.Candidate{Deployment: d, Signals: engine.Signals{
			TTFT: first, LatencyP50: 4 * first, LatencyP95: 9 * first, Throughput: dice.Int64N(90_000),
			SuccessPPM: 990_000 + dice.Int64N(10_000), Samples: 50, InFlight: dice.Int64N(9),
			TokensThisMinute: engine.Unknown, LastSuccess: noon.Add(-time.Second),
		}}
	}
	return pool
}

// native is the ranking of testdata/wasm/guests/rank.c in Go, straight on the
// engine's candidates: the same score, the same order. It is the floor that the
// others are measured by; nothing is checked, recorded or bounded.
type native struct {
	scores []float64
	order  []int
}

func (f *native) rank(r *engine.Request, pool []engine.Candidate) {
	f.scores, f.order = f.scores[:0], f.order[:0]
	for i := range pool {
		c := &pool[i]
		cost := float64(c.InputPrice(r.Now))*float64(r.InputTokens) + float64(c.OutputPrice(r.Now))*float64(r.MaxOutput)
		slow := float64(c.LatencyP50.Milliseconds()+c.LatencyP95.Milliseconds()) * float64(1+c.InFlight)
		quota := float64(c.QuotaLeft(r.Now)) / million
		z := r.Seed + uint64(i+1)*0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		score := cost/1e6 + slow*3 + (1-quota)*500 + float64(z>>11)/(1<<53)*20
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

// places are the scores that an order is.
func (f *native) places() []float64 {
	list := make([]float64, len(f.order))
	for place, i := range f.order {
		list[i] = float64(place)
	}
	return list
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

// paths are what an admission is bound as, beside the ranking in Wasm. The design
// bounds the second to the fifth: 10, 6, 6 and 80 times the floor for 20 candidates.
func paths(tb testing.TB) []policyPath {
	tb.Helper()
	return []policyPath{
		{name: "ranking alone"},
		{name: "Wasm admission", body: honest(tb, "admit.wasm")},
		{name: "cached Rego by facet", body: []byte(residency)},
		{name: "cached Rego that reads facets", body: []byte(facets)},
		{name: "Rego by facet", body: []byte(residency), uncached: true, allocations: 1},
		{name: "Rego by candidate", body: []byte(eachCandidate), allocations: 1},
	}
}

// policyPath is an admission, and how it is asked.
type policyPath struct {
	name        string
	body        []byte // of the admission; nil = none
	uncached    bool
	allocations float64 // at most, by each request
}

// start binds the path's policies and returns what a request does with them, as the
// engine does it.
func (p *policyPath) start(tb testing.TB, request *engine.Request, pool []engine.Candidate) func() {
	tb.Helper()
	r := newRoom(tb)
	r.live("rank", honest(tb, "rank.wasm"), Binding{})
	if p.body != nil {
		r.live("admit", p.body, Binding{})
	}
	rules := r.rules()
	if p.uncached {
		for _, x := range r.library.loaded {
			if p, ok := x.program.(*rule); ok {
				p.cache = nil
			}
		}
	}
	key, _ := rules.Strategies[rules.Rankings.All].Keys[0].Key.(engine.PolicyKey)
	out := make([]float64, len(pool))
	var refusals engine.Refusals
	var records [2]engine.PolicyRecord
	ask := func() {
		refusals.Trail = engine.NewTrail(records[:])
		defer refusals.Trail.End()
		for _, c := range rules.Checks {
			if err := c.Refuse(tb.Context(), request, pool, &refusals); err != nil || len(refusals.List()) > 0 {
				tb.Fatal(refusals.List(), err)
			}
		}
		if err := key.Rank(tb.Context(), request, pool, out, &refusals.Trail); err != nil || math.IsNaN(out[0]) {
			tb.Fatal(out, err)
		}
	}
	ask()
	var f native
	f.rank(request, pool)
	if want := f.places(); !slices.Equal(out, want) {
		tb.Fatalf("ranked %v, the floor %v", out, want)
	}
	return ask
}

// benchRequest is a request for a pool of benchPool.
func benchRequest() *engine.Request {
	r := ask("k")
	r.InputTokens, r.MaxOutput = 1200, 500
	return r
}

// BenchmarkPolicies is what the policies of one request cost beyond the engine
// itself: the input, the evaluation, its answer verified and applied, the record.
// "floor" is the ranking in Go. p50-ns is the median of short batches, and ×floor
// that of the path as a multiple of the floor's, in turn with it: on a machine that
// others use too it moves less than either. p99/p50 is of single calls.
func BenchmarkPolicies(b *testing.B) {
	for _, candidates := range []int{3, 20} {
		pool, request := benchPool(candidates), benchRequest()
		var f native
		floor := func() { f.rank(request, pool) }
		b.Run(fmt.Sprintf("floor/candidates=%d", candidates), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				floor()
			}
		})
		for _, p := range paths(b) {
			b.Run(fmt.Sprintf("%s/candidates=%d", p.name, candidates), func(b *testing.B) {
				ask := p.start(b, request, pool)
				b.ReportAllocs()
				for b.Loop() {
					ask()
				}
				p50, floorP50 := inTurn(ask, floor)
				b.ReportMetric(p50, "p50-ns")
				b.ReportMetric(p50/floorP50, "×floor")
				b.ReportMetric(spread(ask), "p99/p50")
			})
		}
	}
}

// spread is how much longer one call in a hundred takes than the median.
func spread(f func()) float64 {
	took := make([]time.Duration, 20_000)
	for i := range took {
		began := time.Now()
		f()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return float64(took[len(took)*99/100]) / float64(took[len(took)/2])
}

// inTurn measures two functions in turn, and returns the median of what a call of
// each takes, in ns.
func inTurn(path, floor func()) (p50, floorP50 float64) {
	const batches = 1001
	measure := func(f func(), calls int) float64 {
		began := time.Now()
		for range calls {
			f()
		}
		return float64(time.Since(began).Nanoseconds()) / float64(calls)
	}
	var of, ofFloor []float64
	for range batches {
		of, ofFloor = append(of, measure(path, 10)), append(ofFloor, measure(floor, 50))
	}
	slices.Sort(of)
	slices.Sort(ofFloor)
	return of[batches/2], ofFloor[batches/2]
}
