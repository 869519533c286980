package translation_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatewright/engine"
	wireanthropic "gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/translate"
)

// counting makes a request for a count of tokens.
func counting(t *testing.T, client translate.Protocol, body string) *engine.Request {
	t.Helper()
	r := &engine.Request{ID: "req", Caller: &engine.Caller{Key: "k"}, Model: publicModel}
	switch client {
	case translate.Messages:
		found, err := wireanthropic.ScanRequest(wireanthropic.CountTokens, []byte(body), 64)
		if err != nil {
			t.Fatal(err)
		}
		r.Endpoint = engine.EndpointCountTokens
		r.Payload = &wireanthropic.Payload{Endpoint: wireanthropic.CountTokens, Request: found, Body: []byte(body)}
	case translate.Responses:
		found, err := responses.ScanRequest(responses.InputTokens, []byte(body), 64)
		if err != nil {
			t.Fatal(err)
		}
		r.Endpoint = engine.EndpointInputTokens
		r.Payload = &responses.Payload{Endpoint: responses.InputTokens, Request: found, Body: []byte(body)}
	case translate.Chat, translate.Gemini:
		t.Fatalf("%v counts no tokens", client)
	}
	return r
}

const (
	countMessages  = `{"model":"public-model","system":"be kind","messages":[{"role":"user","content":"how many tokens is this, do you think?"}]}`
	countResponses = `{"model":"public-model","instructions":"be kind","input":"how many tokens is this, do you think?"}`
)

// counts are the questions of the clients, and the words of their answers.
var counts = map[translate.Protocol]struct{ body, answer string }{
	translate.Messages:  {countMessages, `{"input_tokens":%d}`},
	translate.Responses: {countResponses, `{"object":"response.input_tokens","input_tokens":%d}`},
}

// TestCount asks the upstreams that count, in their own words.
func TestCount(t *testing.T) {
	answers := map[translate.Protocol]string{translate.Messages: `{"input_tokens":42}`, translate.Gemini: `{"totalTokens":42,"promptTokensDetails":[]}`}
	paths := map[translate.Protocol]string{translate.Messages: "/v1/messages/count_tokens", translate.Gemini: "/v1beta/models/up-model:countTokens"}
	for up, answer := range answers {
		for client, want := range counts {
			t.Run(fmt.Sprintf("%v at %v", client, up), func(t *testing.T) {
				var asked map[string]any
				r := newRig(t, upstream{id: "a", protocol: up, handler: func(w http.ResponseWriter, r *http.Request) {
					text, _ := io.ReadAll(r.Body)
					if r.URL.Path != paths[up] || json.Unmarshal(text, &asked) != nil {
						t.Errorf("asked at %s: %s", r.URL.Path, text)
					}
					status(200, nil, answer)(w, r)
				}})
				out, d, err := r.serve(t.Context(), counting(t, client, want.body))
				if err != nil || out.out.String() != fmt.Sprintf(want.answer, 42) {
					t.Errorf("%v (%s): %s", err, attempts(d), out.out.String())
				}
				if _, estimated := out.answer.Header["X-Gatewright-Estimate"]; estimated {
					t.Error("a count is called an estimate")
				}
				if up == translate.Gemini {
					asked, _ = asked["generateContentRequest"].(map[string]any)
					if asked["model"] != "models/up-model" || asked["contents"] == nil || asked["systemInstruction"] == nil {
						t.Errorf("asked %v", asked)
					}
					return
				}
				if asked["model"] != upstreamModel || asked["messages"] == nil || asked["system"] == nil || asked["max_tokens"] != nil || asked["stream"] != nil {
					t.Errorf("asked %v", asked)
				}
			})
		}
	}
}

// TestCountFails: what an upstream says instead of a count.
func TestCountFails(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		class  string
	}{
		"an error":          {429, geminiError(429, "RESOURCE_EXHAUSTED", "slow down", ""), "rate_limit"},
		"an error in a 200": {200, geminiError(429, "RESOURCE_EXHAUSTED", "slow down", ""), "rate_limit"},
		"no number":         {200, `{"totalTokens":"many"}`, "server"},
		"too many":          {200, `{"totalTokens":1e300}`, "server"},
		"nothing":           {200, ``, "server"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, upstream{id: "a", protocol: translate.Gemini, handler: status(tt.status, nil, tt.body)})
			if _, d, err := r.serve(t.Context(), counting(t, translate.Messages, countMessages)); err == nil || attempts(d) != "a:"+tt.class {
				t.Errorf("%v (%s)", err, attempts(d))
			}
		})
	}
}

// TestEstimate counts here where the upstream does not, without asking anybody and
// without a word about the upstream.
func TestEstimate(t *testing.T) {
	for client, want := range counts {
		t.Run(client.String(), func(t *testing.T) {
			broken := true
			r := newRig(t, upstream{id: "a", protocol: translate.Chat, handler: func(w http.ResponseWriter, r *http.Request) {
				if !broken {
					t.Errorf("asked at %s", r.URL.Path)
				}
				status(500, nil, `{"error":{"message":"down"}}`)(w, r)
			}})
			if _, d, err := r.ask(client, body(client, false, "")); err == nil || attempts(d) != "a:server" {
				t.Fatalf("%v (%s)", err, attempts(d))
			}
			broken = false
			out, d, err := r.serve(t.Context(), counting(t, client, want.body))
			if err != nil || attempts(d) != "a:ok" {
				t.Fatalf("%v (%s)", err, attempts(d))
			}
			var got struct {
				Tokens int64 `json:"input_tokens"`
			}
			if err := json.Unmarshal([]byte(out.out.String()), &got); err != nil {
				t.Fatalf("the client cannot read %q: %v", out.out.String(), err)
			}
			if got.Tokens < 8 || got.Tokens > 40 || out.out.String() != fmt.Sprintf(want.answer, got.Tokens) {
				t.Errorf("got %s", out.out.String())
			}
			if h := out.answer.Header["X-Gatewright-Estimate"]; len(h) != 1 || h[0] != "true" {
				t.Errorf("headers %v", out.answer.Header)
			}
			if s := r.first(); s.FailuresInRow != 1 || s.InFlight != 0 {
				t.Errorf("an answer of the gateway's own counts for the deployment: %+v", s)
			}
			if n := strings.Count(out.out.String(), "\n"); n != 0 {
				t.Errorf("%d line breaks", n)
			}
		})
	}
}
