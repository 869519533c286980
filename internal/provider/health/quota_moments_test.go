package health

import (
	"net/http"
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // New York, wherever the test runs

	"gatewright/builtin/admission"
	"gatewright/engine"
)

// A moment is an instant at which a request comes: is the deployment in, or
// removed for its quota until when?
type moment struct {
	at  time.Time
	out time.Time // until then; zero = in
}

// scene is a rig whose clock is set to any instant, and a deployment that is
// looked at.
type scene struct {
	*rig
	moments int
}

func newScene(t *testing.T, at time.Time) *scene {
	t.Helper()
	r := newRig(t)
	r.close()
	r.options.Quotas = newTable()
	r.clock.t = at
	r.start()
	return &scene{rig: r}
}

// set moves the clock to an instant, back too.
func (s *scene) set(at time.Time) { s.clock.move(at.Sub(s.clock.now())) }

// answer lets a call be answered now, with these headers.
func (s *scene) answer(d *engine.Deployment, status int, h http.Header) {
	s.t.Helper()
	now := s.clock.now()
	c, _ := s.tracker.Begin(d, now, false)
	c.Answered(status, h, now)
	class := engine.ClassNone
	if status == http.StatusTooManyRequests {
		class = engine.ClassRateLimit
	}
	c.End(Outcome{Class: class, Now: now, Usage: engine.Usage{Known: true, Input: 70, Output: 30}})
}

// use makes n good calls.
func (s *scene) use(n int) {
	s.t.Helper()
	for range n {
		s.answer(s.d, http.StatusOK, nil)
	}
}

// look sends a request at each moment.
func (s *scene) look(list ...moment) {
	s.t.Helper()
	for _, m := range list {
		s.set(m.at)
		s.moments++
		pool := []engine.Candidate{{Deployment: s.d}}
		s.tracker.Signals(m.at, pool)
		var out engine.Refusals
		if err := (admission.QuotaExhausted{}).Refuse(s.t.Context(), &engine.Request{Now: m.at}, pool, &out); err != nil {
			s.t.Fatal(err)
		}
		var until time.Time
		for _, r := range out.List() {
			until = r.Until
		}
		if !until.Equal(m.out) {
			s.t.Errorf("at %v: removed until %v, want %v", m.at, until, m.out)
		}
	}
}

// sweep sends a request at each moment, and again on the way back: what is
// remembered of one must not tell of another.
func (s *scene) sweep(list []moment) {
	s.t.Helper()
	s.look(list...)
	slices.Reverse(list)
	s.look(list...)
}

// around are the moments about the end of a removal.
func around(end time.Time) []moment {
	return []moment{
		{end.Add(-time.Second), end},
		{end.Add(-time.Millisecond), end},
		{end.Add(-1), end},
		{end, time.Time{}},
		{end.Add(time.Millisecond), time.Time{}},
		{end.Add(700 * time.Millisecond), time.Time{}},
	}
}

// ages are the moments about the end of the freshness of what was read at an
// instant, and removes until another.
func ages(taken, until time.Time) []moment {
	in := time.Time{}
	return []moment{
		{taken, until},
		{taken.Add(9*time.Minute + 59*time.Second), until},
		{taken.Add(10*time.Minute - time.Millisecond), until},
		{taken.Add(10 * time.Minute), until},
		{taken.Add(10*time.Minute + time.Millisecond), in},
		{taken.Add(10*time.Minute + time.Second), in},
	}
}

// limit gives the provider one window of so many requests.
func (s *scene) limit(period time.Duration, requests int64) {
	s.tracker.Configure([]ProviderQuota{{Provider: "p", Windows: []QuotaLimit{
		{Name: "w", Period: period, Unit: QuotaRequests, Limit: requests},
	}}})
}

