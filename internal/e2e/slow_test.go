package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const slowRest = `
models: {m: {deployments: [a]}}
timeouts: {idle: 60s}
`

// TestHalfOpenHeaders holds connections that never finish their headers, half
// of them a byte at a time: healthy traffic does not notice, and each is cut.
func TestHalfOpenHeaders(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(slowRest)), t.TempDir())
	n := either(300, 5000)
	alone := healthy(t, gw, time.Second)

	var mu sync.Mutex
	var cut []time.Duration
	var holding sync.WaitGroup
	for i := range n {
		conn := dial(t, gw.address)
		began := time.Now()
		_, _ = fmt.Fprint(conn, gw.head()+"X-Slow: ")
		holding.Go(func() {
			if i%2 == 0 {
				go drip(conn)
			}
			_ = conn.SetReadDeadline(began.Add(30 * time.Second))
			for buf := make([]byte, 512); ; {
				if _, err := conn.Read(buf); err != nil {
					break
				}
			}
			mu.Lock()
			cut = append(cut, time.Since(began))
			mu.Unlock()
		})
	}
	besides := healthy(t, gw, 5*time.Second)
	holding.Wait()
	figures := spreadOf(cut)
	t.Logf("%d half-open connections, cut after %+v; healthy requests took %+v alone, %+v beside them", n, figures, alone, besides)
	if limit := 20 * time.Second; figures.Max > limit { // the goal is ten, on a machine of its own
		t.Errorf("a connection was cut after %s, want at most %s", figures.Max, limit)
	}
}

// drip sends a byte each half second until the connection ends.
func drip(conn net.Conn) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := conn.Write([]byte{'x'}); err != nil {
			return
		}
	}
}

// healthy sends about a hundred requests a second; all must be served.
func healthy(t *testing.T, gw *process, length time.Duration) spread {
	t.Helper()
	clients := newCaller(t, gw, 4)
	var took []time.Duration
	for end := time.Now().Add(length); time.Now().Before(end); {
		got := clients.chat(t.Context(), question(""), nil)
		if !got.served() {
			t.Errorf("a healthy request: %v", got)
		}
		took = append(took, got.took)
		wait(t, time.Now().Add(10*time.Millisecond))
	}
	return spreadOf(took)
}

// TestSlowReaders opens streams that nobody reads: what the gateway holds of
// each is bounded, and the upstream is slowed down instead.
func TestSlowReaders(t *testing.T) {
	for _, c := range []struct {
		name  string
		event int // bytes of content
		limit int64
	}{
		// The goal is 64 KiB of buffers. What the process grows by has stacks and
		// the collector's slack on top.
		{"events of a token", 20, 160 << 10},
		{"events of 16 KiB", 16 << 10, 320 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var running atomic.Int64
			up := httptest.NewServer(endless(c.event, &running))
			t.Cleanup(up.Close)
			gw := gateway(t, write(t, "g.yaml", fmt.Sprintf("listen: 127.0.0.1:0\nproviders: {a: {protocol: openai, base_url: %q, auth: none}}\n%s", up.URL, slowRest)), t.TempDir())
			n := either(60, 1000)
			var readers []net.Conn
			open := func(to int) {
				for len(readers) < to {
					readers = append(readers, unread(t, gw))
				}
				eventually(t, 30*time.Second, "every stream runs", func() bool { return running.Load() == int64(to) })
				wait(t, time.Now().Add(2*time.Second)) // until every buffer is full
			}
			open(n / 4) // what the first ones need once for all is not counted
			before := gw.usage(t)
			open(n)
			after := gw.usage(t)
			each := (after.rss - before.rss) / int64(n-n/4)
			t.Logf("%d readers that do not read: %d KiB each (%v, then %v)", n, each>>10, before, after)
			if each > c.limit {
				t.Errorf("%d bytes for each reader, want at most %d", each, c.limit)
			}
			for _, conn := range readers {
				_ = conn.Close()
			}
			eventually(t, 10*time.Second, "every stream has ended", func() bool { return running.Load() == 0 })
		})
	}
}

// unread asks for a stream and reads nothing of it.
func unread(t *testing.T, gw *process) net.Conn {
	t.Helper()
	conn := dial(t, gw.address)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10) // the less the system holds, the sooner the gateway has to
	}
	body := question(`"stream": true,`)
	_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", gw.head(), len(body), body)
	return conn
}

// endless is an upstream whose streams go on as long as they are taken. It
// counts those that run.
func endless(size int, running *atomic.Int64) http.HandlerFunc {
	event := []byte(`data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"` +
		strings.Repeat("x", size) + "\"},\"finish_reason\":null}]}\n\n")
	return func(w http.ResponseWriter, _ *http.Request) {
		running.Add(1)
		defer running.Add(-1)
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
	}
}
