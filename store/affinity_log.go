package store

import (
	"bytes"
	"fmt"
	"log/slog"

	"go.etcd.io/bbolt"
)

var (
	affinityBucket = []byte("affinity")
	// nestedKey holds the segment inside a nested bucket, see putSegment.
	nestedKey = []byte("s")
)

const (
	// nestAbove is the length from which a segment gets a bucket of its own.
	nestAbove = 8 << 10
	// flushRecords bounds one transaction.
	flushRecords = 64 << 10
	// dropStep is how many old segments one transaction deletes.
	dropStep = 512
)

// affinityLog is the affinity on disk: segments in the order in which they were
// written. A record is the state of its session when it was written, so reading
// them in that order, the later over the earlier, gives the state in memory. It
// belongs to the writer goroutine, but for load.
//
// Compaction writes all live sessions into new segments, one segment a
// transaction, and then deletes the segments from before it began, oldest first.
// A kill in between is harmless: new segments repeat what the old ones say, and
// a deletion never outlives the record that it deletes.
type affinityLog struct {
	affinity *Affinity
	tune     tuning
	logger   *slog.Logger
	writer   segmentWriter
	scratch  []affinityRecord // memory of the last batch
	next     uint64           // number of the next segment

	segments int // on disk
	records  int // in them, superseded ones included
	floor    int // segments after the last compaction: fewer there will not be

	compaction *compaction // nil when none is running
	compacted  uint64      // how many have ended
}

// compaction is where a running one stands.
type compaction struct {
	boundary uint64 // segments below are old
	cursor   cursor // sessions before it are written
	segments int    // on disk, at or above boundary
	records  int    // in those
	before   int    // segments when it began
}

// load reads all segments into memory. now decides which records are over.
func (l *affinityLog) load(tx *bbolt.Tx, now int64) error {
	bucket := tx.Bucket(affinityBucket)
	if bucket == nil {
		return fmt.Errorf("bucket %q is missing", affinityBucket)
	}
	return eachSegment(bucket, func(number uint64, b []byte) error {
		n, err := decodeSegment(number, b, func(r *affinityRecord) { l.affinity.replay(r, now) })
		if err != nil {
			return err
		}
		l.next = number + 1
		l.segments++
		l.records += n
		return nil
	})
}

