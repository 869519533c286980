package health

import (
	"log/slog"
	"net/http"
	"time"

	"gatewright/engine"
)

// Call is one call of a deployment that runs. It belongs to one request;
// its methods may run in parallel with the calls of others.
type Call struct {
	tracker    *Tracker
	state      *state
	deployment *engine.Deployment
	probe      bool // never changes after Begin
	answered   bool // by the upstream, with a status of success

	// Guarded by state.mu.
	epoch  uint64 // of the circuit when the call began, or when it decided its probe
	opened uint64 // epoch that a failure of this request made; 0 = none
	ttft   time.Duration
	ended  bool
}

// Outcome is how a call ended. An Outcome with the zero Class is a success.
type Outcome struct {
	Class engine.FailureClass
	// Cooldown is the wait that a valid Retry-After asks for, counted from Now;
	// 0 = none. It is obeyed for ClassRateLimitTimed and ClassQuota alone.
	Cooldown time.Duration
	Policy   engine.RetryPolicy // of the request that made the call
	TTFT     time.Duration      // of a stream, until its first content; 0 = as given to Committed
	Duration time.Duration      // of the call; 0 = not known
	Usage    engine.Usage
	Stream   bool // the answer was streamed by the upstream
	Now      time.Time
}

// verdict is what an outcome says of the upstream.
type verdict uint8

const (
	neutral verdict = iota // nothing: not the upstream's doing
	success
	failure
	limited // it refused for a time that it named: a failure, but not the circuit's
)

func verdictOf(c engine.FailureClass) verdict {
	switch {
	case c == engine.ClassNone:
		return success
	case c == engine.ClassRateLimitTimed:
		return limited
	case c.Rule().Circuit:
		return failure
	}
	return neutral
}

// Probe reports whether the call holds, or held, the probe's place of a
// half-open or an open circuit.
func (c *Call) Probe() bool { return c.probe }

// Answered says that the upstream's answer has begun, at an instant: with a
// status, and with headers that may tell what is left of its quotas. h is only
// read, and not kept.
func (c *Call) Answered(status int, h http.Header, at time.Time) {
	c.answered = status >= http.StatusOK && status < http.StatusMultipleChoices
	c.tracker.observe(c.state, c.deployment, h, at)
}

// Committed says that the first content of a stream has reached the client,
// ttft after the call began. A probe is decided by it: its success closes the
// circuit, and what becomes of the rest of the stream counts as for any call.
func (c *Call) Committed(now time.Time, ttft time.Duration) {
	s := c.state
	s.mu.Lock()
	if c.ended {
		s.mu.Unlock()
		return
	}
	c.ttft = ttft
	did := unchanged
	if s.circuit.broken {
		did = s.circuit.succeed(c)
	}
	report := c.tracker.changed(s, did, now)
	s.mu.Unlock()
	c.tracker.tell(report)
}

// End counts the call out and its outcome in, and frees the probe's place if
// the call holds it. It must be called once for every call that began, also
// after a panic; further calls do nothing.
func (c *Call) End(o Outcome) {
	s, t := c.state, c.tracker
	if o.Now.IsZero() {
		o.Now = t.clock()
	}
	at := t.at(o.Now)
	v := verdictOf(o.Class)
	s.mu.Lock()
	if c.ended {
		s.mu.Unlock()
		return
	}
	c.ended = true
	if o.TTFT <= 0 {
		o.TTFT = c.ttft
	}
	s.inFlight--
	t.age(s, at)
	s.circuit.release(c)
	did := unchanged
	switch v {
	case success:
		did = s.circuit.succeed(c)
	case failure:
		did = s.circuit.fail(c, o.Policy, at)
	case neutral, limited:
	}
	report := t.changed(s, did, o.Now)
	t.cool(s, &o, at)
	s.settle(&o, v, at)
	s.mu.Unlock()
	t.spend(c, &o, at)
	t.tell(report)
}

// cool applies the cooldown that an outcome asks for: the later end stands. The
// caller holds s.mu.
func (t *Tracker) cool(s *state, o *Outcome, at int64) {
	if o.Cooldown <= 0 || o.Class != engine.ClassRateLimitTimed && o.Class != engine.ClassQuota {
		return
	}
	h := hold{begin: at, length: min(o.Cooldown, maxHold)}
	if s.cooldown.end() >= h.end() {
		return
	}
	s.cooldown = h
	t.keepCooldown(s, o.Now)
}

const (
	// leastOutput is how many output tokens an answer must have for its speed
	// to mean anything.
	leastOutput = 16
	// leastStreaming is the part of its duration that a stream must take after
	// its first content; one that is shorter was held back and sent at once.
	leastStreaming = 20
)

// sample adds what the success measured to a window.
func (o *Outcome) sample(w *window) {
	switch {
	case o.Stream && o.TTFT > 0:
		w.add(firstToken, int64(o.TTFT))
	case !o.Stream && o.Duration > 0:
		w.add(wholeAnswer, int64(o.Duration))
	}
	if o.Duration > 0 {
		w.add(latency, int64(o.Duration))
	}
	if v := o.throughput(); v > 0 {
		w.add(throughput, v)
	}
}

// throughput is the speed of the answer in micro-tokens per second; 0 = it does
// not tell.
func (o *Outcome) throughput() int64 {
	if !o.Usage.Known || o.Usage.Output < leastOutput || o.Duration <= 0 {
		return 0
	}
	tokens, took := o.Usage.Output, o.Duration
	rest := o.Duration - o.TTFT
	if o.Stream && o.TTFT > 0 && o.Usage.Reasoning == 0 && rest > o.Duration/leastStreaming {
		tokens, took = tokens-1, rest // the first token came with the first content
	}
	const micro = 1e6
	return int64(min(float64(tokens)*micro/took.Seconds(), 1e15))
}

// report is a change of a circuit, to be logged without a lock.
type report struct {
	did    change
	id     string
	length time.Duration
}

// changed counts and stores a change of the circuit, and returns what to tell of
// it. The caller holds s.mu.
func (t *Tracker) changed(s *state, did change, now time.Time) report {
	if did == unchanged {
		return report{}
	}
	if did == opened || did == reopened {
		s.openings++
	}
	t.keepCircuit(s, now)
	return report{did: did, id: s.id, length: s.circuit.time.length}
}

func (t *Tracker) tell(r report) {
	if r.did == unchanged {
		return
	}
	id := slog.String("deployment", r.id)
	switch r.did {
	case opened:
		t.logger.Warn("circuit opened", id, slog.Duration("for", r.length))
	case reopened:
		t.logger.Info("circuit opened again", id, slog.Duration("for", r.length))
	case closed:
		t.logger.Info("circuit closed", id)
	case unchanged:
	}
}
