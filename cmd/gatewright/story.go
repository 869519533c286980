package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gatewright/engine"
)

// story prints one line of plain words for each decision.
type story struct{ w io.Writer }

var _ engine.Recorder = story{}

// Record implements [engine.Recorder].
func (s story) Record(d *engine.Decision) { _, _ = io.WriteString(s.w, tell(d)+"\n") }

// tell says who answered, and why.
func tell(d *engine.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", d.Time.Local().Format(time.TimeOnly), d.Request.Model)
	for i := range d.Attempts {
		a := &d.Attempts[i]
		switch {
		case a.Class == engine.ClassNone:
			fmt.Fprintf(&b, " → %s answered in %s%s", a.Deployment, a.Duration.Round(time.Millisecond), because(a.SelectionSource))
		case a.Status != 0:
			fmt.Fprintf(&b, " → %s failed (%s, status %d)", a.Deployment, a.Class, a.Status)
		default:
			fmt.Fprintf(&b, " → %s failed (%s)", a.Deployment, a.Class)
		}
	}
	if d.Err != nil {
		fmt.Fprintf(&b, " → %s", d.Result.Code)
	}
	if d.Strategy != "" {
		fmt.Fprintf(&b, " | strategy %s (from %s)", d.Strategy, d.SelectionSource)
	}
	if len(d.Order) > 0 {
		fmt.Fprintf(&b, ", order %s", strings.Join(d.Order, ", "))
	}
	for _, skipped := range d.Skipped {
		fmt.Fprintf(&b, "; %s left out: %s", skipped.Deployment, skipped.Reason)
	}
	for i := range d.Policies {
		separator := ", "
		if i == 0 {
			separator = " | "
		}
		b.WriteString(separator + did(&d.Policies[i]))
	}
	if d.Result.Usage.Known && d.Result.Cost != engine.Unknown {
		const nano = 1e9
		fmt.Fprintf(&b, " | $%.6f", float64(d.Result.Cost)/nano)
	}
	return b.String()
}

// did says what a policy did, and how long it took.
func did(p *engine.PolicyRecord) string {
	var b strings.Builder
	b.WriteString("policy " + p.Name)
	if p.Mode != "" {
		b.WriteString(" (" + p.Mode + ")")
	}
	switch p.Outcome {
	case engine.OutcomeAllowed:
		b.WriteString(" allowed it")
	case engine.OutcomeRemoved:
		fmt.Fprintf(&b, " removed %d", p.Removed)
	case engine.OutcomeRefused:
		b.WriteString(" refused it: " + p.Detail)
	case engine.OutcomeRanked:
		b.WriteString(" ranked")
	case engine.OutcomeClosed, engine.OutcomeOpen, engine.OutcomeFallback, engine.OutcomeSuspended:
		b.WriteString(" could not decide (" + string(p.Outcome) + "): " + p.Detail)
	}
	if p.Differs {
		b.WriteString(", and would have decided otherwise")
	}
	fmt.Fprintf(&b, " in %d µs", p.Micros)
	return b.String()
}

// because explains a deployment that stood where no strategy put it.
func because(source string) string {
	switch source {
	case "affinity":
		return " (it served this conversation before)"
	case "probe":
		return " (a probe of its circuit)"
	case "last_resort":
		return " (the last resort)"
	}
	return ""
}
