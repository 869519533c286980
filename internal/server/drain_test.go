package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/engine"
)

// ticking streams an event each second until it has sent n, or its context ends.
func ticking(n int) execute {
	return func(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for i := range n {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return engine.Result{}, ctx.Err()
			}
			if i == 0 && r.Stream {
				if err := sink.Commit(engine.Answer{Status: 200, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
					return engine.Result{}, err
				}
			}
			if !r.Stream {
				continue
			}
			if _, err := fmt.Fprintf(sink, "data: %d\n\n", i); err != nil {
				return engine.Result{}, err
			}
			if err := sink.Flush(); err != nil {
				return engine.Result{}, err
			}
		}
		if !r.Stream {
			return answerWith(`"late"`)(ctx, r, p, sink)
		}
		_, err := io.WriteString(sink, "data: [DONE]\n\n")
		return engine.Result{Status: 200}, err
	}
}

// readAll reads one answer in the background.
func readAll(in *bufio.Reader) <-chan string {
	out := make(chan string, 1)
	go func() {
		resp, body, err := readReply(in)
		text := fmt.Sprintf("%d %s", resp.StatusCode, body)
		if err != nil {
			text += fmt.Sprintf("[%v]", err)
		}
		out <- text
	}()
	return out
}

func TestDrain(t *testing.T) {
	const streams = 50
	inBubble(t, setup{execute: ticking(20)}, func(r *rig, p *pipes) {
		t := r.t
		var answers []<-chan string
		for i := range streams {
			path := "/v1/relay/stream"
			if i%2 == 1 {
				path = "/v1/relay"
			}
			conn := mustDial(t, p)
			send(conn, "POST "+path+" HTTP/1.1\r\n"+authorized+"Content-Length: 2\r\n\r\n{}")
			answers = append(answers, readAll(bufio.NewReader(conn)))
		}
		idle := mustDial(t, p)
		idleIn := bufio.NewReader(idle)
		send(idle, "GET /readyz HTTP/1.1\r\nHost: gw\r\n\r\n")
		if resp, body := mustRead(t, idleIn); resp.StatusCode != http.StatusOK || body != `{"status":"ready"}` {
			t.Errorf("before: %d %s", resp.StatusCode, body)
		}
		time.Sleep(5 * time.Second) //nolint:forbidigo // the clock of the bubble
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- r.server.Shutdown(ctx) }()
		synctest.Wait()
		if r.server.draining.Load() != true {
			t.Error("still ready while draining")
		}
		if _, err := p.dial(); err == nil {
			t.Error("a new connection is taken while draining")
		}
		wantEnd(t, idleIn, time.Second)
		for i, a := range answers {
			got := <-a
			if want := `200 "late"`; i%2 == 1 && got != want {
				t.Errorf("answer %d = %q, want %q", i, got, want)
			}
			if i%2 == 0 && (!strings.HasPrefix(got, "200 data: 0\n\n") || !strings.HasSuffix(got, "data: 19\n\ndata: [DONE]\n\n")) {
				t.Errorf("stream %d = %q", i, got)
			}
		}
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
}

// TestDrainTooLong cuts off what does not end in time: each client is told so
// in the way that is still open.
func TestDrainTooLong(t *testing.T) {
	inBubble(t, setup{execute: ticking(1000)}, func(r *rig, p *pipes) {
		t := r.t
		begin := func(path string) <-chan string {
			conn := mustDial(t, p)
			send(conn, "POST "+path+" HTTP/1.1\r\n"+authorized+"Content-Length: 2\r\n\r\n{}")
			return readAll(bufio.NewReader(conn))
		}
		stream, whole := begin("/v1/relay/stream"), begin("/v1/relay")
		time.Sleep(5500 * time.Millisecond) //nolint:forbidigo // the clock of the bubble
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		err := r.server.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 requests were cut off") {
			t.Errorf("Shutdown: %v", err)
		}
		if took := time.Since(began); took > 13*time.Second {
			t.Errorf("Shutdown took %s", took)
		}
		got := <-stream
		head, last, ok := strings.Cut(got, "data: {")
		if !ok || !strings.HasPrefix(head, "200 data: 0\n\n") || strings.Contains(got, "[DONE]") {
			t.Fatalf("stream = %q, want events and an error", got)
		}
		if e := toldIn(t, "{"+strings.TrimSuffix(last, "\n\n")); e.Code != CodeShuttingDown {
			t.Errorf("stream's error = %+v", e)
		}
		status, body, _ := strings.Cut(<-whole, " ")
		if e := toldIn(t, body); status != "503" || e.Code != CodeShuttingDown || e.Type != typeUnavailable {
			t.Errorf("answer = %s %+v, want 503 %s", status, e, CodeShuttingDown)
		}
		for _, d := range r.decisions.all() {
			if !d.Result.Cancelled {
				t.Errorf("decision %+v, want cancelled", d.Result)
			}
		}
		if n := r.server.running.Load(); n != 0 {
			t.Errorf("%d requests are still running", n)
		}
	})
}

// TestDrainOfADeafClient closes the connection of a client that does not even
// read the error.
func TestDrainOfADeafClient(t *testing.T) {
	inBubble(t, setup{execute: ticking(1000)}, func(r *rig, p *pipes) {
		t := r.t
		conn := mustDial(t, p)
		send(conn, "POST /v1/relay/stream HTTP/1.1\r\n"+authorized+"Content-Length: 2\r\n\r\n{}")
		time.Sleep(3 * time.Second) //nolint:forbidigo // the clock of the bubble
		now, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if err := r.server.Shutdown(now); !errors.Is(err, context.Canceled) {
			t.Errorf("Shutdown: %v", err)
		}
		if took := time.Since(began); took > lastWords+time.Second {
			t.Errorf("Shutdown took %s", took)
		}
		if n := r.server.running.Load(); n != 0 {
			t.Errorf("%d requests are still running", n)
		}
	})
}

func TestReadiness(t *testing.T) {
	var reason error
	inBubble(t, setup{options: Options{Ready: func() error { return reason }}}, func(r *rig, p *pipes) {
		t := r.t
		ask := func(path string) string {
			conn := mustDial(t, p)
			defer func() { _ = conn.Close() }()
			send(conn, "GET "+path+" HTTP/1.1\r\nHost: gw\r\n\r\n")
			return <-readAll(bufio.NewReader(conn))
		}
		for _, c := range []struct {
			name, path string
			reason     error
			draining   bool
			want       string
		}{
			{"ready", "/readyz", nil, false, `200 {"status":"ready"}`},
			{"not ready", "/readyz", errors.New("policy SECRET does not compile"), false, `503 {"status":"not ready"}`},
			{"still not", "/readyz", errors.New("policy SECRET does not compile"), false, `503 {"status":"not ready"}`},
			{"live", "/healthz", errors.New("policy SECRET does not compile"), false, `200 {"status":"live"}`},
			{"ready again", "/readyz", nil, false, `200 {"status":"ready"}`},
			{"draining", "/readyz", nil, true, `503 {"status":"draining"}`},
			{"live while draining", "/healthz", nil, true, `200 {"status":"live"}`},
		} {
			reason = c.reason
			r.server.draining.Store(c.draining)
			if got := ask(c.path); got != c.want {
				t.Errorf("%s: %s = %q, want %q", c.name, c.path, got, c.want)
			}
		}
		if n := strings.Count(r.log.String(), `"msg":"not ready"`); n != 1 {
			t.Errorf("not being ready was logged %d times, want once:\n%s", n, r.log)
		}
	})
}
