package provider

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// RetryBudget bounds, over the whole gateway, the calls that are repeated on
// the same deployment: a share of the requests, and some each second so that
// little traffic is not left without.
type RetryBudget struct {
	RatioPPM  int64 // of the requests
	PerSecond int64
}

// DefaultRetryBudget is 20 % of the requests and 10 each second.
func DefaultRetryBudget() RetryBudget { return RetryBudget{RatioPPM: 200_000, PerSecond: 10} }

// microToken is what a repeat costs is counted in: a millionth of it.
const microToken = 1_000_000

// bucket is the retry budget's token bucket. It holds what one second grants
// and at least one repeat, so that a quiet hour does not pay for a storm.
// Requests only count; the sum is drawn when somebody wants to repeat.
type bucket struct {
	requests atomic.Int64 // since the start

	mu      sync.Mutex
	budget  RetryBudget
	tokens  int64 // micro-tokens
	counted int64 // requests that are in tokens already
	at      time.Time
	full    bool // was filled for the first time
}

func (b *bucket) set(to RetryBudget) {
	b.mu.Lock()
	b.budget = to
	b.mu.Unlock()
}

// request counts one request.
func (b *bucket) request() { b.requests.Add(1) }

// take pays for one repeat, if the budget allows it. It leaves a part of what the
// bucket can hold to takeAny.
func (b *bucket) take(now time.Time) bool { return b.pay(now, 3) }

// takeAny pays for a request that a closed connection has lost. It is rarer than
// a repeat and worth more, because the upstream is well: a storm of repeats must
// not use it up.
func (b *bucket) takeAny(now time.Time) bool { return b.pay(now, 0) }

// pay pays for one repeat, if so many tenths of the bucket stay behind.
func (b *bucket) pay(now time.Time, tenths int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := max(b.budget.PerSecond, 1) * microToken
	requests := b.requests.Load()
	grown := (requests - b.counted) * b.budget.RatioPPM
	if !b.full {
		b.full, b.at = true, now
		grown = b.budget.PerSecond*microToken + min(grown, most)
	}
	// What passes a second makes the bucket full anyway.
	passed := min(max(now.Sub(b.at), 0), time.Second)
	grown += passed.Microseconds() * b.budget.PerSecond
	b.tokens = min(b.tokens+grown, most)
	b.counted, b.at = requests, now
	stay := b.budget.PerSecond * tenths / 10 * microToken
	if b.tokens < stay+microToken {
		return false
	}
	b.tokens -= microToken
	return true
}

// Waits between two calls of one deployment.
const (
	firstPause = 250 * time.Millisecond
	maxPause   = 8 * time.Second
)

// pauseBefore returns how long to wait before the n-th repeat, n from 1: full
// jitter below an exponential bound.
func pauseBefore(n int) time.Duration {
	bound := maxPause
	if n < 6 { // 250 ms doubled five times is 8 s
		bound = min(firstPause<<(n-1), maxPause)
	}
	return rand.N(bound) //nolint:gosec // jitter is no secret
}
