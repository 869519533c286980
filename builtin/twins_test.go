package builtin_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/builtin"
	"gatewright/engine"
)

// onlyKey returns the name of the one key that a case is about; "" if it is about
// several, or none.
func (r *rule) onlyKey(t *testing.T) string {
	t.Helper()
	if r.Check != "" || len(r.Combo) > 0 {
		return ""
	}
	s, err := r.strategy()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Keys) != 1 {
		return ""
	}
	return s.Keys[0].Key.Name()
}

// eachCase calls each for every case of a stage's files.
func eachCase(t *testing.T, stage string, each func(t *testing.T, a *archive, dir string, which *rule)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", stage, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases of %s: %v", stage, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := parseArchive(data)
		for _, dir := range a.cases() {
			var which rule
			section, _ := a.find(dir, "rule.json")
			if err := decode(section, &which); err != nil {
				t.Fatalf("%s: %s: %v", file, dir, err)
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+dir, func(t *testing.T) { each(t, a, dir, &which) })
		}
	}
}

// caseOf builds the world of a case, and says what the built-in rule must make of it.
func caseOf(t *testing.T, a *archive, dir string) (*world, result) {
	t.Helper()
	var (
		in   input
		more facts
		want result
	)
	if err := a.decode(dir, map[string]any{"input.json": &in, "facts.json": &more, "want.json": &want}); err != nil {
		t.Fatal(err)
	}
	w, err := load(&in, &more)
	if err != nil {
		t.Fatal(err)
	}
	return w, want
}

// The twins of the keys order what the keys order, and as they do.
func TestTwinsOrder(t *testing.T) {
	twins := twinStrategies(t)
	t.Run("cases", func(t *testing.T) { orderCases(t, twins) })
	t.Run("pools", func(t *testing.T) { orderPools(t, twins) })
}

// orderCases has the cases of the built-in keys decided by their twins: the same
// bands.
func orderCases(t *testing.T, twins map[string][]*engine.Strategy) {
	t.Helper()
	met := map[string]int{}
	eachCase(t, "ordering", func(t *testing.T, a *archive, dir string, which *rule) {
		t.Helper()
		key := which.onlyKey(t)
		for n, s := range twins[key] {
			w, want := caseOf(t, a, dir)
			w.checks = []engine.Check{markedCheck{w.candidates}}
			got, err := w.bands(s)
			if err != nil {
				t.Fatalf("%s: %v", forms[n], err)
			}
			if diff := cmp.Diff(want.Bands, got); diff != "" {
				t.Errorf("%s (-built-in +twin):\n%s", forms[n], diff)
			}
			p, err := w.planner(s)
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.plan(1)
			if err != nil {
				t.Fatal(err)
			}
			if err := decided(d, engine.OutcomeRanked); err != nil {
				t.Errorf("%s: %v", forms[n], err)
			}
			met[key]++
		}
	})
	for _, key := range twinKeys {
		if met[key] == 0 {
			t.Errorf("no case is about %s", key)
		}
	}
}

// rounds is how often a hundred pools are drawn: 2,000 in all.
func rounds() int {
	if testing.Short() {
		return 2
	}
	return 20
}

// orderPools draws pools: the built-in strategy of a key and both twins of the key
// plan the same.
func orderPools(t *testing.T, twins map[string][]*engine.Strategy) {
	t.Helper()
	strategies := map[string]*engine.Strategy{} // by key
	for name, s := range builtin.Strategies() {
		if len(s.Keys) != 1 || name == "latency-based-routing" { // which is latency once more
			continue
		}
		if key := s.Keys[0].Key.Name(); twins[key] != nil {
			strategies[key] = s
		}
	}
	if len(strategies) != len(twins) {
		t.Fatalf("%d strategies for the twins of %d keys", len(strategies), len(twins))
	}
	keys := slices.Sorted(maps.Keys(strategies))
	pools, ordered := 0, 0
	check := func(t *rapid.T) {
		pools++
		w, seed := anyWorld(t), rapid.Uint64().Draw(t, "seed")
		for _, key := range keys {
			want := mustPlan(t, w, strategies[key], seed)
			for n, s := range twins[key] {
				got := mustPlan(t, w, s, seed)
				if diff := cmp.Diff(want.Order, got.Order); diff != "" {
					t.Fatalf("%s in %s (-built-in +twin):\n%s\nvalues %s\nscores %s", key, forms[n], diff, valuesOf(want), valuesOf(got))
				}
				if len(got.Order) == 0 {
					continue
				}
				if err := decided(got, engine.OutcomeRanked); err != nil {
					t.Fatalf("%s in %s: %v", key, forms[n], err)
				}
				ordered++
			}
		}
	}
	for range rounds() {
		rapid.Check(t, check)
	}
	if ordered < pools*len(keys) { // of twice as many
		t.Errorf("only %d plans of %d pools had an order", ordered, pools)
	}
}

// valuesOf shows what each candidate was ordered by.
func valuesOf(d *engine.Decision) string {
	var b strings.Builder
	for _, c := range d.Candidates {
		fmt.Fprintf(&b, "%s %v ", c.Deployment, c.Values)
	}
	return b.String()
}

