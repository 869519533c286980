package health

import (
	"bytes"
	"math"
	"time"
)

const (
	slotLength = 15 * time.Minute
	slotCount  = 96 // with the one that is open: 24 h

	// recomputeAfter is how old a median may be that new samples have not
	// changed much.
	recomputeAfter = time.Second
	// recomputeShare recomputes at once when the samples grew by one part in so
	// many.
	recomputeShare = 16
)

// kind is one of the distributions that a window keeps.
type kind uint8

const (
	firstToken  kind = iota // of streams, nanoseconds
	wholeAnswer             // of what is not streamed, nanoseconds
	throughput              // micro-tokens per second
	latency                 // of whole answers, streamed or not, nanoseconds
	kindCount
)

// tally is what fell into one slot.
type tally struct {
	succeeded, failed uint32
	lastSuccess       int64 // instant; 0 = none
	kinds             [kindCount]counts
}

// closedSlot is a slot that is over, in its stored form.
type closedSlot struct {
	number  int64
	payload []byte // nil = nothing fell into it
	unsaved bool
}

// window is what happened to one deployment in the last 24 hours. Slots are
// numbered by the quarters of an hour since 1970. Not safe for parallel use.
type window struct {
	number  int64 // of the open slot
	open    tally
	unsaved bool // the open slot changed since it was last stored
	closed  [slotCount]closedSlot

	succeeded, failed uint64
	kinds             [kindCount]histogram

	medians  [kindCount]int64
	slow     int64  // what 95 of 100 latencies keep to
	computed int64  // instant of medians and slow
	known    uint64 // samples in medians
	added    uint64 // samples since then
	stale    bool   // slots fell out since then
}

func newWindow(at int64) *window { return &window{number: slotOf(at)} }

// slotOf returns the number of the slot that an instant belongs to.
func slotOf(at int64) int64 {
	n := at / int64(slotLength)
	if at%int64(slotLength) < 0 {
		n--
	}
	return n
}

// slotStart returns the first instant of a slot.
func slotStart(number int64) int64 { return number * int64(slotLength) }

// place returns where a closed slot is kept.
func (w *window) place(number int64) *closedSlot {
	return &w.closed[(number%slotCount+slotCount)%slotCount]
}

// advance moves the window to the instant: the open slot is closed when it is
// over, and what is older than 24 hours falls out. A window never moves back.
func (w *window) advance(at int64) {
	number := slotOf(at)
	if number <= w.number {
		return
	}
	*w.place(w.number) = closedSlot{number: w.number, payload: storedTally(w.number, &w.open), unsaved: w.unsaved}
	w.open, w.unsaved = tally{}, false
	for range min(number-w.number, slotCount) {
		w.number++
		w.drop(w.place(w.number))
	}
	w.number = number
}

// storedTally returns the stored form of a slot, in no more memory than it
// needs; nil of an empty one.
func storedTally(number int64, t *tally) []byte {
	var scratch [1024]byte
	b := appendTally(scratch[:0], number, t)
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}

// drop takes a closed slot out of the sums.
func (w *window) drop(s *closedSlot) {
	if s.payload != nil {
		var t tally
		// What was encoded or checked here before does decode.
		_ = decodeTally(s.payload, s.number, &t)
		w.remove(&t)
	}
	*s = closedSlot{}
}

// succeed counts a success at an instant.
func (w *window) succeed(at int64) {
	w.succeeded++
	w.open.succeeded++
	w.open.lastSuccess = max(w.open.lastSuccess, at)
	w.unsaved = true
}

// fail counts a failure.
func (w *window) fail() {
	w.failed++
	w.open.failed++
	w.unsaved = true
}

// add takes one sample. It must be positive.
func (w *window) add(k kind, v int64) {
	w.kinds[k].add(v)
	w.open.kinds[k][cell(v)]++
	w.added++
	w.unsaved = true
}

