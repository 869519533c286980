package store

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

// slot is one session in memory: 40 bytes without pointers, so that the garbage
// collector does not look at a million of them.
type slot struct {
	key     Key
	at      int64
	expires int64
	value   uint32 // place in shard.values
	place   uint32 // place in shard.order; noPlace when the slot is free
}

const noPlace = math.MaxUint32

// shard is a part of the sessions. The one that expires first is at hand: a heap
// orders the slots by expiry.
type shard struct {
	// first is the expiry at the top of the heap, nothing when it is empty.
	// It is written under mu and read without.
	first atomic.Int64

	mu     sync.RWMutex // guards all below
	index  map[Key]uint32
	slots  []slot
	free   []uint32
	order  []uint32 // heap of places in slots
	values texts
	dirty  map[Key]struct{} // changed since the writer last took them
	epoch  uint64           // grows when slots move
}

// get returns the record of k.
func (s *shard) get(k Key, now int64) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.index[k]
	if !ok {
		return "", false
	}
	e := &s.slots[i]
	if e.expires <= now {
		return "", false
	}
	return s.values.list[e.value].text, true
}

// put adds or replaces the record of k unless the one that is there is newer.
// The caller holds mu.
func (s *shard) put(k Key, value string, at, expires int64) (stored, added bool) {
	i, known := s.index[k]
	if !known {
		i = s.grow()
		s.index[k] = i
		s.slots[i] = slot{key: k, at: at, expires: expires, value: s.values.hold(value), place: uint32(len(s.order))} //nolint:gosec // far below 2^32
		s.order = append(s.order, i)
		s.up(len(s.order) - 1)
		s.noteFirst()
		return true, true
	}
	e := &s.slots[i]
	if e.at > at {
		return false, false
	}
	if s.values.list[e.value].text != value {
		old := e.value
		e.value = s.values.hold(value)
		s.values.drop(old)
	}
	e.at = at
	if e.expires != expires {
		e.expires = expires
		s.down(s.up(int(e.place)))
		s.noteFirst()
	}
	return true, false
}

// grow returns a slot to fill.
func (s *shard) grow() uint32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		return i
	}
	s.slots = append(s.slots, slot{})
	return uint32(len(s.slots) - 1) //nolint:gosec // far below 2^32
}

// remove forgets k. The caller holds mu.
func (s *shard) remove(k Key) bool {
	i, ok := s.index[k]
	if !ok {
		return false
	}
	delete(s.index, k)
	e := &s.slots[i]
	s.values.drop(e.value)
	place, last := int(e.place), len(s.order)-1
	s.swap(place, last)
	s.order = s.order[:last]
	if place < last {
		s.down(s.up(place))
	}
	*e = slot{place: noPlace}
	s.free = append(s.free, i)
	s.noteFirst()
	return true
}

// removeFirst forgets the record that expires first, if it does so by limit.
// The caller holds mu.
func (s *shard) removeFirst(limit int64) bool {
	if len(s.order) == 0 {
		return false
	}
	e := &s.slots[s.order[0]]
	return e.expires <= limit && s.remove(e.key)
}

// shrink gives memory back after most records have gone: neither a map nor a
// slice does so by itself. The caller holds mu.
func (s *shard) shrink() {
	const small = 1024
	live := len(s.index)
	if len(s.slots) <= small || live > len(s.slots)/4 {
		return
	}
	index, slots := make(map[Key]uint32, live), make([]slot, 0, live)
	order := make([]uint32, 0, live)
	for _, i := range s.order { // a heap stays one when its places are renumbered in order
		e := s.slots[i]
		n := uint32(len(slots)) //nolint:gosec // far below 2^32
		e.place = n
		index[e.key] = n
		slots, order = append(slots, e), append(order, n)
	}
	s.index, s.slots, s.order, s.free = index, slots, order, nil
	s.epoch++
}

// noteFirst publishes the top of the heap.
func (s *shard) noteFirst() {
	first := int64(nothing)
	if len(s.order) > 0 {
		first = s.slots[s.order[0]].expires
	}
	s.first.Store(first)
}

// swap exchanges two places of the heap.
func (s *shard) swap(a, b int) {
	s.order[a], s.order[b] = s.order[b], s.order[a]
	s.slots[s.order[a]].place = uint32(a) //nolint:gosec // far below 2^32
	s.slots[s.order[b]].place = uint32(b) //nolint:gosec // far below 2^32
}

// up moves a place towards the top as far as its expiry demands.
func (s *shard) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if s.slots[s.order[parent]].expires <= s.slots[s.order[i]].expires {
			break
		}
		s.swap(i, parent)
		i = parent
	}
	return i
}

// down moves a place away from the top as far as its expiry demands.
func (s *shard) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.order) {
			return
		}
		if other := child + 1; other < len(s.order) && s.slots[s.order[other]].expires < s.slots[s.order[child]].expires {
			child = other
		}
		if s.slots[s.order[i]].expires <= s.slots[s.order[child]].expires {
			return
		}
		s.swap(i, child)
		i = child
	}
}

// texts keeps each text once and counts who uses it. Targets are few, sessions
// many.
type texts struct {
	places map[string]uint32
	list   []heldText
	free   []uint32
}

type heldText struct {
	text string
	uses uint32
}

// hold returns the place of text and counts one use.
func (t *texts) hold(text string) uint32 {
	if i, ok := t.places[text]; ok {
		t.list[i].uses++
		return i
	}
	text = strings.Clone(text) // the caller's may be a piece of a large buffer
	var i uint32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
		t.list[i] = heldText{text: text, uses: 1}
	} else {
		i = uint32(len(t.list)) //nolint:gosec // far below 2^32
		t.list = append(t.list, heldText{text: text, uses: 1})
	}
	t.places[text] = i
	return i
}

// drop ends one use.
func (t *texts) drop(i uint32) {
	e := &t.list[i]
	if e.uses--; e.uses == 0 {
		delete(t.places, e.text)
		e.text = ""
		t.free = append(t.free, i)
	}
}
