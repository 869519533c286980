package anthropic_test

import (
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
	"gatewright/internal/server/anthropic"
	wire "gatewright/internal/wire/anthropic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The secrets of the callers that rigs know.
const (
	keyAll    = "gw-all-0123456789abcdef"    // sees routing and may choose strategies
	keyPlain  = "gw-plain-0123456789abcdef"  // may do neither
	keyNarrow = "gw-narrow-0123456789abcdef" // claude-b alone
)

// keys is a table of callers by secret.
type keys map[string]*engine.Caller

func (k keys) Lookup(secret string) (*engine.Caller, bool) {
	c, ok := k[secret]
	return c, ok
}

func (keys) Anonymous() (*engine.Caller, bool) { return nil, false }

var callers = keys{
	keyAll:    {Key: "all", AllowRequestStrategy: true, ExposeRouting: true},
	keyPlain:  {Key: "plain"},
	keyNarrow: {Key: "narrow", AllowedModels: engine.NewSet([]string{"claude-b"})},
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

// serve answers with the body that it was asked.
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

// fail ends every request with an error.
func fail(err error) execute {
	return func(context.Context, *engine.Request, *engine.Plan, engine.Sink) (engine.Result, error) {
		return engine.Result{}, err
	}
}

// outside is all that an engine calls and rigs do not care for.
type outside struct{}

func (outside) Signals(time.Time, []engine.Candidate) {}
func (outside) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{}, false
}
func (outside) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}
func (outside) Record(*engine.Decision)                                           {}

// seen is what the executor saw of a request.
type seen struct {
	request engine.Request // its fields; the payload is gone when it has ended
	payload wire.Payload
	order   []string
}

// rig is a server with the room on a loopback port. Another room is the first,
// as in the gateway: this protocol must be known by its requests.
type rig struct {
	t       *testing.T
	address string
	mu      sync.Mutex
	seen    []seen
}

// other is a room of another protocol.
type other struct{}

func (other) Routes() []server.Route {
	return []server.Route{{Method: http.MethodGet, Path: "/v1/models", Handle: func(x *server.Exchange) error {
		x.WriteJSON([]byte(`"another protocol's list"`))
		return nil
	}}}
}
func (other) Traits() server.Traits                                 { return server.Traits{} }
func (other) AppendError(dst []byte, e *server.Error) []byte        { return append(dst, "other: "+e.Code...) }
func (o other) AppendErrorEvent(dst []byte, e *server.Error) []byte { return o.AppendError(dst, e) }

func snapshot(t *testing.T, checks ...engine.Check) *engine.Snapshot {
	t.Helper()
	a := &engine.Provider{ID: "a", Enabled: true, HasCredential: true}
	b := &engine.Provider{ID: "b", Enabled: true, HasCredential: true}
	model := func(name string, context int64, aliases ...string) *engine.Model {
		m := &engine.Model{Name: name, Aliases: aliases}
		for i, p := range []*engine.Provider{a, b} {
			m.Deployments = append(m.Deployments, &engine.Deployment{
				ID: p.ID + "/" + name, Model: name, Provider: p, UpstreamModel: "claude-x", Enabled: true, Weight: 1, Listed: i, Context: context,
			})
		}
		return m
	}
	s, err := engine.NewSnapshot(engine.Spec{
		Providers:  []*engine.Provider{a, b},
		Models:     []*engine.Model{model("claude-a", 0, "sonnet", "org/claude"), model("claude-b", 0), model("small", 400)},
		Strategies: map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}},
		Checks:     checks, Callers: callers, Limits: engine.Limits{JSONDepth: 100},
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
	r := &rig{t: t}
	watch := execute(func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		s := seen{request: *q}
		if payload, ok := q.Payload.(*wire.Payload); ok {
			s.payload = *payload
		}
		for i := range p.Order {
			s.order = append(s.order, p.Order[i].ID)
		}
		r.mu.Lock()
		r.seen = append(r.seen, s)
		r.mu.Unlock()
		return run(ctx, q, p, sink)
	})
	s := server.New(server.Options{
		Engine: engine.New(snapshot(t, checks...), outside{}, outside{}, watch, outside{}),
		Logger: slog.New(slog.DiscardHandler),
		Rooms:  []server.Room{other{}, anthropic.New()},
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

// last returns what the executor saw last; nil = nothing.
func (r *rig) last() *seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) == 0 {
		return nil
	}
	return &r.seen[len(r.seen)-1]
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
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("X-Api-Key", key)
	}
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

// told is an error of the protocol.
type told struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Details struct {
			Code string `json:"error_code"`
		} `json:"details"`
		Skipped []map[string]any `json:"skipped_candidates"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

// toldIn reads an error body and checks that it is one of the protocol, of the
// request that the header names.
func toldIn(t *testing.T, body string, header http.Header) told {
	t.Helper()
	var e told
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("not an error of the protocol: %q: %v", body, err)
	}
	id := header.Get("X-Request-Id")
	if e.Type != "error" || e.Error.Type == "" || id == "" || e.RequestID != id || header.Get("Request-Id") != id {
		t.Errorf("error %+v of request %q, request-id %q", e, id, header.Get("Request-Id"))
	}
	if strings.Contains(body, "\n") {
		t.Errorf("body %q is not on one line", body)
	}
	return e
}
