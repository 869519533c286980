package provider

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/engine"
)

func failing(class engine.FailureClass, status int) *Failure {
	return &Failure{Class: class, Status: status, Code: "up_code", Type: "up_type", Param: "up_param", Message: "up message"}
}

var (
	server    = failing(engine.ClassServer, 503)
	client    = failing(engine.ClassClient, 422)
	abc       = []string{"a", "b", "c"}
	threeTry  = engine.RetryPolicy{MaxAttempts: 3, FailureThreshold: 3, Cooldown: time.Minute}
	limited30 = &Failure{Class: engine.ClassRateLimitTimed, Status: 429, Cooldown: 30 * time.Second, Message: "slow down"}
	limited12 = &Failure{Class: engine.ClassRateLimitTimed, Status: 429, Cooldown: 12 * time.Second, Message: "slow down"}
)

// TestWalk walks plans: who is called, in which order, and what the client
// gets.
func TestWalk(t *testing.T) {
	general := map[engine.Chain][]string{engine.ChainGeneral: {"n"}}
	cases := []struct {
		name     string
		models   []shape
		set      func(r *rig)
		request  func(*engine.Request)
		attempts string
		body     string
		status   int
		code     string
	}{
		{name: "the first serves", models: []shape{{name: "m", deployments: abc}}, attempts: "a:ok", body: "answer of a"},
		{
			name: "failover", models: []shape{{name: "m", deployments: abc}},
			set:      func(r *rig) { r.always("a", server) },
			attempts: "a:server b:ok", body: "answer of b",
		},
		{
			name: "one pass only", models: []shape{{name: "m", deployments: abc}},
			set: func(r *rig) {
				for _, id := range abc {
					r.always(id, server)
				}
			},
			attempts: "a:server b:server c:server", status: 503, code: "up_code",
		},
		{
			name: "the caller's error ends it", models: []shape{{name: "m", deployments: abc, chains: general}, {name: "n", deployments: []string{"x"}}},
			set:      func(r *rig) { r.always("a", client) },
			attempts: "a:client", status: 422, code: "up_code",
		},
		{
			name: "repeated on the same deployment", models: []shape{{name: "m", deployments: abc, retry: threeTry}},
			set:      func(r *rig) { r.fail("a", server, server) },
			attempts: "a:server a:server a:ok", body: "answer of a",
		},
		{
			name: "no class repeats that may not", models: []shape{{name: "m", deployments: abc, retry: threeTry}},
			set:      func(r *rig) { r.fail("a", failing(engine.ClassAuth, 401)); r.fail("b", limited30) },
			attempts: "a:auth b:rate_limit_timed c:ok", body: "answer of c",
		},
		{
			name: "general fallback", models: []shape{{name: "m", deployments: abc[:2], chains: general}, {name: "n", deployments: []string{"x"}}},
			set:      func(r *rig) { r.always("a", server); r.always("b", failing(engine.ClassQuota, 402)) },
			attempts: "a:server b:quota x:ok", body: "answer of x",
		},
		{
			name: "fallbacks disabled", models: []shape{{name: "m", deployments: abc[:1], chains: general}, {name: "n", deployments: []string{"x"}}},
			set:      func(r *rig) { r.always("a", server) },
			request:  func(r *engine.Request) { r.DisableFallbacks = true },
			attempts: "a:server", status: 503, code: "up_code",
		},
		{
			name: "context window fallback",
			models: []shape{
				{name: "m", deployments: abc, chains: map[engine.Chain][]string{engine.ChainContext: {"n"}}},
				{name: "n", deployments: []string{"x"}},
			},
			set:      func(r *rig) { r.always("a", failing(engine.ClassContext, 400)) },
			attempts: "a:context_window x:ok", body: "answer of x",
		},
		{
			name: "too long without a fallback", models: []shape{{name: "m", deployments: abc, chains: general}, {name: "n", deployments: []string{"x"}}},
			set:      func(r *rig) { r.always("a", failing(engine.ClassContext, 413)) },
			attempts: "a:context_window", status: 400, code: engine.CodeContextLengthExceeded,
		},
		{
			name: "never more than ten calls",
			models: []shape{{
				name: "m", deployments: []string{"a", "b", "c", "d"},
				retry: engine.RetryPolicy{MaxAttempts: 4, FailureThreshold: 0},
			}},
			set: func(r *rig) {
				for _, id := range []string{"a", "b", "c", "d"} {
					r.always(id, server)
				}
			},
			attempts: "a:server a:server a:server a:server b:server b:server b:server b:server c:server c:server",
			status:   503, code: "up_code",
		},
		{
			name: "pinned to its owner", models: []shape{{name: "m", deployments: abc, chains: general, retry: threeTry}, {name: "n", deployments: []string{"x"}}},
			set:      func(r *rig) { r.always("b", server) },
			request:  func(r *engine.Request) { r.Owner = "b" },
			attempts: "b:server", status: 503, code: "up_code",
		},
		{
			name: "locked to a provider", models: []shape{{name: "m", deployments: abc, chains: general}, {name: "n", deployments: []string{"x"}}},
			set:      func(r *rig) { r.always("b", server) },
			request:  func(r *engine.Request) { r.Model = "provider-b/m" },
			attempts: "b:server", status: 503, code: "up_code",
		},
		{
			name: "adapter panics", models: []shape{{name: "m", deployments: abc}},
			set: func(r *rig) {
				r.adapters["a"].set(func(context.Context, *Call, int) (*Response, error) { panic("scripted") })
			},
			attempts: "a:server b:ok", body: "answer of b",
		},
		{
			name: "refusal without a chain is passed on", models: []shape{{name: "m", deployments: abc}},
			set:      func(r *rig) { r.adapters["a"].set(refuse) },
			attempts: "a:ok", body: "no",
		},
		{
			name: "refusal with a chain",
			models: []shape{
				{name: "m", deployments: abc, chains: map[engine.Chain][]string{engine.ChainContent: {"n"}}},
				{name: "n", deployments: []string{"x"}},
			},
			set:      func(r *rig) { r.adapters["a"].set(refuse) },
			attempts: "a:content_policy x:ok", body: "answer of x",
		},
		{
			name: "refusal when the chain has been used up",
			models: []shape{
				{name: "m", deployments: abc[:1], chains: map[engine.Chain][]string{engine.ChainContent: {"n"}}},
				{name: "n", deployments: []string{"x"}, chains: map[engine.Chain][]string{engine.ChainContent: {"m"}}},
			},
			set:      func(r *rig) { r.adapters["a"].set(refuse); r.adapters["x"].set(refuse) },
			attempts: "a:content_policy x:ok", body: "no",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{}, tc.models...)
				if tc.set != nil {
					tc.set(r)
				}
				sink, d, err := r.ask(t.Context(), tc.request)
				if got := attempts(d); got != tc.attempts {
					t.Errorf("attempts %q, want %q", got, tc.attempts)
				}
				if got := sink.out.String(); got != tc.body {
					t.Errorf("body %q, want %q", got, tc.body)
				}
				if tc.code == "" {
					if err != nil {
						t.Errorf("error %v", err)
					}
					if sink.commits != 1 || sink.answer.Attempts != len(d.Attempts) {
						t.Errorf("%d commits, the answer says %d attempts", sink.commits, sink.answer.Attempts)
					}
					return
				}
				u := upstream(t, err)
				if u.Status != tc.status || u.Code != tc.code || u.Committed {
					t.Errorf("error %+v, want status %d, code %s", u, tc.status, tc.code)
				}
				if sink.commits != 0 {
					t.Error("something was committed")
				}
				for id := range r.adapters {
					if n := r.stats(id).InFlight; n != 0 {
						t.Errorf("%s: %d in flight", id, n)
					}
				}
			})
		})
	}
}