func utc(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// TestMoments is the table of all moments at which a quota can be looked at
// wrongly.
func TestMoments(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	in := time.Time{}
	noon := utc("2026-03-01T12:00:00Z")
	total := 0
	run := func(name string, at time.Time, play func(s *scene)) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, at)
			play(s)
			total += s.moments
		})
	}
	// Every way to write one reset, 4 minutes and 30 seconds after noon.
	reset := noon.Add(4*time.Minute + 30*time.Second)
	for name, lines := range map[string][]string{
		"a duration":             {"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 4m30s"},
		"a long duration":        {"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 0h4m30.000s"},
		"milliseconds":           {"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 270000ms"},
		"seconds":                {"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 270"},
		"seconds with fractions": {"x-ratelimit-remaining-tokens-minute: 0", "x-ratelimit-reset-tokens-minute: 270.000"},
		"seconds since 1970":     {"x-ratelimit-remaining: 0", "x-ratelimit-reset: 1772366670"},
		"milliseconds since":     {"x-ratelimit-remaining: 0", "x-ratelimit-reset: 1772366670000"},
		"a time":                 {"anthropic-ratelimit-tokens-remaining: 0", "anthropic-ratelimit-tokens-reset: 2026-03-01T12:04:30Z"},
		"a time of New York":     {"anthropic-ratelimit-tokens-remaining: 0", "anthropic-ratelimit-tokens-reset: 2026-03-01T07:04:30-05:00"},
		"a subscription":         {"anthropic-ratelimit-unified-5h-status: rejected", "anthropic-ratelimit-unified-5h-reset: 1772366670"},
		"by its use alone":       {"anthropic-ratelimit-unified-5h-utilization: 1", "anthropic-ratelimit-unified-5h-reset: 1772366670"},
	} {
		run("reset as "+name, noon, func(s *scene) {
			s.answer(s.d, http.StatusTooManyRequests, headers(lines...))
			s.sweep(around(reset))
		})
	}
	used := headers("x-ratelimit-limit-requests: 9", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 3h")
	for _, status := range []int{http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		run("age of what came with "+http.StatusText(status), noon, func(s *scene) {
			s.answer(s.d, status, used)
			s.sweep(ages(noon, noon.Add(3*time.Hour)))
		})
	}
	run("age of what another model told of the account", noon, func(s *scene) {
		other := *s.d
		other.UpstreamModel = "other"
		s.answer(&other, http.StatusOK, headers("anthropic-ratelimit-unified-5h-status: rejected", "anthropic-ratelimit-unified-5h-reset: 1772377200"))
		s.sweep(ages(noon, noon.Add(3*time.Hour)))
	})
	run("age of the second of two answers", noon, func(s *scene) {
		s.answer(s.d, http.StatusOK, used)
		s.look(moment{noon.Add(5 * time.Minute), noon.Add(3 * time.Hour)})
		s.answer(s.d, http.StatusOK, used)
		s.sweep(ages(noon.Add(5*time.Minute), noon.Add(3*time.Hour+5*time.Minute)))
	})
	run("ages of two windows", noon, func(s *scene) {
		s.answer(s.d, http.StatusOK, used)
		s.set(noon.Add(5 * time.Minute))
		s.answer(s.d, http.StatusOK, headers("x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 1h"))
		s.look(
			moment{noon.Add(5 * time.Minute), noon.Add(3 * time.Hour)}, moment{noon.Add(10 * time.Minute), noon.Add(3 * time.Hour)},
			moment{noon.Add(10*time.Minute + 1), noon.Add(65 * time.Minute)}, moment{noon.Add(15 * time.Minute), noon.Add(65 * time.Minute)},
			moment{noon.Add(15*time.Minute + 1), in},
		)
	})
	// The calendar moves nothing: a window is as long as it is.
	for name, begin := range map[string]time.Time{
		"on a plain day":                                 noon,
		"over the year's end":                            utc("2026-12-31T21:30:00Z"),
		"over a leap day":                                utc("2028-02-28T22:00:00Z"),
		"in spring, as clocks in New York jump to 3":     time.Date(2026, 3, 7, 23, 30, 0, 0, newYork),
		"in autumn, as clocks in New York go back to 1":  time.Date(2026, 10, 31, 22, 30, 0, 0, newYork),
		"in autumn, begun in the hour that comes twice":  time.Date(2026, 11, 1, 1, 30, 0, 0, newYork),
		"begun a nanosecond before the hour":             noon.Add(-1),
		"by a clock at the other end of the world's day": time.Date(2026, 6, 1, 0, 0, 0, 0, time.FixedZone("", 14*3600)),
	} {
		for _, period := range []time.Duration{5 * time.Hour, 7 * 24 * time.Hour} {
			run("a window of "+period.String()+" "+name, begin, func(s *scene) {
				s.limit(period, 5)
				s.look(moment{begin, in})
				s.use(4)
				s.look(moment{begin.Add(time.Second), in})
				s.use(1)
				end := begin.Add(period)
				s.look(moment{begin.Add(2 * time.Second), end})
				s.sweep(around(end))
			})
		}
		run("a time of reset "+name, begin, func(s *scene) {
			end := begin.Add(4 * time.Minute).Truncate(time.Second)
			s.answer(s.d, http.StatusOK, headers("anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: "+end.Format(time.RFC3339)))
			s.sweep(around(end))
		})
	}
	run("the next window begins with its first use", noon, func(s *scene) {
		s.limit(time.Hour, 2)
		s.use(2)
		s.sweep(around(noon.Add(time.Hour)))
		second := noon.Add(3*time.Hour + 7*time.Minute)
		s.look(moment{second, in})
		s.use(2)
		s.sweep(around(second.Add(time.Hour)))
	})
	clockMoments(run)
	restartMoments(run)
	unknownMoments(run)
	if total < 200 {
		t.Errorf("%d moments, want at least 200", total)
	}
	t.Logf("%d moments", total)
}

