package health

import (
	"testing"
	"time"

	"gatewright/engine"
)

func (r *rig) cool(class engine.FailureClass, d time.Duration) {
	r.t.Helper()
	c := r.begin()
	c.End(Outcome{Class: class, Policy: policy, Cooldown: d, Now: r.clock.now()})
}

func (r *rig) wantCooldown(left time.Duration) {
	r.t.Helper()
	until := r.signals().CooldownUntil
	switch {
	case left == 0 && !until.IsZero():
		r.t.Fatalf("a cooldown of another %v, want none", until.Sub(r.clock.now()))
	case left != 0 && !until.Equal(r.clock.now().Add(left)):
		r.t.Fatalf("cooldown until %v, %v from now; want %v", until, until.Sub(r.clock.now()), left)
	}
}

func TestCooldown(t *testing.T) {
	cases := []struct {
		name string
		run  func(r *rig)
	}{
		{"of a 429 that names its end", func(r *rig) {
			r.cool(engine.ClassRateLimitTimed, 30*time.Second)
			r.wantCooldown(30 * time.Second)
			r.want(engine.CircuitClosed)
		}},
		{"of a used-up quota that names its end", func(r *rig) {
			r.cool(engine.ClassQuota, 30*time.Second)
			r.wantCooldown(30 * time.Second)
		}},
		{"not of a 429 without, nor of a 503 that names one", func(r *rig) {
			r.cool(engine.ClassRateLimit, 30*time.Second)
			r.cool(engine.ClassServer, 30*time.Second)
			r.wantCooldown(0)
		}},
		{"not of zero or less", func(r *rig) {
			r.cool(engine.ClassRateLimitTimed, 0)
			r.cool(engine.ClassRateLimitTimed, -time.Second)
			r.wantCooldown(0)
		}},
		{"the later end stands", func(r *rig) {
			r.cool(engine.ClassRateLimitTimed, time.Minute)
			r.clock.move(10 * time.Second)
			r.cool(engine.ClassRateLimitTimed, 20*time.Second)
			r.wantCooldown(50 * time.Second)
			r.cool(engine.ClassRateLimitTimed, 2*time.Minute)
			r.wantCooldown(2 * time.Minute)
		}},
		{"a success does not end it", func(r *rig) {
			old := r.begin()
			r.cool(engine.ClassRateLimitTimed, time.Minute)
			r.clock.move(time.Second)
			r.end(old, engine.ClassNone)
			r.wantCooldown(59 * time.Second)
		}},
		{"a month at most", func(r *rig) {
			r.cool(engine.ClassRateLimitTimed, 1<<62)
			r.wantCooldown(31 * 24 * time.Hour)
		}},
		{"of this deployment alone", func(r *rig) {
			r.cool(engine.ClassRateLimitTimed, time.Minute)
			r.d = deployment("p/other")
			r.wantCooldown(0)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t)) })
	}
}

// TestEdges looks at both kinds of end just before, at and just after, in
// moments that calendars make special and instants do not.
func TestEdges(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	moments := []struct {
		name string
		from time.Time
	}{
		{"noon", start},
		{"into summer time", time.Date(2026, 3, 29, 1, 59, 30, 0, berlin)},
		{"out of summer time", time.Date(2026, 10, 25, 2, 59, 30, 0, berlin)},
		{"year end", time.Date(2026, 12, 31, 23, 59, 30, 0, time.UTC)},
		{"leap day", time.Date(2028, 2, 28, 23, 59, 30, 0, time.UTC)},
	}
	lengths := []time.Duration{time.Millisecond, time.Second, time.Minute, 2 * time.Hour, 31 * 24 * time.Hour}
	edges := []struct {
		name  string
		after time.Duration
		over  bool
	}{
		{"1 ms before", -time.Millisecond, false},
		{"at the end", 0, true},
		{"1 ms after", time.Millisecond, true},
	}
	for _, m := range moments {
		for _, length := range lengths {
			for _, e := range edges {
				for _, restart := range []bool{false, true} {
					name := m.name + " for " + length.String() + " " + e.name
					if restart {
						name += " after a restart"
					}
					t.Run(name, func(t *testing.T) {
						r := newRig(t)
						r.clock.move(m.from.Sub(r.clock.now()))
						r.restart(0)
						r.cool(engine.ClassRateLimitTimed, length)
						p := engine.RetryPolicy{FailureThreshold: 1, Cooldown: length}
						r.begin().End(Outcome{Class: engine.ClassServer, Policy: p, Now: r.clock.now()})
						if restart {
							r.restart(length + e.after)
						} else {
							r.clock.move(length + e.after)
						}
						s := r.signals()
						if over := s.CooldownUntil.IsZero(); over != e.over {
							t.Errorf("cooldown over: %v, want %v", over, e.over)
						}
						want := engine.CircuitOpen
						if e.over {
							want = engine.CircuitHalfOpen
						}
						if s.Circuit != want {
							t.Errorf("circuit %v, want %v", s.Circuit, want)
						}
						if _, ok := r.tracker.Begin(r.d, r.clock.now(), false); ok != e.over {
							t.Errorf("Begin let through: %v, want %v", ok, e.over)
						}
					})
				}
			}
		}
	}
}

