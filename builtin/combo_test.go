package builtin_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/builtin"
	"gatewright/engine"
)

func TestCombo(t *testing.T) {
	enough := new(300_000.0)
	steps := []builtin.Step{
		{Key: "priority"},
		{Key: "quota_left", Enough: enough},
		{Key: "price", Tolerance: &engine.Tolerance{RelativePPM: 50_000}},
		{Key: "latency", Tolerance: &engine.Tolerance{Absolute: 50}, Max: new(3000.0)},
		{Key: "reliability", Tolerance: &engine.Tolerance{}},
	}
	got, err := builtin.Combo("every-day_2.0", steps)
	if err != nil {
		t.Fatal(err)
	}
	keys := builtin.SortKeys()
	want := &engine.Strategy{Name: "every-day_2.0", Keys: []engine.KeyUse{
		{Key: keys["priority"]},
		{Key: keys["quota_left"], Tolerance: engine.Tolerance{Absolute: 50_000}, Enough: new(300_000.0)},
		{Key: keys["price"], Tolerance: engine.Tolerance{RelativePPM: 50_000}},
		{Key: keys["latency"], Tolerance: engine.Tolerance{Absolute: 50}, Max: new(3000.0)},
		{Key: keys["reliability"]},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("combo (-want +got):\n%s", diff)
	}
	*enough = 7
	if *got.Keys[1].Enough != 300_000 {
		t.Error("the combo kept a pointer into its steps")
	}
}

func TestComboNamesEveryFault(t *testing.T) {
	const all = "write one of affinity, in_flight, input_price, last_good, latency, listed, price, priority, quota_left, quota_reset, reliability, throughput, usage"
	one := []builtin.Step{{Key: "price"}}
	cases := []struct {
		name  string
		combo string
		steps []builtin.Step
		want  []string
	}{
		{"no steps", "c", nil, []string{`strategies.c: no sort keys: list at least one, or select "balanced" for the weighted draw alone`}},
		{"no name", "", one, []string{`strategies.: the name "": write letters, digits, -, _ and . only`}},
		{"a name that a model suffix would split", "a:b", one, []string{`strategies.a:b: the name "a:b": write letters, digits, -, _ and . only`}},
		{"the name is data, not a format", "50%d", one, []string{`strategies.50%d: the name "50%d": write letters, digits, -, _ and . only`}},
		{"a built-in's name", "price", one, []string{`strategies.price: a built-in strategy has this name: choose another`}},
		{"a misspelt key", "c", []builtin.Step{{Key: "quota-lef"}}, []string{`strategies.c[0].key: unknown sort key "quota-lef" (did you mean "quota_left"?): ` + all}},
		{"a strategy's name", "c", []builtin.Step{{Key: "least-busy"}}, []string{`strategies.c[0].key: unknown sort key "least-busy": ` + all}},
		{"no key", "c", []builtin.Step{{}}, []string{`strategies.c[0].key: unknown sort key "": ` + all}},
		{
			"two tolerances", "c",
			[]builtin.Step{{Key: "price", Tolerance: &engine.Tolerance{RelativePPM: 1, Absolute: 2}}},
			[]string{`strategies.c[0].tolerance: both relative (1 ppm) and absolute (2): write one of them`},
		},
		{
			"a negative tolerance", "c",
			[]builtin.Step{{Key: "price", Tolerance: &engine.Tolerance{RelativePPM: -1}}},
			[]string{`strategies.c[0].tolerance: -1 ppm, 0: write a finite number of at least 0`},
		},
		{
			"an endless tolerance", "c",
			[]builtin.Step{{Key: "price", Tolerance: &engine.Tolerance{Absolute: math.Inf(1)}}},
			[]string{`strategies.c[0].tolerance: 0 ppm, +Inf: write a finite number of at least 0`},
		},
		{
			"limits that are no numbers", "c",
			[]builtin.Step{{Key: "price", Enough: new(math.NaN()), Max: new(math.Inf(-1))}},
			[]string{`strategies.c[0].enough: NaN: write a finite number`, `strategies.c[0].max: -Inf: write a finite number`},
		},
		{
			"low is good, and max is lower than enough", "c",
			[]builtin.Step{{Key: "latency", Enough: new(500.0), Max: new(400.0)}},
			[]string{`strategies.c[0].max: 400 is better than enough, 500: nothing could be enough and not beyond max`},
		},
		{
			"high is good, and max is higher than enough", "c",
			[]builtin.Step{{Key: "quota_left", Enough: new(300_000.0), Max: new(400_000.0)}},
			[]string{`strategies.c[0].max: 400000 is better than enough, 300000: nothing could be enough and not beyond max`},
		},
		{
			"everything at once", "random",
			[]builtin.Step{{Key: "price"}, {Key: "x"}, {Key: "usage", Max: new(math.NaN())}},
			[]string{
				`strategies.random: a built-in strategy has this name: choose another`,
				`strategies.random[1].key: unknown sort key "x": ` + all,
				`strategies.random[2].max: NaN: write a finite number`,
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := builtin.Combo(c.combo, c.steps)
			if s != nil || err == nil {
				t.Fatalf("got %v, %v; want an error alone", s, err)
			}
			if diff := cmp.Diff(c.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestComboHintsAtTheNearestKey(t *testing.T) {
	cases := map[string]string{
		"quota-left": "quota_left", "quota_rest": "quota_reset", "prize": "price", "pricee": "price", "Price": "price",
		"input-price": "input_price", "inflight": "in_flight", "lastgood": "last_good", "throughputt": "throughput",
		"score": "", "speed": "", "ice": "", "a": "",
	}
	for mistyped, want := range cases {
		_, err := builtin.Combo("c", []builtin.Step{{Key: mistyped}})
		hint := fmt.Sprintf("(did you mean %q?)", want)
		if want == "" {
			hint = "did you mean"
		}
		if got := strings.Contains(err.Error(), hint); got != (want != "") {
			t.Errorf("error for %q = %v, want the hint %q", mistyped, err, want)
		}
	}
}

// favour makes one of two candidates better by a key. Decisively, or only by as
// much as the key of an example combo tolerates.
var favour = map[string]func(c *engine.Candidate, better, decisively bool){
	"priority": func(c *engine.Candidate, better, decisively bool) {
		c.Priority = 1
		if better && decisively {
			c.Priority = 2
		}
	},
	"quota_left": func(c *engine.Candidate, better, decisively bool) {
		left := map[[2]bool]int64{{true, true}: 400_000, {false, true}: 100_000, {true, false}: 450_000, {false, false}: 410_000}
		c.Quota = &engine.Quota{TakenAt: caseNow, Windows: []engine.QuotaWindow{{LeftPPM: left[[2]bool{better, decisively}]}}}
	},
	"price": func(c *engine.Candidate, better, decisively bool) {
		price := map[[2]bool]int64{{true, true}: 10_000, {false, true}: 10_300, {true, false}: 10_000, {false, false}: 10_150}
		c.Price = engine.Price{Known: true, Output: price[[2]bool{better, decisively}]}
	},
	"last_good": func(c *engine.Candidate, better, decisively bool) {
		c.LastSuccess = time.Time{}
		if better && decisively {
			c.LastSuccess = caseNow.Add(-time.Second)
		}
	},
}

var caseNow = time.UnixMilli(1_800_000_000_000).UTC()

// Each step of the example combos decides between two candidates whenever the
// steps before it do not, even if each of those leans the other way within its
// tolerance, and all behind it do so clearly.
func TestEachStepOfTheExampleCombosDecides(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "ordering", "combo_*.txtar"))
	if err != nil || len(files) != 3 {
		t.Fatalf("example combos = %v, %v; want three", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		section, _ := parseArchive(data).find("", "rule.json")
		var example rule
		if err := decode(section, &example); err != nil {
			t.Fatal(err)
		}
		combo, err := example.strategy()
		if err != nil {
			t.Fatal(err)
		}
		for step := range combo.Keys {
			for winner := range 2 {
				t.Run(fmt.Sprintf("%s/%s/%d", filepath.Base(file), combo.Keys[step].Key.Name(), winner), func(t *testing.T) {
					wantWinner(t, combo, step, winner)
				})
			}
		}
	}
}

func wantWinner(t *testing.T, combo *engine.Strategy, step, winner int) {
	t.Helper()
	w := &world{request: &engine.Request{Now: caseNow, Caller: &engine.Caller{}, Endpoint: engine.EndpointChat}, checks: builtin.Checks()}
	for i, id := range []string{"a", "b"} {
		c := healthyCandidate(id)
		for k := range combo.Keys {
			better := (i == winner) == (k == step)
			favour[combo.Keys[k].Key.Name()](&c, better, k >= step)
		}
		w.candidates = append(w.candidates, c)
	}
	p, err := w.planner(combo)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(64) {
		d, err := p.plan(seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Order) != 2 || d.Order[0] != w.candidates[winner].ID {
			t.Fatalf("seed %d: order = %v, want %s first", seed, d.Order, w.candidates[winner].ID)
		}
	}
}

// healthyCandidate returns a candidate that every built-in check admits, of its
// own provider, with nothing known of how it does.
func healthyCandidate(id string) engine.Candidate {
	return engine.Candidate{
		Deployment: &engine.Deployment{
			ID: id, Model: model, Enabled: true, Weight: 1,
			Provider:  &engine.Provider{ID: "p" + id, Enabled: true, HasCredential: true},
			Endpoints: engine.EndpointSet(engine.EndpointChat, engine.EndpointCompletions),
		},
		Signals: engine.Signals{TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration, Throughput: engine.Unknown, SuccessPPM: engine.Unknown},
	}
}
