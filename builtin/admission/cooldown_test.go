package admission_test

import (
	"testing"
	"time"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestCooldown(t *testing.T) {
	until := func(at time.Time) func(*engine.Request, *engine.Candidate) {
		return func(_ *engine.Request, c *engine.Candidate) { c.CooldownUntil = at }
	}
	soon := now.Add(time.Nanosecond)
	runCases(t, admission.Cooldown{}, []refusalCase{
		{name: "none", set: until(time.Time{})},
		{name: "over", set: until(now.Add(-time.Second))},
		{name: "ends now", set: until(now)},
		{
			name: "ahead", set: until(now.Add(30 * time.Second)), until: now.Add(30 * time.Second),
			detail: "its upstream answered 429 and asked to wait until 2026-11-29T12:00:30Z",
		},
		{
			name: "just ahead", set: until(soon), until: soon,
			detail: "its upstream answered 429 and asked to wait until 2026-11-29T12:00:00Z",
		},
		{
			name: "for the session's target too",
			set: func(_ *engine.Request, c *engine.Candidate) {
				c.CooldownUntil, c.Affinity = now.Add(time.Minute), true
			},
			until:  now.Add(time.Minute),
			detail: "its upstream answered 429 and asked to wait until 2026-11-29T12:01:00Z",
		},
	})
}
