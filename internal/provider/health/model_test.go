package health

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatewright/engine"
)

// model is the breaker as its rules tell it: plain, slow, one deployment.
type model struct {
	closed   bool
	until    time.Time // of the open time
	length   time.Duration
	streak   int
	turn     int // of the circuit's changes
	holder   *modelCall
	running  int
	cooldown time.Time
}

type modelCall struct {
	call    *Call
	turn    int // at its begin, or when it closed the circuit
	opened  int // the turn that its failure, or an earlier one of its request, began; 0 = none
	isProbe bool
	ended   bool
}

func (m *model) phase(now time.Time) engine.Circuit {
	switch {
	case m.closed:
		return engine.CircuitClosed
	case now.Before(m.until):
		return engine.CircuitOpen
	}
	return engine.CircuitHalfOpen
}

// begin answers whether a call is let through, and whether as the probe.
func (m *model) begin(now time.Time, c *modelCall, lastResort, entitled bool) (let, probe bool) {
	phase := m.phase(now)
	free := m.holder == nil
	probe = free && (phase == engine.CircuitHalfOpen || phase == engine.CircuitOpen && lastResort)
	let = phase == engine.CircuitClosed || probe || entitled
	if !let {
		return false, false
	}
	c.turn, c.isProbe = m.turn, probe
	if probe {
		m.holder = c
	}
	m.running++
	return let, probe
}

func (m *model) close(c *modelCall) {
	m.closed, m.streak, m.holder = true, 0, nil
	m.turn++
	c.turn = m.turn
}

func (m *model) commit(c *modelCall) {
	if !c.ended && !m.closed && c.turn == m.turn {
		m.close(c)
	}
}

func (m *model) end(now time.Time, c *modelCall, o Outcome) {
	if c.ended {
		return
	}
	c.ended = true
	m.running--
	if m.holder == c {
		m.holder = nil
	}
	if (o.Class == engine.ClassRateLimitTimed || o.Class == engine.ClassQuota) && o.Cooldown > 0 {
		if end := now.Add(o.Cooldown); end.After(m.cooldown) {
			m.cooldown = end
		}
	}
	if c.turn != m.turn {
		return
	}
	switch {
	case o.Class == engine.ClassNone && m.closed:
		m.streak = 0
	case o.Class == engine.ClassNone:
		m.close(c)
	case !o.Class.Rule().Circuit:
	case m.closed:
		m.streak++
		if n := o.Policy.FailureThreshold; n > 0 && m.streak >= n {
			m.length = o.Policy.Cooldown
			if m.length == 0 {
				m.length = time.Minute
			}
			m.open(now, c)
		}
	case c.isProbe:
		if m.length < 10*time.Minute {
			m.length = min(2*m.length, 10*time.Minute)
		}
		m.open(now, c)
	}
}

func (m *model) open(now time.Time, c *modelCall) {
	m.closed, m.until = false, now.Add(m.length)
	m.turn++
	c.opened = m.turn
}

// compare tells where the tracker and the model differ.
func (m *model) compare(now time.Time, s engine.Signals) error {
	if got, want := s.Circuit, m.phase(now); got != want {
		return fmt.Errorf("circuit %v, want %v", got, want)
	}
	if !m.closed && !s.CircuitUntil.Equal(m.until) {
		return fmt.Errorf("open until %v, want %v", s.CircuitUntil, m.until)
	}
	if want := m.phase(now) == engine.CircuitHalfOpen && m.holder != nil; s.ProbeTaken != want {
		return fmt.Errorf("the probe's place is taken: %v, want %v", s.ProbeTaken, want)
	}
	if s.InFlight != int64(m.running) {
		return fmt.Errorf("in flight %d, want %d", s.InFlight, m.running)
	}
	if now.Before(m.cooldown) != !s.CooldownUntil.IsZero() || now.Before(m.cooldown) && !s.CooldownUntil.Equal(m.cooldown) {
		return fmt.Errorf("cooldown until %v, want %v", s.CooldownUntil, m.cooldown)
	}
	return nil
}

var allClasses = []engine.FailureClass{
	engine.ClassNone, engine.ClassConnect, engine.ClassTimeout, engine.ClassServer, engine.ClassRateLimitTimed,
	engine.ClassRateLimit, engine.ClassQuota, engine.ClassConflict, engine.ClassAuth, engine.ClassNotFound,
	engine.ClassContext, engine.ClassContent, engine.ClassClient, engine.ClassLocal, engine.ClassCancelled, engine.ClassTruncated,
}

