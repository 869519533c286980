package health

import (
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
)

// state is what is known of one deployment.
type state struct {
	id   string
	view atomic.Pointer[view] // of the quota, when it was last asked for; nil = never

	mu          sync.Mutex // guards the rest; taken after Tracker.mu, before any table's lock
	circuit     circuit
	cooldown    hold
	inFlight    int64
	minute      int64 // number of the minute that tokens counts
	tokens      int64
	lastSuccess int64 // instant; 0 = never
	lastFailure int64 // of the upstream; 0 = never
	lastClass   engine.FailureClass
	openings    uint64  // times that the circuit opened or opened again
	window      *window // nil until there is something in it
	forgotten   bool    // no longer in the tracker: look the deployment up again
}

// stateMap holds states by deployment id.
type stateMap map[string]*state

// ensure returns the state of a deployment, made if need be.
func (m stateMap) ensure(id string) *state {
	s := m[id]
	if s == nil {
		s = &state{id: id, circuit: circuit{epoch: 1}} // 0 is the epoch of no circuit
		m[id] = s
	}
	return s
}

// minuteOf returns the number of the clock's minute of an instant.
func minuteOf(at int64) int64 { return at / int64(time.Minute) }

// tokensAt returns the tokens of the minute of an instant. The caller holds mu.
func (s *state) tokensAt(at int64) int64 {
	if minuteOf(at) > s.minute {
		return 0
	}
	return s.tokens
}

// consume counts tokens into the minute of an instant. The caller holds mu.
func (s *state) consume(at int64, u engine.Usage) {
	if !u.Known {
		return
	}
	if m := minuteOf(at); m > s.minute {
		s.minute, s.tokens = m, 0
	}
	s.tokens += max(u.Input, 0) + max(u.Output, 0)
}

// recent returns the window, made if need be. The caller holds mu.
func (s *state) recent(at int64) *window {
	if s.window == nil {
		s.window = newWindow(at)
	}
	s.window.advance(at)
	return s.window
}

// settle makes the outcome of a call part of the statistics. The caller holds
// mu.
func (s *state) settle(o *Outcome, v verdict, at int64) {
	s.consume(at, o.Usage)
	switch v {
	case success:
		s.lastSuccess = max(s.lastSuccess, at)
		w := s.recent(at)
		w.succeed(at)
		o.sample(w)
	case failure, limited:
		s.lastFailure, s.lastClass = at, o.Class
		w := s.recent(at)
		w.fail()
		if o.Class == engine.ClassTruncated && o.Stream && o.TTFT > 0 {
			w.add(firstToken, int64(o.TTFT))
		}
	case neutral:
	}
}

// idle reports whether nothing would be lost by forgetting the deployment but
// its statistics. The caller holds mu.
func (s *state) idle(at int64) bool {
	return s.inFlight == 0 && !s.cooldown.active(at) && s.circuit.phase(at) != engine.CircuitOpen
}
