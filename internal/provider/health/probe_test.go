package health

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/engine"
)

// TestOneProbe lets many calls begin at the half-open instant.
func TestOneProbe(t *testing.T) {
	r := newRig(t)
	r.half()
	const callers = 1000
	var let, probes atomic.Int64
	var winner atomic.Pointer[Call]
	var wait sync.WaitGroup
	gate := make(chan struct{})
	now := r.clock.now()
	for i := range callers {
		wait.Go(func() {
			<-gate
			c, ok := r.tracker.Begin(r.d, now, i%2 == 0)
			if !ok {
				return
			}
			let.Add(1)
			if c.Probe() {
				probes.Add(1)
			}
			winner.Store(c)
		})
	}
	close(gate)
	wait.Wait()
	if let.Load() != 1 || probes.Load() != 1 {
		t.Fatalf("%d of %d let through, %d as probe; want 1 and 1", let.Load(), callers, probes.Load())
	}
	if s := r.signals(); !s.ProbeTaken || s.InFlight != 1 {
		t.Fatalf("signals while the probe runs: %+v", s)
	}
	r.end(winner.Load(), engine.ClassNone)
	r.want(engine.CircuitClosed)
	if got := r.signals().InFlight; got != 0 {
		t.Fatalf("in flight %d, want 0", got)
	}
}

// TestProbeFreesItsPlace ends probes in every way that is no success.
func TestProbeFreesItsPlace(t *testing.T) {
	cases := []struct {
		class  engine.FailureClass
		reopen bool // the circuit opens anew, doubled
		cools  bool
	}{
		{class: engine.ClassCancelled},
		{class: engine.ClassClient},
		{class: engine.ClassContext},
		{class: engine.ClassContent},
		{class: engine.ClassLocal},
		{class: engine.ClassRateLimitTimed, cools: true},
		{class: engine.ClassTimeout, reopen: true}, // it hung until the dispatcher gave it up
		{class: engine.ClassConnect, reopen: true},
		{class: engine.ClassServer, reopen: true},
		{class: engine.ClassRateLimit, reopen: true},
		{class: engine.ClassQuota, reopen: true, cools: true},
		{class: engine.ClassConflict, reopen: true},
		{class: engine.ClassAuth, reopen: true},
		{class: engine.ClassNotFound, reopen: true},
		{class: engine.ClassTruncated, reopen: true},
	}
	for _, c := range cases {
		t.Run(c.class.String(), func(t *testing.T) {
			r := newRig(t)
			r.half()
			probe := r.probe()
			r.clock.move(5 * time.Minute) // it hangs; nobody else gets in
			r.refused()
			probe.End(Outcome{Class: c.class, Policy: policy, Cooldown: 10 * time.Second, Now: r.clock.now()})
			s := r.signals()
			if cools := !s.CooldownUntil.IsZero(); cools != c.cools {
				t.Errorf("cooldown %v, want one: %v", s.CooldownUntil, c.cools)
			}
			if c.reopen {
				r.wantUntil(2 * time.Minute)
				r.refused()
				r.clock.move(2 * time.Minute)
			} else if s.Circuit != engine.CircuitHalfOpen || s.ProbeTaken {
				t.Errorf("circuit %v, probe's place taken: %v; want half-open and free", s.Circuit, s.ProbeTaken)
			}
			r.end(r.probe(), engine.ClassNone)
			r.want(engine.CircuitClosed)
			if got := r.signals().InFlight; got != 0 {
				t.Errorf("in flight %d, want 0", got)
			}
		})
	}
}

// TestHalfOpenSignals shows what a plan sees of a half-open circuit.
func TestHalfOpenSignals(t *testing.T) {
	r := newRig(t)
	r.half()
	r.clock.move(3 * time.Second)
	c := engine.Candidate{Deployment: r.d, Signals: r.signals()}
	if c.Circuit != engine.CircuitHalfOpen || c.CircuitBroken() {
		t.Errorf("with the place free: %v, broken %v; want half-open and not broken", c.Circuit, c.CircuitBroken())
	}
	if got := c.CircuitUntil.Sub(r.clock.now()); got != -3*time.Second {
		t.Errorf("the open time ended %v ago, want 3s", -got)
	}
	probe := r.probe()
	c.Signals = r.signals()
	if c.Circuit != engine.CircuitHalfOpen || !c.CircuitBroken() {
		t.Errorf("with the place taken: %v, broken %v; want half-open and broken", c.Circuit, c.CircuitBroken())
	}
	r.end(probe, engine.ClassNone)
}