// schedule drives a tracker and the model through the same random events, and
// then expects the deployment to recover.
func schedule(t *rapid.T, r *rig) {
	m := &model{closed: true, turn: 1}
	var calls []*modelCall
	begin := func(how string, let bool, c *Call, wantLet, wantProbe bool, mc *modelCall) {
		if let != wantLet || let && c.Probe() != wantProbe {
			t.Fatalf("%s: let through %v, want %v as probe %v", how, let, wantLet, wantProbe)
		}
		if let {
			mc.call = c
			calls = append(calls, mc)
		}
	}
	some := func(t *rapid.T) *modelCall {
		if len(calls) == 0 {
			t.Skip("no call yet")
		}
		return rapid.SampledFrom(calls).Draw(t, "call")
	}
	t.Repeat(map[string]func(*rapid.T){
		"begin": func(t *rapid.T) {
			last, mc := rapid.Bool().Draw(t, "last resort"), &modelCall{}
			wantLet, wantProbe := m.begin(r.clock.now(), mc, last, false)
			c, let := r.tracker.Begin(r.d, r.clock.now(), last)
			begin("Begin", let, c, wantLet, wantProbe, mc)
		},
		"pinned": func(*rapid.T) {
			mc := &modelCall{}
			_, wantProbe := m.begin(r.clock.now(), mc, false, true)
			begin("BeginPinned", true, r.tracker.BeginPinned(r.d, r.clock.now()), true, wantProbe, mc)
		},
		"repeat": func(t *rapid.T) {
			prev := some(t)
			mc := &modelCall{opened: prev.opened}
			wantLet, wantProbe := m.begin(r.clock.now(), mc, false, prev.opened == m.turn && !m.closed)
			c, let := r.tracker.Repeat(prev.call, r.clock.now())
			begin("Repeat", let, c, wantLet, wantProbe, mc)
		},
		"commit": func(t *rapid.T) {
			mc := some(t)
			m.commit(mc)
			mc.call.Committed(r.clock.now(), time.Second)
		},
		"end": func(t *rapid.T) {
			mc := some(t)
			o := Outcome{
				Class:    rapid.SampledFrom(allClasses).Draw(t, "class"),
				Cooldown: rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "cooldown"),
				Now:      r.clock.now(),
			}
			o.Policy.FailureThreshold = rapid.IntRange(0, 4).Draw(t, "threshold")
			o.Policy.Cooldown = rapid.SampledFrom([]time.Duration{0, 5 * time.Second, time.Minute, 20 * time.Minute}).Draw(t, "open for")
			m.end(o.Now, mc, o)
			mc.call.End(o)
		},
		"wait": func(t *rapid.T) {
			d := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 5 * time.Second, time.Minute}).Draw(t, "wait")
			r.clock.move(d)
		},
		"wait for the end": func(t *rapid.T) {
			if left := m.until.Sub(r.clock.now()); !m.closed && left > 0 {
				early := rapid.SampledFrom([]time.Duration{0, time.Millisecond}).Draw(t, "early")
				r.clock.move(max(left-early, 0))
			}
		},
		"": func(t *rapid.T) {
			if err := m.compare(r.clock.now(), r.signals()); err != nil {
				t.Fatalf("%v", err)
			}
		},
	})
	for _, c := range calls {
		o := Outcome{Class: engine.ClassCancelled, Now: r.clock.now()}
		m.end(o.Now, c, o)
		c.call.End(o)
	}
	r.clock.move(20 * time.Minute)
	c, ok := r.tracker.Begin(r.d, r.clock.now(), false)
	if !ok {
		t.Fatalf("no call is let through after all; signals %+v", r.signals())
	}
	c.End(Outcome{Now: r.clock.now()})
	if s := r.signals(); s.Circuit != engine.CircuitClosed || s.InFlight != 0 {
		t.Fatalf("after a success circuit %v with %d in flight, want closed with none", s.Circuit, s.InFlight)
	}
	for range 2 {
		r.end(r.begin(), engine.ClassServer)
	}
	if s := r.signals(); s.Circuit != engine.CircuitClosed {
		t.Fatal("the run did not begin anew")
	}
}

// TestSchedules runs five times the usual number of random schedules.
func TestSchedules(t *testing.T) {
	for i := range 5 {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				r := &rig{t: t, clock: newClock(), d: deployment("p/m")}
				r.options = Options{Clock: r.clock.now, Circuits: newTable(), Cooldowns: newTable()}
				r.start()
				schedule(rt, r)
				r.close()
			})
		})
	}
}
