package health

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"gatewright/engine"
)

// maxReported is how many windows of one model are remembered; an upstream
// that reports more of them is not read further.
const maxReported = 16

// sighting is one window as an upstream reported it last. Instants are those of
// [Tracker.at].
type sighting struct {
	name   string
	period time.Duration // 0 = not known
	left   int64         // share in ppm, or engine.Unknown
	resets int64         // 0 = not known
	taken  int64         // when the answer that said it arrived
}

// stale reports whether the sighting is too old to count at the instant, or,
// because the clock was set back, lies too far ahead.
func (s *sighting) stale(at int64) bool {
	age := at - s.taken
	return age > int64(engine.QuotaFreshness) || -age > int64(engine.QuotaFreshness)
}

// board is what upstreams reported of the windows of one model, or of a whole
// account. Everything but version is guarded by the account's mu.
type board struct {
	list    []sighting
	unsaved bool

	version atomic.Uint64 // counts the changes
}

// fresh reports whether anything on the board still counts at the instant.
func (b *board) fresh(at int64) bool {
	for i := range b.list {
		if !b.list[i].stale(at) {
			return true
		}
	}
	return false
}

// put takes in what an answer said. Of two answers that overtook each other the
// one that arrived later counts. It reports whether the window is now used up
// and was not before.
func (b *board) put(s *sighting, present int64) bool {
	old := b.place(s.name, present)
	if old == nil {
		return false
	}
	name, usedUp := old.name, false
	switch {
	case name != s.name: // a free place
		name = strings.Clone(s.name) // which may be a piece of a header
	case old.taken > s.taken && old.taken <= present:
		return false
	default:
		usedUp = old.left == 0
	}
	*old = *s
	old.name = name
	b.unsaved = true
	b.version.Add(1)
	return s.left == 0 && !usedUp
}

// place returns where a window is kept: its own place, that of one that does
// not count any more, or a new one; nil when there is none.
func (b *board) place(name string, present int64) *sighting {
	free := -1
	for i := range b.list {
		if b.list[i].name == name {
			return &b.list[i]
		}
		if b.list[i].stale(present) {
			free = i
		}
	}
	switch {
	case free >= 0:
	case len(b.list) == maxReported:
		return nil
	default:
		b.list = append(b.list, sighting{})
		free = len(b.list) - 1
	}
	return &b.list[free]
}

// observe takes in what the headers of an answer say of quotas. at is when they
// arrived.
func (t *Tracker) observe(s *state, d *engine.Deployment, h http.Header, at time.Time) {
	var r reading
	r.read(h, at)
	if r.n == 0 {
		return
	}
	taken, now := t.at(at), t.clock()
	src := t.sources(s, d)
	a := src.account
	a.mu.Lock()
	defer a.mu.Unlock()
	var ownUp, sharedUp bool // a window was used up
	for i := range r.list[:r.n] {
		w := &r.list[i]
		seen, ok := w.sighting(taken)
		switch {
		case !ok:
		case w.shared:
			sharedUp = a.shared.put(&seen, t.at(now)) || sharedUp
		default:
			ownUp = src.own.put(&seen, t.at(now)) || ownUp
		}
	}
	if ownUp {
		t.keepBoard(modelKey(a.provider, src.upstream), src.own, now)
	}
	if sharedUp {
		t.keepBoard(accountKey(a.provider), a.shared, now)
	}
}
