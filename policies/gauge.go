package policies

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/wasm"
)

// gauge watches one version of a policy: how often it was asked, how often it
// failed, whether it is suspended. It outlives the snapshots that the version is
// in. Its methods may run in parallel.
type gauge struct {
	name, digest string
	logger       *slog.Logger

	evaluations atomic.Uint64
	faults      atomic.Uint64
	differs     atomic.Uint64
	suspension  suspension

	mu     sync.Mutex
	last   string // the last fault
	lastAt time.Time
}

// ready reports whether the version may be asked at now.
func (g *gauge) ready(now time.Time) bool {
	ok, ended := g.suspension.over(now)
	if ended {
		g.logger.Info("policy is asked again", slog.String("policy", g.name), slog.String("version", g.digest))
	}
	return ok
}

// fault counts an evaluation that failed. One for which no instance was free does
// not suspend: many who ask at once would take the policy from all.
func (g *gauge) fault(now time.Time, err error) {
	n := g.faults.Add(1)
	text := bounded(err.Error())
	g.mu.Lock()
	first := g.last != text
	g.last, g.lastAt = text, now
	g.mu.Unlock()
	if first { // the same fault again is in the decisions and in Status
		g.logger.Warn("policy failed", slog.String("policy", g.name), slog.String("version", g.digest),
			slog.String("fault", text), slog.Uint64("faults", n))
	}
	if f, ok := errors.AsType[*wasm.Fault](err); ok && f.Kind == wasm.FaultBusy {
		return
	}
	if d := g.suspension.fault(now); d > 0 {
		g.logger.Warn("policy is suspended: it failed too often", slog.String("policy", g.name), slog.String("version", g.digest),
			slog.Duration("for", d), slog.String("fault", text))
	}
}

// status tells what is known at now.
func (g *gauge) status(now time.Time) Status {
	s := Status{
		Evaluations: g.evaluations.Load(), Faults: g.faults.Load(), Differs: g.differs.Load(),
	}
	if until := g.suspension.suspended(now); !until.IsZero() {
		s.SuspendedUntil = &until
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != "" {
		at := g.lastAt
		s.LastFault, s.LastFaultAt = g.last, &at
	}
	return s
}

// bounded cuts a text that a policy may have had a part in.
func bounded(text string) string {
	const most = 300
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
