package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// replacing is a gateway whose policies are replaced under load.
type replacing struct {
	t        *testing.T
	gw       *process
	o        *operator
	versions []string // of the policy guard
	serves   []string // who serves under each

	requests atomic.Int64
	mu       sync.Mutex
	quiet    []time.Duration // what requests took while nothing was replaced
	took     []time.Duration // and while something was
	moving   atomic.Bool
}

// reloadRest binds one policy twice: a request that saw two versions of it would
// find nobody left. Sessions are soon forgotten: they would be what memory grows by.
const reloadRest = adminRest + `
session: {affinity: off, ttl: 1s}
models: {m: {deployments: [a, b]}}
`

func newReplacing(t *testing.T) *replacing {
	t.Helper()
	sim := simulate(t)
	r := &replacing{t: t, gw: gateway(t, write(t, "g.yaml", regional(sim, reloadRest)), t.TempDir())}
	r.o = operate(t, r.gw)
	for _, v := range []struct {
		source []byte
		serves string
	}{
		{only("a"), "a/m"}, // a is in the United States
		{testdata(t, "wasm", "guests", "admit.wasm"), "b/m"}, // Europe alone
		{append(only("a"), "\n# another version\n"...), "a/m"},
		{only("b"), "b/m"},
	} {
		r.versions, r.serves = append(r.versions, r.o.upload("guard", v.source)), append(r.serves, v.serves)
	}
	r.o.activate("guard", r.versions[0])
	for _, id := range []string{"first", "second"} {
		r.o.call("PUT", "/bindings/"+id, `{"policy":"guard"}`, http.StatusOK)
	}
	r.o.activate("rank", r.o.upload("rank", testdata(t, "wasm", "guests", "rank.wasm")))
	r.o.call("PUT", "/bindings/rank", `{"policy":"rank"}`, http.StatusOK)
	return r
}

// load sends requests at a rate until stop is called; each must be served by one
// of those who may.
func (r *replacing) load(rate int) (stop func()) {
	clients := newCaller(r.t, r.gw, 64)
	var over atomic.Bool
	var running sync.WaitGroup
	began := time.Now()
	running.Go(func() {
		for i := 0; !over.Load(); i++ {
			wait(r.t, began.Add(time.Duration(i)*time.Second/time.Duration(rate)))
			running.Go(func() {
				got := clients.chat(r.t.Context(), say("m", unique(), i%2 == 0), nil)
				r.requests.Add(1)
				if !got.served() || got.deployment != "a/m" && got.deployment != "b/m" {
					r.t.Errorf("a client got %v", got)
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.moving.Load() {
					r.took = append(r.took, got.took)
				} else {
					r.quiet = append(r.quiet, got.took)
				}
			})
		}
	})
	return func() { over.Store(true); running.Wait() }
}

// TestReloadPoliciesUnderLoad activates versions of a policy, in Rego and Wasm, one
// after the other while requests run: none fails, none sees two versions, what is
// refused never displaces what is live, and no memory is left.
func TestReloadPoliciesUnderLoad(t *testing.T) {
	r := newReplacing(t)
	rate, total, pause := either(150, 500), either(300, 10_000), either(40*time.Millisecond, 50*time.Millisecond)
	stop := r.load(rate)
	for n := range 40 { // all that is kept for later is there then
		r.o.activate("guard", r.versions[n%len(r.versions)])
	}
	start := r.gw.usage(t)
	for range either(10, 50) { // the collector's ups and downs are no growth: the most of them counts
		wait(t, time.Now().Add(100*time.Millisecond))
		start.anonymous = max(start.anonymous, r.gw.usage(t).anonymous)
	}
	began := time.Now()
	r.moving.Store(true)
	done, bad := 0, 0
	for ; done < total && time.Since(began) < either(15*time.Second, time.Hour); done++ {
		n := done % len(r.versions)
		r.o.activate("guard", r.versions[n])
		if got := ask(t, r.gw); got != r.serves[n] {
			t.Fatalf("after activation %d it is served by %s, want %s", done, got, r.serves[n])
		}
		if done%10 == 9 {
			source := [][]byte{[]byte("broken"), testdata(t, "wasm", "hostile", "W01-endless-loop.wasm"), only("a")[:60]}[done/10%3]
			if got := r.o.try("POST", "/policies?name=guard", source); got.status != http.StatusUnprocessableEntity {
				t.Errorf("a bad upload: %d %s, %v", got.status, got.body, got.err)
			}
			bad++
		}
		wait(t, began.Add(time.Duration(done)*pause))
	}
	length := time.Since(began)
	r.moving.Store(false)
	stop()
	t.Logf("held %d requests/s; %d activations in %s, %.0f a second, and %d bad uploads; %d requests, none failed", rate, done, length,
		float64(done)/length.Seconds(), bad, r.requests.Load())
	quiet, took := spreadOf(r.quiet), spreadOf(r.took)
	t.Logf("requests took %+v, before it %+v", took, quiet)
	if os.Getenv("GATEWRIGHT_RACE") == "" { // the race detector keeps what it has
		more := either(int64(24), 10) << 20 // a short run is too short for the collector to settle
		// The store is a file in memory, in which the log of changes grows up to its limit:
		// it does not count. And a process of Go that has nothing to do collects its garbage
		// every two minutes.
		now := r.gw.usage(t)
		for over := time.Now().Add(3 * time.Minute); now.anonymous > start.anonymous+more && time.Now().Before(over); now = r.gw.usage(t) {
			wait(t, time.Now().Add(time.Second))
		}
		if now.anonymous > start.anonymous+more {
			t.Errorf("it began with %v and ended with %v", start, now)
		}
	}
	t.Logf("it began with %v and ended with %v", start, r.gw.usage(t))
	if done < total/10 {
		t.Errorf("%d activations", done)
	}
	if s := r.faults(); s != "0" {
		t.Errorf("%s faults", s)
	}
}

// faults is how often the versions of the policies failed, as the API tells.
func (r *replacing) faults() string {
	r.t.Helper()
	sum := 0.0
	for _, name := range []string{"guard", "rank"} {
		status, _ := r.o.call("GET", "/policies/"+name, "", http.StatusOK)["status"].(map[string]any)
		n, ok := status["faults"].(float64)
		if !ok {
			return fmt.Sprint(status)
		}
		if n > 0 {
			r.t.Logf("%s: %v", name, status)
		}
		sum += n
	}
	return strconv.FormatFloat(sum, 'g', -1, 64)
}
