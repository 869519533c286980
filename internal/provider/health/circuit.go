package health

import (
	"time"

	"gatewright/engine"
)

const (
	// defaultOpen is how long a circuit opens when the policy says 0.
	defaultOpen = time.Minute
	// maxDoubled is how far failed probes double the time of an open circuit.
	maxDoubled = 10 * time.Minute
	// maxHold bounds every circuit and cooldown.
	maxHold = 31 * 24 * time.Hour
)

// hold is a stretch of time that ends by itself: the open time of a circuit, or
// a cooldown. Instants are those of [Tracker.at]. The zero value is over.
type hold struct {
	begin  int64
	length time.Duration
}

func (h hold) end() int64 { return h.begin + int64(h.length) }

// active reports whether the hold lasts at the instant; at its end it is over.
func (h hold) active(at int64) bool { return h.length > 0 && at < h.end() }

// circuit is the breaker of one deployment: a state machine without lock and
// without clock.
type circuit struct {
	broken bool   // not closed: open while time lasts, then half-open
	time   hold   // of being open; meaningful while broken
	due    bool   // half-open has been seen: a clock that runs backwards does not undo it
	run    int    // counted failures since the last success, while closed
	epoch  uint64 // counts the changes; a call is evidence only of the epoch it began in
	probe  *Call  // holds the probe's place; nil = free
}

// change is what an outcome did to the circuit.
type change uint8

const (
	unchanged change = iota
	opened
	reopened
	closed
)

// phase returns the state at an instant.
func (c *circuit) phase(at int64) engine.Circuit {
	switch {
	case !c.broken:
		return engine.CircuitClosed
	case !c.due && c.time.active(at):
		return engine.CircuitOpen
	}
	return engine.CircuitHalfOpen
}

// until is when the open time ends or, of a half-open circuit, ended: never
// after the instant then.
func (c *circuit) until(at int64) int64 {
	if c.due {
		return min(c.time.end(), at)
	}
	return c.time.end()
}

// entry says with what right a call asks to enter.
type entry uint8

const (
	ordinaryEntry   entry = iota // may be refused, may become the probe of a half-open circuit
	lastResortEntry              // may become the probe of an open circuit, too
	entitledEntry                // is never refused; becomes the probe only where an ordinary call would
)

// enter lets a call through, as the probe if need be, or refuses it.
func (c *circuit) enter(call *Call, at int64, right entry) bool {
	phase := c.phase(at)
	switch {
	case phase == engine.CircuitClosed:
	case c.probe == nil && (phase == engine.CircuitHalfOpen || right == lastResortEntry):
		c.probe = call
		call.probe = true
	case right == entitledEntry:
	default:
		return false
	}
	call.epoch = c.epoch
	return true
}

// release frees the probe's place if the call holds it.
func (c *circuit) release(call *Call) {
	if c.probe == call {
		c.probe = nil
	}
}

// succeed counts a success of the call.
func (c *circuit) succeed(call *Call) change {
	if call.epoch != c.epoch {
		return unchanged
	}
	c.run = 0
	if !c.broken {
		return unchanged
	}
	c.close()
	call.epoch = c.epoch // what becomes of the rest of a stream counts again
	return closed
}

// fail counts a failure of the call, under the policy of its request.
func (c *circuit) fail(call *Call, policy engine.RetryPolicy, at int64) change {
	switch {
	case call.epoch != c.epoch:
		return unchanged
	case !c.broken:
		c.run++
		if policy.FailureThreshold <= 0 || c.run < policy.FailureThreshold {
			return unchanged
		}
		c.open(call, hold{begin: at, length: openTime(policy)})
		return opened
	case call.probe:
		c.open(call, hold{begin: at, length: doubled(c.time.length)})
		return reopened
	}
	return unchanged
}

func (c *circuit) open(call *Call, t hold) {
	c.broken, c.time, c.due = true, t, false
	c.epoch++
	call.opened = c.epoch
}

// close resets everything but the epoch: the run, the doubling, the probe.
func (c *circuit) close() {
	*c = circuit{epoch: c.epoch + 1}
}

// openTime is how long a circuit opens under a policy.
func openTime(p engine.RetryPolicy) time.Duration {
	if p.Cooldown <= 0 {
		return defaultOpen
	}
	return min(p.Cooldown, maxHold)
}

// doubled is the time after a failed probe: twice the last, at most maxDoubled,
// and never less than the last, which a policy may have set above that.
func doubled(last time.Duration) time.Duration {
	return max(last, min(2*last, maxDoubled))
}
