package http1

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// large is a body that no socket takes at once.
var large = text(strings.Repeat("0123456789abcdef", 1<<20))

// TestBodySizes sends and receives bodies of all sizes on kept connections.
func TestBodySizes(t *testing.T) {
	var chunks bool
	up := serve(t, Options{}, func(p *peer) {
		for {
			body, good := p.request()
			if !good {
				return
			}
			if !chunks {
				p.say(ok + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
				continue
			}
			p.say(chunky)
			for len(body) > 0 {
				n := min(len(body), 1+len(body)/3)
				p.say(strconv.FormatInt(int64(n), 16) + "\r\n" + body[:n] + "\r\n")
				body = body[n:]
			}
			p.say("0\r\n\r\n")
		}
	})
	for _, chunks = range []bool{false, true} {
		for _, size := range []int{0, 1, 100, blockSize - 200, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize, 1 << 20, len(large)} {
			got := up.do(t.Context(), Request{Body: large[:size]})
			if got.err != nil || got.body != string(large[:size]) {
				t.Errorf("%d bytes: got %d, %v", size, len(got.body), got.err)
			}
		}
	}
	if n := up.accepted.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestOneWrite sends a usual request, head and body, at once.
func TestOneWrite(t *testing.T) {
	up := serve(t, Options{}, func(p *peer) {
		in := make([]byte, 2*blockSize)
		for {
			n, err := p.Read(in)
			if err != nil {
				return
			}
			if whole := bytes.HasSuffix(in[:n], []byte("end")); !whole {
				p.say("HTTP/1.1 400 In Pieces\r\nContent-Length: 0\r\n\r\n")
				return
			}
			p.say(hi)
		}
	})
	for i := range 3 {
		up.want(up.do(t.Context(), Request{Body: text(strings.Repeat("x", blockSize*3/4) + "end")}), 200, "hi", i > 0)
	}
}

// TestLongHead sends a head that is larger than the memory of an exchange.
func TestLongHead(t *testing.T) {
	up := serve(t, Options{}, func(p *peer) {
		for {
			r, good := p.head()
			if !good {
				return
			}
			body, _ := io.ReadAll(r.Body)
			p.say(ok + "Content-Length: 8\r\n\r\n" + fmt.Sprintf("%06d", len(r.Header.Get("X-Long"))) + string(body[:2]))
		}
	})
	for range 2 {
		if got := up.do(t.Context(), Request{Header: http.Header{"X-Long": {strings.Repeat("x", 2*blockSize)}}}); got.body != "032768he" {
			t.Errorf("got %q, %v", got.body, got.err)
		}
	}
}

// TestStreams hands out what has come before the rest has.
func TestStreams(t *testing.T) {
	for name, tc := range map[string]struct{ head, pieces, end string }{
		"chunks":     {chunky, "3\r\n%d..\r\n", "0\r\n\r\n"},
		"length":     {ok + "Content-Length: 15\r\n\r\n", "%d..", ""},
		"to the end": {ok + "\r\n", "%d..", ""},
	} {
		t.Run(name, func(t *testing.T) {
			took := make(chan struct{})
			up := serve(t, Options{}, func(p *peer) {
				if _, good := p.request(); !good || !p.say(tc.head) {
					return
				}
				for i := range 5 {
					p.say(fmt.Sprintf(tc.pieces, i))
					<-took
				}
				p.say(tc.end)
			})
			body := up.get()
			for i := range 5 {
				var piece [100]byte
				if n, err := io.ReadAtLeast(body, piece[:], 3); string(piece[:n]) != strconv.Itoa(i)+".." || err != nil {
					t.Fatalf("got %q, %v", piece[:n], err)
				}
				took <- struct{}{}
			}
			if n, err := body.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %d, %v", n, err)
			}
			if n, err := body.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("once more: %d, %v", n, err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
			if n, err := body.Read(make([]byte, 10)); n != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) && !errors.Is(err, io.EOF) {
				t.Errorf("after Close: %d, %v", n, err)
			}
		})
	}
}

// TestEarlyAnswers reads an answer that comes while the request is being
// written. The connection is not used again, unless the upstream takes the rest.
func TestEarlyAnswers(t *testing.T) {
	const refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"
	for _, tc := range []struct {
		name   string
		script func(*peer)
		kept   bool // may it be
		status int
	}{
		{"and then nothing", func(p *peer) {
			if _, good := p.head(); good {
				p.say(refusal)
				<-p.over
			}
		}, false, 413},
		{"and closed", func(p *peer) {
			if _, good := p.head(); good {
				p.say("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig")
				_ = p.CloseWrite()
				_, _ = io.Copy(io.Discard, p)
			}
		}, false, 413},
		{"and the rest is read", func(p *peer) {
			for {
				r, good := p.head()
				if !good || !p.say(refusal) {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
			}
		}, true, 413},
		{"without a body", func(p *peer) {
			if _, good := p.head(); good {
				p.say("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
				_, _ = io.Copy(io.Discard, p)
			}
		}, false, 413},
		{"before anything is read", func(p *peer) {
			p.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nbig")
			_, _ = io.Copy(io.Discard, p)
		}, true, 503},
	} {
		t.Run(tc.name, func(t *testing.T) {
			over := make(chan struct{})
			defer close(over)
			up := serve(t, Options{}, func(p *peer) {
				p.over = over
				tc.script(p)
			})
			body := &released{text: []byte(large)}
			a, err := up.origin.Do(t.Context(), &Request{Method: "POST", URL: up.url, Body: body})
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(a.Body)
			_ = a.Body.Close()
			if want := "big"; a.StatusCode != tc.status || err != nil || a.ContentLength > 0 && string(text) != want {
				t.Errorf("got %d, %q, %v", a.StatusCode, text, err)
			}
			if n := body.n.Load(); n != 1 {
				t.Errorf("the body was released %d times", n)
			}
			if kept := up.origin.kept() == 1; kept && !tc.kept {
				t.Error("the connection is kept")
			}
		})
	}
}

// TestAnswerToNothing takes what a new connection says before it was asked.
func TestAnswerToNothing(t *testing.T) {
	said := make(chan struct{})
	up := serve(t, Options{}, func(p *peer) {
		p.say("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfull")
		close(said)
		_, _ = p.request()
	})
	dial := up.origin.options.Dial
	up.origin.options.Dial = func(ctx context.Context, network, address string) (c net.Conn, err error) {
		c, err = dial(ctx, network, address)
		<-said
		return c, err
	}
	up.want(up.do(t.Context(), Request{}), 503, "full", false)
}

// TestBrokenWrites fails with the reason when the upstream goes away while the
// request is being written, or gives its last words.
func TestBrokenWrites(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script func(*peer)
		words  bool
	}{
		{"reset at once", (*peer).reset, false},
		{"closed at once", func(*peer) {}, false},
		{"reset behind the head", func(p *peer) { _, _ = p.head(); p.reset() }, false},
		{"closed behind the head", func(p *peer) { _, _ = p.head() }, false},
		{"closed behind its last words", func(p *peer) {
			if _, good := p.head(); good {
				p.say("HTTP/1.1 500 Sorry\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
			}
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			up := serve(t, Options{}, tc.script)
			got := up.do(t.Context(), Request{Body: large})
			switch {
			case tc.words && got.err == nil:
				if got.status != 500 || got.body != "no" {
					t.Errorf("got %d, %q", got.status, got.body)
				}
			case got.err == nil, got.Answered && !tc.words, got.Reused, !got.Answered && errors.Is(got.err, io.ErrUnexpectedEOF):
				t.Errorf("got %+v", got)
			}
			if n := up.open.Load(); n != 0 {
				t.Errorf("%d connections are open", n)
			}
		})
	}
}

// TestCancel ends a call wherever it stands, with the cause.
func TestCancel(t *testing.T) {
	wait := func(p *peer) { _, _ = io.Copy(io.Discard, p.in) }
	for _, tc := range []struct {
		name   string
		script func(p *peer, now func())
		body   Body
	}{
		{"before it writes", func(p *peer, now func()) { now(); wait(p) }, nil},
		{"while it writes", func(p *peer, now func()) { _, _ = p.head(); now(); _, _ = p.ReadFrom(nothing{}) }, large},
		{"before the answer", func(p *peer, now func()) { _, _ = p.request(); now(); wait(p) }, nil},
		{"within the head", func(p *peer, now func()) {
			_, _ = p.request()
			p.say(ok + "Content-")
			now()
			wait(p)
		}, nil},
		{"after a hint", func(p *peer, now func()) {
			_, _ = p.request()
			p.say("HTTP/1.1 100 Continue\r\n\r\n")
			now()
			wait(p)
		}, nil},
		{"before the body", func(p *peer, now func()) {
			_, _ = p.request()
			p.say(ok + "Content-Length: 9\r\n\r\n")
			now()
			wait(p)
		}, nil},
		{"within the body", func(p *peer, now func()) {
			_, _ = p.request()
			p.say(chunky + "5\r\nhello\r\n")
			now()
			wait(p)
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			over := make(chan struct{})
			up := serve(t, Options{}, func(p *peer) {
				tc.script(p, func() { cancel(errEnough) })
				<-over
			})
			defer close(over)
			if got := up.do(ctx, Request{Body: tc.body}); !errors.Is(got.err, errEnough) {
				t.Errorf("got %v", got.err)
			}
			if n := up.open.Load(); n != 0 {
				t.Errorf("%d connections are open", n)
			}
		})
	}
}

// nothing is a reader that has an end at once.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// TestCancelled sends nothing when the context has ended before.
func TestCancelled(t *testing.T) {
	up := serve(t, Options{}, answering(hi))
	up.want(up.do(t.Context(), Request{}), 200, "hi", false)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	if got := up.do(ctx, Request{}); !errors.Is(got.err, errEnough) || got.Sent {
		t.Errorf("got %+v", got)
	}
	if up.origin.kept() != 1 {
		t.Error("the connection is lost")
	}
	if got := up.do(ctx, Request{Fresh: true}); !errors.Is(got.err, errEnough) || up.accepted.Load() != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestCancelAfterTheEnd leaves a kept connection alone.
func TestCancelAfterTheEnd(t *testing.T) {
	up := serve(t, Options{}, answering(hi))
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		up.want(up.do(ctx, Request{}), 200, "hi", i > 0)
		cancel()
	}
}

// TestCancelAtTheEnd does not keep a connection that somebody is about to close.
func TestCancelAtTheEnd(t *testing.T) {
	up := serve(t, Options{}, answering(hi))
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		a, err := up.origin.Do(ctx, &Request{Method: http.MethodGet, URL: up.url})
		if err != nil {
			t.Fatal(err)
		}
		cancel() // all of the body is here already
		if got, err := io.ReadAll(a.Body); err != nil || string(got) != "hi" {
			t.Errorf("got %q, %v", got, err)
		}
		_ = a.Body.Close()
		if n := up.origin.kept(); n != 0 {
			t.Fatal("the connection is kept")
		}
	}
}

// TestDeadline ends a call when its time is over.
func TestDeadline(t *testing.T) {
	up := serve(t, Options{}, func(p *peer) { _, _ = io.Copy(io.Discard, p) })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := up.do(ctx, Request{}); !errors.Is(got.err, context.DeadlineExceeded) || !got.Sent || got.Answered {
		t.Errorf("got %+v", got)
	}
}

// TestCloseBeforeTheEnd keeps the connection only if the rest of the body is
// here.
func TestCloseBeforeTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		kept         bool
	}{
		{"whole", hi, true},
		{"whole, in chunks", chunky + "5\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n", true},
		{"more to come", ok + "Content-Length: 9\r\n\r\nhello", false},
		{"more chunks to come", chunky + "5\r\nhello\r\n", false},
		{"a trailer to come", chunky + "5\r\nhello\r\n0\r\n", false},
		{"up to the end", ok + "\r\nhello", false},
		{"malformed", chunky + "5\r\nhello\r\nzz\r\n\r\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			up := serve(t, Options{}, answering(tc.answer))
			body := up.get()
			if err := body.Close(); err != nil {
				t.Error(err)
			}
			if kept := up.origin.kept() == 1; kept != tc.kept || int(up.open.Load()) != up.origin.kept() {
				t.Errorf("kept %t, want %t; %d open", kept, tc.kept, up.open.Load())
			}
			if n, err := body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
				t.Errorf("after Close: %d, %v", n, err)
			}
			_ = body.Close()
		})
	}
}

