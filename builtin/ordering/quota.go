package ordering

import (
	"time"

	"gatewright/engine"
)

// A window speaks for itself until it resets. A reading taken before the reset
// says nothing about what came after, so a window whose reset is past counts as
// not known, like one of which the snapshot says nothing.

// over reports whether the window has been reset since it was read.
func over(w *engine.QuotaWindow, now time.Time) bool {
	return !w.ResetsAt.IsZero() && !w.ResetsAt.After(now)
}

// tightest returns the smallest known share left, in ppm; Unknown when there is
// none.
func tightest(q *engine.Quota, now time.Time) int64 {
	left := engine.Unknown
	if q == nil {
		return left
	}
	for i := range q.Windows {
		w := &q.Windows[i]
		if w.LeftPPM == engine.Unknown || over(w, now) {
			continue
		}
		if left == engine.Unknown || w.LeftPPM < left {
			left = w.LeftPPM
		}
	}
	return left
}

// longestReset returns when the longest window resets; zero when that is not
// known. A window of unknown length is shorter than any other; of several
// equally long ones the first known reset counts.
func longestReset(q *engine.Quota, now time.Time) time.Time {
	var reset time.Time
	if q == nil {
		return reset
	}
	longest := time.Duration(-1)
	for i := range q.Windows {
		w := &q.Windows[i]
		period := max(w.Period, 0)
		if period > longest {
			longest, reset = period, time.Time{}
		}
		if period < longest || w.ResetsAt.IsZero() || over(w, now) {
			continue
		}
		if reset.IsZero() || w.ResetsAt.Before(reset) {
			reset = w.ResetsAt
		}
	}
	return reset
}