// clockMoments set the clock back and forth.
func clockMoments(run func(string, time.Time, func(*scene))) {
	in, noon := time.Time{}, utc("2026-03-01T12:00:00Z")
	used := headers("x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 3h")
	run("clock set back an hour after an answer", noon, func(s *scene) {
		s.answer(s.d, http.StatusOK, used)
		s.look(
			moment{noon.Add(time.Minute), noon.Add(3 * time.Hour)},
			// What was read in an hour is no reading of now.
			moment{noon.Add(-59 * time.Minute), in}, moment{noon.Add(-10*time.Minute - 1), in},
			// As good as now, give or take what counts as fresh.
			moment{noon.Add(-10 * time.Minute), noon.Add(3 * time.Hour)}, moment{noon.Add(-time.Millisecond), noon.Add(3 * time.Hour)},
			moment{noon.Add(10 * time.Minute), noon.Add(3 * time.Hour)}, moment{noon.Add(10*time.Minute + time.Millisecond), in},
		)
		s.set(noon.Add(-time.Hour))
		s.answer(s.d, http.StatusOK, used) // a new reading, by the new clock
		s.sweep(ages(noon.Add(-time.Hour), noon.Add(2*time.Hour)))
	})
	run("clock set back an hour in a window that is older", noon.Add(-4*time.Hour), func(s *scene) {
		s.limit(5*time.Hour, 1)
		s.use(1)
		s.look(moment{noon, noon.Add(time.Hour)}, moment{noon.Add(-time.Hour), noon.Add(time.Hour)})
		s.sweep(around(noon.Add(time.Hour)))
	})
	run("clock set back an hour behind the begin of a window", noon, func(s *scene) {
		s.limit(5*time.Hour, 1)
		s.use(1)
		s.look(moment{noon.Add(10 * time.Minute), noon.Add(5 * time.Hour)})
		// From here on no longer than it was.
		s.look(moment{noon.Add(-50 * time.Minute), noon.Add(4*time.Hour + 10*time.Minute)})
		s.sweep(around(noon.Add(4*time.Hour + 10*time.Minute)))
	})
	run("clock set back an hour, and used then", noon, func(s *scene) {
		s.limit(5*time.Hour, 2)
		s.use(1)
		s.set(noon.Add(-time.Hour))
		s.use(1)
		s.look(moment{noon.Add(-time.Hour), noon.Add(4 * time.Hour)})
		s.sweep(around(noon.Add(4 * time.Hour)))
	})
	run("clock set forward an hour", noon, func(s *scene) {
		s.limit(5*time.Hour, 1)
		s.answer(s.d, http.StatusOK, used)
		s.look(moment{noon.Add(time.Minute), noon.Add(5 * time.Hour)}, moment{noon.Add(61 * time.Minute), noon.Add(5 * time.Hour)})
		s.sweep(around(noon.Add(5 * time.Hour)))
	})
	run("a request that began before the window", noon, func(s *scene) {
		s.limit(5*time.Hour, 1)
		s.use(1)
		pool := []engine.Candidate{{Deployment: s.d}}
		s.tracker.Signals(noon.Add(-time.Second), pool) // it took a second to get here
		if w := pool[0].Quota.Windows[0]; !w.ResetsAt.Equal(noon.Add(5*time.Hour)) || w.LeftPPM != 0 {
			s.t.Errorf("%+v, want one that is used up until 17:00", w)
		}
		s.sweep(around(noon.Add(5 * time.Hour)))
	})
}