func refuse(_ context.Context, c *Call, _ int) (*Response, error) {
	c.Seen = Seen{Status: 200, At: c.Clock()}
	return &Response{Body: []byte("no"), Refused: true, Usage: someUsage}, nil
}

// TestResult checks what the decision keeps of a success.
func TestResult(t *testing.T) {
	r := newRig(t, Options{}, shape{name: "m", deployments: abc})
	r.always("a", server)
	sink, d, err := r.ask(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const cost = 10*1000 + 5*2000 // nano-USD
	want := engine.Result{Status: 200, Deployment: "b", Model: "m", Usage: someUsage, Cost: cost}
	if d.Result != want {
		t.Errorf("got %+v, want %+v", d.Result, want)
	}
	if sink.answer.Cost != cost || sink.answer.Model != "m" || sink.answer.Deployment.ID != "b" {
		t.Errorf("answer %+v", sink.answer)
	}
	first, last := d.Attempts[0], d.Attempts[1]
	if first.Status != 503 || first.Message != "up message" || first.SelectionSource != "strategy" {
		t.Errorf("failed attempt %+v", first)
	}
	if last.Status != 200 || last.UpstreamRequestID != "up-1" || last.Usage != someUsage {
		t.Errorf("good attempt %+v", last)
	}
}

// TestCooldownOfAll is the error when every candidate asks to wait.
func TestCooldownOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, shape{name: "m", deployments: abc})
		r.always("a", limited30)
		r.always("b", limited12)
		r.always("c", limited30)
		_, _, err := r.ask(t.Context(), nil)
		if u := upstream(t, err); u.Status != 429 || u.RetryAfter != "12" {
			t.Errorf("status %d, Retry-After %q, want 429 and 12", u.Status, u.RetryAfter)
		}
		// A rate limit without a hint as the last error gets none invented.
		r.always("c", failing(engine.ClassRateLimit, 429))
		_, _, err = r.ask(t.Context(), nil)
		if u := upstream(t, err); u.Status != 429 || u.RetryAfter != "" {
			t.Errorf("status %d, Retry-After %q, want 429 and none", u.Status, u.RetryAfter)
		}
	})
}

