package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	// MaxObject is the longest value of an object, in bytes.
	MaxObject = 64 << 20
	// maxObjectKind is the longest name of a kind.
	maxObjectKind = 64
)

// objectsBucket holds a bucket for each kind: the leaf of a small object would
// otherwise be rewritten together with a large neighbour.
var objectsBucket = []byte("objects")

// Objects are what people made while the gateway ran: policies, bindings and the
// like. They are few, can be large, and a change that was acknowledged must not
// be lost. All methods may be called from many goroutines.
type Objects struct {
	store *Store

	mu     sync.Mutex
	queue  []*objectEdit
	closed bool

	undo []ObjectChange // of the writer: what a failed commit may have left changed
}

// ObjectChange is what becomes of one object.
type ObjectChange struct {
	Kind  string // 1 to 64 bytes, without NUL
	ID    string // unique within its kind, at most MaxID bytes
	Value []byte // nil = the object is removed, if it is there
}

// objectEdit is one call of Write.
type objectEdit struct {
	changes []ObjectChange
	taken   bool       // the writer has it; guarded by Objects.mu
	done    chan error // buffered
}

// Objects is the memory of what people made.
func (s *Store) Objects() *Objects { return s.objects }

// Write makes all changes in one transaction and returns when they are durable.
// After an error none of them holds: not now, and not after a restart, unless the
// process ends before the disk takes writes again. When ctx ends first, the
// changes are withdrawn if nobody has begun to write them; otherwise Write waits
// for the outcome, which is near. The values must not change until it returns.
func (o *Objects) Write(ctx context.Context, changes ...ObjectChange) error {
	for i := range changes {
		if err := changes[i].check(); err != nil {
			return err
		}
	}
	e := &objectEdit{changes: changes, done: make(chan error, 1)}
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return ErrClosed
	}
	o.queue = append(o.queue, e)
	o.mu.Unlock()
	o.store.writer.wakeUrgent()
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
	}
	if o.withdraw(e) {
		return fmt.Errorf("write objects: %w", context.Cause(ctx))
	}
	return <-e.done
}

func (c *ObjectChange) check() error {
	switch {
	case c.Kind == "" || len(c.Kind) > maxObjectKind || strings.Contains(c.Kind, "\x00"):
		return fmt.Errorf("write object: kind %q, want 1 to %d bytes without NUL", c.Kind, maxObjectKind)
	case len(c.ID) > MaxID:
		return fmt.Errorf("write %s: id of %d bytes, at most %d", c.Kind, len(c.ID), MaxID)
	case len(c.Value) > MaxObject:
		return fmt.Errorf("write %s %q: %d bytes, at most %d", c.Kind, c.ID, len(c.Value), MaxObject)
	}
	return nil
}

// withdraw takes an edit out of the queue and reports whether it was there.
func (o *Objects) withdraw(e *objectEdit) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e.taken {
		return false
	}
	o.queue = slices.DeleteFunc(o.queue, func(q *objectEdit) bool { return q == e })
	return true
}

