package store

import (
	"encoding/binary"
	"sync/atomic"
	"time"
)

const (
	// MaxTarget is the longest value of an affinity record, in bytes.
	MaxTarget = 4 << 10

	shardCount = 64 // a power of two
	shardShift = 58 // 64 bits of hash down to 6
)

// Key names a session: a keyed hash made by the caller.
type Key [16]byte

// Affinity remembers for each session the target that last served it. It lives
// in memory: reading and writing never wait for the disk, and what changed is
// written behind at each flush. All methods may be called from many goroutines.
//
// At most Options.MaxSessions are kept; beyond that the ones that expire first
// are forgotten and counted in Stats.
type Affinity struct {
	shards [shardCount]shard
	max    int64
	listed int // changes that a shard lists beyond two for each session; see mark
	size   atomic.Int64
	clock  func() time.Time
	wake   func() // tells the writer that there is something to flush

	expired atomic.Uint64
	evicted atomic.Uint64
	closed  atomic.Bool

	// rewrite asks for a compaction, because there were too many changes to
	// list them; rewriting is true while that one runs.
	rewrite   atomic.Bool
	rewriting atomic.Bool
}

// newAffinity returns an empty one.
func newAffinity(maxSessions, listed int, clock func() time.Time, wake func()) *Affinity {
	a := &Affinity{max: int64(maxSessions), listed: listed, clock: clock, wake: wake}
	for i := range a.shards {
		s := &a.shards[i]
		s.index, s.dirty = make(map[Key]uint32), make(map[Key]struct{})
		s.values.places = make(map[string]uint32)
		s.noteFirst()
	}
	return a
}

// shard returns the part that k belongs to. Callers' keys are hashes already;
// the multiplication spreads others, too.
func (a *Affinity) shard(k Key) *shard {
	const odd = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	h := binary.LittleEndian.Uint64(k[:8])*odd ^ binary.LittleEndian.Uint64(k[8:])
	return &a.shards[(h*odd)>>shardShift]
}

// Get returns the value of k; ok is false when there is none or when it is over
// at now. Reading refreshes nothing.
func (a *Affinity) Get(k Key, now time.Time) (value string, ok bool) {
	return a.shard(k).get(k, instant(now))
}

// Put remembers value for k: it was right at the instant at, and is over at
// expires (the zero time: never). A record whose at is newer stays, so that an
// older, slower success never overwrites a newer one; stored is false then, and
// when value is longer than MaxTarget or the store is closed. value is copied.
func (a *Affinity) Put(k Key, value string, at, expires time.Time) (stored bool) {
	if len(value) > MaxTarget || a.closed.Load() {
		return false
	}
	stored, added := a.insert(k, value, instant(at), deadline(expires), true)
	if added && a.size.Add(1) > a.max {
		a.evict()
	}
	if stored {
		a.wake()
	}
	return stored
}

// insert puts under the lock of the shard.
func (a *Affinity) insert(k Key, value string, at, expires int64, dirty bool) (stored, added bool) {
	s := a.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, added = s.put(k, value, at, expires)
	if stored && dirty {
		a.mark(s, k)
	}
	return stored, added
}

// Delete forgets k, which need not exist.
func (a *Affinity) Delete(k Key) {
	if a.closed.Load() {
		return
	}
	s := a.shard(k)
	s.mu.Lock()
	removed := s.remove(k)
	if removed {
		a.mark(s, k)
	}
	s.mu.Unlock()
	if removed {
		a.size.Add(-1)
		a.wake()
	}
}

// mark notes that k must be written. When the list of a shard grows too long,
// because very many sessions were forgotten or the disk refuses, it is given up
// and all that live are written instead. The caller holds the lock of s.
func (a *Affinity) mark(s *shard, k Key) {
	s.dirty[k] = struct{}{}
	if len(s.dirty) > a.listed+2*len(s.index) {
		s.dirty = make(map[Key]struct{})
		a.rewrite.Store(true)
	}
}

// Len is the number of sessions in memory, those included that are over and not
// yet swept.
func (a *Affinity) Len() int { return int(a.size.Load()) }

