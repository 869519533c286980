package engine_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// fallbackWorld has m served by a and b, its fallbacks n then o, n's own
// fallback p, and a longer model for the context chain.
func fallbackWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, []string{"m", "a/m", "b/m"}, []string{"n", "a/n"}, []string{"o", "b/o"}, []string{"p", "a/p"}, []string{"long", "a/long"})
	w.deployment("a/m").Priority = 1
	w.model("m").Route.Chains[engine.ChainGeneral] = []string{"n", "o"}
	w.model("n").Route.Chains[engine.ChainGeneral] = []string{"p"}
	w.model("m").Route.Chains[engine.ChainContext] = []string{"long"}
	return w
}

func TestFallbacks(t *testing.T) {
	fail := func(w *world, class engine.FailureClass, ids ...string) {
		for _, id := range ids {
			w.fails[id] = class
		}
	}
	cool := func(w *world, seconds int, ids ...string) {
		for _, id := range ids {
			w.signals[id] = engine.Signals{CooldownUntil: now.Add(time.Duration(seconds) * time.Second)}
		}
	}
	open := func(w *world, seconds int, ids ...string) {
		for _, id := range ids {
			w.signals[id] = engine.Signals{Circuit: engine.CircuitOpen, CircuitUntil: now.Add(time.Duration(seconds) * time.Second)}
		}
	}
	cases := []struct {
		name    string
		set     func(w *world, r *engine.Request)
		calls   []string
		path    []string
		code    string
		retry   time.Duration
		skipped int
	}{
		{name: "the pool serves", calls: []string{"a/m"}},
		{
			name:  "a used-up pool leads to its chain, a fallback's own chain first",
			set:   func(w *world, _ *engine.Request) { fail(w, engine.ClassServer, "a/m", "b/m", "a/n", "a/p") },
			calls: []string{"a/m", "b/m", "a/n", "a/p", "b/o"}, path: []string{"n", "p", "o"},
		},
		{
			name:  "each target once, then the last error",
			set:   func(w *world, _ *engine.Request) { fail(w, engine.ClassServer, "a/m", "b/m", "a/n", "a/p", "b/o") },
			calls: []string{"a/m", "b/m", "a/n", "a/p", "b/o"}, path: []string{"n", "p", "o"}, code: "server",
		},
		{
			name:  "a client error stops at once",
			set:   func(w *world, _ *engine.Request) { fail(w, engine.ClassClient, "a/m") },
			calls: []string{"a/m"}, code: "client",
		},
		{
			name:  "too long for one leads to the context chain only",
			set:   func(w *world, _ *engine.Request) { fail(w, engine.ClassContext, "a/m") },
			calls: []string{"a/m", "a/long"}, path: []string{"long"},
		},
		{
			name: "a fallback that finds it too long does not go on along the general chain",
			set: func(w *world, _ *engine.Request) {
				fail(w, engine.ClassServer, "a/m", "b/m")
				fail(w, engine.ClassContext, "a/n")
			},
			calls: []string{"a/m", "b/m", "a/n"}, path: []string{"n"}, code: "context_window",
		},
		{
			name: "a content refusal of a fallback ends there too",
			set: func(w *world, _ *engine.Request) {
				fail(w, engine.ClassServer, "a/m", "b/m")
				fail(w, engine.ClassContent, "a/n")
			},
			calls: []string{"a/m", "b/m", "a/n"}, path: []string{"n"}, code: "content_policy",
		},
		{
			name: "all cooling: the chain serves, the source is not called",
			set:  func(w *world, _ *engine.Request) { cool(w, 30, "a/m", "b/m") }, calls: []string{"a/n"}, path: []string{"n"}, skipped: 2,
		},
		{
			name: "all open: the chain serves, the source is not called",
			set:  func(w *world, _ *engine.Request) { open(w, 30, "a/m", "b/m") }, calls: []string{"a/n"}, path: []string{"n"}, skipped: 2,
		},
		{
			name: "a cooling fallback leads on through its own chain",
			set:  func(w *world, _ *engine.Request) { cool(w, 30, "a/m", "b/m", "a/n") }, calls: []string{"a/p"}, path: []string{"n", "p"}, skipped: 3,
		},
		{
			name: "all cooling without fallbacks",
			set: func(w *world, r *engine.Request) {
				cool(w, 30, "a/m")
				cool(w, 12, "b/m")
				r.DisableFallbacks = true
			},
			code: engine.CodeAllCandidatesCooling, retry: 12 * time.Second, skipped: 2,
		},
		{
			name:    "everything cooling: the earliest end over source and chain",
			set:     func(w *world, _ *engine.Request) { cool(w, 30, "a/m", "b/m", "a/n", "a/p"); cool(w, 7, "b/o") },
			path:    []string{"n", "p", "o"},
			code:    engine.CodeAllCandidatesCooling,
			retry:   7 * time.Second,
			skipped: 5,
		},
		{
			name: "all open without fallbacks",
			set: func(w *world, r *engine.Request) {
				open(w, 40, "a/m")
				open(w, 25, "b/m")
				r.DisableFallbacks = true
			},
			code: engine.CodeAllCircuitsOpen, retry: 25 * time.Second, skipped: 2,
		},
		{
			name: "quota holds all",
			set: func(w *world, r *engine.Request) {
				for _, id := range []string{"a/m", "b/m"} {
					w.signals[id] = engine.Signals{Quota: &engine.Quota{TakenAt: now, Windows: []engine.QuotaWindow{{ResetsAt: now.Add(time.Hour)}}}}
				}
				r.DisableFallbacks = true
			},
			code: engine.CodeAllQuotaExhausted, retry: time.Hour, skipped: 2,
		},
		{
			name: "a cooldown that ends now still says one second",
			set: func(w *world, r *engine.Request) {
				w.signals["a/m"] = engine.Signals{CooldownUntil: now.Add(time.Millisecond)}
				cool(w, 30, "b/m")
				r.DisableFallbacks = true
			},
			code: engine.CodeAllCandidatesCooling, retry: time.Second, skipped: 2,
		},
		{
			name: "lasting reasons lead to no fallback",
			set: func(w *world, _ *engine.Request) {
				w.deployment("a/m").Enabled = false
				w.deployment("b/m").Enabled = false
			},
			code:    engine.CodeNoEligibleCandidate,
			skipped: 2,
		},
		{
			name: "too long here leads to the context chain",
			set: func(w *world, r *engine.Request) {
				r.InputTokens = 100
				w.deployment("a/m").Context, w.deployment("b/m").Context = 10, 10
			},
			calls: []string{"a/long"}, path: []string{"long"}, skipped: 2,
		},
		{
			name: "too long here, no chain",
			set: func(w *world, r *engine.Request) {
				r.InputTokens = 100
				w.deployment("a/m").Context, w.deployment("b/m").Context = 10, 10
				r.DisableFallbacks = true
			},
			code: engine.CodeContextLengthExceeded, skipped: 2,
		},
		{
			name:    "a model that the key may not use",
			set:     func(_ *world, r *engine.Request) { r.Caller.AllowedModels = engine.NewSet([]string{"n"}) },
			code:    engine.CodeModelNotAllowed,
			skipped: 2,
		},
		{
			name: "a fallback that the key may not use is passed over",
			set: func(w *world, r *engine.Request) {
				fail(w, engine.ClassServer, "a/m", "b/m")
				r.Caller.AllowedModels = engine.NewSet([]string{"m", "o"})
			},
			calls: []string{"a/m", "b/m", "b/o"}, path: []string{"n", "o"}, skipped: 1,
		},
		{
			name: "a locked name has no fallback",
			set: func(w *world, r *engine.Request) {
				r.Model = "a/m"
				fail(w, engine.ClassServer, "a/m")
			},
			calls: []string{"a/m"}, code: "server",
		},
		{
			name: "the owner alone may serve, whatever its circuit says",
			set: func(w *world, r *engine.Request) {
				r.Owner = "b/m"
				open(w, 30, "b/m")
				fail(w, engine.ClassServer, "b/m")
			},
			calls: []string{"b/m"}, code: "server",
		},
		{
			name: "an owner that is cooling",
			set:  func(w *world, r *engine.Request) { r.Owner = "b/m"; cool(w, 9, "b/m") },
			code: engine.CodeAllCandidatesCooling, retry: 9 * time.Second, skipped: 1,
		},
		{
			name: "an owner that is off",
			set:  func(w *world, r *engine.Request) { r.Owner = "b/m"; w.deployment("b/m").Enabled = false },
			code: engine.CodeNoEligibleCandidate, skipped: 1,
		},
		{
			name: "another model at the owner's account",
			set: func(w *world, r *engine.Request) {
				r.Owner = "b/o"
				fail(w, engine.ClassServer, "b/m")
			},
			calls: []string{"b/m"}, code: "server",
		},
		{
			name: "another model that the owner's account does not serve",
			set:  func(_ *world, r *engine.Request) { r.Model, r.Owner = "o", "a/m" },
			code: engine.CodeNoEligibleCandidate,
		},
		{
			name: "an owner at another provider than the one asked for",
			set:  func(_ *world, r *engine.Request) { r.Model, r.Owner = "a/m", "b/m" },
			code: engine.CodeNoEligibleCandidate,
		},
		{
			name: "an owner that is not configured any more",
			set:  func(_ *world, r *engine.Request) { r.Owner = "gone/m" },
			code: engine.CodeNoEligibleCandidate,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, r := fallbackWorld(t), request("m")
			if c.set != nil {
				c.set(w, r)
			}
			d, err := w.serve(w.start(t), r)
			if got := code(err); got != c.code {
				t.Errorf("code = %q (%v), want %q", got, err, c.code)
			}
			if diff := cmp.Diff(c.calls, w.called); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.path, d.FallbackPath); diff != "" {
				t.Errorf("fallback path (-want +got):\n%s", diff)
			}
			if len(d.Skipped) != c.skipped {
				t.Errorf("skipped = %+v, want %d", d.Skipped, c.skipped)
			}
			if refused, ok := errors.AsType[*engine.RefusedError](err); ok && refused.RetryAfter != c.retry {
				t.Errorf("retry after = %v, want %v", refused.RetryAfter, c.retry)
			}
		})
	}
}