// restartMoments stop the gateway and start it again.
func restartMoments(run func(string, time.Time, func(*scene))) {
	in, noon := time.Time{}, utc("2026-03-01T12:00:00Z")
	used := headers("x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 3h")
	account := headers("anthropic-ratelimit-unified-7d-status: rejected", "anthropic-ratelimit-unified-7d-reset: 1772409600")
	run("restart of 4 minutes after an answer", noon, func(s *scene) {
		s.answer(s.d, http.StatusTooManyRequests, used)
		s.restart(4 * time.Minute)
		s.look(moment{noon.Add(4 * time.Minute), noon.Add(3 * time.Hour)})
		s.sweep(ages(noon, noon.Add(3*time.Hour))[1:])
	})
	run("restart of 4 minutes after an answer about the account", noon, func(s *scene) {
		s.answer(s.d, http.StatusTooManyRequests, account)
		s.restart(4 * time.Minute)
		s.sweep(ages(noon, noon.Add(12*time.Hour))[1:])
	})
	run("restart of 10 minutes after an answer", noon, func(s *scene) {
		s.answer(s.d, http.StatusTooManyRequests, used)
		s.restart(10 * time.Minute)
		s.look(moment{noon.Add(10 * time.Minute), noon.Add(3 * time.Hour)}, moment{noon.Add(10*time.Minute + 1), in})
	})
	run("restart of 11 minutes after an answer", noon, func(s *scene) {
		s.answer(s.d, http.StatusTooManyRequests, used)
		s.restart(11 * time.Minute)
		s.look(moment{noon.Add(11 * time.Minute), in})
	})
	run("restart in a window", noon, func(s *scene) {
		s.limit(5*time.Hour, 3)
		s.use(2)
		s.restart(time.Hour)
		s.look(moment{noon.Add(time.Hour), in}) // nothing is known of limits yet
		s.limit(5*time.Hour, 3)
		s.look(moment{noon.Add(time.Hour), in})
		s.use(1)
		s.look(moment{noon.Add(time.Hour), noon.Add(5 * time.Hour)})
		s.sweep(around(noon.Add(5 * time.Hour)))
	})
	run("restart in a window that is used up", noon, func(s *scene) {
		s.limit(5*time.Hour, 3)
		s.use(3)
		s.restart(time.Hour)
		s.limit(5*time.Hour, 3)
		s.look(moment{noon.Add(time.Hour), noon.Add(5 * time.Hour)})
		s.sweep(around(noon.Add(5 * time.Hour)))
	})
	run("restart after a window", noon, func(s *scene) {
		s.limit(5*time.Hour, 3)
		s.use(3)
		s.restart(5 * time.Hour)
		s.limit(5*time.Hour, 3)
		s.look(moment{noon.Add(5 * time.Hour), in})
	})
	run("restart with a clock set back an hour", noon, func(s *scene) {
		s.limit(5*time.Hour, 1)
		s.answer(s.d, http.StatusOK, used)
		s.restart(-time.Hour)
		s.look(moment{noon.Add(-time.Hour), in}) // the reading is not of this hour
		s.set(noon.Add(-30 * time.Minute))
		s.limit(5*time.Hour, 1)
		s.look(moment{noon.Add(-30 * time.Minute), noon.Add(4 * time.Hour)})
		s.sweep(around(noon.Add(4 * time.Hour)))
	})
	run("restart with a clock set back 5 minutes", noon, func(s *scene) {
		s.answer(s.d, http.StatusOK, used)
		s.restart(-5 * time.Minute)
		s.sweep(ages(noon.Add(-5*time.Minute), noon.Add(3*time.Hour)))
	})
}