// TestLastResort calls a broken circuit only after all else has failed.
func TestLastResort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1, Cooldown: time.Minute}
		r := newRig(t, Options{},
			shape{name: "m", deployments: abc[:2], retry: once, chains: map[engine.Chain][]string{engine.ChainGeneral: {"n"}}},
			shape{name: "n", deployments: []string{"x"}, retry: once})
		r.fail("a", server) // opens a's circuit
		if _, d, err := r.ask(t.Context(), nil); err != nil || attempts(d) != "a:server b:ok" {
			t.Fatalf("%s, %v", attempts(d), err)
		}
		r.always("b", server)
		r.fail("x", server)
		_, d, err := r.ask(t.Context(), nil)
		if err != nil || attempts(d) != "b:server x:server a:ok" {
			t.Fatalf("got %s, %v; want a to be the last resort", attempts(d), err)
		}
		if got := d.Attempts[2].SelectionSource; got != "last_resort" {
			t.Errorf("selection source %q", got)
		}
		if got := r.stats("a").Circuit; got != "closed" {
			t.Errorf("circuit of a is %s after its success", got)
		}
	})
}

// TestNoLastResort leaves broken circuits alone where the request itself is at
// fault, or nothing else could be called.
func TestNoLastResort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1, Cooldown: time.Minute}
		r := newRig(t, Options{}, shape{name: "m", deployments: abc[:2], retry: once})
		r.always("a", server)
		if _, _, err := r.ask(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r.always("b", client)
		if _, d, err := r.ask(t.Context(), nil); err == nil || attempts(d) != "b:client" {
			t.Fatalf("got %s, %v", attempts(d), err)
		}
		r.always("b", server)
		_, _, _ = r.ask(t.Context(), nil) // opens b's circuit; a as last resort fails
		_, d, err := r.ask(t.Context(), nil)
		var refused *engine.RefusedError
		if !errors.As(err, &refused) || refused.Code != engine.CodeAllCircuitsOpen || len(d.Attempts) != 0 {
			t.Fatalf("got %s, %v", attempts(d), err)
		}
	})
}

