package builtin_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/builtin"
	"gatewright/engine"
)

// anyWorld draws a request and a pool of one to twelve candidates, of which much
// is unknown, many values are close, and some are refused.
func anyWorld(t *rapid.T) *world {
	w := &world{checks: builtin.Checks(), affinityOn: rapid.Bool().Draw(t, "affinity")}
	w.request = &engine.Request{
		Now: caseNow, Endpoint: engine.EndpointChat, InputTokens: 1000, MaxOutput: 500,
		Needs:   rapid.SampledFrom([]engine.Capabilities{0, engine.CapTools, engine.CapTools | engine.CapVision}).Draw(t, "needs"),
		MaxTTFT: rapid.SampledFrom([]time.Duration{0, 0, time.Second}).Draw(t, "max_ttft"),
		MaxCost: rapid.SampledFrom([]int64{0, 0, 9_000_000}).Draw(t, "max_cost"),
		Caller: &engine.Caller{
			AllowedProviders: anySet(t, "allowed_providers", "p0", "p1", "p2"),
			SupplyTiers:      anySet(t, "supply_tiers", "official"),
			Preferred:        engine.NewSet(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p0", "p1", "p2"}), 0, 2, rapid.ID).Draw(t, "preferred")),
		},
	}
	providers := make([]*engine.Provider, 4)
	for i := range providers {
		providers[i] = &engine.Provider{
			ID: fmt.Sprintf("p%d", i), Enabled: mostly(t, "provider_enabled"), HasCredential: mostly(t, "credential"),
			SupplyTier: rapid.SampledFrom([]string{"official", "official", "economy", ""}).Draw(t, "supply_tier"),
		}
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "candidates") {
		c := anyCandidate(t, i)
		c.Provider = providers[rapid.IntRange(0, 3).Draw(t, "provider")]
		c.Preferred = w.request.Caller.Preferred.Has(c.Provider.ID)
		w.candidates = append(w.candidates, c)
	}
	if rapid.IntRange(0, 2).Draw(t, "refusals") > 0 {
		w.welcome()
	}
	if rapid.Bool().Draw(t, "session") {
		w.request.Session = engine.Session{Key: [16]byte{1}, Source: "header"}
		target := &w.candidates[rapid.IntRange(0, len(w.candidates)-1).Draw(t, "target")]
		w.session, target.LastOfSession, target.Affinity = target.ID, true, w.affinityOn
	}
	return w
}

// welcome takes away what nearly all refusals rest on, so that ordering sees
// large pools too.
func (w *world) welcome() {
	r := w.request
	r.Needs, r.MaxTTFT, r.MaxCost, r.Caller.AllowedProviders, r.Caller.SupplyTiers = 0, 0, 0, nil, nil
	for i := range w.candidates {
		c := &w.candidates[i]
		c.Provider.Enabled, c.Provider.HasCredential, c.Enabled, c.Weight, c.Context = true, true, true, max(c.Weight, 1), 0
		c.Endpoints, c.CooldownUntil = engine.EndpointSet(engine.EndpointChat), time.Time{}
	}
}

func anyCandidate(t *rapid.T, i int) engine.Candidate {
	ppm := rapid.SampledFrom([]int64{engine.Unknown, 0, 1, 90_000, 100_000, 110_000, 150_000, 500_000, 945_000, 950_000, 990_000, 999_999, 1_000_000})
	near := rapid.SampledFrom([]int64{engine.Unknown, engine.Unknown, 0, 1, 2, 980, 999, 1000, 1001, 1019, 1020, 1021, 1200, 1201, 1440, 5000})
	c := engine.Candidate{
		Deployment: &engine.Deployment{
			ID: fmt.Sprintf("d%02d", i), Model: model, Listed: i, Enabled: mostly(t, "enabled"),
			Priority: rapid.SampledFrom([]int{0, 0, 0, 5, 10}).Draw(t, "priority"),
			Weight:   rapid.SampledFrom([]int{0, 1, 1, 1, 3, 10_000}).Draw(t, "weight"),
			Context:  rapid.SampledFrom([]int64{0, 1499, 1500, 128_000}).Draw(t, "context"),
			Caps:     engine.CapTools, CapsKnown: rapid.SampledFrom([]engine.Capabilities{0, engine.CapTools, engine.CapVision}).Draw(t, "caps_known"),
			Endpoints: engine.EndpointSet(engine.EndpointChat),
		},
		Signals: engine.Signals{
			Circuit:          rapid.SampledFrom([]engine.Circuit{0, 0, 0, engine.CircuitOpen, engine.CircuitHalfOpen}).Draw(t, "circuit"),
			ProbeTaken:       rapid.Bool().Draw(t, "probe_taken"),
			TTFT:             engine.UnknownDuration,
			LatencyP50:       engine.UnknownDuration,
			LatencyP95:       engine.UnknownDuration,
			Throughput:       near.Draw(t, "throughput"),
			SuccessPPM:       ppm.Draw(t, "success"),
			InFlight:         rapid.Int64Range(0, 3).Draw(t, "in_flight"),
			TokensThisMinute: rapid.Int64Range(0, 3).Draw(t, "tokens"),
		},
	}
	if !mostly(t, "chat") {
		c.Endpoints = engine.EndpointSet(engine.EndpointEmbeddings)
	}
	if ms := near.Draw(t, "ttft"); ms != engine.Unknown {
		c.TTFT = time.Duration(ms)*time.Millisecond + rapid.SampledFrom([]time.Duration{0, 999 * time.Microsecond}).Draw(t, "below_a_millisecond")
	}
	if price := near.Draw(t, "price"); price != engine.Unknown {
		unit := rapid.SampledFrom([]int64{1, 1_000_000}).Draw(t, "unit")
		out := rapid.Int64Range(0, 2).Draw(t, "output")
		c.Price = engine.Price{Known: true, Input: price * unit, Output: price * out * unit, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
		c.Sale = anySale(t)
	}
	if rapid.Bool().Draw(t, "served") {
		c.LastSuccess = caseNow.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "last_success")) * time.Second)
	}
	if rapid.IntRange(0, 6).Draw(t, "cooling") == 0 {
		c.CooldownUntil = caseNow.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "cooldown")) * time.Minute)
	}
	if rapid.Bool().Draw(t, "quota") {
		c.Quota = &engine.Quota{TakenAt: caseNow.Add(-time.Duration(rapid.IntRange(0, 12).Draw(t, "age")) * time.Minute)}
		for range rapid.IntRange(0, 2).Draw(t, "windows") {
			window := engine.QuotaWindow{LeftPPM: ppm.Draw(t, "left"), Period: time.Duration(rapid.IntRange(0, 2).Draw(t, "period")) * time.Hour}
			if mostly(t, "reset_known") {
				window.ResetsAt = caseNow.Add(time.Duration(rapid.IntRange(-1, 3).Draw(t, "reset"))*time.Hour + time.Duration(rapid.IntRange(-1, 1).Draw(t, "beside"))*time.Millisecond)
			}
			c.Quota.Windows = append(c.Quota.Windows, window)
		}
	}
	return c
}

