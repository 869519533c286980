package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// logKeys returns the numbers and lengths of the segments on disk.
func logKeys(tb testing.TB, s *Store) (numbers []uint64, lengths []int) {
	tb.Helper()
	err := s.db.View(func(tx *bbolt.Tx) error {
		return eachSegment(tx.Bucket(affinityBucket), func(number uint64, b []byte) error {
			numbers, lengths = append(numbers, number), append(lengths, len(b))
			return nil
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return numbers, lengths
}

func TestFlushIsOneSegment(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	w, _ := quietWriter(t, s)
	fill(s.Affinity(), 1000, time.Now())
	if err := w.write(false); err != nil {
		t.Fatal(err)
	}
	numbers, lengths := logKeys(t, s)
	if len(numbers) != 1 || lengths[0] > 50*1000 {
		t.Errorf("segments of %v bytes, want one of at most 50 bytes a session", lengths)
	}
	if err := w.write(false); err != nil {
		t.Fatal(err)
	}
	if numbers, _ = logKeys(t, s); len(numbers) != 1 || s.Stats().Flushes != 1 {
		t.Errorf("%d segments, %d flushes after a flush of nothing, want 1", len(numbers), s.Stats().Flushes)
	}
}

func TestLongFlushIsSplit(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	w, wake := quietWriter(t, s)
	a, now := s.Affinity(), time.Now()
	const n = flushRecords + 1000
	for i := range uint64(n) {
		a.Put(sessionKey(i), fmt.Sprintf("a target of its own for session %d", i), now, now.Add(time.Hour))
	}
	if err := w.write(false); err != nil {
		t.Fatal(err)
	}
	if got := s.Stats().Pending; got != 1000 {
		t.Errorf("%d pending behind a full transaction, want 1000", got)
	}
	_, lengths := logKeys(t, s)
	if most := slices.Max(lengths); most > defaultTuning.segmentBytes || len(lengths) < 2 {
		t.Errorf("%d segments of up to %d bytes, want at most %d", len(lengths), most, defaultTuning.segmentBytes)
	}
	want := sessions(a)
	wake()
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	if got := sessions(s.Affinity()); len(got) != n || !maps.Equal(want, got) {
		t.Errorf("%d sessions after a restart, want the same %d", len(got), n)
	}
}

func TestCompactionIsDue(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name string
		tune func(*tuning)
		do   func(*Store, *writer)
		want bool
	}{
		{"fresh", func(*tuning) {}, func(*Store, *writer) {}, false},
		{"dead records outweigh", func(tune *tuning) { tune.deadFloor = 10 }, func(s *Store, w *writer) {
			for range 13 {
				s.Affinity().Put(Key{1}, "a", now, now.Add(time.Hour))
				_ = w.write(false)
			}
		}, true},
		{"dead records do not outweigh yet", func(tune *tuning) { tune.deadFloor = 10 }, func(s *Store, w *writer) {
			for range 12 {
				s.Affinity().Put(Key{1}, "a", now, now.Add(time.Hour))
				_ = w.write(false)
			}
		}, false},
		{"many segments", func(tune *tuning) { tune.maxSegments = 5 }, func(s *Store, w *writer) {
			for i := range byte(6) {
				s.Affinity().Put(Key{i}, "a", now, now.Add(time.Hour))
				_ = w.write(false)
			}
		}, true},
		{"too many changes to list", func(tune *tuning) { tune.listed = 10 }, func(s *Store, _ *writer) {
			fill(s.Affinity(), 5000, now)
			s.Affinity().Each(func(k Key, _ string, _, _ time.Time) bool { s.Affinity().Delete(k); return true })
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tune := defaultTuning
			c.tune(&tune)
			dir := t.TempDir()
			s, _ := openFlaky(t, dir, Options{}, tune)
			w, _ := quietWriter(t, s)
			c.do(s, w)
			if got := w.log.due(); got != c.want {
				t.Errorf("due: %v, want %v", got, c.want)
			}
			if !c.want {
				return
			}
			for w.compact(); w.log.compaction != nil; {
				w.compact()
			}
			if w.log.due() {
				t.Error("due again right after")
			}
			if err := w.drain(); err != nil {
				t.Fatal(err)
			}
			other := t.TempDir()
			copyStore(t, s, other)
			if diff := cmp.Diff(sessions(s.Affinity()), sessions(mustOpen(t, other, Options{}).Affinity())); diff != "" {
				t.Errorf("after a restart (-memory +disk):\n%s", diff)
			}
		})
	}
}

// TestDeletedWhileUnlisted: sessions forgotten while the list of changes was
// given up must not come back.
func TestDeletedWhileUnlisted(t *testing.T) {
	dir := t.TempDir()
	tune := smallTuning()
	tune.listed = 10
	s, _ := openFlaky(t, dir, Options{}, tune)
	a, now := s.Affinity(), time.Now()
	const n = 5000
	fill(a, n, now)
	_, wake := quietWriter(t, s) // writes them
	for i := range uint64(n - 5) {
		a.Delete(sessionKey(i))
	}
	if !a.rewrite.Load() || s.Stats().Pending < 5 {
		t.Fatal("this test does not reach what it is about")
	}
	wake()
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	if got := s.Affinity().Len(); got != 5 {
		t.Errorf("%d sessions after a restart, want 5", got)
	}
}

// TestCompactionSurvivesKills copies the file after every transaction of a
// compaction, among them changes, and starts from each copy.
func TestCompactionSurvivesKills(t *testing.T) {
	tune := smallTuning()
	s, disk := openFlaky(t, t.TempDir(), Options{}, tune)
	disk.NoSync = true // a copy of the file sees what is not synced, too
	w, _ := quietWriter(t, s)
	a, now := s.Affinity(), time.Now()
	r := rand.New(rand.NewPCG(1, 2))
	change := func(round int) {
		for range 300 {
			k := sessionKey(r.Uint64N(2000))
			if r.IntN(5) == 0 {
				a.Delete(k)
				continue
			}
			at := now.Add(time.Duration(round) * time.Second)
			a.Put(k, target(r.Uint64N(50)), at, at.Add(time.Hour))
		}
		if err := w.write(false); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 40 {
		change(round)
	}
	numbers, _ := logKeys(t, s)
	for step := 0; ; step++ {
		w.compact()
		other := t.TempDir()
		copyStore(t, s, other)
		if err := Check(other, t.Output()); err != nil {
			t.Fatal(err)
		}
		o := mustOpen(t, other, Options{})
		if diff := cmp.Diff(sessions(a), sessions(o.Affinity())); diff != "" {
			t.Fatalf("killed after step %d (-memory +disk):\n%s", step, diff)
		}
		mustClose(t, o)
		if w.log.compaction == nil {
			break
		}
		change(200 + step)
	}
	left, _ := logKeys(t, s)
	if left[0] <= numbers[len(numbers)-1] {
		t.Errorf("old segments are left: %v", left)
	}
	if got := s.Stats(); got.Compactions != 1 || got.Segments != len(left) {
		t.Errorf("%d compactions, %d segments; want 1, %d", got.Compactions, got.Segments, len(left))
	}
}

// TestCompactionFails: a step that fails is done again, whether or not it
// reached the disk.
func TestCompactionFails(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("late=%v", late), func(t *testing.T) {
			s, disk := openFlaky(t, t.TempDir(), Options{}, smallTuning())
			w, _ := quietWriter(t, s)
			a, now := s.Affinity(), time.Now()
			fill(a, 3000, now)
			if err := w.write(false); err != nil {
				t.Fatal(err)
			}
			boom := errors.New("boom")
			for step := 0; ; step++ {
				disk.set(boom, late)
				w.compact()
				if !errors.Is(s.Err(), boom) {
					t.Fatalf("step %d: error %v, want %v", step, s.Err(), boom)
				}
				disk.set(nil, false)
				w.compact()
				if err := s.Err(); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				if w.log.compaction == nil {
					break
				}
			}
			other := t.TempDir()
			copyStore(t, s, other)
			if diff := cmp.Diff(sessions(a), sessions(mustOpen(t, other, Options{}).Affinity())); diff != "" {
				t.Errorf("after a restart (-memory +disk):\n%s", diff)
			}
			if disk.badOrder.Load() {
				t.Error("a transaction followed a failed one without Settle")
			}
		})
	}
}

// TestShorterLifeIsNotForgotten: a record that is over removes the one before
// it, which would have lasted longer.
func TestShorterLifeIsNotForgotten(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{Clock: func() time.Time { return now }})
	w, wake := quietWriter(t, s)
	for i, life := range []time.Duration{24 * time.Hour, time.Hour} {
		at := now.Add(time.Duration(i) * time.Second)
		s.Affinity().Put(Key{1}, strconv.Itoa(i), at, at.Add(life))
		if err := w.write(false); err != nil {
			t.Fatal(err)
		}
	}
	wake()
	mustClose(t, s)
	later := now.Add(2 * time.Hour)
	s = mustOpen(t, dir, Options{Clock: func() time.Time { return later }})
	if got, ok := s.Affinity().Get(Key{1}, later); ok || s.Affinity().Len() != 0 {
		t.Errorf("got %q, %d sessions; want none", got, s.Affinity().Len())
	}
}

// TestAffinityAgainstModel drives a store at random, through flushes, parts of
// compactions and kills. After a kill each session is as it was at the last
// flush, or as it became later.
func TestAffinityAgainstModel(t *testing.T) {
	dirs := 0
	rapid.Check(t, func(rt *rapid.T) {
		now := time.UnixMilli(1_790_000_000_000)
		clock := func() time.Time { return now }
		tune := smallTuning()
		tune.segmentBytes, tune.deadFloor, tune.maxSegments = 30<<10, 5, 3
		tune.listed = rapid.SampledFrom([]int{0, 100}).Draw(rt, "listed")
		root := t.TempDir()
		start := func(dir string) (*Store, *writer, func()) {
			s, err := open(dir, Options{Clock: clock}, tune, func(d *database) disk {
				d.NoSync = true // a copy of the file sees what is not synced, too
				return d
			})
			if err != nil {
				rt.Fatal(err)
			}
			w, wake := quietWriter(rt, s)
			return s, w, wake
		}
		s, w, wake := start(root)
		rt.Cleanup(func() {
			wake()
			_ = s.Close()
		})
		memory := make(map[Key]session)
		later := make(map[Key][]session) // states since the last flush, the zero value for none
		state := func(k Key) session {
			if e, ok := memory[k]; ok && e.Expires > now.UnixNano() {
				return e
			}
			return session{}
		}
		key := rapid.Custom(func(t *rapid.T) Key { return Key{byte(rapid.IntRange(0, 20).Draw(t, "key"))} })
		flushed := func() {
			for k := range later {
				later[k] = []session{state(k)}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, value := key.Draw(t, "k"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "value")
				at := now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Second)
				expires := at.Add(time.Duration(rapid.IntRange(1, 50).Draw(t, "life")) * time.Second)
				old, known := memory[k]
				want := !known || old.At <= at.UnixNano()
				if got := s.Affinity().Put(k, value, at, expires); got != want {
					t.Fatalf("stored %v, want %v", got, want)
				}
				if want {
					if later[k] == nil {
						later[k] = []session{{}}
					}
					memory[k] = session{value, at.UnixNano(), expires.UnixNano()}
					later[k] = append(later[k], memory[k])
				}
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "k")
				s.Affinity().Delete(k)
				delete(memory, k)
				later[k] = append(later[k], session{})
			},
			"pass time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
				s.Affinity().sweep(now.UnixNano())
				for k := range memory {
					if state(k) == (session{}) {
						delete(memory, k)
					}
				}
			},
			"flush": func(t *rapid.T) {
				if err := w.drain(); err != nil {
					t.Fatal(err)
				}
				flushed()
			},
			"compact a part": func(*rapid.T) { w.compact() },
			"restart": func(*rapid.T) {
				wake()
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s, w, wake = start(root)
				flushed()
			},
			"kill": func(t *rapid.T) {
				dirs++
				next := fmt.Sprintf("%s/%d", root, dirs)
				if err := ensureDir(next); err != nil {
					t.Fatal(err)
				}
				copyStore(rt, s, next)
				wake()
				_ = s.Close()
				root = next
				s, w, wake = start(root)
				got := sessions(s.Affinity())
				for k, states := range later {
					live := slices.DeleteFunc(slices.Clone(states), func(e session) bool { return e != (session{}) && e.Expires <= now.UnixNano() })
					if len(live) < len(states) {
						live = append(live, session{})
					}
					if !slices.Contains(live, got[k]) {
						t.Fatalf("session %x: got %+v, want one of %+v", k[:1], got[k], live)
					}
				}
				memory = got
				flushed()
			},
			"": func(t *rapid.T) {
				want := make(map[Key]session)
				for k := range memory {
					if e := state(k); e != (session{}) {
						want[k] = e
					}
				}
				if diff := cmp.Diff(want, sessions(s.Affinity())); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			},
		})
		wake()
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestDropManySegments: old segments are deleted in several transactions.
func TestDropManySegments(t *testing.T) {
	tune := defaultTuning
	tune.maxSegments = 2*dropStep + 10
	s, disk := openFlaky(t, t.TempDir(), Options{}, tune)
	disk.NoSync = true
	w, _ := quietWriter(t, s)
	now := time.Now()
	for i := range tune.maxSegments + 1 {
		s.Affinity().Put(sessionKey(uint64(i)), "a", now, now.Add(time.Hour))
		if err := w.write(false); err != nil {
			t.Fatal(err)
		}
	}
	before := disk.updates.Load()
	for w.compact(); w.log.compaction != nil; {
		w.compact()
	}
	if numbers, _ := logKeys(t, s); len(numbers) != 1 {
		t.Errorf("%d segments, want 1", len(numbers))
	}
	if n := disk.updates.Load() - before; n != 4 {
		t.Errorf("%d transactions, want one that copies and three that delete", n)
	}
}

