package health

import (
	"cmp"
	"slices"
	"time"
)

// DeploymentStats is what is known of one deployment, for metrics and for
// people. Statistics are those of the last 24 hours, and nil when they rest on
// too few samples.
type DeploymentStats struct {
	Deployment string `json:"deployment"`

	Circuit       string    `json:"circuit"` // closed, half_open or open
	CircuitUntil  time.Time `json:"circuit_until,omitzero"`
	CircuitOpened uint64    `json:"circuit_opened"` // times since the start
	ProbeRunning  bool      `json:"probe_running"`
	FailuresInRow int       `json:"failures_in_row"` // counted by the circuit since the last success

	CooldownUntil time.Time `json:"cooldown_until,omitzero"`

	InFlight         int64 `json:"in_flight"`
	TokensThisMinute int64 `json:"tokens_this_minute"`

	Succeeded        uint64    `json:"succeeded"`
	Failed           uint64    `json:"failed"` // by the upstream's doing, 429 included
	SuccessPPM       *int64    `json:"success_ppm,omitempty"`
	FirstTokenMS     *float64  `json:"first_token_ms,omitempty"` // median of streams
	AnswerMS         *float64  `json:"answer_ms,omitempty"`      // median of answers that are not streamed
	LatencyP50MS     *float64  `json:"latency_p50_ms,omitempty"` // of whole answers, streamed or not
	LatencyP95MS     *float64  `json:"latency_p95_ms,omitempty"`
	TokensPerSecond  *float64  `json:"tokens_per_second,omitempty"` // median
	LastSuccess      time.Time `json:"last_success,omitzero"`
	LastFailure      time.Time `json:"last_failure,omitzero"`
	LastFailureClass string    `json:"last_failure_class,omitempty"`
}

// Stats returns a copy of what is known of every deployment, by id.
func (t *Tracker) Stats() []DeploymentStats {
	at := t.at(t.clock())
	states := *t.states.Load()
	list := make([]DeploymentStats, 0, len(states))
	for _, s := range states {
		list = append(list, t.stats(s, at))
	}
	slices.SortFunc(list, func(a, b DeploymentStats) int { return cmp.Compare(a.Deployment, b.Deployment) })
	return list
}

func (t *Tracker) stats(s *state, at int64) DeploymentStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.age(s, at)
	out := DeploymentStats{
		Deployment:       s.id,
		Circuit:          s.circuit.phase(at).String(),
		CircuitOpened:    s.openings,
		ProbeRunning:     s.circuit.probe != nil,
		FailuresInRow:    s.circuit.run,
		InFlight:         s.inFlight,
		TokensThisMinute: s.tokensAt(at),
		LastSuccess:      t.instant(s.lastSuccess),
		LastFailure:      t.instant(s.lastFailure),
	}
	if s.circuit.broken {
		out.CircuitUntil = t.instant(s.circuit.until(at))
	}
	if s.cooldown.active(at) {
		out.CooldownUntil = t.instant(s.cooldown.end())
	}
	if s.lastFailure != 0 {
		out.LastFailureClass = s.lastClass.String()
	}
	if w := s.window; w != nil {
		w.refresh(at)
		out.Succeeded, out.Failed = w.succeeded, w.failed
		if share, _, known := w.reliability(t.least); known {
			out.SuccessPPM = &share
		}
		out.FirstTokenMS = t.figure(w, firstToken)
		out.AnswerMS = t.figure(w, wholeAnswer)
		out.LatencyP50MS = t.figure(w, latency)
		if _, slow, known := w.latencies(t.least); known {
			out.LatencyP95MS = inUnit(slow)
		}
		out.TokensPerSecond = t.figure(w, throughput)
	}
	return out
}

// figure returns the median of a kind in people's unit, nil when not known.
func (t *Tracker) figure(w *window, k kind) *float64 {
	v, known := w.median(k, t.least)
	if !known {
		return nil
	}
	return inUnit(v)
}

// inUnit is a figure in people's unit.
func inUnit(v int64) *float64 {
	const million = 1e6 // nanoseconds a millisecond, micro-tokens a token
	f := float64(v) / million
	return &f
}
