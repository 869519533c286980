package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait that a hint can ask for; more counts as
// this much.
const maxRetryAfter = 31 * 24 * time.Hour

// RetryAfter returns how long the headers of an answer ask to wait from now on.
// ok is false when they do not say, or say it in a way that means nothing:
// negative, fractional, garbled, or given twice. A wait that is over already is
// 0. retry-after-ms goes before Retry-After.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if v, given := single(h, "Retry-After-Ms"); given {
		if wait, ok = wholeNumber(v, time.Millisecond); ok {
			return wait, true
		}
	}
	v, given := single(h, "Retry-After")
	if !given {
		return 0, false
	}
	if wait, ok = wholeNumber(v, time.Second); ok {
		return wait, true
	}
	at, ok := httpDate(v, now)
	if !ok {
		return 0, false
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}

// single returns the value of a header that stands there once.
func single(h http.Header, key string) (string, bool) {
	values := h[key]
	if len(values) != 1 {
		return "", false
	}
	return strings.Trim(values[0], " \t"), true
}

// wholeNumber reads a count of units. However long it is, it does not overflow.
func wholeNumber(s string, unit time.Duration) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n > uint64(maxRetryAfter/unit) { //nolint:gosec // both are positive
		return maxRetryAfter, true // digits alone: the only fault is their number
	}
	return time.Duration(n) * unit, true
}

// httpDate reads the three forms of a date. The form with two digits for the
// year means the past when it would be more than 50 years ahead.
func httpDate(s string, now time.Time) (time.Time, bool) {
	at, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}, false
	}
	if _, err := time.Parse(time.RFC850, s); err == nil {
		const century, half = 100, 50
		at = at.AddDate(now.Year()/century*century-at.Year()/century*century, 0, 0)
		if at.After(now.AddDate(half, 0, 0)) {
			at = at.AddDate(-century, 0, 0)
		}
	}
	return at, true
}

// seconds writes a wait as Retry-After: whole seconds, rounded up; "" for none.
func seconds(wait time.Duration) string {
	if wait <= 0 {
		return ""
	}
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}