// TestReplay: what a record does depends on the ones before it.
func TestReplay(t *testing.T) {
	const now = 100
	put := func(value string, at, expires int64) affinityRecord {
		return affinityRecord{key: Key{1}, value: value, at: at, expires: expires}
	}
	gone := affinityRecord{key: Key{1}, gone: true}
	for _, c := range []struct {
		name    string
		records []affinityRecord
		want    string
	}{
		{"newer after older", []affinityRecord{put("a", 1, 200), put("b", 2, 200)}, "b"},
		{"older after newer: it was forgotten in between", []affinityRecord{put("a", 2, 200), put("b", 1, 200)}, "b"},
		{"the same again", []affinityRecord{put("a", 1, 200), put("a", 1, 200)}, "a"},
		{"forgotten", []affinityRecord{put("a", 1, 200), gone}, ""},
		{"forgotten and older", []affinityRecord{put("a", 5, 200), gone, put("b", 1, 200)}, "b"},
		{"forgotten twice", []affinityRecord{gone, gone}, ""},
		{"over", []affinityRecord{put("a", 1, now)}, ""},
		{"over, removes the older", []affinityRecord{put("a", 1, 200), put("b", 2, 50)}, ""},
		{"over, and older than the other", []affinityRecord{put("a", 2, 200), put("b", 1, 50)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAffinity(10, 10, time.Now, func() {})
			for i := range c.records {
				a.replay(&c.records[i], now)
			}
			got, ok := a.Get(Key{1}, time.Unix(0, now))
			if got != c.want || ok != (c.want != "") || a.Len() != len(c.want) {
				t.Errorf("got %q %v, %d sessions; want %q", got, ok, a.Len(), c.want)
			}
			if a.waiting() != 0 {
				t.Error("what was read would be written again")
			}
		})
	}
}