// anySale draws a promotion, or none: one that runs, one that is over, one to come.
func anySale(t *rapid.T) engine.Sale {
	s := engine.Sale{Multiplier: rapid.SampledFrom([]int64{0, 0, 333_333, 500_000, 999_999}).Draw(t, "sale")}
	switch rapid.IntRange(0, 3).Draw(t, "sale_time") {
	case 0:
		s.Until = caseNow
	case 1:
		s.From = caseNow.Add(time.Millisecond)
	case 2:
		s.From, s.Until = caseNow, caseNow.Add(time.Millisecond)
	}
	return s
}

func mostly(t *rapid.T, label string) bool { return rapid.IntRange(0, 9).Draw(t, label) > 0 }

func anySet(t *rapid.T, label string, names ...string) engine.Set {
	if mostly(t, label) {
		return nil
	}
	return engine.NewSet(names)
}

// anyStrategy draws a built-in strategy or a combo of up to four steps.
func anyStrategy(t *rapid.T) *engine.Strategy {
	strategies := builtin.Strategies()
	names := append(slices.Sorted(maps.Keys(strategies)), slices.Repeat([]string{"combo"}, 12)...)
	name := rapid.SampledFrom(names).Draw(t, "strategy")
	if name != "combo" {
		return strategies[name]
	}
	keys := slices.Sorted(maps.Keys(builtin.SortKeys()))
	limits := rapid.SampledFrom([]float64{0, 1, 900, 1000, 1010, 300_000, 950_000})
	var steps []builtin.Step
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		step := builtin.Step{Key: rapid.SampledFrom(keys).Draw(t, "key")}
		switch rapid.IntRange(0, 3).Draw(t, "tolerance") {
		case 0:
			step.Tolerance = &engine.Tolerance{RelativePPM: rapid.Int64Range(0, 500_000).Draw(t, "relative")}
		case 1:
			step.Tolerance = &engine.Tolerance{Absolute: limits.Draw(t, "absolute")}
		}
		switch rapid.IntRange(0, 3).Draw(t, "limit") {
		case 0:
			step.Enough = new(limits.Draw(t, "enough"))
		case 1:
			step.Max = new(limits.Draw(t, "max"))
		}
		steps = append(steps, step)
	}
	s, err := builtin.Combo("combo", steps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPlan(t *rapid.T, w *world, s *engine.Strategy, seed uint64) *engine.Decision {
	p, err := w.planner(s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.plan(seed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// admitted returns the candidates that the decision did not remove.
func (w *world) admitted(d *engine.Decision) []engine.Candidate {
	var list []engine.Candidate
	for i := range w.candidates {
		removed := func(s engine.Skipped) bool {
			return s.Deployment == w.candidates[i].ID && s.Reason != engine.ReasonCircuitOpen
		}
		if !slices.ContainsFunc(d.Skipped, removed) {
			list = append(list, w.candidates[i])
		}
	}
	return list
}

func ids(list []engine.Candidate) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].ID)
	}
	return out
}