// replay applies one record from disk over what earlier ones said, whichever is
// older: a session may have been forgotten and begun again in between. A record
// that is over removes the one before, however long that would last.
func (a *Affinity) replay(r *affinityRecord, now int64) {
	s := a.shard(r.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	over := r.gone || r.expires <= now
	if i, ok := s.index[r.key]; ok && (over || s.slots[i].at > r.at) {
		s.remove(r.key)
		a.size.Add(-1)
	}
	if over {
		return
	}
	if _, added := s.put(r.key, r.value, r.at, r.expires); added {
		a.size.Add(1)
	}
}

// eachSegment calls yield for the segments of the bucket in order.
func eachSegment(bucket *bbolt.Bucket, yield func(number uint64, b []byte) error) error {
	return bucket.ForEach(func(k, v []byte) error {
		number, err := segmentNumber(k)
		if err != nil {
			return fmt.Errorf("affinity: %w", err)
		}
		if v == nil {
			v = bucket.Bucket(k).Get(nestedKey)
		}
		if err := yield(number, v); err != nil {
			return fmt.Errorf("affinity segment %d: %w", number, err)
		}
		return nil
	})
}

// putSegment stores a segment. A long one goes into a nested bucket, which has
// pages of its own: bbolt would write it again with each of the next segments.
func putSegment(bucket *bbolt.Bucket, number uint64, b []byte) error {
	key := segmentKey(number)
	if len(b) <= nestAbove {
		return bucket.Put(key, b)
	}
	nested, err := bucket.CreateBucketIfNotExists(key)
	if err != nil {
		return err
	}
	return nested.Put(nestedKey, b)
}

// segmentBatch is what the writer took from the log to be written.
type segmentBatch struct {
	log     *affinityLog
	first   uint64 // number of the first segment
	encoded [][]byte
	records []affinityRecord
}

// take packs the sessions that changed; nil when there are none.
func (l *affinityLog) take() *segmentBatch {
	records := l.affinity.takeDirty(l.scratch[:0], flushRecords)
	l.scratch = nil
	if len(records) == 0 {
		return nil
	}
	b := &segmentBatch{log: l, first: l.next, records: records}
	l.writer.reset()
	for i := range records {
		l.writer.add(&records[i])
		if l.writer.bytes()+maxRecordSize+MaxTarget > l.tune.segmentBytes {
			b.pack()
		}
	}
	b.pack()
	return b
}

// size is the number of records.
func (b *segmentBatch) size() int { return len(b.records) }

// pack ends a segment. Its number is not used again, even if the write fails:
// the failed one may have reached the disk after all.
func (b *segmentBatch) pack() {
	w := &b.log.writer
	if w.count > 0 {
		b.encoded = append(b.encoded, w.segment(b.log.next))
		b.log.next++
	}
	w.reset()
}

// apply writes the segments in tx.
func (b *segmentBatch) apply(tx *bbolt.Tx) error {
	bucket := tx.Bucket(affinityBucket)
	if bucket == nil {
		return fmt.Errorf("bucket %q is missing", affinityBucket)
	}
	for i, encoded := range b.encoded {
		number := b.first + uint64(i)
		if err := putSegment(bucket, number, encoded); err != nil {
			return fmt.Errorf("write affinity segment %d: %w", number, err)
		}
	}
	return nil
}

// finish counts what was written, or lists it again.
func (b *segmentBatch) finish(err error) {
	b.log.scratch = b.records
	if err != nil {
		b.log.affinity.putBack(b.records)
		return
	}
	b.log.count(len(b.encoded), len(b.records))
}

// count adds segments that are on disk now.
func (l *affinityLog) count(segments, records int) {
	l.segments += segments
	l.records += records
	if l.compaction != nil {
		l.compaction.segments += segments
		l.compaction.records += records
	}
}

// due says whether a compaction should begin.
func (l *affinityLog) due() bool {
	return l.compaction == nil && (l.affinity.rewrite.Load() ||
		l.segments > l.floor+l.tune.maxSegments || l.records > l.tune.deadFloor+2*l.affinity.Len())
}

// begin starts a compaction.
func (l *affinityLog) begin() {
	if l.affinity.rewrite.Swap(false) {
		l.affinity.rewriting.Store(true)
	}
	l.compaction = &compaction{boundary: l.next, before: l.segments}
}

// step does one bounded part of the running compaction in a transaction of its
// own. After an error the part is not done and may be tried again.
func (l *affinityLog) step(commit func(func(*bbolt.Tx) error) error) error {
	c := l.compaction
	if !c.cursor.done() {
		return l.copyLive(c, commit)
	}
	more := false
	err := commit(func(tx *bbolt.Tx) error {
		var err error
		more, err = dropSegments(tx.Bucket(affinityBucket), c.boundary)
		return err
	})
	if err != nil || more {
		return err
	}
	l.logger.Debug("affinity log compacted", slog.Int("segments_before", c.before),
		slog.Int("segments", c.segments), slog.Int("records", c.records))
	l.segments, l.records, l.floor, l.compaction = c.segments, c.records, c.segments, nil
	l.compacted++
	l.affinity.rewriting.Store(false)
	return nil
}

// copyLive writes one segment of live sessions.
func (l *affinityLog) copyLive(c *compaction, commit func(func(*bbolt.Tx) error) error) error {
	cur, now := c.cursor, instant(l.affinity.clock())
	room := l.tune.segmentBytes - walkStep*maxRecordSize - MaxTarget
	var page []affinityRecord
	l.writer.reset()
	for !cur.done() && (l.writer.count == 0 || l.writer.bytes() <= room) {
		page = l.affinity.next(&cur, page[:0], now)
		for i := range page {
			l.writer.add(&page[i])
		}
	}
	if count := int(l.writer.count); count > 0 { //nolint:gosec // bounded by the length of a segment
		number := l.next
		l.next++
		encoded := l.writer.segment(number)
		err := commit(func(tx *bbolt.Tx) error { return putSegment(tx.Bucket(affinityBucket), number, encoded) })
		if err != nil {
			return fmt.Errorf("compact affinity: %w", err)
		}
		l.count(1, count)
	}
	c.cursor = cur
	return nil
}

// dropSegments deletes some of the oldest segments below boundary.
func dropSegments(bucket *bbolt.Bucket, boundary uint64) (more bool, err error) {
	type victim struct {
		key    []byte
		nested bool
	}
	var old []victim
	cursor := bucket.Cursor()
	for k, v := cursor.First(); k != nil && !more; k, v = cursor.Next() {
		number, err := segmentNumber(k)
		if err != nil {
			return false, err
		}
		if number >= boundary {
			break
		}
		old = append(old, victim{key: bytes.Clone(k), nested: v == nil})
		more = len(old) == dropStep
	}
	for _, o := range old {
		if o.nested {
			err = bucket.DeleteBucket(o.key)
		} else {
			err = bucket.Delete(o.key)
		}
		if err != nil {
			return false, fmt.Errorf("drop affinity segment %x: %w", o.key, err)
		}
	}
	return more, nil
}
