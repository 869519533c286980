package ordering_test

import (
	"testing"
	"time"

	"gatewright/builtin/ordering"
	"gatewright/engine"
)

// read gives a candidate a quota snapshot that was taken age ago.
func read(age time.Duration, windows ...engine.QuotaWindow) func(*engine.Candidate) {
	return func(c *engine.Candidate) { c.Quota = &engine.Quota{TakenAt: now.Add(-age), Windows: windows} }
}

func TestQuotaLeft(t *testing.T) {
	spec := engine.KeySpec{HighFirst: true, Integer: true, Tolerance: engine.Tolerance{Absolute: 50_000}}
	left := func(ppm int64) engine.QuotaWindow {
		return engine.QuotaWindow{Name: "w", LeftPPM: ppm, ResetsAt: now.Add(time.Hour)}
	}
	until := func(w engine.QuotaWindow, at time.Time) engine.QuotaWindow {
		w.ResetsAt = at
		return w
	}
	runKey(t, ordering.QuotaLeft{}, "quota_left", spec, []valueCase{
		{"no snapshot", func(*engine.Candidate) {}, missing},
		{"no window", read(0), missing},
		{"one window", read(0, left(420_000)), 420_000},
		{"ten minutes old", read(10*time.Minute, left(420_000)), 420_000},
		{"older", read(10*time.Minute+1, left(420_000)), missing},
		{"the tightest of three", read(0, left(420_000), left(30_000), left(900_000)), 30_000},
		{"used up", read(0, left(420_000), left(0)), 0},
		{"an unknown share is not the tightest", read(0, left(engine.Unknown), left(420_000)), 420_000},
		{"no share known", read(0, left(engine.Unknown)), missing},
		{"the reset need not be known", read(0, until(left(420_000), time.Time{})), 420_000},
		{"a window that was reset since", read(time.Minute, until(left(10), now), left(420_000)), 420_000},
		{"all were reset since", read(time.Minute, until(left(10), now.Add(-time.Second))), missing},
	})
}
