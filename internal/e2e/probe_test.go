package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const probeRest = `
models: {m: {deployments: [a, b]}}
router: {selection: priority, retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 1, cooldown_seconds: 1}}
`

// TestOneProbe lets many requests arrive in the moment in which an open circuit
// becomes half-open: exactly one of them reaches the recovering upstream, the
// others are served elsewhere, and however the probe ends its place is free
// afterwards.
func TestOneProbe(t *testing.T) {
	for _, c := range []struct {
		name      string
		behaviour string
		leaves    bool // the client of the probe does not wait
		reopens   bool
	}{
		{"succeeds", "latency: {first_token: 1500ms}", false, false},
		{"is the caller's error", "{latency: {headers: 1500ms}, always: http-400}", false, false},
		{"is abandoned", "always: silent", true, false},
		{"fails", "{latency: {headers: 1500ms}, always: http-500}", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sim := simulate(t)
			gw := gateway(t, write(t, "g.yaml", sim.config(probeRest)), t.TempDir())
			for range either(1, 10) {
				sim.behave("a", "script: [http-500]")
				asked := time.Now()
				if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1 b:1" {
					t.Fatalf("calls = %s, want a and then b", got)
				}
				opened := time.Now()
				sim.behave("a", c.behaviour)
				replies := rush(t, sim, gw, either(500, 1000), asked.Add(time.Second), opened.Add(time.Second), c.leaves)
				others := 0
				for _, r := range replies {
					if r.served() && r.deployment == "b/m" {
						others++
					}
				}
				if others < len(replies)-1 {
					t.Errorf("%d of %d were served by b, want all but one", others, len(replies))
				}
				sim.behave("a", "{}")
				if c.reopens {
					if got := sim.during(func() { _ = ask(t, gw) }); got != "b:1" {
						t.Errorf("calls behind a failed probe = %s, want b alone", got)
					}
					wait(t, time.Now().Add(2100*time.Millisecond)) // its time is doubled
				}
				for range 2 { // the next probe, and the first call of a closed circuit
					if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1" {
						t.Errorf("calls when a is well = %s, want a", got)
					}
				}
			}
		})
	}
}

// rush sends n requests, half of them streams, spread over the time between two
// instants and a little to both sides. Exactly one may reach a. With leaves, its
// client hangs up when the others have their answers.
func rush(t *testing.T, sim simulator, gw *process, n int, from, to time.Time, leaves bool) []*reply {
	t.Helper()
	clients := newCaller(t, gw, n)
	defer clients.client.CloseIdleConnections()
	clients.connect(t, gw, n)
	before := sim.calls()["a"]
	const aside = 20 * time.Millisecond
	from, to = from.Add(-aside), to.Add(aside)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	replies := make([]*reply, n)
	var over atomic.Int64
	var running sync.WaitGroup
	for i := range n {
		body := question("")
		if i%2 == 0 {
			body = question(`"stream": true,`)
		}
		at := from.Add(to.Sub(from) * time.Duration(i) / time.Duration(n))
		running.Go(func() {
			wait(t, at)
			replies[i] = clients.chat(ctx, body, nil)
			over.Add(1)
		})
	}
	if leaves {
		eventually(t, 30*time.Second, "all but the probe have an answer", func() bool { return over.Load() == int64(n-1) })
		hangUp()
	}
	running.Wait()
	if leaves {
		eventually(t, 5*time.Second, "the abandoned probe has left a", func() bool { return sim.state()["a"].InFlight == 0 })
	}
	if got := sim.calls()["a"] - before; got != 1 {
		t.Errorf("%d of %d concurrent requests reached the recovering upstream, want 1", got, n)
	}
	return replies
}

// connect opens n connections and keeps them.
func (c *caller) connect(t *testing.T, gw *process, n int) {
	t.Helper()
	var opening sync.WaitGroup
	for range n {
		opening.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gw.url("/healthz"), strings.NewReader(""))
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := c.client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
		})
	}
	opening.Wait()
}
