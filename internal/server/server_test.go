package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"gatewright/engine"
)

func TestRoutes(t *testing.T) {
	r := listen(t, setup{})
	for _, c := range []struct {
		name, method, path string
		status             int
		body               string // code of an error, else the body
		allow              string
	}{
		{"post", "POST", "/v1/echo", 200, `"x"`, ""},
		{"get", "GET", "/v1/echo", 200, `"got"`, ""},
		{"head", "HEAD", "/v1/echo", 200, "", ""},
		{"query", "GET", "/v1/echo?a=b", 200, `"got"`, ""},
		{"slash in a name", "GET", "/v1/things/openrouter/gpt-4", 200, `"openrouter/gpt-4"`, ""},
		{"escaped slash", "GET", "/v1/things/openrouter%2Fgpt-4", 200, `"openrouter/gpt-4"`, ""},
		{"escaped twice", "GET", "/v1/things/a%252Fb", 200, `"a%2Fb"`, ""},
		{"colon", "GET", "/v1/things/llama3.1:70b", 200, `"llama3.1:70b"`, ""},
		{"dots", "GET", "/v1/things/../x//y/.", 200, `"../x//y/."`, ""},
		{"blank and plus", "GET", "/v1/things/a%20b+c", 200, `"a b+c"`, ""},
		{"health", "GET", "/healthz", 200, `{"status":"live"}`, ""},
		{"readiness", "HEAD", "/readyz", 200, "", ""},
		{"unknown", "GET", "/v1/nothing", 404, CodeNotFound, ""},
		{"base", "GET", "/", 200, `{"service":"gatewright"}`, ""},
		{"probe of the base", "HEAD", "/", 200, "", ""},
		{"no name", "GET", "/v1/things/", 404, CodeNotFound, ""},
		{"slash behind", "GET", "/v1/echo/", 404, CodeNotFound, ""},
		{"two slashes", "GET", "//v1/echo", 404, CodeNotFound, ""},
		{"escaped path", "GET", "/v1%2Fecho", 404, CodeNotFound, ""},
		{"admin", "GET", "/admin/v1/keys", 404, CodeNotFound, ""},
		{"metrics", "GET", "/metrics", 404, CodeNotFound, ""},
		{"wrong method", "DELETE", "/v1/echo", 405, CodeMethodNotAllowed, "GET, HEAD, POST"},
		{"get of a post", "GET", "/v1/relay", 405, CodeMethodNotAllowed, "POST"},
		{"preflight", "OPTIONS", "/v1/relay", 405, CodeMethodNotAllowed, "POST"},
		{"post of health", "POST", "/healthz", 405, CodeMethodNotAllowed, "GET, HEAD"},
		{"made-up method", "FROB", "/v1/things/a/b", 405, CodeMethodNotAllowed, "GET, HEAD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := ""
			if c.method == "POST" {
				body = `"x"`
			}
			resp, got := r.do(c.method, c.path, body)
			if resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow {
				t.Errorf("status %d, allow %q; want %d, %q", resp.StatusCode, resp.Header.Get("Allow"), c.status, c.allow)
			}
			if c.status >= 400 {
				if e := toldIn(t, got); e.Code != c.body || e.Type != "invalid_request_error" {
					t.Errorf("told %+v, want %s", e, c.body)
				}
			} else if got != c.body {
				t.Errorf("body %q, want %q", got, c.body)
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("content type %q", kind)
			}
			if id, err := uuid.Parse(resp.Header.Get("X-Request-Id")); err != nil || id.Version() != 7 {
				t.Errorf("request id %q is no UUIDv7", resp.Header.Get("X-Request-Id"))
			}
			if banner := resp.Header.Get("Server"); banner != "" {
				t.Errorf("server banner %q", banner)
			}
		})
	}
	if answer := r.raw("OPTIONS * HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 404 ") {
		t.Errorf("OPTIONS *: %q, want 404", answer)
	}
}

func TestRequestIDIsTheDecisions(t *testing.T) {
	r := listen(t, setup{})
	resp, _ := r.do("POST", "/v1/relay", "{}", "X-Request-Id", "forged")
	id := resp.Header.Get("X-Request-Id")
	if d := r.decisions.all(); len(d) != 1 || d[0].ID != id || id == "forged" {
		t.Errorf("answered as %q, decided as %+v", id, d)
	}
}

