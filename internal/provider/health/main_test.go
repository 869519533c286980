package health

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatewright/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	start   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	provide = &engine.Provider{ID: "p", Enabled: true}
	policy  = engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 3, Cooldown: time.Minute}
)

func deployment(id string) *engine.Deployment {
	return &engine.Deployment{ID: id, Provider: provide, Enabled: true, Weight: 1}
}

// fakeClock is a wall clock without a monotonic reading: it may run backwards.
type fakeClock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *fakeClock { return &fakeClock{t: start} }

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	return c.t
}

// memTable is a Table in memory that outlives trackers. Like a table on disk
// it keeps expiries in whole milliseconds.
type memTable struct {
	mu      sync.Mutex
	records map[string]memRecord
	loadErr error
	puts    int
}

type memRecord struct {
	value   []byte
	expires time.Time
}

func newTable() *memTable { return &memTable{records: make(map[string]memRecord)} }

func (m *memTable) Put(id string, value []byte, expires time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	m.records[id] = memRecord{bytes.Clone(value), expires.Truncate(time.Millisecond)}
}

func (m *memTable) Delete(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
}

func (m *memTable) Load(now time.Time, each func(string, []byte, time.Time) error) error {
	if m.loadErr != nil {
		return m.loadErr
	}
	m.mu.Lock()
	records := maps.Clone(m.records)
	m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(records)) {
		r := records[id]
		if !now.Before(r.expires) {
			continue
		}
		if err := each(id, r.value, r.expires); err != nil {
			return err
		}
	}
	return nil
}

func (m *memTable) writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.puts
}

func (m *memTable) ids() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.records))
}

// rig is one tracker over tables that survive a restart, one clock, and the
// deployment that most tests are about.
type rig struct {
	t       testing.TB
	clock   *fakeClock
	options Options
	tracker *Tracker
	d       *engine.Deployment
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	clock := newClock()
	r := &rig{t: tb, clock: clock, d: deployment("p/m")}
	r.options = Options{Clock: clock.now, Cooldowns: newTable(), Circuits: newTable(), Statistics: newTable()}
	r.start()
	tb.Cleanup(func() { r.close() })
	return r
}

func (r *rig) start() {
	r.t.Helper()
	tracker, err := New(r.options)
	if err != nil {
		r.t.Fatalf("New: %v", err)
	}
	r.tracker = tracker
}

func (r *rig) close() {
	r.t.Helper()
	if err := r.tracker.Close(); err != nil {
		r.t.Errorf("Close: %v", err)
	}
}

// restart ends the tracker in good order and starts another, down later.
func (r *rig) restart(down time.Duration) {
	r.t.Helper()
	r.close()
	r.clock.move(down)
	r.start()
}

func (r *rig) signals() engine.Signals {
	pool := []engine.Candidate{{Deployment: r.d}}
	r.tracker.Signals(r.clock.now(), pool)
	return pool[0].Signals
}

// begin starts a call that must be let through.
func (r *rig) begin() *Call {
	r.t.Helper()
	c, ok := r.tracker.Begin(r.d, r.clock.now(), false)
	if !ok {
		r.t.Fatalf("Begin refused at %v; signals %+v", r.clock.now(), r.signals())
	}
	return c
}

// refused starts a call that must not be let through.
func (r *rig) refused() {
	r.t.Helper()
	if c, ok := r.tracker.Begin(r.d, r.clock.now(), false); ok {
		r.t.Fatalf("Begin let a call through at %v (probe %v)", r.clock.now(), c.Probe())
	}
}

// probe starts a call that must be the probe.
func (r *rig) probe() *Call {
	r.t.Helper()
	c := r.begin()
	if !c.Probe() {
		r.t.Fatalf("the call is no probe; signals %+v", r.signals())
	}
	return c
}

func (r *rig) end(c *Call, class engine.FailureClass) {
	c.End(Outcome{Class: class, Policy: policy, Now: r.clock.now()})
}

// open lets calls fail until the circuit is open.
func (r *rig) open() {
	r.t.Helper()
	for range policy.FailureThreshold {
		r.end(r.begin(), engine.ClassServer)
	}
	r.want(engine.CircuitOpen)
}

// half opens the circuit and waits until it is half-open.
func (r *rig) half() {
	r.t.Helper()
	r.open()
	r.clock.move(policy.Cooldown)
	r.want(engine.CircuitHalfOpen)
}

func (r *rig) want(c engine.Circuit) {
	r.t.Helper()
	if got := r.signals().Circuit; got != c {
		r.t.Fatalf("circuit %v, want %v", got, c)
	}
}

func (r *rig) wantUntil(d time.Duration) {
	r.t.Helper()
	s := r.signals()
	if got := s.CircuitUntil.Sub(r.clock.now()); s.Circuit != engine.CircuitOpen || got != d {
		r.t.Fatalf("circuit %v for another %v, want open for %v", s.Circuit, got, d)
	}
}
