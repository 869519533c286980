package store

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

const (
	defaultLockTimeout = time.Second
	defaultFlushEvery  = 100 * time.Millisecond
	defaultMaxSessions = 2_000_000
)

// Options say how a Store works. The zero value is ready to use.
type Options struct {
	// Logger gets what an operator must know. Nil: nothing is logged.
	Logger *slog.Logger
	// LockTimeout is how long Open waits for another process to close the
	// file. 0 means one second, more than two seconds mean two.
	LockTimeout time.Duration
	// FlushEvery is the longest time that affinity, statistics, quotas and owners
	// wait to be written. 0 means 100 ms.
	FlushEvery time.Duration
	// MaxSessions is how many sessions are kept; beyond it the ones that expire
	// first are forgotten. 0 means 2,000,000. One takes about 100 bytes.
	MaxSessions int
	// Clock tells the time by which records are over. Nil means time.Now.
	Clock func() time.Time
}

// tuning holds the numbers that tests make small.
type tuning struct {
	segmentBytes int // longest segment, about
	maxSegments  int // more are compacted
	deadFloor    int // fewer superseded records are never worth a compaction
	listed       int // changed sessions that a shard lists beyond two for each it has
	tableRecords int // longest queue of a table
	tableBytes   int // and its size
	retryMin     time.Duration
	retryMax     time.Duration
	sweepEvery   time.Duration
}

var defaultTuning = tuning{
	segmentBytes: 1 << 20,
	maxSegments:  16 << 10, // 27 minutes of a flush every 100 ms
	deadFloor:    16 << 10,
	listed:       8 << 10,
	tableRecords: 64 << 10,
	tableBytes:   64 << 20,
	retryMin:     100 * time.Millisecond,
	retryMax:     5 * time.Second,
	sweepEvery:   time.Second,
}

// Store is the open file. All methods may be called from many goroutines.
type Store struct {
	path     string
	db       *database
	logger   *slog.Logger
	tune     tuning
	affinity *Affinity
	tables   map[string]*Table
	objects  *Objects
	writer   *writer
	dropped  atomic.Uint64
	close    func() error // once
}

// Open opens the store in the directory dir, which is made with mode 0700 when
// it is missing, and the file in it, gatewright.db, with mode 0600. It reads all
// sessions into memory. It fails with ErrLocked, ErrDamaged or a *FormatError,
// and otherwise with an error that says what to do; it never begins anew over a
// file that holds something. One damaged meta page is survived, with a warning
// in the log. The caller must Close the store.
func Open(dir string, o Options) (*Store, error) {
	return open(dir, o, defaultTuning, func(d *database) disk { return d })
}

// open is Open with its numbers, and with the disk that the writer shall see.
func open(dir string, o Options, tune tuning, wrap func(*database) disk) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = defaultFlushEvery
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = defaultMaxSessions
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	path, err := ensureFile(dir, o.Logger)
	if err != nil {
		return nil, err
	}
	db, err := openFile(path, fileOptions{wait: o.LockTimeout})
	if err != nil {
		return nil, err
	}
	if db.layout.damaged >= 0 {
		o.Logger.Warn("store meta page is damaged, starting from the other",
			slog.String("path", path), slog.Int("meta_page", db.layout.damaged), slog.Any("error", db.layout.reason))
	}
	removeStale(dir, o.Clock())
	s := &Store{path: path, db: db, logger: o.Logger, tune: tune, tables: make(map[string]*Table)}
	if err := s.start(o, wrap(db)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// start loads the sessions and starts the writer.
func (s *Store) start(o Options, d disk) error {
	if err := prepare(s.db, s.path); err != nil {
		if _, ok := errors.AsType[*panicError](err); ok {
			return damaged(s.path, err)
		}
		return explain(s.path, err)
	}
	w := &writer{
		path: s.path, disk: d, file: s.db.file, clock: o.Clock, flush: o.FlushEvery, tune: s.tune, logger: o.Logger,
		urgent: make(chan struct{}, 1), lazy: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	for _, k := range kinds {
		t := &Table{kind: k, store: s, pending: make(map[string]change)}
		s.tables[k.name] = t
		w.tables = append(w.tables, t)
	}
	s.objects = &Objects{store: s}
	w.objects = s.objects
	s.affinity = newAffinity(o.MaxSessions, s.tune.listed, o.Clock, w.wakeLazy)
	w.log = &affinityLog{affinity: s.affinity, tune: s.tune, logger: o.Logger}
	err := guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error { return w.log.load(tx, instant(o.Clock())) })
	})
	if err != nil {
		return damaged(s.path, err)
	}
	s.affinity.evict()
	w.figures.Store(&figures{})
	w.tell(func(*figures) {})
	s.writer = w
	s.close = sync.OnceValue(s.shut)
	go w.run()
	return nil
}