// restore adds a slot that was stored. What lies in the future, because the
// clock was set back, counts as now. It returns the number that the slot has
// got, and false when it is too old to count.
func (w *window) restore(number int64, t *tally) (int64, bool) {
	number = min(number, w.number)
	if number <= w.number-slotCount {
		return number, false
	}
	s := w.place(number)
	if number != w.number && s.payload == nil {
		w.include(t)
		*s = closedSlot{number: number, payload: storedTally(number, t)}
		return number, true
	}
	var old tally
	if number == w.number {
		old = w.open
	} else {
		_ = decodeTally(s.payload, s.number, &old) // see drop
	}
	w.remove(&old)
	old.merge(t)
	w.include(&old)
	if number == w.number {
		w.open = old
	} else {
		*s = closedSlot{number: number, payload: storedTally(number, &old), unsaved: s.unsaved}
	}
	return number, true
}

// include adds a slot to the sums.
func (w *window) include(t *tally) {
	w.succeeded += uint64(t.succeeded)
	w.failed += uint64(t.failed)
	for k := range w.kinds {
		w.kinds[k].merge(&t.kinds[k])
	}
	w.stale = true
}

// remove takes a slot that was included out of the sums.
func (w *window) remove(t *tally) {
	w.succeeded -= uint64(t.succeeded)
	w.failed -= uint64(t.failed)
	for k := range w.kinds {
		w.kinds[k].remove(&t.kinds[k])
	}
	w.stale = true
}

// resave marks a slot as not stored.
func (w *window) resave(number int64) {
	if number == w.number {
		w.unsaved = true
		return
	}
	w.place(number).unsaved = true
}

// save calls put for every slot that changed since the last save.
func (w *window) save(put func(number int64, payload []byte)) {
	for i := range w.closed {
		if s := &w.closed[i]; s.unsaved {
			s.unsaved = false
			put(s.number, s.payload)
		}
	}
	if w.unsaved {
		w.unsaved = false
		put(w.number, storedTally(w.number, &w.open))
	}
}

// merge adds what fell into another slot. Counts stop at their greatest value.
func (t *tally) merge(o *tally) {
	t.succeeded = addCounts(t.succeeded, o.succeeded)
	t.failed = addCounts(t.failed, o.failed)
	t.lastSuccess = max(t.lastSuccess, o.lastSuccess)
	for k := range t.kinds {
		for i, n := range o.kinds[k] {
			t.kinds[k][i] = addCounts(t.kinds[k][i], n)
		}
	}
}

func addCounts(a, b uint32) uint32 {
	return uint32(min(uint64(a)+uint64(b), math.MaxUint32))
}

// refresh moves the window to the instant and recomputes the medians when they
// are older than a second or rest on noticeably fewer samples than there are.
func (w *window) refresh(at int64) {
	w.advance(at)
	if !w.stale {
		age := at - w.computed
		few := w.added*recomputeShare < w.known
		if w.added == 0 || few && age >= 0 && age < int64(recomputeAfter) {
			return
		}
	}
	w.known = 0
	for k := range w.kinds {
		w.medians[k] = w.kinds[k].median()
		w.known += w.kinds[k].total
	}
	w.slow = w.kinds[latency].slowest()
	w.computed, w.added, w.stale = at, 0, false
}

// median returns the median of a kind, as of the last refresh, if at least
// least samples are in the window.
func (w *window) median(k kind, least uint64) (int64, bool) {
	if w.kinds[k].total < least {
		return 0, false
	}
	return w.medians[k], true
}

// latencies returns the median time of answers and what 95 of 100 keep to, as of
// the last refresh, if at least least samples are in the window.
func (w *window) latencies(least uint64) (half, slow int64, known bool) {
	half, known = w.median(latency, least)
	if !known {
		return 0, 0, false
	}
	return half, w.slow, true
}

// reliability returns the success rate in ppm if there are at least least
// outcomes, and how many there are.
func (w *window) reliability(least uint64) (share int64, outcomes uint64, known bool) {
	outcomes = w.succeeded + w.failed
	if outcomes < least || outcomes == 0 {
		return 0, outcomes, false
	}
	const ppm = 1_000_000
	return int64(w.succeeded * ppm / outcomes), outcomes, true //nolint:gosec // at most ppm
}
