package provider

import (
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
	"gatewright/internal/wire/sse"
)

// keepAlive is the comment that a silent stream sends; every reader of events
// ignores it.
var keepAlive = sse.AppendComment(nil, "keep-alive")

// output is the sink as two goroutines use it: the one that runs the request,
// and the timer that sends keep-alives while that one waits for the upstream.
type output struct {
	// mu lets one of the two use the sink. It is held while the sink writes:
	// that is what it is for, and nothing else waits for it.
	mu     sync.Mutex
	sink   engine.Sink
	closed bool // the request's end: no keep-alive may follow
	broken error

	dirty bool         // written and not flushed; of the request's goroutine
	wrote atomic.Int64 // when bytes last went out, since began
	began time.Time
	clock func() time.Time
}

func (o *output) elapsed() time.Duration { return o.clock().Sub(o.began) }

// commit tells the sink that the answer begins.
func (o *output) commit(a engine.Answer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sink.Commit(a)
}

// write sends p; it is flushed later.
func (o *output) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		return o.broken
	}
	_, o.broken = o.sink.Write(p)
	o.dirty = true
	return o.broken
}

// flush brings to the client what has been written, and says when it had done
// so.
func (o *output) flush() (at time.Duration, err error) {
	o.dirty = false
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken == nil {
		o.broken = o.sink.Flush()
	}
	at = o.elapsed()
	o.wrote.Store(int64(at))
	return at, o.broken
}

// keepAlive sends a comment, unless somebody is writing just now. It reports
// false when the client is gone.
func (o *output) keepAlive() bool {
	if !o.mu.TryLock() {
		return true
	}
	defer o.mu.Unlock()
	if o.closed || o.broken != nil {
		return true
	}
	_, err := o.sink.Write(keepAlive)
	if err == nil {
		err = o.sink.Flush()
	}
	o.broken = err
	o.wrote.Store(int64(o.elapsed()))
	return err == nil
}

// close waits for a keep-alive that is being sent; none follows.
func (o *output) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
}
