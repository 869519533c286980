package app

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/provider/fake"
	"gatewright/store"
)

// upstream starts simulated upstreams a and b.
func upstream(t *testing.T) (*fake.Upstreams, string) {
	t.Helper()
	script, err := fake.Parse("test", []byte("upstreams: {a: {}, b: {}}"))
	if err != nil {
		t.Fatal(err)
	}
	u := fake.New(script, fake.Options{})
	server := httptest.NewServer(u)
	t.Cleanup(func() { _ = u.Close(); server.Close() })
	return u, server.URL
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// run starts an app and returns its address, and what stops it.
func run(t *testing.T, o Options) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan string, 1)
	o.Ready = func(a string) { ready <- a }
	done := make(chan error, 1)
	go func() { done <- Run(ctx, o) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("run: %v", err)
			}
			http.DefaultClient.CloseIdleConnections()
		})
	}
	t.Cleanup(stop)
	select {
	case address = <-ready:
	case err := <-done:
		done <- nil // for stop
		t.Fatalf("run: %v", err)
	}
	return address, stop
}

func chat(t *testing.T, address string) (status int, deployment string) {
	t.Helper()
	body := `{"model": "m", "messages": [{"role": "user", "content": "` + t.Name() + time.Now().String() + `"}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, resp.Header.Get("X-Gatewright-Deployment")
}

func configOf(address, rest string) string {
	return `
listen: 127.0.0.1:0
providers:
  a: {protocol: openai, base_url: "` + address + `/a/v1", auth: none, priority: 1}
  b: {protocol: openai, base_url: "` + address + `/b/v1", auth: none}
models: {m: {deployments: [a, b]}}
` + rest
}

// decisions collects what was decided.
type decisions struct {
	mu   sync.Mutex
	list []*engine.Decision
}

func (d *decisions) Record(x *engine.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, x)
}

func TestRunServesAndRecords(t *testing.T) {
	upstreams, address := upstream(t)
	var log buffer
	var seen decisions
	dir := t.TempDir()
	gateway, stop := run(t, Options{
		File: parse(t, configOf(address, "")), Logger: slog.New(slog.NewJSONHandler(&log, nil)), DataDir: dir, Recorder: &seen,
	})
	if err := upstreams.Set("a", fake.Behaviour{Always: fake.Fault{Name: "http-503"}}); err != nil {
		t.Fatal(err)
	}
	if status, served := chat(t, gateway); status != http.StatusOK || served != "b/m" {
		t.Errorf("status %d by %q, want 200 by b/m", status, served)
	}
	stop()
	if len(seen.list) != 1 || len(seen.list[0].Attempts) != 2 {
		t.Errorf("decisions = %+v, want one with two attempts", seen.list)
	}
	if text := log.String(); !strings.Contains(text, `"msg":"request"`) || !strings.Contains(text, `"msg":"draining"`) {
		t.Errorf("the log lacks the request or the drain:\n%s", text)
	}
	// Everything was closed: the store can be opened again.
	s, err := store.Open(dir, store.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestReload(t *testing.T) {
	_, address := upstream(t)
	var log buffer
	logger, settings := NewLogger(&log, config.Log{Level: "info", Format: "text"})
	file := parse(t, configOf(address, ""))
	var mu sync.Mutex
	next, problems := file, config.Problems(nil)
	load := func() (*config.File, config.Problems) {
		mu.Lock()
		defer mu.Unlock()
		return next, problems
	}
	ctx := t.Context()
	a, err := start(ctx, Options{File: file, Load: load, Logger: logger, Log: settings, DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	first := a.engine.Acquire()
	defer first.Release()

	next = parse(t, configOf(address, "log: {level: warn}\nlisten: 127.0.0.1:1\n")[len("\nlisten: 127.0.0.1:0"):])
	if !a.Reload(ctx) {
		t.Fatalf("a good file was not taken:\n%s", log.String())
	}
	second := a.engine.Acquire()
	defer second.Release()
	if second == first || second.Generation <= first.Generation {
		t.Errorf("generations %d then %d, want a newer one", first.Generation, second.Generation)
	}
	if !strings.Contains(log.String(), "a change takes effect at the next start only") {
		t.Errorf("the new address was not warned of:\n%s", log.String())
	}
	if logger.Enabled(ctx, slog.LevelInfo) {
		t.Error("the log's level was not reloaded")
	}

	next, problems = nil, config.Problems{{File: "f", Message: "broken"}}
	if a.Reload(ctx) {
		t.Error("a broken file was taken")
	}
	third := a.engine.Acquire()
	defer third.Release()
	if third != second {
		t.Error("a broken file changed the snapshot")
	}
	if !strings.Contains(log.String(), "broken") || !strings.Contains(log.String(), "the one before stays") {
		t.Errorf("the log does not say why:\n%s", log.String())
	}
}

func TestStartSaysWhyItCannot(t *testing.T) {
	_, address := upstream(t)
	dir := t.TempDir()
	logger := slog.New(slog.DiscardHandler)
	s, err := store.Open(dir, store.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = Run(t.Context(), Options{File: parse(t, configOf(address, "")), Logger: logger, DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error = %v, want one that names the folder in use", err)
	}
}