// Affinity is the sessions' memory.
func (s *Store) Affinity() *Affinity { return s.affinity }

// Close writes everything that is queued and closes the file. What could not be
// written is lost and in the error. Affinity can still be read afterwards; Put
// and Delete do nothing. A second call returns the same error.
func (s *Store) Close() error { return s.close() }

// shut is Close.
func (s *Store) shut() error {
	s.affinity.closed.Store(true)
	for _, t := range s.tables {
		t.close()
	}
	s.objects.close()
	close(s.writer.stop)
	<-s.writer.done
	for _, t := range s.tables {
		t.abandon()
	}
	s.objects.abandon()
	err := s.writer.result
	if err != nil {
		err = fmt.Errorf("close store %s: %d records not written: %w", s.path, s.pending(), err)
	}
	if s.writer.broken != nil {
		return errors.Join(err, s.db.abandon()) // bbolt may hold its own locks
	}
	return errors.Join(err, s.db.Close())
}

// Err returns the failure of the last write when none has succeeded since, for a
// readiness check. Nil means that what is queued gets written. The gateway goes
// on from memory in either case.
func (s *Store) Err() error {
	if h := s.writer.health.Load(); h != nil {
		return fmt.Errorf("store %s: not written since %s: %w", filepath.Base(s.path), h.since.UTC().Format(time.RFC3339), h.err)
	}
	return nil
}

// Stats are figures of one moment. Counters count since Open.
type Stats struct {
	// Sessions are in memory; Expired and Evicted ones are not any more.
	Sessions        int
	SessionsExpired uint64
	SessionsEvicted uint64
	// Segments of the affinity log on disk, the records in them, superseded
	// ones included, and the compactions that ended.
	Segments       int
	SegmentRecords int
	Compactions    uint64
	// Pending records are not on disk yet. Dropped ones never will be.
	Pending int
	Dropped uint64
	// Flushes are transactions that succeeded; the last began at LastFlush and
	// took FlushTook. FailedWrites are attempts that did not.
	Flushes      uint64
	FailedWrites uint64
	LastFlush    time.Time
	FlushTook    time.Duration
	// LastError is the last failure, even if writing works again (see Err).
	LastError   error
	LastErrorAt time.Time
	// FileBytes is the size of the file, FreeBytes the part of it that Compact
	// would give back.
	FileBytes int64
	FreeBytes int64
}

// Stats reads the figures. It takes a few microseconds and waits for nothing.
func (s *Store) Stats() Stats {
	f := s.writer.figures.Load()
	return Stats{
		Sessions:        s.affinity.Len(),
		SessionsExpired: s.affinity.expired.Load(),
		SessionsEvicted: s.affinity.evicted.Load(),
		Segments:        f.segments,
		SegmentRecords:  f.records,
		Compactions:     f.compactions,
		Pending:         s.pending(),
		Dropped:         s.dropped.Load(),
		Flushes:         f.flushes,
		FailedWrites:    f.failed,
		LastFlush:       f.lastFlush,
		FlushTook:       f.took,
		LastError:       f.lastErr,
		LastErrorAt:     f.lastErrAt,
		FileBytes:       f.fileBytes,
		FreeBytes:       int64(s.db.Stats().FreeAlloc),
	}
}

// pending is how many records are not on disk.
func (s *Store) pending() int {
	n := s.writer.waiting() + int(s.writer.flying.Load())
	if s.affinity.unlisted() {
		n += s.affinity.Len() // all of them are written anew
	}
	return n
}
