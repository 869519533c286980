package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// sessionKey is a key as a hash would make it.
func sessionKey(n uint64) Key {
	var k Key
	binary.LittleEndian.PutUint64(k[:8], n*0x9E3779B97F4A7C15+1)
	binary.LittleEndian.PutUint64(k[8:], n*0xC2B2AE3D27D4EB4F^0x165667B19E3779F9)
	return k
}

// target is one of a few values.
func target(n uint64) string {
	return fmt.Sprintf(`{"deployment":"dep-%03d","pool":"chat-large","path":["chat-large"]}`, n%50)
}

// fill puts n sessions that expire over an hour from now.
func fill(a *Affinity, n uint64, now time.Time) {
	targets := make([]string, 50)
	for i := range targets {
		targets[i] = target(uint64(i))
	}
	for i := range n {
		a.Put(sessionKey(i), targets[i%50], now, now.Add(time.Hour+time.Duration(i)*time.Millisecond))
	}
}

func BenchmarkAffinityGet(b *testing.B) {
	for _, n := range []uint64{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			now := time.Now()
			a := newAffinity(2_000_000, defaultTuning.listed, time.Now, func() {})
			fill(a, n, now)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				r := rand.New(rand.NewPCG(1, 2))
				for pb.Next() {
					if _, ok := a.Get(sessionKey(r.Uint64N(n)), now); !ok {
						b.Error("session is missing")
						return
					}
				}
			})
		})
	}
}

func BenchmarkAffinityPut(b *testing.B) {
	const n = 1_000_000
	now := time.Now()
	for _, c := range []struct {
		name string
		max  int
		keys uint64
	}{
		{"known", 2 * n, n},
		{"evicting", n / 2, n},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := newAffinity(c.max, defaultTuning.listed, time.Now, func() {})
			fill(a, n, now)
			a.takeDirty(nil, 2*n)
			text := target(7)
			b.ReportAllocs()
			b.ResetTimer()
			for i := uint64(0); b.Loop(); i++ {
				at := now.Add(time.Duration(i) * time.Microsecond)
				a.Put(sessionKey(i%c.keys), text, at, at.Add(2*time.Hour))
			}
		})
	}
}

// BenchmarkFlush is the time of one transaction that writes that many sessions.
func BenchmarkFlush(b *testing.B) {
	for _, n := range []uint64{1, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), Options{})
			now := time.Now()
			text := target(7)
			w, _ := quietWriter(b, s)
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				b.StopTimer()
				for j := range n {
					s.affinity.Put(sessionKey(i*n+j), text, now, now.Add(time.Hour))
				}
				b.StartTimer()
				if err := w.write(false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen is the time of a start with that many sessions, and what they
// take in memory and on disk.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []uint64{0, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			s, err := Open(dir, Options{})
			if err != nil {
				b.Fatal(err)
			}
			fill(s.Affinity(), n, time.Now())
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			var before, after runtime.MemStats
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				runtime.GC()
				runtime.ReadMemStats(&before)
				b.StartTimer()
				s, err := Open(dir, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				runtime.GC()
				runtime.ReadMemStats(&after)
				if got := s.Affinity().Len(); got != int(n) {
					b.Fatalf("%d sessions, want %d", got, n)
				}
				b.ReportMetric(float64(s.Stats().FileBytes)/(1<<20), "file-MiB")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "heap-MiB")
		})
	}
}

// BenchmarkCooldown is the time until a cooldown is durable.
func BenchmarkCooldown(b *testing.B) {
	s := mustOpen(b, b.TempDir(), Options{})
	value := []byte(`{"reason":"429"}`)
	for i := 0; b.Loop(); i++ {
		s.Cooldowns().Put(fmt.Sprintf("dep-%d", i%100), value, time.Now().Add(time.Minute))
		if err := s.Cooldowns().Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompaction is the time of a compaction of a million sessions.
func BenchmarkCompaction(b *testing.B) {
	s := mustOpen(b, b.TempDir(), Options{})
	w, _ := quietWriter(b, s)
	fill(s.Affinity(), 1_000_000, time.Now())
	if err := w.drain(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w.compact()
		for w.log.compaction != nil {
			w.compact()
		}
		if err := s.Err(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.Stats().FileBytes)/(1<<20), "file-MiB")
}
