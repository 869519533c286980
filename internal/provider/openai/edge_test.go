package openai

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log" //nolint:depguard // net/http takes its logger from there
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
)

const plainAnswer = `{"id":"x","object":"chat.completion","model":"up-model","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`

// serveHTTP makes a rig of handlers; without b there is one deployment.
func serveHTTP(t *testing.T, o rigOptions, a, b http.HandlerFunc) *rig {
	t.Helper()
	client := provider.NewClient(provider.ClientOptions{Connect: 2 * time.Second})
	urls := map[string]string{}
	for id, h := range map[string]http.HandlerFunc{"a": a, "b": b} {
		if h == nil {
			continue
		}
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		urls[id] = srv.URL
	}
	t.Cleanup(client.Close)
	if o.timeouts == (engine.Timeouts{}) {
		o.timeouts = engine.Timeouts{FirstToken: 30 * time.Second, Idle: 30 * time.Second, Answer: 30 * time.Second}
	}
	return newEngine(t, o, client, urls)
}

func answering(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, plainAnswer)
}

// TestCompressedError reads an error body through its encoding.
func TestCompressedError(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `{"error":{"message":"messages must not be empty","type":"invalid_request_error","param":"messages","code":"empty_array"}}`)
	_ = z.Close()
	r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(packed.Bytes())
	}, nil)
	_, _, err := r.ask(t.Context(), false)
	u := upstreamError(t, err)
	if u.Status != 400 || u.Message != "messages must not be empty" || u.Param != "messages" || u.Code != "empty_array" || u.Type != "invalid_request_error" {
		t.Errorf("error %+v", u)
	}
}

// TestErrorBodyThatHangs goes by the status when the rest does not come.
func TestErrorBodyThatHangs(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"wrong in`)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-req.Context().Done():
		case <-done:
		}
	}, answering)
	defer close(done)
	_, d, err := r.ask(t.Context(), false)
	if u := upstreamError(t, err); u.Status != 400 || attempts(d) != "a:client" {
		t.Errorf("error %+v, attempts %s", u, attempts(d))
	}
}

// TestCompressedStreamIsNotDelayed passes on what a compressed stream has
// flushed.
func TestCompressedStreamIsNotDelayed(t *testing.T) {
	seen := make(chan struct{})
	r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		send := func(s string) {
			_, _ = io.WriteString(z, "data: "+s+"\n\n")
			_ = z.Flush()
			_ = http.NewResponseController(w).Flush()
		}
		send(`{"choices":[{"index":0,"delta":{"content":"one"}}]}`)
		<-seen // the client has the first event before there is a second
		send(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
		send(`[DONE]`)
		_ = z.Close()
	}, nil)
	s := &flushSink{want: "one", seen: seen}
	_, err := r.engine.Serve(t.Context(), r.snapshot, request(t, wire.Chat, requestBody(true), nil), s, time.Now)
	if err != nil || !strings.Contains(s.out.String(), "[DONE]") {
		t.Errorf("got %v, %q", err, s.out.String())
	}
}

// flushSink tells when what it wants to see has been flushed.
type flushSink struct {
	sink
	want string
	seen chan struct{}
}

// Flush implements [engine.Sink].
func (s *flushSink) Flush() error {
	if s.want != "" && strings.Contains(s.out.String(), s.want) {
		s.want = ""
		close(s.seen)
	}
	return nil
}

// TestStaleConnection sends a request again when the connection that it went
// out on had been closed, and tells nobody.
func TestStaleConnection(t *testing.T) {
	r := newRig(t, rigOptions{}, "script: [{fault: close-on-reuse}]", "{}")
	for i := range 3 {
		s, d, err := r.ask(t.Context(), false)
		if err != nil || attempts(d) != "a:ok" {
			t.Fatalf("request %d: %s, %v", i, attempts(d), err)
		}
		if got := s.read(t, false).Text; got != "this is upstream a speaking" {
			t.Errorf("request %d: %q", i, got)
		}
	}
	if n := r.stats("a").Failed; n != 0 {
		t.Errorf("%d failures", n)
	}
}

