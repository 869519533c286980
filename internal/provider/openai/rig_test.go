package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/fake"
	"gatewright/internal/provider/health"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// The limits of time of the tests: long enough for a loaded machine to answer
// within, short enough to wait for.
const (
	shortLimit  = 500 * time.Millisecond
	secretKey   = "sk-canary-0123456789abcdef"
	publicModel = "public-model"

	answerLimit = 1 << 20
	eventLimit  = 9 << 20
)

// rig is an engine whose deployments a and b are simulated upstreams; a comes
// first.
type rig struct {
	t        *testing.T
	fake     *fake.Upstreams
	tracker  *health.Tracker
	engine   *engine.Engine
	snapshot *engine.Snapshot
	client   *provider.Client
	baseURL  string // of b
}

type noAffinity struct{}

func (noAffinity) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{}, false
}

func (noAffinity) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}

// Record implements [engine.Recorder].
func (noAffinity) Record(*engine.Decision) {}

// rigOptions shape a rig; the zero value is enough for most tests.
type rigOptions struct {
	timeouts engine.Timeouts
	retry    engine.RetryPolicy
	config   func(id string, c *Config) // changes a deployment's configuration
	chains   map[engine.Chain][]string  // of the model; its fallback is "other", served by b
	retries  *provider.RetryBudget      // nil = the default
}

