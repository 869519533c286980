package engine

import "time"

// Quota is one reading of a provider's quota windows, already narrowed to those
// that cover the deployment's model. It is immutable.
type Quota struct {
	TakenAt time.Time
	Windows []QuotaWindow
}

// QuotaWindow is one window of a quota snapshot.
type QuotaWindow struct {
	Name     string
	Period   time.Duration // length; 0 = not known
	LeftPPM  int64         // share left, 0 = used up; Unknown
	ResetsAt time.Time     // zero = not known
}

// QuotaFreshness is how old a snapshot may be and still count.
const QuotaFreshness = 10 * time.Minute

// FreshQuota returns the snapshot if it may be used at now, else nil.
func (s *Signals) FreshQuota(now time.Time) *Quota {
	if s.Quota == nil || now.Sub(s.Quota.TakenAt) > QuotaFreshness || s.Quota.TakenAt.Sub(now) > QuotaFreshness {
		return nil
	}
	return s.Quota
}

// A window speaks for itself until it resets. A reading taken before the reset
// says nothing about what came after, so a window whose reset is past counts as
// not known, like one of which the snapshot says nothing.

// over reports whether the window has been reset since it was read.
func (w *QuotaWindow) over(now time.Time) bool {
	return !w.ResetsAt.IsZero() && !w.ResetsAt.After(now)
}

// QuotaLeft returns the smallest share left of the windows of a fresh snapshot,
// in ppm; Unknown when none is known.
func (s *Signals) QuotaLeft(now time.Time) int64 {
	left := Unknown
	q := s.FreshQuota(now)
	if q == nil {
		return left
	}
	for i := range q.Windows {
		w := &q.Windows[i]
		if w.LeftPPM == Unknown || w.over(now) {
			continue
		}
		if left == Unknown || w.LeftPPM < left {
			left = w.LeftPPM
		}
	}
	return left
}

// QuotaReset returns when the longest window of a fresh snapshot resets; zero
// when that is not known. A window of unknown length is shorter than any other;
// of several equally long ones the first known reset counts.
func (s *Signals) QuotaReset(now time.Time) time.Time {
	var reset time.Time
	q := s.FreshQuota(now)
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
		if period < longest || w.ResetsAt.IsZero() || w.over(now) {
			continue
		}
		if reset.IsZero() || w.ResetsAt.Before(reset) {
			reset = w.ResetsAt
		}
	}
	return reset
}
