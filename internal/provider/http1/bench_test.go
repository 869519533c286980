package http1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// usualAnswer is like those of the upstreams that this is made for.
var usualAnswer = []byte(ok + "Date: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n" +
	"openai-processing-ms: 500\r\nopenai-version: 2020-10-01\r\nx-request-id: req_0123456789abcdef0123456789abcdef\r\n" +
	"x-ratelimit-limit-requests: 10000\r\nx-ratelimit-limit-tokens: 2000000\r\nx-ratelimit-remaining-requests: 9999\r\n" +
	"x-ratelimit-remaining-tokens: 1999990\r\nx-ratelimit-reset-requests: 6ms\r\nx-ratelimit-reset-tokens: 0s\r\n\r\n" + strings.Repeat("x", 1000))

// fast serves requests with a body of a known length, at as little cost as can
// be.
func fast(tb testing.TB, length int) *url.URL {
	tb.Helper()
	if !Available {
		tb.Skip("not on this system")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go fastConn(c, length)
		}
	}()
	tb.Cleanup(func() {
		_ = l.Close()
		<-over
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1/chat/completions"}
}

func fastConn(c net.Conn, length int) {
	defer func() { _ = c.Close() }()
	var head []byte
	buf := make([]byte, 64<<10)
	left := 0
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		got := buf[:n]
		if left == 0 {
			head = append(head, got...)
			i := bytes.Index(head, []byte("\r\n\r\n"))
			if i < 0 {
				continue
			}
			left = length - (len(head) - i - len("\r\n\r\n"))
			head = head[:0]
		} else {
			left -= n
		}
		if left == 0 {
			if _, err := c.Write(usualAnswer); err != nil {
				return
			}
		}
	}
}

var usualHeader = http.Header{
	"User-Agent": {"gatewright/1"}, "Content-Type": {"application/json"}, "Accept": {"application/json"},
	"Authorization": {"Bearer sk-0123456789abcdef0123456789abcdef"},
}

func newOrigin(tb testing.TB, u *url.URL) *Origin {
	tb.Helper()
	o, err := NewOrigin(u.Host, Options{
		Dial: new(net.Dialer).DialContext, MaxIdle: 64, IdleTimeout: time.Hour, MaxHead: testMaxHead, MaxFields: testMaxFields,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(o.Close)
	return o
}

// call makes one call and reads the answer.
func call(ctx context.Context, o *Origin, u *url.URL, body Body, into []byte) error {
	a, err := o.Do(ctx, &Request{Method: http.MethodPost, URL: u, Header: usualHeader, Body: body})
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	if _, err := io.ReadFull(a.Body, into); err != nil {
		return err
	}
	if n, err := a.Body.Read(into[:1]); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("behind the answer: %d bytes, %w", n, err)
	}
	return nil
}

// TestAllocations keeps a call cheap. A context and what hangs on it is part of
// that.
func TestAllocations(t *testing.T) {
	const most = 20 // net/http's transport takes about 70
	content := fixed{bytes.Repeat([]byte{'x'}, 2<<10)}
	u := fast(t, len(content.b))
	o := newOrigin(t, u)
	into := make([]byte, 1000)
	if n := testing.AllocsPerRun(100, func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := call(ctx, o, u, content, into); err != nil {
			t.Error(err)
		}
	}); n > most {
		t.Errorf("%v allocations, want %d at most", n, most)
	}
}

func BenchmarkDo(b *testing.B) {
	for name, size := range map[string]int{"2KB": 2 << 10, "100KB": 100 << 10} {
		content := fixed{[]byte(strings.Repeat("x", size))}
		u := fast(b, size)
		b.Run("http1/"+name, func(b *testing.B) {
			o := newOrigin(b, u)
			into := make([]byte, 1000)
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				if err := call(ctx, o, u, content, into); err != nil {
					b.Fatal(err)
				}
				cancel()
			}
		})
		b.Run("nethttp/"+name, func(b *testing.B) {
			via := &http.Transport{WriteBufferSize: blockSize, ReadBufferSize: 8 << 10, DisableCompression: true}
			defer via.CloseIdleConnections()
			into := make([]byte, 1000)
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				r := &http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: usualHeader, ContentLength: int64(size), Body: io.NopCloser(bytes.NewReader(content.b))}
				a, err := via.RoundTrip(r.WithContext(ctx))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(a.Body, into); err != nil {
					b.Fatal(err)
				}
				if _, err := a.Body.Read(into); err == nil {
					b.Fatal("more than the answer")
				}
				_ = a.Body.Close()
				cancel()
			}
		})
	}
}

// fixed is a body that costs nothing.
type fixed struct{ b []byte }

func (f fixed) Bytes() []byte { return f.b }
func (fixed) Written()        {}

// BenchmarkHead reads a head.
func BenchmarkHead(b *testing.B) {
	o := &Origin{options: Options{MaxHead: testMaxHead, MaxFields: testMaxFields}}
	buf := make([]byte, len(usualAnswer))
	b.ReportAllocs()
	for b.Loop() {
		copy(buf, usualAnswer)
		x := &exchange{origin: o, ctx: b.Context(), in: buffer{b: buf, w: len(buf)}}
		if err := x.readHead(http.MethodPost); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRequest writes a head.
func BenchmarkRequest(b *testing.B) {
	r := &Request{Method: http.MethodPost, URL: &url.URL{Path: "/v1/chat/completions"}, Header: usualHeader, Body: fixed{}}
	buf := make([]byte, 0, blockSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.appendHead(buf, "127.0.0.1:8080", 2000); err != nil {
			b.Fatal(err)
		}
	}
}