// Each calls yield for every session that is not over, in no order, until it
// returns false. No lock is held meanwhile; changes made by others may or may not
// be seen.
func (a *Affinity) Each(yield func(k Key, value string, at, expires time.Time) bool) {
	now := instant(a.clock())
	var cursor cursor
	var page []affinityRecord
	for !cursor.done() {
		page = a.next(&cursor, page[:0], now)
		for i := range page {
			r := &page[i]
			if !yield(r.key, r.value, moment(r.at), moment(r.expires)) {
				return
			}
		}
	}
}

// cursor is a place in the walk over all sessions.
type cursor struct {
	shard int
	slot  int
	epoch uint64
}

// done says whether the walk is over.
func (c *cursor) done() bool { return c.shard >= shardCount }

// walkStep is how many slots are copied under one lock.
const walkStep = 512

// next appends some sessions that are not over at now and moves on. Sessions that
// stay are seen at least once.
func (a *Affinity) next(c *cursor, page []affinityRecord, now int64) []affinityRecord {
	s := &a.shards[c.shard]
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c.slot > 0 && c.epoch != s.epoch {
		c.slot = 0 // the slots were moved meanwhile
	}
	c.epoch = s.epoch
	end := min(c.slot+walkStep, len(s.slots))
	for i := c.slot; i < end; i++ {
		e := &s.slots[i]
		if e.place == noPlace || e.expires <= now {
			continue
		}
		page = append(page, affinityRecord{key: e.key, value: s.values.list[e.value].text, at: e.at, expires: e.expires})
	}
	c.slot = end
	if end == len(s.slots) {
		c.shard, c.slot = c.shard+1, 0
	}
	return page
}

// evict forgets the sessions that expire first until the cap holds. They stay on
// disk and would be evicted again at the next start.
func (a *Affinity) evict() {
	for a.size.Load() > a.max {
		var victim *shard
		first := int64(nothing)
		for i := range a.shards {
			if at := a.shards[i].first.Load(); at < first {
				victim, first = &a.shards[i], at
			}
		}
		if victim == nil {
			return // others are about to count what they removed
		}
		victim.mu.Lock()
		removed := victim.removeFirst(never)
		victim.mu.Unlock()
		if removed {
			a.size.Add(-1)
			a.evicted.Add(1)
		}
	}
}

// sweep forgets what is over at now. Nothing is written for it: the log drops
// such records by itself.
func (a *Affinity) sweep(now int64) {
	const step = 64 // under one lock
	for i := range a.shards {
		s := &a.shards[i]
		for more := s.first.Load() <= now; more; {
			n := 0
			s.mu.Lock()
			for n < step && s.removeFirst(now) {
				n++
			}
			more = n == step
			if !more {
				s.shrink()
			}
			s.mu.Unlock()
			a.size.Add(-int64(n))
			a.expired.Add(uint64(n))
		}
	}
}

// takeDirty appends up to limit changed sessions in their present state and takes
// them off the list.
func (a *Affinity) takeDirty(into []affinityRecord, limit int) []affinityRecord {
	for i := range a.shards {
		if len(into) >= limit {
			break
		}
		into = a.shards[i].takeDirty(into, limit)
	}
	return into
}

// takeDirty does it for one shard.
func (s *shard) takeDirty(into []affinityRecord, limit int) []affinityRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	many := len(s.dirty) > walkStep
	for k := range s.dirty {
		if len(into) >= limit {
			return into
		}
		delete(s.dirty, k)
		r := affinityRecord{key: k, gone: true}
		if i, ok := s.index[k]; ok {
			e := &s.slots[i]
			r = affinityRecord{key: k, value: s.values.list[e.value].text, at: e.at, expires: e.expires}
		}
		into = append(into, r)
	}
	if many {
		s.dirty = make(map[Key]struct{}) // a map never shrinks by itself
	}
	return into
}

// putBack lists sessions again whose write failed.
func (a *Affinity) putBack(records []affinityRecord) {
	for i := range records {
		s := a.shard(records[i].key)
		s.mu.Lock()
		a.mark(s, records[i].key)
		s.mu.Unlock()
	}
}

// unlisted says whether changes wait for a compaction.
func (a *Affinity) unlisted() bool { return a.rewrite.Load() || a.rewriting.Load() }

// waiting is how many changes are listed.
func (a *Affinity) waiting() int {
	n := 0
	for i := range a.shards {
		s := &a.shards[i]
		s.mu.RLock()
		n += len(s.dirty)
		s.mu.RUnlock()
	}
	return n
}
