package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// upstream is a server whose connections are scripted.
type upstream struct {
	t        *testing.T
	origin   *Origin
	url      *url.URL
	accepted atomic.Int32
	open     atomic.Int32 // connections of the origin

	mu    sync.Mutex
	peers []*peer
}

// peer is the server's end of a connection.
type peer struct {
	*net.TCPConn
	in   *bufio.Reader
	n    int           // of the connection, from 1
	over chan struct{} // closed when the test is over, where a script needs it
}

// serve starts a server that plays a script on each connection, and closes it
// then. The origin's connections must be closed when the test is over.
func serve(t *testing.T, o Options, script func(p *peer)) *upstream {
	t.Helper()
	if !Available {
		t.Skip("not on this system")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	up := &upstream{t: t, url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/x"}}
	if o.MaxIdle == 0 {
		o.MaxIdle = 8
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = time.Hour
	}
	o.MaxHead, o.MaxFields = testMaxHead, testMaxFields
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		up.open.Add(1)
		return &counted{TCPConn: c.(*net.TCPConn), open: &up.open}, nil //nolint:forcetypeassert // of TCP
	}
	if up.origin, err = NewOrigin(up.url.Host, o); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p := &peer{TCPConn: c.(*net.TCPConn), in: bufio.NewReader(c), n: int(up.accepted.Add(1))} //nolint:forcetypeassert // of TCP
			up.mu.Lock()
			up.peers = append(up.peers, p)
			up.mu.Unlock()
			wait.Go(func() {
				defer func() { _ = p.Close() }()
				script(p)
			})
		}
	})
	t.Cleanup(func() {
		up.origin.Close()
		if n := up.open.Load(); n != 0 {
			t.Errorf("%d connections are left open", n)
		}
		_ = l.Close()
		up.mu.Lock()
		for _, p := range up.peers {
			_ = p.Close()
		}
		up.mu.Unlock()
		wait.Wait()
	})
	return up
}

// counted counts connections that are open.
type counted struct {
	*net.TCPConn
	open *atomic.Int32
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.TCPConn.Close()
}

// head reads a request without its body.
func (p *peer) head() (*http.Request, bool) {
	r, err := http.ReadRequest(p.in)
	return r, err == nil
}

// request reads a request and returns its body.
func (p *peer) request() (string, bool) {
	r, ok := p.head()
	if !ok {
		return "", false
	}
	body, err := io.ReadAll(r.Body)
	return string(body), err == nil
}

func (p *peer) say(s string) bool {
	_, err := io.WriteString(p, s)
	return err == nil
}

// reset closes the connection with a reset.
func (p *peer) reset() {
	_ = p.SetLinger(0)
	_ = p.Close()
}

// answering answers every request with the same.
func answering(answer string) func(*peer) {
	return func(p *peer) {
		for {
			if _, ok := p.request(); !ok || !p.say(answer) {
				return
			}
		}
	}
}

// released is a body that counts how often it was released.
type released struct {
	text []byte
	n    atomic.Int32
}

func (b *released) Bytes() []byte { return b.text }
func (b *released) Written()      { b.n.Add(1) }

// result is what became of one request.
type result struct {
	Request
	status int
	body   string
	err    error // of Do, or of the body
}

// do sends a request and reads the answer.
func (up *upstream) do(ctx context.Context, r Request) result {
	up.t.Helper()
	body := &released{text: []byte("hello")}
	if r.Body != nil {
		body.text = r.Body.Bytes()
	}
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	r.URL, r.Body = up.url, body
	a, err := up.origin.Do(ctx, &r)
	out := result{Request: r, err: err}
	if err == nil {
		var text []byte
		out.status = a.StatusCode
		text, out.err = io.ReadAll(a.Body)
		out.body = string(text)
		_ = a.Body.Close()
	}
	if n := body.n.Load(); n != 1 {
		up.t.Errorf("the body was released %d times", n)
	}
	return out
}

// get sends a request and returns the body of the answer, unread.
func (up *upstream) get() io.ReadCloser {
	up.t.Helper()
	a, err := up.origin.Do(up.t.Context(), &Request{Method: http.MethodGet, URL: up.url})
	if err != nil {
		up.t.Fatal(err)
	}
	return a.Body
}

// want checks a result.
func (up *upstream) want(got result, status int, body string, reused bool) {
	up.t.Helper()
	if got.err != nil || got.status != status || got.body != body || got.Reused != reused || !got.Sent || !got.Answered {
		up.t.Errorf("got status %d, body %.40q, reused %t, sent %t, answered %t, error %v; want %d, %.40q, reused %t",
			got.status, got.body, got.Reused, got.Sent, got.Answered, got.err, status, body, reused)
	}
}

// kept returns how many connections are kept.
func (o *Origin) kept() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.idle)
}

// soon waits until something is so.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatalf("not %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

var errEnough = errors.New("enough")
