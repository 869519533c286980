package engine

import "time"

// Circuit is the state of a deployment's circuit breaker.
type Circuit uint8

// The states of a circuit. Half-open admits one probe at a time.
const (
	CircuitClosed Circuit = iota
	CircuitHalfOpen
	CircuitOpen
)

// String returns the name that decisions show.
func (c Circuit) String() string {
	switch c {
	case CircuitClosed:
		return "closed"
	case CircuitHalfOpen:
		return "half_open"
	case CircuitOpen:
		return "open"
	}
	return "unknown"
}

// Signals is what is known of a deployment now, copied once for a request.
// Numbers that are not known, or rest on fewer samples than the minimum, are
// Unknown, durations UnknownDuration.
type Signals struct {
	Circuit      Circuit
	CircuitUntil time.Time // end of an open circuit
	ProbeTaken   bool      // half-open and another request holds the probe's place

	CooldownUntil time.Time // zero or past = none

	InFlight         int64
	TTFT             time.Duration // median time to first token, last 24 h
	LatencyP50       time.Duration // median time to the whole answer, streamed or not, last 24 h
	LatencyP95       time.Duration // the time that 95 of 100 answers keep to
	Throughput       int64         // median output, milli-tokens per second, last 24 h
	SuccessPPM       int64         // success rate, last 24 h
	Samples          int64         // requests in that window
	TokensThisMinute int64
	LastSuccess      time.Time // zero = never

	Quota *Quota // newest snapshot; nil = none
}

// Candidate is a deployment considered for one request. Rules read it; only the
// engine writes it.
type Candidate struct {
	*Deployment
	Signals

	Tier          int  // 0 = the highest priority in this pool
	Locked        bool // the caller named the provider
	Preferred     bool // its provider is preferred at the caller's level
	Affinity      bool // the session's target, and affinity is on
	LastOfSession bool // the deployment that last served this session

	Skipped *Skipped // why admission removed it; nil = in the pool
}

// CircuitBroken reports whether the candidate may be called only as a last
// resort: its circuit is open, or half-open with the probe's place taken.
func (c *Candidate) CircuitBroken() bool {
	return c.Circuit == CircuitOpen || (c.Circuit == CircuitHalfOpen && c.ProbeTaken)
}
