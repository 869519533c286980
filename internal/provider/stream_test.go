package provider

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// play makes deployment a answer with the beats.
func (r *rig) play(beats ...beat) {
	r.adapters["a"].set(func(ctx context.Context, c *Call, _ int) (*Response, error) {
		return streamed(ctx, c, beats...), nil
	})
}

var twoModels = []shape{{name: "m", deployments: abc[:2], retry: engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 3, Cooldown: time.Minute, Timeout: 20 * time.Second}}}

// TestStream plays streams of deployment a; b is healthy.
func TestStream(t *testing.T) {
	const fromB = "hello|stop|DONE"
	long := strings.Repeat("x", 1<<20)
	cases := []struct {
		name      string
		beats     []beat
		body      string
		attempts  string
		truncated string // message of the error in band
		took      time.Duration
	}{
		{name: "good", beats: []beat{role(), content("x"), finish(), done()}, body: "role|x|stop|DONE", attempts: "a:ok"},
		{name: "finish without content", beats: []beat{role(), finish(), done()}, body: "role||stop|DONE", attempts: "a:ok"},
		{name: "slow but below the limits", beats: []beat{role().in(19 * time.Second), content("x").in(time.Second / 2), finish().in(59 * time.Second), done()}, body: "role|x: keep-alive\n\n: keep-alive\n\n: keep-alive\n\n|stop|DONE", attempts: "a:ok", took: 78500 * time.Millisecond},
		{name: "longer than every limit but moving", beats: many(100, 30*time.Second), attempts: "a:ok", took: 100 * 30 * time.Second},
		{name: "zero events", beats: []beat{eof()}, body: fromB, attempts: "a:server b:ok"},
		{name: "end right away", beats: []beat{done()}, body: fromB, attempts: "a:server b:ok"},
		{name: "role, then end of file", beats: []beat{role(), eof()}, body: fromB, attempts: "a:server b:ok"},
		{name: "role, then error", beats: []beat{role(), {err: limited30}}, body: fromB, attempts: "a:rate_limit_timed b:ok"},
		{name: "silent", beats: nil, body: fromB, attempts: "a:timeout b:ok", took: 20 * time.Second},
		{name: "role, then silence", beats: []beat{role().in(time.Second)}, body: fromB, attempts: "a:timeout b:ok", took: 20 * time.Second},
		{
			name: "content, then silence", beats: []beat{content("x")}, body: "x: keep-alive\n\n: keep-alive\n\n: keep-alive\n\n", attempts: "a:truncated",
			truncated: "the upstream stopped sending", took: 60 * time.Second,
		},
		{name: "content, then end of file", beats: []beat{content("x"), eof()}, body: "x", attempts: "a:truncated", truncated: "the upstream ended its stream before the answer was complete"},
		{name: "content, then reset", beats: []beat{content("x"), broken()}, body: "x", attempts: "a:truncated", truncated: "the upstream broke off its answer"},
		{name: "content, then error", beats: []beat{content("x"), {err: limited30}}, body: "x", attempts: "a:truncated", truncated: "slow down"},
		{name: "content, then done without finish", beats: []beat{content("x"), done()}, body: "x|DONE", attempts: "a:ok"},
		{name: "finish, then end of file", beats: []beat{content("x"), finish(), eof()}, body: "x|stop|TAIL", attempts: "a:ok"},
		{name: "finish, then reset", beats: []beat{content("x"), finish(), broken()}, body: "x|stop|TAIL", attempts: "a:ok"},
		{name: "finish, then silence", beats: []beat{content("x"), finish()}, body: "x|stop|TAIL", attempts: "a:ok", took: time.Second},
		{name: "finish, usage, silence", beats: []beat{content("x"), finish(), trailing().in(time.Second / 2)}, body: "x|stop|usage|TAIL", attempts: "a:ok", took: time.Second},
		{name: "finish taken back", beats: []beat{content("x"), finish(), content("y").in(time.Second / 2), finish().in(3 * time.Second), done()}, body: "x|stopy|stop|DONE", attempts: "a:ok", took: 3500 * time.Millisecond},
		{name: "panic before the commit", beats: []beat{role(), {panic: true}}, body: fromB, attempts: "a:server b:ok"},
		{name: "panic after it", beats: []beat{content("x"), {panic: true}}, body: "x", attempts: "a:truncated", truncated: "the upstream's answer could not be handled"},
		{name: "skipped event", beats: []beat{content("x"), {ev: Event{Skipped: true}}, finish(), done()}, body: "x|stop|DONE", attempts: "a:ok"},
		{name: "held up to the limit, then broken", beats: []beat{{ev: Event{Frame: []byte(long)}}, broken()}, body: fromB, attempts: "a:server b:ok"},
		{
			name: "held beyond the limit", beats: []beat{{ev: Event{Frame: []byte(long)}}, {ev: Event{Frame: []byte("x")}}, broken()},
			body: long + "x", attempts: "a:truncated", truncated: "the upstream broke off its answer",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{}, twoModels...)
				r.play(tc.beats...)
				began := time.Now()
				sink, d, err := r.ask(t.Context(), stream)
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				if got := attempts(d); got != tc.attempts {
					t.Errorf("attempts %q, want %q", got, tc.attempts)
				}
				if tc.body != "" {
					if diff := cmp.Diff(tc.body, sink.out.String()); diff != "" {
						t.Errorf("body (-want +got):\n%s", diff)
					}
				}
				if sink.commits != 1 || sink.flushed != sink.out.Len() {
					t.Errorf("%d commits, %d of %d bytes flushed", sink.commits, sink.flushed, sink.out.Len())
				}
				checkTruncated(t, r, d, err, tc.truncated)
			})
		})
	}
}

