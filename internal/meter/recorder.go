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
	// reportEvery is how often lost decisions are reported, if there are any.
	reportEvery = 10 * time.Second
)

// Options are what a Recorder is made of.
type Options struct {
	// Logger gets one line a request, at level info. Required.
	Logger *slog.Logger
	// Queue is how many decisions may wait to be written; 0 = 4096. Each holds
	// a few KiB.
	Queue int
	// Status returns the HTTP status that a refusal's code stands for where the
	// refusal names none; nil leaves such statuses at 0.
	Status func(code string) int
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
	status   func(code string) int
	recorded atomic.Uint64
	dropped  atomic.Uint64
	done     chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // held for reading while sending
	queue  chan *engine.Decision
	closed bool
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
		status: o.Status,
		done:   make(chan struct{}),
		queue:  make(chan *engine.Decision, o.Queue),
	}
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
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		r.dropped.Add(1)
		return
	}
	select {
	case r.queue <- d:
		r.recorded.Add(1)
	default:
		r.dropped.Add(1)
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
		close(r.queue)
	}
	r.mu.Unlock()
	<-r.done
}

// run writes decisions until the queue is closed and empty.
func (r *Recorder) run() {
	defer close(r.done)
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	var reported uint64
	for {
		select {
		case d, ok := <-r.queue:
			if !ok {
				r.report(reported)
				return
			}
			r.write(d)
		case <-ticker.C:
			reported = r.report(reported)
		}
	}
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

// write logs the line of one decision, dated to the request's end.
func (r *Recorder) write(d *engine.Decision) {
	ctx := context.Background()
	line := slog.NewRecord(d.Time.Add(d.Duration), slog.LevelInfo, "request", 0)
	line.AddAttrs(r.attributes(d, r.logger.Enabled(ctx, slog.LevelDebug))...)
	// A line that cannot be written is lost, as with any logger.
	_ = r.logger.Handler().Handle(ctx, line)
}
