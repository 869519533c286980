package store

import (
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// disk is what the writer needs of a file. Tests put a failing one in its place.
type disk interface {
	// Update runs fn in a transaction and makes it durable. After an error none
	// of it counts, though it may have reached the disk.
	Update(fn func(*bbolt.Tx) error) error
	// Settle brings the file into a known state after an Update has failed. It
	// is called before the next Update.
	Settle() error
}

// Settle writes both meta pages again, as they are in the page cache. A commit
// that failed in its last step, the sync of the meta page, leaves that page
// visible and possibly not on disk, and the system does not write it again by
// itself. The next commit would reuse the pages that the old meta page still
// needs; a power cut would find neither whole.
func (d *database) Settle() error {
	pageSize := int64(os.Getpagesize())
	if d.layout.meta.pageSize != 0 {
		pageSize = d.layout.meta.pageSize
	}
	metas := make([]byte, 2*pageSize)
	if _, err := d.file.ReadAt(metas, 0); err != nil {
		return err
	}
	if _, err := d.file.WriteAt(metas, 0); err != nil {
		return err
	}
	return d.file.Sync()
}

// batch is what one queue gives the writer.
type batch interface {
	apply(tx *bbolt.Tx) error
	finish(err error) // back into the queue after an error
	size() int
}

// writer is the one goroutine that writes. It takes what is queued, commits it
// in one transaction and tells the queues how that went.
type writer struct {
	path    string
	disk    disk
	file    *os.File // for its size
	log     *affinityLog
	tables  []*Table
	objects *Objects
	clock   func() time.Time
	flush   time.Duration
	tune    tuning
	logger  *slog.Logger

	urgent chan struct{} // one place: a prompt record is queued
	lazy   chan struct{} // one place: something is queued
	armed  atomic.Bool   // a flush will come; no need to ask
	stop   chan struct{}
	done   chan struct{}
	result error // of the last flush; valid after done

	broken  error // bbolt gave up in the middle of a transaction; for ever
	unknown bool  // the last commit failed, Settle is due
	retry   *time.Timer
	delay   time.Duration // before the next retry
	sweeps  sweeps

	health  atomic.Pointer[health]
	figures atomic.Pointer[figures]
	flying  atomic.Int64 // records being written
}

// health is the failure that still stands.
type health struct {
	err   error
	since time.Time
	tries int
}

// figures is what the writer tells Stats. It is replaced, never changed.
type figures struct {
	flushes, failed, compactions uint64
	lastFlush                    time.Time
	took                         time.Duration
	lastErr                      error
	lastErrAt                    time.Time
	segments, records            int
	fileBytes                    int64
}

// wakeUrgent asks for a commit at once.
func (w *writer) wakeUrgent() { nudge(w.urgent) }

// wakeLazy asks for a commit within the flush interval. It is called for every
// session that is put, so it costs one load when a flush is on its way.
func (w *writer) wakeLazy() {
	if !w.armed.Load() && w.armed.CompareAndSwap(false, true) {
		nudge(w.lazy)
	}
}

// nudge leaves a token, unless there is one already.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run works until stop is closed, then writes what is left.
func (w *writer) run() {
	defer close(w.done)
	debug.SetPanicOnFault(true) // a page that the disk does not deliver is an error, not the end
	flush, sweep := stoppedTimer(), time.NewTicker(w.tune.sweepEvery)
	w.retry = stoppedTimer()
	defer sweep.Stop()
	defer flush.Stop()
	defer w.retry.Stop()
	always := make(chan struct{})
	close(always)
	for {
		failing := w.health.Load() != nil
		var idle <-chan struct{}
		if !failing && len(w.urgent) == 0 && (w.log.compaction != nil || w.log.due()) {
			idle = always
		}
		select {
		case <-w.stop:
			w.result = w.drain()
			return
		case <-w.urgent:
			if !failing || w.broken != nil { // else the retry writes it
				_ = w.write(true) // the queues and health have the error
			}
		case <-w.lazy:
			flush.Reset(w.flush)
		case <-flush.C:
			w.armed.Store(false)
			if !failing {
				_ = w.write(false)
			}
		case <-w.retry.C:
			_ = w.write(false)
		case <-sweep.C:
			w.sweep()
		case <-idle:
			w.compact()
		}
	}
}

// stoppedTimer returns a timer that does not fire until it is reset.
func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// write commits what is queued in one transaction; when urgent, only the records
// that cannot wait.
func (w *writer) write(urgent bool) error {
	var batches []batch
	for _, t := range w.tables {
		if b := t.take(urgent); b != nil {
			batches = append(batches, b)
		}
	}
	if b := w.objects.take(); b != nil {
		batches = append(batches, b)
	}
	if !urgent {
		if b := w.log.take(); b != nil {
			batches = append(batches, b)
		}
	}
	if len(batches) == 0 && (w.health.Load() == nil || urgent) {
		return nil // an empty transaction is written only to learn that the disk is back
	}
	for _, b := range batches {
		w.flying.Add(int64(b.size()))
	}
	err := w.commit(func(tx *bbolt.Tx) error {
		for _, b := range batches {
			if err := b.apply(tx); err != nil {
				return err
			}
		}
		return nil
	})
	w.note(err)
	for _, b := range batches {
		b.finish(err)
	}
	w.flying.Store(0)
	w.tell(func(*figures) {})
	if err == nil && !urgent && w.log.affinity.waiting() > 0 {
		w.wakeLazy() // more than one transaction holds
	}
	return err
}

// commit runs fn in a transaction, however the last one ended.
func (w *writer) commit(fn func(*bbolt.Tx) error) error {
	if w.broken != nil {
		return w.broken
	}
	if w.unknown {
		if err := w.disk.Settle(); err != nil {
			return err
		}
		w.unknown = false
	}
	start := w.clock()
	err := guard(func() error { return w.disk.Update(fn) })
	if err != nil {
		w.unknown = true
		if _, ok := errors.AsType[*panicError](err); ok {
			w.broken = damaged(w.path, err)
			err = w.broken
		}
		return err
	}
	w.tell(func(f *figures) {
		f.flushes++
		f.lastFlush, f.took = start, w.clock().Sub(start)
	})
	return nil
}

// compact does one part of the compaction that is due or running.
func (w *writer) compact() {
	if w.log.compaction == nil {
		w.log.begin()
	}
	w.note(w.log.step(w.commit))
	w.tell(func(*figures) {})
}

// note keeps the outcome of a write: logs a change of state and sets the retry.
func (w *writer) note(err error) {
	h, now := w.health.Load(), w.clock()
	if err == nil {
		if h != nil {
			w.health.Store(nil)
			w.delay = 0
			w.logger.Info("store writes again", slog.String("path", w.path),
				slog.Duration("after", now.Sub(h.since)), slog.Int("failed_tries", h.tries))
		}
		return
	}
	w.tell(func(f *figures) {
		f.failed++
		f.lastErr, f.lastErrAt = err, now
	})
	if h == nil {
		h = &health{since: now}
		w.logger.Error("store cannot write, the gateway goes on from memory",
			slog.String("path", w.path), slog.Any("error", err))
	}
	w.health.Store(&health{err: err, since: h.since, tries: h.tries + 1})
	if w.broken == nil {
		w.delay = min(max(2*w.delay, w.tune.retryMin), w.tune.retryMax)
		w.retry.Reset(w.delay)
	}
}

// tell replaces the figures.
func (w *writer) tell(change func(*figures)) {
	f := *w.figures.Load()
	change(&f)
	f.segments, f.records, f.compactions = w.log.segments, w.log.records, w.log.compacted
	if info, err := w.file.Stat(); err == nil {
		f.fileBytes = info.Size()
	}
	w.figures.Store(&f)
}

// drain writes everything that is left. It tries once, whatever the retry says.
func (w *writer) drain() error {
	for first := true; first || w.waiting() > 0; first = false {
		if err := w.write(false); err != nil {
			return err
		}
	}
	for w.log.affinity.unlisted() {
		w.compact()
		if h := w.health.Load(); h != nil {
			return h.err
		}
	}
	return nil
}

// waiting is how many records are queued.
func (w *writer) waiting() int {
	n := w.log.affinity.waiting() + w.objects.waiting()
	for _, t := range w.tables {
		n += t.waiting()
	}
	return n
}
