package health

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// headers makes the headers of an answer of lines like "name: value".
func headers(lines ...string) http.Header {
	h := make(http.Header, len(lines))
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h.Add(name, value)
	}
	return h
}

// windowsOf returns what headers say to a request that comes right after them,
// by name.
func windowsOf(t *testing.T, h http.Header, now time.Time) []engine.QuotaWindow {
	t.Helper()
	clock := &fakeClock{t: now}
	tracker, err := New(Options{Clock: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	d := deployment("d")
	c, _ := tracker.Begin(d, now, false)
	c.Answered(http.StatusOK, h, now)
	pool := []engine.Candidate{{Deployment: d}}
	tracker.Signals(now, pool)
	q := pool[0].FreshQuota(now)
	if q == nil {
		return nil
	}
	if !q.TakenAt.Equal(now) {
		t.Errorf("taken at %v, want %v", q.TakenAt, now)
	}
	list := slices.Clone(q.Windows)
	slices.SortFunc(list, func(a, b engine.QuotaWindow) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// TestRecordedHeaders reads what makers really sent.
func TestRecordedHeaders(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/wire/quota/headers.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name    string            `json:"name"`
		At      time.Time         `json:"at"`
		Headers map[string]string `json:"headers"`
		Want    []struct {
			Name    string    `json:"name"`
			Period  string    `json:"period"`
			LeftPPM int64     `json:"left_ppm"`
			Resets  time.Time `json:"resets"`
		} `json:"want"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			h := make(http.Header)
			for name, value := range c.Headers {
				h.Set(name, value)
			}
			var want []engine.QuotaWindow
			for _, w := range c.Want {
				var period time.Duration
				if w.Period != "" {
					period, err = time.ParseDuration(w.Period)
					if err != nil {
						t.Fatal(err)
					}
				}
				want = append(want, engine.QuotaWindow{Name: w.Name, Period: period, LeftPPM: w.LeftPPM, ResetsAt: w.Resets})
			}
			if diff := gocmp.Diff(want, windowsOf(t, h, c.At)); diff != "" {
				t.Errorf("windows (-want +got):\n%s", diff)
			}
		})
	}
}

// windowAt is a window that resets some time after start; less than 0: not known.
func windowAt(name string, period time.Duration, left int64, resets time.Duration) engine.QuotaWindow {
	w := engine.QuotaWindow{Name: name, Period: period, LeftPPM: left}
	if resets >= 0 {
		w.ResetsAt = start.Add(resets)
	}
	return w
}

const noReset = time.Duration(-1)

// TestHeaderForms reads the forms of every maker. It is 2026-03-01T12:00:00Z.
func TestHeaderForms(t *testing.T) {
	cases := []struct {
		name  string
		lines []string
		want  []engine.QuotaWindow
	}{
		{
			"OpenAI: durations",
			[]string{
				"x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 15", "x-ratelimit-reset-requests: 1s",
				"x-ratelimit-limit-tokens: 150000", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6m0s",
			},
			[]engine.QuotaWindow{windowAt("requests", 0, 250_000, time.Second), windowAt("tokens", 0, 0, 6*time.Minute)},
		},
		{
			"OpenAI: the tokens of a project",
			[]string{"x-ratelimit-limit-project-tokens: 4", "x-ratelimit-remaining-project-tokens: 1", "x-ratelimit-reset-project-tokens: 1h2m3s"},
			[]engine.QuotaWindow{windowAt("project-tokens", 0, 250_000, time.Hour+2*time.Minute+3*time.Second)},
		},
		{
			"Azure: plain seconds",
			[]string{
				"x-ratelimit-limit-requests: 120", "x-ratelimit-remaining-requests: 119", "x-ratelimit-reset-requests: 46",
				"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 8",
			},
			[]engine.QuotaWindow{windowAt("requests", 0, 991_666, 46*time.Second), windowAt("tokens", 0, 0, 8*time.Second)},
		},
		{
			"Azure: no reset",
			[]string{"x-ratelimit-limit-tokens: 20000", "x-ratelimit-remaining-tokens: 19913"},
			[]engine.QuotaWindow{windowAt("tokens", 0, 995_650, noReset)},
		},
		{
			"Groq: durations with fractions",
			[]string{
				"x-ratelimit-limit-requests: 14400", "x-ratelimit-remaining-requests: 14370", "x-ratelimit-reset-requests: 2m59.56s",
				"x-ratelimit-limit-tokens: 18000", "x-ratelimit-remaining-tokens: 17997", "x-ratelimit-reset-tokens: 7.66s",
			},
			[]engine.QuotaWindow{
				windowAt("requests", 0, 997_916, 2*time.Minute+59_560*time.Millisecond), windowAt("tokens", 0, 999_833, 7660*time.Millisecond),
			},
		},
		{
			"Cerebras: the period in the name, seconds with fractions",
			[]string{
				"x-ratelimit-limit-requests-day: 14400", "x-ratelimit-remaining-requests-day: 14000", "x-ratelimit-reset-requests-day: 33011.382867",
				"x-ratelimit-limit-tokens-minute: 60000", "x-ratelimit-remaining-tokens-minute: 0", "x-ratelimit-reset-tokens-minute: 11.5",
			},
			[]engine.QuotaWindow{
				windowAt("requests-day", 24*time.Hour, 972_222, 33_011_382_867*time.Microsecond),
				windowAt("tokens-minute", time.Minute, 0, 11_500*time.Millisecond),
			},
		},
		{
			"OpenRouter: milliseconds since 1970",
			[]string{"X-RateLimit-Limit: 50", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1772409600000"},
			[]engine.QuotaWindow{windowAt("rate", 0, 0, 12*time.Hour)},
		},
		{
			"Together: seconds",
			[]string{"x-ratelimit-limit: 10", "x-ratelimit-remaining: 9", "x-ratelimit-reset: 1"},
			[]engine.QuotaWindow{windowAt("rate", 0, 900_000, time.Second)},
		},
		{
			"Mistral: no reset of its windows",
			[]string{
				"x-ratelimitbysize-limit-minute: 500000", "x-ratelimitbysize-remaining-minute: 467993",
				"x-ratelimitbysize-limit-month: 1000000000", "x-ratelimitbysize-remaining-month: 999000000", "ratelimitbysize-reset: 40",
			},
			[]engine.QuotaWindow{
				windowAt("tokens-bysize-minute", time.Minute, 935_986, noReset), windowAt("tokens-bysize-month", 30*24*time.Hour, 999_000, noReset),
			},
		},
		{
			"Anthropic: times",
			[]string{
				"anthropic-ratelimit-requests-limit: 50", "anthropic-ratelimit-requests-remaining: 0",
				"anthropic-ratelimit-requests-reset: 2026-03-01T12:00:02Z",
				"anthropic-ratelimit-input-tokens-limit: 30000", "anthropic-ratelimit-input-tokens-remaining: 28000",
				"anthropic-ratelimit-input-tokens-reset: 2026-03-01T13:00:04.25+01:00",
			},
			[]engine.QuotaWindow{
				windowAt("anthropic-input-tokens", time.Minute, 933_333, 4250*time.Millisecond), windowAt("anthropic-requests", time.Minute, 0, 2*time.Second),
			},
		},
		{
			"Anthropic: a subscription",
			[]string{
				"anthropic-ratelimit-unified-status: allowed", "anthropic-ratelimit-unified-reset: 1772370000",
				"anthropic-ratelimit-unified-representative-claim: five_hour", "anthropic-ratelimit-unified-fallback-percentage: 0.5",
				"anthropic-ratelimit-unified-5h-status: allowed", "anthropic-ratelimit-unified-5h-reset: 1772370000",
				"anthropic-ratelimit-unified-5h-utilization: 0.19", "anthropic-ratelimit-unified-7d-status: allowed_warning",
				"anthropic-ratelimit-unified-7d-reset: 1772884800", "anthropic-ratelimit-unified-7d-utilization: 0.89000000000000001",
				"anthropic-ratelimit-unified-overage-status: rejected", "anthropic-ratelimit-unified-overage-disabled-reason: out_of_credits",
			},
			[]engine.QuotaWindow{
				windowAt("5h", 5*time.Hour, 810_000, time.Hour), windowAt("7d", 7*24*time.Hour, 110_000, 144*time.Hour),
				windowAt("unified", 0, engine.Unknown, time.Hour),
			},
		},
		{
			"Anthropic: a subscription that is used up",
			[]string{
				"anthropic-ratelimit-unified-status: rejected", "anthropic-ratelimit-unified-reset: 1772370000",
				"anthropic-ratelimit-unified-5h-status: rejected", "anthropic-ratelimit-unified-5h-reset: 1772370000",
				"anthropic-ratelimit-unified-5h-utilization: 1.0", "anthropic-ratelimit-unified-7d-utilization: 1.02",
				"anthropic-ratelimit-unified-7d_opus-status: rejected", "anthropic-ratelimit-unified-7d_opus-reset: 1772884800",
			},
			[]engine.QuotaWindow{
				windowAt("5h", 5*time.Hour, 0, time.Hour), windowAt("7d", 7*24*time.Hour, 0, noReset),
				windowAt("7d_opus", 7*24*time.Hour, 0, 144*time.Hour), windowAt("unified", 0, 0, time.Hour),
			},
		},
		{
			"Anthropic: beyond a subscription, for money",
			[]string{"anthropic-ratelimit-unified-5h-status: allowed", "anthropic-ratelimit-unified-5h-utilization: 1.7"},
			[]engine.QuotaWindow{windowAt("5h", 5*time.Hour, 1, noReset)},
		},
		{
			"Anthropic: the older form of a subscription",
			[]string{"anthropic-ratelimit-unified-status: rejected", "anthropic-ratelimit-unified-reset: 1772370000"},
			[]engine.QuotaWindow{windowAt("unified", 0, 0, time.Hour)},
		},
		{"no limits at all", []string{"content-type: text/event-stream", "x-request-id: r", "anthropic-organization-id: o"}, nil},
		{"a limit alone says nothing", []string{"x-ratelimit-limit-requests: 60"}, nil},
		{
			"a reset alone is one",
			[]string{"x-ratelimit-reset-requests: 4ms"},
			[]engine.QuotaWindow{windowAt("requests", 0, engine.Unknown, 4*time.Millisecond)},
		},
		{
			"what is left of an unknown limit, but something",
			[]string{"x-ratelimit-remaining-requests: 5", "x-ratelimit-reset-requests: 1s"},
			[]engine.QuotaWindow{windowAt("requests", 0, engine.Unknown, time.Second)},
		},
		{
			"very little is not nothing",
			[]string{"x-ratelimit-limit-tokens: 900000000000000000", "x-ratelimit-remaining-tokens: 1"},
			[]engine.QuotaWindow{windowAt("tokens", 0, 1, noReset)},
		},
		{
			"more than the limit is all of it",
			[]string{"x-ratelimit-limit-tokens: 100", "x-ratelimit-remaining-tokens: 101"},
			[]engine.QuotaWindow{windowAt("tokens", 0, 1_000_000, noReset)},
		},
		{"a limit of nothing is none", []string{"x-ratelimit-limit-tokens: 0", "x-ratelimit-remaining-tokens: 0"}, nil},
		{"other things that are counted", []string{"x-ratelimit-remaining-images: 0", "x-ratelimit-reset-images: 1m"}, nil},
		{"blanks around a value", []string{"x-ratelimit-remaining-requests: \t0 "}, []engine.QuotaWindow{windowAt("requests", 0, 0, noReset)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := gocmp.Diff(c.want, windowsOf(t, headers(c.lines...), start)); diff != "" {
				t.Errorf("windows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGarbledHeaders puts values where none of them can be.
func TestGarbledHeaders(t *testing.T) {
	for _, value := range []string{
		"", " ", "-1", "-0", "+1", "1.5", "1,000", "1e3", "0x10", "ten", "unlimited", "null", "NaN", "Infinity", "1 0",
		"100, 100;window=60", "9999999999999999999", "\x00", "１",
	} {
		t.Run("count "+value, func(t *testing.T) {
			if got := windowsOf(t, http.Header{"X-Ratelimit-Remaining-Requests": {value}, "X-Ratelimit-Limit-Requests": {"10"}}, start); got != nil {
				t.Errorf("remaining %q is read as %+v", value, got)
			}
		})
	}
	for _, value := range []string{
		"", "-1s", "+1s", "1x", "1m30", "s", "1s1", "1 s", "1.s", ".5s", "1..5s", "1:30", "1h-5m", "367d", "200d200d", strings.Repeat("366d", 300), "9999999999999h", "999999999999999999999s",
		"31622401", "999999999", "100000000000", "999999999999", "100000000000000", "99999999999999999999",
		"1000000000", "4000000000", // 2001 and 2096: more than a year away
		"2026-03-01", "2026-03-01 12:00:00Z", "2026-03-01T12:00:00", "2026-13-01T12:00:00Z", "2020-03-01T12:00:00Z", "2036-03-01T12:00:00Z",
		"Sun, 01 Mar 2026 12:00:01 GMT", "soon", "-5", "1e9", "NaN",
	} {
		t.Run("reset "+value, func(t *testing.T) {
			if got := windowsOf(t, http.Header{"X-Ratelimit-Reset-Requests": {value}}, start); got != nil {
				t.Errorf("reset %q is read as %+v", value, got)
			}
		})
	}
	for _, value := range []string{"", "-0.5", "x", "50%", "1e-1", ".5", "1.", "1000000", "NaN"} {
		t.Run("utilization "+value, func(t *testing.T) {
			if got := windowsOf(t, http.Header{"Anthropic-Ratelimit-Unified-5h-Utilization": {value}}, start); got != nil {
				t.Errorf("utilization %q is read as %+v", value, got)
			}
		})
	}
	for name, h := range map[string]http.Header{
		"twice":                  {"X-Ratelimit-Remaining-Requests": {"0", "0"}},
		"no value":               {"X-Ratelimit-Remaining-Requests": nil},
		"a window without name":  {"Anthropic-Ratelimit-Unified--Status": {"rejected"}},
		"of two years":           {"Anthropic-Ratelimit-Unified-365d365d-Status": {"rejected"}},
		"of no length":           {"Anthropic-Ratelimit-Unified-Weekly-Status": {"rejected"}},
		"of a family of no name": {"Anthropic-Ratelimit-Unified-7d_-Status": {"rejected"}},
		"of a very long name":    {"Anthropic-Ratelimit-Unified-7d_" + strings.Repeat("x", 100) + "-Status": {"rejected"}},
		"of an unknown status":   {"Anthropic-Ratelimit-Unified-7d-Status": {"exceeded"}},
		"no part of a window":    {"Anthropic-Ratelimit-Unified-7d": {"rejected"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := windowsOf(t, h, start); got != nil {
				t.Errorf("%v is read as %+v", h, got)
			}
		})
	}
	t.Run("one garbled value spares the others", func(t *testing.T) {
		h := headers("x-ratelimit-limit-requests: ?", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 5s",
			"x-ratelimit-limit-tokens: 10", "x-ratelimit-remaining-tokens: 5", "x-ratelimit-reset-tokens: later")
		want := []engine.QuotaWindow{windowAt("requests", 0, 0, 5*time.Second), windowAt("tokens", 0, 500_000, noReset)}
		if diff := gocmp.Diff(want, windowsOf(t, h, start)); diff != "" {
			t.Errorf("windows (-want +got):\n%s", diff)
		}
	})
	t.Run("more windows than anybody has", func(t *testing.T) {
		h := make(http.Header)
		for name := range headersOf {
			h.Set(name, "1")
		}
		if got := windowsOf(t, h, start); len(got) != maxReported {
			t.Errorf("%d windows, want the most that are read, %d", len(got), maxReported)
		}
	})
}

// FuzzHeaders reads any header with any value: what comes out has a name, a
// share that can be and a reset within a year.
func FuzzHeaders(f *testing.F) {
	f.Add("X-Ratelimit-Reset-Tokens", "1h2m3.5s", "X-Ratelimit-Remaining-Tokens", "0")
	f.Add("X-Ratelimit-Reset", "1772409600000", "X-Ratelimit-Limit", "50")
	f.Add("Anthropic-Ratelimit-Tokens-Reset", "2026-02-25T20:02:37Z", "Anthropic-Ratelimit-Tokens-Limit", "38000")
	f.Add("Anthropic-Ratelimit-Unified-7d_opus-Utilization", "0.99", "Anthropic-Ratelimit-Unified-Status", "rejected")
	f.Add("X-Ratelimit-Reset-Requests-Day", "33011.382867", "X-Ratelimitbysize-Remaining-Month", "9")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		var r reading
		r.read(http.Header{name1: {value1}, name2: {value2}}, start)
		for i := range r.list[:r.n] {
			s, ok := r.list[i].sighting(start.UnixNano())
			if !ok {
				continue
			}
			if s.name == "" || len(s.name) > maxWindowName || s.period < 0 || s.period > maxReset {
				t.Errorf("a window %q of %v", s.name, s.period)
			}
			if s.left != engine.Unknown && (s.left < 0 || s.left > ppm) {
				t.Errorf("%d ppm left", s.left)
			}
			if away := time.Duration(s.resets - s.taken); s.resets != 0 && time.Duration(math.Abs(float64(away))) > maxReset+time.Second {
				t.Errorf("resets %v after it was read", away)
			}
			if list, err := decodeBoard(encodeBoard([]sighting{s})); err != nil || len(list) != 1 || list[0] != s {
				t.Errorf("stored and loaded: %+v, %v; want %+v", list, err, s)
			}
		}
	})
}
