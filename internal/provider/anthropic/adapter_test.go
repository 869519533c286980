package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/internal/provider"
	wire "gatewright/internal/wire/anthropic"
)

const (
	secretKey   = "sk-canary-0123456789abcdef"
	publicModel = "public-model"
)

// asked is a request as the upstream got it.
type asked struct {
	path   string
	header http.Header
	body   string
}

// rig is an adapter and its upstream, which answers the same to everything.
type rig struct {
	adapter *Adapter
	asked   []asked
}

// newRig makes a rig; kind is the content type of the answer.
func newRig(t *testing.T, kind, text string, change func(*Config)) *rig {
	t.Helper()
	r := &rig{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		r.asked = append(r.asked, asked{path: q.URL.RequestURI(), header: q.Header, body: string(body)})
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Request-Id", "req_upstream")
		w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "7")
		w.Header().Set("Anthropic-Echo", secretKey)
		w.Header().Set("Set-Cookie", "a=b")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(srv.Close)
	client := provider.NewClient(provider.ClientOptions{})
	t.Cleanup(client.Close)
	key, err := provider.NewCredential("X-Api-Key", "", secretKey)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{BaseURL: srv.URL + "/v1", Model: "up-model", Keys: provider.NewKeyring(key), Client: client, CountTokens: true}
	if change != nil {
		change(&c)
	}
	if r.adapter, err = New(c); err != nil {
		t.Fatal(err)
	}
	return r
}

// call makes a call of a client's body.
func call(t *testing.T, e wire.Endpoint, body string, header http.Header) *provider.Call {
	t.Helper()
	found, err := wire.ScanRequest(e, []byte(body), 64)
	if err != nil {
		t.Fatal(err)
	}
	return &provider.Call{
		Request: &engine.Request{
			Caller: &engine.Caller{}, Stream: found.Stream,
			Payload: &wire.Payload{Endpoint: e, Request: found, Body: []byte(body), Header: header},
		},
		Deployment: &engine.Deployment{ID: "d"}, PublicModel: publicModel, Clock: time.Now, Waiting: func() {}, Memo: &provider.Memo{},
	}
}

// do makes the call and returns what the client gets.
func (r *rig) do(t *testing.T, c *provider.Call) (string, *provider.Response, error) {
	t.Helper()
	resp, err := r.adapter.Do(t.Context(), c)
	if err != nil {
		return "", nil, err
	}
	if resp.Stream == nil {
		return string(resp.Body), resp, nil
	}
	text, err := play(resp.Stream)
	return text, resp, err
}

// play takes a stream to its end.
func play(s provider.Stream) (string, error) {
	var out strings.Builder
	for {
		ev, err := s.Next()
		if err != nil {
			return out.String(), errors.Join(err, s.Close())
		}
		out.Write(ev.Frame)
		if ev.Done {
			return out.String(), s.Close()
		}
	}
}

const (
	asking    = `{"model":"m", "max_tokens":5,"stream":false,"messages":[{"role":"user","content":"hi"}], "x_new":{"a":[1, 2]},"disable_fallbacks":true}`
	answering = `{"id":"msg_1","type":"message","role":"assistant","model":"up-model","content":[{"type":"text","text":"hello"},{"type":"new_block","x":[1, 2]}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":4},"x_new":1}`
)

// TestPassesThrough: but for the model's name and the gateway's own fields, every
// byte is the client's on the way in and the upstream's on the way out.
func TestPassesThrough(t *testing.T) {
	r := newRig(t, "application/json", answering, nil)
	c := call(t, wire.Messages, asking, http.Header{"Anthropic-Version": {"2023-06-01"}})
	got, resp, err := r.do(t, c)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Release()
	if want := strings.Replace(answering, "up-model", publicModel, 1); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if want := `{"model":"up-model", "max_tokens":5,"stream":false,"messages":[{"role":"user","content":"hi"}], "x_new":{"a":[1, 2]}}`; r.asked[0].body != want {
		t.Errorf("asked %s\nwant  %s", r.asked[0].body, want)
	}
	if want := (engine.Usage{Known: true, Input: 7, Output: 2, Cached: 4}); resp.Usage != want {
		t.Errorf("usage %+v", resp.Usage)
	}
	want := http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(got))}, "Anthropic-Ratelimit-Requests-Remaining": {"7"}}
	if diff := cmp.Diff(want, resp.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if c.Seen.RequestID != "req_upstream" || c.Seen.Status != 200 {
		t.Errorf("seen %+v", c.Seen)
	}
}

const events = "event: message_start\n" +
	`data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"up-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}` + "\n\n" +
	"event: ping\n" + `data: {"type": "ping"}` + "\n\n" +
	"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"},"x_new":[1, 2]}` + "\n\n" +
	"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
	"event: new_event\n" + `data: {"type":"new_event","x":1}` + "\n\n" +
	"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}` + "\n\n" +
	"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"

