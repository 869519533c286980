package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/health"
)

// rig is an engine whose deployments are scripted: real plans, real health, a
// real dispatcher, no network.
type rig struct {
	t          *testing.T
	tracker    *health.Tracker
	dispatcher *Dispatcher
	engine     *engine.Engine
	snapshot   *engine.Snapshot
	adapters   map[string]*scripted
	affinity   affinity
	decisions  []*engine.Decision
}

// Record implements [engine.Recorder].
func (r *rig) Record(d *engine.Decision) { r.decisions = append(r.decisions, d) }

// affinity remembers one target for every session.
type affinity struct{ target engine.Target }

func (a *affinity) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return a.target, a.target.Deployment != ""
}

func (a *affinity) Succeeded(_ engine.AffinityKey, t engine.Target, _, _ time.Time) { a.target = t }

// shape is a model of a rig: its deployments from the highest priority down,
// and its fallbacks.
type shape struct {
	name        string
	deployments []string
	chains      map[engine.Chain][]string
	retry       engine.RetryPolicy
	timeouts    engine.Timeouts
}

// newRig makes a rig. Deployments answer well until they are told otherwise.
func newRig(t *testing.T, o Options, models ...shape) *rig {
	t.Helper()
	tracker, err := health.New(health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, tracker: tracker, dispatcher: NewDispatcher(tracker, o), adapters: map[string]*scripted{}}
	spec := engine.Spec{AffinityOn: true, SessionTTL: time.Hour, Strategies: map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}}}
	for _, m := range models {
		if m.retry == (engine.RetryPolicy{}) {
			m.retry = engine.DefaultRetryPolicy()
		}
		model := &engine.Model{Name: m.name, Route: engine.Route{Retry: m.retry, Chains: m.chains}}
		for i, id := range m.deployments {
			a := &scripted{script: good}
			r.adapters[id] = a
			p := &engine.Provider{ID: "provider-" + id, Enabled: true, HasCredential: true}
			spec.Providers = append(spec.Providers, p)
			model.Deployments = append(model.Deployments, &engine.Deployment{
				ID: id, Model: m.name, Provider: p, UpstreamModel: "up-" + id, Enabled: true, Weight: 1, Listed: i,
				Priority: 100 - i, Endpoints: engine.EndpointSet(engine.EndpointChat), Timeouts: m.timeouts,
				Price:  engine.Price{Known: true, Input: 1_000_000_000, Output: 2_000_000_000, CachedInput: engine.Unknown, CacheWrite: engine.Unknown},
				Target: &Target{Adapter: a},
			})
		}
		spec.Models = append(spec.Models, model)
	}
	r.snapshot, err = engine.NewSnapshot(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.engine = engine.New(r.snapshot, tracker, &r.affinity, r.dispatcher, r)
	return r
}

// ask sends a request and returns what came of it.
func (r *rig) ask(ctx context.Context, change func(*engine.Request)) (*recorder, *engine.Decision, error) {
	req := &engine.Request{
		ID: "req-1", Caller: &engine.Caller{Key: "k"}, Model: "m", Endpoint: engine.EndpointChat, Now: time.Now(),
	}
	if change != nil {
		change(req)
	}
	sink := &recorder{began: time.Now()}
	d, err := r.engine.Serve(ctx, r.snapshot, req, sink, time.Now)
	sink.end()
	return sink, d, err
}

func stream(r *engine.Request) { r.Stream = true }

// stats returns what health knows of a deployment.
func (r *rig) stats(id string) health.DeploymentStats {
	for _, s := range r.tracker.Stats() {
		if s.Deployment == id {
			return s
		}
	}
	return health.DeploymentStats{Deployment: id, Circuit: "closed"}
}

// calls lists how often each deployment was called, as "a=1 b=2".
func (r *rig) calls() string {
	var parts []string
	for id, a := range r.adapters {
		if n := a.count(); n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", id, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// fail makes a deployment fail with each failure in turn, then answer well.
func (r *rig) fail(id string, failures ...*Failure) {
	a := r.adapters[id]
	a.set(func(ctx context.Context, c *Call, n int) (*Response, error) {
		if n < len(failures) {
			f := *failures[n]
			c.Seen = Seen{Status: f.Status, At: c.Clock()}
			return nil, &f
		}
		return good(ctx, c, n)
	})
}

// always makes a deployment fail every time.
func (r *rig) always(id string, f *Failure) {
	r.adapters[id].set(func(_ context.Context, c *Call, _ int) (*Response, error) {
		c.Seen = Seen{Status: f.Status, At: c.Clock()}
		return nil, f
	})
}

// script answers the n-th call, n from 0.
type script func(ctx context.Context, c *Call, n int) (*Response, error)

type scripted struct {
	mu     sync.Mutex
	calls  int
	script script
}

func (a *scripted) set(s script) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.script, a.calls = s, 0
}

func (a *scripted) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls
}

// Do implements [Adapter].
func (a *scripted) Do(ctx context.Context, c *Call) (*Response, error) {
	a.mu.Lock()
	n, s := a.calls, a.script
	a.calls++
	a.mu.Unlock()
	return s(ctx, c, n)
}

