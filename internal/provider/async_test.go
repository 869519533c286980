package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/engine"
)

// TestAsyncCreation sends what creates something for later to another deployment
// only when the first has certainly not begun with it.
func TestAsyncCreation(t *testing.T) {
	plain := func(class engine.FailureClass) *Failure { return &Failure{Class: class, Message: "up message"} }
	cases := []struct {
		name    string
		reached bool
		seen    int // the status of an answer; 0 = none came
		failure *Failure
		want    string
	}{
		{"no connection", false, 0, plain(engine.ClassConnect), "a:connect b:ok"},
		{"reset after it was sent", true, 0, plain(engine.ClassConnect), "a:connect"},
		{"not HTTP", true, 0, plain(engine.ClassServer), "a:server"},
		{"overloaded", true, 503, failing(engine.ClassServer, 503), "a:server b:ok"},
		{"rate limit", true, 429, failing(engine.ClassRateLimit, 429), "a:rate_limit b:ok"},
		{"credential refused", true, 401, failing(engine.ClassAuth, 401), "a:auth b:ok"},
		{"a proxy lost its server", true, 502, failing(engine.ClassServer, 502), "a:server"},
		{"a proxy waited in vain", true, 504, failing(engine.ClassServer, 504), "a:server"},
		{"the edge lost its server", true, 524, failing(engine.ClassServer, 524), "a:server"},
		{"overloaded, in other words", true, 529, failing(engine.ClassServer, 529), "a:server b:ok"},
		{"an answer that cannot be read", true, 200, plain(engine.ClassServer), "a:server"},
		{"an error in a good answer", true, 200, failing(engine.ClassQuota, 429), "a:quota b:ok"},
	}
	for _, tc := range cases {
		for _, async := range []bool{true, false} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, Options{}, shape{name: "m", deployments: abc[:2], retry: engine.RetryPolicy{MaxAttempts: 1}})
					r.adapters["a"].set(func(_ context.Context, c *Call, _ int) (*Response, error) {
						c.Reached, c.Seen.Status = tc.reached, tc.seen
						return nil, tc.failure
					})
					_, d, err := r.ask(t.Context(), func(r *engine.Request) { r.Async = async })
					want := tc.want
					if !async {
						want = "a:" + tc.failure.Class.String() + " b:ok"
					}
					if got := attempts(d); got != want {
						t.Errorf("async %v: attempts %q, want %q", async, got, want)
					}
					if stopped := err != nil; stopped != (d.Attempts[0].Note != "") {
						t.Errorf("async %v: error %v, note %q", async, err, d.Attempts[0].Note)
					}
				})
			})
		}
	}
}

// TestAsyncTimeouts leaves a creation alone that the upstream has got and says
// nothing of.
func TestAsyncTimeouts(t *testing.T) {
	silent := func(reached bool) script {
		return func(ctx context.Context, c *Call, _ int) (*Response, error) {
			c.Reached = reached
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	}
	begun := func(ctx context.Context, c *Call, _ int) (*Response, error) {
		c.Reached = true
		return streamed(ctx, c, role()), nil
	}
	cases := []struct {
		name   string
		script script
		change func(*engine.Request)
		want   string
	}{
		{"no connection in time", silent(false), nil, "a:timeout b:ok"},
		{"no headers in time", silent(true), nil, "a:timeout"},
		{"no headers of a stream in time", silent(true), stream, "a:timeout"},
		{"no content in time", begun, stream, "a:timeout"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{}, shape{name: "m", deployments: abc[:2]})
				r.adapters["a"].set(tc.script)
				_, d, _ := r.ask(t.Context(), func(r *engine.Request) {
					r.Async = true
					if tc.change != nil {
						tc.change(r)
					}
				})
				if got := attempts(d); got != tc.want {
					t.Errorf("attempts %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestUntimedCalls keeps calls that are quick by nature out of what is known of
// a deployment's speed.
func TestUntimedCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*engine.Request)
		timed  bool
	}{
		"an answer":            {func(*engine.Request) {}, true},
		"a count":              {func(r *engine.Request) { r.Endpoint = engine.EndpointInputTokens }, false},
		"an answer kept":       {func(r *engine.Request) { r.Endpoint = engine.EndpointStored }, false},
		"its stream":           {func(r *engine.Request) { r.Endpoint, r.Stream = engine.EndpointStored, true }, false},
		"an answer for later":  {func(r *engine.Request) { r.Async = true }, false},
		"the stream of others": {stream, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{}, shape{name: "m", deployments: abc[:1]})
				r.adapters["a"].set(func(ctx context.Context, c *Call, n int) (*Response, error) {
					<-time.After(time.Second)
					return good(ctx, c, n)
				})
				const enough = 30 // samples, so that a median is told
				for range enough {
					if _, _, err := r.ask(t.Context(), tc.change); err != nil {
						t.Fatal(err)
					}
				}
				m, _ := r.snapshot.Model("m")
				pool := []engine.Candidate{{Deployment: m.Deployments[0]}}
				r.tracker.Signals(time.Now(), pool)
				if known := pool[0].TTFT != engine.UnknownDuration; known != tc.timed || pool[0].SuccessPPM != 1_000_000 {
					t.Errorf("median %v, success %d ppm; want a median: %v", pool[0].TTFT, pool[0].SuccessPPM, tc.timed)
				}
				if known := pool[0].LatencyP50 > 0; known != tc.timed || known != (pool[0].LatencyP95 > 0) {
					t.Errorf("latency %v and %v; want it known: %v", pool[0].LatencyP50, pool[0].LatencyP95, tc.timed)
				}
			})
		})
	}
}

