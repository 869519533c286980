package health

import (
	"bytes"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// left returns the share left in a window, engine.Unknown when there is none.
func (r *rig) left(d *engine.Deployment, window string) int64 {
	pool := []engine.Candidate{{Deployment: d}}
	r.tracker.Signals(r.clock.now(), pool)
	if q := pool[0].FreshQuota(r.clock.now()); q != nil {
		for _, w := range q.Windows {
			if w.Name == window {
				return w.LeftPPM
			}
		}
	}
	return engine.Unknown
}

func (r *rig) wantLeft(d *engine.Deployment, window string, want int64) {
	r.t.Helper()
	if got := r.left(d, window); got != want {
		r.t.Errorf("%d ppm of %q left for %s, want %d", got, window, d.ID, want)
	}
}

// configure gives the provider of the rig windows.
func (r *rig) configure(windows ...QuotaLimit) {
	r.tracker.Configure([]ProviderQuota{{Provider: "p", Windows: windows}})
}

// served returns a model that a provider serves.
func served(provider, name, upstream string) *engine.Deployment {
	d := deployment(provider + "/" + name)
	d.Provider = &engine.Provider{ID: provider, Enabled: true}
	d.Model, d.UpstreamModel = name, upstream
	d.Price = engine.Price{Known: true, Input: 2_000_000_000, Output: 10_000_000_000, CachedInput: engine.Unknown, CacheWrite: engine.Unknown}
	return d
}

// call makes a call that an upstream answered with a status, 0 = not at all.
func (r *rig) call(d *engine.Deployment, status int, o Outcome) {
	r.t.Helper()
	now := r.clock.now()
	c := r.tracker.BeginPinned(d, now)
	if status != 0 {
		c.Answered(status, nil, now)
	}
	o.Now = now
	c.End(o)
}

// TestWhatIsCounted shows which outcomes use up what.
func TestWhatIsCounted(t *testing.T) {
	usage := engine.Usage{Known: true, Input: 1000, Output: 100}
	cases := []struct {
		name                   string
		status                 int
		o                      Outcome
		requests, tokens, nano int64
	}{
		{"a good answer", 200, Outcome{Usage: usage}, 1, 1100, 3_000_000},
		{"without usage", 200, Outcome{}, 1, 0, 0},
		{"of usage that is not known", 200, Outcome{Usage: engine.Usage{Input: 5, Output: 5}}, 1, 0, 0},
		{"created", 201, Outcome{}, 1, 0, 0},
		{"broken off", 200, Outcome{Class: engine.ClassTruncated, Usage: usage}, 1, 1100, 3_000_000},
		{"the client left", 200, Outcome{Class: engine.ClassCancelled, Usage: engine.Usage{Known: true, Input: 1000}}, 1, 1000, 2_000_000},
		{"the client left before there was an answer", 0, Outcome{Class: engine.ClassCancelled}, 0, 0, 0},
		{"refused for its content", 200, Outcome{Class: engine.ClassContent, Usage: usage}, 1, 1100, 3_000_000},
		{"not to be read", 200, Outcome{Class: engine.ClassServer}, 1, 0, 0},
		{"a rate limit", 429, Outcome{Class: engine.ClassRateLimit}, 0, 0, 0},
		{"a rate limit inside a good answer", 200, Outcome{Class: engine.ClassRateLimit}, 0, 0, 0},
		{"with its end", 200, Outcome{Class: engine.ClassRateLimitTimed}, 0, 0, 0},
		{"no credit, inside a good answer", 200, Outcome{Class: engine.ClassQuota}, 0, 0, 0},
		{"an error of the caller", 400, Outcome{Class: engine.ClassClient}, 0, 0, 0},
		{"an error of the upstream", 500, Outcome{Class: engine.ClassServer}, 0, 0, 0},
		{"no connection", 0, Outcome{Class: engine.ClassConnect}, 0, 0, 0},
		{"no content in time", 200, Outcome{Class: engine.ClassTimeout}, 1, 0, 0},
		{"numbers that cannot be", 200, Outcome{Usage: engine.Usage{Known: true, Input: -5, Output: -7}}, 1, 0, 0},
		{"more than can be counted", 200, Outcome{Usage: engine.Usage{Known: true, Input: math.MaxInt64, Output: math.MaxInt64}}, 1, math.MaxInt64, 1e15},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			d := served("p", "m", "up")
			const most = 1_000_000_000_000_000
			r.configure(
				QuotaLimit{Name: "r", Period: time.Hour, Unit: QuotaRequests, Limit: most},
				QuotaLimit{Name: "t", Period: time.Hour, Unit: QuotaTokens, Limit: most},
				QuotaLimit{Name: "u", Period: time.Hour, Unit: QuotaUSD, Limit: most},
			)
			r.call(d, c.status, c.o)
			for i, want := range []int64{c.requests, c.tokens, c.nano} {
				got := r.tracker.quotas.accounts["p"].counters[i].used
				if got != want && (want != 1e15 || got < want) {
					t.Errorf("%d used of window %d, want %d", got, i, want)
				}
			}
		})
	}
}