var someUsage = engine.Usage{Known: true, Input: 10, Output: 5}

// good answers at once, whole or streamed.
func good(ctx context.Context, c *Call, _ int) (*Response, error) {
	c.Seen = Seen{Status: 200, RequestID: "up-1", At: c.Clock()}
	if c.Request.Stream {
		return streamed(ctx, c, content("hello"), finish(), done()), nil
	}
	return &Response{Body: []byte(`answer of ` + c.Deployment.ID), Usage: someUsage}, nil
}

// beat is one event of a scripted stream, or its end.
type beat struct {
	after time.Duration
	ev    Event
	err   error
	panic bool
}

func content(text string) beat { return beat{ev: Event{Frame: []byte(text), Commits: true}} }
func role() beat               { return beat{ev: Event{Frame: []byte("role|")}} }
func finish() beat             { return beat{ev: Event{Frame: []byte("|stop"), Commits: true, Finished: true}} }
func trailing() beat           { return beat{ev: Event{Frame: []byte("|usage"), Finished: true}} }
func done() beat               { return beat{ev: Event{Frame: []byte("|DONE"), Done: true}} }
func eof() beat                { return beat{err: io.EOF} }
func broken() beat             { return beat{err: BadAnswer("the upstream broke off its answer", nil)} }

func (b beat) in(d time.Duration) beat { b.after = d; return b }

// streamed answers with the beats; without an end among them the stream is
// silent for ever.
func streamed(ctx context.Context, c *Call, beats ...beat) *Response {
	c.Seen = Seen{Status: 200, RequestID: "up-1", At: c.Clock()}
	return &Response{Stream: &beatStream{ctx: ctx, call: c, beats: beats}}
}

type beatStream struct {
	ctx    context.Context //nolint:containedctx // stands for a connection
	call   *Call
	beats  []beat
	closed bool
}

// Next implements [Stream].
func (s *beatStream) Next() (Event, error) {
	if s.closed {
		return Event{}, errors.New("stream is closed")
	}
	if len(s.beats) == 0 {
		s.call.Waiting()
		<-s.ctx.Done()
		return Event{}, s.ctx.Err()
	}
	b := s.beats[0]
	s.beats = s.beats[1:]
	if b.after > 0 {
		s.call.Waiting()
		select {
		case <-time.After(b.after):
		case <-s.ctx.Done():
			return Event{}, s.ctx.Err()
		}
	}
	if b.panic {
		panic("scripted")
	}
	return b.ev, b.err
}

// Usage implements [Stream].
func (s *beatStream) Usage() engine.Usage { return someUsage }

// Tail implements [Stream].
func (s *beatStream) Tail() []byte { return []byte("|TAIL") }

// Close implements [Stream].
func (s *beatStream) Close() error { s.closed = true; return nil }

// recorder is a sink that keeps everything, and when it was flushed.
type recorder struct {
	began     time.Time
	commits   int
	answer    engine.Answer
	committed time.Duration
	out       strings.Builder
	flushed   int // bytes
	flushes   []string
	failWrite error
	failAfter time.Duration // since began; writes fail from then on
	slow      time.Duration // every write takes so long
}

// Commit implements [engine.Sink].
func (s *recorder) Commit(a engine.Answer) error {
	s.commits++
	s.answer, s.committed = a, time.Since(s.began)
	return nil
}

// Write implements [engine.Sink].
func (s *recorder) Write(p []byte) (int, error) {
	if s.slow > 0 {
		<-time.After(s.slow)
	}
	if s.failWrite != nil && time.Since(s.began) >= s.failAfter {
		return 0, s.failWrite
	}
	return s.out.Write(p)
}

// Flush implements [engine.Sink].
func (s *recorder) Flush() error {
	if s.slow > 0 {
		<-time.After(s.slow)
	}
	all := s.out.String()
	s.flushes = append(s.flushes, fmt.Sprintf("%v %s", time.Since(s.began), all[s.flushed:]))
	s.flushed = len(all)
	return nil
}

// end brings out what was left, as the end of an answer does.
func (s *recorder) end() {
	if s.flushed < s.out.Len() {
		_ = s.Flush()
	}
}

// attempts lists the attempts of a decision as "a:server b:ok".
func attempts(d *engine.Decision) string {
	parts := make([]string, len(d.Attempts))
	for i := range d.Attempts {
		parts[i] = d.Attempts[i].Deployment + ":" + d.Attempts[i].Class.String()
	}
	return strings.Join(parts, " ")
}

// upstream returns the error as the one that an executor gives.
func upstream(t *testing.T, err error) *engine.UpstreamError {
	t.Helper()
	var u *engine.UpstreamError
	if !errors.As(err, &u) {
		t.Fatalf("got error %v, want an upstream error", err)
	}
	return u
}

// blockAfterPlan stands for a tracker whose circuits open between the plan and
// the call.
type blockAfterPlan struct{ *health.Tracker }

// Begin implements [Health].
func (blockAfterPlan) Begin(*engine.Deployment, time.Time, bool) (*health.Call, bool) {
	return nil, false
}
