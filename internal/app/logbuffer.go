package app

import (
	"io"
	"sync"
	"time"
)

const (
	logBatch = 32 << 10              // bytes that are written at once at the latest
	logDelay = 20 * time.Millisecond // how long a line may wait for others
)

// LogBuffer gathers log lines and writes several at once: a line a request
// would cost a system call each. Whole lines are written, in order; what a crash
// can lose is what came in its last logDelay. It may be used in parallel.
type LogBuffer struct {
	mu    sync.Mutex
	to    io.Writer
	lines []byte
	timer *time.Timer
	armed bool
}

// NewLogBuffer returns a buffer that writes to w.
func NewLogBuffer(w io.Writer) *LogBuffer { return &LogBuffer{to: w} }

// Write keeps one line or more. It reports no error: there is no log to tell it
// to.
func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, p...)
	switch {
	case len(b.lines) >= logBatch:
		b.flush()
	case b.armed:
	case b.timer == nil:
		b.armed = true
		b.timer = time.AfterFunc(logDelay, b.Flush)
	default:
		b.armed = true
		b.timer.Reset(logDelay)
	}
	return len(p), nil
}

// Flush writes what was kept.
func (b *LogBuffer) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = false
	b.flush()
}

// flush writes what was kept; the caller holds mu.
func (b *LogBuffer) flush() {
	if len(b.lines) > 0 {
		_, _ = b.to.Write(b.lines) // see Write
		b.lines = b.lines[:0]
	}
}