func TestAffinity(t *testing.T) {
	w := fallbackWorld(t)
	s := w.start(t)
	serve := func(want string) {
		t.Helper()
		d, err := w.serve(s, withSession(request("m"), 1))
		if err != nil || d.Result.Deployment != want {
			t.Fatalf("served by %q (%v), want %q", d.Result.Deployment, err, want)
		}
	}
	serve("a/m")
	w.fails["a/m"] = engine.ClassServer
	serve("b/m") // failed over, and remembered
	delete(w.fails, "a/m")
	serve("b/m") // across tiers
	w.signals["b/m"] = engine.Signals{Circuit: engine.CircuitOpen, CircuitUntil: now.Add(time.Minute)}
	serve("a/m")
	delete(w.signals, "b/m")
	serve("a/m")
	// Through a fallback, and back to it next time, at the first call.
	w.fails["a/m"], w.fails["b/m"] = engine.ClassServer, engine.ClassServer
	serve("a/n")
	serve("a/n")
	if diff := cmp.Diff([]string{"a/n"}, w.called); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	// The target fails: the model asked for is tried, then the rest of the chain.
	w.fails["a/n"] = engine.ClassServer
	serve("a/p")
	if diff := cmp.Diff([]string{"a/n", "a/m", "b/m", "a/p"}, w.called); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	// disable_fallbacks forbids cross-model affinity too.
	clear(w.fails)
	r := withSession(request("m"), 1)
	r.DisableFallbacks = true
	if d, err := w.serve(s, r); err != nil || d.Result.Deployment != "a/m" {
		t.Fatalf("served by %q (%v), want a/m", d.Result.Deployment, err)
	}
	// A failure writes nothing.
	w.fails["a/m"], w.fails["b/m"], w.fails["a/n"], w.fails["b/o"], w.fails["a/p"] = engine.ClassServer, engine.ClassServer, engine.ClassServer, engine.ClassServer, engine.ClassServer
	before := len(w.affinity)
	if _, err := w.serve(s, withSession(request("m"), 2)); err == nil {
		t.Fatal("served while everything fails")
	}
	if len(w.affinity) != before {
		t.Error("a failure was remembered")
	}
}