func checkTruncated(t *testing.T, r *rig, d *engine.Decision, err error, message string) {
	t.Helper()
	if message == "" {
		if err != nil || d.Result.Truncated {
			t.Errorf("error %v, result %+v", err, d.Result)
		}
		return
	}
	u := upstream(t, err)
	if !u.Committed || u.Code != engine.CodeUpstreamTruncated || u.Message != message {
		t.Errorf("error %+v, want one in band: %s", u, message)
	}
	if !d.Result.Truncated || d.Result.Usage != someUsage || d.Result.Deployment != "a" || d.Result.Status != 200 {
		t.Errorf("result %+v", d.Result)
	}
	if n := r.adapters["b"].count(); n != 0 {
		t.Errorf("b was called %d times after the commit", n)
	}
	if s := r.stats("a"); s.FailuresInRow != 1 || s.InFlight != 0 {
		t.Errorf("health %+v", s)
	}
}

// many is a stream of n pieces of content, each after a wait.
func many(n int, wait time.Duration) []beat {
	beats := make([]beat, 0, n+2)
	for range n {
		beats = append(beats, content("x").in(wait))
	}
	beats[0].after = 0
	return append(beats, finish().in(wait), done())
}

// TestFlush sees when the client gets what: at once before every wait, and
// together what came together.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{KeepAlive: 10 * time.Second}, twoModels...)
		r.play(
			role().in(time.Second), content("1").in(time.Second), content("2"), content("3").in(time.Second),
			content("4").in(25*time.Second), finish(), done())
		sink, _, err := r.ask(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"2s role|12", "3s 3", "13s : keep-alive\n\n", "23s : keep-alive\n\n", "28s 4|stop|DONE",
		}
		if diff := cmp.Diff(want, sink.flushes); diff != "" {
			t.Errorf("flushes (-want +got):\n%s", diff)
		}
		if sink.committed != 2*time.Second {
			t.Errorf("committed after %v", sink.committed)
		}
	})
}

// TestStreamTimes checks the times that the decision and health get.
func TestStreamTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, twoModels...)
		r.play(role().in(time.Second), content("1").in(time.Second), finish().in(3*time.Second)) // and no end
		_, d, err := r.ask(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		a := d.Attempts[0]
		if a.FirstByte != 2*time.Second || a.Duration != 5*time.Second || d.Upstream != 5*time.Second {
			t.Errorf("first byte %v, duration %v, upstream %v", a.FirstByte, a.Duration, d.Upstream)
		}
	})
}

