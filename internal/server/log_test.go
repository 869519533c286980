package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/engine"
)

func TestPanics(t *testing.T) {
	routes := []Route{{Method: "POST", Path: "/v1/panic", Handle: func(x *Exchange) error {
		if _, err := x.ReadJSON(); err != nil {
			return err
		}
		panic("SECRET " + strings.Repeat("x", 10_000))
	}}}
	broken := execute(func(_ context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if r.Model == "m" {
			if err := sink.Commit(engine.Answer{Status: 200, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
				return engine.Result{}, err
			}
			_, _ = io.WriteString(sink, "data: 1\n\n")
			_ = sink.Flush()
		}
		panic(errors.New("SECRET"))
	})
	r := listen(t, setup{execute: broken, routes: routes})
	t.Run("in a handler", func(t *testing.T) {
		for range 3 {
			resp, body := r.do("POST", "/v1/panic", "{}")
			if e := toldIn(t, body); resp.StatusCode != http.StatusInternalServerError || e.Code != CodeInternalError || strings.Contains(body, "SECRET") {
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
		}
	})
	t.Run("in a stream", func(t *testing.T) {
		resp, body := r.do("POST", "/v1/relay/stream", "{}")
		event, ok := strings.CutPrefix(body, "data: 1\n\ndata: ")
		if resp.StatusCode != http.StatusOK || !ok || toldIn(t, strings.TrimSpace(event)).Code != CodeInternalError {
			t.Errorf("status %d: %s", resp.StatusCode, body)
		}
	})
	t.Run("in a whole answer", func(t *testing.T) {
		_, body := r.do("POST", "/v1/relay", "{}")
		if !strings.HasSuffix(body, "[unexpected EOF]") {
			t.Errorf("the broken answer looks whole: %q", body)
		}
	})
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, `"msg":"handler panicked"`) && (!strings.Contains(line, `"level":"ERROR"`) || len(line) > 10_000) {
			t.Errorf("log line of %d bytes: %s", len(line), line)
		}
	}
	if n := strings.Count(r.log.String(), `"msg":"handler panicked"`); n != 5 {
		t.Errorf("%d panics are logged, want 5", n)
	}
	if !strings.Contains(r.log.String(), `"stack":`) {
		t.Error("no stack is logged")
	}
	if n := r.server.running.Load(); n != 0 {
		t.Errorf("%d requests are still running", n)
	}
}

func TestFaultsOfOurOwn(t *testing.T) {
	for _, c := range []struct {
		name    string
		execute execute
	}{
		{"an unknown error", func(context.Context, *engine.Request, *engine.Plan, engine.Sink) (engine.Result, error) {
			return engine.Result{}, errors.New("disk SECRET")
		}},
		{"cancelled by nobody", func(context.Context, *engine.Request, *engine.Plan, engine.Sink) (engine.Result, error) {
			return engine.Result{}, context.Canceled
		}},
		{"success without an answer", func(context.Context, *engine.Request, *engine.Plan, engine.Sink) (engine.Result, error) {
			return engine.Result{Status: 200}, nil
		}},
		{"a write before the commit", func(_ context.Context, _ *engine.Request, _ *engine.Plan, sink engine.Sink) (engine.Result, error) {
			_, err := io.WriteString(sink, "x")
			return engine.Result{}, errors.Join(err, sink.Flush())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := listen(t, setup{execute: c.execute})
			resp, body := r.do("POST", "/v1/relay", "{}")
			if e := toldIn(t, body); resp.StatusCode != http.StatusInternalServerError || e.Code != CodeInternalError || e.Type != "server_error" || strings.Contains(body, "SECRET") {
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
			if !strings.Contains(r.log.String(), `"level":"ERROR","msg":"request failed"`) {
				t.Errorf("log:\n%s", r.log)
			}
		})
	}
}

// TestRefusalLog checks that floods of bad requests stay small in the log.
func TestRefusalLog(t *testing.T) {
	r := listen(t, setup{})
	for range 100 {
		r.do("POST", "/v1/echo?key=SECRET", "x", "Authorization", "Bearer SECRET")
	}
	resp, _ := r.do("GET", "/v1/"+strings.Repeat("x", 5000), "")
	log := r.log.String()
	if strings.Contains(log, "SECRET") {
		t.Errorf("the log holds a secret:\n%s", log)
	}
	var first struct {
		Level, Method, Path, Code, Remote, ID string
		Status                                int
	}
	line, _, _ := strings.Cut(log, "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil {
		t.Fatal(err)
	}
	if first.Level != "INFO" || first.Method != http.MethodPost || first.Path != "/v1/echo" || first.Status != 401 ||
		first.Code != CodeInvalidAPIKey || first.Remote != "127.0.0.1" || first.ID == "" {
		t.Errorf("first line %s", line)
	}
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestLimitedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimitedLog(5)
		count := func(events int) (allowed int, suppressed uint64) {
			for range events {
				if n, ok := l.allow(); ok {
					allowed++
					suppressed += n
				}
			}
			return allowed, suppressed
		}
		if n, s := count(100); n != 5 || s != 0 {
			t.Errorf("first second: %d allowed, %d suppressed before; want 5 and 0", n, s)
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble
		if n, s := count(3); n != 3 || s != 95 {
			t.Errorf("next second: %d allowed, %d suppressed before; want 3 and 95", n, s)
		}
	})
}

func TestLimitedLogHammer(t *testing.T) {
	const goroutines, each = 16, 1000
	l := newLimitedLog(5)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var allowed, suppressed uint64
	for range goroutines {
		wg.Go(func() {
			for range each {
				if n, ok := l.allow(); ok {
					mu.Lock()
					allowed++
					suppressed += n
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if total := allowed + suppressed + l.suppressed; total != goroutines*each {
		t.Errorf("%d allowed, %d reported and %d still to report of %d", allowed, suppressed, l.suppressed, goroutines*each)
	}
}