// TestLastResortRefuses passes the refusal of a last resort on.
func TestLastResortRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1, Cooldown: time.Minute}
		r := newRig(t, Options{},
			shape{name: "m", deployments: abc[:2], retry: once, chains: map[engine.Chain][]string{engine.ChainContent: {"n"}}},
			shape{name: "n", deployments: []string{"x"}})
		r.fail("a", server) // opens a's circuit
		if _, _, err := r.ask(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r.adapters["a"].set(refuse)
		r.always("b", server)
		sink, d, err := r.ask(t.Context(), nil)
		if err != nil || attempts(d) != "b:server a:ok" || sink.out.String() != "no" {
			t.Errorf("got %s, %q, %v", attempts(d), sink.out.String(), err)
		}
	})
}

// TestNoLastResortAfterJudgement leaves broken circuits alone once an upstream
// has judged the request itself, whatever failed afterwards.
func TestNoLastResortAfterJudgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1, Cooldown: time.Minute}
		r := newRig(t, Options{},
			shape{name: "m", deployments: abc[:2], retry: once, chains: map[engine.Chain][]string{engine.ChainContext: {"n"}}},
			shape{name: "n", deployments: []string{"x"}})
		r.fail("a", server) // opens a's circuit
		if _, _, err := r.ask(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r.always("b", failing(engine.ClassContext, 400))
		r.always("x", server)
		_, d, err := r.ask(t.Context(), nil)
		if u := upstream(t, err); attempts(d) != "b:context_window x:server" || u.Status != 503 {
			t.Errorf("got %s, %v", attempts(d), err)
		}
	})
}

// TestNeverTwice does not come back to a session's target in another model once
// it has been called.
func TestNeverTwice(t *testing.T) {
	r := newRig(t, Options{},
		shape{name: "m", deployments: abc[:1], chains: map[engine.Chain][]string{engine.ChainGeneral: {"n"}}},
		shape{name: "n", deployments: []string{"x", "y"}})
	r.affinity.target = engine.Target{Deployment: "x", Path: []string{"n"}}
	r.always("x", server)
	r.always("a", server)
	_, d, err := r.ask(t.Context(), func(req *engine.Request) { req.Session.Source = "header" })
	if err != nil || attempts(d) != "x:server a:server y:ok" {
		t.Errorf("got %s, %v", attempts(d), err)
	}
	if got := r.affinity.target; got.Deployment != "y" || len(got.Path) != 1 {
		t.Errorf("the session's new target is %+v", got)
	}
}

// TestRace plans a candidate whose circuit breaks before it is called.
func TestRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once := engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1, Cooldown: time.Minute}
		r := newRig(t, Options{}, shape{name: "m", deployments: abc[:1], retry: once})
		var refused *engine.RefusedError
		r.dispatcher.health = blockAfterPlan{r.tracker}
		_, d, err := r.ask(t.Context(), nil)
		if !errors.As(err, &refused) || refused.Code != engine.CodeAllCircuitsOpen || refused.RetryAfter < time.Second {
			t.Fatalf("got %v", err)
		}
		if len(d.Attempts) != 0 || r.calls() != "" {
			t.Errorf("attempts %s, calls %s", attempts(d), r.calls())
		}
	})
}

