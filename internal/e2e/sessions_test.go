package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const sessionRest = `
models:
  m: {deployments: [a, b, c, d]}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 1, cooldown_seconds: 60}
  models:
    m: {providers: {a: {weight: 400}, b: {weight: 300}, c: {weight: 200}, d: {weight: 100}}}
`

// TestSessions: each session keeps its deployment over turns, a restart and a
// change of weights; weight 0 moves it.
func TestSessions(t *testing.T) {
	sim := simulate(t)
	path, dir := write(t, "g.yaml", sim.config(sessionRest)), t.TempDir()
	gw := gateway(t, path, dir)
	const sessions = 60
	first := map[string]string{}
	for i := range sessions {
		name := fmt.Sprintf("s%d", i)
		first[name] = ask(t, gw, "X-Gatewright-Session", name)
	}
	same := func(when string) {
		t.Helper()
		for name, want := range first {
			if got := ask(t, gw, "X-Gatewright-Session", name); got != want {
				t.Errorf("%s: session %s moved from %s to %s", when, name, want, got)
			}
		}
	}
	same("next turn")
	if code := gw.stop(); code != 0 {
		t.Errorf("exit status after SIGTERM = %d, want 0\n%s", code, gw.log())
	}
	gw = gateway(t, path, dir)
	same("after a restart")
	reload(t, gw, path, sim.config(strings.ReplaceAll(sessionRest, "a: {weight: 400}", "a: {weight: 4000}")))
	same("after a change of weights")
	reload(t, gw, path, sim.config(strings.ReplaceAll(sessionRest, "a: {weight: 400}", "a: {weight: 0}")))
	for name, was := range first {
		got := ask(t, gw, "X-Gatewright-Session", name)
		if got == "a/m" || (was != "a/m" && got != was) {
			t.Errorf("weight 0 at a: session %s went from %s to %s", name, was, got)
		}
	}
}

// conversations are sessions and who served each of them last.
type conversations struct {
	t      *testing.T
	gw     *process
	served map[string]string
}

// turn asks in every session. Those that were at from must move, and no other
// one; from "" = none may.
func (c *conversations) turn(when, from string) {
	c.t.Helper()
	moved := 0
	for name, was := range c.served {
		got := ask(c.t, c.gw, "X-Gatewright-Session", name)
		switch {
		case !strings.HasSuffix(got, "/m"):
			c.t.Errorf("%s: session %s got %s", when, name, got)
		case was == from && got == from, was != from && got != was:
			c.t.Errorf("%s: session %s was at %s and is at %s", when, name, was, got)
		case got != was:
			moved++
		}
		c.served[name] = got
	}
	if from != "" && moved == 0 {
		c.t.Errorf("%s: no session was at %s, so nothing was tested", when, from)
	}
}

// TestSessionMoves moves sessions for every reason there is, and for none that
// is not: a disabled provider, a cooldown and an open circuit move those that
// were there, and the end of the reason moves nobody back.
func TestSessionMoves(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	config := sim.config(strings.Replace(sessionRest, "cooldown_seconds: 60", "cooldown_seconds: 1", 1))
	path := write(t, "g.yaml", config)
	c := &conversations{t: t, gw: gateway(t, path, t.TempDir()), served: map[string]string{}}
	for i := range 80 {
		name := fmt.Sprintf("s%d", i)
		c.served[name] = ask(t, c.gw, "X-Gatewright-Session", name)
	}
	c.turn("next turn", "")

	off := strings.Replace(config, "/b/v1\", auth: none", "/b/v1\", auth: none, enabled: false", 1)
	reload(t, c.gw, path, off)
	c.turn("b is disabled", "b/m")
	reload(t, c.gw, path, config)
	c.turn("b is enabled again", "")

	sim.behave("c", `script: [{fault: http-429, retry_after: "2"}]`)
	if got := askBody(t, c.gw, say("c/m", "to c alone", false)); got != "429 rate_limit_exceeded" {
		t.Errorf("c is to be limited: %s", got)
	}
	cooled := time.Now()
	c.turn("c cools down", "c/m")
	wait(t, cooled.Add(2200*time.Millisecond))
	c.turn("the cooldown is over", "")

	sim.behave("d", "always: http-500")
	if got := askBody(t, c.gw, say("d/m", "to d alone", false)); got != "500 upstream_error" {
		t.Errorf("d is to fail: %s", got)
	}
	opened := time.Now()
	c.turn("d's circuit is open", "d/m")
	sim.behave("d", "{}")
	wait(t, opened.Add(1200*time.Millisecond))
	c.turn("the circuit is half open", "")
	reload(t, c.gw, path, strings.Replace(config, "models:\n", "models:\n  another: {deployments: [a]}\n", 1))
	c.turn("another model", "")
	// The caller's own error says nothing about a.
	sim.behave("a", "script: [{times: 3, fault: http-400}]")
	for range 3 {
		_ = askBody(t, c.gw, say("a/m", "wrong", false))
	}
	c.turn("errors of callers", "")
}

// TestPreferredIsNotUsable: a session whose deployment is disabled, or fails, is
// served by another one and stays there.
func TestPreferredIsNotUsable(t *testing.T) {
	sim := simulate(t)
	config := sim.config(strings.Replace(threeRest, "failure_threshold: 3", "failure_threshold: 0", 1))
	path := write(t, "g.yaml", config)
	gw := gateway(t, path, t.TempDir())
	turn := func(session, want, calls string) {
		t.Helper()
		if got := sim.during(func() {
			if got := ask(t, gw, "X-Gatewright-Session", session); got != want {
				t.Errorf("session %s: served by %s, want %s", session, got, want)
			}
		}); got != calls {
			t.Errorf("session %s: calls = %s, want %s", session, got, calls)
		}
	}
	turn("one", "a/m", "a:1")
	turn("two", "a/m", "a:1")
	reload(t, gw, path, strings.Replace(config, "/a/v1\", auth: none", "/a/v1\", auth: none, enabled: false", 1))
	turn("one", "b/m", "b:1")
	reload(t, gw, path, config)
	turn("one", "b/m", "b:1")
	sim.behave("a", "always: http-500")
	turn("two", "b/m", "a:1 b:1")
	sim.behave("a", "{}")
	turn("two", "b/m", "b:1")
}

// TestSessionDrawIsStable: without a success the order of a session is that of
// its draw, which stays.
func TestSessionDrawIsStable(t *testing.T) {
	sim := simulate(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		sim.behave(name, "always: {fault: http-400, body: '{\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\"}}'}")
	}
	path, dir := write(t, "g.yaml", sim.config(sessionRest)), t.TempDir()
	order := func(gw *process) string {
		return sim.during(func() {
			for i := range 20 { // client errors: nothing is remembered
				_ = ask(t, gw, "X-Gatewright-Session", fmt.Sprintf("s%d", i))
			}
		})
	}
	gw := gateway(t, path, dir)
	one := order(gw)
	two := order(gw)
	gw.kill()
	three := order(gateway(t, path, dir))
	if one != two || one != three {
		t.Errorf("first calls of 20 sessions: %s, then %s, after a restart %s; want the same", one, two, three)
	}
}
