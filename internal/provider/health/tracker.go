package health

import (
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
)

// DefaultMinSamples is how many samples a statistic needs to count as known.
const DefaultMinSamples = 20

// Options are what a Tracker is made from. The zero value works: nothing is
// kept over a restart.
type Options struct {
	// Clock tells the time; nil = time.Now. Instants that the Tracker's methods
	// are given must come from the same clock.
	Clock  func() time.Time
	Logger *slog.Logger // nil = no log

	// Where the state is kept; nil = not kept. Statistics and Quotas are written
	// about once a minute and at Close, the others at every change; so is a quota
	// that has just been used up.
	Cooldowns, Circuits, Statistics, Quotas Table

	// MinSamples is how many samples a statistic needs in the window; below
	// that it is Unknown. 0 = DefaultMinSamples.
	MinSamples int
}

// Table keeps small records under ids. Put and Delete only queue the change,
// and do not block: they are called under the lock of one deployment. The last
// change of an id wins. They need not keep value after they return.
type Table interface {
	Put(id string, value []byte, expires time.Time)
	Delete(id string)
	// Load calls each with every record that is not over at now.
	Load(now time.Time, each func(id string, value []byte, expires time.Time) error) error
}

// Tracker knows the state of every deployment. Its methods may run in parallel.
type Tracker struct {
	clock   func() time.Time
	logger  *slog.Logger
	options Options
	least   uint64 // samples

	base   time.Time // when the tracker was made
	origin int64     // base in Unix nanoseconds

	mu     sync.Mutex               // held to replace states; taken before any state.mu
	states atomic.Pointer[stateMap] // never written once it is here
	quotas quotas

	stop      chan struct{} // nil = nothing to flush
	done      chan struct{}
	closeOnce sync.Once
}

var _ engine.SignalSource = (*Tracker)(nil)

// New returns a tracker that goes on from what the tables hold. A record that
// it does not understand is dropped and logged; the error is that of a table
// that cannot be read. With a table for statistics or quotas it runs a goroutine
// until Close.
func New(o Options) (*Tracker, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MinSamples <= 0 {
		o.MinSamples = DefaultMinSamples
	}
	t := &Tracker{clock: o.Clock, logger: o.Logger, options: o, least: uint64(o.MinSamples)} //nolint:gosec // positive
	t.base = t.clock().UTC()
	t.origin = t.base.UnixNano()
	t.quotas.accounts = make(map[string]*account)
	states := stateMap{}
	if err := errors.Join(t.loadCooldowns(states), t.loadCircuits(states), t.loadStatistics(states), t.loadQuotas()); err != nil {
		return nil, err
	}
	for _, s := range states {
		t.age(s, t.origin)
	}
	t.states.Store(&states)
	if o.Statistics != nil || o.Quotas != nil {
		t.stop, t.done = make(chan struct{}), make(chan struct{})
		go t.run()
	}
	return t, nil
}

// at places an instant on the tracker's time line: Unix nanoseconds by the wall
// clock as it was when the tracker was made, and by the monotonic clock since.
func (t *Tracker) at(now time.Time) int64 { return t.origin + int64(now.Sub(t.base)) }

// instant is the inverse of at, the zero time for 0.
func (t *Tracker) instant(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return t.base.Add(time.Duration(at - t.origin))
}

// Signals fills what is known of each candidate. Numbers that rest on too few
// samples are Unknown.
func (t *Tracker) Signals(now time.Time, pool []engine.Candidate) {
	at := t.at(now)
	states := *t.states.Load()
	streams, answers := 0, 0
	for i := range pool {
		out := &pool[i].Signals
		s := states[pool[i].ID]
		if s == nil {
			*out = engine.Signals{
				TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration,
				Throughput: engine.Unknown, SuccessPPM: engine.Unknown,
				Quota: t.look(t.quotas.sources(pool[i].Deployment), at).quota,
			}
			continue
		}
		out.Quota = t.quota(s, pool[i].Deployment, at)
		stream, answer := t.read(s, at, out)
		if stream {
			streams++
		}
		if answer {
			answers++
		}
	}
	if answers <= streams {
		return
	}
	for i := range pool {
		if s := states[pool[i].ID]; s != nil {
			pool[i].TTFT = t.answerTime(s)
		}
	}
}

// read copies what is known of one deployment. It reports which times are
// known: until the first content of streams, and of whole answers.
func (t *Tracker) read(s *state, at int64, out *engine.Signals) (stream, answer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.age(s, at)
	out.Circuit, out.CircuitUntil, out.ProbeTaken = engine.CircuitClosed, time.Time{}, false
	if s.circuit.broken {
		out.Circuit = s.circuit.phase(at)
		out.CircuitUntil = t.instant(s.circuit.until(at))
		out.ProbeTaken = out.Circuit == engine.CircuitHalfOpen && s.circuit.probe != nil
	}
	out.CooldownUntil = time.Time{}
	if s.cooldown.active(at) {
		out.CooldownUntil = t.instant(s.cooldown.end())
	}
	out.InFlight = s.inFlight
	out.TokensThisMinute = s.tokensAt(at)
	out.LastSuccess = t.instant(s.lastSuccess)
	out.TTFT, out.LatencyP50, out.LatencyP95 = engine.UnknownDuration, engine.UnknownDuration, engine.UnknownDuration
	out.Throughput, out.SuccessPPM, out.Samples = engine.Unknown, engine.Unknown, 0
	w := s.window
	if w == nil {
		return false, false
	}
	w.refresh(at)
	var v int64
	if v, stream = w.median(firstToken, t.least); stream {
		out.TTFT = time.Duration(v)
	}
	if half, slow, known := w.latencies(t.least); known {
		out.LatencyP50, out.LatencyP95 = time.Duration(half), time.Duration(slow)
	}
	if v, known := w.median(throughput, t.least); known {
		const microPerMilli = 1000
		out.Throughput = v / microPerMilli
	}
	share, outcomes, known := w.reliability(t.least)
	if known {
		out.SuccessPPM = share
	}
	out.Samples = int64(outcomes) //nolint:gosec // a count of calls
	_, answer = w.median(wholeAnswer, t.least)
	return stream, answer
}