// TestOneFreshConnection gives up when the new connection breaks too.
func TestOneFreshConnection(t *testing.T) {
	var calls atomic.Int32
	r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, req *http.Request) {
		if calls.Add(1) == 1 {
			answering(w, req)
			return
		}
		panic(http.ErrAbortHandler)
	}, answering)
	if _, _, err := r.ask(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	_, d, err := r.ask(t.Context(), false)
	if err != nil || attempts(d) != "a:connect b:ok" {
		t.Errorf("got %s, %v", attempts(d), err)
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("a saw %d requests, want the first, the one on the kept connection and one more", n)
	}
}

// TestFreshConnectionsAreBudgeted fails over instead when the retry budget is
// used up: an upstream that resets what it has read must not be called twice for
// each request.
func TestFreshConnectionsAreBudgeted(t *testing.T) {
	r := newRig(t, rigOptions{retries: &provider.RetryBudget{}}, "script: [{fault: close-on-reuse}]", "{}")
	if _, _, err := r.ask(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	_, d, err := r.ask(t.Context(), false)
	if err != nil || attempts(d) != "a:connect b:ok" || !strings.Contains(d.Attempts[0].Note, "retry budget") {
		t.Errorf("%s, %q, %v", attempts(d), d.Attempts[0].Note, err)
	}
	if n := r.fake.Calls("a"); n != 1 {
		t.Errorf("a saw %d requests, want the first alone", n)
	}
}

// TestKeptConnections uses one connection for many requests, whatever their
// end.
func TestKeptConnections(t *testing.T) {
	for _, streams := range []bool{false, true} {
		t.Run(strconv.FormatBool(streams), func(t *testing.T) {
			var mu sync.Mutex
			seen := map[string]bool{}
			r := serveHTTP(t, rigOptions{}, func(w http.ResponseWriter, req *http.Request) {
				mu.Lock()
				seen[req.RemoteAddr] = true
				mu.Unlock()
				if !streams {
					answering(w, req)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
				_ = http.NewResponseController(w).Flush()
			}, nil)
			for range 20 {
				if _, _, err := r.ask(t.Context(), streams); err != nil {
					t.Fatal(err)
				}
			}
			if len(seen) != 1 {
				t.Errorf("%d connections for 20 requests in a row", len(seen))
			}
		})
	}
}

// TestHTTP2 talks HTTP/2 over TLS, and sees a stream that is reset.
func TestHTTP2(t *testing.T) {
	var protocol string
	abort := false
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		protocol = req.Proto
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		if abort {
			panic(http.ErrAbortHandler) // RST_STREAM
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	client := provider.NewClient(provider.ClientOptions{RootCAs: trusting(srv.Certificate())})
	defer client.Close()
	r := newEngine(t, rigOptions{}, client, map[string]string{"a": srv.URL})
	s, _, err := r.ask(t.Context(), true)
	if err != nil || protocol != "HTTP/2.0" || s.read(t, true).Text != "x" {
		t.Errorf("got %v over %s: %+v", err, protocol, s.read(t, true))
	}
	srv.Config.SetKeepAlivesEnabled(false) // GOAWAY: the next call needs another connection
	if _, d, err := r.ask(t.Context(), true); err != nil || attempts(d) != "a:ok" {
		t.Errorf("after GOAWAY: %s, %v", attempts(d), err)
	}
	abort = true
	_, d, err := r.ask(t.Context(), true)
	if u := upstreamError(t, err); !u.Committed || attempts(d) != "a:truncated" {
		t.Errorf("got %+v, %s", u, attempts(d))
	}
}

func trusting(c *x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return pool
}

// TestConnect is about upstreams that cannot be reached.
func TestConnect(t *testing.T) {
	quiet := log.New(io.Discard, "", 0) // the servers' complaints are what is wanted
	untrusted := httptest.NewUnstartedServer(http.HandlerFunc(answering))
	untrusted.Config.ErrorLog = quiet
	untrusted.StartTLS()
	defer untrusted.Close()
	plain := httptest.NewServer(http.HandlerFunc(answering))
	defer plain.Close()
	old := httptest.NewUnstartedServer(http.HandlerFunc(answering))
	old.Config.ErrorLog = quiet
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	defer old.Close()
	hangup := listen(t, func(c net.Conn) { _ = c.Close() })
	mute := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	cases := []struct {
		name, url   string
		class, code string
		status      int
		connect     time.Duration
	}{
		{name: "F01 refused", url: "http://" + gone.Addr().String(), class: "connect", code: engine.CodeUpstreamConnect, status: 502},
		{name: "F03 handshake never answered", connect: 300 * time.Millisecond, url: "https://" + mute, class: "timeout", code: engine.CodeUpstreamTimeout, status: 504},
		{name: "F04 certificate not trusted", url: untrusted.URL, class: "connect", code: engine.CodeUpstreamConnect, status: 502},
		{name: "F04 old TLS", url: old.URL, class: "connect", code: engine.CodeUpstreamConnect, status: 502},
		{name: "F04 no TLS", url: strings.Replace(plain.URL, "http:", "https:", 1), class: "connect", code: engine.CodeUpstreamConnect, status: 502},
		{name: "F04 handshake cut", url: "https://" + hangup, class: "connect", code: engine.CodeUpstreamConnect, status: 502},
		{name: "F05 closed before reading", url: "http://" + hangup, class: "connect", code: engine.CodeUpstreamConnect, status: 502},
	}
	limits := engine.Timeouts{FirstToken: 30 * time.Second, Answer: 30 * time.Second}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			client := provider.NewClient(provider.ClientOptions{Connect: tc.connect})
			defer client.Close()
			r := newEngine(t, rigOptions{timeouts: limits}, client, map[string]string{"a": tc.url})
			_, d, err := r.ask(t.Context(), false)
			u := upstreamError(t, err)
			if attempts(d) != "a:"+tc.class || u.Status != tc.status || u.Code != tc.code {
				t.Errorf("attempts %s, error %+v", attempts(d), u)
			}
			if strings.Contains(u.Message, "127.0.0.1") {
				t.Errorf("the message names an address: %s", u.Message)
			}
			r = newEngine(t, rigOptions{timeouts: limits}, client, map[string]string{"a": tc.url, "b": plain.URL})
			if _, d, err = r.ask(t.Context(), true); err != nil || attempts(d) != "a:"+tc.class+" b:ok" {
				t.Errorf("with b healthy: %s, %v", attempts(d), err)
			}
		})
	}
}

