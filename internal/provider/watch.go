package provider

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Why a wait for an upstream ended.
var (
	errFirstToken = errors.New("no content in time")
	errAnswer     = errors.New("no answer in time")
	errIdle       = errors.New("no event in time")
	errDeadline   = errors.New("the request's time is over")
	errSettled    = errors.New("the answer is complete") // its end was awaited in vain
	errClient     = errors.New("the client cannot be written to")
)

// never is a wait that does not end.
const never = time.Duration(math.MaxInt64)

// alarms keeps the timers of watches that have stopped: a new timer costs more
// than one that is set again.
type alarms struct{ pool sync.Pool }

// alarm is a timer for one watch after the other. One that goes off late, for a
// watch that has stopped, wakes the next one needlessly, which looks at its own
// times.
type alarm struct {
	timer *time.Timer
	watch atomic.Pointer[watch] // nil = nobody's
}

func (l *alarms) get(w *watch, d time.Duration) *alarm {
	if a, ok := l.pool.Get().(*alarm); ok {
		a.watch.Store(w)
		a.timer.Reset(d)
		return a
	}
	a := new(alarm)
	a.watch.Store(w)
	a.timer = time.AfterFunc(d, a.fire)
	return a
}

func (l *alarms) put(a *alarm) {
	a.watch.Store(nil)
	a.timer.Stop()
	l.pool.Put(a)
}

func (a *alarm) fire() {
	if w := a.watch.Load(); w != nil {
		w.fire()
	}
}

// watch ends the waits of one attempt by cancelling its context. It is one
// timer: an event of a stream costs a store, not a new setting of the timer.
type watch struct {
	cancel context.CancelCauseFunc
	out    *output // keep-alives go there
	alarms *alarms

	// waiting is when the request's goroutine began to wait for the next event,
	// since out.began and plus one; 0 = it does not wait for the upstream. Time
	// that a slow client takes is not the upstream's.
	waiting atomic.Int64

	mu    sync.Mutex
	alarm *alarm        // while it runs
	cause error         // of a bounded wait; nil = a stream moves
	due   time.Duration // end of a bounded wait, since out.began
	idle  time.Duration // of a moving stream
	quiet time.Duration // silence before a keep-alive
	over  bool
}

// start begins the first wait, which is bound to d from out.began.
func (w *watch) start(d time.Duration, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause, w.due = cause, d
	w.alarm = w.alarms.get(w, d)
}

// bound lets the wait that runs from now on end after d, with cause.
func (w *watch) bound(d time.Duration, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause, w.due = cause, w.out.elapsed()+d
	w.alarm.timer.Reset(d)
}

// move says that the answer has begun to reach the client: from now on silence
// between two events is bounded by idle, and a keep-alive goes out after quiet.
func (w *watch) move(idle, quiet time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause, w.idle, w.quiet = nil, idle, quiet
	w.alarm.timer.Reset(min(idle, quiet))
}

// stop ends the watch; no keep-alive is sent afterwards.
func (w *watch) stop() {
	w.mu.Lock()
	w.over = true
	w.alarms.put(w.alarm)
	w.mu.Unlock()
	w.out.close()
}

// waits says that the request's goroutine waits for an event from the instant at
// on, since out.began.
func (w *watch) waits(at time.Duration) { w.waiting.Store(int64(at) + 1) }

// busy says that it does not.
func (w *watch) busy() { w.waiting.Store(0) }

// fire runs when the timer does.
func (w *watch) fire() {
	if w.look() && !w.out.keepAlive() {
		w.cancel(errClient)
	}
}

// look ends the wait that is over, or sets the timer again. It reports whether
// a keep-alive is due.
func (w *watch) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.out.elapsed()
	switch {
	case w.over:
		return false
	case w.cause != nil:
		if now < w.due { // set anew while this call was on its way
			w.alarm.timer.Reset(w.due - now)
			return false
		}
		w.cancel(w.cause)
		return false
	}
	var silent time.Duration
	if since := w.waiting.Load(); since != 0 {
		silent = now - time.Duration(since-1)
	}
	if silent >= w.idle {
		w.cancel(errIdle)
		return false
	}
	quiet := now - time.Duration(w.out.wrote.Load())
	due := quiet >= w.quiet
	if due {
		quiet = 0
	}
	w.alarm.timer.Reset(min(w.idle-silent, w.quiet-quiet))
	return due
}
