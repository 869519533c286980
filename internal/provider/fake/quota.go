package fake

import (
	"strconv"
	"sync"
	"time"
)

// quota is what is left of a [Quota] in the window that runs now.
type quota struct {
	limit Quota

	mu             sync.Mutex // guards the rest
	ends           time.Time  // of the window; zero before the first request
	requests, used int        // requests and tokens of the window
	running        int
}

// newQuota returns nil when nothing is limited.
func newQuota(q Quota) *quota {
	if q.Requests == 0 && q.Tokens == 0 && q.Concurrent == 0 {
		return nil
	}
	return &quota{limit: q}
}

// The limits of a quota.
const (
	limitRequests   = "requests"
	limitTokens     = "tokens"
	limitConcurrent = "concurrent"
)

// limits is what an answer tells about a quota.
type limits struct {
	of                Quota
	requests, tokens  int // left
	reset             time.Duration
	exceeded          string // the limit that refused the request
	admitted, windows bool
}

// take admits a request that needs so many tokens, or refuses it. An admitted
// request must be given back with release.
func (q *quota) take(now time.Time, tokens int) limits {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !now.Before(q.ends) {
		q.ends = now.Add(q.limit.Per)
		q.requests, q.used = 0, 0
	}
	l := limits{of: q.limit, reset: q.ends.Sub(now), windows: q.limit.Per > 0}
	switch {
	case q.limit.Concurrent > 0 && q.running >= q.limit.Concurrent:
		l.exceeded = limitConcurrent
	case q.limit.Requests > 0 && q.requests >= q.limit.Requests:
		l.exceeded = limitRequests
	case q.limit.Tokens > 0 && q.used+tokens > q.limit.Tokens:
		l.exceeded = limitTokens
	default:
		l.admitted = true
		q.requests++
		q.used += tokens
		q.running++
	}
	l.requests = max(q.limit.Requests-q.requests, 0)
	l.tokens = max(q.limit.Tokens-q.used, 0)
	return l
}

// release ends a request that take admitted.
func (q *quota) release() {
	q.mu.Lock()
	q.running--
	q.mu.Unlock()
}

// wait is what a refusal tells of how long to wait, in seconds; empty for
// nothing.
func (l *limits) wait() string {
	if l.exceeded == limitConcurrent || !l.of.RetryAfter {
		return ""
	}
	return strconv.FormatInt(int64((l.reset+time.Second-1)/time.Second), 10)
}

// compact writes a duration as OpenAI's headers do: 4ms, 1.5s, 6m0s.
func compact(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(max(d.Milliseconds(), 0), 10) + "ms"
	}
	return d.Round(time.Millisecond).String()
}