// Each calls each for every object of a kind, in the order of their ids. What a
// Write that has returned changed is seen. value is the callee's to keep. An
// error of each ends it and is returned.
func (o *Objects) Each(kind string, each func(id string, value []byte) error) error {
	type object struct {
		id    string
		value []byte
	}
	var list []object
	err := o.view(kind, func(b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			id, value, _, err := decodeRecord(k, v)
			if err != nil {
				return damaged(o.store.path, fmt.Errorf("objects %s: %w", kind, err))
			}
			list = append(list, object{id, bytes.Clone(value)})
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, x := range list { // outside the transaction: it keeps the file from growing
		if err := each(x.id, x.value); err != nil {
			return fmt.Errorf("%s %q: %w", kind, x.id, err)
		}
	}
	return nil
}

// Backward calls each for the objects of a kind, the last id first, from the one
// before an id on ("" = from the last), until each returns false. It is meant for
// logs: each must be quick, for what it is given is read while it runs.
func (o *Objects) Backward(kind, before string, each func(id string, value []byte) (bool, error)) error {
	return o.view(kind, func(b *bbolt.Bucket) error {
		c := b.Cursor()
		k, v := c.Last()
		if before != "" {
			if k, _ = c.Seek(recordKey(before)); k == nil {
				k, v = c.Last()
			} else {
				k, v = c.Prev()
			}
		}
		for ; k != nil; k, v = c.Prev() {
			id, value, _, err := decodeRecord(k, v)
			if err != nil {
				return damaged(o.store.path, fmt.Errorf("objects %s: %w", kind, err))
			}
			if more, err := each(id, bytes.Clone(value)); err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// Get returns a copy of one object, false if there is none.
func (o *Objects) Get(kind, id string) (value []byte, ok bool, err error) {
	err = o.view(kind, func(b *bbolt.Bucket) error {
		record := b.Get(recordKey(id))
		if record == nil {
			return nil
		}
		_, v, _, err := decodeRecord(recordKey(id), record)
		if err != nil {
			return damaged(o.store.path, fmt.Errorf("objects %s: %w", kind, err))
		}
		value, ok = bytes.Clone(v), true
		if value == nil {
			value = []byte{}
		}
		return nil
	})
	return value, ok, err
}

// view reads the bucket of a kind; a kind without objects has none.
func (o *Objects) view(kind string, read func(*bbolt.Bucket) error) error {
	err := guard(func() error {
		return o.store.db.View(func(tx *bbolt.Tx) error {
			if b := tx.Bucket(objectsBucket).Bucket([]byte(kind)); b != nil {
				return read(b)
			}
			return nil
		})
	})
	if _, ok := errors.AsType[*panicError](err); ok {
		err = damaged(o.store.path, err)
	}
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		err = fmt.Errorf("read objects: %w", ErrClosed)
	}
	return err
}

// objectBatch is what the writer took.
type objectBatch struct {
	objects *Objects
	edits   []*objectEdit
	before  []ObjectChange // what there was, newest change last
}

// take hands the queue to the writer; nil when there is nothing to do.
func (o *Objects) take() *objectBatch {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 && len(o.undo) == 0 {
		return nil
	}
	b := &objectBatch{objects: o, edits: o.queue}
	o.queue = nil
	for _, e := range b.edits {
		e.taken = true
	}
	return b
}

func (b *objectBatch) size() int { return len(b.edits) }

// apply first takes back what a failed commit may have left, then makes the
// changes.
func (b *objectBatch) apply(tx *bbolt.Tx) error {
	b.before = b.before[:0]
	top := tx.Bucket(objectsBucket)
	for i := range b.objects.undo {
		if err := b.change(top, &b.objects.undo[i], false); err != nil {
			return err
		}
	}
	for _, e := range b.edits {
		for i := range e.changes {
			if err := b.change(top, &e.changes[i], true); err != nil {
				return err
			}
		}
	}
	return nil
}

// change makes one change; with note it remembers what there was.
func (b *objectBatch) change(top *bbolt.Bucket, c *ObjectChange, note bool) error {
	bucket, err := top.CreateBucketIfNotExists([]byte(c.Kind))
	if err != nil {
		return fmt.Errorf("write %s: %w", c.Kind, err)
	}
	key := recordKey(c.ID)
	if note {
		was := ObjectChange{Kind: c.Kind, ID: c.ID}
		if old := bucket.Get(key); old != nil {
			_, value, _, err := decodeRecord(key, old)
			if err != nil {
				return damaged(b.objects.store.path, fmt.Errorf("objects %s: %w", c.Kind, err))
			}
			was.Value = append([]byte{}, value...)
		}
		b.before = append(b.before, was)
	}
	if c.Value == nil {
		err = bucket.Delete(key)
	} else {
		err = bucket.Put(key, encodeRecord(c.ID, c.Value, time.Time{}))
	}
	if err != nil {
		return fmt.Errorf("write %s %q: %w", c.Kind, c.ID, err)
	}
	return nil
}

// finish tells the callers. A commit that failed may yet have reached the disk,
// so the next one begins with what there was before.
func (b *objectBatch) finish(err error) {
	o := b.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.undo = nil
	} else {
		slices.Reverse(b.before)
		o.undo = append(o.undo, b.before...)
	}
	for _, e := range b.edits {
		if err != nil {
			e.done <- fmt.Errorf("write objects: %w", err)
			continue
		}
		e.done <- nil
	}
}

// close refuses further writes.
func (o *Objects) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// abandon releases whoever still waits; the writer has ended.
func (o *Objects) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.queue {
		e.taken = true
		e.done <- ErrClosed
	}
	o.queue = nil
}

// waiting is how many edits are queued.
func (o *Objects) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue)
}
