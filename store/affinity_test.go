package store

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAffinityPutGet(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	sec := func(n int) time.Time { return now.Add(time.Duration(n) * time.Second) }
	k := sessionKey(1)
	type put struct {
		value       string
		at, expires time.Time
		stored      bool
	}
	for _, c := range []struct {
		name string
		puts []put
		get  time.Time
		want string // empty: not found
	}{
		{"nothing", nil, sec(0), ""},
		{"one", []put{{"a", sec(0), sec(60), true}}, sec(59), "a"},
		{"over at its very end", []put{{"a", sec(0), sec(60), true}}, sec(60), ""},
		{"newer replaces", []put{{"a", sec(0), sec(60), true}, {"b", sec(1), sec(61), true}}, sec(2), "b"},
		{"older stays out", []put{{"a", sec(1), sec(60), true}, {"b", sec(0), sec(90), false}}, sec(2), "a"},
		{"older by a nanosecond", []put{
			{"a", now, sec(60), true},
			{"b", now.Add(-1), sec(60), false},
		}, sec(2), "a"},
		{"the same moment replaces", []put{{"a", sec(0), sec(60), true}, {"b", sec(0), sec(60), true}}, sec(2), "b"},
		{"a shorter life replaces a longer one", []put{{"a", sec(0), sec(90), true}, {"a", sec(1), sec(30), true}}, sec(31), ""},
		{"never over", []put{{"a", sec(0), time.Time{}, true}}, now.AddDate(100, 0, 0), "a"},
		{"longest value", []put{{strings.Repeat("x", MaxTarget), sec(0), sec(60), true}}, sec(1), strings.Repeat("x", MaxTarget)},
		{"too long a value", []put{{strings.Repeat("x", MaxTarget+1), sec(0), sec(60), false}}, sec(1), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustOpen(t, dir, Options{Clock: func() time.Time { return now }})
			for i, p := range c.puts {
				if got := s.Affinity().Put(k, p.value, p.at, p.expires); got != p.stored {
					t.Errorf("put %d: stored %v, want %v", i, got, p.stored)
				}
			}
			check := func(when string) {
				got, ok := s.Affinity().Get(k, c.get)
				if got != c.want || ok != (c.want != "") {
					t.Errorf("%s: got %.20q %v, want %.20q", when, got, ok, c.want)
				}
			}
			check("before the restart")
			mustClose(t, s)
			check("after Close")
			s = mustOpen(t, dir, Options{Clock: func() time.Time { return now }})
			check("after the restart")
		})
	}
}

func TestAffinityDelete(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	for i := range uint64(10) {
		s.Affinity().Put(sessionKey(i), "a", now, now.Add(time.Hour))
	}
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	s.Affinity().Delete(sessionKey(3))
	s.Affinity().Delete(sessionKey(3))
	s.Affinity().Delete(sessionKey(99))
	if got := s.Affinity().Len(); got != 9 {
		t.Errorf("%d sessions, want 9", got)
	}
	mustClose(t, s)
	s.Affinity().Delete(sessionKey(4))
	if s.Affinity().Put(sessionKey(3), "a", now, now.Add(time.Hour)) {
		t.Error("a closed store took a session")
	}
	s = mustOpen(t, dir, Options{})
	got := sessions(s.Affinity())
	if _, there := got[sessionKey(3)]; there || len(got) != 9 {
		t.Errorf("%d sessions, the deleted one among them: %v; want 9 and false", len(got), there)
	}
}

