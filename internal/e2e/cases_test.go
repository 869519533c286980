package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const threeRest = `
models: {m: {deployments: [a, b, c]}}
timeouts: {first_token: 700ms, idle: 700ms, answer: 700ms}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 1, failure_threshold: 3, cooldown_seconds: 60}
  models:
    m: {providers: {a: {priority: 10}, b: {priority: 5}}}
`

// TestFailedOver lets the first upstream fail in ways that clients must not see:
// the next one answers, whole.
func TestFailedOver(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(strings.Replace(threeRest, "failure_threshold: 3", "failure_threshold: 0", 1))), t.TempDir())
	clients := newCaller(t, gw, 1)
	for _, c := range []struct {
		fault          string
		whole, streams bool
	}{
		{"http-401", true, true},
		{"http-403", true, true},
		{"http-404", true, true},
		{"http-307", true, true},
		{"{fault: error-200, code: 502}", true, true},
		{"{fault: error-200, code: 429}", true, true},
		{"choices-null", true, true},
		{"html", true, true},
		{"error-first", false, true},
		{"role-then-error", false, true},
		{"eof-after-role", false, true},
		{"stall-after-headers", true, true}, // at the first-token limit
		{"{fault: comments-only, delay: 50ms}", false, true},
	} {
		sim.behave("a", "always: "+c.fault)
		sim.behave("b", "answer: {text: this is b}")
		for _, stream := range []bool{false, true} {
			if stream && !c.streams || !stream && !c.whole {
				continue
			}
			t.Run(fmt.Sprintf("%s, stream %v", c.fault, stream), func(t *testing.T) {
				if calls := sim.during(func() {
					got := clients.chat(t.Context(), say("m", unique(), stream), nil)
					if !got.served() || got.done != stream || got.text != "this is b" || got.deployment != "b/m" {
						t.Errorf("the client got %v: %q", got, got.text)
					}
				}); calls != "a:1 b:1" {
					t.Errorf("calls = %s, want a and then b", calls)
				}
			})
		}
	}
}

// TestNobodyLeft says what failed last, in JSON, after one pass: with a lock on
// one provider, and with everybody down.
func TestNobodyLeft(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(strings.Replace(threeRest, "failure_threshold: 3", "failure_threshold: 0", 1))), t.TempDir())
	for _, c := range []struct {
		model, fault, want, calls string
	}{
		{"m", "{fault: http-503, code: overloaded_for_now}", "503 overloaded_for_now", "a:1 b:1 c:1"},
		{"a/m", "http-500", "500 upstream_error", "a:1"},
		{"a/m", "http-401", "502 upstream_auth", "a:1"},
		{"a/m", "http-403", "502 upstream_auth", "a:1"},
		{"a/m", "http-402", "502 upstream_billing", "a:1"},
		{"a/m", "model-not-found", "502 upstream_model_not_found", "a:1"},
		{"a/m", "{fault: error-200, code: 502}", "502 upstream_error", "a:1"},
		{"a/m", "{fault: error-200, code: 429}", "429 rate_limit_exceeded", "a:1"},
		{"a/m", "html", "502 upstream_error", "a:1"},
		{"a/m", "silent", "504 upstream_timeout", "a:1"},
		{"m", "context-length", "400 context_length_exceeded", "a:1"},
	} {
		t.Run(c.model+" "+c.fault, func(t *testing.T) {
			for _, name := range sim.names {
				sim.behave(name, "always: "+c.fault)
			}
			if calls := sim.during(func() {
				if got := askBody(t, gw, say(c.model, unique(), false)); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			}); calls != c.calls {
				t.Errorf("calls = %s, want %s", calls, c.calls)
			}
		})
	}
}