// answerTime returns the median time of whole answers.
func (t *Tracker) answerTime(s *state) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window != nil {
		if v, known := s.window.median(wholeAnswer, t.least); known {
			return time.Duration(v)
		}
	}
	return engine.UnknownDuration
}

// age ends what is over at the instant. An instant before a hold began is
// either that of a request which began earlier, or the clock was set back; in
// that case the hold begins anew, so that it lasts no longer than it was. The
// caller holds s.mu.
func (t *Tracker) age(s *state, at int64) {
	c := &s.circuit
	if s.cooldown.length > 0 && !s.cooldown.active(at) {
		s.cooldown = hold{}
	}
	if c.broken && !c.due && !c.time.active(at) {
		c.due = true
	}
	if at >= s.cooldown.begin && (at >= c.time.begin || c.due) {
		return
	}
	now := t.clock()
	at = t.at(now)
	if at < s.cooldown.begin {
		s.cooldown.begin = at
		t.keepCooldown(s, now)
	}
	if c.broken && !c.due && at < c.time.begin {
		c.time.begin = at
		t.keepCircuit(s, now)
	}
}

// Begin counts a call of the deployment in. It fails when the circuit forbids
// the call now: it is open, or half-open with the probe's place taken. With
// lastResort an open circuit may be called if the probe's place is free, and the
// call is its probe. Every call that began must End.
func (t *Tracker) Begin(d *engine.Deployment, now time.Time, lastResort bool) (*Call, bool) {
	if lastResort {
		return t.begin(t.state(d.ID), d, now, lastResortEntry, nil)
	}
	return t.begin(t.state(d.ID), d, now, ordinaryEntry, nil)
}

// BeginPinned counts a call in that no circuit stops, because this deployment
// alone can continue what it issued. It is the probe of a half-open circuit
// whose place is free. While it goes past a circuit, its success closes the
// circuit and its failure changes nothing.
func (t *Tracker) BeginPinned(d *engine.Deployment, now time.Time) *Call {
	c, _ := t.begin(t.state(d.ID), d, now, entitledEntry, nil)
	return c
}

// Repeat counts another call of the same deployment by the same request in,
// after prev has ended. A circuit that this request's own failure has opened
// does not stop it; what others opened does, as for Begin. A repeat past an open
// circuit is no probe: its success closes the circuit, its failure changes
// nothing.
func (t *Tracker) Repeat(prev *Call, now time.Time) (*Call, bool) {
	return t.begin(prev.state, prev.deployment, now, ordinaryEntry, prev)
}

// begin counts a call in. The state may have been forgotten since it was looked
// up; prev is the request's call before this one, or nil.
func (t *Tracker) begin(s *state, d *engine.Deployment, now time.Time, right entry, prev *Call) (*Call, bool) {
	at := t.at(now)
	s.mu.Lock()
	for s.forgotten {
		s.mu.Unlock()
		s = t.ensure(s.id)
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	t.age(s, at)
	c := &Call{tracker: t, state: s, deployment: d}
	if prev != nil && prev.state == s {
		c.opened = prev.opened
		if c.opened == s.circuit.epoch {
			right = entitledEntry
		}
	}
	if !s.circuit.enter(c, at, right) {
		return nil, false
	}
	s.inFlight++
	return c, true
}

// state returns the state of a deployment, made if need be.
func (t *Tracker) state(id string) *state {
	if s := (*t.states.Load())[id]; s != nil {
		return s
	}
	return t.ensure(id)
}

// ensure is state once no other change of the map is under way.
func (t *Tracker) ensure(id string) *state {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.states.Load()
	if s := old[id]; s != nil {
		return s
	}
	next := make(stateMap, len(old)+1)
	maps.Copy(next, old)
	s := next.ensure(id)
	t.states.Store(&next)
	return s
}

// Keep makes the deployments with the given ids, those of the configuration
// now, all that there are. Of others the state is forgotten, save for those
// with calls running, in a cooldown or with an open circuit: they stay until a
// later Keep finds that over. What is kept in tables runs out there.
func (t *Tracker) Keep(ids map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	next := make(stateMap, len(ids))
	for id, s := range *t.states.Load() {
		if ids[id] || !t.forget(s, now) {
			next[id] = s
		}
	}
	for id, exists := range ids {
		if exists {
			next.ensure(id)
		}
	}
	t.states.Store(&next)
}

// forget marks a state as no longer there, unless something of it must stay.
func (t *Tracker) forget(s *state, now time.Time) bool {
	at := t.at(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.age(s, at)
	if !s.idle(at) {
		return false
	}
	if s.circuit.broken {
		s.circuit.close()
		t.keepCircuit(s, now)
	}
	s.forgotten = true
	return true
}
