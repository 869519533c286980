package builtin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatewright/builtin"
	"gatewright/engine"
	"gatewright/policies"
)

// twinsFolder holds the built-in rules that can be said as policies, each as Rego
// and as a module.
var twinsFolder = filepath.Join("..", "testdata", "twins")

// forms are what a twin is written in, by the ending of its file.
var forms = []string{"rego", "wasm"}

// The rules that have twins. Of the other keys the contract has no field (usage,
// last_good while affinity is off), or they are about the base order (priority,
// affinity, listed), which a policy's score stands behind.
var (
	twinKeys = []string{
		"price", "input_price", "latency", "throughput", "reliability", "in_flight", "quota_left", "quota_reset",
	}
	twinChecks = []string{"context_window", "cost_cap"}
)

// twinRoom is a library with every twin in it, bound as a user would bind it.
type twinRoom struct {
	tb      testing.TB
	library *policies.Library
	state   *policies.State
	bodies  map[string][]byte // by digest
}

// Source implements policies.Sources.
func (r *twinRoom) Source(digest string) ([]byte, error) {
	body, ok := r.bodies[digest]
	if !ok {
		return nil, fmt.Errorf("source %s: %w", digest, policies.ErrNotFound)
	}
	return body, nil
}

func newTwinRoom(tb testing.TB) *twinRoom {
	tb.Helper()
	r := &twinRoom{tb: tb, bodies: map[string][]byte{}}
	var err error
	if r.state, err = policies.NewState(nil, nil); err != nil {
		tb.Fatal(err)
	}
	if r.library, err = policies.NewLibrary(policies.Options{Logger: slog.New(slog.DiscardHandler), Sources: r}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.library.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// nameOf is the name that the twin of a rule is uploaded under.
func nameOf(rule, form string) string { return rule + "-" + form }

// bind uploads a twin, activates it and binds it with what b says further.
func (r *twinRoom) bind(rule, form string, b policies.Binding) {
	r.tb.Helper()
	name := nameOf(rule, form)
	body, err := os.ReadFile(filepath.Join(twinsFolder, rule+"."+form))
	if err != nil {
		r.tb.Fatal(err)
	}
	j, err := r.library.Judge(r.tb.Context(), &policies.Upload{Name: name, Body: body})
	if err != nil {
		r.tb.Fatal(err)
	}
	version := &j.Version
	r.bodies[version.Digest] = body
	next, err := r.state.Upload(name, j.Kind, version)
	if err == nil {
		next, err = next.Activate(name, version.Digest, caseNow)
	}
	if err == nil {
		b.ID, b.Policy = name, name
		next, err = next.Bind(&b)
	}
	if err != nil {
		r.tb.Fatal(err)
	}
	r.state = next
}

func (r *twinRoom) rules() *policies.Rules {
	r.tb.Helper()
	rules, err := r.library.Rules(r.tb.Context(), r.state, nil, nil)
	if err != nil {
		r.tb.Fatal(err)
	}
	r.tb.Cleanup(rules.Close)
	return rules
}

// twinStrategies are the strategies of the twins of all keys: by key, and in the
// order of forms. Each has the tolerance that the built-in key has.
func twinStrategies(tb testing.TB) map[string][]*engine.Strategy {
	tb.Helper()
	r := newTwinRoom(tb)
	keys := builtin.SortKeys()
	for _, key := range twinKeys {
		for _, form := range forms {
			r.bind(key, form, policies.Binding{Key: nameOf(key, form), Tolerance: keys[key].Spec().Tolerance})
		}
	}
	rules := r.rules()
	all := map[string][]*engine.Strategy{}
	for _, key := range twinKeys {
		for _, form := range forms {
			s := rules.Strategies[policies.StrategyPrefix+nameOf(key, form)]
			if s == nil {
				tb.Fatalf("there is no strategy of the twin of %s in %s", key, form)
			}
			all[key] = append(all[key], s)
		}
	}
	return all
}

// twinCheck is the check of one twin, with parameters.
func twinCheck(tb testing.TB, rule, form string, parameters any) engine.Check {
	tb.Helper()
	text, err := json.Marshal(parameters)
	if err != nil {
		tb.Fatal(err)
	}
	r := newTwinRoom(tb)
	r.bind(rule, form, policies.Binding{Parameters: text})
	rules := r.rules()
	if len(rules.Checks) != 1 {
		tb.Fatalf("%d checks, want one", len(rules.Checks))
	}
	return rules.Checks[0]
}

// decided reports what is wrong with a decision that policies took part in: one
// that failed, or that was not asked.
func decided(d *engine.Decision, outcomes ...engine.Outcome) error {
	if len(d.Faults) > 0 || d.LawMended {
		return fmt.Errorf("faults %v, mended %v", d.Faults, d.LawMended)
	}
	if len(d.Policies) != 1 || !slices.Contains(outcomes, d.Policies[0].Outcome) {
		return fmt.Errorf("the policy: %+v, want one of %v", d.Policies, outcomes)
	}
	return nil
}

// The modules in the repository were made of the sources in the repository.
func TestTwinsAreBuiltOfTheirSources(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join(twinsFolder, "sources.sums"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range bytes.Lines(sums) {
		want, name, _ := strings.Cut(strings.TrimSpace(string(line)), "  ")
		source, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		lines++
		if sum := sha256.Sum256(source); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has changed: run testdata/twins/build.sh", name)
		}
	}
	if want := len(twinKeys) + len(twinChecks) + 1; lines != want {
		t.Errorf("the modules are made of %d files, want %d", lines, want)
	}
}

// A twin that nothing asks would prove nothing.
func TestEveryTwinIsAsked(t *testing.T) {
	var want []string
	for _, rule := range slices.Concat(twinKeys, twinChecks) {
		for _, form := range forms {
			want = append(want, rule+"."+form)
		}
	}
	var got []string
	for _, form := range forms {
		files, err := filepath.Glob(filepath.Join(twinsFolder, "*."+form))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			got = append(got, filepath.Base(f))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the twins are %v, asked are %v", got, want)
	}
}
