package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hi = ok + "Content-Length: 2\r\n\r\nhi"

// TestKept uses one connection again and again, whatever frames the answers.
func TestKept(t *testing.T) {
	for name, answer := range map[string]string{
		"length":   hi,
		"chunks":   chunky + "2\r\nhi\r\n0\r\n\r\n",
		"HTTP/1.0": "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
		"hint":     "HTTP/1.1 103 Early Hints\r\n\r\n" + hi,
	} {
		t.Run(name, func(t *testing.T) {
			up := serve(t, Options{}, answering(answer))
			for i := range 20 {
				up.want(up.do(t.Context(), Request{}), 200, "hi", i > 0)
			}
			if n := up.accepted.Load(); n != 1 {
				t.Errorf("%d connections for 20 requests", n)
			}
			up.want(up.do(t.Context(), Request{Fresh: true}), 200, "hi", false)
			if n := up.origin.kept(); n != 2 {
				t.Errorf("%d connections are kept, want the fresh one too", n)
			}
		})
	}
}

// TestNotKept ends a connection when either side wants it.
func TestNotKept(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		r      Request
	}{
		"said by the upstream":    {ok + "Connection: close\r\nContent-Length: 2\r\n\r\nhi", Request{}},
		"said by the request":     {hi, Request{Header: map[string][]string{"Connection": {"close"}}}},
		"HTTP/1.0":                {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", Request{}},
		"more behind the answer":  {hi + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", Request{}},
		"a line behind the chunk": {chunky + "2\r\nhi\r\n0\r\n\r\n\r\n", Request{}},
	} {
		t.Run(name, func(t *testing.T) {
			up := serve(t, Options{}, answering(tc.answer))
			for range 3 {
				up.want(up.do(t.Context(), tc.r), 200, "hi", false)
			}
			if n := up.origin.kept(); n != 0 || up.accepted.Load() != 3 {
				t.Errorf("%d connections are kept, %d were made", n, up.accepted.Load())
			}
		})
	}
}

// TestLastOneFirst takes the connection that was used last, and keeps no more
// than it should.
func TestLastOneFirst(t *testing.T) {
	up := serve(t, Options{MaxIdle: 2}, func(p *peer) {
		for {
			if _, good := p.request(); !good || !p.say(ok+"Content-Length: 1\r\n\r\n"+string(rune('0'+p.n))) {
				return
			}
		}
	})
	var bodies []io.ReadCloser
	for range 3 {
		bodies = append(bodies, up.get())
	}
	for _, b := range bodies {
		_, _ = io.ReadAll(b)
	}
	if n := up.origin.kept(); n != 2 || up.open.Load() != 2 {
		t.Errorf("%d connections are kept, %d open, want 2", n, up.open.Load())
	}
	for range 2 {
		up.want(up.do(t.Context(), Request{}), 200, "2", true)
	}
}

// TestDeadConnections drops kept connections that are closed or hold something,
// before anything is sent on them.
func TestDeadConnections(t *testing.T) {
	for name, after := range map[string]func(*peer){
		"closed":              func(p *peer) { _ = p.CloseWrite() },
		"reset":               (*peer).reset,
		"a byte":              func(p *peer) { p.say("\n") },
		"an answer":           func(p *peer) { p.say(ok + "Content-Length: 3\r\n\r\nbad") },
		"a timeout, and done": func(p *peer) { p.say("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"); _ = p.CloseWrite() },
	} {
		t.Run(name, func(t *testing.T) {
			met := make(chan struct{}, 3)
			over := make(chan struct{})
			up := serve(t, Options{}, func(p *peer) {
				if _, good := p.request(); good && p.say(hi) && p.n <= 3 {
					<-over
					after(p)
					met <- struct{}{}
				}
				if _, good := p.request(); good {
					p.say(hi)
				}
			})
			var bodies []io.ReadCloser
			for range 3 {
				bodies = append(bodies, up.get())
			}
			for _, b := range bodies {
				_, _ = io.ReadAll(b)
			}
			if n := up.origin.kept(); n != 3 {
				t.Fatalf("%d connections are kept", n)
			}
			close(over)
			for range 3 {
				<-met
			}
			up.want(up.do(t.Context(), Request{}), 200, "hi", false)
			if n := up.accepted.Load(); n != 4 || up.open.Load() != 1 {
				t.Errorf("%d connections, %d open", n, up.open.Load())
			}
		})
	}
}

// TestStale fails when the upstream closes a kept connection once the request is
// on its way, and says that it was a kept one.
func TestStale(t *testing.T) {
	for name, end := range map[string]func(*peer){"closed": func(p *peer) { _ = p.Close() }, "reset": (*peer).reset} {
		t.Run(name, func(t *testing.T) {
			up := serve(t, Options{}, func(p *peer) {
				if _, good := p.request(); good && p.say(hi) {
					_, _ = p.request()
				}
				end(p)
			})
			up.want(up.do(t.Context(), Request{}), 200, "hi", false)
			got := up.do(t.Context(), Request{})
			if !got.Reused || !got.Sent || got.Answered || !errors.Is(got.err, io.EOF) && !errors.Is(got.err, syscall.ECONNRESET) {
				t.Errorf("got %+v", got)
			}
			if n := up.accepted.Load(); n != 1 || up.open.Load() != 0 {
				t.Errorf("%d connections, %d open", n, up.open.Load())
			}
		})
	}
}

// TestIdleTimeout closes connections that nobody uses.
func TestIdleTimeout(t *testing.T) {
	gone := make(chan struct{})
	up := serve(t, Options{IdleTimeout: 50 * time.Millisecond}, func(p *peer) {
		if _, good := p.request(); good && p.say(hi) {
			_, _ = p.in.ReadByte()
			gone <- struct{}{}
		}
	})
	up.want(up.do(t.Context(), Request{}), 200, "hi", false)
	<-gone
	soon(t, "dropped", func() bool { return up.origin.kept() == 0 && up.open.Load() == 0 })
	up.want(up.do(t.Context(), Request{}), 200, "hi", false)
	<-gone
}

// TestExpired counts the ticks that a connection has been idle for.
func TestExpired(t *testing.T) {
	o := &Origin{options: Options{MaxIdle: 10, IdleTimeout: time.Hour}}
	defer o.Close()
	put := func() *conn {
		a, b := net.Pipe()
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		c := &conn{Conn: a}
		o.keep(c)
		return c
	}
	first := put()
	for range idleTicks - 1 {
		if old := o.expired(); len(old) != 0 {
			t.Fatal("too early")
		}
	}
	second := put()
	if old := o.expired(); len(old) != 1 || old[0] != first || o.kept() != 1 {
		t.Fatalf("%d expired, %d kept", len(old), o.kept())
	}
	if o.timer == nil {
		t.Error("nobody looks at the one that is left")
	}
	third := put()
	if o.take() != third || o.take() != second || o.take() != nil {
		t.Error("not the last one first")
	}
	if old := o.expired(); len(old) != 0 || o.timer != nil {
		t.Error("the ticks go on although nothing is kept")
	}
}

// TestClose keeps nothing, and lets calls go on.
func TestClose(t *testing.T) {
	up := serve(t, Options{}, answering(hi))
	up.want(up.do(t.Context(), Request{}), 200, "hi", false)
	running := up.get()
	up.origin.Close()
	if text, err := io.ReadAll(running); err != nil || string(text) != "hi" {
		t.Errorf("got %q, %v", text, err)
	}
	up.want(up.do(t.Context(), Request{}), 200, "hi", false)
	if up.origin.kept() != 0 || up.open.Load() != 0 {
		t.Errorf("%d kept, %d open", up.origin.kept(), up.open.Load())
	}
	up.origin.Close()
}

// TestDialFailures come as they are; nothing was sent.
func TestDialFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	for name, tc := range map[string]struct {
		dial func(context.Context, string, string) (net.Conn, error)
		want error
	}{
		"refused": {new(net.Dialer).DialContext, syscall.ECONNREFUSED},
		"other":   {func(context.Context, string, string) (net.Conn, error) { return nil, errEnough }, errEnough},
	} {
		o, err := NewOrigin(l.Addr().String(), Options{Dial: tc.dial, MaxIdle: 1, IdleTimeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		body := &released{}
		r := Request{Method: "POST", URL: &url.URL{Path: "/"}, Body: body}
		if _, err := o.Do(t.Context(), &r); !errors.Is(err, tc.want) || r.Sent || r.Answered || r.Reused || body.n.Load() != 1 { //nolint:bodyclose // there is no answer
			t.Errorf("%s: got %v, %+v", name, err, r)
		}
	}
}

// TestBadRequest is not sent, and costs no connection.
func TestBadRequest(t *testing.T) {
	up := serve(t, Options{}, answering(hi))
	got := up.do(t.Context(), Request{Header: map[string][]string{"X": {"\n"}}})
	if !errors.Is(got.err, errRequest) || got.Sent || up.accepted.Load() != 0 {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(got.err.Error(), "X") {
		t.Errorf("error %v does not say which field", got.err)
	}
}