func TestOverload(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	hold := execute(func(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		entered <- struct{}{}
		<-release
		return answerWith(`"held"`)(ctx, r, p, sink)
	})
	r := listen(t, setup{execute: hold, limits: engine.Limits{Concurrent: 2}})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if resp, body := r.do("POST", "/v1/relay", "{}"); resp.StatusCode != http.StatusOK {
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
		})
		<-entered
	}
	resp, body := r.do("POST", "/v1/relay", "{}")
	if e := toldIn(t, body); resp.StatusCode != http.StatusServiceUnavailable || e.Code != CodeOverloaded || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("status %d, retry after %q, %+v; want 503 %s", resp.StatusCode, resp.Header.Get("Retry-After"), e, CodeOverloaded)
	}
	if resp, _ := r.do("GET", "/healthz", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("health under load: %d", resp.StatusCode)
	}
	close(release)
	wg.Wait()
	go func() { <-entered }()
	if resp, _ := r.do("POST", "/v1/relay", "{}"); resp.StatusCode != http.StatusOK {
		t.Errorf("afterwards: status %d", resp.StatusCode)
	}
}

// TestClientLeaves checks that the executor hears of it in each phase, and that
// a client which only stopped sending gets no empty success.
func TestClientLeaves(t *testing.T) {
	for _, committed := range []bool{false, true} {
		for _, path := range []string{"/v1/relay", "/v1/relay/stream"} {
			t.Run(fmt.Sprintf("%s committed %v", path, committed), func(t *testing.T) {
				entered, cancelled := make(chan struct{}), make(chan struct{})
				r := listen(t, setup{execute: func(ctx context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
					if committed {
						if err := sink.Commit(engine.Answer{Status: 200, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
							return engine.Result{}, err
						}
						_, _ = io.WriteString(sink, "data: 1\n\n")
						_ = sink.Flush()
					}
					close(entered)
					<-ctx.Done()
					close(cancelled)
					return engine.Result{}, ctx.Err()
				}})
				c := r.dial()
				if _, err := io.WriteString(c, "POST "+path+" HTTP/1.1\r\n"+authorized+"Content-Length: 2\r\n\r\n{}"); err != nil {
					t.Fatal(err)
				}
				<-entered
				half, ok := c.(interface{ CloseWrite() error })
				if !ok || half.CloseWrite() != nil {
					t.Fatal("cannot half close")
				}
				<-cancelled
				rest, _ := io.ReadAll(c) // a reset is an end too
				if !committed && len(rest) > 0 {
					t.Errorf("a client that left got %q", rest)
				}
				if committed && bytes.HasSuffix(rest, []byte("0\r\n\r\n")) {
					t.Errorf("the broken answer looks whole: %q", rest)
				}
			})
		}
	}
}

// TestServerHammer sends all kinds of requests from many goroutines while the
// configuration changes: every request has one answer, and every snapshot is
// closed in the end.
func TestServerHammer(t *testing.T) {
	const goroutines, each = 12, 24
	r := listen(t, setup{execute: func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if q.Stream {
			return streamOf(3)(ctx, q, p, sink)
		}
		return answerWith(fmt.Sprint(q.Payload))(ctx, q, p, sink)
	}})
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for generation := uint64(2); ; generation++ {
			select {
			case <-stop:
				return
			default:
				k := keys{testKey: {Key: "test", ExposeRouting: generation%2 == 0}}
				r.engine.Swap(newSnapshot(t, k, engine.Limits{Body: 1 << 20, Header: 16 << 10}, generation))
			}
		}
	})
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				body := fmt.Sprintf(`"%d %d %s"`, g, i, strings.Repeat("x", i*1000))
				switch i % 4 {
				case 0, 1:
					if resp, got := r.do("POST", "/v1/relay", body); resp.StatusCode != http.StatusOK || got != body {
						t.Errorf("status %d, %.60q, want %.60q", resp.StatusCode, got, body)
					}
				case 2:
					if resp, got := r.do("POST", "/v1/relay/stream", body); resp.StatusCode != http.StatusOK || got != "data: 0\n\ndata: 1\n\ndata: 2\n\n" {
						t.Errorf("status %d, %q", resp.StatusCode, got)
					}
				case 3:
					if resp, _ := r.do("POST", "/v1/relay", body, "Authorization", "Bearer wrong"); resp.StatusCode != http.StatusUnauthorized {
						t.Errorf("status %d, want 401", resp.StatusCode)
					}
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	swapping.Wait()
	if n, want := len(r.decisions.all()), goroutines*each*3/4; n != want {
		t.Errorf("%d decisions, want %d", n, want)
	}
	if n := r.server.running.Load(); n != 0 {
		t.Errorf("%d requests are still running", n)
	}
}

// streamOf streams n events at once.
func streamOf(n int) execute {
	return func(_ context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if err := sink.Commit(engine.Answer{Status: 200, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		for i := range n {
			if _, err := fmt.Fprintf(sink, "data: %d\n\n", i); err != nil {
				return engine.Result{}, err
			}
			if err := sink.Flush(); err != nil {
				return engine.Result{}, err
			}
		}
		return engine.Result{Status: 200}, nil
	}
}
