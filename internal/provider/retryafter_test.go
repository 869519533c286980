package provider

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/wire/fault"
)

// TestRetryAfter reads every form of the header, and takes nothing for a wait
// that is none.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, time.November, 29, 12, 0, 0, 500_000_000, time.UTC)
	const day = 24 * time.Hour
	cases := []struct {
		name   string
		header http.Header
		wait   time.Duration
		ok     bool
	}{
		{name: "seconds", header: retryAfter("7"), wait: 7 * time.Second, ok: true},
		{name: "zero", header: retryAfter("0"), ok: true},
		{name: "leading zeros", header: retryAfter("007"), wait: 7 * time.Second, ok: true},
		{name: "blanks around", header: retryAfter(" 7\t"), wait: 7 * time.Second, ok: true},
		{name: "IMF date", header: retryAfter("Sun, 29 Nov 2026 12:01:00 GMT"), wait: 59500 * time.Millisecond, ok: true},
		{name: "RFC 850 date", header: retryAfter("Sunday, 29-Nov-26 12:01:00 GMT"), wait: 59500 * time.Millisecond, ok: true},
		{name: "asctime date", header: retryAfter("Sun Nov 29 12:01:00 2026"), wait: 59500 * time.Millisecond, ok: true},
		{name: "past date", header: retryAfter("Sun, 29 Nov 2020 12:01:00 GMT"), ok: true},
		{name: "two-digit year of the last century", header: retryAfter("Monday, 29-Nov-99 12:01:00 GMT"), ok: true},
		{name: "two-digit year that is near", header: retryAfter("Friday, 01-Jan-27 00:00:00 GMT"), wait: 31 * day, ok: true},
		{name: "far date", header: retryAfter("Sun, 29 Nov 9999 12:01:00 GMT"), wait: 31 * day, ok: true},
		{name: "30 digits", header: retryAfter(strings.Repeat("9", 30)), wait: 31 * day, ok: true},
		{name: "more than int64 nanoseconds", header: retryAfter("10000000000"), wait: 31 * day, ok: true},
		{name: "a day", header: retryAfter("86400"), wait: day, ok: true},
		{name: "none", header: http.Header{}},
		{name: "empty", header: retryAfter("")},
		{name: "negative", header: retryAfter("-5")},
		{name: "signed", header: retryAfter("+5")},
		{name: "fraction", header: retryAfter("1.5")},
		{name: "exponent", header: retryAfter("1e3")},
		{name: "word", header: retryAfter("soon")},
		{name: "unit", header: retryAfter("5s")},
		{name: "two values", header: retryAfter("7", "8")},
		{name: "a list", header: retryAfter("7, 8")},
		{name: "other digits", header: retryAfter("٧")},
		{name: "milliseconds", header: http.Header{"Retry-After-Ms": {"1500"}}, wait: 1500 * time.Millisecond, ok: true},
		{name: "milliseconds first", header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}, wait: 1500 * time.Millisecond, ok: true},
		{name: "bad milliseconds", header: http.Header{"Retry-After-Ms": {"1.5"}, "Retry-After": {"9"}}, wait: 9 * time.Second, ok: true},
		{name: "many milliseconds", header: http.Header{"Retry-After-Ms": {strings.Repeat("9", 19)}}, wait: 31 * day, ok: true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			wait, ok := RetryAfter(tc.header, now)
			if wait != tc.wait || ok != tc.ok {
				t.Errorf("got %v, %v, want %v, %v", wait, ok, tc.wait, tc.ok)
			}
		})
	}
}

func retryAfter(values ...string) http.Header { return http.Header{"Retry-After": values} }

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "0", "-5", "1.5", "soon", "", "Sun, 29 Nov 2026 12:01:00 GMT", "Sunday, 29-Nov-26 12:01:00 GMT", "Sun Nov 29 12:01:00 2026", "999999999999999999999999999999"} {
		f.Add(s, s)
	}
	now := time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, h := range []http.Header{retryAfter(a), retryAfter(a, b), {"Retry-After-Ms": {a}, "Retry-After": {b}}} {
			wait, ok := RetryAfter(h, now)
			if wait < 0 || wait > maxRetryAfter || !ok && wait != 0 {
				t.Fatalf("%v: got %v, %v", h, wait, ok)
			}
			if s := seconds(wait); s != "" && strings.Trim(s, "0123456789") != "" {
				t.Fatalf("%v is written as %q", wait, s)
			}
		}
	})
}

// TestCooldown says which answers cool a deployment down.
func TestCooldown(t *testing.T) {
	cases := []struct {
		name       string
		status     int
		kind       fault.Kind
		retryAfter string
		class      engine.FailureClass
		cooldown   time.Duration
		passedOn   string
	}{
		{"429 with a hint", 429, fault.RateLimit, "7", engine.ClassRateLimitTimed, 7 * time.Second, ""},
		{"429 with a bad hint", 429, fault.RateLimit, "-7", engine.ClassRateLimit, 0, ""},
		{"429 with 0", 429, fault.RateLimit, "0", engine.ClassRateLimit, 0, ""},
		{"429 without money", 429, fault.Quota, "7", engine.ClassQuota, 7 * time.Second, ""},
		{"402", 402, fault.Quota, "7", engine.ClassQuota, 7 * time.Second, ""},
		{"402 without a hint", 402, fault.Quota, "", engine.ClassQuota, 0, ""},
		{"503", 503, fault.Overloaded, "7", engine.ClassServer, 0, "7"},
		{"503 with a bad hint", 503, fault.Overloaded, "x\r\ny", engine.ClassServer, 0, ""},
		{"429 inside a 200", 200, fault.RateLimit, "7", engine.ClassRateLimit, 0, ""},
		{"408", 408, fault.Timeout, "7", engine.ClassConflict, 0, ""},
		{"400", 400, fault.BadRequest, "7", engine.ClassClient, 0, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			if tc.retryAfter != "" {
				h.Set("Retry-After", tc.retryAfter)
			}
			f := FromFault(tc.status, h, &fault.Fault{Kind: tc.kind, Status: tc.status, Message: "m"}, time.Now())
			if f.Class != tc.class || f.Cooldown != tc.cooldown || f.RetryAfter != tc.passedOn {
				t.Errorf("got %s, cooldown %v, passed on %q", f.Class, f.Cooldown, f.RetryAfter)
			}
		})
	}
}
