package provider

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// wire is the upstream's end of a connection.
type wire struct {
	*net.TCPConn
	in *bufio.Reader
	n  int // of the connection, from 1
}

// asked reads a request.
func (w *wire) asked() bool {
	r, err := http.ReadRequest(w.in)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

func (w *wire) say(s string) bool {
	_, err := io.WriteString(w, s)
	return err == nil
}

func (w *wire) reset() {
	_ = w.SetLinger(0)
	_ = w.Close()
}

// wires plays a script on each connection to a server.
func wires(t *testing.T, script func(*wire)) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
		all  []net.Conn
	)
	wait.Go(func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w := &wire{TCPConn: c.(*net.TCPConn), in: bufio.NewReader(c), n: n} //nolint:forcetypeassert // of TCP
			mu.Lock()
			all = append(all, c)
			mu.Unlock()
			wait.Go(func() {
				defer func() { _ = w.Close() }()
				script(w)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range all {
			_ = c.Close()
		}
		mu.Unlock()
		wait.Wait()
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/x"}
}

// sent is what becomes of a request.
type sent struct {
	Class    engine.FailureClass
	Message  string
	Stopped  bool // by its context
	Reached  bool
	Again    int // how often the budget was asked
	Status   int
	Length   int64
	Header   http.Header
	Body     string
	Cut, Bad bool // the body
}

func send(t *testing.T, c *Client, u *url.URL, o Outgoing, again bool) (out sent) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	buf := NewBuffer()
	buf.B = append(buf.B, "hello"...)
	body := NewBody(buf)
	defer body.Release()
	o.URL, o.Header, o.Body = u, http.Header{"X-A": {"b"}}, body
	o.Again = func() bool {
		out.Again++
		return again
	}
	resp, err := c.Send(ctx, &o)
	out.Reached = o.Reached
	if err != nil {
		f, _ := errors.AsType[*Failure](err)
		out.Class, out.Message = f.Class, f.Message
		return out
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	out.Status, out.Length, out.Header, out.Body = resp.StatusCode, resp.ContentLength, resp.Header, string(text)
	out.Cut = errors.Is(err, io.ErrUnexpectedEOF)
	out.Bad = err != nil && !out.Cut
	return out
}

const (
	fine  = "HTTP/1.1 200 OK\r\n"
	short = fine + "Content-Length: 2\r\nX-Ratelimit-Reset: 1\r\nX-Ratelimit-Reset: 2\r\n\r\nhi"
)

// always says the same to every request, and then closes the connection.
func always(text string) func(*wire) {
	return func(w *wire) {
		if w.asked() {
			w.say(text)
		}
	}
}

// keeps says the same to every request on a connection.
func keeps(text string) func(*wire) {
	return func(w *wire) {
		for said := true; said; {
			said = w.asked() && w.say(text)
		}
	}
}

// TestBothWays plays the same upstreams to package http1 and to net/http:
// whoever calls Send cannot tell which of them made the call.
func TestBothWays(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script func(*wire)
		times  int // requests; 0 = 1
		broke  bool
		once   bool
	}{
		{name: "length", script: keeps(short), times: 3},
		{name: "chunks", script: keeps(fine + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-T: y\r\n\r\n"), times: 3},
		{name: "to the end", script: always("HTTP/1.0 200 OK\r\n\r\nhi"), times: 2},
		{name: "empty", script: keeps(fine + "Content-Length: 0\r\n\r\n"), times: 2},
		{name: "204", script: keeps("HTTP/1.1 204 No Content\r\n\r\n"), times: 2},
		{name: "304", script: keeps("HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"), times: 2},
		{name: "hints", script: keeps("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + short), times: 2},
		{name: "redirect", script: keeps("HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n"), times: 2},
		{name: "compressed", script: keeps(fine + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi"), times: 2},
		{name: "error", script: keeps("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}"), times: 2},
		{name: "switching protocols", script: always("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")},
		{name: "closed after each answer", script: always(short), times: 3},
		{name: "closed at once", script: func(*wire) {}},
		{name: "reset at once", script: (*wire).reset},
		{name: "closed when asked", script: func(w *wire) { w.asked() }},
		{name: "reset when asked", script: func(w *wire) { w.asked(); w.reset() }},
		{name: "head cut", script: always(fine + "Content-Le")},
		{name: "body cut", script: always(fine + "Content-Length: 9\r\n\r\nhi")},
		{name: "chunk cut", script: always(fine + "Transfer-Encoding: chunked\r\n\r\n9\r\nhi")},
		{name: "bad chunk", script: always(fine + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n")},
		{name: "not HTTP", script: always("-ERR what do you want?\r\n")},
		{name: "a field without a colon", script: always(fine + "what\r\n\r\n")},
		{name: "lengths that differ", script: always(fine + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi")},
		{name: "another coding", script: always(fine + "Transfer-Encoding: gzip\r\n\r\nhi")},
		{name: "large head", script: always(fine + "A: " + strings.Repeat("x", maxHeaderBytes) + "\r\n\r\n")},
		{name: "many values", script: always(fine + strings.Repeat("A: b\r\n", 5000) + "\r\n")},
		{name: "lost on a kept connection", times: 2, script: func(w *wire) {
			if w.asked() && w.say(short) && w.asked() && w.n > 1 {
				w.say(short)
			}
		}},
		{name: "lost on a kept connection by a reset", times: 2, script: func(w *wire) {
			if w.asked() && w.say(short) && w.asked() {
				w.reset()
			}
		}},
		{name: "lost, and the budget is used up", times: 2, broke: true, script: func(w *wire) {
			if w.asked() && w.say(short) {
				w.asked()
			}
		}},
		{name: "once", times: 3, once: true, script: keeps(short)},
		{name: "once, and lost", once: true, script: func(w *wire) { w.asked() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got [2][]sent
			for i := range got {
				u := wires(t, tc.script)
				c := NewClient(ClientOptions{})
				if i == 0 {
					c.all[u.Host] = &route{authority: u.Host} // by net/http
				}
				for range max(tc.times, 1) {
					got[i] = append(got[i], send(t, c, u, Outgoing{Once: tc.once}, !tc.broke))
				}
				c.Close()
			}
			hideWhatRaces(tc.name, got[:])
			if diff := cmp.Diff(got[0], got[1]); diff != "" {
				t.Errorf("(-net/http +http1):\n%s", diff)
			}
		})
	}
}

// hideWhatRaces takes out what no client can know for certain.
func hideWhatRaces(name string, got [][]sent) {
	for _, list := range got {
		for i := range list {
			s := &list[i]
			if strings.HasSuffix(name, "at once") {
				// Whether the end is seen before the first byte is written.
				s.Reached, s.Message = false, ""
			}
			if s.Header != nil {
				delete(s.Header, "Trailer")
			}
			if s.Message == "the upstream sent too many response headers" {
				s.Message = "the upstream's answer is not HTTP, or its headers are too large" // said by http1 itself
			}
			if name == "closed after each answer" {
				s.Again = 0 // whether the end is seen before the next request
			}
		}
	}
}
