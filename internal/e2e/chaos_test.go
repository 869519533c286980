package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What can be wrong with an answer, as the simulator names it, by what a client
// may see of it.
const (
	// Nothing: another upstream answers in its place.
	beforeContent = `http-500, http-502, {fault: http-503, body: "<html>down</html>", headers: {Content-Type: text/html}}, http-504, http-520,
      http-529, http-429, http-401, http-404, http-408, http-307, http-204, close, reset, reset-after-headers, not-http, header-malformed,
      headers-many, header-huge, empty, error-200, {fault: error-200, code: 429}, choices-null, choices-empty, choices-missing, not-object,
      html, invalid-json, truncated-json, nan-json, gzip-mislabeled, gzip-unlabeled, encoding-unknown, error-first, role-then-error,
      eof-no-events, done-only, eof-after-role, silent, stall-after-headers, {fault: comments-only, delay: 100ms}`
	// In a stream, an error in band behind a part of the answer.
	afterContent = `reset-mid-body, no-last-chunk, bad-chunk, length-too-long, eof-after-content, content-then-error,
      {fault: content-then-error, code: 429}, gzip-truncated, gzip-corrupt, stall, {fault: reset-mid-body, after: 12}, {fault: malformed-event}`
	// Nothing: the answer is whole.
	harmless = `gzip, deflate, br, zstd, sse-crlf, sse-cr, sse-no-space, sse-multiline, sse-comments, sse-fields, sse-bom, byte-writes, split-writes,
      no-done, stall-after-finish, after-done, close-on-reuse, close-delimited, trailers, usage-repeated, usage-on-finish, role-repeated, prelude,
      json-for-stream, sse-for-json`
)

// chaosScript is five upstreams that say what they are asked to. One never
// fails; the last is the one whose 429 names a time.
func chaosScript(seed uint64, healthy int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed: %d\nupstreams:\n", seed)
	for i := range 5 {
		fmt.Fprintf(&b, "  u%d:\n    answer: {echo: true}\n    latency: {first_token: 3ms, per_token: 300us, jitter: 50%%}\n", i)
		with := strings.Join([]string{beforeContent, beforeContent, afterContent, harmless}, ",\n      ")
		switch i {
		case healthy:
			fmt.Fprintf(&b, "    fail: {rate: 30%%, with: [%s]}\n", harmless)
			continue
		case (healthy + 1) % 5:
			with += `, {fault: http-429, retry_after: "1"}`
		}
		fmt.Fprintf(&b, "    fail:\n      rate: 50%%\n      with: [%s]\n", with)
	}
	return b.String()
}

// Affinity would take every session to the upstream that never fails; without it
// the draw goes on sending them to all five.
const chaosRest = `
models:
  m: {deployments: [u0, u1, u2, u3, u4]}
timeouts: {connect: 2s, first_token: 2s, idle: 1s, answer: 3s, request: 60s}
router:
  retry_policy: {max_attempts: 2, timeout_seconds: 2, failure_threshold: 12, cooldown_seconds: 1}
session: {affinity: off}
`

// chaos is one run of the soak.
type chaos struct {
	mu        sync.Mutex
	requests  int
	streams   int
	whole     int
	cut       int      // flagged in band
	failed    int      // before content
	truncated []string // looked whole and was not
	garbled   []string // not the beginning of what it should have been
	unflagged []string // ended without a word
	took      []time.Duration
	rss       []int64 // of the gateway, at even distances

	lines   int // of the gateway's log that tell of a request
	longest int // of them, in bytes

	unserved []string // lines of requests that nobody served
}

// judge sorts one reply by what it should have been.
func (c *chaos) judge(r *reply, want string, stream bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.took = append(c.took, r.took)
	if stream {
		c.streams++
	}
	if !strings.HasPrefix(want, r.text) {
		c.garbled = append(c.garbled, fmt.Sprintf("%v: %q, want %q", r, r.text, want))
		return
	}
	switch {
	case r.served() && r.done == stream:
		c.whole++
		if r.text != want {
			c.truncated = append(c.truncated, fmt.Sprintf("%v: %q, want %q", r, r.text, want))
		}
	case r.status != 200:
		c.failed++
	case r.code != "" && r.broken == nil && !r.done && r.finish == "":
		c.cut++
	default:
		c.unflagged = append(c.unflagged, r.String())
	}
}

// TestChaos holds traffic against upstreams of which one in three answers is
// faulty: clients see no failure, and no answer is cut, doubled or mixed up
// without being told.
func TestChaos(t *testing.T) {
	n := seed(t)
	rate, length := either(100, 300), either(20*time.Second, 30*time.Minute)
	if text := os.Getenv("GATEWRIGHT_SOAK_TIME"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("GATEWRIGHT_SOAK_TIME: %v", err)
		}
	}
	names := []string{"u0", "u1", "u2", "u3", "u4"}
	sim := simulateScript(t, chaosScript(n, int(n%5)), names...)
	path := write(t, "g.yaml", sim.config(chaosRest))
	idle := gateway(t, path, t.TempDir()).goroutines(t)
	gw := gateway(t, path, t.TempDir())
	began := gw.usage(t)

	c := &chaos{}
	gw.listen(c.read)
	clients := newCaller(t, gw, 4*rate)
	c.run(t, gw, clients, n, rate, length)
	clients.client.CloseIdleConnections()
	c.report(t, sim, rate, length)
	c.settle(t, gw, sim, began, idle, length)
}

