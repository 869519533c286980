package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// SignalSource tells what is known of deployments now.
type SignalSource interface {
	// Signals fills the Signals of every candidate. It must not block on I/O,
	// and runs in parallel.
	Signals(now time.Time, pool []Candidate)
}

// Affinity remembers which deployment served a session.
type Affinity interface {
	// Target returns what served the session's requests for the model last.
	Target(k AffinityKey, now time.Time) (Target, bool)
	// Succeeded remembers the target of a success whose request began at began.
	// An older success never overwrites a newer one.
	Succeeded(k AffinityKey, t Target, began, expires time.Time)
}

// AffinityKey is what affinity is remembered for.
type AffinityKey struct {
	Session [16]byte
	Family  string // endpoint family
	Model   string // public name that was asked for
}

// Target is what served: a deployment, and the fallback models on the way to
// it (empty when the requested model itself served).
type Target struct {
	Deployment string
	Path       []string
}

// Sink receives the answer. The executor calls Commit once, then Write and
// Flush; before Commit nothing has reached the client. What has been written and
// not flushed goes out with the end of the answer. It is used by one goroutine at
// a time.
type Sink interface {
	Commit(a Answer) error
	Write(p []byte) (int, error)
	Flush() error
}

// Answer is what is known when the first byte is about to go to the client.
type Answer struct {
	Status     int
	Header     map[string][]string // canonical names; upstream's that may pass on
	Deployment *Deployment
	Model      string // public name of the model that serves
	Attempts   int    // calls made so far, this one included
	Usage      Usage  // known only for answers that were held whole
	Cost       int64  // nano-USD; Unknown
}

// Executor calls the deployments of a plan, and of its fallbacks, until one
// has served.
type Executor interface {
	// Execute returns how the request ended. When nobody served, or the answer
	// broke after the commit, the error is an *UpstreamError, or the context's
	// error when the client left.
	Execute(ctx context.Context, r *Request, p *Plan, sink Sink) (Result, error)
}

// Recorder keeps decisions. Record must not block; after it the engine does
// not touch the decision.
type Recorder interface {
	Record(d *Decision)
}

// Engine holds the current snapshot and walks requests through it. Its methods
// may run in parallel.
type Engine struct {
	current  atomic.Pointer[Snapshot]
	signals  SignalSource
	affinity Affinity
	executor Executor
	recorder Recorder
	orderers sync.Pool
}

// New returns an engine that serves from the given snapshot.
func New(s *Snapshot, signals SignalSource, affinity Affinity, executor Executor, recorder Recorder) *Engine {
	e := &Engine{signals: signals, affinity: affinity, executor: executor, recorder: recorder}
	e.orderers.New = func() any { return new(orderer) }
	e.current.Store(s)
	return e
}

// Swap makes s the current snapshot. The old one closes when its last request
// has ended. Later requests see s; running ones keep what they began with. A
// snapshot that was swapped out cannot come back.
func (e *Engine) Swap(s *Snapshot) {
	if old := e.current.Swap(s); old != s {
		old.Release()
	}
}

// Acquire returns the current snapshot and keeps it open until Release.
func (e *Engine) Acquire() *Snapshot {
	for {
		if s := e.current.Load(); s.acquire() {
			return s
		}
	}
}

// Serve walks one request: resolve, admission, ordering, execution, record.
// The snapshot is the one the caller acquired for this request. The decision
// is complete when Serve returns and has been handed to the Recorder.
func (e *Engine) Serve(ctx context.Context, s *Snapshot, r *Request, sink Sink, clock func() time.Time) (*Decision, error) {
	w := e.newWalk(s, r)
	d := w.decision
	plan, err := w.first(ctx)
	if err == nil {
		d.Result, err = e.executor.Execute(ctx, r, plan, sink)
	}
	e.finish(w, err, clock())
	r.Payload, r.Client, r.CountTokens = nil, nil, nil
	return d, err
}

// Plan returns the decision that the request would get, and calls nobody.
func (e *Engine) Plan(ctx context.Context, s *Snapshot, r *Request) (*Decision, error) {
	w := e.newWalk(s, r)
	_, err := w.first(ctx)
	w.decision.Err = err
	w.decision.Skipped = slices.Concat(w.notes.skipped, w.notes.broken)
	return w.decision, err
}

// finish settles what follows from the end of a request: affinity after a
// success, the error's code, the record.
func (e *Engine) finish(w *walk, err error, now time.Time) {
	d := w.decision
	d.Err = err
	d.Skipped = slices.Concat(w.notes.skipped, w.uncalled())
	d.Duration = now.Sub(d.Time)
	if err == nil {
		w.remember(now)
	} else {
		d.failed(err)
	}
	e.recorder.Record(d)
}

// failed takes over how a request failed.
func (d *Decision) failed(err error) {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		d.Result.Code, d.Result.Status = refused.Code, refused.Status
		return
	}
	if upstream, ok := errors.AsType[*UpstreamError](err); ok {
		d.Result.Code = upstream.Code
		if !upstream.Committed {
			d.Result.Status = upstream.Status
		}
		return
	}
	if errors.Is(err, context.Canceled) {
		d.Result.Cancelled = true
	}
}
