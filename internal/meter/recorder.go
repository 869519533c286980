package meter

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
)

const (
	// defaultQueue is how many decisions may wait when nothing is set.
	defaultQueue = 4096
	// gather is how long a decision may wait for others: a goroutine that is woken
	// for each costs more than the line.
	gather = 20 * time.Millisecond
	// chunk is how many bytes of lines are handed over at once at the most, and
	// one line more.
	chunk = 16 << 10
	// message is that of every line.
	message = "request"
	// reportEvery is how often lost decisions are reported, if there are any.
	reportEvery = 10 * time.Second
)

// Options are what a Recorder is made of.
type Options struct {
	// Logger gets one line a request, at level info. Required. If its handler is
	// a LineWriter, it gets lines that are written already.
	Logger *slog.Logger
	// Queue is how many decisions may wait to be written; 0 = 4096. Each holds
	// a few KiB.
	Queue int
	// Status returns the HTTP status that a refusal's code stands for where the
	// refusal names none; nil leaves such statuses at 0.
	Status func(code string) int
}

// LineWriter is a [slog.Handler] that takes finished lines too. Its methods run
// on one goroutine, and in parallel with those of the handler.
type LineWriter interface {
	slog.Handler
	// Form says how lines are to be written now; with FormNone they go through
	// Handle.
	Form() Form
	// WriteLines writes whole lines. They are valid until it returns.
	WriteLines(lines []byte)
}

// Stats counts what became of decisions since the start.
type Stats struct {
	Recorded uint64 // taken over to be written
	Dropped  uint64 // lost because the queue was full or closed
}

// Recorder writes one log line for each decision, on a goroutine of its own.
// Its methods may run in parallel.
type Recorder struct {
	logger   *slog.Logger
	direct   LineWriter // the logger's handler; nil = it is none
	limit    int
	recorded atomic.Uint64
	dropped  atomic.Uint64
	wake     chan struct{} // holds one when waiting is not empty
	quit     chan struct{} // closed by Close
	done     chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	waiting []*engine.Decision
	closed  bool

	// Of the goroutine.
	walk  describer
	lines encoder
}

var _ engine.Recorder = (*Recorder)(nil)

// New starts a recorder. Close ends it.
func New(o Options) *Recorder {
	if o.Queue <= 0 {
		o.Queue = defaultQueue
	}
	if o.Status == nil {
		o.Status = func(string) int { return 0 }
	}
	r := &Recorder{
		logger: o.Logger,
		limit:  o.Queue,
		walk:   describer{status: o.Status},
		wake:   make(chan struct{}, 1),
		quit:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	r.direct, _ = o.Logger.Handler().(LineWriter)
	go r.run()
	return r
}

// Record takes a decision over and returns at once. When too many wait already
// it is dropped and counted.
func (r *Recorder) Record(d *engine.Decision) {
	if !r.logger.Enabled(context.Background(), slog.LevelInfo) {
		r.recorded.Add(1)
		return
	}
	r.mu.Lock()
	n := len(r.waiting)
	if taken := !r.closed && n < r.limit; taken {
		r.waiting = append(r.waiting, d)
		r.recorded.Add(1)
	} else {
		r.dropped.Add(1)
		n = -1
	}
	r.mu.Unlock()
	if n == 0 {
		select {
		case r.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// Stats returns the counts so far.
func (r *Recorder) Stats() Stats {
	return Stats{Recorded: r.recorded.Load(), Dropped: r.dropped.Load()}
}

// Close writes what waits, then returns. Later decisions are dropped. It may be
// called more than once.
func (r *Recorder) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.quit)
	}
	r.mu.Unlock()
	<-r.done
}

// run writes decisions until the recorder is closed and none waits.
func (r *Recorder) run() {
	defer close(r.done)
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	pause := time.NewTimer(gather)
	defer pause.Stop()
	var reported uint64
	var batch []*engine.Decision
	for open := true; open; {
		select {
		case <-r.wake:
			pause.Reset(gather)
			select {
			case <-pause.C:
			case <-r.quit:
			}
		case <-ticker.C:
			reported = r.report(reported)
			continue
		case <-r.quit:
			open = false
		}
		batch = r.take(batch)
		r.write(batch)
		clear(batch)
	}
	r.report(reported)
}

// take exchanges what waits for an empty slice. The memory of a large batch is
// not kept.
func (r *Recorder) take(empty []*engine.Decision) []*engine.Decision {
	if cap(empty) > defaultQueue/4 {
		empty = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	batch := r.waiting
	r.waiting = empty[:0]
	return batch
}

// report says how many decisions were lost since the last report.
func (r *Recorder) report(reported uint64) uint64 {
	dropped := r.dropped.Load()
	if dropped > reported {
		r.logger.LogAttrs(context.Background(), slog.LevelWarn, "decisions dropped",
			slog.Uint64("dropped", dropped-reported), slog.Uint64("dropped_total", dropped))
	}
	return dropped
}

// write logs the lines of decisions.
func (r *Recorder) write(batch []*engine.Decision) {
	for _, d := range batch {
		debug := r.logger.Enabled(context.Background(), slog.LevelDebug)
		form := FormNone
		if r.direct != nil {
			form = r.direct.Form()
		}
		if form == FormNone {
			r.flush()
			r.handle(d, debug)
			continue
		}
		e := &r.lines
		e.text = form == FormText
		e.begin(ended(d))
		r.walk.describe(e, d, debug)
		if e.end(); len(e.buf) >= chunk {
			r.flush()
		}
	}
	r.flush()
}

// flush hands the finished lines over.
func (r *Recorder) flush() {
	if len(r.lines.buf) > 0 {
		r.direct.WriteLines(r.lines.buf)
		r.lines.buf = r.lines.buf[:0]
	}
}

// handle logs the line of one decision through the handler.
func (r *Recorder) handle(d *engine.Decision, debug bool) {
	var c collector
	r.walk.describe(&c, d, debug)
	line := slog.NewRecord(ended(d), slog.LevelInfo, message, 0)
	line.AddAttrs(c.attrs...)
	// A line that cannot be written is lost, as with any logger.
	_ = r.logger.Handler().Handle(context.Background(), line)
}

// ended is when a request ended, which is what its line is dated to.
func ended(d *engine.Decision) time.Time { return d.Time.Add(d.Duration) }
