package policies

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// removing is a check that takes out one candidate.
type removing string

func (removing) Name() string { return "removing" }

func (c removing) Refuse(_ context.Context, _ *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	for i := range pool {
		if pool[i].ID == string(c) {
			out.Remove(i, engine.ReasonCapability, "")
		}
	}
	return nil
}

// TestPoliciesOfARequestShareItsInput has an admission and a ranking asked about one
// request: the input is filled once, the ranking sees who was removed since, also by
// a check behind the admission, and the next request finds nothing of it.
func TestPoliciesOfARequestShareItsInput(t *testing.T) {
	var asked []*input
	skipped := func(in *input) (list []string) {
		for i := range in.Records {
			list = append(list, abi.SkipNames[in.Records[i].Skipped])
		}
		return list
	}
	var seen [][]string
	books := shelf{
		digestOf(0): func(in *input, out *verdict) error {
			asked, seen = append(asked, in), append(seen, skipped(in))
			return exclude("far", "ap")(in, out)
		},
		digestOf(1): func(in *input, out *verdict) error {
			asked, seen = append(asked, in), append(seen, skipped(in))
			return scores(3, 2, 1, 0)(in, out)
		},
	}
	rules := bothKinds(t, books)
	r := newRouter(t, rules, fleet(4))
	r.snapshot.Checks = append(r.snapshot.Checks, removing("p1/m"))
	for range 2 {
		if _, err := r.plan(t.Context(), ask("k")); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 4 || asked[0] != asked[1] || asked[2] != asked[3] {
		t.Errorf("the policies of a request were given inputs of their own: %v", asked)
	}
	before, behind := []string{"", "", "", ""}, []string{"", "capability", "policy", ""}
	if diff := cmp.Diff([][]string{before, behind, before, behind}, seen); diff != "" {
		t.Error(diff)
	}
}

// bothKinds makes rules of an admission and a ranking for all requests, whose
// programs are the books 0 and 1.
func bothKinds(t *testing.T, books shelf) *Rules {
	t.Helper()
	s := lives(t, Admission, []string{"a"}, Binding{ID: "a", Policy: "a"})
	var err error
	if s, err = s.Upload("r", Ranking, version(1)); err == nil {
		s, err = s.Activate("r", "", day(0))
	}
	if err == nil {
		s, err = s.Bind(&Binding{ID: "r", Policy: "r"})
	}
	if err != nil {
		t.Fatal(err)
	}
	rules, err := newRules(t.Context(), s, books, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// fixture is a fleet in which all may differ, of which pools are made.
type fixture struct {
	dice        *rand.Rand
	deployments []*engine.Deployment
	desk        *desk
}

func newFixture(seed uint64) *fixture {
	f := &fixture{dice: rand.New(rand.NewPCG(seed, 1)), deployments: fleet(12)}
	var providers []*engine.Provider
	for i, d := range f.deployments {
		d.Price = engine.Price{Known: i%4 != 0, Input: f.dice.Int64N(5e9), Output: f.dice.Int64N(20e9), CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
		if i%3 == 0 {
			d.Sale = engine.Sale{Multiplier: 500_000, From: noon, Until: noon.Add(time.Hour)}
		}
		d.Caps = engine.Capabilities(f.dice.Uint32N(1 << 6))
		providers = append(providers, d.Provider)
	}
	f.desk = newDesk(providers)
	return f
}

// pool is one of the pools that there are, as a request may find it.
func (f *fixture) pool() (*engine.Request, []engine.Candidate) {
	dice := f.dice
	r := ask("k")
	r.Now = noon.Add(time.Duration(dice.IntN(3)-1) * time.Hour)
	r.InputTokens, r.MaxOutput = dice.Int64N(10_000), dice.Int64N(5000)
	begin := dice.IntN(4)
	deployments := slices.Clone(f.deployments[begin : begin+3+dice.IntN(3)])
	deployments = slices.Delete(deployments, 1, 1+dice.IntN(2)) // some pools differ behind the first alone
	pool := make([]engine.Candidate, len(deployments))
	for i, d := range deployments {
		pool[i] = engine.Candidate{Deployment: d, Tier: dice.IntN(3), Affinity: dice.IntN(2) == 0, Preferred: dice.IntN(2) == 0, Locked: dice.IntN(2) == 0}
		pool[i].Signals = engine.Signals{
			Circuit: engine.Circuit(dice.IntN(3)), InFlight: dice.Int64N(9), Samples: dice.Int64N(90),
			TTFT: time.Duration(dice.Int64N(1e9)), LatencyP50: engine.UnknownDuration, LatencyP95: time.Duration(dice.Int64N(1e10)),
			Throughput: dice.Int64N(90_000), SuccessPPM: dice.Int64N(1_000_000),
		}
		if dice.IntN(2) == 0 {
			pool[i].Quota = &engine.Quota{TakenAt: r.Now, Windows: []engine.QuotaWindow{{LeftPPM: dice.Int64N(1_000_000), ResetsAt: r.Now.Add(time.Minute)}}}
			pool[i].LastSuccess = r.Now.Add(-time.Second)
		}
		if dice.IntN(4) == 0 {
			pool[i].Skipped = &engine.Skipped{Reason: engine.ReasonCooldown, Until: r.Now.Add(time.Minute)}
		}
	}
	return r, pool
}

// bytesOf are the input in its binary form.
func bytesOf(in *abi.Input, stage abi.Stage) ([]byte, error) {
	b := make([]byte, abi.Size(in))
	n, err := abi.Encode(b, in, stage)
	return b[:n], err
}

// alone is the input of a pool filled as if there had been no other.
func (f *fixture) alone(r *engine.Request, pool []engine.Candidate) *input {
	in := &input{}
	in.fill(r, pool, &desk{labels: f.desk.labels})
	in.Use(nil) // each record is written as it stands there
	return in
}

// check compares the input of a pool with one that was filled alone.
func (f *fixture) check(r *engine.Request, pool []engine.Candidate) error {
	var trail engine.Trail
	defer trail.End()
	s := f.desk.about(r, pool, &trail)
	for i := range pool { // what a check behind the first policy does
		if i%5 == 0 {
			pool[i].Skipped = &engine.Skipped{Reason: engine.ReasonContextWindow}
		}
	}
	if f.desk.about(r, pool, &trail) != s {
		return fmt.Errorf("pool of %d: filled again for the next policy", len(pool))
	}
	for i, c := range s.in.Records { // sales begin and end between requests
		d := pool[i].Deployment
		got, want := [...]int64{c.PriceIn, c.PriceOut, c.Price}, [...]int64{d.InputPrice(r.Now), d.OutputPrice(r.Now), d.BlendedPrice(r.Now)}
		if got != want {
			return fmt.Errorf("%s at %s: prices %v, want %v", d.ID, r.Now, got, want)
		}
	}
	for _, stage := range []abi.Stage{abi.Admission, abi.Ranking} {
		got, err := bytesOf(&s.in.Input, stage)
		if err != nil {
			return err
		}
		want, err := bytesOf(&f.alone(r, pool).Input, stage)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("pool of %d from %s on: the input is another than alone", len(pool), pool[0].ID)
		}
	}
	return nil
}

// TestInputsThatTakeTurns fills the inputs of many pools, some that begin with the
// same deployment, in the same memory.
func TestInputsThatTakeTurns(t *testing.T) {
	f := newFixture(1)
	for range 2000 {
		if err := f.check(f.pool()); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	f.desk.lineups.Range(func(_, v any) bool {
		n := len(v.([]*lineup))
		kept += n
		if n > maxLineups {
			t.Errorf("%d pools are kept that begin with one deployment, want at most %d", n, maxLineups)
		}
		return true
	})
	if kept < 4*maxLineups {
		t.Errorf("%d pools are kept, want %d", kept, 4*maxLineups)
	}
}

// TestInputOfAnotherPoolIsNotTaken has a trail that was not ended between two pools.
func TestInputOfAnotherPoolIsNotTaken(t *testing.T) {
	f := newFixture(2)
	var trail engine.Trail
	defer trail.End()
	for range 100 {
		r, pool := f.pool()
		again, elsewhere := *r, newDesk(nil)
		for _, asked := range []struct {
			request *engine.Request
			desk    *desk
		}{{r, f.desk}, {r, elsewhere}, {&again, elsewhere}, {r, f.desk}} {
			s := asked.desk.about(asked.request, pool, &trail)
			if s.request != asked.request || s.desk != asked.desk || &s.pool[0] != &pool[0] || len(s.in.Records) != len(pool) || s.in.Records[0].ID != pool[0].ID {
				t.Fatal("the input is that of another pool, request or snapshot")
			}
		}
	}
}

// TestTimeOfAKeptAnswer asks one question twice: the first answer is evaluated, the
// second takes no time.
func TestTimeOfAKeptAnswer(t *testing.T) {
	r := newRoom(t)
	r.live("admit", []byte(residency), Binding{})
	r.rules()
	for _, x := range r.library.loaded {
		u := &unit{program: x.program}
		var in input
		request, pool := newFixture(5).pool()
		in.fill(request, pool, newDesk(nil))
		for n, evaluated := range []bool{true, false} {
			var out verdict
			if err := u.decide(t.Context(), &in, &out); err != nil {
				t.Fatal(err)
			}
			if (out.began != 0) != evaluated || (out.took() != 0) != evaluated {
				t.Errorf("answer %d: it began at %s and took %s", n, out.began, out.took())
			}
		}
	}
}

func TestTooManyCandidatesForALineup(t *testing.T) {
	d := newDesk(nil)
	pool := make([]engine.Candidate, abi.MaxRecords+1)
	for i, x := range fleet(len(pool)) {
		pool[i].Deployment = x
	}
	if d.lineup(pool) != nil || d.lineup(pool[1:]) == nil {
		t.Error("the limit of candidates is another")
	}
}

func TestDeskHammer(t *testing.T) {
	f := newFixture(3)
	var running sync.WaitGroup
	for n := range 8 {
		mine := &fixture{dice: rand.New(rand.NewPCG(uint64(n), 2)), deployments: f.deployments, desk: f.desk}
		running.Go(func() {
			for range 200 {
				if err := mine.check(mine.pool()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
}

// TestWithoutAFacet has candidates without a region: only lets none of them pass,
// whatever its values are, and deny all.
func TestWithoutAFacet(t *testing.T) {
	pool := poolOf("eu", "none")
	pool[1].Provider.Region = ""
	for _, tc := range []struct {
		name     string
		decision rego.Decision
		want     []removal
	}{
		{"only", rego.Decision{Only: []rego.Only{{Facet: "region", Values: []string{"", "eu"}, Reason: "far"}}}, []removal{{index: 1, reason: "far"}}},
		{"deny", rego.Decision{Deny: []rego.Deny{{Facet: "region", Value: "", Reason: "near"}}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var in input
			in.fill(ask("k"), pool, newDesk(nil))
			for _, l := range []*lineup{in.lineup, nil} {
				in.lineup = l
				var out verdict
				if err := applyDecision(&tc.decision, &in, &out); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(out.removals, tc.want) {
					t.Errorf("with a lineup %v: got %v, want %v", l != nil, out.removals, tc.want)
				}
			}
		})
	}
}

// TestFilterOfALineup applies decisions to pools with what is known of them before and
// without: they remove the same.
func TestFilterOfALineup(t *testing.T) {
	f := newFixture(4)
	dice := f.dice
	names := append(slices.Clone(abi.FacetNames[:]), "tag.zone", "tag.none")
	values := []string{"eu", "us", "ap", "", "standard", "economy", "m", "0", "1", "z1", "z2", "p1", "p2/m", "x"}
	some := func() []string {
		list := make([]string, dice.IntN(12))
		for i := range list {
			list[i] = values[dice.IntN(len(values))]
		}
		slices.Sort(list)
		return list
	}
	removed := 0
	for range 3000 {
		d := &rego.Decision{}
		for range dice.IntN(3) {
			d.Only = append(d.Only, rego.Only{Facet: names[dice.IntN(len(names))], Values: some(), Reason: fmt.Sprint("only", len(d.Only))})
		}
		for range dice.IntN(3) {
			d.Deny = append(d.Deny, rego.Deny{Facet: names[dice.IntN(len(names))], Value: values[dice.IntN(len(values))], Reason: fmt.Sprint("deny", len(d.Deny))})
		}
		if dice.IntN(3) == 0 {
			d.Limits = append(d.Limits, rego.Limit{Name: "min_success_ppm", Value: 500_000, Reason: "fails"})
		}
		r, pool := f.pool()
		var in input
		in.fill(r, pool, f.desk)
		known := in.lineup != nil
		var with, without verdict
		if err := applyDecision(d, &in, &with); err != nil {
			t.Fatal(err)
		}
		in.lineup = nil
		if err := applyDecision(d, &in, &without); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(with.removals, without.removals) {
			t.Fatalf("%+v removes %v, and %v where nothing is known beforehand", d, with.removals, without.removals)
		}
		if known {
			removed += len(with.removals)
		}
	}
	if removed < 1000 {
		t.Errorf("only %d candidates were removed", removed)
	}
}