// TestStreamPassesThrough is the same for a stream. Pings are not passed on: the
// gateway keeps the client's connection alive itself.
func TestStreamPassesThrough(t *testing.T) {
	r := newRig(t, "text/event-stream", events, nil)
	got, resp, err := r.do(t, call(t, wire.Messages, strings.Replace(asking, "false", "true", 1), nil))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("up-model", publicModel, "event: ping\ndata: {\"type\": \"ping\"}\n\n", "").Replace(events)
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if u := resp.Stream.Usage(); u.Input != 3 || u.Output != 2 {
		t.Errorf("usage %+v", u)
	}
}

// TestHeaders: a client's interface version goes upstream, unless it is configured,
// and its betas with those that are.
func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name          string
		client        http.Header
		change        func(*Config)
		version, beta string
	}{
		{"nothing", nil, nil, "2023-06-01", ""},
		{"an older client", http.Header{"Anthropic-Version": {"2023-06-01"}}, nil, "2023-06-01", ""},
		{"a newer client", http.Header{"Anthropic-Version": {"2026-10-21"}}, nil, "2026-10-21", ""},
		{"the provider's version is for others", http.Header{"Anthropic-Version": {"2023-06-01"}}, func(c *Config) { c.Version = "2026-10-21" }, "2023-06-01", ""},
		{"a version that is configured", http.Header{"Anthropic-Version": {"2026-10-21"}}, func(c *Config) { c.Header = http.Header{"Anthropic-Version": {"2023-01-01"}} }, "2023-01-01", ""},
		{"betas", http.Header{"Anthropic-Beta": {"a,b", "c"}}, nil, "2023-06-01", "a,b,c"},
		{"betas of both", http.Header{"Anthropic-Beta": {"a"}}, func(c *Config) { c.Header = http.Header{"Anthropic-Beta": {"z"}} }, "2023-06-01", "z,a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "application/json", answering, tt.change)
			client := http.Header{"X-Api-Key": {"client"}, "Authorization": {"Bearer client"}, "Cookie": {"client"}, "Traceparent": {"00-1"}}
			maps.Copy(client, tt.client)
			if _, _, err := r.do(t, call(t, wire.Messages, asking, client)); err != nil {
				t.Fatal(err)
			}
			h := r.asked[0].header
			want := map[string]string{
				"Anthropic-Version": tt.version, "Anthropic-Beta": tt.beta, "X-Api-Key": secretKey, "Authorization": "", "Cookie": "",
				"Traceparent": "00-1", "Content-Type": "application/json", "Accept": "application/json",
			}
			for name, value := range want {
				if got := strings.Join(h[name], "|"); got != value {
					t.Errorf("%s: %q, want %q", name, got, value)
				}
			}
		})
	}
}

// TestCount: the upstream counts if it is known to, and else nobody is asked.
func TestCount(t *testing.T) {
	const count = `{"model":"m","messages":[{"role":"user","content":"hello to you"}]}`
	r := newRig(t, "application/json", `{"input_tokens":11,"x_new":1}`, nil)
	got, _, err := r.do(t, call(t, wire.CountTokens, count, nil))
	if err != nil || got != `{"input_tokens":11,"x_new":1}` || r.asked[0].path != "/v1/messages/count_tokens" {
		t.Errorf("got %s, %v, asked %+v", got, err, r.asked)
	}
	r = newRig(t, "text/event-stream", events, nil)
	if got, _, err := r.do(t, call(t, wire.CountTokens, count, nil)); err == nil {
		t.Errorf("a stream is taken for a count: %s", got)
	}
	r = newRig(t, "application/json", `{}`, func(c *Config) { c.CountTokens = false })
	got, resp, err := r.do(t, call(t, wire.CountTokens, count, nil))
	if err != nil || len(r.asked) != 0 || !strings.HasPrefix(got, `{"input_tokens":`) || !resp.Local || resp.Header.Get("X-Gatewright-Estimate") != "true" {
		t.Errorf("got %s, %v, %+v, asked %+v", got, err, resp, r.asked)
	}
}

// TestConfigErrors refuses what cannot work, and repeats no secret.
func TestConfigErrors(t *testing.T) {
	client := provider.NewClient(provider.ClientOptions{})
	const base = "https://api.example.com/v1"
	for _, tt := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no base URL", Config{Client: client}, "base_url is not an http or https address"},
		{"password", Config{BaseURL: "https://user:canary@example.com", Client: client}, "user name or password"},
		{"no client", Config{BaseURL: base}, "no client"},
		{"version that is none", Config{BaseURL: base, Client: client, Version: "latest"}, "is no date"},
		{"header of ours", Config{BaseURL: base, Client: client, Header: http.Header{"Host": {"canary"}}}, "headers.Host cannot be configured"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	a := newRig(t, "", "", nil).adapter
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, a); strings.Contains(got, "canary") || !strings.Contains(got, "up-model") {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

// TestCancelled ends a call with its context.
func TestCancelled(t *testing.T) {
	r := newRig(t, "application/json", answering, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.adapter.Do(ctx, call(t, wire.Messages, asking, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
