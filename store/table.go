package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	// MaxID is the longest id of a Table, in bytes.
	MaxID = 4 << 10
	// MaxValue is the longest value of a Table, in bytes.
	MaxValue = 1 << 20

	// loadPage and loadBytes bound what one read transaction returns: a long
	// one would keep bbolt from growing the file.
	loadPage  = 1024
	loadBytes = 4 << 20
)

// kind is one kind of record: a bucket and a Table over it.
type kind struct {
	name   string // of the bucket; never renamed
	prompt bool   // commit at once instead of with the next flush
}

// kinds are all tables of the file. The names are for ever.
var kinds = []kind{cooldowns, circuits, statistics, quotas, owners}

// Table is a set of small records, each under an id, with an expiry. It keeps no
// copy of what is written: the owner holds its state in memory, puts each change
// and loads all of it once at start. All methods may be called from many
// goroutines.
type Table struct {
	kind
	store *Store

	mu      sync.Mutex
	pending map[string]change // not yet handed to the writer, newest per id
	bytes   int               // size of pending
	puts    uint64            // changes queued so far
	durable uint64            // changes of which the newest value is on disk
	refused error             // why a record was dropped; told to the next Sync
	waiters []waiter
	closed  bool
}

// change is what becomes of one id.
type change struct {
	record  []byte    // nil: delete
	overdue time.Time // when set: delete the record if it is over by then
}

// waiter waits until the changes up to turn are durable, or failed.
type waiter struct {
	turn uint64
	done chan error // buffered
}

// Put queues value under id and returns at once; the last value per id wins.
// value is copied. At expires the record is over; the zero time means never. An
// id longer than MaxID, a value longer than MaxValue and, when the disk has
// refused writes for long, a new id beyond the bound of the queue are dropped:
// counted, logged and told by Sync.
func (t *Table) Put(id string, value []byte, expires time.Time) {
	switch {
	case len(id) > MaxID:
		t.drop(fmt.Errorf("id of %d bytes, at most %d", len(id), MaxID))
	case len(value) > MaxValue:
		t.drop(fmt.Errorf("value of %d bytes, at most %d", len(value), MaxValue))
	default:
		t.queue(id, change{record: encodeRecord(id, value, expires)})
	}
}

// Delete queues the removal of id, which need not exist.
func (t *Table) Delete(id string) {
	if len(id) <= MaxID { // a longer one cannot be there
		t.queue(id, change{})
	}
}

// Load calls each for every record on disk, in the order of their ids, and drops
// those that are over at now. Changes still queued are not seen: it is meant for
// start, before the first Put. value is the callee's to keep. An error of each
// ends Load and is returned; a record that cannot be read is ErrDamaged.
func (t *Table) Load(now time.Time, each func(id string, value []byte, expires time.Time) error) error {
	var after []byte
	for {
		page, last, err := t.page(after)
		if err != nil {
			return err
		}
		for _, r := range page {
			if expired(r.expires, now) {
				t.dropOverdue(r.id, now)
				continue
			}
			if err := each(r.id, r.value, r.expires); err != nil {
				return fmt.Errorf("load %s %q: %w", t.name, r.id, err)
			}
		}
		if last == nil {
			return nil
		}
		after = last
	}
}

// Sync waits until everything put so far is durable. It returns early when a
// write fails, with that error: the records stay queued and are tried again, and
// another Sync waits for that. ErrDropped tells, once, of records that were not
// even queued.
func (t *Table) Sync(ctx context.Context) error {
	t.mu.Lock()
	if err := t.refused; err != nil {
		t.refused = nil
		t.mu.Unlock()
		return fmt.Errorf("sync %s: %w: %w", t.name, ErrDropped, err)
	}
	if t.durable == t.puts {
		t.mu.Unlock()
		return nil
	}
	if t.closed {
		t.mu.Unlock()
		return fmt.Errorf("sync %s: %w", t.name, ErrClosed)
	}
	w := waiter{turn: t.puts, done: make(chan error, 1)}
	t.waiters = append(t.waiters, w)
	t.mu.Unlock()
	t.store.writer.wakeUrgent()
	select {
	case err := <-w.done:
		if err != nil {
			return fmt.Errorf("sync %s: %w", t.name, err)
		}
		return nil
	case <-ctx.Done():
		t.mu.Lock()
		t.waiters = slices.DeleteFunc(t.waiters, func(o waiter) bool { return o.done == w.done })
		t.mu.Unlock()
		return fmt.Errorf("sync %s: %w", t.name, errors.Join(context.Cause(ctx), t.store.Err()))
	}
}