// twinParameters are those of any twin of a check.
type twinParameters struct {
	Most int64 `json:"max_cost_nusd,omitempty"`
}

// checkTwins makes twins of checks, each once.
type checkTwins struct {
	tb   testing.TB
	made map[madeTwin]engine.Check
}

type madeTwin struct {
	rule, form string
	parameters twinParameters
}

// of returns the twin of a check for a world: with the world's cap, if it looks at
// one.
func (c *checkTwins) of(w *world, rule, form string) engine.Check {
	k := madeTwin{rule: rule, form: form}
	if rule == "cost_cap" {
		k.parameters.Most = w.costCap()
	}
	if c.made[k] == nil {
		c.made[k] = twinCheck(c.tb, rule, form, k.parameters)
	}
	return c.made[k]
}

// The twins of the checks remove whom the checks remove.
func TestTwinsAdmit(t *testing.T) {
	twins := &checkTwins{tb: t, made: map[madeTwin]engine.Check{}}
	t.Run("cases", func(t *testing.T) { admitCases(t, twins) })
	t.Run("pools", func(t *testing.T) { admitPools(t, twins) })
	if len(twins.made) < len(twinChecks)*len(forms) {
		t.Errorf("only %d twins were asked", len(twins.made))
	}
}

// admitCases has the cases of the built-in checks decided by their twins: the same
// removals. A policy's reason has the policy's name.
func admitCases(t *testing.T, twins *checkTwins) {
	t.Helper()
	eachCase(t, "admission", func(t *testing.T, a *archive, dir string, which *rule) {
		t.Helper()
		if !slices.Contains(twinChecks, which.Check) {
			return
		}
		for _, form := range forms {
			w, want := caseOf(t, a, dir)
			got, err := w.removals(twins.of(w, which.Check, form))
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			for i := range *want.Removed {
				(*want.Removed)[i].Reason = engine.PolicyReason(nameOf(which.Check, form))
			}
			if diff := cmp.Diff(want, result{Removed: &got}); diff != "" {
				t.Errorf("%s (-built-in +twin):\n%s", form, diff)
			}
		}
	})
}

// admitPools draws pools: it makes no difference to the plan whether a built-in
// check or one of its twins stands among the other checks.
func admitPools(t *testing.T, twins *checkTwins) {
	t.Helper()
	balanced := builtin.Strategies()[engine.StrategyBalanced]
	removed := map[string]int{}
	check := func(t *rapid.T) {
		w, seed := anyWorld(t), rapid.Uint64().Draw(t, "seed")
		w.request.Endpoint = rapid.SampledFrom([]engine.Endpoint{engine.EndpointChat, engine.EndpointChat, engine.EndpointEmbeddings}).Draw(t, "endpoint")
		want := mustPlan(t, w, balanced, seed)
		for _, name := range twinChecks {
			for _, form := range forms {
				other := *w
				other.checks = slices.Clone(w.checks)
				i := slices.IndexFunc(other.checks, func(c engine.Check) bool { return c.Name() == name })
				other.checks[i] = twins.of(w, name, form)
				got := mustPlan(t, &other, balanced, seed)
				if diff := cmp.Diff(want.Order, got.Order); diff != "" {
					t.Fatalf("%s in %s (-built-in +twin):\n%s", name, form, diff)
				}
				if err := decided(got, engine.OutcomeAllowed, engine.OutcomeRemoved); err != nil {
					t.Fatalf("%s in %s: %v", name, form, err)
				}
				removed[name] += got.Policies[0].Removed
			}
		}
	}
	for range rounds() {
		rapid.Check(t, check)
	}
	for _, name := range twinChecks {
		if removed[name] == 0 {
			t.Errorf("%s removed nobody", name)
		}
	}
}

// costCap is the smallest cap of the caller and the request; 0 = none.
func (w *world) costCap() int64 {
	r := w.request
	if r.MaxCost == 0 || r.Caller.MaxCost == 0 {
		return max(r.MaxCost, r.Caller.MaxCost)
	}
	return min(r.MaxCost, r.Caller.MaxCost)
}

// removals plans with the check of a policy and lists whom it removed, in the
// order of the pool.
func (w *world) removals(check engine.Check) ([]removal, error) {
	w.checks = []engine.Check{markedCheck{w.candidates}, check}
	p, err := w.planner(builtin.Strategies()[engine.StrategyBalanced])
	if err != nil {
		return nil, err
	}
	d, err := p.plan(1)
	if err != nil {
		return nil, err
	}
	list := []removal{}
	for i := range d.Skipped {
		s := &d.Skipped[i]
		r := removal{ID: s.Deployment, Reason: s.Reason}
		if !s.Until.IsZero() {
			until := s.Until.UnixMilli()
			r.UntilUnixMS = &until
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b removal) int { return w.index(a.ID) - w.index(b.ID) })
	outcome := engine.OutcomeAllowed
	if len(list) > 0 {
		outcome = engine.OutcomeRemoved
	}
	return list, decided(d, outcome)
}
