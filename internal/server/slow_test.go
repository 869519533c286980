package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/engine"
)

// The tests of this file run the whole server over pipes, in a bubble whose
// clock stands still while anything can still be done.

// inBubble serves a rig over pipes.
func inBubble(t *testing.T, u setup, test func(r *rig, p *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, u)
		p := newPipes()
		r.serve(p)
		test(r, p)
	})
}

func mustDial(t *testing.T, p *pipes) net.Conn {
	t.Helper()
	c, err := p.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// send writes in the background: a pipe holds nothing, and a server that has
// seen enough does not read on.
func send(c net.Conn, text string) {
	go func() { _, _ = io.WriteString(c, text) }()
}

const authorized = "Host: gw\r\nAuthorization: Bearer " + testKey + "\r\n"

// wantEnd fails unless the connection ends within the time, with no byte more.
func wantEnd(t *testing.T, in io.Reader, within time.Duration) {
	t.Helper()
	began := time.Now()
	rest, err := io.ReadAll(in)
	if len(rest) > 0 {
		t.Errorf("the connection brought %q, then %v", rest, err)
	}
	if took := time.Since(began); took > within {
		t.Errorf("the connection ended after %s, want at most %s", took, within)
	}
}

func TestSlowHeaders(t *testing.T) {
	for _, c := range []struct {
		name string
		drip string // sent one byte a second
	}{
		{"nothing at all", ""},
		{"a drip", "GET /v1/echo HTTP/1.1\r\nHost: gw\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, setup{}, func(r *rig, p *pipes) {
				t := r.t
				conn := mustDial(t, p)
				var sender sync.WaitGroup
				sender.Go(func() {
					for i := range c.drip {
						time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble
						if _, err := conn.Write([]byte{c.drip[i]}); err != nil {
							return
						}
					}
				})
				in := bufio.NewReader(conn)
				if c.drip != "" {
					if resp, body := mustRead(t, in); resp.StatusCode != http.StatusRequestTimeout || toldIn(t, body).Code != CodeRequestTimeout {
						t.Errorf("status %d, body %s", resp.StatusCode, body)
					}
				}
				wantEnd(t, in, 10*time.Second)
				sender.Wait()
			})
		})
	}
}

func TestIdleConnection(t *testing.T) {
	inBubble(t, setup{}, func(r *rig, p *pipes) {
		t := r.t
		conn := mustDial(t, p)
		in := bufio.NewReader(conn)
		for range 3 {
			if _, err := conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
			if resp, _ := mustRead(t, in); resp.StatusCode != http.StatusOK {
				t.Fatalf("status %d", resp.StatusCode)
			}
			time.Sleep(time.Minute) //nolint:forbidigo // less than the idle time
		}
		wantEnd(t, in, time.Minute+time.Second)
	})
}

func TestSlowBody(t *testing.T) {
	const size = 1 << 20
	head := fmt.Sprintf("POST /v1/echo HTTP/1.1\r\n"+authorized+"Content-Length: %d\r\n\r\n", size)
	for _, c := range []struct {
		name   string
		piece  int
		every  time.Duration
		within time.Duration // until the refusal
		served bool
	}{
		{"none", 0, time.Second, 10 * time.Second, false},
		{"a byte every 9 seconds", 1, 9 * time.Second, 11 * time.Second, false},
		{"less than the least rate", 2 << 10, time.Second, 21 * time.Second, false},
		{"a pause longer than allowed", 512 << 10, 11 * time.Second, 22 * time.Second, false},
		{"more than the least rate", 16 << 10, 2 * time.Second, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, setup{}, func(r *rig, p *pipes) {
				t := r.t
				conn := mustDial(t, p)
				began := time.Now()
				var sender sync.WaitGroup
				defer sender.Wait()
				sender.Go(func() {
					if _, err := io.WriteString(conn, head); err != nil || c.piece == 0 {
						return
					}
					for sent := 0; sent < size; sent += c.piece {
						time.Sleep(c.every) //nolint:forbidigo // the clock of the bubble
						if _, err := io.WriteString(conn, strings.Repeat("x", c.piece)); err != nil {
							return
						}
					}
				})
				in := bufio.NewReader(conn)
				resp, body := mustRead(t, in)
				if c.served {
					if resp.StatusCode != http.StatusOK || len(body) != size {
						t.Errorf("status %d with %d bytes, want all of them back", resp.StatusCode, len(body))
					}
					return
				}
				if resp.StatusCode != http.StatusRequestTimeout || toldIn(t, body).Code != CodeRequestTimeout || !resp.Close {
					t.Errorf("status %d, close %v, body %s; want 408 and close", resp.StatusCode, resp.Close, body)
				}
				if took := time.Since(began); took > c.within {
					t.Errorf("refused after %s, want at most %s", took, c.within)
				}
				wantEnd(t, in, time.Second)
				if n := r.server.running.Load(); n != 0 {
					t.Errorf("%d requests are still running", n)
				}
			})
		})
	}
}