// queue adds a change and wakes the writer.
func (t *Table) queue(id string, c change) {
	t.mu.Lock()
	old, known := t.pending[id]
	size := t.bytes - len(old.record) + len(c.record)
	if !known {
		size += len(id)
	}
	var refused error
	switch {
	case t.closed:
		refused = ErrClosed
	case !known && len(t.pending) >= t.store.tune.tableRecords, size > t.store.tune.tableBytes:
		refused = fmt.Errorf("%d records wait for the disk already", len(t.pending))
	}
	if sweep := !c.overdue.IsZero(); refused != nil || sweep && known {
		t.mu.Unlock()
		if !sweep { // else a later sweep finds it, or what is queued is newer
			t.drop(refused)
		}
		return
	}
	if !known {
		id = strings.Clone(id)
	}
	t.pending[id], t.bytes = c, size
	t.puts++
	t.mu.Unlock()
	if t.prompt && c.overdue.IsZero() {
		t.store.writer.wakeUrgent()
	} else {
		t.store.writer.wakeLazy()
	}
}

// dropOverdue queues the removal of a record that is over at now, unless it has
// been put again until the writer gets there.
func (t *Table) dropOverdue(id string, now time.Time) {
	t.queue(id, change{overdue: now})
}

// drop counts a record that is lost, and logs the first until a Sync has told.
func (t *Table) drop(why error) {
	t.store.dropped.Add(1)
	t.mu.Lock()
	first := t.refused == nil
	t.refused = why
	t.mu.Unlock()
	if first {
		t.store.logger.Warn("store record dropped", slog.String("table", t.name), slog.Any("error", why))
	}
}

// tableBatch is what the writer took from a table.
type tableBatch struct {
	table   *Table
	changes map[string]change
	turn    uint64
}

// take hands all queued changes to the writer. When urgent, only if the table is
// prompt or someone waits. Nil when there is nothing to do.
func (t *Table) take(urgent bool) *tableBatch {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) == 0 || urgent && !t.prompt && len(t.waiters) == 0 {
		return nil
	}
	b := &tableBatch{table: t, changes: t.pending, turn: t.puts}
	t.pending, t.bytes = make(map[string]change), 0
	return b
}

// size is the number of records.
func (b *tableBatch) size() int { return len(b.changes) }

// apply writes the changes in tx.
func (b *tableBatch) apply(tx *bbolt.Tx) error {
	bucket := tx.Bucket([]byte(b.table.name))
	if bucket == nil {
		return fmt.Errorf("bucket %q is missing", b.table.name)
	}
	for id, c := range b.changes {
		key := recordKey(id)
		var err error
		switch {
		case c.record != nil:
			err = bucket.Put(key, c.record)
		case c.overdue.IsZero() || overdue(key, bucket.Get(key), c.overdue):
			err = bucket.Delete(key)
		}
		if err != nil {
			return fmt.Errorf("write %s %q: %w", b.table.name, id, err)
		}
	}
	return nil
}

// overdue says whether the record that is on disk now is over.
func overdue(key, record []byte, now time.Time) bool {
	if record == nil {
		return false
	}
	_, _, expires, err := decodeRecord(key, record)
	return err == nil && expired(expires, now)
}

// finish tells the waiters of the outcome. After a failure the changes go back
// into the queue, behind newer ones.
func (b *tableBatch) finish(err error) {
	t := b.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.durable = max(t.durable, b.turn)
	} else {
		for id, c := range b.changes {
			if _, newer := t.pending[id]; !newer {
				t.pending[id] = c
				t.bytes += len(id) + len(c.record)
			}
		}
	}
	t.waiters = slices.DeleteFunc(t.waiters, func(w waiter) bool {
		if w.turn > b.turn {
			return false
		}
		w.done <- err
		return true
	})
}

// close refuses further changes.
func (t *Table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// abandon releases whoever still waits; the writer has ended.
func (t *Table) abandon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.waiters {
		w.done <- ErrClosed
	}
	t.waiters = nil
}

// waiting is how many records are queued.
func (t *Table) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// storedRecord is a record as it was read.
type storedRecord struct {
	id      string
	value   []byte
	expires time.Time
}

// page reads up to loadPage records behind the key after. last is the key to go
// on from, nil at the end.
func (t *Table) page(after []byte) (records []storedRecord, last []byte, err error) {
	err = guard(func() error {
		return t.store.db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket([]byte(t.name))
			if bucket == nil {
				return damaged(t.store.path, fmt.Errorf("bucket %q is missing", t.name))
			}
			c := bucket.Cursor()
			k, v := c.Seek(after)
			if k != nil && bytes.Equal(k, after) {
				k, v = c.Next()
			}
			size := 0
			for ; k != nil; k, v = c.Next() {
				if len(records) == loadPage || size > loadBytes {
					last = recordKey(records[len(records)-1].id)
					return nil
				}
				id, value, expires, err := decodeRecord(k, v)
				if err != nil {
					return damaged(t.store.path, fmt.Errorf("%s: %w", t.name, err))
				}
				size += len(k) + len(v)
				records = append(records, storedRecord{id: id, value: bytes.Clone(value), expires: expires})
			}
			return nil
		})
	})
	if _, ok := errors.AsType[*panicError](err); ok {
		err = damaged(t.store.path, err)
	}
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		err = fmt.Errorf("load %s: %w", t.name, ErrClosed)
	}
	return records, last, err
}
