package translation_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/anthropic"
	"gatewright/internal/provider/gemini"
	"gatewright/internal/provider/health"
	"gatewright/internal/provider/openai"
	wireanthropic "gatewright/internal/wire/anthropic"
	wireopenai "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/translate"
)

const (
	publicModel   = "public-model"
	upstreamModel = "up-model"
	secretKey     = "sk-canary-0123456789abcdef"
	shortLimit    = 100 * time.Millisecond // of the waits that are to end

	answerLimit = 1 << 20
	eventLimit  = 1 << 20
)

// protocols are those of upstreams, and clients are those of callers.
var (
	protocols = []translate.Protocol{translate.Chat, translate.Messages, translate.Gemini, translate.Responses}
	clients   = []translate.Protocol{translate.Chat, translate.Messages, translate.Responses}
)

// upstream is one deployment of a rig: what it speaks and how it answers.
type upstream struct {
	id       string
	protocol translate.Protocol
	handler  http.HandlerFunc
	about    translate.Upstream
	limits   engine.Timeouts // zero = long ones
	slow     bool            // its last bytes may be long in coming, and are waited for
}

// rig is an engine whose deployments speak different protocols, called in the
// order in which they are given.
type rig struct {
	t        *testing.T
	tracker  *health.Tracker
	engine   *engine.Engine
	snapshot *engine.Snapshot
}

type nobody struct{}

func (nobody) Target(engine.AffinityKey, time.Time) (engine.Target, bool) {
	return engine.Target{}, false
}

func (nobody) Succeeded(engine.AffinityKey, engine.Target, time.Time, time.Time) {}

// Record implements [engine.Recorder].
func (nobody) Record(*engine.Decision) {}

func newRig(t *testing.T, upstreams ...upstream) *rig {
	t.Helper()
	return newRigWith(t, nil, upstreams...)
}