// TestClockSetBack sets a clock without a monotonic reading back by an hour.
func TestClockSetBack(t *testing.T) {
	steps := []struct {
		name string
		step func(r *rig)
	}{
		{"while running", func(r *rig) { r.clock.move(-time.Hour) }},
		{"across a restart", func(r *rig) { r.restart(-time.Hour) }},
	}
	for _, c := range steps {
		t.Run(c.name+", holds last at most their length", func(t *testing.T) {
			r := newRig(t)
			r.cool(engine.ClassRateLimitTimed, 30*time.Second)
			r.open()
			r.clock.move(10 * time.Second)
			c.step(r)
			r.wantCooldown(30 * time.Second)
			r.wantUntil(time.Minute)
			r.restart(10 * time.Second)
			r.wantCooldown(20 * time.Second)
			r.wantUntil(50 * time.Second)
			r.clock.move(20 * time.Second)
			r.wantCooldown(0)
			r.clock.move(30*time.Second - time.Millisecond)
			r.refused()
			r.clock.move(time.Millisecond)
			r.end(r.probe(), engine.ClassServer)
			r.wantUntil(2 * time.Minute)
		})
	}
	t.Run("across a restart, also for those that nobody asks for", func(t *testing.T) {
		r := newRig(t)
		r.cool(engine.ClassRateLimitTimed, 30*time.Second)
		r.open()
		r.restart(-time.Hour)
		r.clock.move(40 * time.Second)
		r.wantCooldown(0)
		r.wantUntil(20 * time.Second)
	})
	t.Run("what was over stays over", func(t *testing.T) {
		r := newRig(t)
		r.cool(engine.ClassRateLimitTimed, 30*time.Second)
		r.half()
		r.wantCooldown(0)
		r.clock.move(-time.Hour)
		r.wantCooldown(0)
		r.want(engine.CircuitHalfOpen)
		if until := r.signals().CircuitUntil; until.After(r.clock.now()) {
			t.Errorf("half-open, and open until %v", until)
		}
		r.end(r.probe(), engine.ClassNone)
		r.want(engine.CircuitClosed)
	})
}

// TestOlderRequest reads the signals as of an instant before the circuit
// opened, as the fallback of a request does that began long ago.
func TestOlderRequest(t *testing.T) {
	r := newRig(t)
	began := r.clock.now()
	r.clock.move(10 * time.Minute)
	r.cool(engine.ClassRateLimitTimed, time.Minute)
	r.open()
	pool := []engine.Candidate{{Deployment: r.d}}
	r.tracker.Signals(began, pool)
	s := pool[0].Signals
	if want := r.clock.now().Add(time.Minute); !s.CooldownUntil.Equal(want) || s.Circuit != engine.CircuitOpen || !s.CircuitUntil.Equal(want) {
		t.Errorf("cooldown until %v, circuit %v until %v; want open, both until %v", s.CooldownUntil, s.Circuit, s.CircuitUntil, want)
	}
	r.clock.move(59 * time.Second)
	r.wantCooldown(time.Second)
	r.wantUntil(time.Second)
}