func TestAffinityEach(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	a := newAffinity(10_000, 1000, clock, func() {})
	want := make(map[Key]session)
	for i := range uint64(5000) {
		expires := now.Add(time.Duration(int64(i)-100) * time.Second)
		a.Put(sessionKey(i), target(i), now, expires)
		if i > 100 {
			want[sessionKey(i)] = session{target(i), now.UnixNano(), expires.UnixNano()}
		}
	}
	a.Put(sessionKey(7), "for ever", now, time.Time{})
	want[sessionKey(7)] = session{"for ever", now.UnixNano(), never}
	if diff := cmp.Diff(want, sessions(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	calls := 0
	a.Each(func(k Key, _ string, _, _ time.Time) bool {
		calls++
		a.Delete(k) // no lock is held
		return calls < 3
	})
	if calls != 3 {
		t.Errorf("%d calls after the answer false at the third", calls)
	}
}

func TestAffinityCap(t *testing.T) {
	now := time.Now()
	const limit, n = 100, 250
	for _, c := range []struct {
		name    string
		expires func(i uint64) time.Time
		kept    func(i uint64) bool // nil: any
	}{
		{"in order", func(i uint64) time.Time { return now.Add(time.Duration(i+1) * time.Second) }, func(i uint64) bool { return i >= n-limit }},
		{"in reverse", func(i uint64) time.Time { return now.Add(time.Duration(n-i) * time.Second) }, func(i uint64) bool { return i < limit }},
		{"shuffled", func(i uint64) time.Time { return now.Add(time.Duration(i*97%n+1) * time.Second) }, func(i uint64) bool { return i*97%n >= n-limit }},
		{"never over", func(uint64) time.Time { return time.Time{} }, nil},
		{"the ones that never end stay", func(i uint64) time.Time {
			if i%5 == 0 {
				return time.Time{}
			}
			return now.Add(time.Duration(i+1) * time.Second)
		}, func(i uint64) bool { return i%5 == 0 || i >= n-62 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			o := Options{MaxSessions: limit}
			s := mustOpen(t, dir, o)
			for i := range uint64(n) {
				s.Affinity().Put(sessionKey(i), target(i), now, c.expires(i))
				if got := s.Affinity().Len(); got > limit {
					t.Fatalf("%d sessions, at most %d", got, limit)
				}
			}
			if got := s.Stats().SessionsEvicted; got != n-limit {
				t.Errorf("%d evicted, want %d", got, n-limit)
			}
			kept := sessions(s.Affinity())
			for i := range uint64(n) {
				if _, got := kept[sessionKey(i)]; c.kept != nil && got != c.kept(i) {
					t.Errorf("session %d: kept %v, want %v", i, got, !got)
				}
			}
			mustClose(t, s)
			s = mustOpen(t, dir, o)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(printable(kept))), slices.Sorted(maps.Keys(printable(sessions(s.Affinity()))))); c.kept != nil && diff != "" {
				t.Errorf("after a restart (-want +got):\n%s", diff)
			}
			if got := s.Affinity().Len(); got != limit {
				t.Errorf("%d sessions after a restart, want %d", got, limit)
			}
		})
	}
}

// printable makes keys that can be sorted.
func printable(m map[Key]session) map[string]session {
	out := make(map[string]session, len(m))
	for k, v := range m {
		out[fmt.Sprintf("%x", k)] = v
	}
	return out
}

func TestAffinitySweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, t.TempDir(), Options{})
		a, now := s.Affinity(), time.Now()
		const n = 100_000
		for i := range uint64(n) {
			a.Put(sessionKey(i), target(i), now, now.Add(time.Minute))
		}
		for i := range uint64(10) {
			a.Put(sessionKey(n+i), "stays", now, now.Add(time.Hour))
		}
		time.Sleep(2 * time.Minute) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if got := a.Len(); got != 10 {
			t.Errorf("%d sessions, want 10", got)
		}
		if got := s.Stats(); got.SessionsExpired != n || got.SegmentRecords > defaultTuning.deadFloor+2*10 {
			t.Errorf("%d expired, %d records on disk; want %d and a compacted log", got.SessionsExpired, got.SegmentRecords, n)
		}
		for i := range a.shards {
			if s := &a.shards[i]; len(s.slots) > 1024 {
				t.Errorf("shard %d has %d slots for %d sessions", i, len(s.slots), len(s.index))
			}
		}
		for i := range uint64(10) {
			if got, _ := a.Get(sessionKey(n+i), time.Now()); got != "stays" {
				t.Errorf("session %d: got %q", i, got)
			}
		}
		mustClose(t, s)
	})
}

// TestAffinityMemory: a million sessions in 300 MB leaves 300 bytes for each.
func TestAffinityMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few hundred milliseconds")
	}
	const n = 100_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	a := newAffinity(n, n, time.Now, func() {})
	fill(a, n, time.Now())
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("%d bytes for each of %d sessions that were not flushed yet", each, n)
	if each > 300 {
		t.Errorf("%d bytes a session, at most 300", each)
	}
	runtime.KeepAlive(a)
}

