package gemini

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// unreadable is the fault of an answer that is empty because the model wrote
// something that is none. The reason stands in its message only: a client of
// another protocol does not know the word.
func unreadable(reason string) fault.Fault {
	const statusBadGateway = 502
	return fault.Fault{
		Kind: fault.Server, Status: statusBadGateway,
		Message: "the model wrote nothing that can be read (" + reason + ")",
	}
}

// MaxRetryDelay is the longest wait that is believed; longer ones count as this.
const MaxRetryDelay = 31 * 24 * time.Hour

// ParseError reads the body of an error answer that came with status, as
// [fault.Parse] does, and what only Google says: how long to wait (the
// retryDelay of a RetryInfo), and which quota it is about. wait is 0 if the body
// names none that is valid and positive.
//
// The words of a 429 are the same whatever limit was met, so they are not gone
// by. It is a rate limit unless every violated quota that it names is one for a
// day: then the kind is fault.Quota, since waiting will not help for long.
func ParseError(status int, body []byte) (f fault.Fault, wait time.Duration) {
	body = body[:min(len(body), fault.MaxBody)]
	f = fault.Parse(status, body)
	d := readDetails(body)
	if f.Kind == fault.RateLimit && d.daily > 0 && d.daily == d.quotas {
		f.Kind = fault.Quota
	}
	return f, d.wait
}

// details is what stands in the details of an error.
type details struct {
	wait          time.Duration
	quotas, daily int // violated quotas that are named, and those of them for a day
}

// readDetails reads an error body, which may be wrapped in an array. What comes
// before a place where the text is broken counts.
func readDetails(body []byte) (d details) {
	c := scan.NewCursor(bytes.TrimSpace(body), maxDepth)
	if c.EnterArray() {
		for c.Element() {
			d.envelope(&c)
		}
		return d
	}
	d.envelope(&c)
	return d
}

// envelope takes {"error": {"details": [...]}}.
func (d *details) envelope(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		if string(c.Key()) != "error" || !c.EnterObject() {
			continue
		}
		for c.Member() {
			if string(c.Key()) != "details" || !c.EnterArray() {
				continue
			}
			for c.Element() {
				d.detail(c)
			}
		}
	}
}

func (d *details) detail(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "retryDelay":
			if wait, ok := duration(text(c)); ok {
				d.wait = wait
			}
		case "violations":
			if !c.EnterArray() {
				continue
			}
			for c.Element() {
				d.violation(c)
			}
		}
	}
}

func (d *details) violation(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		if string(c.Key()) != "quotaId" {
			continue
		}
		if id := text(c); id != "" {
			d.quotas++
			if strings.Contains(id, "PerDay") {
				d.daily++
			}
		}
	}
}

// duration reads a protobuf duration in its JSON form: seconds, a fraction of at
// most nine digits, and an "s". It reports false for what is no such text and
// for what is not positive.
func duration(s string) (time.Duration, bool) {
	const fraction = 9 // digits: nanoseconds
	s, ok := strings.CutSuffix(s, "s")
	whole, part, dotted := strings.Cut(s, ".")
	if !ok || !digits(whole) || dotted && (!digits(part) || len(part) > fraction) {
		return 0, false
	}
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds >= int64(MaxRetryDelay/time.Second) {
		return MaxRetryDelay, true // too large even for a number
	}
	nanos, err := strconv.Atoi((part + "000000000")[:fraction])
	if err != nil {
		return 0, false
	}
	wait := time.Duration(seconds)*time.Second + time.Duration(nanos)
	return wait, wait > 0
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
