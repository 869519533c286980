package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// crashModels have a as their first deployment, and a answers 429 with a time.
// Model s is for the sessions.
const crashModels = 40

func crashRest() string {
	var b strings.Builder
	b.WriteString(`router:
  selection: priority
  retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}
  models:
    s: {selection: balanced}
`)
	b.WriteString("models:\n  s: {deployments: [c, d]}\n")
	for i := range crashModels {
		fmt.Fprintf(&b, "  m%d: {deployments: [a, b]}\n", i)
	}
	return b.String()
}

// durable is how old something must be that no kill may take: the store commits
// a cooldown as soon as its writer is free, and a session within a tenth of a
// second.
const durable = 500 * time.Millisecond

// hold is a cooldown as a client was told of it.
type hold struct {
	seen time.Time // first
	ends time.Time // by Retry-After, whole seconds rounded up
}

// crash is a gateway that is killed again and again.
type crash struct {
	t         *testing.T
	sim       simulator
	path, dir string
	gw        *process
	clients   *caller
	dice      *rand.Rand
	ready     []time.Duration
	sent      int

	mu    sync.Mutex
	holds map[int]hold // by number of the model
	kept  int          // comparisons that were right
	young int          // cooldowns that were lost and younger than durable
}

// TestKillsUnderLoad kills the gateway at any moment: its file is clean, it is
// ready again at once, and what was known for a moment is still known: cooldowns
// with their end, sessions with their deployment.
func TestKillsUnderLoad(t *testing.T) {
	n := seed(t)
	sim := simulate(t)
	c := &crash{t: t, sim: sim, path: write(t, "g.yaml", sim.config(crashRest())), dir: t.TempDir(), dice: dice(n, 2), holds: map[int]hold{}}
	c.start()
	sessions := c.moveSessions(60)
	sim.behave("a", `fail: {rate: 100%, with: [{fault: http-429, retry_after: "4"}, {fault: http-429, retry_after: "9"}, {fault: http-429, retry_after: "30"}]}`)
	rounds := either(15, 1000)
	for round := range rounds {
		c.load(time.Duration(20+c.dice.IntN(1000)) * time.Millisecond)
		if round%5 == 4 { // while it opens
			early := c.launch()
			wait(t, time.Now().Add(time.Duration(c.dice.IntN(40))*time.Millisecond))
			early.kill()
		}
		if status, out := runBinary(t, "store", "check", c.dir); status != 0 {
			t.Fatalf("round %d: the file is not clean: exit status %d\n%s", round, status, out)
		}
		c.start()
		c.compare(round)
		for _, name := range sessions {
			if got := askBody(t, c.gw, say("s", name, false), "X-Gatewright-Session", name); got != "d/s" {
				t.Fatalf("round %d: session %s went to %s, it was at d", round, name, got)
			}
		}
	}
	ready := spreadOf(c.ready)
	t.Logf("%d kills under load (%d requests): every file clean, %d times a cooldown was found again, %d lost of those younger than %s, %d sessions kept, ready after %+v",
		rounds+rounds/5, c.sent, c.kept, c.young, durable, len(sessions), ready)
	if limit := 5 * time.Second; ready.P90 > limit { // the goal is one second, on a machine of its own
		t.Errorf("ready after %s, want at most %s: one in ten may wait for a disk that others use", ready.P90, limit)
	}
	if c.sent == 0 || c.kept == 0 {
		t.Error("nothing was under way when the kills came")
	}
}

// launch starts the process and waits for nothing.
func (c *crash) launch() *process {
	c.t.Helper()
	return launch(c.t, "serve", "--config", c.path, "--data-dir", c.dir)
}

// start runs the gateway until it is ready.
func (c *crash) start() {
	c.t.Helper()
	began := time.Now()
	c.gw = gateway(c.t, c.path, c.dir)
	eventually(c.t, 10*time.Second, "ready", func() bool { return status(c.t, c.gw.url("/readyz")) == http.StatusOK })
	c.ready = append(c.ready, time.Since(began))
	c.clients = newCaller(c.t, c.gw, 16)
}

// moveSessions makes sessions that d has served although some would draw c.
func (c *crash) moveSessions(n int) (names []string) {
	c.sim.behave("c", "always: http-500")
	for i := range n {
		names = append(names, fmt.Sprintf("session-%d", i))
		if got := askBody(c.t, c.gw, say("s", names[i], false), "X-Gatewright-Session", names[i]); got != "d/s" {
			c.t.Fatalf("served by %s, want d/s", got)
		}
	}
	c.sim.behave("c", "{}")
	wait(c.t, time.Now().Add(durable))
	return names
}

// load asks for models from all sides, and kills the gateway after some time.
func (c *crash) load(length time.Duration) {
	var workers sync.WaitGroup
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	for range 8 {
		pick := dice(c.dice.Uint64(), 3)
		workers.Go(func() {
			for sent := 0; ; sent++ {
				text := strconv.FormatUint(pick.Uint64(), 10)
				got := c.clients.chat(ctx, say(fmt.Sprintf("m%d", pick.IntN(crashModels)), text, false), nil)
				if got.status != http.StatusOK {
					c.mu.Lock()
					c.sent += sent
					c.mu.Unlock()
					return
				}
			}
		})
	}
	workers.Go(func() { // one looks at what holds
		for ctx.Err() == nil {
			for i := range crashModels {
				if h, ok := c.look(ctx, i); ok {
					c.note(i, h)
				}
			}
		}
	})
	wait(c.t, time.Now().Add(length))
	c.gw.kill()
	stop()
	workers.Wait()
}

// look asks a alone for a model. While a cools down for it, the gateway says for
// how long and calls nobody.
func (c *crash) look(ctx context.Context, model int) (hold, bool) {
	asked := time.Now()
	got := c.clients.chat(ctx, say(fmt.Sprintf("a/m%d", model), "how long?", false), nil)
	seconds, err := strconv.Atoi(got.retryAfter)
	if got.code != "all_candidates_cooling" || err != nil {
		return hold{}, false
	}
	return hold{seen: time.Now(), ends: asked.Add(time.Duration(seconds) * time.Second)}, true
}

// note keeps the first sight of a cooldown.
func (c *crash) note(model int, h hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.holds[model]; !ok || old.ends.Before(h.seen) {
		c.holds[model] = h
	}
}

// compare looks for each cooldown that must still hold.
func (c *crash) compare(round int) {
	c.t.Helper()
	killed := time.Now().Add(-c.ready[len(c.ready)-1])
	for model, was := range c.holds {
		const rounding = 1500 * time.Millisecond
		if time.Until(was.ends) < rounding {
			delete(c.holds, model)
			continue
		}
		before := c.sim.calls()["a"]
		now, ok := c.look(c.t.Context(), model)
		late := now.ends.Sub(was.ends).Abs()
		switch {
		case ok && late <= rounding && c.sim.calls()["a"] == before:
			c.kept++
			continue
		case killed.Sub(was.seen) < durable:
			c.young++
		default:
			c.t.Errorf("round %d: a cooldown for m%d that ends in %s was seen %s before the kill, and now: %v, off by %s",
				round, model, time.Until(was.ends), killed.Sub(was.seen), ok, late)
		}
		delete(c.holds, model)
	}
}