// listen handles connections until the test ends.
func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wait.Go(func() { handle(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wait.Wait()
	})
	return l.Addr().String()
}

// TestBodyOutlivesAnswer answers before the body has been read, while other
// requests use the same pool of buffers: no request may see another's body.
func TestBodyOutlivesAnswer(t *testing.T) {
	const size = 300 << 10
	want := map[[32]byte]bool{}
	var mu sync.Mutex
	bad := 0
	r := serveHTTP(t, rigOptions{retry: engine.RetryPolicy{MaxAttempts: 1}},
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusServiceUnavailable) // the body is still on its way
		},
		func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			sum := sha256.Sum256(bytes.Replace(body, []byte("up-model"), []byte(publicModel), 1))
			mu.Lock()
			if err != nil || !want[sum] {
				bad++
			}
			mu.Unlock()
			answering(w, req)
		})
	var wait sync.WaitGroup
	for i := range 8 {
		body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, publicModel, strings.Repeat(strconv.Itoa(i), size))
		mu.Lock()
		want[sha256.Sum256([]byte(body))] = true
		mu.Unlock()
		wait.Go(func() {
			for range 20 {
				if _, d, err := r.serve(t.Context(), request(t, wire.Chat, body, nil)); err != nil {
					t.Errorf("%s: %v", attempts(d), err)
				}
			}
		})
	}
	wait.Wait()
	if bad != 0 {
		t.Errorf("%d bodies arrived damaged", bad)
	}
}