// TestCloseWhileReading ends a Read that waits.
func TestCloseWhileReading(t *testing.T) {
	for _, answer := range []string{ok + "Content-Length: 9\r\n\r\nhello", chunky + "5\r\nhello\r\n", ok + "\r\nhello"} {
		up := serve(t, Options{}, answering(answer))
		body := up.get()
		if _, err := io.ReadFull(body, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		begun := make(chan struct{})
		var wait sync.WaitGroup
		wait.Go(func() {
			<-begun
			_ = body.Close()
		})
		close(begun)
		if n, err := body.Read(make([]byte, 10)); n != 0 || err == nil {
			t.Errorf("got %d, %v", n, err)
		}
		wait.Wait()
		if up.origin.kept() != 0 || up.open.Load() != 0 {
			t.Errorf("%d kept, %d open", up.origin.kept(), up.open.Load())
		}
	}
}

// TestBodiesStayTheirs: what a request sends is its own body, though the memory
// of others is used again all the time.
func TestBodiesStayTheirs(t *testing.T) {
	up := serve(t, Options{}, func(p *peer) {
		for i := 1; ; i++ {
			r, good := p.head()
			if !good {
				return
			}
			if i%7 == 0 {
				p.say("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") // before the body
			}
			sum := sha256.New()
			if _, err := io.Copy(sum, r.Body); err != nil || i%7 == 0 {
				return
			}
			p.say(ok + "Content-Length: 32\r\n\r\n" + string(sum.Sum(nil)))
		}
	})
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 60 {
				body := bytes.Repeat([]byte{byte('a' + (g+i)%26)}, 10+i*i*100)
				want := sha256.Sum256(body)
				got := up.do(t.Context(), Request{Body: text(body)})
				if got.err == nil && got.status == 200 && got.body != string(want[:]) {
					t.Error("another body arrived")
				}
				if got.err != nil && !got.Reused {
					t.Error(got.err)
				}
			}
		})
	}
	wait.Wait()
}