// TestSlowClient takes longer than every limit to read: that is not the
// upstream's doing.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, twoModels...)
		r.play(content("1"), content("2"), finish().in(time.Second), done())
		sink := &recorder{began: time.Now(), slow: 5 * time.Minute}
		req := &engine.Request{ID: "r", Caller: &engine.Caller{}, Model: "m", Endpoint: engine.EndpointChat, Stream: true, Now: time.Now()}
		d, err := r.engine.Serve(t.Context(), r.snapshot, req, sink, time.Now)
		if err != nil || attempts(d) != "a:ok" {
			t.Errorf("got %s, %v", attempts(d), err)
		}
	})
}

// TestClientLeaves ends a request in each phase.
func TestClientLeaves(t *testing.T) {
	waiting := func(beats ...beat) script {
		return func(ctx context.Context, c *Call, _ int) (*Response, error) { return streamed(ctx, c, beats...), nil }
	}
	cases := []struct {
		name   string
		script script
		body   string
	}{
		{name: "before the headers", script: silent},
		{name: "before the first token", script: waiting(role())},
		{name: "in the middle", script: waiting(content("x")), body: "x"},
		{name: "after the finish", script: waiting(content("x"), finish().in(time.Second-1)), body: "x|stop"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{}, twoModels...)
				r.adapters["a"].set(tc.script)
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, nil)
				defer cancel()
				time.AfterFunc(time.Second, cancel)
				sink, d, err := r.ask(ctx, stream)
				if !errors.Is(err, context.Canceled) || !d.Result.Cancelled {
					t.Errorf("got %v, %+v", err, d.Result)
				}
				if got := sink.out.String(); got != tc.body {
					t.Errorf("body %q, want %q", got, tc.body)
				}
				if got := attempts(d); got != "a:cancelled" {
					t.Errorf("attempts %s", got)
				}
				if s := r.stats("a"); s.FailuresInRow != 0 || s.Failed != 0 || s.Succeeded != 0 || s.InFlight != 0 {
					t.Errorf("health %+v", s)
				}
			})
		})
	}
}

// TestClientCannotBeWritten treats a failing sink as a client that left.
func TestClientCannotBeWritten(t *testing.T) {
	for _, streams := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Options{}, twoModels...)
			sink := &recorder{began: time.Now(), failWrite: errors.New("broken pipe")}
			req := &engine.Request{ID: "r", Caller: &engine.Caller{}, Model: "m", Endpoint: engine.EndpointChat, Stream: streams, Now: time.Now()}
			d, err := r.engine.Serve(t.Context(), r.snapshot, req, sink, time.Now)
			if !errors.Is(err, context.Canceled) || attempts(d) != "a:cancelled" {
				t.Errorf("stream %v: got %s, %v", streams, attempts(d), err)
			}
			if s := r.stats("a"); s.FailuresInRow != 0 || s.InFlight != 0 {
				t.Errorf("health %+v", s)
			}
		})
	}
}

// TestKeepAliveFails ends the stream when a keep-alive cannot be written.
func TestKeepAliveFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, twoModels...)
		r.play(content("x"))
		sink := &recorder{began: time.Now(), failWrite: errors.New("broken pipe"), failAfter: 10 * time.Second}
		req := &engine.Request{ID: "r", Caller: &engine.Caller{}, Model: "m", Endpoint: engine.EndpointChat, Stream: true, Now: time.Now()}
		began := time.Now()
		d, err := r.engine.Serve(t.Context(), r.snapshot, req, sink, time.Now)
		if !errors.Is(err, context.Canceled) || attempts(d) != "a:cancelled" || time.Since(began) != 15*time.Second {
			t.Errorf("after %v: %s, %v", time.Since(began), attempts(d), err)
		}
	})
}

// TestWatchSetAnew does not end a wait whose timer was set for an earlier one.
func TestWatchSetAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		out := output{sink: &recorder{began: time.Now()}, clock: time.Now, began: time.Now()}
		w := watch{cancel: cancel, out: &out, alarms: new(alarms)}
		w.start(time.Second, errFirstToken)
		w.bound(time.Hour, errSettled)
		w.fire() // as the first setting would, were it on its way
		if ctx.Err() != nil {
			t.Fatalf("cancelled: %v", context.Cause(ctx))
		}
		<-time.After(time.Hour + 1)
		if !errors.Is(context.Cause(ctx), errSettled) {
			t.Errorf("after an hour: %v", context.Cause(ctx))
		}
		w.stop()
	})
}

