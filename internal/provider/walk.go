package provider

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/health"
)

// step is what follows after a candidate.
type step uint8

const (
	stepNext  step = iota // the next candidate of the plan
	stepChain             // this plan is over; its fallback may serve
	stepOver              // no further call; the last failure stands
	stepDone              // result and err of the walk stand
	stepBusy              // the candidate was not called
	stepUnfit             // nor was this one: it cannot serve the request
)

// walk is one request on its way through its plans. It is used by one
// goroutine.
type walk struct {
	dispatcher *Dispatcher
	request    *engine.Request
	sink       engine.Sink

	spares []spare      // broken circuits, in the order they may be called as a last resort
	last   *Failure     // of the newest call
	unfit  *Failure     // of the first candidate that cannot serve the request; nil = none
	open   bool         // every failure so far allowed another candidate
	next   *engine.Plan // found ahead of time by a refusal
	busy   time.Time    // earliest end of a circuit that let nobody through

	// earliest is the soonest end of a wait that a rate limit asked for.
	earliest time.Time

	memo Memo // of the adapters

	result engine.Result
	err    error
}

// spare is a candidate with a broken circuit.
type spare struct {
	plan      *engine.Plan
	candidate *engine.Candidate
}

// run calls the candidates of the plan, then those of its fallbacks, then the
// last resorts of all.
func (w *walk) run(ctx context.Context, plan *engine.Plan) (engine.Result, error) {
	for {
		class, s := w.pool(ctx, plan)
		if s == stepDone {
			return w.result, w.err
		}
		if s == stepOver {
			return w.failed()
		}
		next, ok := w.fallback(ctx, plan, class)
		if !ok {
			return w.lastResorts(ctx)
		}
		plan = next
	}
}

// fallback returns the plan to try next.
func (w *walk) fallback(ctx context.Context, plan *engine.Plan, class engine.FailureClass) (*engine.Plan, bool) {
	if next := w.next; next != nil {
		w.next = nil
		return next, true
	}
	if plan.Final() {
		return nil, false
	}
	return plan.Fallback(ctx, class)
}

// pool calls the candidates of one plan. With stepChain, the class is that of its
// last failure.
func (w *walk) pool(ctx context.Context, plan *engine.Plan) (engine.FailureClass, step) {
	called, unfit := false, 0
	for i := range plan.Order {
		c := &plan.Order[i]
		switch s := w.candidate(ctx, plan, c, false); s {
		case stepBusy:
			w.spares = append(w.spares, spare{plan, c})
			w.blocked(c)
			continue
		case stepUnfit:
			unfit++
			if plan.Final() {
				return w.unfit.Class, stepOver
			}
		case stepNext:
			called = true
			if plan.Final() {
				return w.last.Class, stepOver
			}
		case stepChain:
			w.spare(plan)
			return w.last.Class, stepChain
		case stepOver, stepDone:
			return 0, s
		}
	}
	w.spare(plan)
	switch {
	case called:
		return w.last.Class, stepChain
	case unfit > 0 && unfit == len(plan.Order)+len(plan.LastResort):
		return w.unfit.Class, stepChain // as if admission had left nobody, for a lasting reason
	}
	return engine.ClassConnect, stepChain // nobody could be called: the general chain, as for an empty pool
}

// spare keeps the last resorts of a plan.
func (w *walk) spare(plan *engine.Plan) {
	for i := range plan.LastResort {
		w.spares = append(w.spares, spare{plan, &plan.LastResort[i]})
	}
}

// blocked notes when a circuit that let nobody through may do so again.
func (w *walk) blocked(c *engine.Candidate) {
	if c.CircuitUntil.IsZero() {
		return
	}
	if w.busy.IsZero() || c.CircuitUntil.Before(w.busy) {
		w.busy = c.CircuitUntil
	}
}

// lastResorts calls broken circuits, once everything else has failed.
func (w *walk) lastResorts(ctx context.Context) (engine.Result, error) {
	switch {
	case w.last != nil:
	case w.unfit != nil && len(w.spares) == 0:
		return w.failed()
	default:
		return engine.Result{Cost: engine.Unknown}, w.allBroken()
	}
	for _, s := range w.spares {
		if !w.open {
			break
		}
		switch w.candidate(ctx, s.plan, s.candidate, true) {
		case stepDone:
			return w.result, w.err
		case stepOver, stepChain:
			return w.failed()
		case stepNext, stepBusy, stepUnfit:
		}
	}
	return w.failed()
}