// newRigWith makes a rig whose model has fallback tables; the last upstream serves
// the model "other" then.
func newRigWith(t *testing.T, chains map[engine.Chain][]string, upstreams ...upstream) *rig {
	t.Helper()
	client := provider.NewClient(provider.ClientOptions{Connect: 2 * time.Second})
	t.Cleanup(client.Close)
	tracker, err := health.New(health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	retry := engine.DefaultRetryPolicy()
	model := &engine.Model{Name: publicModel, Route: engine.Route{Retry: retry, Chains: chains}}
	other := &engine.Model{Name: "other", Route: engine.Route{Retry: retry}}
	spec := engine.Spec{
		Models:     []*engine.Model{model, other},
		Strategies: map[string]*engine.Strategy{engine.StrategyBalanced: {Name: engine.StrategyBalanced}},
	}
	finish := shortLimit
	for i, up := range upstreams {
		if up.slow {
			finish = 30 * time.Second
		}
		srv := httptest.NewServer(up.handler)
		t.Cleanup(srv.Close)
		if up.limits == (engine.Timeouts{}) {
			const long = 30 * time.Second
			up.limits = engine.Timeouts{FirstToken: long, Idle: long, Answer: long}
		}
		p := &engine.Provider{ID: "provider-" + up.id, Enabled: true, HasCredential: true}
		spec.Providers = append(spec.Providers, p)
		d := &engine.Deployment{
			ID: up.id, Model: publicModel, Provider: p, UpstreamModel: upstreamModel, Enabled: true, Weight: 1,
			Priority: 100 - i, Timeouts: up.limits,
			Target: &provider.Target{Adapter: adapter(t, &up, srv.URL, client)},
		}
		if chains != nil && i == len(upstreams)-1 {
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
	dispatcher := provider.NewDispatcher(tracker, provider.Options{FinishWait: finish})
	return &rig{t: t, tracker: tracker, snapshot: snapshot, engine: engine.New(snapshot, tracker, nobody{}, dispatcher, nobody{})}
}

// adapter returns what speaks an upstream's protocol.
func adapter(tb testing.TB, up *upstream, url string, client *provider.Client) provider.Adapter {
	tb.Helper()
	name, prefix := "Authorization", "Bearer "
	switch up.protocol {
	case translate.Messages:
		name, prefix = "X-Api-Key", ""
	case translate.Gemini:
		name, prefix = "X-Goog-Api-Key", ""
	case translate.Chat, translate.Responses:
	}
	key, err := provider.NewCredential(name, prefix, secretKey)
	if err != nil {
		tb.Fatal(err)
	}
	keys := provider.NewKeyring(key)
	var a provider.Adapter
	switch up.protocol {
	case translate.Messages:
		a, err = anthropic.New(anthropic.Config{
			BaseURL: url + "/v1", Model: upstreamModel, Keys: keys, Client: client, CountTokens: true, Translation: up.about,
			AnswerLimit: answerLimit, EventLimit: eventLimit,
		})
	case translate.Gemini:
		a, err = gemini.New(gemini.Config{
			BaseURL: url + "/v1beta", Model: upstreamModel, Keys: keys, Client: client, Translation: up.about,
			AnswerLimit: answerLimit, EventLimit: eventLimit,
		})
	case translate.Chat, translate.Responses:
		serves := engine.EndpointSet(engine.EndpointChat)
		if up.protocol == translate.Responses {
			serves = engine.EndpointSet(engine.EndpointResponses)
		}
		a, err = openai.New(openai.Config{
			BaseURL: url + "/v1", Model: upstreamModel, Keys: keys, Client: client, IncludeUsage: true, Native: serves,
			Translation: up.about, AnswerLimit: answerLimit, EventLimit: eventLimit,
		})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// request makes the engine's request of a client's body, as a server would.
func request(tb testing.TB, client translate.Protocol, body string) *engine.Request {
	tb.Helper()
	r := &engine.Request{ID: "req", Caller: &engine.Caller{Key: "k"}, Now: time.Now()}
	var err error
	switch client {
	case translate.Chat:
		var found *wireopenai.Request
		if found, err = wireopenai.ScanRequest(wireopenai.Chat, []byte(body), 64); err == nil {
			r.Model, r.Stream, r.Endpoint = found.Model, found.Stream, engine.EndpointChat
			r.Payload = &wireopenai.Payload{Endpoint: wireopenai.Chat, Request: found, Body: []byte(body)}
		}
	case translate.Messages:
		var found *wireanthropic.Request
		if found, err = wireanthropic.ScanRequest(wireanthropic.Messages, []byte(body), 64); err == nil {
			r.Model, r.Stream, r.Endpoint = found.Model, found.Stream, engine.EndpointMessages
			r.Payload = &wireanthropic.Payload{Endpoint: wireanthropic.Messages, Request: found, Body: []byte(body)}
		}
	case translate.Responses:
		var found *responses.Request
		if found, err = responses.ScanRequest(responses.Create, []byte(body), 64); err == nil {
			r.Model, r.Stream, r.Endpoint = found.Model, found.Stream, engine.EndpointResponses
			r.Payload = &responses.Payload{Endpoint: responses.Create, Request: found, Body: []byte(body)}
		}
	case translate.Gemini:
		err = errors.New("no client speaks it")
	}
	if err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return r
}

// ask sends a client's body.
func (r *rig) ask(client translate.Protocol, body string) (*sink, *engine.Decision, error) {
	r.t.Helper()
	return r.serve(r.t.Context(), request(r.t, client, body))
}

func (r *rig) serve(ctx context.Context, req *engine.Request) (*sink, *engine.Decision, error) {
	s := &sink{}
	d, err := r.engine.Serve(ctx, r.snapshot, req, s, time.Now)
	return s, d, err
}

// first returns what is known of the first deployment.
func (r *rig) first() health.DeploymentStats {
	for _, s := range r.tracker.Stats() {
		if s.Deployment == "a" {
			return s
		}
	}
	return health.DeploymentStats{}
}

// sink keeps what a client would get.
type sink struct {
	commits int
	answer  engine.Answer
	out     strings.Builder
	native  bool // the client speaks the upstream's protocol
}

// Commit implements [engine.Sink].
func (s *sink) Commit(a engine.Answer) error { s.commits++; s.answer = a; return nil }

// Write implements [engine.Sink].
func (s *sink) Write(p []byte) (int, error) { return s.out.Write(p) }

// Flush implements [engine.Sink].
func (s *sink) Flush() error { return nil }

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

// eachPair runs a test for each client at each upstream, with and without a
// stream.
func eachPair(t *testing.T, run func(t *testing.T, client, up translate.Protocol, streams bool)) {
	t.Helper()
	for _, client := range clients {
		for _, up := range protocols {
			for _, streams := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v at %v, stream %v", client, up, streams), func(t *testing.T) {
					t.Parallel()
					run(t, client, up, streams)
				})
			}
		}
	}
}

// body is a client's request of its protocol with further members.
func body(client translate.Protocol, streams bool, members string) string {
	conversation := `"messages":[{"role":"user","content":"say something"}]`
	switch client {
	case translate.Messages:
		conversation = `"max_tokens":1000,` + conversation
	case translate.Responses:
		conversation = `"input":"say something"`
	case translate.Chat, translate.Gemini:
	}
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"model":%q,"stream":%v,%s%s}`, publicModel, streams, conversation, members)
}