// TestCostIsOurs leaves out what callers pay less in a sale, and what has no
// price.
func TestCostIsOurs(t *testing.T) {
	r := newRig(t)
	r.configure(QuotaLimit{Name: "u", Period: time.Hour, Unit: QuotaUSD, Limit: 4_000_000})
	d := served("p", "m", "up")
	d.Sale = engine.Sale{Multiplier: 1}
	r.call(d, 200, Outcome{Usage: engine.Usage{Known: true, Input: 1000}})
	r.wantLeft(d, "u", 500_000)
	d.Price = engine.Price{}
	r.call(d, 200, Outcome{Usage: engine.Usage{Known: true, Input: 1000}})
	r.wantLeft(d, "u", 500_000)
}

// TestCoverage counts what covers, for all deployments of the account together.
func TestCoverage(t *testing.T) {
	r := newRig(t)
	big, small, other := served("p", "big", "vendor/big"), served("p", "small", "vendor/small"), served("q", "big", "vendor/big")
	again := served("p", "big-2", "vendor/big")
	r.tracker.Configure([]ProviderQuota{
		{Provider: "p", Windows: []QuotaLimit{
			{Name: "all", Period: time.Hour, Unit: QuotaRequests, Limit: 10},
			{Name: "big", Period: time.Hour, Unit: QuotaRequests, Limit: 4, Covers: func(model, upstream string) bool {
				return model == "big" || upstream == "vendor/big"
			}},
		}},
		{Provider: "q"},
	})
	for _, d := range []*engine.Deployment{big, small, other, again} {
		r.call(d, 200, Outcome{})
	}
	for _, want := range []struct {
		d        *engine.Deployment
		all, big int64
	}{
		{big, 700_000, 500_000}, {again, 700_000, 500_000}, {small, 700_000, engine.Unknown}, {other, engine.Unknown, engine.Unknown},
	} {
		r.wantLeft(want.d, "all", want.all)
		r.wantLeft(want.d, "big", want.big)
	}
}

// TestReconfigured changes windows that have been used.
func TestReconfigured(t *testing.T) {
	weekly := QuotaLimit{Name: "w", Period: 10 * time.Hour, Unit: QuotaRequests, Limit: 10}
	with := func(change func(*QuotaLimit)) []QuotaLimit {
		w := weekly
		change(&w)
		return []QuotaLimit{w}
	}
	cases := []struct {
		name  string
		after []QuotaLimit
		then  []QuotaLimit // a second change; nil = none
		left  int64
		ends  time.Duration // after the first use; 0 = not known
	}{
		{"nothing", []QuotaLimit{weekly}, nil, 600_000, 10 * time.Hour},
		{"another limit", with(func(w *QuotaLimit) { w.Limit = 5 }), nil, 200_000, 10 * time.Hour},
		{"a limit below what is used", with(func(w *QuotaLimit) { w.Limit = 3 }), nil, 0, 10 * time.Hour},
		{"another period", with(func(w *QuotaLimit) { w.Period = 20 * time.Hour }), nil, 600_000, 20 * time.Hour},
		{"a period that is over", with(func(w *QuotaLimit) { w.Period = time.Minute }), nil, 1_000_000, 0},
		{"another unit", with(func(w *QuotaLimit) { w.Unit = QuotaTokens }), nil, 1_000_000, 0},
		{"another cover", with(func(w *QuotaLimit) { w.Covers = func(string, string) bool { return false } }), nil, engine.Unknown, 0},
		{"taken out", []QuotaLimit{}, nil, engine.Unknown, 0},
		{"taken out and back", []QuotaLimit{}, []QuotaLimit{weekly}, 600_000, 10 * time.Hour},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			d := served("p", "m", "up")
			r.configure(weekly)
			for range 4 {
				r.call(d, 200, Outcome{})
			}
			r.wantLeft(d, "w", 600_000)
			r.clock.move(time.Hour)
			r.configure(c.after...)
			if c.then != nil {
				r.wantLeft(d, "w", engine.Unknown)
				r.configure(c.then...)
			}
			r.wantLeft(d, "w", c.left)
			if c.left == engine.Unknown {
				return
			}
			pool := []engine.Candidate{{Deployment: d}}
			r.tracker.Signals(r.clock.now(), pool)
			var want time.Time
			if c.ends > 0 {
				want = start.Add(c.ends)
			}
			if got := pool[0].Quota.Windows[0].ResetsAt; !got.Equal(want) {
				t.Errorf("resets at %v, want %v", got, want)
			}
		})
	}
}

