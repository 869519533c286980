package builtin_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/builtin"
	"gatewright/engine"
)

func TestChecksRunInTheOrderOfTheirReasons(t *testing.T) {
	want := []engine.Reason{
		engine.ReasonDisabled, engine.ReasonZeroWeight, engine.ReasonModelNotAllowed, engine.ReasonProviderNotAllowed,
		engine.ReasonSupplyTier, engine.ReasonNoCredential, engine.ReasonProtocol, engine.ReasonCapability,
		engine.ReasonContextWindow, engine.ReasonLatencyCap, engine.ReasonCostCap, engine.ReasonCooldown, engine.ReasonQuotaExhausted,
	}
	var got []engine.Reason
	for _, c := range builtin.Checks() {
		got = append(got, engine.Reason(c.Name()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

func TestStrategiesAreListsOfKeys(t *testing.T) {
	want := map[string][]string{
		"balanced": nil, "traffic-split": nil, "simple-shuffle": nil, "random": nil,
		"price": {"price"}, "latency": {"latency"}, "throughput": {"throughput"}, "reliability": {"reliability"},
		"priority": {"priority", "listed"}, "quota-reset": {"quota_reset"}, "quota-aware": {"quota_left"},
		"last-known-good": {"last_good"}, "least-busy": {"in_flight"}, "latency-based-routing": {"latency"},
		"cost-based-routing": {"input_price"}, "usage-based-routing": {"usage"},
	}
	got := map[string][]string{}
	keys := builtin.SortKeys()
	for name, s := range builtin.Strategies() {
		got[name] = nil
		if s.Name != name {
			t.Errorf("strategy %q calls itself %q", name, s.Name)
		}
		for _, use := range s.Keys {
			got[name] = append(got[name], use.Key.Name())
			if diff := cmp.Diff(engine.Use(keys[use.Key.Name()]), use); diff != "" {
				t.Errorf("strategy %s (-want +got):\n%s", name, diff)
			}
		}
		if equal := name == "random" || name == "simple-shuffle"; s.EqualWeights != equal {
			t.Errorf("strategy %s: equal weights = %v, want %v", name, s.EqualWeights, equal)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("strategies (-want +got):\n%s", diff)
	}
}

// Two snapshots must be able to change their tables without seeing each other.
func TestTablesAreTheCallers(t *testing.T) {
	clear(builtin.SortKeys())
	builtin.Strategies()["price"].Keys[0].Tolerance.RelativePPM = 1
	if len(builtin.SortKeys()) == 0 || builtin.Strategies()["price"].Keys[0].Tolerance.RelativePPM == 1 {
		t.Error("a change of what was handed out changed the tables")
	}
}

// Every rule has a file of shared cases under its own name, and no file is left
// over from a rule that is gone.
func TestEveryRuleHasSharedCases(t *testing.T) {
	var checks []string
	for _, c := range builtin.Checks() {
		checks = append(checks, c.Name())
	}
	slices.Sort(checks)
	others := []string{"base_order", "combo_cheapest", "combo_everyday", "combo_sticky", "limits", "strategies"}
	keys := slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(builtin.SortKeys())), others...)))
	for stage, want := range map[string][]string{"admission": checks, "ordering": keys} {
		files, err := filepath.Glob(filepath.Join("..", "testdata", stage, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, strings.TrimSuffix(filepath.Base(f), ".txtar"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files of %s (-want +got):\n%s", stage, diff)
		}
	}
	data, err := os.ReadFile(filepath.Join("..", "testdata", "ordering", "strategies.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	a := parseArchive(data)
	for name := range builtin.Strategies() {
		if !slices.Contains(a.cases(), name) {
			t.Errorf("strategies.txtar has no case of %s", name)
		}
	}
}