// candidate calls one candidate, again where the failure and the budget allow
// it.
func (w *walk) candidate(ctx context.Context, plan *engine.Plan, c *engine.Candidate, lastResort bool) step {
	d := w.dispatcher
	now := d.clock()
	if plan.Attempts() >= engine.MaxAttempts || w.late(now) {
		return stepOver
	}
	call, ok := w.begin(plan, c, now, lastResort)
	if !ok {
		return stepBusy
	}
	plan.Failed(c) // whatever comes: no fallback calls it again
	for n := 1; ; n++ {
		a := newAttempt(w, plan, c, call, lastResort, now)
		failure, s := a.run(ctx)
		if s == stepDone {
			a.record()
			return s
		}
		if s == stepUnfit {
			if w.unfit == nil {
				w.unfit = failure
			}
			a.record()
			return s
		}
		w.note(a, failure)
		wait := pauseBefore(n)
		again := s == stepNext && w.mayRepeat(a, n, wait)
		a.record()
		if !again {
			return s
		}
		if !pause(ctx, wait) {
			return w.cancelled(ctx)
		}
		now = d.clock()
		if call, ok = d.health.Repeat(call, now); !ok {
			return stepNext
		}
		d.repeats.Add(1)
	}
}

// begin asks health whether the candidate may be called.
func (w *walk) begin(plan *engine.Plan, c *engine.Candidate, now time.Time, lastResort bool) (*health.Call, bool) {
	if plan.Final() {
		return w.dispatcher.health.BeginPinned(c.Deployment, now), true
	}
	return w.dispatcher.health.Begin(c.Deployment, now, lastResort)
}

// note keeps what a failure means for the rest of the request.
func (w *walk) note(a *attempt, f *Failure) {
	w.last = f
	w.open = w.open && f.Class.Rule().Next
	now := w.dispatcher.clock()
	if f.Class == engine.ClassRateLimitTimed {
		if at := now.Add(f.Cooldown); w.earliest.IsZero() || at.Before(w.earliest) {
			w.earliest = at
		}
	}
	if f.Class == engine.ClassAuth {
		w.dispatcher.refusals.refused(a.candidate.Provider.ID, a.candidate.ID, now)
	}
	w.dispatcher.logger.Debug("attempt failed",
		slog.String("request", w.request.ID), slog.String("deployment", a.candidate.ID),
		slog.String("class", f.Class.String()), slog.Int("status", f.Status), slog.String("message", f.Message),
		slog.String("cause", detail(f.Err)))
}

// mayRepeat decides whether the n-th call of a deployment is followed by
// another one. What stops a repeat that the policy would allow is noted in the
// attempt.
func (w *walk) mayRepeat(a *attempt, n int, wait time.Duration) bool {
	d := w.dispatcher
	switch {
	case n >= a.plan.Route.Retry.MaxAttempts, a.plan.Final(), !w.last.Class.Rule().SameAgain:
		return false
	case a.plan.Attempts()+1 >= engine.MaxAttempts:
		a.addNote("no repeat: the request has made its last call")
		return false
	case w.late(d.clock().Add(wait)):
		a.addNote("no repeat: it would come after the request's deadline")
		return false
	case !d.bucket.take(d.clock()):
		d.denied.Add(1)
		a.addNote("no repeat: the retry budget is used up")
		return false
	}
	return true
}

// late reports whether the request's deadline has come at now.
func (w *walk) late(now time.Time) bool {
	return !w.request.Deadline.IsZero() && !now.Before(w.request.Deadline)
}

// pause waits; false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cancelled ends the walk because its context did.
func (w *walk) cancelled(ctx context.Context) step {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return stepOver
	}
	w.result, w.err = engine.Result{Cost: engine.Unknown, Cancelled: true}, ctx.Err()
	return stepDone
}

// failed is the end of a request that nobody served: the last failure.
func (w *walk) failed() (engine.Result, error) {
	last := w.last
	switch {
	case last != nil:
	case w.unfit != nil && !w.late(w.dispatcher.clock()):
		last = w.unfit
	default: // its deadline came before the first call
		last = outOfTime()
	}
	var wait time.Duration
	if !w.earliest.IsZero() {
		wait = max(w.earliest.Sub(w.dispatcher.clock()), time.Second)
	}
	return engine.Result{Cost: engine.Unknown}, last.upstreamError(wait)
}

// outOfTime is the failure of a request whose own deadline came.
func outOfTime() *Failure {
	return &Failure{Class: engine.ClassTimeout, Message: "the request's deadline came before an upstream had answered"}
}

// allBroken is the error of a request whose candidates all turned out to have
// broken circuits since it was planned.
func (w *walk) allBroken() error {
	wait := time.Second
	if !w.busy.IsZero() {
		wait = max(wait, w.busy.Sub(w.dispatcher.clock()))
	}
	return &engine.RefusedError{
		Code:       engine.CodeAllCircuitsOpen,
		Message:    "every candidate has failed too often and is being left alone",
		RetryAfter: wait,
	}
}
