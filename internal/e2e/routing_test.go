package e2e

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const exampleRest = `
models:
  m: {deployments: [a, b, c], fallbacks: [n]}
  n: {deployments: [d]}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 3, cooldown_seconds: 2}
  models:
    m:
      providers:
        a: {priority: 30, weight: 6000}
        b: {priority: 30, weight: 4000}
        c: {priority: 20}
`

// The example of the design: about 60 % to a, 40 % to b, c only when both fail.
func TestRoutingExample(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(exampleRest)), t.TempDir())
	const total = 20_000
	load(t, gw, total, 16)
	calls := sim.calls()
	if share := float64(calls["a"]) / total; math.Abs(share-0.6) > 0.01 {
		t.Errorf("a got %.4f of %d requests, want 0.60 ± 0.01", share, total)
	}
	if calls["a"]+calls["b"] != total || calls["c"] != 0 {
		t.Errorf("calls = %v, want all at a and b", calls)
	}
	sim.behave("a", "always: {fault: http-500}")
	sim.behave("b", "always: {fault: http-500}")
	if got := ask(t, gw); got != "c/m" {
		t.Errorf("with a and b failing, %s served; want c/m", got)
	}
}

// load sends n chat requests without a session, some at a time; none may fail.
func load(t *testing.T, gw *process, n int64, parallel int) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: parallel}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var left atomic.Int64
	left.Store(n)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				if status, text := send(t, client, gw, question("")); status != http.StatusOK {
					t.Errorf("status %d: %s", status, text)
					return
				}
			}
		})
	}
	workers.Wait()
}

func send(t *testing.T, client *http.Client, gw *process, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, gw.url("/v1/chat/completions"), strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// A 429 with Retry-After: the next request makes no call to a, also after a
// kill −9, until the time is over.
func TestCooldownSurvivesAKill(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	path, dir := write(t, "g.yaml", sim.config(strings.ReplaceAll(exampleRest, "priority: 30, weight: 6000", "priority: 50"))), t.TempDir()
	gw := gateway(t, path, dir)
	const seconds = 5
	sim.behave("a", fmt.Sprintf("script: [{fault: http-429, retry_after: \"%d\"}]", seconds))
	began := time.Now()
	if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1 b:1" {
		t.Fatalf("calls = %s, want a and then b", got)
	}
	if got := sim.during(func() { _ = ask(t, gw) }); got != "b:1" {
		t.Errorf("calls while a cools = %s, want b alone", got)
	}
	wait(t, time.Now().Add(durable))
	gw.kill()
	gw = gateway(t, path, dir)
	if got := sim.during(func() { _ = ask(t, gw) }); got != "b:1" {
		t.Errorf("calls after the kill = %s, want b alone", got)
	}
	if time.Since(began) > seconds*time.Second {
		t.Fatal("the machine is too slow for this test: the cooldown is over")
	}
	wait(t, began.Add(seconds*time.Second+100*time.Millisecond))
	if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1" {
		t.Errorf("calls after the cooldown = %s, want a", got)
	}
}

// wait sleeps until an instant.
func wait(t *testing.T, until time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

// Three failures in a row open the circuit; then no call, then one probe.
func TestCircuit(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(strings.ReplaceAll(exampleRest, "priority: 30, weight: 6000", "priority: 50"))), t.TempDir())
	sim.behave("a", "script: [{times: 3, fault: http-429}]")
	for range 3 {
		if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1 b:1" {
			t.Fatalf("calls = %s, want a and then b", got)
		}
	}
	opened := time.Now()
	if got := sim.during(func() { _ = ask(t, gw) }); got != "b:1" {
		t.Errorf("calls with an open circuit = %s, want b alone", got)
	}
	wait(t, opened.Add(2200*time.Millisecond))
	for range 2 { // the probe, and a is first again
		if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1" {
			t.Errorf("calls after the circuit's time = %s, want a", got)
		}
	}
}

// A model that is cooling or open everywhere is served by its fallback chain
// without a call to the source.
func TestFallbackChain(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(strings.ReplaceAll(exampleRest, "cooldown_seconds: 2", "cooldown_seconds: 60"))), t.TempDir())
	for _, name := range []string{"a", "b", "c"} {
		sim.behave(name, "always: {fault: http-429, retry_after: \"60\"}")
	}
	if got := sim.during(func() { _ = ask(t, gw) }); got != "a:1 b:1 c:1 d:1" {
		t.Fatalf("calls = %s, want each once", got)
	}
	if got := sim.during(func() {
		if served := ask(t, gw); served != "d/n" {
			t.Errorf("served by %s, want d/n", served)
		}
	}); got != "d:1" {
		t.Errorf("calls while the pool cools = %s, want d alone", got)
	}
	alone := question(`"disable_fallbacks": true,`)
	if got := sim.during(func() {
		if served := askBody(t, gw, alone); served != "429 all_candidates_cooling" {
			t.Errorf("with disable_fallbacks: %s, want 429 all_candidates_cooling", served)
		}
	}); got != "" {
		t.Errorf("calls with disable_fallbacks = %s, want none", got)
	}
}

func TestOpenEverywhere(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(strings.ReplaceAll(exampleRest, "cooldown_seconds: 2", "cooldown_seconds: 60"))), t.TempDir())
	for _, name := range []string{"a", "b", "c"} {
		sim.behave(name, "always: {fault: http-500}")
	}
	for range 3 {
		_ = ask(t, gw)
	}
	if got := sim.during(func() { _ = ask(t, gw) }); got != "d:1" {
		t.Errorf("calls with every circuit open = %s, want d alone", got)
	}
	alone := question(`"disable_fallbacks": true,`)
	if got := askBody(t, gw, alone); got != "503 all_circuits_open" {
		t.Errorf("with disable_fallbacks: %s, want 503 all_circuits_open", got)
	}
}

// reload writes the configuration and waits until it is current.
func reload(t *testing.T, gw *process, path, text string) {
	t.Helper()
	before, _ := gw.count("configuration reloaded")
	replace(t, path, text)
	if err := gw.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if gw.waitCount("configuration reloaded", before+1, 10*time.Second) == nil {
		t.Fatalf("not reloaded:\n%s", gw.log())
	}
}

// replace puts a new file in the place of the old one, as editors do.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// Reloads under load lose no request.
func TestReloadsUnderLoad(t *testing.T) {
	sim := simulate(t)
	plain := sim.config(exampleRest)
	other := strings.ReplaceAll(plain, "weight: 6000", "weight: 100")
	path := write(t, "g.yaml", plain)
	gw := gateway(t, path, t.TempDir())
	stop := make(chan struct{})
	var loaders sync.WaitGroup
	var sent atomic.Int64
	loaders.Go(func() {
		pace := time.NewTicker(20 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-stop:
				return
			case <-pace.C:
				load(t, gw, 5, 2)
				sent.Add(5)
			}
		}
	})
	defer func() { close(stop); loaders.Wait() }()
	reloads := either(200, 1000)
	for i := range reloads {
		text := plain
		if i%2 == 0 {
			text = other
		}
		reload(t, gw, path, text)
	}
	// A broken file changes nothing and says why.
	replace(t, path, strings.ReplaceAll(plain, "priority: 20", "priority: twenty"))
	if gw.wait("configuration not reloaded: the one before stays", 10*time.Second) == nil {
		t.Errorf("a broken file was not reported:\n%s", gw.log())
	}
	if got := ask(t, gw); !strings.HasSuffix(got, "/m") {
		t.Errorf("after a broken file: %s, want an answer", got)
	}
	t.Logf("%d reloads under load, %d requests, none failed", reloads, sent.Load())
}
