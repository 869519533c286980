package policies

import (
	"sync"
	"sync/atomic"
	"time"
)

// How a policy that keeps failing is left alone: after faultLimit faults within
// faultWindow it is not asked for suspendFirst, and twice as long each time that
// it fails so again, up to suspendMost. A time of calm as long as the last
// suspension makes the next one short again.
const (
	faultLimit   = 5
	faultWindow  = 10 * time.Second
	suspendFirst = 30 * time.Second
	suspendMost  = 10 * time.Minute
)

// suspension counts the faults of one version of a policy. It outlives the
// snapshots that the version is in. Its methods may run in parallel.
type suspension struct {
	ever atomic.Bool // there was one: without, nobody needs the lock

	mu     sync.Mutex
	faults [faultLimit]time.Time // a ring of the last ones
	next   int
	until  time.Time // asked again from then on; zero = never suspended
	length time.Duration
	told   bool // that it is over
}

// over reports whether the policy may be asked at now, and, once after each
// suspension, that this one has ended.
func (s *suspension) over(now time.Time) (ok, ended bool) {
	if !s.ever.Load() {
		return true, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return false, false
	}
	ended, s.told = !s.told, true
	return true, ended
}

// fault counts a fault at now. It returns for how long the policy is suspended
// because of it; 0 = it is not.
func (s *suspension) fault(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return 0 // of a request that had asked before
	}
	s.faults[s.next] = now
	s.next = (s.next + 1) % faultLimit
	if first := s.faults[s.next]; first.IsZero() || now.Sub(first) > faultWindow {
		return 0
	}
	if calm := now.Sub(s.until); s.length == 0 || calm > s.length+faultWindow {
		s.length = suspendFirst
	} else {
		s.length = min(2*s.length, suspendMost)
	}
	s.until, s.told = now.Add(s.length), false
	s.ever.Store(true)
	s.faults = [faultLimit]time.Time{}
	return s.length
}

// suspended returns until when the policy is not asked at now; zero = it is.
func (s *suspension) suspended(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return s.until
	}
	return time.Time{}
}
