package health

import (
	"testing"
	"time"

	"gatewright/engine"
)

func TestCircuit(t *testing.T) {
	never := policy
	never.FailureThreshold = 0
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"opens at the threshold, not before", func(r *rig) {
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassTimeout)
			r.want(engine.CircuitClosed)
			r.end(r.begin(), engine.ClassConnect)
			r.wantUntil(time.Minute)
			r.refused()
		}},
		{"a success between ends the run", func(r *rig) {
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassNone)
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitClosed)
		}},
		{"what is not the upstream's doing neither counts nor ends the run", func(r *rig) {
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			for _, class := range []engine.FailureClass{
				engine.ClassClient, engine.ClassContext, engine.ClassContent, engine.ClassLocal,
				engine.ClassCancelled, engine.ClassRateLimitTimed,
			} {
				r.end(r.begin(), class)
				r.want(engine.CircuitClosed)
			}
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitOpen)
		}},
		{"cooldown 0 means a minute", func(r *rig) {
			r.begin().End(Outcome{Class: engine.ClassServer, Policy: engine.RetryPolicy{FailureThreshold: 1}, Now: r.clock.now()})
			r.wantUntil(time.Minute)
		}},
		{"the policy of the failing call says when and for how long", func(r *rig) {
			r.end(r.begin(), engine.ClassServer)
			p := engine.RetryPolicy{FailureThreshold: 2, Cooldown: 7 * time.Second}
			r.begin().End(Outcome{Class: engine.ClassServer, Policy: p, Now: r.clock.now()})
			r.wantUntil(7 * time.Second)
		}},
		{"threshold 0 never opens, but its failures are part of the run", func(r *rig) {
			for range 10 {
				r.begin().End(Outcome{Class: engine.ClassServer, Policy: never, Now: r.clock.now()})
			}
			r.want(engine.CircuitClosed)
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitOpen)
			r.refused()
		}},
		{"threshold 0 renews, as the probe, what others opened", func(r *rig) {
			r.half()
			r.probe().End(Outcome{Class: engine.ClassServer, Policy: never, Now: r.clock.now()})
			r.wantUntil(2 * time.Minute)
		}},
		{"the probe's success closes", func(r *rig) {
			r.half()
			r.end(r.probe(), engine.ClassNone)
			r.want(engine.CircuitClosed)
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitClosed)
		}},
		{"failed probes double the time up to ten minutes, success forgets it", func(r *rig) {
			r.half()
			for _, d := range []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute, maxDoubled, maxDoubled} {
				r.end(r.probe(), engine.ClassServer)
				r.wantUntil(d)
				r.clock.move(d - time.Millisecond)
				r.refused()
				r.clock.move(time.Millisecond)
			}
			r.end(r.probe(), engine.ClassNone)
			r.open()
			r.wantUntil(time.Minute)
		}},
		{"a time above ten minutes is not shortened by doubling", func(r *rig) {
			p := engine.RetryPolicy{FailureThreshold: 1, Cooldown: time.Hour}
			r.begin().End(Outcome{Class: engine.ClassServer, Policy: p, Now: r.clock.now()})
			r.clock.move(time.Hour)
			r.probe().End(Outcome{Class: engine.ClassServer, Policy: p, Now: r.clock.now()})
			r.wantUntil(time.Hour)
		}},
		{"a second End does nothing", func(r *rig) {
			c := r.begin()
			for range 5 {
				r.end(c, engine.ClassServer)
			}
			r.want(engine.CircuitClosed)
			if got := r.signals().InFlight; got != 0 {
				r.t.Fatalf("in flight %d, want 0", got)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

func TestLateOutcomes(t *testing.T) {
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"a failure of an older call neither extends nor doubles an open circuit", func(r *rig) {
			old := r.begin()
			r.open()
			r.clock.move(20 * time.Second)
			r.end(old, engine.ClassServer)
			r.wantUntil(40 * time.Second)
		}},
		{"nor a half-open one, and it does not end the probe", func(r *rig) {
			old := r.begin()
			r.half()
			probe := r.probe()
			r.end(old, engine.ClassServer)
			r.want(engine.CircuitHalfOpen)
			r.refused()
			r.end(probe, engine.ClassServer)
			r.wantUntil(2 * time.Minute)
		}},
		{"a success of an older call does not close an open circuit", func(r *rig) {
			old := r.begin()
			r.open()
			r.clock.move(time.Second)
			r.end(old, engine.ClassNone)
			r.wantUntil(59 * time.Second)
			r.refused()
		}},
		{"nor does the first content of an older stream", func(r *rig) {
			old := r.begin()
			r.half()
			old.Committed(r.clock.now(), time.Second)
			r.want(engine.CircuitHalfOpen)
		}},
		{"a failure from before the opening is not part of the run after the closing", func(r *rig) {
			var old []*Call
			for range 5 {
				old = append(old, r.begin())
			}
			r.half()
			r.end(r.probe(), engine.ClassNone)
			for _, c := range old {
				r.end(c, engine.ClassTruncated)
			}
			r.want(engine.CircuitClosed)
		}},
		{"an older success does not end the run after the closing", func(r *rig) {
			old := r.begin()
			r.half()
			r.end(r.probe(), engine.ClassNone)
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.end(old, engine.ClassNone)
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitOpen)
		}},
		{"late outcomes are part of the statistics all the same", func(r *rig) {
			good, bad := r.begin(), r.begin()
			r.open()
			r.clock.move(time.Second)
			r.end(good, engine.ClassNone)
			r.end(bad, engine.ClassServer)
			s := r.signals()
			if s.Samples != 5 || !s.LastSuccess.Equal(r.clock.now()) {
				r.t.Fatalf("samples %d, last success %v", s.Samples, s.LastSuccess)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

func TestStreams(t *testing.T) {
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"a stream decides its probe with the first content", func(r *rig) {
			r.half()
			c := r.probe()
			c.Committed(r.clock.now(), time.Second)
			r.want(engine.CircuitClosed)
			if got := r.signals().InFlight; got != 1 {
				r.t.Fatalf("in flight %d, want 1", got)
			}
			if other := r.begin(); other.Probe() {
				r.t.Fatal("a call of a closed circuit is a probe")
			}
			r.end(c, engine.ClassCancelled)
			r.want(engine.CircuitClosed)
		}},
		{"a probe that breaks after its first content counts as one failure", func(r *rig) {
			r.half()
			c := r.probe()
			c.Committed(r.clock.now(), time.Second)
			r.end(c, engine.ClassTruncated)
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitClosed)
			r.end(r.begin(), engine.ClassServer)
			r.wantUntil(time.Minute)
		}},
		{"an upstream that breaks every stream in the middle is found out", func(r *rig) {
			for range 3 {
				c := r.begin()
				c.Committed(r.clock.now(), time.Second)
				r.end(c, engine.ClassTruncated)
			}
			r.want(engine.CircuitOpen)
		}},
		{"the first content after the end does nothing", func(r *rig) {
			r.half()
			c := r.probe()
			r.end(c, engine.ClassServer)
			c.Committed(r.clock.now(), time.Second)
			r.want(engine.CircuitOpen)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

func TestLastResort(t *testing.T) {
	lastResort := func(r *rig) *Call {
		r.t.Helper()
		c, ok := r.tracker.Begin(r.d, r.clock.now(), true)
		if !ok || !c.Probe() {
			r.t.Fatalf("the last resort was refused, or is no probe (let through: %v)", ok)
		}
		return c
	}
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"takes the probe's place of an open circuit, once", func(r *rig) {
			r.open()
			lastResort(r)
			if _, ok := r.tracker.Begin(r.d, r.clock.now(), true); ok {
				r.t.Fatal("two last resorts at once")
			}
			r.clock.move(time.Minute)
			r.refused() // half-open by now, and the place is still taken
		}},
		{"its success closes", func(r *rig) {
			r.open()
			r.end(lastResort(r), engine.ClassNone)
			r.want(engine.CircuitClosed)
		}},
		{"its failure counts as the probe's", func(r *rig) {
			r.open()
			r.clock.move(30 * time.Second)
			r.end(lastResort(r), engine.ClassServer)
			r.wantUntil(2 * time.Minute)
		}},
		{"no verdict leaves the circuit as it was", func(r *rig) {
			r.open()
			r.clock.move(30 * time.Second)
			r.end(lastResort(r), engine.ClassCancelled)
			r.end(lastResort(r), engine.ClassClient)
			r.wantUntil(30 * time.Second)
		}},
		{"is an ordinary call of a closed circuit", func(r *rig) {
			c, ok := r.tracker.Begin(r.d, r.clock.now(), true)
			if !ok || c.Probe() {
				r.t.Fatal("refused, or a probe")
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

func TestRepeat(t *testing.T) {
	// openBy lets the circuit open by the failure of the call that it returns.
	openBy := func(r *rig) *Call {
		r.t.Helper()
		r.end(r.begin(), engine.ClassServer)
		r.end(r.begin(), engine.ClassServer)
		c := r.begin()
		r.end(c, engine.ClassServer)
		r.want(engine.CircuitOpen)
		return c
	}
	repeat := func(r *rig, prev *Call) *Call {
		r.t.Helper()
		c, ok := r.tracker.Repeat(prev, r.clock.now())
		if !ok {
			r.t.Fatal("Repeat refused")
		}
		return c
	}
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"the request that opened the circuit keeps its budget", func(r *rig) {
			c := openBy(r)
			for range 4 {
				r.refused()
				c = repeat(r, c)
				if c.Probe() {
					r.t.Fatal("a repeat past an open circuit is a probe")
				}
				r.end(c, engine.ClassServer)
				r.wantUntil(time.Minute)
			}
		}},
		{"its success closes the circuit", func(r *rig) {
			r.end(repeat(r, openBy(r)), engine.ClassNone)
			r.want(engine.CircuitClosed)
		}},
		{"as does the first content of its stream", func(r *rig) {
			repeat(r, openBy(r)).Committed(r.clock.now(), time.Second)
			r.want(engine.CircuitClosed)
		}},
		{"a request does not get past what another opened", func(r *rig) {
			mine := r.begin()
			r.end(mine, engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			if _, ok := r.tracker.Repeat(mine, r.clock.now()); ok {
				r.t.Fatal("Repeat let through")
			}
		}},
		{"nor past what another opened again", func(r *rig) {
			mine := openBy(r)
			r.clock.move(time.Minute)
			r.end(r.probe(), engine.ClassServer)
			if _, ok := r.tracker.Repeat(mine, r.clock.now()); ok {
				r.t.Fatal("Repeat let through")
			}
		}},
		{"past the end it is the probe like any call", func(r *rig) {
			c := openBy(r)
			r.clock.move(time.Minute)
			c = repeat(r, c)
			if !c.Probe() {
				r.t.Fatal("no probe")
			}
			r.end(c, engine.ClassServer)
			r.wantUntil(2 * time.Minute)
			r.end(repeat(r, c), engine.ClassServer)
			r.wantUntil(2 * time.Minute)
		}},
		{"a call that still runs has opened nothing", func(r *rig) {
			mine := r.begin()
			r.open()
			if _, ok := r.tracker.Repeat(mine, r.clock.now()); ok {
				r.t.Fatal("Repeat let through")
			}
		}},
		{"of a closed circuit it is an ordinary call", func(r *rig) {
			c := r.begin()
			r.end(c, engine.ClassServer)
			r.end(repeat(r, c), engine.ClassServer)
			r.want(engine.CircuitClosed)
			r.end(repeat(r, c), engine.ClassServer)
			r.want(engine.CircuitOpen)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

func TestPinned(t *testing.T) {
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"goes past an open circuit, changes nothing by failing", func(r *rig) {
			r.open()
			for range 5 {
				c := r.tracker.BeginPinned(r.d, r.clock.now())
				if c.Probe() {
					r.t.Fatal("a probe before its time")
				}
				r.end(c, engine.ClassServer)
			}
			r.wantUntil(time.Minute)
		}},
		{"its success closes", func(r *rig) {
			r.open()
			r.end(r.tracker.BeginPinned(r.d, r.clock.now()), engine.ClassNone)
			r.want(engine.CircuitClosed)
		}},
		{"takes the probe's place when half-open", func(r *rig) {
			r.half()
			c := r.tracker.BeginPinned(r.d, r.clock.now())
			if !c.Probe() {
				r.t.Fatal("no probe")
			}
			r.refused()
			other := r.tracker.BeginPinned(r.d, r.clock.now())
			if other.Probe() {
				r.t.Fatal("two probes")
			}
			r.end(other, engine.ClassServer)
			r.refused()
			r.end(c, engine.ClassServer)
			r.wantUntil(2 * time.Minute)
		}},
		{"a probe that another call has made idle says nothing any more", func(r *rig) {
			r.half()
			probe := r.probe()
			r.end(r.tracker.BeginPinned(r.d, r.clock.now()), engine.ClassNone)
			r.want(engine.CircuitClosed)
			r.end(probe, engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.end(r.begin(), engine.ClassServer)
			r.want(engine.CircuitClosed)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}