// TestForgottenProviders keeps what may come back, as long as it means anything.
func TestForgottenProviders(t *testing.T) {
	r := newRig(t)
	d := served("p", "m", "up")
	known := func() (n int) { return len(r.tracker.quotas.list()) }
	r.configure(QuotaLimit{Name: "w", Period: time.Hour, Unit: QuotaRequests, Limit: 2})
	r.call(d, 200, Outcome{})
	r.tracker.Configure(nil)
	r.wantLeft(d, "w", engine.Unknown)
	r.configure(QuotaLimit{Name: "w", Period: time.Hour, Unit: QuotaRequests, Limit: 2})
	r.wantLeft(d, "w", 500_000)
	r.tracker.Configure(nil)
	if known() != 1 {
		t.Errorf("%d accounts while a window of one runs, want it", known())
	}
	r.clock.move(time.Hour)
	r.tracker.Configure(nil)
	if known() != 0 {
		t.Errorf("%d accounts once all is over, want none", known())
	}
	// A request that still has the old configuration finds a new one.
	r.call(d, 200, Outcome{})
	r.wantLeft(d, "w", engine.Unknown)
}

// TestQuotaIsKept hands out the same quota until it changes.
func TestQuotaIsKept(t *testing.T) {
	r := newRig(t)
	d, other := served("p", "m", "up"), served("p", "n", "up-n")
	quota := func(d *engine.Deployment) *engine.Quota {
		pool := []engine.Candidate{{Deployment: d}}
		r.tracker.Signals(r.clock.now(), pool)
		return pool[0].Quota
	}
	observe := func(d *engine.Deployment, lines ...string) {
		c := r.tracker.BeginPinned(d, r.clock.now())
		c.Answered(200, headers(lines...), r.clock.now())
		c.End(Outcome{Class: engine.ClassCancelled, Now: r.clock.now()})
	}
	if q := quota(d); q != nil {
		t.Fatalf("%+v of nothing", q)
	}
	observe(d, "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1h")
	first := quota(d)
	observe(other, "x-ratelimit-remaining-requests: 3", "x-ratelimit-reset-requests: 1h")
	observe(d, "content-type: text/plain")
	r.clock.move(9 * time.Minute)
	copied := *d // as another configuration has it
	if quota(d) != first || quota(&copied) != first {
		t.Error("a quota that has not changed was made anew")
	}
	before := *first
	observe(d, "x-ratelimit-remaining-requests: 2", "x-ratelimit-reset-requests: 1h")
	if second := quota(d); second == first || second.TakenAt.Sub(first.TakenAt) != 9*time.Minute {
		t.Errorf("after another answer: %+v", second)
	}
	if diff := cmp.Diff(before, *first); diff != "" {
		t.Errorf("a quota that was handed out has changed:\n%s", diff)
	}
	second := quota(d)
	r.clock.move(time.Minute)
	observe(other, "anthropic-ratelimit-unified-5h-utilization: 0.5")
	if third := quota(d); third == second || len(third.Windows) != 2 || !third.TakenAt.Equal(second.TakenAt) {
		t.Errorf("after what another model told of the account: %+v, want both windows, as old as the first", third)
	}
	account := r.clock.now()
	r.clock.move(time.Minute)
	observe(d, "x-ratelimit-remaining-requests: 2", "x-ratelimit-reset-requests: 1h")
	if fourth := quota(d); !fourth.TakenAt.Equal(account) {
		t.Errorf("after another answer: %+v, want it as old as what is known of the account", fourth)
	}
	r.configure(QuotaLimit{Name: "w", Period: time.Hour, Unit: QuotaRequests, Limit: 2})
	counted := quota(d)
	if counted == second || len(counted.Windows) != 3 {
		t.Fatal("a window of the configuration is not seen")
	}
	r.clock.move(time.Duration(restamp) - 1)
	if quota(d) != counted {
		t.Error("a counted quota was made anew within its second")
	}
	r.call(d, 200, Outcome{})
	r.call(d, 200, Outcome{})
	r.clock.move(time.Hour - 1)
	r.wantLeft(d, "w", 0)
	r.clock.move(1)
	r.wantLeft(d, "w", 1_000_000)
	if q := quota(d); !q.TakenAt.Equal(r.clock.now()) || len(q.Windows) != 1 {
		t.Errorf("an hour later: %+v, want the counted window alone, as of now", q)
	}
}