// TestRetryBudget turns repeats that the budget stops into moves to the next
// candidate.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := engine.RetryPolicy{MaxAttempts: 2}
		r := newRig(t, Options{Retries: &RetryBudget{PerSecond: 1}}, shape{name: "m", deployments: abc, retry: never})
		r.always("a", server)
		if _, d, _ := r.ask(t.Context(), nil); attempts(d) != "a:server a:server b:ok" {
			t.Fatalf("first request: %s", attempts(d))
		}
		_, d, err := r.ask(t.Context(), nil)
		if err != nil || attempts(d) != "a:server b:ok" {
			t.Fatalf("got %s, %v", attempts(d), err)
		}
		if d.Attempts[0].Note == "" {
			t.Error("the attempt does not say why it was not repeated")
		}
		if s := r.dispatcher.Stats(); s.Repeats != 1 || s.RepeatsDenied != 1 {
			t.Errorf("stats %+v", s)
		}
		r.dispatcher.SetRetryBudget(RetryBudget{PerSecond: 100})
		<-time.After(time.Second)
		if _, d, _ := r.ask(t.Context(), nil); attempts(d) != "a:server a:server b:ok" {
			t.Errorf("after a second with more: %s", attempts(d))
		}
	})
}

// TestDeadline ends a request at its deadline, and blames nobody.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, shape{name: "m", deployments: abc, retry: engine.RetryPolicy{MaxAttempts: 1, FailureThreshold: 1}})
		r.adapters["a"].set(silent)
		began := time.Now()
		_, d, err := r.ask(t.Context(), func(r *engine.Request) { r.Deadline = r.Now.Add(3 * time.Second) })
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		if u := upstream(t, err); u.Status != 504 || u.Code != engine.CodeUpstreamTimeout {
			t.Errorf("got %v", u)
		}
		if attempts(d) != "a:timeout" || d.Attempts[0].Note == "" {
			t.Errorf("attempts %+v", d.Attempts)
		}
		if s := r.stats("a"); s.Circuit != "closed" || s.Failed != 0 || s.InFlight != 0 {
			t.Errorf("health %+v", s)
		}
	})
}

// TestNoRepeatPastDeadline moves on at once when a repeat would come too late.
func TestNoRepeatPastDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, shape{name: "m", deployments: abc, retry: engine.RetryPolicy{MaxAttempts: 9}})
		r.always("a", server)
		_, d, err := r.ask(t.Context(), func(r *engine.Request) { r.Deadline = r.Now.Add(time.Nanosecond) })
		if err != nil || attempts(d) != "a:server b:ok" {
			t.Errorf("got %s, %v", attempts(d), err)
		}
	})
}

// silent never answers.
func silent(ctx context.Context, _ *Call, _ int) (*Response, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestCredentialRefused shows a provider that refuses our credential until it
// takes it.
func TestCredentialRefused(t *testing.T) {
	r := newRig(t, Options{}, shape{name: "m", deployments: abc})
	r.fail("a", failing(engine.ClassAuth, 401))
	if _, _, err := r.ask(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, refused := r.dispatcher.Stats().CredentialRefused["provider-a"]; !refused {
		t.Error("the refusal is not shown")
	}
	if _, _, err := r.ask(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := r.dispatcher.Stats().CredentialRefused; len(got) != 0 {
		t.Errorf("after a success: %v", got)
	}
}

// TestCancelBetween ends a request whose client leaves between two calls.
func TestCancelBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, shape{name: "m", deployments: abc, retry: engine.RetryPolicy{MaxAttempts: 9}})
		ctx, cancel := context.WithCancel(t.Context())
		r.adapters["a"].set(func(context.Context, *Call, int) (*Response, error) {
			time.AfterFunc(time.Nanosecond, cancel) // in the pause that follows
			return nil, server
		})
		_, d, err := r.ask(ctx, nil)
		if !errors.Is(err, context.Canceled) || !d.Result.Cancelled {
			t.Errorf("got %v, %+v", err, d.Result)
		}
		if got := attempts(d); got != "a:server" {
			t.Errorf("attempts %s", got)
		}
	})
}