// Whatever the strategy, the plan is a permutation of the admitted pool, and it
// is the one that the rules of bands, tiers and preference lead to.
func TestThePlanIsTheOneThatTheRulesLeadTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := anyWorld(t), anyStrategy(t)
		d := mustPlan(t, w, s, rapid.Uint64().Draw(t, "seed"))
		if d.LawMended || len(d.Faults) > 0 {
			t.Fatalf("a built-in rule broke the law or failed: %+v", d)
		}
		admitted := w.admitted(d)
		if diff := cmp.Diff(ids(admitted), slices.Sorted(slices.Values(d.Order))); diff != "" {
			t.Fatalf("the plan is no permutation of the admitted pool (-want +got):\n%s", diff)
		}
		draw := map[string]float64{}
		for _, c := range d.Candidates {
			draw[c.Deployment] = c.Draw
		}
		f, err := newReference(s, w.request, admitted, draw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f.order(), d.Order); diff != "" {
			t.Fatalf("order by %s (-want +got):\n%s", s.Name, diff)
		}
	})
}

// Under a strategy of one key, whoever stands before another within the same
// part and tier is better, or worse by no more than the key tolerates.
func TestBandsNeverMix(t *testing.T) {
	strategies := builtin.Strategies()
	for _, name := range slices.Sorted(maps.Keys(strategies)) {
		s := strategies[name]
		if len(s.Keys) != 1 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { bandsHold(t, anyWorld(t), s) })
		})
	}
}

func bandsHold(t *rapid.T, w *world, s *engine.Strategy) {
	d := mustPlan(t, w, s, rapid.Uint64().Draw(t, "seed"))
	admitted := w.admitted(d)
	if len(admitted) == 0 {
		return
	}
	values := make([]float64, len(admitted))
	use := &s.Keys[0]
	if err := use.Key.Values(t.Context(), w.request, admitted, values); err != nil {
		t.Fatal(err)
	}
	byID := map[string]int{}
	for i := range admitted {
		byID[admitted[i].ID] = i
	}
	for i, first := range d.Order {
		for _, second := range d.Order[i+1:] {
			a, b := &admitted[byID[first]], &admitted[byID[second]]
			if a.Affinity || b.Affinity || a.CircuitBroken() != b.CircuitBroken() || a.Preferred != b.Preferred || a.Priority != b.Priority {
				continue
			}
			v, u := values[byID[first]], values[byID[second]]
			if use.Key.Spec().Missing == engine.MissingLast && math.IsNaN(v) && !math.IsNaN(u) {
				t.Fatalf("%s without a value stands before %s with %v", first, second, u)
			}
			if math.IsNaN(v) || math.IsNaN(u) {
				continue
			}
			lead := u - v // how much better the second is
			if !use.Key.Spec().HighFirst {
				lead = v - u
			}
			limit := use.Tolerance.Absolute + float64(use.Tolerance.RelativePPM)/1e6*math.Abs(u)
			if lead > limit+1e-6 {
				t.Fatalf("%s = %v stands before %s = %v, which is better by more than %v", first, v, second, u, limit)
			}
		}
	}
}