// TestOvertaken gives answers to health in another order than they came.
func TestOvertaken(t *testing.T) {
	r := newRig(t)
	d := served("p", "m", "up")
	at := r.clock.now()
	r.clock.move(time.Second)
	tell := func(after time.Duration, remaining string) {
		c := r.tracker.BeginPinned(d, at)
		c.Answered(200, headers("x-ratelimit-limit-requests: 100", "x-ratelimit-remaining-requests: "+remaining), at.Add(after))
		c.End(Outcome{Now: r.clock.now()})
	}
	tell(500*time.Millisecond, "40")
	tell(200*time.Millisecond, "90")
	r.wantLeft(d, "requests", 400_000)
	tell(500*time.Millisecond, "39")
	r.wantLeft(d, "requests", 390_000)
	tell(501*time.Millisecond, "38")
	r.wantLeft(d, "requests", 380_000)
}

// TestCrowdedBoard remembers no more windows of a model than there can be, and
// gives up the oldest for new ones once they mean nothing.
func TestCrowdedBoard(t *testing.T) {
	r := newRig(t)
	d := served("p", "m", "up")
	tell := func(name string) {
		c := r.tracker.BeginPinned(d, r.clock.now())
		c.Answered(200, http.Header{"Anthropic-Ratelimit-Unified-" + name + "_f-Status": {"rejected"}}, r.clock.now())
		c.End(Outcome{Class: engine.ClassCancelled, Now: r.clock.now()})
	}
	for n := range maxReported {
		tell(string(rune('1'+n/8)) + "0" + string(rune('0'+n%8)) + "h")
	}
	tell("1d")
	r.wantLeft(d, "1d_f", engine.Unknown)
	r.clock.move(engine.QuotaFreshness + 1)
	tell("1d")
	r.wantLeft(d, "1d_f", 0)
	r.wantLeft(d, "100h_f", engine.Unknown)
	if n := len(r.tracker.quotas.accounts["p"].models["up"].list); n != maxReported {
		t.Errorf("%d windows remembered, want %d", n, maxReported)
	}
}

// TestUsedUpIsLogged tells operators once of each window.
func TestUsedUpIsLogged(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t)
	r.close()
	r.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	r.start()
	d := served("p", "m", "up")
	r.configure(QuotaLimit{Name: "daily", Period: 24 * time.Hour, Unit: QuotaRequests, Limit: 2})
	want := func(n int) {
		t.Helper()
		const line = `level=WARN msg="quota window used up" provider=p window=daily for=24h0m0s`
		if got := strings.Count(log.String(), line); got != n {
			t.Errorf("logged %d times, want %d:\n%s", got, n, log.String())
		}
	}
	r.call(d, 200, Outcome{})
	want(0)
	r.call(d, 200, Outcome{})
	want(1)
	r.call(d, 200, Outcome{})
	want(1)
	r.clock.move(24 * time.Hour)
	r.call(d, 200, Outcome{})
	want(1)
	r.call(d, 200, Outcome{})
	want(2)
}
