package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
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
		Result: engine.Result{Usage: engine.Usage{Known: true}, Cost: 12_345},
	}
	got := tell(d)
	want := "demo → a/demo failed (server, status 500) → b/demo answered in 120ms (it served this conversation before) | strategy balanced (from default), " +
		"order a/demo, b/demo; c/demo left out: cooldown | $0.000012"
	if !strings.HasSuffix(got, want) {
		t.Errorf("told %q, want … %q", got, want)
	}
}

// The demo's own configuration must always load.
func TestDemoConfiguration(t *testing.T) {
	path, err := demoFile("", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, problems := loadDemo(path, "http://127.0.0.1:1")
	if file == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(file.Models) != 3 {
		t.Errorf("%d models, want 3", len(file.Models))
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
