package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/fake"
	"gatewright/internal/provider/health"
	wire "gatewright/internal/wire/openai"
	"gatewright/store"
)

// watch is a clock that stands still until it is moved.
type watch struct {
	mu sync.Mutex
	t  time.Time
}

func (w *watch) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.t
}

func (w *watch) move(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t = w.t.Add(d)
}

// gateway is everything between a decoded request and simulated upstreams a and
// b, under a clock of its own.
type gateway struct {
	t        *testing.T
	clock    *watch
	upstream *fake.Upstreams
	snapshot *engine.Snapshot
	store    *store.Store
	engine   *engine.Engine
}

const quotaConfig = `
providers:
  a: {protocol: openai, base_url: "ADDRESS/a/v1", auth: none, QUOTA}
  b: {protocol: openai, base_url: "ADDRESS/b/v1", auth: none}
models: {m: {deployments: [a, b]}}
router: {selection: priority}
`

// newGateway starts upstream a with a quota of its own; window is one of the
// configuration.
func newGateway(t *testing.T, quota, window string) *gateway {
	t.Helper()
	script, err := fake.Parse("test", []byte("upstreams: {a: {"+quota+"}, b: {}}"))
	if err != nil {
		t.Fatal(err)
	}
	up := fake.New(script, fake.Options{})
	server := httptest.NewServer(up)
	pool := newClients()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.close(); _ = s.Close(); _ = up.Close(); server.Close() })
	text := strings.NewReplacer("ADDRESS", server.URL, ", QUOTA", window).Replace(quotaConfig)
	file := parse(t, text)
	snapshot := buildFile(t, &App{clients: pool}, file)
	g := &gateway{
		t: t, clock: &watch{t: time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)},
		upstream: up, snapshot: snapshot, store: s,
	}
	tracker, err := health.New(health.Options{Clock: g.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	tracker.Configure(quotas(file))
	tracker.Keep(deploymentIDs(snapshot))
	dispatcher := provider.NewDispatcher(tracker, provider.Options{Clock: g.clock.now})
	g.engine = engine.New(snapshot, tracker, affinity{s.Affinity()}, dispatcher, nobody{})
	return g
}

type nobody struct{}

// Record implements [engine.Recorder].
func (nobody) Record(*engine.Decision) {}

// drain is a client that reads its answer.
type drain struct{ io.Writer }

// Commit implements [engine.Sink].
func (drain) Commit(engine.Answer) error { return nil }

// Flush implements [engine.Sink].
func (drain) Flush() error { return nil }

// ask sends a request of a session for a model.
func (g *gateway) ask(session byte, model string) (*engine.Decision, error) {
	g.t.Helper()
	body := []byte(`{"model": "` + model + `", "messages": [{"role": "user", "content": "hello"}]}`)
	found, err := wire.ScanRequest(wire.Chat, body, 64)
	if err != nil {
		g.t.Fatal(err)
	}
	req := &engine.Request{
		ID: "r", Caller: &engine.Caller{Key: "k"}, Model: found.Model, Endpoint: engine.EndpointChat, Now: g.clock.now(),
		Session: engine.Session{Key: [16]byte{session}, Source: "header"},
		Payload: &wire.Payload{Endpoint: wire.Chat, Request: found, Body: body},
	}
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Second)
	defer cancel()
	return g.engine.Serve(ctx, g.snapshot, req, drain{io.Discard}, g.clock.now)
}

// want sends a request of a session that must be served, by these attempts,
// with a removed for its quota or not, and a called so often since the start.
func (g *gateway) want(session byte, attempts string, skipped bool, calls int) {
	g.t.Helper()
	d, err := g.ask(session, "m")
	if err != nil {
		g.t.Fatalf("not served: %v", err)
	}
	var got []string
	for _, a := range d.Attempts {
		got = append(got, a.Deployment+" "+a.Class.String())
	}
	if text := strings.Join(got, ", "); text != attempts {
		g.t.Errorf("attempts: %s; want %s", text, attempts)
	}
	for _, s := range d.Skipped {
		if s.Deployment != "a/m" || s.Reason != engine.ReasonQuotaExhausted || !s.Until.After(g.clock.now()) {
			g.t.Errorf("skipped: %+v", s)
		}
	}
	if (len(d.Skipped) > 0) != skipped {
		g.t.Errorf("%d skipped, want a to be: %v", len(d.Skipped), skipped)
	}
	if n := g.upstream.Calls("a"); n != calls {
		g.t.Errorf("upstream a has seen %d calls, want %d", n, calls)
	}
}

// TestQuotaBeatsAffinity: an account that its own headers show used up is not
// called, whoever the session belongs to; with an old snapshot, and with none, it
// is.
func TestQuotaBeatsAffinity(t *testing.T) {
	g := newGateway(t, "quota: {requests: 4, per: 1h, headers: true}", "")
	for session := range byte(3) { // nothing is known: a serves, and gets the sessions
		g.want(session, "a/m ok", false, int(session)+1)
	}
	g.want(0, "a/m ok", false, 4)
	g.want(0, "b/m ok", true, 4)
	g.clock.move(engine.QuotaFreshness)
	g.want(1, "b/m ok", true, 4)
	g.clock.move(time.Millisecond)
	g.want(2, "a/m rate_limit, b/m ok", false, 5) // the snapshot is too old to keep it from a
	g.want(3, "b/m ok", true, 5)                  // and the refusal was another

	_, err := g.ask(4, "a/m")
	refused, ok := errors.AsType[*engine.RefusedError](err)
	if !ok || refused.Code != engine.CodeAllQuotaExhausted || refused.RetryAfter < time.Second || refused.RetryAfter > time.Hour {
		t.Errorf("locked to a: %v, want a refusal for its quota within the hour", err)
	}
	if n := g.upstream.Calls("a"); n != 5 {
		t.Errorf("a request locked to a has called it: %d calls", n)
	}
}

// TestCountedQuota uses up windows of the configuration.
func TestCountedQuota(t *testing.T) {
	const windows = `, quota_windows: [
    {name: daily, period: 1d, unit: requests, limit: 3, covers: [m]},
    {name: other, period: 1d, unit: requests, limit: 1, covers: ["*", "!m"]}]`
	g := newGateway(t, "", windows)
	for n := range 3 {
		g.want(0, "a/m ok", false, n+1)
	}
	g.want(0, "b/m ok", true, 3)
	g.clock.move(24*time.Hour - time.Millisecond) // no snapshot of it is ever old
	g.want(1, "b/m ok", true, 3)
	g.clock.move(time.Millisecond)
	g.want(2, "a/m ok", false, 4)
}

// TestQuotaOutlivesRestart uses up a window, and starts again.
func TestQuotaOutlivesRestart(t *testing.T) {
	upstreams, address := upstream(t)
	text := strings.Replace(configOf(address, ""), "auth: none, priority: 1", `auth: none, priority: 1, quota_windows: [
    {name: daily, period: 1d, unit: requests, limit: 2}]`, 1)
	options := Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: t.TempDir()}
	for turn := range 3 {
		gateway, stop := run(t, options)
		for n := range 2 {
			want := "b/m"
			if turn == 0 {
				want = "a/m"
			}
			if status, served := chat(t, gateway); status != http.StatusOK || served != want {
				t.Errorf("request %d of run %d: status %d by %q, want %q", n, turn, status, served, want)
			}
		}
		stop()
	}
	if n := upstreams.Calls("a"); n != 2 {
		t.Errorf("upstream a has seen %d calls, want 2", n)
	}
}