// newRig serves behaviours (YAML, as below an upstream's name) as a and b.
func newRig(t *testing.T, o rigOptions, a, b string) *rig {
	t.Helper()
	script := &fake.Script{Upstreams: map[string]fake.Behaviour{}}
	for id, text := range map[string]string{"a": a, "b": b} {
		behaviour, err := fake.ParseBehaviour(id, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if behaviour.Answer.Text == "" {
			behaviour.Answer.Text = "this is upstream " + id + " speaking"
		}
		script.Upstreams[id] = behaviour
	}
	up := fake.New(script, fake.Options{})
	srv := httptest.NewServer(up)
	client := provider.NewClient(provider.ClientOptions{Connect: 2 * time.Second})
	t.Cleanup(func() {
		client.Close()
		if err := up.Close(); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	r := newEngine(t, o, client, map[string]string{"a": srv.URL + "/a/v1", "b": srv.URL + "/b/v1"})
	r.fake, r.baseURL = up, srv.URL+"/b/v1"
	return r
}

// newEngine makes an engine that calls the given base URLs, a before b.
func newEngine(t *testing.T, o rigOptions, client *provider.Client, urls map[string]string) *rig {
	t.Helper()
	tracker, err := health.New(health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.timeouts == (engine.Timeouts{}) {
		o.timeouts = engine.Timeouts{FirstToken: shortLimit, Idle: shortLimit, Answer: shortLimit}
	}
	if o.retry == (engine.RetryPolicy{}) {
		o.retry = engine.DefaultRetryPolicy()
	}
	key, err := provider.NewCredential("Authorization", "Bearer ", secretKey)
	if err != nil {
		t.Fatal(err)
	}
	model := &engine.Model{Name: publicModel, Route: engine.Route{Retry: o.retry, Chains: o.chains}}
	other := &engine.Model{Name: "other", Route: engine.Route{Retry: o.retry}}
	spec := engine.Spec{
		Models:     []*engine.Model{model, other},
		Strategies: map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}},
	}
	for i, id := range []string{"a", "b"} {
		if urls[id] == "" {
			continue
		}
		config := Config{
			BaseURL: urls[id], Model: "up-model", Client: client, IncludeUsage: true, Keys: provider.NewKeyring(key),
			AnswerLimit: answerLimit, EventLimit: eventLimit,
		}
		if o.config != nil {
			o.config(id, &config)
		}
		adapter, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		p := &engine.Provider{ID: "provider-" + id, Enabled: true, HasCredential: true}
		spec.Providers = append(spec.Providers, p)
		d := &engine.Deployment{
			ID: id, Model: publicModel, Provider: p, UpstreamModel: config.Model, Enabled: true, Weight: 1,
			Priority: 10 - i, Timeouts: o.timeouts, Target: &provider.Target{Adapter: adapter},
		}
		if id == "b" && o.chains != nil {
			d.Model = other.Name
			other.Deployments = append(other.Deployments, d)
			continue
		}
		model.Deployments = append(model.Deployments, d)
	}
	snapshot, err := engine.NewSnapshot(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, tracker: tracker, snapshot: snapshot, client: client}
	dispatcher := provider.NewDispatcher(tracker, provider.Options{FinishWait: shortLimit, Retries: o.retries})
	r.engine = engine.New(snapshot, tracker, noAffinity{}, dispatcher, noAffinity{})
	return r
}

// requestBody is a request of a client, with fields that nobody knows.
func requestBody(streams bool) string {
	return fmt.Sprintf(`{"model":%q, "stream":%v, "messages":[{"role":"user","content":"say something"}], "x_new_field":{"a":[1,2]}}`, publicModel, streams)
}

// request makes the engine's request of a body, as a server would.
func request(t *testing.T, e wire.Endpoint, body string, header http.Header) *engine.Request {
	t.Helper()
	found, err := wire.ScanRequest(e, []byte(body), 64)
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Request{
		ID: "req", Caller: &engine.Caller{Key: "k"}, Model: found.Model, Endpoint: engine.EndpointChat, Stream: found.Stream,
		Now:     time.Now(),
		Payload: &wire.Payload{Endpoint: e, Request: found, Body: []byte(body), Header: header},
	}
}

// ask sends a chat request.
func (r *rig) ask(ctx context.Context, streams bool) (*sink, *engine.Decision, error) {
	r.t.Helper()
	return r.serve(ctx, request(r.t, wire.Chat, requestBody(streams), nil))
}

func (r *rig) serve(ctx context.Context, req *engine.Request) (*sink, *engine.Decision, error) {
	s := &sink{}
	d, err := r.engine.Serve(ctx, r.snapshot, req, s, time.Now)
	return s, d, err
}

func (r *rig) stats(id string) health.DeploymentStats {
	for _, s := range r.tracker.Stats() {
		if s.Deployment == id {
			return s
		}
	}
	return health.DeploymentStats{Deployment: id}
}

// sink keeps what a client would get.
type sink struct {
	commits int
	answer  engine.Answer
	out     strings.Builder
}

// Commit implements [engine.Sink].
func (s *sink) Commit(a engine.Answer) error { s.commits++; s.answer = a; return nil }

// Write implements [engine.Sink].
func (s *sink) Write(p []byte) (int, error) { return s.out.Write(p) }

// Flush implements [engine.Sink].
func (s *sink) Flush() error { return nil }

// reply is what a client reads in an answer.
type reply struct {
	Text   string
	Model  string
	Finish string
	Done   bool
	Usage  bool
	Chunks int
}

type wireAnswer struct {
	Model   string
	Choices []struct {
		Message, Delta struct{ Content, Refusal string }
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct{}
	Error any
}

// read decodes the answer, whole or streamed, as strictly as a client.
func (s *sink) read(t *testing.T, streams bool) reply {
	t.Helper()
	var r reply
	take := func(data []byte) {
		var a wireAnswer
		if err := json.Unmarshal(data, &a); err != nil {
			t.Errorf("client cannot read %.200q: %v", data, err)
			return
		}
		if a.Error != nil {
			t.Errorf("client sees an error of the upstream: %.200q", data)
		}
		if r.Model != "" && r.Model != a.Model {
			t.Errorf("model changes from %q to %q", r.Model, a.Model)
		}
		r.Model, r.Usage = a.Model, r.Usage || a.Usage != nil
		for _, c := range a.Choices {
			r.Text += c.Message.Content + c.Delta.Content
			if c.FinishReason != "" {
				r.Finish = c.FinishReason
			}
		}
	}
	if !streams {
		take([]byte(s.out.String()))
		return r
	}
	events := sse.NewReader(strings.NewReader(s.out.String()), 64<<20)
	for {
		ev, err := events.Next()
		switch {
		case err != nil:
			return r
		case r.Done && ev.HasData:
			t.Errorf("data after [DONE]: %q", ev.Data)
		case string(ev.Data) == "[DONE]":
			r.Done = true
		case ev.HasData:
			r.Chunks++
			take(ev.Data)
		}
	}
}

// attempts lists the attempts of a decision as "a:server b:ok".
func attempts(d *engine.Decision) string {
	parts := make([]string, len(d.Attempts))
	for i := range d.Attempts {
		parts[i] = d.Attempts[i].Deployment + ":" + d.Attempts[i].Class.String()
	}
	return strings.Join(parts, " ")
}

func upstreamError(t *testing.T, err error) *engine.UpstreamError {
	t.Helper()
	u, ok := errors.AsType[*engine.UpstreamError](err)
	if !ok {
		t.Fatalf("got error %v, want one of the upstream", err)
	}
	return u
}