// Each further check can only take away, and ordering does neither.
func TestRefusalsOnlyShrink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		balanced := builtin.Strategies()["balanced"]
		var before []string
		for n := range len(w.checks) + 1 {
			part := *w
			part.checks = w.checks[:n]
			after := ids(w.admitted(mustPlan(t, &part, balanced, 1)))
			if n > 0 && !subset(after, before) {
				t.Fatalf("check %s brought someone back: %v, before %v", w.checks[n-1].Name(), after, before)
			}
			before = after
		}
		if got := ids(w.admitted(mustPlan(t, w, anyStrategy(t), 1))); !slices.Equal(got, before) {
			t.Fatalf("the strategy changed who is admitted: %v, want %v", got, before)
		}
	})
}

func subset(list, of []string) bool {
	return !slices.ContainsFunc(list, func(id string) bool { return !slices.Contains(of, id) })
}

// Of several reasons the first lasting one is named, whatever order the checks
// run in; only if none lasts the passing one that ends last.
func TestTheNamedReasonDoesNotDependOnTheOrderOfChecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, balanced := anyWorld(t), builtin.Strategies()["balanced"]
		want := mustPlan(t, w, balanced, 1)
		shuffled := *w
		shuffled.checks = rapid.Permutation(w.checks).Draw(t, "checks")
		if diff := cmp.Diff(want.Skipped, mustPlan(t, &shuffled, balanced, 1).Skipped); diff != "" {
			t.Fatalf("skipped (-want +got):\n%s", diff)
		}
	})
}

// One session has one order: on every replica, for every endpoint of its
// family, and however the deployments are listed.
func TestOneSessionOneOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := anyWorld(t), anyStrategy(t)
		seed := rapid.Uint64().Draw(t, "seed")
		want := mustPlan(t, w, s, seed).Order
		other := *w
		completions := *w.request
		completions.Endpoint, other.request = engine.EndpointCompletions, &completions
		other.candidates = rapid.Permutation(w.candidates).Draw(t, "listing")
		for i := range other.candidates {
			d := *other.candidates[i].Deployment
			if d.Endpoints.Has(engine.EndpointChat) {
				d.Endpoints = engine.EndpointSet(engine.EndpointCompletions)
			}
			other.candidates[i].Deployment = &d
		}
		if diff := cmp.Diff(want, mustPlan(t, &other, s, seed).Order); diff != "" {
			t.Fatalf("another replica orders otherwise (-want +got):\n%s", diff)
		}
	})
}

// A candidate that leaves, or whose weight changes, moves no other against each
// other; so only sessions move whose first it was or has become.
func TestOnlySessionsMoveThatMust(t *testing.T) {
	for _, name := range []string{"balanced", "traffic-split", "random", "simple-shuffle"} {
		t.Run(name, func(t *testing.T) {
			s := builtin.Strategies()[name]
			rapid.Check(t, func(t *rapid.T) {
				w, seed := anyWorld(t), rapid.Uint64().Draw(t, "seed")
				before := mustPlan(t, w, s, seed).Order
				i := rapid.IntRange(0, len(w.candidates)-1).Draw(t, "changed")
				id := w.candidates[i].ID
				rest := func(order []string) []string {
					return slices.DeleteFunc(slices.Clone(order), func(x string) bool { return x == id })
				}

				gone := *w
				gone.candidates = slices.Delete(slices.Clone(w.candidates), i, i+1)
				if w.session == id {
					gone.session = ""
				}
				if want, got := rest(before), mustPlan(t, &gone, s, seed).Order; !slices.Equal(want, got) {
					t.Fatalf("%s left and others changed places: %v, want %v", id, got, want)
				}

				changed := *w
				changed.candidates = slices.Clone(w.candidates)
				d := *changed.candidates[i].Deployment
				d.Weight = rapid.IntRange(0, 10_000).Draw(t, "new_weight")
				changed.candidates[i].Deployment = &d
				after := mustPlan(t, &changed, s, seed).Order
				if !slices.Equal(rest(before), rest(after)) {
					t.Fatalf("the weight of %s changed and others changed places: %v, before %v", id, after, before)
				}
				heavier := d.Weight > w.candidates[i].Weight
				if was, is := slices.Index(before, id), slices.Index(after, id); was >= 0 && is >= 0 && heavier && is > was {
					t.Fatalf("%s grew and moved from place %d to %d", id, was, is)
				}
			})
		})
	}
}
