package provider

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// TestBudget is the retry budget's bound: whatever comes, the repeats of a span
// are at most the ratio of its requests, and so many for each second of it and
// one more.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := RetryBudget{
			RatioPPM:  rapid.Int64Range(0, 1_000_000).Draw(t, "ratio"),
			PerSecond: rapid.Int64Range(0, 50).Draw(t, "per second"),
		}
		var b bucket
		b.set(budget)
		now := time.Unix(1_800_000_000, 0)
		began := now
		var requests, repeats int64
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "ms")) * time.Millisecond)
			for range rapid.IntRange(0, 20).Draw(t, "requests") {
				b.request()
				requests++
			}
			for range rapid.IntRange(0, 5).Draw(t, "wishes") {
				pay := b.take
				if rapid.Bool().Draw(t, "any") {
					pay = b.takeAny
				}
				if pay(now) {
					repeats++
				}
			}
			most := float64(requests)*float64(budget.RatioPPM)/1e6 + float64(budget.PerSecond)*(now.Sub(began).Seconds()+1)
			if float64(repeats) > most+1e-6 {
				t.Fatalf("%d repeats, at most %.2f", repeats, most)
			}
		}
	})
}

// TestBudgetIsUsable grants what it promises.
func TestBudgetIsUsable(t *testing.T) {
	var b bucket
	b.set(DefaultRetryBudget())
	now := time.Unix(1_800_000_000, 0)
	granted := 0
	for range 60 * 100 {
		b.request()
		if b.take(now) {
			granted++
		}
		now = now.Add(10 * time.Millisecond)
	}
	// 6,000 requests in 60 s: 1,200 of them and 600.
	if granted < 1780 || granted > 1820 {
		t.Errorf("%d repeats granted, want about 1800", granted)
	}
	var none bucket
	none.set(RetryBudget{})
	none.request()
	if none.take(now) {
		t.Error("a budget of nothing grants a repeat")
	}
}

// TestBudgetLeavesSomething keeps three of ten for requests that a closed
// connection has lost.
func TestBudgetLeavesSomething(t *testing.T) {
	for perSecond, want := range map[int64][2]int{1: {1, 0}, 3: {3, 0}, 4: {3, 1}, 10: {7, 3}, 50: {35, 15}} {
		var b bucket
		b.set(RetryBudget{PerSecond: perSecond})
		now := time.Unix(1_800_000_000, 0)
		count := func(pay func(time.Time) bool) (n int) {
			for pay(now) {
				n++
			}
			return n
		}
		if got := [2]int{count(b.take), count(b.takeAny)}; got != want {
			t.Errorf("%d a second: %v, want %v", perSecond, got, want)
		}
	}
}

// TestPause keeps the waits between calls of one deployment below their bounds.
func TestPause(t *testing.T) {
	for n, bound := range map[int]time.Duration{1: 250 * time.Millisecond, 2: 500 * time.Millisecond, 5: 4 * time.Second, 6: 8 * time.Second, 60: 8 * time.Second} {
		for range 200 {
			if d := pauseBefore(n); d < 0 || d >= bound {
				t.Fatalf("pause before repeat %d: %v, want below %v", n, d, bound)
			}
		}
	}
}

// TestBuffer reads bodies within and beyond their limit.
func TestBuffer(t *testing.T) {
	cases := []struct {
		name        string
		text        string
		size, limit int64
		err         error
	}{
		{name: "known size", text: "hello", size: 5, limit: 5},
		{name: "unknown size", text: strings.Repeat("x", 10_000), size: -1, limit: 10_000},
		{name: "size said too small", text: "hello", size: 2, limit: 10},
		{name: "said to be too large", text: "", size: 11, limit: 10, err: ErrTooLarge},
		{name: "too large", text: strings.Repeat("x", 10_001), size: -1, limit: 10_000, err: ErrTooLarge},
		{name: "empty", text: "", size: 0, limit: 10},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			b := NewBuffer()
			defer b.Free()
			err := b.Fill(iotest.OneByteReader(strings.NewReader(tc.text)), tc.size, tc.limit)
			if !errors.Is(err, tc.err) {
				t.Fatalf("got %v, want %v", err, tc.err)
			}
			if err == nil && string(b.B) != tc.text {
				t.Errorf("got %d bytes, want %d", len(b.B), len(tc.text))
			}
			if int64(len(b.B)) > tc.limit+1 {
				t.Errorf("%d bytes were kept", len(b.B))
			}
		})
	}
	b := NewBuffer()
	if err := b.Fill(iotest.TimeoutReader(strings.NewReader("hello")), -1, 10); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

// TestBody reads one body many times at once, as transports do, while the
// owner gives it up.
func TestBody(t *testing.T) {
	text := strings.Repeat("0123456789", 10_000)
	for range 20 {
		buf := NewBuffer()
		buf.B = append(buf.B, text...)
		body := NewBody(buf)
		var wait sync.WaitGroup
		for range 8 {
			r := body.Reader()
			wait.Go(func() {
				if got, err := io.ReadAll(r); err != nil || string(got) != text {
					t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
				}
				_ = r.Close()
				body.Written()
			})
		}
		body.Release()
		wait.Wait()
		if n := body.refs.Load(); n != 0 {
			t.Fatalf("%d holds are left", n)
		}
	}
}

