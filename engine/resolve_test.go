package engine_test

import (
	"context"
	"testing"

	"gatewright/engine"
)

func TestResolve(t *testing.T) {
	w := newWorld(t,
		[]string{"m", "a/m", "b/m"},
		[]string{"llama3.1:70b", "a/llama", "b/llama"},
		[]string{"vendor.model-v2:0", "b/v2"},
		[]string{"org/name", "a/org-name"},
		[]string{"a/odd", "b/odd"}, // looks like provider/model and is a whole name
		[]string{"twin:b", "a/twin"},
		[]string{"twin", "b/twin"},
	)
	w.model("m").Aliases = []string{"em", "em:latest"}
	w.deployment("b/m").UpstreamModel = "m-2026"
	s := w.start(t)
	off := newWorld(t, []string{"m", "a/m", "b/m"})
	off.spec.Providers[1].Enabled = false
	sOff := off.start(t)

	cases := []struct {
		name, model string
		snapshot    *engine.Snapshot
		caller      engine.Caller
		want        string // model and deployments, or the code
		strategy    string
	}{
		{name: "a model", model: "m", want: "m"},
		{name: "an alias", model: "em", want: "m"},
		{name: "an alias with a colon", model: "em:latest", want: "m"},
		{name: "a model with a colon", model: "llama3.1:70b", want: "llama3.1:70b"},
		{name: "a model with a version suffix", model: "vendor.model-v2:0", want: "vendor.model-v2:0"},
		{name: "a model with a slash", model: "org/name", want: "org/name"},
		{name: "a whole name wins over provider/model", model: "a/odd", want: "a/odd"},
		{name: "a whole name wins over a suffix", model: "twin:b", want: "twin:b"},
		{name: "provider/model", model: "a/m", want: "m@a/m"},
		{name: "provider/alias", model: "a/em", want: "m@a/m"},
		{name: "provider/upstream name", model: "b/m-2026", want: "m@b/m"},
		{name: "provider/model with a slash", model: "a/org/name", want: "org/name@a/org-name"},
		{name: "provider/model with a colon", model: "b/vendor.model-v2:0", want: "vendor.model-v2:0@b/v2"},
		{name: "model:provider", model: "m:b", want: "m@b/m"},
		{name: "a colon name and a provider", model: "llama3.1:70b:b", want: "llama3.1:70b@b/llama"},
		{name: "model:@strategy", model: "m:@price", caller: engine.Caller{AllowRequestStrategy: true}, want: "m", strategy: "price"},
		{name: "a colon name and a strategy", model: "llama3.1:70b:@price", caller: engine.Caller{AllowRequestStrategy: true}, want: "llama3.1:70b", strategy: "price"},

		{name: "an unknown model", model: "x", want: engine.CodeModelNotFound},
		{name: "nothing", model: "", want: engine.CodeModelNotFound},
		{name: "an unknown suffix", model: "m:zzz", want: engine.CodeModelNotFound},
		{name: "an empty suffix", model: "m:", want: engine.CodeModelNotFound},
		{name: "a provider that does not serve it", model: "vendor.model-v2:0:a", want: engine.CodeModelNotFound},
		{name: "an unknown provider", model: "zzz/m", want: engine.CodeModelNotFound},
		{name: "a strategy without permission", model: "m:@price", want: engine.CodeStrategyOverrideNotAllowed},
		{name: "an unknown strategy without permission", model: "m:@zzz", want: engine.CodeStrategyOverrideNotAllowed},
		{name: "an unknown strategy", model: "m:@zzz", caller: engine.Caller{AllowRequestStrategy: true}, want: engine.CodeUnknownStrategy},
		{name: "strategy, then provider", model: "m:@price:b", caller: engine.Caller{AllowRequestStrategy: true}, want: engine.CodeConflictingSuffixes},
		{name: "provider, then strategy", model: "m:b:@price", caller: engine.Caller{AllowRequestStrategy: true}, want: engine.CodeConflictingSuffixes},
		{name: "a strategy on a locked name", model: "a/m:@price", caller: engine.Caller{AllowRequestStrategy: true}, want: engine.CodeConflictingSuffixes},
		{name: "a provider on a locked name", model: "a/m:b", want: engine.CodeConflictingSuffixes},
		{name: "two providers", model: "m:a:b", want: engine.CodeConflictingSuffixes},
		{name: "two strategies", model: "m:@price:@price", caller: engine.Caller{AllowRequestStrategy: true}, want: engine.CodeConflictingSuffixes},
		{name: "a disabled provider", model: "b/m", snapshot: sOff, want: engine.CodeProviderDisabled},
		{name: "a disabled provider as a suffix", model: "m:b", snapshot: sOff, want: engine.CodeProviderDisabled},
		{name: "a provider that the key may not use", model: "m:b", caller: engine.Caller{AllowedProviders: engine.NewSet([]string{"a"})}, want: engine.CodeProviderNotAllowed},
		{name: "the same in front", model: "b/m", caller: engine.Caller{AllowedProviders: engine.NewSet([]string{"a"})}, want: engine.CodeProviderNotAllowed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			snapshot := s
			if c.snapshot != nil {
				snapshot = c.snapshot
			}
			r := request(c.model)
			r.Caller = &c.caller
			d, err := w.engine.Plan(context.Background(), snapshot, r)
			got := code(err)
			if err == nil {
				got = d.Model
				if d.Resolved == "locked" {
					got += "@" + d.Order[0]
					if len(d.Order) != 1 {
						t.Errorf("locked order = %v, want one", d.Order)
					}
				}
			}
			if got != c.want {
				t.Fatalf("resolve(%q) = %s (%v), want %s", c.model, got, err, c.want)
			}
			if c.strategy != "" && (d.Strategy != c.strategy || d.SelectionSource != "request") {
				t.Errorf("strategy = %s from %s, want %s from request", d.Strategy, d.SelectionSource, c.strategy)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"m", "a/m", "m:a", "m:@price", "m:@price:a", ":::@@//", "a//m", "m:@", "llama3.1:70b:a"} {
		f.Add(s)
	}
	w := newWorldForFuzz()
	s, err := engine.NewSnapshot(w.spec, nil)
	if err != nil {
		f.Fatal(err)
	}
	e := engine.New(s, w, w, w, w)
	f.Fuzz(func(t *testing.T, model string) {
		d, err := e.Plan(context.Background(), s, request(model))
		if err == nil && (d.Model == "" || len(d.Order) == 0) {
			t.Errorf("%q: no error and no plan", model)
		}
		if err != nil && code(err) == "" {
			t.Errorf("%q: error %v has no code", model, err)
		}
	})
}

func newWorldForFuzz() *world {
	return newWorld(&testing.T{}, []string{"m", "a/m", "b/m"}, []string{"llama3.1:70b", "a/llama"})
}
