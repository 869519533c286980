package health

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/engine"
)

// TestHammer lets many goroutines use everything at once, with a clock that
// runs fast enough for circuits to open and close all the time.
func TestHammer(t *testing.T) {
	clock := newClock()
	tracker, err := New(Options{
		Clock: clock.now, Cooldowns: newTable(), Circuits: newTable(), Statistics: newTable(),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	const workers, rounds, deployments = 64, 400, 4
	var ids []string
	everything := make(map[string]bool)
	for i := range deployments {
		ids = append(ids, fmt.Sprintf("p/%d", i))
		everything[ids[i]] = true
	}
	var probes [deployments]atomic.Int64
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(worker)))
			pool := make([]engine.Candidate, deployments)
			for i := range pool {
				pool[i].Deployment = deployment(ids[i])
			}
			for range rounds {
				now := clock.move(time.Duration(rng.IntN(20)) * time.Millisecond)
				tracker.Signals(now, pool)
				i := rng.IntN(deployments)
				call, ok := tracker.Begin(pool[i].Deployment, now, rng.IntN(4) == 0)
				if !ok {
					continue
				}
				hammerCall(t, tracker, clock, call, rng, &probes[i])
			}
		})
	}
	wait.Go(func() {
		for range rounds {
			tracker.Keep(everything)
			tracker.Keep(map[string]bool{ids[0]: true})
			tracker.Stats()
			tracker.flush()
		}
	})
	wait.Wait()
	tracker.Keep(everything)
	for _, s := range tracker.Stats() {
		if s.InFlight != 0 || s.ProbeRunning {
			t.Errorf("%s: %d in flight, probe running %v; want none", s.Deployment, s.InFlight, s.ProbeRunning)
		}
	}
	clock.move(time.Hour)
	for _, id := range ids {
		call, ok := tracker.Begin(deployment(id), clock.now(), false)
		if !ok {
			t.Errorf("%s does not recover", id)
			continue
		}
		call.End(Outcome{Now: clock.now()})
	}
	for _, s := range tracker.Stats() {
		if s.Circuit != engine.CircuitClosed.String() {
			t.Errorf("%s: circuit %s after a success", s.Deployment, s.Circuit)
		}
	}
	if err := tracker.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// hammerCall ends a call in a random way, perhaps after a repeat, and checks
// that no two probes of a deployment run at once.
func hammerCall(t *testing.T, tracker *Tracker, clock *fakeClock, call *Call, rng *rand.Rand, probes *atomic.Int64) {
	t.Helper()
	short := engine.RetryPolicy{FailureThreshold: 1 + rng.IntN(3), Cooldown: 50 * time.Millisecond}
	class := engine.ClassServer
	if rng.IntN(2) == 0 {
		class = allClasses[rng.IntN(len(allClasses))]
	}
	if call.Probe() {
		// The count falls before the place is free, so it is never too high.
		if n := probes.Add(1); n > 1 {
			t.Errorf("%d probes at once", n)
		}
		runtime.Gosched()
		probes.Add(-1)
	}
	if rng.IntN(3) == 0 {
		call.Committed(clock.now(), time.Duration(1+rng.IntN(1000))*time.Millisecond)
	}
	call.End(Outcome{
		Class: class, Policy: short, Cooldown: 10 * time.Millisecond, Stream: rng.IntN(2) == 0,
		TTFT: time.Second, Duration: 2 * time.Second, Usage: engine.Usage{Known: true, Input: 10, Output: 100}, Now: clock.now(),
	})
	call.End(Outcome{Class: engine.ClassServer, Policy: short, Now: clock.now()})
	// Repeats fail: one that succeeds past a half-open circuit would close it
	// under the probe that runs.
	if again, ok := tracker.Repeat(call, clock.now()); ok {
		if again.Probe() {
			if n := probes.Add(1); n > 1 {
				t.Errorf("%d probes at once", n)
			}
			probes.Add(-1)
		}
		again.End(Outcome{Class: engine.ClassServer, Policy: short, Now: clock.now()})
	}
}