// TestCutAfterContent breaks a stream in its middle: the client has what came
// and is told, nothing is sent again, and it is a failure of the upstream.
func TestCutAfterContent(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"reset-mid-body", "eof-after-content", "content-then-error", "stall"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			sim := simulate(t)
			gw := gateway(t, write(t, "g.yaml", sim.config(threeRest)), t.TempDir())
			clients := newCaller(t, gw, 1)
			sim.behave("a", fmt.Sprintf("{answer: {tokens: 40, echo: true}, always: {fault: %s, after: 20}}", fault))
			for range 3 {
				text := unique() + strings.Repeat(" word", 40)
				if calls := sim.during(func() {
					got := clients.chat(t.Context(), say("m", text, true), nil)
					if got.status != 200 || got.chunks != 20 || !strings.HasPrefix(text, got.text) || got.code == "" || got.done || got.finish != "" || got.broken != nil {
						t.Errorf("the client got %v: %q", got, got.text)
					}
				}); calls != "a:1" {
					t.Errorf("calls = %s, want a alone", calls)
				}
			}
			entry := gw.waitCount("request", 3, 10*time.Second)
			if result, _ := entry["result"].(map[string]any); result["upstream_truncated"] != true {
				t.Errorf("the log says %v", entry)
			}
			// Three failures in a row: the circuit is open.
			if calls := sim.during(func() { _ = ask(t, gw) }); calls != "b:1" {
				t.Errorf("calls afterwards = %s, want b alone", calls)
			}
		})
	}
}

// TestClientErrors returns the caller's own mistakes at once and holds nothing
// against the upstream.
func TestClientErrors(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(threeRest)), t.TempDir())
	sim.behave("a", `always: {fault: http-400, code: bad_thing}`)
	if calls := sim.during(func() {
		for range 100 {
			if got := ask(t, gw); got != "400 bad_thing" {
				t.Errorf("%s, want the upstream's 400", got)
			}
		}
	}); calls != "a:100" {
		t.Errorf("calls = %s, want a alone", calls)
	}
	sim.behave("a", "{}")
	if got := ask(t, gw); got != "a/m" {
		t.Errorf("afterwards served by %s, want a", got)
	}
}

// TestTiers tries everyone in the highest tier, in either order, before the next.
func TestTiers(t *testing.T) {
	sim := simulate(t)
	rest := strings.Replace(strings.Replace(threeRest, "b: {priority: 5}", "b: {priority: 10}", 1), "failure_threshold: 3", "failure_threshold: 0", 1)
	gw := gateway(t, write(t, "g.yaml", sim.config(rest)), t.TempDir())
	sim.behave("a", "always: http-500")
	sim.behave("b", "always: http-500")
	for range 20 {
		if calls := sim.during(func() {
			if got := ask(t, gw); got != "c/m" {
				t.Errorf("served by %s, want c", got)
			}
		}); calls != "a:1 b:1 c:1" {
			t.Errorf("calls = %s, want each once", calls)
		}
	}
}

// TestWeightZero gives no ordinary request to a deployment of weight 0; a request
// that names its provider reaches it, unless it is disabled.
func TestWeightZero(t *testing.T) {
	sim := simulate(t)
	const rest = "models: {m: {deployments: [a, b]}}\nrouter: {models: {m: {providers: {a: {weight: 0}, b: {weight: 1}}}}}\n"
	path := write(t, "g.yaml", sim.config(rest))
	gw := gateway(t, path, t.TempDir())
	n := either(int64(2000), 100_000)
	if calls := sim.during(func() { load(t, gw, n, 8) }); calls != fmt.Sprintf("b:%d", n) {
		t.Errorf("calls = %s, want b alone", calls)
	}
	for _, name := range []string{"a/m", "m:a"} {
		if got := askBody(t, gw, say(name, "to a", false)); got != "a/m" {
			t.Errorf("%s: served by %s, want a", name, got)
		}
	}
	reload(t, gw, path, strings.Replace(sim.config(rest), "/a/v1\", auth: none", "/a/v1\", auth: none, enabled: false", 1))
	for _, name := range []string{"a/m", "m:a"} {
		if got := askBody(t, gw, say(name, "to a", false)); got != "400 provider_disabled" {
			t.Errorf("%s with a disabled: %s", name, got)
		}
	}
}
