package app

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	logBatch    = 32 << 10              // bytes that are written at once at the latest
	logDelay    = 20 * time.Millisecond // how long a line may wait for others
	logLimit    = 1 << 20               // bytes that may wait
	logKept     = 512 << 10             // bytes of memory that are used again, twice
	logPatience = time.Second           // how long a full buffer waits for its writer to move
)

// LogBuffer gathers log lines and writes several at once: a line a request
// would cost a system call each. Whole lines are written, in order; what a crash
// can lose is what came in its last logDelay. It may be used in parallel.
//
// Nobody waits for the writer until the buffer is full. If the writer does not
// move for logPatience then, lines are lost until it does, and counted: a log
// that nobody reads must not hold requests up, nor the end of the process.
type LogBuffer struct {
	to   io.Writer
	lost func(lines int) // told of lost lines once the writer has moved; may be nil

	mu      sync.Mutex
	lines   []byte        // what waits
	written []byte        // the memory of the batch before
	timer   *time.Timer   // runs tick
	armed   bool          // the timer is set
	hurried bool          // without delay
	writing bool          // a batch is on its way
	moved   chan struct{} // closed and replaced when a batch has been written
	stuck   bool          // the writer was waited for in vain
	missing int           // lines lost since the writer moved
}

// NewLogBuffer returns a buffer that writes to w, from one goroutine at a time.
func NewLogBuffer(w io.Writer) *LogBuffer {
	b := &LogBuffer{to: w, moved: make(chan struct{})}
	b.timer = time.AfterFunc(logDelay, b.tick)
	b.timer.Stop()
	return b
}

// Write keeps one line or more. It reports no error: there is no log to tell it
// to.
func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.room(len(p)) {
		b.missing += bytes.Count(p, []byte{'\n'})
		return len(p), nil
	}
	b.lines = append(b.lines, p...)
	b.arm(false)
	return len(p), nil
}

// room waits until n bytes more may wait; false when that takes too long. The
// caller holds mu, which is given up meanwhile.
func (b *LogBuffer) room(n int) bool {
	fits := func() bool { return len(b.lines) == 0 || len(b.lines)+n <= logLimit }
	if fits() || b.stuck {
		return fits()
	}
	limit := time.NewTimer(logPatience)
	defer limit.Stop()
	for !fits() {
		if !b.await(limit.C) {
			b.stuck = !fits()
			break
		}
	}
	return fits()
}

// await waits until a batch has been written; false when limit fires before.
// The caller holds mu, which is given up meanwhile.
func (b *LogBuffer) await(limit <-chan time.Time) bool {
	moved := b.moved
	b.mu.Unlock()
	defer b.mu.Lock()
	select {
	case <-moved:
		return true
	case <-limit:
		return false
	}
}

// arm sets the timer: at once if there is a batch or somebody waits for it. The
// caller holds mu.
func (b *LogBuffer) arm(hurry bool) {
	hurry = hurry || len(b.lines) >= logBatch
	if b.writing || (b.armed && (b.hurried || !hurry)) {
		return
	}
	b.armed, b.hurried = true, hurry
	if hurry {
		b.timer.Reset(0)
		return
	}
	b.timer.Reset(logDelay)
}

// tick writes what waits. It is the timer's.
func (b *LogBuffer) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed, b.hurried = false, false
	if b.writing || len(b.lines) == 0 {
		return
	}
	batch := b.lines
	b.lines, b.writing = b.written[:0], true
	b.mu.Unlock()
	_, _ = b.to.Write(batch) // see Write
	b.mu.Lock()
	if b.written, b.writing, b.stuck = batch, false, false; cap(batch) > logKept {
		b.written = nil // of a time when much was to be said
	}
	close(b.moved)
	b.moved = make(chan struct{})
	if n := b.missing; n > 0 && b.lost != nil {
		b.missing = 0
		b.mu.Unlock()
		b.lost(n)
		b.mu.Lock()
	}
	if len(b.lines) > 0 {
		b.arm(false)
	}
}

// Flush has everything written that was kept. It waits for that, but not longer
// than logPatience for a batch.
func (b *LogBuffer) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.writing || len(b.lines) > 0 {
		b.arm(true)
		limit := time.NewTimer(logPatience)
		ok := b.await(limit.C)
		limit.Stop()
		if !ok {
			return
		}
	}
}
