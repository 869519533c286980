package health

import (
	"fmt"
	"testing"
	"time"

	"gatewright/engine"
)

// busy returns a tracker with n deployments that have statistics.
func busy(tb testing.TB, n int) (*Tracker, []engine.Candidate) {
	tb.Helper()
	tracker, err := New(Options{})
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	pool := make([]engine.Candidate, n)
	for i := range pool {
		pool[i].Deployment = deployment(fmt.Sprintf("provider-%d/model-of-some-length", i))
		for k := range 200 {
			c, _ := tracker.Begin(pool[i].Deployment, time.Now(), false)
			c.End(successful(time.Now(), k))
		}
	}
	return tracker, pool
}

func successful(now time.Time, k int) Outcome {
	return Outcome{
		Stream: true, TTFT: time.Duration(200+k%300) * time.Millisecond, Duration: 3 * time.Second,
		Usage: engine.Usage{Known: true, Input: 1000, Output: 300}, Policy: policy, Now: now,
	}
}

// TestAllocations guards the request path.
func TestAllocations(t *testing.T) {
	tracker, pool := busy(t, 20)
	now := time.Now()
	if n := testing.AllocsPerRun(100, func() { tracker.Signals(now, pool) }); n != 0 {
		t.Errorf("Signals allocates %v times, want 0", n)
	}
	call := func() {
		c, _ := tracker.Begin(pool[0].Deployment, now, false)
		c.Committed(now, time.Second)
		c.End(successful(now, 1))
	}
	if n := testing.AllocsPerRun(100, call); n > 1 {
		t.Errorf("a call allocates %v times, want once", n)
	}
}

func BenchmarkSignals20(b *testing.B) {
	tracker, pool := busy(b, 20)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		tracker.Signals(now, pool)
	}
}

func BenchmarkSignals20Parallel(b *testing.B) {
	tracker, pool := busy(b, 20)
	now := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		mine := append([]engine.Candidate(nil), pool...)
		for pb.Next() {
			tracker.Signals(now, mine)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	tracker, pool := busy(b, 20)
	now := time.Now()
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		c, _ := tracker.Begin(pool[k%len(pool)].Deployment, now, false)
		c.End(successful(now, k))
	}
}

func BenchmarkCallParallelOneDeployment(b *testing.B) {
	tracker, pool := busy(b, 1)
	now := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for k := 0; pb.Next(); k++ {
			c, _ := tracker.Begin(pool[0].Deployment, now, false)
			c.End(successful(now, k))
		}
	})
}

// BenchmarkLoad starts from a day of statistics of 100 deployments.
func BenchmarkLoad(b *testing.B) {
	clock, table := newClock(), newTable()
	tracker, err := New(Options{Clock: clock.now, Statistics: table})
	if err != nil {
		b.Fatalf("New: %v", err)
	}
	for range slotCount {
		for i := range 100 {
			for k := range 50 {
				c, _ := tracker.Begin(deployment(fmt.Sprintf("p/%d", i)), clock.now(), false)
				c.End(successful(clock.now(), k*7))
			}
		}
		clock.move(slotLength)
	}
	if err := tracker.Close(); err != nil {
		b.Fatalf("Close: %v", err)
	}
	for b.Loop() {
		tracker, err := New(Options{Clock: clock.now, Statistics: table})
		if err != nil {
			b.Fatalf("New: %v", err)
		}
		if err := tracker.Close(); err != nil {
			b.Fatalf("Close: %v", err)
		}
	}
}
