package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/app"
	"gatewright/internal/provider/fake"
)

func TestStory(t *testing.T) {
	d := &engine.Decision{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Request: &engine.Request{Model: "demo"},
		Strategy: "balanced", SelectionSource: "default", Order: []string{"a/demo", "b/demo"},
		Skipped: []engine.Skipped{{Deployment: "c/demo", Reason: engine.ReasonCooldown}},
		Attempts: []engine.Attempt{
			{Deployment: "a/demo", Class: engine.ClassServer, Status: 500},
			{Deployment: "b/demo", Duration: 120 * time.Millisecond, Status: 200, SelectionSource: "affinity"},
		},
		Policies: []engine.PolicyRecord{
			{Name: "residency", Stage: engine.StageAdmission, Outcome: engine.OutcomeRemoved, Removed: 2, Micros: 17},
			{Name: "value", Stage: engine.StageOrdering, Outcome: engine.OutcomeRanked, Micros: 3},
		},
		Result: engine.Result{Usage: engine.Usage{Known: true}, Cost: 12_345},
	}
	got := tell(d)
	want := "demo → a/demo failed (server, status 500) → b/demo answered in 120ms (it served this conversation before) | strategy balanced (from default), " +
		"order a/demo, b/demo; c/demo left out: cooldown | policy residency removed 2 in 17 µs, policy value ranked in 3 µs | $0.000012"
	if !strings.HasSuffix(got, want) {
		t.Errorf("told %q, want … %q", got, want)
	}
}

func TestWhatAPolicyDid(t *testing.T) {
	for _, tt := range []struct {
		record engine.PolicyRecord
		want   string
	}{
		{engine.PolicyRecord{Name: "p", Outcome: engine.OutcomeAllowed}, "policy p allowed it in 0 µs"},
		{engine.PolicyRecord{Name: "p", Outcome: engine.OutcomeRefused, Detail: "late", Micros: 5}, "policy p refused it: late in 5 µs"},
		{engine.PolicyRecord{Name: "p", Outcome: engine.OutcomeRanked, Mode: engine.ModeCanary}, "policy p (canary) ranked in 0 µs"},
		{
			engine.PolicyRecord{Name: "p", Outcome: engine.OutcomeAllowed, Mode: engine.ModeShadow, Differs: true},
			"policy p (shadow) allowed it, and would have decided otherwise in 0 µs",
		},
		{engine.PolicyRecord{Name: "p", Outcome: engine.OutcomeFallback, Detail: "over budget"}, "policy p could not decide (policy_fallback): over budget in 0 µs"},
		{engine.PolicyRecord{Name: "p", Outcome: engine.OutcomeClosed, Detail: "a trap"}, "policy p could not decide (fail_closed): a trap in 0 µs"},
	} {
		if got := did(&tt.record); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// The demo's module is the one that the SDK's example builds.
func TestDemoModule(t *testing.T) {
	demo, err := demoFiles.ReadFile("demo/value.wasm")
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile("../../testdata/wasm/sdk/c-ranking.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(demo, built) {
		t.Error("demo/value.wasm is another module than testdata/wasm/sdk/c-ranking.wasm; copy that over it")
	}
}

// The demo's own configuration must always load, and its policies compile.
func TestDemoConfiguration(t *testing.T) {
	path, err := demoFile("", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, problems := loadDemo(path, "http://127.0.0.1:1")
	if file == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(file.Models) != 4 {
		t.Errorf("%d models, want 4", len(file.Models))
	}
	if err := app.Check(t.Context(), file); err != nil {
		t.Error(err)
	}
	script, err := fake.Parse("demo", fake.Demo())
	if err != nil {
		t.Fatal(err)
	}
	for i := range file.Models {
		for _, d := range file.Models[i].Deployments {
			if serves := script.Upstreams[d.Provider].Models; !slices.Contains(serves, d.UpstreamModel) {
				t.Errorf("%s is asked for %q and serves %v", d.ID, d.UpstreamModel, serves)
			}
		}
	}
}
