package policies

import (
	"sync"
	"testing"
	"time"
)

func TestSuspension(t *testing.T) {
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	s := &suspension{}
	// burst is the answer to the last of five faults, 100 ms apart, from a moment on.
	burst := func(from float64) time.Duration {
		var got time.Duration
		for i := range faultLimit {
			if got != 0 {
				t.Fatalf("suspended after %d faults", i)
			}
			got = s.fault(at(from + float64(i)/10))
		}
		return got
	}
	for i := range 8 { // slow faults never suspend
		if got := s.fault(at(float64(i) * 3)); got != 0 {
			t.Fatalf("fault %d suspends for %v", i, got)
		}
	}
	if got := burst(100); got != 30*time.Second {
		t.Fatalf("suspended for %v, want 30 s", got)
	}
	if ok, ended := s.over(at(130.3)); ok || ended {
		t.Errorf("asked within its suspension: %v, ended %v", ok, ended)
	}
	if got := s.fault(at(110)); got != 0 {
		t.Errorf("a late fault suspends anew: %v", got)
	}
	if got := s.suspended(at(110)); !got.Equal(at(130.4)) {
		t.Errorf("suspended until %v, want %v", got, at(130.4))
	}
	if ok, ended := s.over(at(130.4)); !ok || !ended {
		t.Errorf("after its suspension: %v, ended %v", ok, ended)
	}
	if ok, ended := s.over(at(131)); !ok || ended {
		t.Errorf("told twice: %v, ended %v", ok, ended)
	}
	from := 131.0
	for _, want := range []float64{60, 120, 240, 480, 600, 600} {
		if got := burst(from); got.Seconds() != want {
			t.Fatalf("suspended for %v, want %v s", got, want)
		}
		from += want + 1
	}
	if got := burst(from + 700); got != 30*time.Second {
		t.Errorf("after a time of calm: suspended for %v, want 30 s", got)
	}
}

func TestSuspensionHammer(t *testing.T) {
	s := &suspension{}
	now := time.Now()
	var suspended, ended sync.Map
	var running sync.WaitGroup
	for g := range 8 {
		running.Go(func() {
			for i := range 200 {
				at := now.Add(time.Duration(i) * time.Second)
				if d := s.fault(at); d > 0 {
					suspended.Store([2]int{g, i}, d)
				}
				if _, over := s.over(at); over {
					ended.Store([2]int{g, i}, true)
				}
				s.suspended(at)
			}
		})
	}
	running.Wait()
	count := func(m *sync.Map) (n int) {
		m.Range(func(any, any) bool { n++; return true })
		return n
	}
	if n, e := count(&suspended), count(&ended); n == 0 || e > n {
		t.Errorf("%d suspensions, %d ends told", n, e)
	}
}
