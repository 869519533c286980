package health

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatewright/engine"
)

// The headers in which makers tell what is left of their limits:
//
//	x-ratelimit-{limit,remaining,reset}-{requests,tokens}   OpenAI, Azure, Groq, Together
//	the same with -minute, -day, …                          Cerebras, SambaNova
//	x-ratelimit-{limit,remaining,reset}                     OpenRouter, Together
//	x-ratelimitbysize-{limit,remaining}-{minute,month}      Mistral
//	anthropic-ratelimit-{requests,…}-{limit,remaining,reset}
//	anthropic-ratelimit-unified-{5h,7d,…}-{status,utilization,reset}
//
// A reset is written as a duration (6m0s), as seconds (46, 33011.38), as seconds
// or milliseconds since 1970, or as a time (RFC 3339). The sizes of the three
// kinds of number are so far apart that none can be taken for another. A value
// that is none of this, or stands twice, is as if it were not there.

// part is what one header tells of a window.
type part uint8

const (
	partLimit part = iota
	partRemaining
	partReset
	partStatus
	partUtilization
)

// headerOf is one header: the window that it belongs to, and what it tells.
type headerOf struct {
	window string
	period time.Duration // 0 = not known
	part   part
}

const (
	xRatelimit    = "X-Ratelimit-"
	bySize        = "X-Ratelimitbysize-"
	anthropic     = "Anthropic-Ratelimit-"
	unified       = anthropic + "Unified-"
	unifiedWindow = "unified" // what holds over all windows of a subscription
	rateWindow    = "rate"    // of headers that do not say what they count
)

// day is the length of most days.
const day = 24 * time.Hour

// headersOf are the headers with fixed names, by canonical name.
var headersOf = func() map[string]headerOf {
	periods := map[string]time.Duration{
		"": 0, "-Second": time.Second, "-Minute": time.Minute, "-Hour": time.Hour,
		"-Day": day, "-Week": 7 * day, "-Month": 30 * day,
	}
	all := make(map[string]headerOf)
	for word, p := range map[string]part{"Limit": partLimit, "Remaining": partRemaining, "Reset": partReset} {
		for suffix, period := range periods {
			for _, counted := range []string{"-Requests", "-Tokens", "-Input-Tokens", "-Output-Tokens", "-Project-Requests", "-Project-Tokens"} {
				all[xRatelimit+word+counted+suffix] = headerOf{strings.ToLower(counted[1:] + suffix), period, p}
			}
			if suffix != "" {
				all[bySize+word+suffix] = headerOf{"tokens-bysize" + strings.ToLower(suffix), period, p}
			}
		}
		all[xRatelimit+word] = headerOf{rateWindow, 0, p}
		for _, counted := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
			all[anthropic+counted+"-"+word] = headerOf{"anthropic-" + strings.ToLower(counted), time.Minute, p}
		}
	}
	return all
}()

// told is what the headers of one answer say of one window.
type told struct {
	name   string
	period time.Duration
	shared bool // holds for all models of the account

	limit, remaining int64 // engine.Unknown = not said
	used             int64 // utilization in ppm; engine.Unknown = not said
	status           string
	resets           time.Duration // from the answer on
	hasReset         bool
}

// reading is what the headers of one answer say.
type reading struct {
	list [maxReported]told
	n    int
}

// read reads the headers of an answer that arrived at now.
func (r *reading) read(h http.Header, now time.Time) {
	for key, values := range h {
		if len(values) != 1 || !strings.HasPrefix(key, "X-Ratelimit") && !strings.HasPrefix(key, anthropic) {
			continue
		}
		name, ok := headersOf[key]
		shared := false
		if !ok {
			if name, shared, ok = unifiedHeader(key); !ok {
				continue
			}
		}
		if w := r.window(name.window); w != nil {
			w.period, w.shared = name.period, shared
			w.take(name.part, strings.Trim(values[0], " \t"), now)
		}
	}
}

// window returns what was told of a window, made if need be; nil when there are
// too many.
func (r *reading) window(name string) *told {
	for i := range r.list[:r.n] {
		if r.list[i].name == name {
			return &r.list[i]
		}
	}
	if r.n == len(r.list) {
		return nil
	}
	w := &r.list[r.n]
	r.n++
	*w = told{name: name, limit: engine.Unknown, remaining: engine.Unknown, used: engine.Unknown}
	return w
}

// unifiedHeader reads the name of a header of an Anthropic subscription. Its
// windows are named by their length, and hold for all models; those of one
// family of models have a suffix (7d_opus), and then the model that was asked
// for is all that is known of the family. The header without a window says
// whether the request was let through, which is of that model, too.
func unifiedHeader(key string) (name headerOf, shared, ok bool) {
	rest, ok := strings.CutPrefix(key, unified)
	if !ok {
		return headerOf{}, false, false
	}
	switch rest {
	case "Status":
		return headerOf{window: unifiedWindow, part: partStatus}, false, true
	case "Reset":
		return headerOf{window: unifiedWindow, part: partReset}, false, true
	}
	window, word, _ := strings.Cut(rest, "-")
	switch word {
	case "Status":
		name.part = partStatus
	case "Utilization":
		name.part = partUtilization
	case "Reset":
		name.part = partReset
	default:
		return headerOf{}, false, false
	}
	length, family, ofFamily := strings.Cut(window, "_")
	if name.period, ok = duration(length); !ok || len(window) > maxWindowName || ofFamily && family == "" {
		return headerOf{}, false, false
	}
	name.window = window
	return name, !ofFamily, true
}

