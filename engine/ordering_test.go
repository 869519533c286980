package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/engine"
)

// fixedKey gives each deployment the value that its table holds.
type fixedKey struct {
	name   string
	spec   engine.KeySpec
	values map[string]float64
	err    error
}

func (k fixedKey) Name() string         { return k.name }
func (k fixedKey) Spec() engine.KeySpec { return k.spec }

func (k fixedKey) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		v, ok := k.values[pool[i].ID]
		if !ok {
			v = math.NaN()
		}
		out[i] = v
	}
	return k.err
}

func TestBands(t *testing.T) {
	low := engine.KeySpec{Integer: true}
	high := engine.KeySpec{Integer: true, HighFirst: true}
	last := engine.KeySpec{Integer: true, Missing: engine.MissingLast}
	score := engine.KeySpec{Missing: engine.MissingLast}
	values := func(v ...float64) map[string]float64 {
		out := map[string]float64{}
		for i, x := range v {
			if !math.IsNaN(x) {
				out[string(rune('a'+i))+"/m"] = x
			}
		}
		return out
	}
	nan := math.NaN()
	second := engine.KeyUse{Key: fixedKey{name: "second", spec: low, values: values(4, 3, 2, 1)}}
	cases := []struct {
		name string
		keys []engine.KeyUse
		want string
	}{
		{"low first", []engine.KeyUse{{Key: fixedKey{spec: low, values: values(3, 1, 4, 2)}}}, "bdac"},
		{"high first", []engine.KeyUse{{Key: fixedKey{spec: high, values: values(3, 1, 4, 2)}}}, "cadb"},
		{"a band is measured from its head", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(100, 110, 120, 130)}, Tolerance: engine.Tolerance{RelativePPM: 100_000}}, second,
		}, "badc"},
		{"relative tolerance at its exact edge", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(100, 102, 103, 102)}, Tolerance: engine.Tolerance{RelativePPM: 20_000}}, second,
		}, "dbac"},
		{"absolute tolerance", []engine.KeyUse{
			{Key: fixedKey{spec: high, values: values(990, 1000, 989, 995)}, Tolerance: engine.Tolerance{Absolute: 10}}, second,
		}, "dbac"},
		{"a missing value takes the median", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(10, nan, 30, 19)}}, second,
		}, "adbc"},
		{"the median of an even count is the mean of the middle two", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(10, nan, 31, nan)}}, second,
		}, "adbc"},
		{"of whole numbers it is rounded down to one", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(1, nan, 2, nan)}}, second,
		}, "dbac"},
		{"of others it is not", []engine.KeyUse{{Key: fixedKey{values: values(1, nan, 2, nan)}}, second}, "adbc"},
		{"all missing skips the key", []engine.KeyUse{{Key: fixedKey{spec: low}}, second}, "dcba"},
		{"no score goes last", []engine.KeyUse{{Key: fixedKey{spec: last, values: values(9, nan, 8, 7)}}}, "dcab"},
		{"enough makes equal", []engine.KeyUse{
			{Key: fixedKey{spec: high, values: values(50, 40, 20, 90)}, Enough: new(40.0)}, second,
		}, "dbac"},
		{"beyond max is a last band, ordered on", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(9, 1, 8, 2)}, Max: new(5.0)}, second,
		}, "bdca"},
		{"negative scores, relative to the head's size", []engine.KeyUse{
			{Key: fixedKey{spec: score, values: values(-100, -95, -90, -50)}, Tolerance: engine.Tolerance{RelativePPM: 50_000}}, second,
		}, "bacd"},
		{"scores allow a rounding error", []engine.KeyUse{
			{Key: fixedKey{spec: score, values: values(0.3, 0.1+0.2, 1, 2)}}, second,
		}, "bacd"},
		{"integers do not", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(4_000_000_000_000_001, 4_000_000_000_000_000, 4_000_000_000_000_003, 4_000_000_000_000_002)}},
		}, "badc"},
		{"whole numbers among others compare exactly too", []engine.KeyUse{
			{Key: fixedKey{spec: low, values: values(1_800_000_000_001, 1_800_000_000_000, 1_800_000_000_000.5, 1_800_000_000_002)}}, second,
		}, "cbad"},
		{"a faulty key is skipped", []engine.KeyUse{{Key: fixedKey{spec: low, values: values(1, 2, 3, 4), err: errors.New("boom")}}, second}, "dcba"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, []string{"m", "a/m", "b/m", "c/m", "d/m"})
			w.spec.Strategies["s"] = &engine.Strategy{Name: "s", Keys: c.keys}
			d, err := w.serve(w.start(t), request("m:@s"))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(d.Order, ""), "/m", "")
			if got != c.want {
				t.Errorf("order = %s, want %s", got, c.want)
			}
		})
	}
}

