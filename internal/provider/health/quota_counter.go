package health

import (
	"log/slog"
	"math/bits"
	"sync/atomic"
	"time"

	"gatewright/engine"
)

// counter is a quota window of the configuration, counted here. Everything but
// version is guarded by the account's mu.
type counter struct {
	name   string
	unit   QuotaUnit
	period time.Duration
	limit  int64 // 0 = the configuration does not have the window now
	covers func(model, upstream string) bool

	time    hold // of the window that runs, or ran; zero = none yet
	used    int64
	unsaved bool

	version atomic.Uint64 // counts the changes
}

// configure takes over what the configuration says. A window that runs keeps
// its begin.
func (c *counter) configure(w *QuotaLimit) {
	c.period, c.limit, c.covers = w.Period, w.Limit, w.Covers
	if c.time.length > 0 && c.time.length != w.Period {
		c.time.length = w.Period
		c.unsaved = true
	}
	c.version.Add(1)
}

// running reports whether a window runs at the instant. An instant before its
// begin is either that of a request which began earlier, or the clock was set
// back; in that case the window begins anew, so that it lasts no longer than it
// was.
func (c *counter) running(at int64, now func() int64) bool {
	if !c.time.active(at) {
		return false
	}
	if at < c.time.begin {
		if present := now(); present < c.time.begin {
			c.time.begin = present
			c.unsaved = true
			c.version.Add(1)
		}
	}
	return true
}

// spend counts an amount in. It reports whether the window is now used up and
// was not before.
func (c *counter) spend(amount, at int64, now func() int64) bool {
	if !c.running(at, now) {
		c.time, c.used = hold{begin: at, length: c.period}, 0
	}
	before := c.used < c.limit
	c.used = addUpTo(c.used, amount)
	c.unsaved = true
	c.version.Add(1)
	return before && c.used >= c.limit
}

// amount is what the outcome of a call uses of a window of the unit.
func (u QuotaUnit) amount(c *Call, o *Outcome) int64 {
	switch u {
	case QuotaRequests:
		if c.answered && o.Class != engine.ClassRateLimit && o.Class != engine.ClassRateLimitTimed && o.Class != engine.ClassQuota {
			return 1
		}
	case QuotaTokens:
		if o.Usage.Known {
			return addUpTo(max(o.Usage.Input, 0), max(o.Usage.Output, 0))
		}
	case QuotaUSD:
		own := engine.Deployment{Price: c.deployment.Price} // no sale: that is between us and the caller
		return max(own.Cost(o.Usage, o.Now), 0)
	case quotaUnits:
	}
	return 0
}

// usedUp is a window that has just been used up, to be logged without a lock.
type usedUp struct {
	provider, window string
	left             time.Duration // until it ends
}

// spend counts the outcome of a call into the windows that cover its
// deployment.
func (t *Tracker) spend(c *Call, o *Outcome, at int64) {
	src := t.sources(c.state, c.deployment)
	if len(src.counters) == 0 {
		return
	}
	for _, u := range t.spendAll(src, c, o, at) {
		t.logger.Warn("quota window used up",
			slog.String("provider", u.provider), slog.String("window", u.window), slog.Duration("for", u.left))
	}
}

func (t *Tracker) spendAll(src *sources, c *Call, o *Outcome, at int64) []usedUp {
	var amounts [quotaUnits]int64
	for u := range quotaUnits {
		amounts[u] = u.amount(c, o)
	}
	var over []usedUp
	a := src.account
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range src.counters {
		if amounts[w.unit] <= 0 || w.limit <= 0 {
			continue
		}
		if w.spend(amounts[w.unit], at, t.present) {
			over = append(over, usedUp{a.provider, w.name, time.Duration(w.time.end() - at)})
			t.keepCounter(a, w, o.Now)
		}
	}
	return over
}

// present is the instant of now.
func (t *Tracker) present() int64 { return t.at(t.clock()) }

// mulDiv is a × b / c, rounded down, for a < c and numbers that are not
// negative.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b)) //nolint:gosec // not negative
	q, _ := bits.Div64(hi, lo, uint64(c))      //nolint:gosec // positive
	return int64(q)                            //nolint:gosec // below b
}
