package e2e

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const drainRest = `
models: {m: {deployments: [a]}}
timeouts: {drain: 30s}
`

// streams starts streams of n pieces, some time apart, and waits until each has
// begun.
func streams(t *testing.T, sim simulator, gw *process, count, pieces int, apart time.Duration) (over func() []*reply) {
	t.Helper()
	sim.behave("a", fmt.Sprintf("{answer: {tokens: %d}, latency: {per_token: %s}}", pieces, apart))
	clients := newCaller(t, gw, count)
	replies := make([]*reply, count)
	var begun atomic.Int64
	var running sync.WaitGroup
	for i := range count {
		running.Go(func() {
			replies[i] = clients.chat(t.Context(), question(`"stream": true,`), func(chunks int) {
				if chunks == 1 {
					begun.Add(1)
				}
			})
		})
	}
	eventually(t, 20*time.Second, "every stream has begun", func() bool { return begun.Load() == int64(count) })
	return func() []*reply { running.Wait(); return replies }
}

// TestDrain stops the gateway under live streams: it is not ready at once, takes
// nothing new, breaks no stream, and ends in order.
func TestDrain(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(drainRest)), t.TempDir())
	count, pieces := either(100, 500), either(30, 150)
	over := streams(t, sim, gw, count, pieces, 100*time.Millisecond)
	if got := status(t, gw.url("/readyz")); got != 200 {
		t.Errorf("/readyz says %d before", got)
	}
	asked := time.Now()
	if err := gw.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Second, "not ready", func() bool { return status(t, gw.url("/readyz")) != 200 })
	unready := time.Since(asked)
	select {
	case <-gw.done:
		t.Error("the gateway has ended under live streams")
	default:
	}
	broken := 0
	for _, r := range over() {
		if !r.served() || !r.done || r.chunks != pieces {
			if broken++; broken < 5 {
				t.Errorf("a stream broke: %v", r)
			}
		}
	}
	<-gw.done
	_ = gw.cmd.Wait()
	t.Logf("SIGTERM under %d live streams: not ready after %s, %d broken, ended after %s", count, unready, broken, time.Since(asked))
	if code := gw.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d\n%s", code, gw.log())
	}
}

// TestDrainTooLong cuts what does not end within the drain time, and tells its
// client.
func TestDrainTooLong(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", strings.Replace(sim.config(drainRest), "drain: 30s", "drain: 500ms", 1)), t.TempDir())
	over := streams(t, sim, gw, 10, 600, 100*time.Millisecond)
	if code := gw.stop(); code != 0 {
		t.Errorf("exit status %d\n%s", code, gw.log())
	}
	for _, r := range over() {
		if r.code != "shutting_down" || r.done || r.finish != "" || r.broken != nil {
			t.Errorf("a stream that was cut: %v, want shutting_down in band", r)
		}
	}
}

// TestSecondSignal ends a gateway that drains.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(drainRest)), t.TempDir())
	over := streams(t, sim, gw, 10, 600, 100*time.Millisecond)
	if err := gw.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if gw.wait("draining", 10*time.Second) == nil {
		t.Fatalf("it does not drain:\n%s", gw.log())
	}
	second := time.Now()
	_ = gw.stop()
	if took := time.Since(second); took > 5*time.Second {
		t.Errorf("it ended %s after the second signal", took)
	}
	for _, r := range over() {
		if r.done || r.finish != "" {
			t.Errorf("a stream that was cut looks whole: %v", r)
		}
	}
}
