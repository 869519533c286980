package e2e

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const twoRest = `
models:
  m: {deployments: [a, b]}
  other: {deployments: [a, b]}
router: {selection: priority, retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 3, cooldown_seconds: 60}}
`

// TestRateLimitUnderLoad lets the first upstream say 429 with a time: of many
// requests only those that were on their way reach it, and no client sees it.
func TestRateLimitUnderLoad(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(twoRest)), t.TempDir())
	sim.behave("a", `always: {fault: http-429, retry_after: "30"}`)
	const total, parallel = 400, 4
	clients := newCaller(t, gw, parallel)
	var left atomic.Int64
	left.Store(total)
	var workers sync.WaitGroup
	began := time.Now()
	for worker := range parallel {
		workers.Go(func() {
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if got := clients.chat(t.Context(), say("m", fmt.Sprint("question ", n), worker%2 == 0), nil); !got.served() || got.deployment != "b/m" {
					t.Errorf("a client got %v", got)
				}
			}
		})
	}
	workers.Wait()
	calls := sim.calls()
	t.Logf("%d requests, %d at a time, in %s: %d calls to the upstream that says 429, %d to the next", total, parallel, time.Since(began), calls["a"], calls["b"])
	if calls["a"] < 1 || calls["a"] > parallel || calls["b"] != total {
		t.Errorf("calls = %v, want at most %d of a and %d of b", calls, parallel, total)
	}
}

// TestAllCooling answers at once, with the earliest end, when everybody asked to
// be left alone.
func TestAllCooling(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(twoRest)), t.TempDir())
	sim.behave("a", `always: {fault: http-429, retry_after: "30"}`)
	sim.behave("b", `always: {fault: http-429, retry_after: "12"}`)
	for i, calls := range []string{"a:1 b:1", "", ""} {
		var got answer
		if c := sim.during(func() { got = post(t, gw.url("/v1/chat/completions"), question("")) }); c != calls {
			t.Errorf("request %d: calls = %q, want %q", i, c, calls)
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		if got.status != 429 || err != nil || seconds < 1 || seconds > 12 || (i == 0 && seconds < 11) {
			t.Errorf("request %d: %d, Retry-After %q, want 429 and 12 or what is left of it", i, got.status, got.header.Get("Retry-After"))
		}
		if code := got.errorCode(t); i > 0 && code != "all_candidates_cooling" {
			t.Errorf("request %d: code %q", i, code)
		}
	}
}

// TestCooldownIsOfOneModel keeps the upstream for the models that it did not
// limit, and comes back to it for the one that it did.
func TestCooldownIsOfOneModel(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(twoRest)), t.TempDir())
	sim.behave("a", `script: [{fault: http-429, retry_after: "2"}]`)
	limited := time.Now()
	for _, want := range []struct{ model, calls string }{
		{"m", "a:1 b:1"}, {"m", "b:1"}, {"other", "a:1"}, {"m", "b:1"},
	} {
		if got := sim.during(func() { _ = askBody(t, gw, say(want.model, unique(), false)) }); got != want.calls {
			t.Errorf("%s: calls = %s, want %s", want.model, got, want.calls)
		}
	}
	wait(t, limited.Add(2200*time.Millisecond))
	if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1" {
		t.Errorf("when the time is over: calls = %s, want a", got)
	}
}
