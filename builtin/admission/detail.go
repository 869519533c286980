package admission

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewright/engine"
)

// What a removal says is for people: what was wrong, with names and numbers.

// provider names the candidate's provider.
func provider(c *engine.Candidate) string { return "provider " + strconv.Quote(c.Provider.ID) }

// list writes the names of a set in alphabetical order.
func list(s engine.Set) string { return strings.Join(slices.Sorted(maps.Keys(s)), ", ") }

// usd writes an amount of nano-USD in dollars, without trailing zeros.
func usd(nano int64) string {
	const dollar, digits = 1_000_000_000, 9
	fraction := strconv.FormatInt(nano%dollar+dollar, 10)[1:]
	fraction = strings.TrimRight(fraction[:digits], "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return strconv.FormatInt(nano/dollar, 10) + fraction + " USD"
}

// instant writes a time to the second, in UTC.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lowest returns the smaller of two caps; zero or less is no cap.
func lowest[T int64 | time.Duration](a, b T) T {
	switch {
	case a <= 0:
		return max(b, 0)
	case b <= 0:
		return a
	}
	return min(a, b)
}
