package fake

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of what a script may ask for: they keep a slip of the pen from taking
// the machine's memory or time.
const (
	maxTokens     = 1_000_000
	maxTimes      = 1_000_000_000
	maxDimensions = 65_536
	maxSize       = 16 << 30
	maxCount      = 1_000_000
	maxDelay      = 24 * time.Hour
)

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")

var upstreamName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// problem is one thing wrong with a script: where, and what to write instead.
type problem struct {
	path string
	text string
}

// Error implements error.
func (p problem) Error() string {
	if p.path == "" {
		return p.text
	}
	return p.path + ": " + p.text
}

// checker collects problems.
type checker struct {
	found []problem
}

func (c *checker) add(path, format string, args ...any) {
	c.found = append(c.found, problem{path: path, text: fmt.Sprintf(format, args...)})
}

// need adds a problem unless ok holds.
func (c *checker) need(ok bool, path, format string, args ...any) {
	if !ok {
		c.add(path, format, args...)
	}
}

func (c *checker) wait(path string, d time.Duration) {
	c.need(d >= 0 && d <= maxDelay, path, "%s is out of bounds; write a duration from 0s to %s", d, maxDelay)
}

func (c *checker) number(path string, n, limit int) {
	c.need(n >= 0 && n <= limit, path, "%d is out of bounds; write a number from 0 to %d", n, limit)
}

func (c *checker) rate(path string, ppm int64) {
	c.need(ppm >= 0 && ppm <= Million, path, "out of bounds; write a share from 0 to 1, or from 0%% to 100%%")
}

