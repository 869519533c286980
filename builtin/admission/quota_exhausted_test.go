package admission_test

import (
	"testing"
	"time"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestQuotaExhausted(t *testing.T) {
	snapshot := func(age time.Duration, windows ...engine.QuotaWindow) func(*engine.Request, *engine.Candidate) {
		return func(_ *engine.Request, c *engine.Candidate) {
			c.Quota = &engine.Quota{TakenAt: now.Add(-age), Windows: windows}
		}
	}
	hour, day := now.Add(time.Hour), now.Add(24*time.Hour)
	empty := engine.QuotaWindow{Name: "5h", Period: 5 * time.Hour, ResetsAt: hour}
	weekly := engine.QuotaWindow{Name: "weekly", Period: 7 * 24 * time.Hour, ResetsAt: day}
	with := func(w engine.QuotaWindow, left int64, reset time.Time) engine.QuotaWindow {
		w.LeftPPM, w.ResetsAt = left, reset
		return w
	}
	const says = `quota window "5h" is used up until 2026-11-29T13:00:00Z`
	runCases(t, admission.QuotaExhausted{}, []refusalCase{
		{name: "no snapshot", set: func(*engine.Request, *engine.Candidate) {}},
		{name: "no window", set: snapshot(0)},
		{name: "used up", set: snapshot(0, empty), detail: says, until: hour},
		{name: "used up, read ten minutes ago", set: snapshot(10*time.Minute, empty), detail: says, until: hour},
		{name: "an older snapshot", set: snapshot(10*time.Minute+1, empty)},
		{name: "almost used up", set: snapshot(0, with(empty, 1, hour))},
		{name: "share not known", set: snapshot(0, with(empty, engine.Unknown, hour))},
		{name: "overdrawn", set: snapshot(0, with(empty, -20_000, hour)), detail: says, until: hour},
		{name: "reset not known", set: snapshot(0, with(empty, 0, time.Time{}))},
		{name: "reset is now", set: snapshot(0, with(empty, 0, now))},
		{name: "reset is past", set: snapshot(time.Minute, with(empty, 0, now.Add(-time.Second)))},
		{
			name: "the window that resets last holds", set: snapshot(0, weekly, empty), until: day,
			detail: `quota window "weekly" is used up until 2026-11-30T12:00:00Z, ` + says,
		},
		{
			name:  "windows that are left, unknown or past do not hold",
			set:   snapshot(0, with(weekly, 500_000, day), empty, with(weekly, 0, time.Time{}), with(weekly, 0, now)),
			until: hour, detail: says,
		},
	})
}
