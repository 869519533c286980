package policies

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// scores gives each candidate of a pool a score.
func scores(list ...float64) scripted {
	return func(_ *input, out *verdict) error {
		out.scores = append(out.scores, list...)
		return nil
	}
}

func rank(t *testing.T, rules *Rules, strategy string, pool []engine.Candidate) (out []float64, records []string, err error) {
	t.Helper()
	s := rules.Strategies[strategy]
	if s == nil {
		t.Fatalf("there is no strategy %s", strategy)
	}
	var trail engine.Trail
	out = make([]float64, len(pool))
	err = s.Keys[0].Key.(engine.PolicyKey).Rank(t.Context(), ask("k"), pool, out, &trail)
	for _, p := range trail.List() {
		text := p.Name + " " + p.Mode + " " + string(p.Outcome)
		if p.Differs {
			text += " differs"
		}
		records = append(records, strings.TrimSpace(text+" "+p.Detail))
	}
	return out, records, err
}

func TestScore(t *testing.T) {
	nan := math.NaN()
	books := shelf{digestOf(0): scores(2, nan, 1), digestOf(1): scores(1, nan, 2), digestOf(2): scores(20, nan, 10), digestOf(3): fails("trap")}
	s := lives(t, Ranking, []string{"r"}, Binding{ID: "1", Policy: "r", Tolerance: engine.Tolerance{RelativePPM: 50_000}})
	for n := 1; n < 4; n++ {
		var err error
		if s, err = s.Upload("r", Ranking, version(n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name    string
		op      step
		want    []float64
		records []string
		fault   string
	}{
		{"active", activate("r", digestOf(0), 1), []float64{2, nan, 1}, []string{"r  ranked"}, ""},
		{"shadow that differs", shadow("r", digestOf(1)), []float64{2, nan, 1}, []string{"r  ranked", "r shadow ranked differs"}, ""},
		{"shadow that agrees", shadow("r", digestOf(2)), []float64{2, nan, 1}, []string{"r  ranked", "r shadow ranked"}, ""},
		{"shadow that fails", shadow("r", digestOf(3)), []float64{2, nan, 1}, []string{"r  ranked", "r shadow policy_fallback trap"}, ""},
		{"canary", canary("r", digestOf(1), 999_999), []float64{1, nan, 2}, []string{"r canary ranked"}, ""},
		{"fault", activate("r", digestOf(3), 1), []float64{nan, nan, nan}, []string{"r  policy_fallback trap"}, "trap"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next, err := tc.op(s)
			if err != nil {
				t.Fatal(err)
			}
			rules, err := newRules(t.Context(), next, books, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, records, err := rank(t, rules, "policy:r", poolOf("a", "b", "c"))
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.records, records); diff != "" {
				t.Error(diff)
			}
			if text := ""; err != nil && err.Error() != tc.fault || err == nil && tc.fault != text {
				t.Errorf("got %v, want %q", err, tc.fault)
			}
			if got := rules.Strategies["policy:r"].Keys[0].Tolerance.RelativePPM; got != 50_000 {
				t.Errorf("tolerance %d", got)
			}
		})
	}
}

func TestRankingsOfLevels(t *testing.T) {
	books := shelf{digestOf(0): scores(1), digestOf(1): scores(2), digestOf(2): scores(3)}
	s := lives(t, Ranking, []string{"once", "twice", "named"},
		Binding{ID: "o", Policy: "once", Model: "m"}, Binding{ID: "k", Policy: "twice", Key: "k"}, Binding{ID: "all", Policy: "twice"})
	rules, err := newRules(t.Context(), s, books, nil, []string{"once", "twice", "named"})
	if err != nil {
		t.Fatal(err)
	}
	want := Rankings{
		Org: map[string]string{}, Team: map[string]string{}, Key: map[string]string{"k": "policy:twice#k"},
		Model: map[string]string{"m": "policy:once"}, All: "policy:twice#all",
	}
	if diff := cmp.Diff(want, rules.Rankings); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"policy:once", "policy:twice", "policy:twice#k", "policy:twice#all", "policy:named"} {
		if rules.Strategies[name] == nil {
			t.Errorf("there is no strategy %s", name)
		}
	}
	if _, ok := rules.Score("twice"); !ok {
		t.Error("a named ranking is no sort key")
	}
	_, err = newRules(t.Context(), lives(t, Admission, []string{"a"}), books, nil, []string{"a", "b"})
	if !errors.Is(err, ErrInvalid) || !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want both faults", err)
	}
	if _, err := newRules(t.Context(), s, shelf{}, nil, nil); err == nil || !strings.Contains(err.Error(), "it does not compile") {
		t.Errorf("got %v", err)
	}
}

// TestRulesHammer asks one set of rules from many goroutines.
func TestRulesHammer(t *testing.T) {
	books := shelf{digestOf(0): exclude("x", "b")}
	rules, err := newRules(t.Context(), lives(t, Admission, []string{"a"}, Binding{ID: "1", Policy: "a"}), books, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ranked, err := newRules(t.Context(), lives(t, Ranking, []string{"r"}, Binding{ID: "1", Policy: "r"}), shelf{digestOf(0): scores(3, 2, 1)}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 200 {
				pool := poolOf("a", "b", "c")
				var out engine.Refusals
				if err := rules.Checks[0].Refuse(t.Context(), ask("k"), pool, &out); err != nil || len(out.List()) != 1 || out.List()[0].Candidate != 1 {
					t.Errorf("got %v, %v", out.List(), err)
				}
				var trail engine.Trail
				got := make([]float64, 3)
				if err := ranked.Strategies["policy:r"].Keys[0].Key.(engine.PolicyKey).Rank(t.Context(), ask("k"), pool, got, &trail); err != nil || got[2] != 1 {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	running.Wait()
}