func TestAffinityOff(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m"})
	w.deployment("a/m").Priority = 1
	w.spec.AffinityOn = false
	s := w.start(t)
	w.affinity[engine.AffinityKey{Session: [16]byte{1}, Family: "generate", Model: "m"}] = engine.Target{Deployment: "b/m"}
	if d, err := w.serve(s, withSession(request("m"), 1)); err != nil || d.Result.Deployment != "a/m" {
		t.Fatalf("served by %q (%v), want a/m", d.Result.Deployment, err)
	}
}

func TestOpenCircuitIsTheLastResort(t *testing.T) {
	w := newWorld(t, []string{"m", "a/m", "b/m", "c/m"})
	w.deployment("a/m").Priority = 1
	w.signals["a/m"] = engine.Signals{Circuit: engine.CircuitHalfOpen, ProbeTaken: true}
	d, err := w.serve(w.start(t), request("m"))
	if err != nil {
		t.Fatal(err)
	}
	if last := d.Order[2]; last != "a/m" {
		t.Errorf("order = %v, want a/m last", d.Order)
	}
	w.signals["a/m"] = engine.Signals{Circuit: engine.CircuitHalfOpen}
	if d, err = w.serve(w.start(t), request("m")); err != nil || d.Order[0] != "a/m" {
		t.Errorf("order = %v (%v), want the one that may be probed at its place", d.Order, err)
	}
}