// TestSlowBodyThatNobodyReads checks that a request which is refused before its
// body was read does not hold its connection for ever.
func TestSlowBodyThatNobodyReads(t *testing.T) {
	inBubble(t, setup{}, func(r *rig, p *pipes) {
		t := r.t
		conn := mustDial(t, p)
		send(conn, "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 1000\r\n\r\n{")
		in := bufio.NewReader(conn)
		began := time.Now()
		if resp, _ := mustRead(t, in); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("status %d, want 401", resp.StatusCode)
		}
		wantEnd(t, in, 10*time.Second)
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// TestRestOfATooLargeBody checks that nobody waits for the rest of a body that
// was refused.
func TestRestOfATooLargeBody(t *testing.T) {
	inBubble(t, setup{limits: engine.Limits{Body: 1000}}, func(r *rig, p *pipes) {
		t := r.t
		conn := mustDial(t, p)
		send(conn, "POST /v1/echo HTTP/1.1\r\n"+authorized+"Transfer-Encoding: chunked\r\n\r\n800\r\n"+strings.Repeat("x", 0x800)+"\r\n")
		in := bufio.NewReader(conn)
		if resp, _ := mustRead(t, in); resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
			t.Errorf("status %d, close %v; want 413 and close", resp.StatusCode, resp.Close)
		}
		wantEnd(t, in, 2*time.Second)
	})
}

func TestSlowReader(t *testing.T) {
	for _, path := range []string{"/v1/relay", "/v1/relay/stream"} {
		t.Run(path, func(t *testing.T) {
			var written int
			var ended error
			stuck := execute(func(ctx context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
				if err := sink.Commit(engine.Answer{Status: 200, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
					return engine.Result{}, err
				}
				event := []byte("data: " + strings.Repeat("x", 1000) + "\n\n")
				for ended == nil {
					var n int
					n, ended = sink.Write(event)
					written += n
					if ended == nil {
						ended = sink.Flush()
					}
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
					t.Error("the request's context outlives its connection")
				}
				return engine.Result{}, ended
			})
			inBubble(t, setup{execute: stuck}, func(r *rig, p *pipes) {
				t := r.t
				conn := mustDial(t, p)
				send(conn, "POST "+path+" HTTP/1.1\r\n"+authorized+"Content-Length: 2\r\n\r\n{}")
				if _, err := io.ReadFull(conn, make([]byte, 4000)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(31 * time.Second) //nolint:forbidigo // the client reads nothing
				synctest.Wait()
				if ended == nil {
					t.Fatal("the write still waits")
				}
				if written > 64<<10 {
					t.Errorf("%d bytes were taken from the executor, want at most 64 KiB", written)
				}
				if n := r.server.running.Load(); n != 0 {
					t.Errorf("%d requests are still running", n)
				}
				if d := r.decisions.all(); len(d) != 1 {
					t.Errorf("%d decisions, want 1", len(d))
				}
			})
		})
	}
}

// TestReaderThatKeepsUp reads a large answer slowly, but fast enough.
func TestReaderThatKeepsUp(t *testing.T) {
	const size = 4 << 20
	inBubble(t, setup{execute: answerWith(strings.Repeat("x", size))}, func(r *rig, p *pipes) {
		t := r.t
		conn := mustDial(t, p)
		send(conn, "POST /v1/relay HTTP/1.1\r\n"+authorized+"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
		got := 0
		piece := make([]byte, 64<<10)
		for {
			n, err := io.ReadFull(conn, piece)
			got += n
			if err != nil {
				break
			}
			time.Sleep(20 * time.Second) //nolint:forbidigo // below the time of one write
		}
		if got < size {
			t.Errorf("%d bytes came, want %d and more", got, size)
		}
	})
}