func TestBaseOrder(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m", "c/m", "d/m"})
	for id, p := range map[string]int{"a/m": 5, "b/m": 5, "c/m": 9, "d/m": 9} {
		w.deployment(id).Priority = p
	}
	price := fixedKey{name: "price", spec: engine.KeySpec{Integer: true}, values: map[string]float64{"a/m": 1, "b/m": 2, "c/m": 4, "d/m": 3}}
	priority := fixedKey{name: engine.KeyPriority, spec: engine.KeySpec{Integer: true, HighFirst: true}, values: map[string]float64{"a/m": 5, "b/m": 5, "c/m": 9, "d/m": 9}}
	w.spec.Strategies["price"] = &engine.Strategy{Name: "price", Keys: []engine.KeyUse{{Key: price}}}
	w.spec.Strategies["later"] = &engine.Strategy{Name: "later", Keys: []engine.KeyUse{{Key: price}, {Key: priority}}}
	s := w.start(t)
	order := func(r *engine.Request) []string {
		d, err := w.serve(s, r)
		if err != nil {
			t.Fatal(err)
		}
		return d.Order
	}
	if diff := cmp.Diff([]string{"d/m", "c/m", "a/m", "b/m"}, order(request("m:@price"))); diff != "" {
		t.Errorf("tiers before the strategy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/m", "b/m", "d/m", "c/m"}, order(request("m:@later"))); diff != "" {
		t.Errorf("a strategy that lists priority places it (-want +got):\n%s", diff)
	}
	r := request("m:@price")
	r.Caller.Preferred = engine.NewSet([]string{"b", "c"})
	if diff := cmp.Diff([]string{"c/m", "b/m", "d/m", "a/m"}, order(r)); diff != "" {
		t.Errorf("preferred first, each part alike (-want +got):\n%s", diff)
	}
	r = withSession(request("m:@price"), 1)
	w.affinity[engine.AffinityKey{Session: r.Session.Key, Family: "generate", Model: "m"}] = engine.Target{Deployment: "b/m"}
	if got := order(r)[0]; got != "b/m" {
		t.Errorf("first = %s, want the session's target across tiers", got)
	}
}

func TestDrawShares(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m", "c/m"})
	w.deployment("a/m").Weight, w.deployment("b/m").Weight, w.deployment("c/m").Weight = 6000, 3000, 1000
	s := w.start(t)
	first := map[string]int{}
	const n = 20_000
	for i := range n {
		r := request("m")
		r.Seed = uint64(i) * 0x9e3779b97f4a7c15
		d, err := w.engine.Plan(context.Background(), s, r)
		if err != nil {
			t.Fatal(err)
		}
		first[d.Order[0]]++
	}
	for id, want := range map[string]float64{"a/m": 0.6, "b/m": 0.3, "c/m": 0.1} {
		if got := float64(first[id]) / n; math.Abs(got-want) > 0.01 {
			t.Errorf("%s came first in %.3f of the draws, want %.2f ± 0.01", id, got, want)
		}
	}
}