// TestLateAlarm has the alarm of a watch that has stopped go off while the next
// one uses it: it neither ends that one's wait nor lets it pass.
func TestLateAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept alarms
		first := &watch{out: &output{clock: time.Now, began: time.Now()}, alarms: &kept, cancel: func(error) { t.Error("the first was cancelled") }}
		first.start(time.Minute, errAnswer)
		a := first.alarm
		first.stop()
		a.fire() // nobody's

		ctx, cancel := context.WithCancelCause(t.Context())
		out := output{sink: &recorder{began: time.Now()}, clock: time.Now, began: time.Now()}
		second := &watch{out: &out, alarms: &kept, cancel: cancel}
		second.alarm = a // as the pool may give it
		a.watch.Store(second)
		second.cause, second.due = errAnswer, time.Hour
		a.fire()
		if ctx.Err() != nil {
			t.Fatalf("cancelled: %v", context.Cause(ctx))
		}
		<-time.After(time.Hour)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), errAnswer) {
			t.Errorf("after an hour: %v", context.Cause(ctx))
		}
		second.stop()
	})
}

// TestNoKeepAliveAfterTheEnd sends nothing once the request has ended.
func TestNoKeepAliveAfterTheEnd(t *testing.T) {
	sink := &recorder{began: time.Now()}
	out := output{sink: sink, clock: time.Now, began: time.Now()}
	if !out.keepAlive() || sink.out.String() != ": keep-alive\n\n" {
		t.Fatalf("sent %q", sink.out.String())
	}
	out.close()
	if !out.keepAlive() || sink.out.String() != ": keep-alive\n\n" {
		t.Errorf("sent %q", sink.out.String())
	}
}

// TestStreamRefusal decides a refusal at its first event.
func TestStreamRefusal(t *testing.T) {
	refusal := []beat{role(), {ev: Event{Frame: []byte("filtered"), Commits: true, Refused: true, Finished: true}}, done()}
	cases := []struct {
		name     string
		chain    bool
		beats    []beat
		attempts string
		body     string
	}{
		{name: "no chain", beats: refusal, attempts: "a:ok", body: "role|filtered|DONE"},
		{name: "chain", chain: true, beats: refusal, attempts: "a:content_policy x:ok", body: "hello|stop|DONE"},
		{
			name: "after content", chain: true, attempts: "a:ok", body: "xfiltered|DONE",
			beats: append([]beat{content("x")}, refusal[1:]...),
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := shape{name: "m", deployments: abc[:2]}
				if tc.chain {
					m.chains = map[engine.Chain][]string{engine.ChainContent: {"n"}}
				}
				r := newRig(t, Options{}, m, shape{name: "n", deployments: []string{"x"}})
				r.play(tc.beats...)
				sink, d, err := r.ask(t.Context(), stream)
				if err != nil || attempts(d) != tc.attempts || sink.out.String() != tc.body {
					t.Errorf("got %s, %q, %v", attempts(d), sink.out.String(), err)
				}
			})
		})
	}
}

// TestProbeOfStream closes a circuit at the commit and frees the probe's place
// when the client leaves before.
func TestProbeOfStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1, Cooldown: time.Minute}
		r := newRig(t, Options{}, shape{name: "m", deployments: abc[:2], retry: once})
		r.always("a", server)
		if _, _, err := r.ask(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		r.play(role())
		time.AfterFunc(time.Second, cancel)
		if _, d, _ := r.ask(ctx, stream); d.Attempts[0].SelectionSource != "probe" {
			t.Errorf("attempts %+v", d.Attempts)
		}
		if s := r.stats("a"); s.ProbeRunning || s.Circuit != "half_open" {
			t.Errorf("after the probe was cancelled: %+v", s)
		}
		var during atomic.Value
		r.adapters["a"].set(func(ctx context.Context, c *Call, _ int) (*Response, error) {
			time.AfterFunc(2*time.Second, func() { during.Store(r.stats("a").Circuit) })
			return streamed(ctx, c, content("x").in(time.Second), content("y").in(time.Minute/2), finish(), done()), nil
		})
		if _, d, err := r.ask(t.Context(), stream); err != nil || attempts(d) != "a:ok" {
			t.Errorf("got %s, %v", attempts(d), err)
		}
		if got := during.Load(); got != "closed" {
			t.Errorf("circuit is %v while the probe's stream runs", got)
		}
	})
}