func TestPlanNamesTheModelAsItWasAskedFor(t *testing.T) {
	for asked, want := range map[string]string{"m": "m", "em": "em", "a/em": "em", "em:a": "em", "a/upstream": "m", "em:@price": "em"} {
		w := fallbackWorld(t)
		w.model("m").Aliases = []string{"em"}
		w.deployment("a/m").UpstreamModel = "upstream"
		if d, err := w.serve(w.start(t), request(asked)); err != nil || d.Result.Model != want {
			t.Errorf("asked for %q, named %q (%v), want %q", asked, d.Result.Model, err, want)
		}
	}
	w := fallbackWorld(t)
	w.model("m").Aliases = []string{"em"}
	w.fails["a/m"], w.fails["b/m"] = engine.ClassServer, engine.ClassServer
	if d, err := w.serve(w.start(t), request("em")); err != nil || d.Result.Model != "n" {
		t.Errorf("after a fallback named %q (%v), want n", d.Result.Model, err)
	}
}

// TestTheOwnerAloneContinues: where the owner serves the model, nobody of its
// account stands for it.
func TestTheOwnerAloneContinues(t *testing.T) {
	w := newWorld(t, []string{"m", "b/m", "b/m-2", "a/m"}, []string{"n", "b/n", "a/n"})
	for model, want := range map[string][]string{"m": {"b/m-2"}, "n": {"b/n"}} {
		r := request(model)
		r.Owner = "b/m-2"
		d, err := w.serve(w.start(t), r)
		if err != nil || !slices.Equal(d.Order, want) || d.Attempts[0].SelectionSource != "owner" {
			t.Errorf("%s: order %v, attempts %+v: %v", model, d.Order, d.Attempts, err)
		}
	}
}