func (c *checker) joined() error {
	errs := make([]error, len(c.found))
	for i, p := range c.found {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Validate returns every problem of the script, joined, each with its path; nil
// when there is none.
func (s *Script) Validate() error {
	var c checker
	s.check(&c)
	return c.joined()
}

func (s *Script) check(c *checker) {
	c.need(len(s.Upstreams) > 0, "upstreams", "none given; name at least one")
	for _, name := range slices.Sorted(maps.Keys(s.Upstreams)) {
		path := "upstreams." + name
		c.need(upstreamName.MatchString(name), path,
			"the name %q cannot stand in a path; use letters, digits, '.', '-' and '_', beginning with a letter or a digit", name)
		b := s.Upstreams[name]
		b.check(c, path+".")
	}
}

// Validate returns every problem of the behaviour, joined, each with its path;
// nil when there is none.
func (b *Behaviour) Validate() error {
	var c checker
	b.check(&c, "")
	return c.joined()
}

// check adds the problems of b, their paths beginning with prefix.
func (b *Behaviour) check(c *checker, prefix string) {
	for i, m := range b.Models {
		c.need(m != "", fmt.Sprintf("%smodels[%d]", prefix, i), "a model's name is empty; leave models out to serve any")
	}
	b.Latency.check(c, prefix+"latency.")
	b.Answer.check(c, prefix+"answer.")
	b.Quota.check(c, prefix+"quota.")
	for i := range b.Script {
		path := fmt.Sprintf("%sscript[%d]", prefix, i)
		c.number(path+".times", b.Script[i].Times, maxTimes)
		b.Script[i].Fault.check(c, path, path+".fault")
	}
	c.need(!b.Repeat || len(b.Script) > 0, prefix+"repeat", "there is no script to repeat; add one or leave repeat out")
	if b.Always.Name != "" || !b.Always.plain() {
		b.Always.check(c, prefix+"always", prefix+"always")
	}
	c.rate(prefix+"fail.rate", b.Fail.Rate)
	for i := range b.Fail.With {
		path := fmt.Sprintf("%sfail.with[%d]", prefix, i)
		b.Fail.With[i].check(c, path, path)
	}
	c.need(b.Fail.Rate == 0 || len(b.Fail.With) > 0, prefix+"fail.with", "no faults to draw from; write for example [http-500, http-429]")
	for i, e := range b.FaultsOn {
		c.need(slices.Contains(allEndpoints(), e), fmt.Sprintf("%sfaults_on[%d]", prefix, i),
			"no endpoint %q; write one of %s", string(e), listing(allEndpoints()))
	}
}

func (l *Latency) check(c *checker, prefix string) {
	c.wait(prefix+"headers", l.Headers)
	c.wait(prefix+"first_token", l.FirstToken)
	c.wait(prefix+"per_token", l.PerToken)
	c.rate(prefix+"jitter", l.Jitter)
}

func (a *Answer) check(c *checker, prefix string) {
	c.number(prefix+"tokens", a.Tokens, maxTokens)
	c.number(prefix+"dimensions", a.Dimensions, maxDimensions)
	c.number(prefix+"usage.prompt", a.Usage.Prompt, maxCount*maxCount)
	c.number(prefix+"usage.completion", a.Usage.Completion, maxCount*maxCount)
	c.number(prefix+"usage.cached", a.Usage.Cached, maxCount*maxCount)
	c.number(prefix+"usage.cache_write", a.Usage.CacheWrite, maxCount*maxCount)
	c.number(prefix+"usage.reasoning", a.Usage.Reasoning, maxCount*maxCount)
	switch a.ToolCalls {
	case "", ToolsAuto, ToolsAll, ToolsNone:
	default:
		c.add(prefix+"tool_calls", "no such mode %q; write %s, %s or %s", string(a.ToolCalls), ToolsAuto, ToolsAll, ToolsNone)
	}
}

func (q *Quota) check(c *checker, prefix string) {
	c.number(prefix+"requests", q.Requests, maxTimes)
	c.number(prefix+"tokens", q.Tokens, maxCount*maxCount)
	c.number(prefix+"concurrent", q.Concurrent, maxCount)
	c.wait(prefix+"per", q.Per)
	limited := q.Requests > 0 || q.Tokens > 0
	c.need(!limited || q.Per > 0, prefix+"per", "missing; write the length of the window, for example 1m")
	c.need(limited || q.Per == 0, prefix+"per", "a window without a limit; add requests or tokens")
	c.need(limited || !q.Headers, prefix+"headers", "no limits to report; add requests or tokens")
	c.need(limited || !q.RetryAfter, prefix+"retry_after", "no window to wait for; add requests or tokens")
}

// check adds the problems of one fault: those of its parameters below path,
// those of its name at namePath.
func (f *Fault) check(c *checker, path, namePath string) {
	if f.Name == faultOK || f.Name == "" {
		c.need(f.Name != "", namePath, "missing; name a fault, or ok")
		for _, p := range f.given() {
			c.add(path+"."+p, "there is nothing to set: no fault is named")
		}
		return
	}
	def, ok := lookup(f.Name)
	if !ok {
		c.add(namePath, "no fault %q%s", f.Name, suggestion(f.Name, faultNames()))
		return
	}
	for _, p := range f.given() {
		c.need(slices.Contains(def.Params, p), path+"."+p, "%s does not take %s; it takes %s", f.Name, p, def.paramList())
	}
	for name := range f.Headers {
		c.need(headerName.MatchString(name), path+".headers."+name, "%q cannot be the name of a header", name)
	}
	if f.After != nil {
		c.number(path+".after", *f.After, maxTokens)
	}
	c.need(f.Size >= 0 && f.Size <= maxSize, path+".size", "%d is out of bounds; write a length from 0 to %dGiB", f.Size, maxSize>>30)
	c.number(path+".count", f.Count, maxCount)
	c.wait(path+".delay", f.Delay)
	c.need(f.Status == 0 || f.Status >= 200 && f.Status <= 599 && !bodiless(f.Status), path+".status",
		"%d is no status with a body; write 200 to 599, but not 204, 205 or 304", f.Status)
}

// given lists the parameters that are set, by their names in a script.
func (f *Fault) given() []string {
	var out []string
	for _, p := range []struct {
		name string
		set  bool
	}{
		{"after", f.After != nil},
		{"size", f.Size != 0},
		{"count", f.Count != 0},
		{"delay", f.Delay != 0},
		{"status", f.Status != 0},
		{"code", f.Code != ""},
		{"type", f.Type != ""},
		{"message", f.Message != ""},
		{"retry_after", len(f.RetryAfter) > 0},
		{"headers", len(f.Headers) > 0},
		{"body", f.Body != nil},
		{"location", f.Location != ""},
	} {
		if p.set {
			out = append(out, p.name)
		}
	}
	return out
}

// plain reports that no parameter is set.
func (f *Fault) plain() bool { return len(f.given()) == 0 }

// listing joins names for a message.
func listing[S ~string](names []S) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}

// suggestion names the known word nearest to a wrong one, when one is near.
func suggestion(wrong string, known []string) string {
	if len(wrong) > 64 {
		return ""
	}
	best, bestDist := "", len(wrong)/2+1
	for _, k := range known {
		if d := distance(wrong, k); d < bestDist {
			best, bestDist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is the Levenshtein distance of two short words, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
