package health

import (
	"math"
	"time"

	"gatewright/engine"
)

// sources are what bears on the quota of one deployment. They are immutable,
// and hold until the next configuration.
type sources struct {
	provider, model, upstream string // of the deployment

	epoch       uint64 // of the configuration
	account     *account
	shared, own *board
	counters    []*counter
}

// of reports whether the sources are those of a deployment.
func (s *sources) of(d *engine.Deployment) bool {
	return s.provider == d.Provider.ID && s.upstream == d.UpstreamModel && s.model == d.Model
}

// version counts the changes of all that the sources hold. It never goes back,
// so equal versions mean that nothing has changed.
func (s *sources) version() uint64 {
	sum := s.shared.version.Load() + s.own.version.Load()
	for _, c := range s.counters {
		sum += c.version.Load()
	}
	return sum
}

// view is the quota of one deployment as it was read once, and for how long
// that stands. It is immutable: what changes is replaced.
type view struct {
	*sources
	seen        uint64 // version of the sources
	from, until int64  // the instants that it is good for, from inclusive
	quota       *engine.Quota
}

// restamp is for how long a quota that is counted here is handed out as it was
// taken: it is as fresh as can be at any time.
const restamp = int64(time.Second)

// quota returns the quota of a deployment; nil when nothing is known of it.
// What has not changed since the last time is handed out again.
func (t *Tracker) quota(s *state, d *engine.Deployment, at int64) *engine.Quota {
	v := s.view.Load()
	switch {
	case v == nil || !v.of(d) || v.epoch != t.quotas.epoch.Load():
		v = t.look(t.quotas.sources(d), at)
	case v.seen == v.version() && v.from <= at && at < v.until:
		return v.quota
	default:
		v = t.look(v.sources, at)
	}
	s.view.Store(v)
	return v.quota
}

// sources returns what bears on a deployment. s is its state.
func (t *Tracker) sources(s *state, d *engine.Deployment) *sources {
	if v := s.view.Load(); v != nil && v.of(d) && v.epoch == t.quotas.epoch.Load() {
		return v.sources
	}
	v := &view{sources: t.quotas.sources(d)} // good at no time
	s.view.Store(v)
	return v.sources
}

// look reads the sources.
func (t *Tracker) look(s *sources, at int64) *view {
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	v := &view{sources: s, seen: s.version(), from: math.MinInt64, until: math.MaxInt64}
	most := len(s.shared.list) + len(s.own.list) + len(s.counters)
	if most == 0 {
		return v
	}
	windows := make([]engine.QuotaWindow, 0, most)
	taken := int64(math.MaxInt64)
	for _, b := range [...]*board{s.shared, s.own} {
		for i := range b.list {
			if w := &b.list[i]; v.allows(w, at) {
				windows = append(windows, engine.QuotaWindow{
					Name: w.name, Period: w.period, LeftPPM: w.left, ResetsAt: t.instant(w.resets),
				})
				taken = min(taken, w.taken)
			}
		}
	}
	for _, c := range s.counters {
		windows = append(windows, v.counted(t, c, at))
	}
	if len(s.counters) > 0 {
		taken = at
		v.within(at-restamp, at+restamp)
	}
	if len(windows) > 0 {
		v.quota = &engine.Quota{TakenAt: t.instant(taken), Windows: windows}
	}
	v.seen = s.version() // a clock that was set back has changed a window
	return v
}

// within narrows down what the view is good for.
func (v *view) within(from, until int64) {
	v.from, v.until = max(v.from, from), min(v.until, until)
}

// allows reports whether a sighting counts at the instant. When that changes,
// the view is over.
func (v *view) allows(s *sighting, at int64) bool {
	first, last := s.taken-int64(engine.QuotaFreshness), s.taken+int64(engine.QuotaFreshness)
	switch {
	case at > last:
		v.within(last+1, math.MaxInt64)
	case at < first:
		v.within(math.MinInt64, first)
	default:
		v.within(first, last+1)
		return true
	}
	return false
}

// counted returns what a window of the configuration holds at the instant. One
// that does not run is whole, and resets at no known time.
func (v *view) counted(t *Tracker, c *counter, at int64) engine.QuotaWindow {
	out := engine.QuotaWindow{Name: c.name, Period: c.period, LeftPPM: ppm}
	if !c.running(at, t.present) {
		v.within(c.time.end(), math.MaxInt64)
		return out
	}
	v.within(c.time.begin, c.time.end())
	out.LeftPPM, out.ResetsAt = share(c.limit-c.used, c.limit), t.instant(c.time.end())
	return out
}