// A session that moves when a weight grows moves to the deployment that grew,
// and a session moves when one leaves only if that one was its first.
func TestDrawMovesOnlyWhatMustMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		plan := func(weights ...int) []string {
			w := newWorld(&testing.T{}, []string{"m", "a/m", "b/m", "c/m", "d/m"}[:len(weights)+1])
			for i, d := range w.model("m").Deployments {
				d.Weight = weights[i]
			}
			s, err := engine.NewSnapshot(w.spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := request("m")
			r.Seed = seed
			d, err := engine.New(s, w, w, w, w).Plan(context.Background(), s, r)
			if err != nil {
				t.Fatal(err)
			}
			return d.Order
		}
		weights := rapid.SliceOfN(rapid.IntRange(1, 10_000), 4, 4).Draw(t, "weights")
		before := plan(weights...)
		if diff := cmp.Diff(before, plan(weights...)); diff != "" {
			t.Fatalf("one seed gave two orders:\n%s", diff)
		}
		grown := slices.Clone(weights)
		grown[1] += rapid.IntRange(1, 10_000).Draw(t, "more")
		if after := plan(grown...); after[0] != before[0] && after[0] != "b/m" {
			t.Fatalf("b grew, but %s moved to %s", before[0], after[0])
		}
		without := slices.DeleteFunc(slices.Clone(before), func(id string) bool { return id == "d/m" })
		if diff := cmp.Diff(without, plan(weights[:3]...)); diff != "" {
			t.Fatalf("d left and the others changed places:\n%s", diff)
		}
	})
}

// hostileKey returns anything, NaN and infinities too.
type hostileKey struct {
	spec   engine.KeySpec
	values []float64
}

func (k hostileKey) Name() string         { return "hostile" }
func (k hostileKey) Spec() engine.KeySpec { return k.spec }

func (k hostileKey) Values(_ context.Context, _ *engine.Request, pool []engine.Candidate, out []float64) error {
	for i := range pool {
		out[i] = k.values[i%len(k.values)]
	}
	return nil
}

func TestThePlanIsAPermutationOfTheAdmittedPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "candidates")
		model := []string{"m"}
		for i := range n {
			model = append(model, fmt.Sprintf("p%d/m%d", i%7, i))
		}
		w := newWorld(&testing.T{}, model)
		admitted := map[string]bool{}
		for _, d := range w.model("m").Deployments {
			d.Priority = rapid.IntRange(0, 2).Draw(t, "priority")
			d.Weight = rapid.IntRange(1, 3).Draw(t, "weight")
			d.Enabled = rapid.IntRange(0, 3).Draw(t, "enabled") > 0
			admitted[d.ID] = d.Enabled
			if rapid.IntRange(0, 4).Draw(t, "open") == 0 {
				w.signals[d.ID] = engine.Signals{Circuit: engine.CircuitOpen, CircuitUntil: now.Add(1)}
			}
		}
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64, 5e-324}))
		var keys []engine.KeyUse
		for range rapid.IntRange(0, 3).Draw(t, "keys") {
			spec := engine.KeySpec{HighFirst: rapid.Bool().Draw(t, "high"), Integer: rapid.Bool().Draw(t, "integer")}
			if rapid.Bool().Draw(t, "last") {
				spec.Missing = engine.MissingLast
			}
			use := engine.KeyUse{Key: hostileKey{spec: spec, values: rapid.SliceOfN(value, n, n).Draw(t, "values")}}
			use.Tolerance.RelativePPM = rapid.Int64Range(0, 2_000_000).Draw(t, "relative")
			keys = append(keys, use)
		}
		w.spec.Strategies["balanced"] = &engine.Strategy{Name: "balanced", Keys: keys}
		s, err := engine.NewSnapshot(w.spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := engine.New(s, w, w, w, w).Plan(context.Background(), s, request("m"))
		seen := map[string]bool{}
		for _, id := range d.Order {
			if !admitted[id] || seen[id] {
				t.Fatalf("order %v: %s was not admitted, or stands twice", d.Order, id)
			}
			seen[id] = true
		}
		for id, ok := range admitted {
			if ok && !seen[id] {
				t.Fatalf("order %v lacks %s", d.Order, id)
			}
		}
	})
}