// unknownMoments are those of which nothing is known that could remove.
func unknownMoments(run func(string, time.Time, func(*scene))) {
	in, noon := time.Time{}, utc("2026-03-01T12:00:00Z")
	for name, lines := range map[string][]string{
		"no headers":          nil,
		"no reset":            {"x-ratelimit-remaining-requests: 0"},
		"a garbled reset":     {"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: soon"},
		"a negative reset":    {"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: -5s"},
		"a reset now":         {"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 0s"},
		"a reset long past":   {"x-ratelimit-remaining: 0", "x-ratelimit-reset: 1772366399"},
		"a garbled rest":      {"x-ratelimit-remaining-requests: none", "x-ratelimit-reset-requests: 1h"},
		"no rest":             {"x-ratelimit-limit-requests: 5", "x-ratelimit-reset-requests: 1h"},
		"one left":            {"x-ratelimit-limit-requests: 5", "x-ratelimit-remaining-requests: 1", "x-ratelimit-reset-requests: 1h"},
		"one of very many":    {"x-ratelimit-limit-tokens: 999999999999", "x-ratelimit-remaining-tokens: 1", "x-ratelimit-reset-tokens: 1h"},
		"allowed beyond":      {"anthropic-ratelimit-unified-5h-status: allowed", "anthropic-ratelimit-unified-5h-utilization: 1.2", "anthropic-ratelimit-unified-5h-reset: 1772377200"},
		"a window of another": {"x-ratelimit-remaining-images: 0", "x-ratelimit-reset-images: 1h"},
	} {
		run("with "+name, noon, func(s *scene) {
			s.answer(s.d, http.StatusOK, headers(lines...))
			s.look(moment{noon, in}, moment{noon.Add(time.Minute), in})
		})
	}
	run("what another model told of itself", noon, func(s *scene) {
		other := *s.d
		other.UpstreamModel = "other"
		s.answer(&other, http.StatusTooManyRequests, headers("x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1h"))
		s.look(moment{noon, in})
	})
	run("what another provider told", noon, func(s *scene) {
		other := *s.d
		other.Provider = &engine.Provider{ID: "q"}
		s.answer(&other, http.StatusTooManyRequests, headers("anthropic-ratelimit-unified-5h-status: rejected", "anthropic-ratelimit-unified-5h-reset: 1772377200"))
		s.look(moment{noon, in})
	})
	run("what the same model told before", noon, func(s *scene) {
		s.answer(s.d, http.StatusTooManyRequests, headers("x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1h"))
		s.look(moment{noon, noon.Add(time.Hour)})
		s.answer(s.d, http.StatusOK, headers("x-ratelimit-limit-requests: 5", "x-ratelimit-remaining-requests: 5", "x-ratelimit-reset-requests: 1h"))
		s.look(moment{noon, in})
	})
}