// TestWalkWhileSlotsMove: sessions that stay are seen although the shard was
// rebuilt in the middle of a walk.
func TestWalkWhileSlotsMove(t *testing.T) {
	a := newAffinity(1_000_000, 1_000_000, time.Now, func() {})
	s := &a.shards[0]
	kept := make(map[Key]bool)
	n := 0
	for i := uint64(0); n < 4*walkStep; i++ {
		k := sessionKey(i)
		if a.shard(k) != s {
			continue
		}
		expires := int64(10)
		if n%8 == 7 {
			expires, kept[k] = 1000, true
		}
		s.put(k, "a", 1, expires)
		n++
	}
	var c cursor
	var seen []affinityRecord
	seen = a.next(&c, seen, 5)
	seen = a.next(&c, seen, 5)
	a.sweep(20)
	if len(s.slots) == n || s.epoch == 0 {
		t.Fatal("this test does not reach what it is about")
	}
	for c.shard == 0 {
		seen = a.next(&c, seen, 20)
	}
	for _, r := range seen {
		delete(kept, r.key)
	}
	if len(kept) > 0 {
		t.Errorf("%d sessions were not seen", len(kept))
	}
}

// A session that is forgotten and begun again between two flushes leaves no
// trace of having been gone: its last record counts, though an earlier one is of
// a later request.
func TestForgottenAndBegunAgain(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	k := sessionKey(1)
	s := mustOpen(t, dir, Options{})
	s.Affinity().Put(k, "later", now.Add(time.Minute), now.Add(time.Hour))
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	s.Affinity().Delete(k)
	s.Affinity().Put(k, "earlier", now, now.Add(time.Hour))
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	if got, ok := s.Affinity().Get(k, now); !ok || got != "earlier" {
		t.Errorf("after a restart %q (%v), want what was put last", got, ok)
	}
}