// TestBodyIsKept gives memory back only when nobody can read it any more.
func TestBodyIsKept(t *testing.T) {
	buf := NewBuffer()
	buf.B = append(buf.B, "hello"...)
	body := NewBody(buf)
	r := body.Reader()
	body.Release()
	if n := body.refs.Load(); n != 1 {
		t.Fatalf("%d holds while a reader is not written", n)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	body.Written()
	if n := body.refs.Load(); n != 0 {
		t.Errorf("%d holds after the write", n)
	}
}

// TestBodiesOverConnections sends many bodies over few connections that are
// closed now and then: each arrives as it was sent, however often it was begun.
func TestBodiesOverConnections(t *testing.T) {
	var served atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if n := served.Add(1); n%5 == 0 {
			w.Header().Set("Connection", "close")
		}
		if err == nil {
			sum := sha256.Sum256(got)
			_, _ = w.Write(sum[:])
		}
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(ClientOptions{})
	defer client.Close()
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 60 {
				text := strings.Repeat(string(rune('a'+(g+i)%26)), 10+i*1500)
				buf := NewBuffer()
				buf.B = append(buf.B, text...)
				body := NewBody(buf)
				resp, err := client.Post(t.Context(), u, http.Header{}, body)
				body.Release()
				if err != nil {
					t.Errorf("send: %v", err)
					continue
				}
				got, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if want := sha256.Sum256([]byte(text)); string(got) != string(want[:]) {
					t.Error("another body arrived")
				}
			}
		})
	}
	wait.Wait()
}

// TestShortBody goes out with its headers in one write.
func TestShortBody(t *testing.T) {
	var writes atomic.Int32
	server, client := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		if req, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}
	}()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return &countedConn{Conn: client, writes: &writes}, nil
	}, WriteBufferSize: writeBuffer}
	defer transport.CloseIdleConnections()
	buf := NewBuffer()
	buf.B = append(buf.B, strings.Repeat("y", 2000)...)
	body := NewBody(buf)
	defer body.Release()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://up/", body.Reader())
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(body.Len())
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if n := writes.Load(); n != 1 {
		t.Errorf("%d writes, want headers and body in one", n)
	}
}

// countedConn counts writes.
type countedConn struct {
	net.Conn
	writes *atomic.Int32
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// TestCredential carries a secret and shows it to nobody.
func TestCredential(t *testing.T) {
	const secret = "sk-canary/0123+456"
	c, err := NewCredential("authorization", "Bearer ", secret)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	if c.Set(h); h.Get("Authorization") != "Bearer "+secret {
		t.Errorf("header %v", h)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", slog.Any("credential", c))
	text, err := json.Marshal(map[string]any{"credential": c})
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %d %x", c, c, c, c, c, c, c) + log.String() + string(text)
	if strings.Contains(shown, "canary") || strings.Contains(shown, fmt.Sprintf("%x", "canary")) {
		t.Errorf("the secret shows: %s", shown)
	}
	echo := "said " + secret + " and sk-canary%2F0123%2B456"
	if got := NewKeyring(c).Mask(echo); strings.Contains(got, "canary") {
		t.Errorf("masked: %s", got)
	}
	for _, bad := range [][3]string{{"Authorization", "", ""}, {"", "", "x"}, {"Authorization", "", "x\ny"}, {"Authorization", "\r", "x"}} {
		if _, err := NewCredential(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestHeaderLists checks what passes in each direction.
func TestHeaderLists(t *testing.T) {
	up := http.Header{"Set-Cookie": {"a"}, "Openai-Model": {"x"}, "X-Ratelimit-Reset": {"1", "2"}, "Anthropic-Long": {strings.Repeat("x", 600)}}
	got := ResponseHeader(up)
	if len(got) != 2 || len(got["X-Ratelimit-Reset"]) != 1 || got.Get("Openai-Model") != "x" {
		t.Errorf("passed down: %v", got)
	}
	many := http.Header{}
	for i := range 1000 {
		many.Set(fmt.Sprintf("Openai-%d", i), "x")
	}
	if n := len(ResponseHeader(many)); n != maxPassed {
		t.Errorf("%d headers pass down", n)
	}
	for id, want := range map[string]string{"req-1": "req-1", "bad id": "", "bad\x01": "", "": "", strings.Repeat("x", 200): ""} {
		if got := RequestID(http.Header{"X-Request-Id": {id}}); got != want {
			t.Errorf("request id %q is shown as %q", id, got)
		}
	}
	if got := RequestID(http.Header{"X-Request-Id": {"not shown"}, "Apim-Request-Id": {"azure"}}); got != "azure" {
		t.Errorf("request id %q", got)
	}
}

// TestRefusalsLog logs a refused credential once, and again only after a while.
func TestRefusalsLog(t *testing.T) {
	var log bytes.Buffer
	r := newRefusals(slog.New(slog.NewTextHandler(&log, nil)))
	now := time.Unix(1_800_000_000, 0)
	for i := range 10 {
		r.refused("p", "d", now.Add(time.Duration(i)*time.Second))
		r.refused("p", "d", now.Add(time.Duration(i)*time.Second))
		r.served("p")
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d lines for one provider that changes its mind:\n%s", n, log.String())
	}
	r.refused("p", "d", now.Add(refusedLog))
	if n := strings.Count(log.String(), "level=ERROR"); n != 2 || len(r.list()) != 1 {
		t.Errorf("%d lines, list %v", n, r.list())
	}
}
