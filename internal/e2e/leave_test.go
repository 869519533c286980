package e2e

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const leaveRest = `
models:
  m: {deployments: [a, b]}
  far: {deployments: [hole, b]}
router: {selection: priority, retry_policy: {max_attempts: 3, timeout_seconds: 60, failure_threshold: 1, cooldown_seconds: 60}}
timeouts: {connect: 2s}
`

// TestClientsLeave hangs up in every phase of a request: the upstream's
// connection closes at once, nobody else is called, and nothing is held against
// the upstream or changed for the session.
func TestClientsLeave(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	hole := fmt.Sprintf("providers:\n  hole: {protocol: openai, base_url: \"http://%s/v1\", auth: none}\n", blackHole(t))
	gw := gateway(t, write(t, "g.yaml", strings.Replace(sim.config(leaveRest), "providers:\n", hole, 1)), t.TempDir())
	l := &leavers{sim: sim, gw: gw, clients: newCaller(t, gw, 100), batch: 10}
	if got := askBody(t, gw, say("b/m", "I am at b", false), "X-Gatewright-Session", "at b"); got != "b/m" {
		t.Fatalf("served by %s", got)
	}
	for _, phase := range []struct {
		name string
		run  func(t *testing.T, stream bool) []time.Duration
	}{
		{"while sending", l.sending},
		{"while connecting", l.connecting},
		{"before the headers", l.waiting("always: silent", 0)},
		{"before the first token", l.waiting("always: stall-after-headers", 0)},
		{"in the middle of the answer", l.waiting("always: {fault: stall, after: 3}", 3)},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", phase.name, stream), func(t *testing.T) {
				var took []time.Duration
				for range either(1, 10) {
					took = append(took, phase.run(t, stream)...)
				}
				figures := spreadOf(took)
				if len(took) > 0 {
					t.Logf("%d clients left, their calls were over after %+v", len(took), figures)
				}
				if limit := time.Second; figures.Max > limit { // the goal is 100 ms, on a machine of its own
					t.Errorf("a call was over after %s, want at most %s", figures.Max, limit)
				}
				l.unharmed(t)
			})
		}
	}
	// The hole was left alone by none of those who gave up on it.
	got := l.clients.chat(t.Context(), say("far", "still there?", false), nil)
	if got.deployment != "b/far" || got.attempts != "2" {
		t.Errorf("%v after %s attempts, want b/far after 2: the circuit is closed", got, got.attempts)
	}
}

// leavers are clients that hang up, some at a time.
type leavers struct {
	sim     simulator
	gw      *process
	clients *caller
	batch   int
}

// unharmed checks that the next requests go where they would have gone.
func (l *leavers) unharmed(t *testing.T) {
	t.Helper()
	l.sim.behave("a", "{}")
	l.sim.behave("b", "{}")
	if got := l.sim.during(func() { _ = ask(t, l.gw) }); got != "a:1" {
		t.Errorf("the next request = %s, want a", got)
	}
	if got := ask(t, l.gw, "X-Gatewright-Session", "at b"); got != "b/m" {
		t.Errorf("the session went to %s, it was at b", got)
	}
}

// sending leaves in the middle of the request.
func (l *leavers) sending(t *testing.T, stream bool) []time.Duration {
	t.Helper()
	body := say("m", "never to be read", stream)
	if calls := l.sim.during(func() {
		for range l.batch {
			conn := dial(t, l.gw.address)
			_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", l.gw.head(), len(body), body[:len(body)/2])
			_ = conn.Close()
		}
		_ = ask(t, l.gw)
	}); calls != "a:1" {
		t.Errorf("calls = %s, want those of whole requests alone", calls)
	}
	return nil // there is no call that could be over
}

// connecting leaves while the upstream takes no connection. The gateway's log
// tells when a request is over.
func (l *leavers) connecting(t *testing.T, stream bool) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var over []time.Time
	l.gw.listen(func(line string, _ map[string]any) {
		if strings.Contains(line, `"cancelled":true`) && strings.Contains(line, `"model":"far"`) {
			mu.Lock()
			over = append(over, time.Now())
			mu.Unlock()
		}
	})
	defer l.gw.listen(nil)
	var left time.Time
	if calls := l.sim.during(func() {
		left = l.leave(t, "far", stream, func(*atomic.Int64) { wait(t, time.Now().Add(300*time.Millisecond)) }, 0)
		eventually(t, 10*time.Second, "every request is over", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(over) == l.batch
		})
	}); calls != "" {
		t.Errorf("calls = %s, want none", calls)
	}
	took := make([]time.Duration, 0, l.batch)
	for _, at := range over {
		took = append(took, at.Sub(left))
	}
	return took
}

// waiting returns a phase in which the upstreams have the request and say no
// more. Each client leaves after so many events of a stream. The session's
// request is at b, the others are at a.
func (l *leavers) waiting(behaviour string, events int) func(t *testing.T, stream bool) []time.Duration {
	return func(t *testing.T, stream bool) []time.Duration {
		t.Helper()
		l.sim.behave("a", behaviour)
		l.sim.behave("b", behaviour)
		var left time.Time
		calls := l.sim.during(func() {
			left = l.leave(t, "m", stream, func(read *atomic.Int64) {
				eventually(t, 10*time.Second, "every request is in this phase", func() bool {
					s := l.sim.state()
					return s["a"].InFlight == l.batch-1 && s["b"].InFlight == 1 && (!stream || read.Load() == int64(l.batch*events))
				})
			}, events)
			eventually(t, 10*time.Second, "every call is over", func() bool {
				s := l.sim.state()
				return s["a"].InFlight+s["b"].InFlight == 0
			})
		})
		if want := fmt.Sprintf("a:%d b:1", l.batch-1); calls != want {
			t.Errorf("calls = %s, want %s", calls, want)
		}
		var took []time.Duration
		for name, n := range map[string]int{"a": l.batch - 1, "b": 1} {
			requests := l.sim.seen(name).Requests
			for _, r := range requests[len(requests)-n:] {
				if !r.Cancelled {
					t.Errorf("%s was not left: %+v", name, r)
				}
				took = append(took, r.Time.Add(time.Duration(r.DurationMS*float64(time.Millisecond))).Sub(left))
			}
		}
		return took
	}
}

// leave sends a batch of requests, waits until they are where they are to be
// left, and hangs up all of them. It returns when.
func (l *leavers) leave(t *testing.T, model string, stream bool, reached func(read *atomic.Int64), events int) (left time.Time) {
	t.Helper()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	var read atomic.Int64
	var running sync.WaitGroup
	for i := range l.batch {
		session := "at b"
		if i > 0 {
			session = strconv.FormatInt(questions.Add(1), 10)
		}
		running.Go(func() {
			got := l.clients.chat(ctx, say(model, session, stream), func(int) { read.Add(1) }, "X-Gatewright-Session", session)
			if got.served() || got.code != "" || (events > 0 && stream && got.chunks != events) {
				t.Errorf("the client got %v", got)
			}
		})
	}
	reached(&read)
	left = time.Now()
	hangUp()
	running.Wait()
	return left
}

// blackHole is an address that neither takes a connection nor refuses one: its
// queue is full, and nobody accepts.
func blackHole(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	inet, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		t.Fatalf("listens at %T", name)
	}
	address := fmt.Sprintf("127.0.0.1:%d", inet.Port)
	for range 16 { // Linux takes one or two
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("this system takes every connection")
	return ""
}
