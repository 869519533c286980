package e2e

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"
)

const downRest = `
models:
  m: {deployments: [a, b, c], fallbacks: [n]}
  n: {deployments: [d]}
router:
  retry_policy: {max_attempts: 3, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}
`

// down starts a gateway whose upstreams all fail, and whose circuits never open.
func down(t *testing.T, behaviour string) (simulator, *process) {
	t.Helper()
	sim := simulate(t)
	for _, name := range sim.names {
		sim.behave(name, behaviour)
	}
	return sim, gateway(t, write(t, "g.yaml", sim.config(downRest)), t.TempDir())
}

// TestAmplification sends traffic while every upstream is down: retries stay
// within their bounds, so that the gateway does not hold the upstreams down.
func TestAmplification(t *testing.T) {
	t.Parallel()
	sim, gw := down(t, "fail: {rate: 100%, with: [http-500, http-503, reset, http-429, empty]}")
	const candidates, perCandidate, hardCap = 4, 3, 10
	rate, length := 60, either(10*time.Second, time.Minute)
	clients := newCaller(t, gw, 200)
	total := rate * int(length.Seconds())
	most := 0
	var mu sync.Mutex
	var running sync.WaitGroup
	began := time.Now()
	for i := range total {
		wait(t, began.Add(time.Duration(i)*time.Second/time.Duration(rate)))
		running.Go(func() {
			got := clients.chat(t.Context(), question(""), nil)
			n, err := strconv.Atoi(got.attempts)
			if err != nil || got.status < 429 || got.code == "" || got.broken != nil {
				t.Errorf("not a failure with its attempts: %v", got)
			}
			mu.Lock()
			most = max(most, n)
			mu.Unlock()
		})
	}
	running.Wait()
	took := time.Since(began)
	calls := 0
	for _, n := range sim.calls() {
		calls += n
	}
	// Each request calls each of the four once; what is more is a repeat.
	repeats, budget := calls-candidates*total, 0.2*float64(total)+10*(took.Seconds()+1)
	t.Logf("held %d requests/s for %s with everything down: %d requests, %d calls, at most %d for one request, %d repeats of at most %.0f",
		rate, length, total, calls, most, repeats, budget)
	if most > min(candidates*perCandidate, hardCap) {
		t.Errorf("%d attempts for one request", most)
	}
	if repeats < 0 || float64(repeats) > budget {
		t.Errorf("%d calls were repeated on the same deployment, want 0 to %.0f", repeats, budget)
	}
	if repeats == 0 {
		t.Error("nothing was repeated, so nothing was bounded")
	}
}

// TestNoCallForNobody lets clients leave, or their time run out, while their
// requests go from failure to failure: no call begins afterwards.
func TestNoCallForNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		leaves  bool
		headers []string
	}{
		{"the client has left", true, nil},
		{"the client's time is over", false, []string{"X-Stainless-Timeout", "0.6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sim, gw := down(t, "{latency: {headers: 150ms, jitter: 90%}, always: http-500}")
			clients := newCaller(t, gw, 40)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var running sync.WaitGroup
			began := time.Now()
			for range 40 {
				running.Go(func() { _ = clients.chat(ctx, question(""), nil, c.headers...) })
			}
			over := began.Add(600 * time.Millisecond)
			wait(t, over)
			if c.leaves {
				over = time.Now()
				leave()
			}
			running.Wait()
			wait(t, over.Add(1500*time.Millisecond)) // whatever would still come has come
			calls, late := 0, 0
			for _, name := range sim.names {
				for _, r := range sim.seen(name).Requests {
					calls++
					if r.Time.After(over.Add(250 * time.Millisecond)) { // a machine that is busy
						late++
					}
				}
			}
			t.Logf("%d calls for 40 requests of 600 ms, %d of them late", calls, late)
			if late > 0 || calls < 40 {
				t.Errorf("%d of %d calls began when nobody waited any more", late, calls)
			}
		})
	}
}