// brokenWords is a stream that says itself how it broke.
type brokenWords struct{ *beatStream }

// Broken implements [Breaker].
func (brokenWords) Broken(e *engine.UpstreamError) []byte { return []byte("broken: " + e.Code) }

// TestStreamsMaySayHowTheyBroke hands the server the words of a stream's own
// protocol.
func TestStreamsMaySayHowTheyBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, shape{name: "m", deployments: abc})
		for _, own := range []bool{true, false} {
			r.adapters["a"].set(func(ctx context.Context, c *Call, _ int) (*Response, error) {
				resp := streamed(ctx, c, content("hello"), broken())
				if own {
					resp.Stream = brokenWords{resp.Stream.(*beatStream)} //nolint:forcetypeassert // made above
				}
				return resp, nil
			})
			_, _, err := r.ask(t.Context(), stream)
			want := ""
			if own {
				want = "broken: " + engine.CodeUpstreamTruncated
			}
			if u := upstream(t, err); !u.Committed || string(u.InBand) != want {
				t.Errorf("error %+v, want the words %q", u, want)
			}
		}
	})
}

// TestSend makes requests with and without a body, and tells whether they may
// have arrived.
func TestSend(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, r.Method+" "+r.URL.RequestURI()+" "+string(body)+" "+r.Header.Get("X-Own"))
		mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "/reset") {
			panic(http.ErrAbortHandler)
		}
	}))
	srv.Config.ErrorLog = nil
	defer srv.Close()
	c := NewClient(ClientOptions{})
	defer c.Close()
	at := func(path string) *url.URL {
		u, err := url.Parse(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	buf := NewBuffer()
	buf.B = append(buf.B, "hello"...)
	body := NewBody(buf)
	defer body.Release()
	header := http.Header{"X-Own": {"own"}}
	for _, o := range []*Outgoing{
		{URL: at("/a"), Header: header, Body: body},
		{Method: http.MethodGet, URL: at("/b?q=1"), Header: header},
		{Method: http.MethodDelete, URL: at("/c"), Header: header, Once: true},
		{Method: http.MethodPost, URL: at("/d"), Header: header},
	} {
		resp, err := c.Send(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if !o.Reached {
			t.Errorf("%s has not arrived", o.URL)
		}
	}
	if got, want := strings.Join(seen, "|"), "POST /a hello own|GET /b?q=1  own|DELETE /c  own|POST /d  own"; got != want {
		t.Errorf("the upstream saw %q, want %q", got, want)
	}
	broken := &Outgoing{URL: at("/reset"), Header: header, Body: body, Once: true}
	if _, err := c.Send(t.Context(), broken); err == nil || !broken.Reached { //nolint:bodyclose // there is no answer
		t.Errorf("error %v, arrived %v", err, broken.Reached)
	}
	c.dialer = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no way") }
	lost := &Outgoing{URL: at("/lost"), Header: header, Body: body, Once: true}
	if _, err := c.Send(t.Context(), lost); err == nil || lost.Reached { //nolint:bodyclose // there is no answer
		t.Errorf("error %v, arrived %v", err, lost.Reached)
	}
}