func TestAffinityAllocations(t *testing.T) {
	now := time.Now()
	a := newAffinity(1000, 1000, time.Now, func() {})
	fill(a, 100, now)
	text := target(7)
	for name, f := range map[string]func(){
		"get":         func() { a.Get(sessionKey(50), now) },
		"get nothing": func() { a.Get(sessionKey(5000), now) },
		"put again":   func() { a.Put(sessionKey(50), text, now, now.Add(time.Hour)) },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}

// TestShard compares a shard with a map, and verifies heap and texts.
func TestShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &newAffinity(1, 1, time.Now, func() {}).shards[0]
		model := make(map[Key]session)
		key := rapid.Custom(func(t *rapid.T) Key { return Key{byte(rapid.IntRange(0, 30).Draw(t, "key"))} })
		value := rapid.SampledFrom([]string{"a", "b", "c", ""})
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, e := key.Draw(t, "k"), session{value.Draw(t, "value"), rapid.Int64Range(0, 9).Draw(t, "at"), rapid.Int64Range(1, 20).Draw(t, "expires")}
				old, known := model[k]
				stored, added := s.put(k, e.Value, e.At, e.Expires)
				if want := !known || old.At <= e.At; stored != want || added == known {
					t.Fatalf("stored %v, added %v; want %v, %v", stored, added, want, !known)
				}
				if stored {
					model[k] = e
				}
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "k")
				_, want := model[k]
				if got := s.remove(k); got != want {
					t.Fatalf("removed %v, want %v", got, want)
				}
				delete(model, k)
			},
			"remove first": func(t *rapid.T) {
				limit := rapid.Int64Range(0, 20).Draw(t, "limit")
				first := int64(nothing)
				for _, e := range model {
					first = min(first, e.Expires)
				}
				removed := s.removeFirst(limit)
				if want := len(model) > 0 && first <= limit; removed != want {
					t.Fatalf("removed %v, want %v", removed, want)
				}
				for k, e := range model {
					if _, there := s.index[k]; !there {
						delete(model, k)
						if e.Expires != first {
							t.Fatalf("removed one that ends at %d, want %d", e.Expires, first)
						}
					}
				}
			},
			"move": func(*rapid.T) { compactShard(s) },
			"":     func(t *rapid.T) { verifyShard(t, s, model) },
		})
	})
}

// compactShard renumbers the slots, whatever their number.
func compactShard(s *shard) {
	for len(s.slots) <= 1024 {
		i := uint32(len(s.slots))
		s.slots = append(s.slots, slot{place: noPlace})
		s.free = append(s.free, i)
	}
	s.shrink()
}

// verifyShard compares with the model and checks what must always hold.
func verifyShard(t *rapid.T, s *shard, model map[Key]session) {
	got := make(map[Key]session)
	uses := make(map[uint32]uint32)
	first := int64(nothing)
	for k, i := range s.index {
		e := &s.slots[i]
		if e.key != k || s.order[e.place] != i {
			t.Fatalf("slot %d is out of place", i)
		}
		if p := (e.place - 1) / 2; e.place > 0 && s.slots[s.order[p]].expires > e.expires {
			t.Fatal("the heap is out of order")
		}
		first = min(first, e.expires)
		uses[e.value]++
		got[k] = session{s.values.list[e.value].text, e.at, e.expires}
	}
	if diff := cmp.Diff(model, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if s.first.Load() != first || len(s.order) != len(model) || len(s.slots) != len(model)+len(s.free) {
		t.Fatalf("first %d, want %d; %d in the heap, %d slots, %d free", s.first.Load(), first, len(s.order), len(s.slots), len(s.free))
	}
	for i, e := range s.values.list {
		if e.uses != uses[uint32(i)] {
			t.Fatalf("text %q is used %d times, counted %d", e.text, uses[uint32(i)], e.uses)
		}
	}
	if len(s.values.places) != len(uses) {
		t.Fatalf("%d texts are kept, %d used", len(s.values.places), len(uses))
	}
}

// TestAffinityKeysSpread: keys that are no hashes must not end in one shard.
func TestAffinityKeysSpread(t *testing.T) {
	for name, key := range map[string]func(i int) Key{
		"first byte":  func(i int) Key { return Key{byte(i), byte(i >> 8)} },
		"last byte":   func(i int) Key { return Key{14: byte(i >> 8), 15: byte(i)} },
		"real hashes": func(i int) Key { return sessionKey(uint64(i)) },
	} {
		a := newAffinity(1, 1, time.Now, func() {})
		counts := make(map[*shard]int)
		const n = 64 * 100
		for i := range n {
			counts[a.shard(key(i))]++
		}
		most := slices.Max(slices.Collect(maps.Values(counts)))
		if most > 300 || len(counts) < shardCount {
			t.Errorf("%s: %d shards used, up to %d of %d keys in one", name, len(counts), most, n)
		}
	}
}

// TestAffinitySmallerCap: a start with a smaller cap keeps what lasts longest.
func TestAffinitySmallerCap(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	s := mustOpen(t, dir, Options{})
	for i := range uint64(100) {
		s.Affinity().Put(sessionKey(i), "a", now, now.Add(time.Hour+time.Duration(i)*time.Second))
	}
	mustClose(t, s)
	s = mustOpen(t, dir, Options{MaxSessions: 30})
	got := sessions(s.Affinity())
	for i := range uint64(100) {
		if _, kept := got[sessionKey(i)]; kept != (i >= 70) {
			t.Errorf("session %d: kept %v", i, kept)
		}
	}
	if evicted := s.Stats().SessionsEvicted; len(got) != 30 || evicted != 70 {
		t.Errorf("%d sessions, %d evicted; want 30, 70", len(got), evicted)
	}
}