// take takes in one value.
func (w *told) take(p part, value string, now time.Time) {
	switch p {
	case partLimit:
		w.limit = count(value)
	case partRemaining:
		w.remaining = count(value)
	case partReset:
		w.resets, w.hasReset = reset(value, now)
	case partStatus:
		w.status = value
	case partUtilization:
		if whole, nano, rest, ok := number(value); ok && rest == "" && whole < ppm {
			w.used = whole*ppm + nano/(scale/ppm)
		}
	}
}

// sighting sums up what was said; false when that is nothing.
func (w *told) sighting(taken int64) (sighting, bool) {
	s := sighting{name: w.name, period: w.period, left: w.left(), taken: taken}
	if w.hasReset {
		s.resets = taken + int64(w.resets)
	}
	return s, w.hasReset || s.left != engine.Unknown
}

// left is the share that is left, in ppm. What is not used up for sure is never
// 0: the status of a subscription goes before its numbers, since usage beyond
// them may be paid for. A limit of 0 is no limit that anybody could have.
func (w *told) left() int64 {
	allowed := strings.HasPrefix(w.status, "allowed")
	switch {
	case w.status == "rejected":
		return 0
	case w.used != engine.Unknown && allowed:
		return max(ppm-w.used, 1)
	case w.used != engine.Unknown:
		return max(ppm-w.used, 0)
	case w.remaining == engine.Unknown, w.limit == 0:
		return engine.Unknown
	case w.remaining == 0:
		return 0
	case w.limit == engine.Unknown:
		return engine.Unknown
	}
	return share(w.remaining, w.limit)
}

// count reads a number of requests or tokens; Unknown for anything else.
func count(text string) int64 {
	const maxDigits = 18
	if text == "" || len(text) > maxDigits || strings.Trim(text, "0123456789") != "" {
		return engine.Unknown
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return engine.Unknown
	}
	return n
}

// The bounds of what a number without unit can be.
const (
	maxReset    = 366 * day // the longest window there is; more means nothing
	leastEpoch  = 1_000_000_000
	mostEpoch   = 100 * leastEpoch
	leastMillis = 1000 * leastEpoch
	mostMillis  = 1000 * mostEpoch
)

// reset reads when a window resets: how long after now, less than 0 if that is
// past.
func reset(text string, now time.Time) (time.Duration, bool) {
	after, ok := duration(text)
	if !ok {
		var at time.Time
		if at, ok = instant(text, now); !ok {
			return 0, false
		}
		after = at.Sub(now.Round(0)) // by the wall clock: that is what the upstream has, too
	}
	return after, after <= maxReset && after >= -maxReset
}

// instant reads a time, or a plain number.
func instant(text string, now time.Time) (time.Time, bool) {
	whole, nano, rest, ok := number(text)
	if !ok || rest != "" {
		at, err := time.Parse(time.RFC3339, text)
		return at, err == nil
	}
	switch {
	case whole <= int64(maxReset/time.Second):
		return now.Round(0).Add(time.Duration(whole)*time.Second + time.Duration(nano)), true
	case whole >= leastEpoch && whole < mostEpoch:
		return time.Unix(whole, nano), true
	case whole >= leastMillis && whole < mostMillis:
		return time.UnixMilli(whole), true
	}
	return time.Time{}, false
}

var timeUnits = [...]struct {
	name string
	size time.Duration
}{
	{"ms", time.Millisecond},
	{"us", time.Microsecond},
	{"µs", time.Microsecond},
	{"ns", time.Nanosecond},
	{"s", time.Second},
	{"m", time.Minute},
	{"h", time.Hour},
	{"d", day},
}

// duration reads 4ms, 1.5s, 6m0s, 1h2m3s, 7d. Every number needs a unit.
func duration(text string) (time.Duration, bool) {
	var sum time.Duration
	for rest := text; rest != ""; {
		whole, nano, next, ok := number(rest)
		if !ok {
			return 0, false
		}
		unit, next := unitOf(next)
		if unit == 0 || whole > int64(maxReset/unit) {
			return 0, false
		}
		sum += time.Duration(whole)*unit + time.Duration(mulDiv(nano, int64(unit), scale))
		if sum > maxReset {
			return 0, false
		}
		rest = next
	}
	return sum, text != ""
}

// unitOf takes a unit off the text; 0 when there is none.
func unitOf(text string) (size time.Duration, rest string) {
	for _, u := range &timeUnits {
		if rest, ok := strings.CutPrefix(text, u.name); ok {
			return u.size, rest
		}
	}
	return 0, text
}

// scale is how many parts number cuts one into.
const scale = 1_000_000_000

// number takes a decimal number off the text: its whole part and its fraction
// in parts of 10^9, cut off after that.
func number(text string) (whole, nano int64, rest string, ok bool) {
	const maxDigits, maxFraction = 15, 40
	end := digits(text)
	if end == 0 || end > maxDigits {
		return 0, 0, text, false
	}
	for _, c := range []byte(text[:end]) {
		whole = whole*10 + int64(c-'0')
	}
	rest = text[end:]
	if !strings.HasPrefix(rest, ".") {
		return whole, 0, rest, true
	}
	rest = rest[1:]
	if end = digits(rest); end == 0 || end > maxFraction {
		return 0, 0, text, false
	}
	unit := int64(scale)
	for _, c := range []byte(rest[:end]) {
		unit /= 10
		nano += int64(c-'0') * unit
	}
	return whole, nano, rest[end:], true
}

// digits returns how many digits the text begins with.
func digits(text string) int {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return i
		}
	}
	return len(text)
}
