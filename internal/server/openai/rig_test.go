package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatewright/engine"
	"gatewright/internal/server"
	"gatewright/internal/server/openai"
	wire "gatewright/internal/wire/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The secrets of the callers that rigs know.
const (
	keyAll    = "gw-all-0123456789abcdef"    // sees routing and may choose strategies
	keyPlain  = "gw-plain-0123456789abcdef"  // may do neither
	keyNarrow = "gw-narrow-0123456789abcdef" // model-n, provider a, official supply only
)

// keys is a table of callers by secret.
type keys map[string]*engine.Caller

func (k keys) Lookup(secret string) (*engine.Caller, bool) {
	c, ok := k[secret]
	return c, ok
}

func (keys) Anonymous() (*engine.Caller, bool) { return nil, false }

var callers = keys{
	keyAll:   {Key: "all", Team: "web", Org: "acme", AllowRequestStrategy: true, ExposeRouting: true},
	keyPlain: {Key: "plain", Team: "web", Org: "acme"},
	keyNarrow: {
		Key: "narrow", AllowedModels: engine.NewSet([]string{"model-n", "off"}),
		AllowedProviders: engine.NewSet([]string{"a"}), SupplyTiers: engine.NewSet([]string{"official"}),
	},
}

// check is an admission rule made of a function.
type check func(r *engine.Request, pool []engine.Candidate, out *engine.Refusals)

func (check) Name() string { return "test" }

func (c check) Refuse(_ context.Context, r *engine.Request, pool []engine.Candidate, out *engine.Refusals) error {
	c(r, pool, out)
	return nil
}

// execute is an executor made of a function.
type execute func(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error)

func (f execute) Execute(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
	return f(ctx, r, p, sink)
}

// serve answers with what it was asked: the deployment and the body.
func serve(_ context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
	d := p.Order[0].Deployment
	if err := sink.Commit(engine.Answer{Status: http.StatusOK, Deployment: d, Attempts: 1, Cost: engine.Unknown}); err != nil {
		return engine.Result{}, err
	}
	payload, ok := r.Payload.(*wire.Payload)
	if !ok {
		panic("the payload is not one of the wire")
	}
	_, err := sink.Write(payload.Body)
	return engine.Result{Status: http.StatusOK, Deployment: d.ID, Cost: engine.Unknown}, err
}

// outside is all that an engine calls and rigs do not care for.
type outside struct{}

func (outside) Signals(time.Time, []engine.Candidate) {}
func (outside) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{}, false
}
func (outside) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}
func (outside) Record(*engine.Decision)                                           {}

// rig is a server with the room on a loopback port.
type rig struct {
	t       *testing.T
	address string
	owners  owners
	mu      sync.Mutex
	seen    []*engine.Request // by the executor
}

// snapshot is a configuration with all that names can hold.
func snapshot(t *testing.T, checks ...engine.Check) *engine.Snapshot {
	t.Helper()
	provider := func(id, tier string, enabled, credential bool) *engine.Provider {
		return &engine.Provider{ID: id, Enabled: enabled, HasCredential: credential, SupplyTier: tier}
	}
	a, b := provider("a", "official", true, true), provider("b", "economy", true, true)
	off, bare := provider("off", "official", false, true), provider("bare", "official", true, false)
	model := func(name string, aliases []string, providers ...*engine.Provider) *engine.Model {
		m := &engine.Model{Name: name, Aliases: aliases}
		for i, p := range providers {
			m.Deployments = append(m.Deployments, &engine.Deployment{
				ID: p.ID + "/" + name, Model: name, Provider: p, UpstreamModel: "up-" + name, Enabled: true, Weight: 1, Listed: i,
			})
		}
		return m
	}
	halted := model("halted", nil, a)
	halted.Deployments[0].Enabled = false
	s, err := engine.NewSnapshot(engine.Spec{
		Providers: []*engine.Provider{a, b, off, bare},
		Models: []*engine.Model{
			model("model-m", []string{"m", "llama3.1:70b"}, a, b),
			model("model-n", nil, a),
			model("openrouter/gpt-4", nil, b),
			model("x-v2:0", nil, a),
			model("off", nil, off),
			model("bare", nil, bare),
			halted,
			model("mixed", nil, off, a),
		},
		Strategies: map[string]*engine.Strategy{
			engine.StrategyBalanced: {Name: engine.StrategyBalanced}, "price": {Name: "price"},
		},
		Checks: checks, Callers: callers, Limits: engine.Limits{JSONDepth: 100},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves until the test ends. A nil executor is serve.
func start(t *testing.T, run execute, checks ...engine.Check) *rig {
	t.Helper()
	if run == nil {
		run = serve
	}
	r := &rig{t: t, owners: owners{}}
	watch := execute(func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		r.mu.Lock()
		r.seen = append(r.seen, q)
		r.mu.Unlock()
		return run(ctx, q, p, sink)
	})
	s := server.New(server.Options{
		Engine: engine.New(snapshot(t, checks...), outside{}, outside{}, watch, outside{}),
		Logger: slog.New(slog.DiscardHandler),
		Rooms:  []server.Room{openai.New(), openai.NewResponses(r.owners)},
	})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(now) // nothing runs any more, or the test left it behind
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return r
}

// last returns the request that the executor saw last; nil = none.
func (r *rig) last() *engine.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) == 0 {
		return nil
	}
	return r.seen[len(r.seen)-1]
}

// do sends a request with a key and returns status, header and body.
func (r *rig) do(method, path, key, body string, headers ...[2]string) (int, http.Header, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.address+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range headers {
		req.Header.Add(h[0], h[1])
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// told is an error of the protocol; pointers tell null from absent.
type told struct {
	Message string           `json:"message"`
	Type    string           `json:"type"`
	Param   *string          `json:"param"`
	Code    *string          `json:"code"`
	Skipped []map[string]any `json:"skipped_candidates"`
}

func (e told) code() string  { return text(e.Code) }
func (e told) param() string { return text(e.Param) }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// toldIn reads an error body and checks that it holds all that SDKs look for,
// and nothing else.
func toldIn(t *testing.T, body string) told {
	t.Helper()
	var e struct{ Error told }
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("not an error body: %q: %v", body, err)
	}
	for _, field := range []string{`"message":`, `"type":`, `"param":`, `"code":`} {
		if !strings.Contains(body, field) {
			t.Errorf("the error lacks %s: %s", field, body)
		}
	}
	return e.Error
}