// run sends requests at a fixed rate, whether or not answers come.
func (c *chaos) run(t *testing.T, gw *process, clients *caller, seed uint64, rate int, length time.Duration) {
	t.Helper()
	r := dice(seed, 1)
	began := time.Now()
	var running sync.WaitGroup
	defer running.Wait()
	total := int(length.Seconds() * float64(rate))
	measure := max(total/200, 1)
	for i := range total {
		wait(t, began.Add(time.Duration(i)*time.Second/time.Duration(rate)))
		if i%measure == 0 {
			c.rss = append(c.rss, gw.usage(t).rss)
		}
		text, stream, session := sentence(r, i), r.IntN(2) == 0, fmt.Sprintf("s%d", r.IntN(1000))
		running.Go(func() {
			got := clients.chat(t.Context(), say("m", text, stream), nil, "X-Gatewright-Session", session)
			c.judge(got, text, stream)
		})
	}
}

// read looks at a line of the gateway's log.
func (c *chaos) read(line string, entry map[string]any) {
	if entry["msg"] != "request" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines++
	c.longest = max(c.longest, len(line))
	if result, _ := entry["result"].(map[string]any); result["status"] != float64(200) {
		c.unserved = newest(append(c.unserved, line))
	}
}

// sentence is a text of 20 to 60 words that no other request has.
func sentence(r *rand.Rand, number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "request %d says", number)
	for range 20 + r.IntN(41) {
		fmt.Fprintf(&b, " %x", r.Uint32())
	}
	return b.String()
}

// report prints the figures with the load that was held, and fails the test for
// what no client may see.
func (c *chaos) report(t *testing.T, sim simulator, rate int, length time.Duration) {
	t.Helper()
	calls, faulty := 0, 0
	for _, u := range sim.state() {
		calls += u.Calls
		for name, n := range u.Faults {
			if !strings.Contains(harmless, name) {
				faulty += n
			}
		}
	}
	t.Logf("held %d requests/s for %s: %d requests, half streams (%d), %d upstream answers of which %.1f %% faulty",
		rate, length, c.requests, c.streams, calls, 100*float64(faulty)/float64(calls))
	t.Logf("whole %d, failed before content %d (%.3f %%), cut and told %d, took %+v",
		c.whole, c.failed, 100*float64(c.failed)/float64(c.requests), c.cut, spreadOf(c.took))
	eventually(t, 10*time.Second, "every request is in the log", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.lines == c.requests
	})
	for _, line := range c.unserved[:min(len(c.unserved), 5)] {
		t.Logf("failed before content: %s", line)
	}
	if most := 10 << 10; c.longest > most {
		t.Errorf("a line of the log has %d bytes, want at most %d", c.longest, most)
	}
	if share := float64(faulty) / float64(calls); share < 0.25 {
		t.Errorf("only %.1f %% of the upstream answers were faulty: this is no chaos", 100*share)
	}
	if c.failed*1000 > c.requests {
		t.Errorf("%d of %d requests failed before content, want at most 0.1 %%", c.failed, c.requests)
	}
	for what, list := range map[string][]string{"truncated successes": c.truncated, "garbled answers": c.garbled, "cuts without a word": c.unflagged} {
		if len(list) > 0 {
			t.Errorf("%d %s; the first: %s", len(list), what, list[0])
		}
	}
	if c.cut == 0 {
		t.Error("no stream was cut: the faults did not reach the clients' streams")
	}
}

// settle checks that the load leaves nothing behind.
func (c *chaos) settle(t *testing.T, gw *process, sim simulator, began usage, idle int, length time.Duration) {
	t.Helper()
	if !soak() {
		sim.kill() // the gateway's idle connections would stay for most of a minute
	}
	const tolerated = 5
	var now usage
	for over := time.Now().Add(time.Minute); ; wait(t, time.Now().Add(100*time.Millisecond)) {
		if now = gw.usage(t); now.fds <= began.fds || time.Now().After(over) {
			break
		}
	}
	if now.fds > began.fds+tolerated {
		t.Errorf("%d descriptors after the load, %d before", now.fds, began.fds)
	}
	warm := typical(c.rss[len(c.rss)/4 : len(c.rss)/2])
	left := gw.goroutines(t)
	t.Logf("began with %v, warm with %.1f MiB, now %v; goroutines %d idle, %d after the load",
		began, float64(warm)/(1<<20), now, idle, left)
	if left > idle+tolerated {
		t.Errorf("%d goroutines after the load, %d in an idle gateway\n%s", left, idle, gw.log())
	}
	if most := int64(64 << 20); now.rss > warm+most {
		t.Errorf("memory grew from %d to %d bytes, want at most %d more", warm, now.rss, most)
	}
	// The last third of the run against the one before it.
	third := len(c.rss) / 3
	span := length / 3
	if span < 5*time.Minute {
		return // the collector's ups and downs are more than any drift
	}
	drift := float64(typical(c.rss[2*third:])-typical(c.rss[third:2*third])) / (1 << 20) * float64(10*time.Minute) / float64(span)
	t.Logf("memory drifts by %.2f MiB in 10 minutes", drift)
	if drift > 2 {
		t.Errorf("memory drifts by %.2f MiB in 10 minutes, want less than 2", drift)
	}
}

// typical is the median of what the gateway held.
func typical(held []int64) int64 {
	held = slices.Sorted(slices.Values(held))
	return held[len(held)/2]
}
