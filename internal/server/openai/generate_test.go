package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/engine"
	wire "gatewright/internal/wire/openai"
)

// recorded is a request as a client sent it.
type recorded struct {
	Client  string
	Request struct {
		Method, Path string
		Headers      [][2]string
		Body         json.RawMessage
	}
}

func recordedFrom(t *testing.T, path string) recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "wire", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

// withModel replaces the body's model by one that rigs serve.
func withModel(t *testing.T, body json.RawMessage, model string) string {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"mock-1", "mock-emb", "gpt-5", "gpt-5.4"} {
		if s := strings.Replace(compact.String(), `"model":"`+asked+`"`, `"model":"`+model+`"`, 1); s != compact.String() {
			return s
		}
	}
	t.Fatalf("no known model in %.200s", body)
	return ""
}

// want is what routing must know of a request.
type want struct {
	Endpoint engine.Endpoint
	Stream   bool
	Needs    engine.Capabilities
	Max      int64
	Source   string // of the session
}

// TestRecordedClients sends what real clients sent.
func TestRecordedClients(t *testing.T) {
	const (
		chat    = engine.EndpointChat
		embed   = engine.EndpointEmbeddings
		opening = "opening"
	)
	for file, want := range map[string]want{
		"ai-sdk-openai-compatible-object":       {chat, false, engine.CapJSONSchema, 0, opening},
		"ai-sdk-openai-compatible-stream":       {chat, true, 0, 0, opening},
		"ai-sdk-openai-compatible-stream-usage": {chat, true, 0, 0, opening},
		"ai-sdk-openai-compatible-tools":        {chat, false, engine.CapTools, 0, opening},
		"go-openai-chat-stream":                 {chat, true, 0, 0, opening},
		"langchain-chat-stream":                 {chat, true, 0, 0, opening},
		"langchain-embeddings":                  {embed, false, 0, 0, ""},
		"openai-go-chat-stream":                 {chat, true, 0, 0, opening},
		"openai-go-embeddings":                  {embed, false, 0, 0, ""},
		"openai-node-chat":                      {chat, false, 0, 0, opening},
		"openai-node-chat-stream":               {chat, true, 0, 0, opening},
		"openai-node-embeddings":                {embed, false, 0, 0, ""},
		"opencode-main":                         {chat, true, engine.CapTools, 32000, "header:x-session-id"},
		"opencode-title":                        {chat, true, 0, 32000, "header:x-session-id"},
		"promptfoo-chat":                        {chat, false, 0, 1024, opening},
	} {
		t.Run(file, func(t *testing.T) {
			r := start(t, nil)
			rec := recordedFrom(t, "openai/clients/"+file+".json")
			body := withModel(t, rec.Request.Body, "m")
			var headers [][2]string
			for _, h := range rec.Request.Headers {
				if !strings.EqualFold(h[0], "Accept-Encoding") { // ours to choose for reading the answer
					headers = append(headers, h)
				}
			}
			status, _, got := r.do(rec.Request.Method, rec.Request.Path, keyAll, body, headers...)
			if status != http.StatusOK || got != body {
				t.Fatalf("status %d, the executor saw %.200q", status, got)
			}
			q := r.last()
			if diff := cmp.Diff(want, wantOf(q)); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if q.Model != "m" || q.Caller.Key != "all" || q.ID == "" || q.InputTokens < 0 || !q.Deadline.After(q.Now) {
				t.Errorf("request %+v", q)
			}
		})
	}
}

func wantOf(q *engine.Request) want {
	return want{q.Endpoint, q.Stream, q.Needs, q.MaxOutput, q.Session.Source}
}

// TestSessionsOfOtherClients sends the headers of clients that speak another
// protocol with a chat request.
func TestSessionsOfOtherClients(t *testing.T) {
	for file, source := range map[string]string{
		"codex-cli-responses":  "header:session-id",
		"claude-code-messages": "header:x-claude-code-session-id",
	} {
		t.Run(file, func(t *testing.T) {
			r := start(t, nil)
			rec := recordedFrom(t, "clients/"+file+".json")
			var headers [][2]string
			for _, h := range rec.Request.Headers {
				if !strings.EqualFold(h[0], "Accept-Encoding") {
					headers = append(headers, h)
				}
			}
			if status, _, body := r.do(http.MethodPost, chat, keyAll, asking("m"), headers...); status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if got := r.last().Session.Source; got != source {
				t.Errorf("session from %q, want %q", got, source)
			}
		})
	}
}

// TestListedModelsAsTheSDKAsks sends the recorded request for the list.
func TestListedModelsAsTheSDKAsks(t *testing.T) {
	rec := recordedFrom(t, "clients/openai-node-models.json")
	status, _, body := start(t, nil).do(rec.Request.Method, rec.Request.Path, keyAll, "")
	if status != http.StatusOK || !strings.HasPrefix(body, `{"object":"list","data":[`) {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestSessionStays checks which requests share a session.
func TestSessionStays(t *testing.T) {
	r := start(t, nil)
	session := func(path, key, body string, headers ...[2]string) (engine.Session, uint64) {
		t.Helper()
		if status, _, got := r.do(http.MethodPost, path, key, body, headers...); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, got)
		}
		q := r.last()
		return q.Session, q.Seed
	}
	const (
		turn1 = `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}`
		turn2 = `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"},{"role":"user","content":"more"}],"model":"m","stream":true}`
		other = `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}]}`
	)
	first, seed := session(chat, keyAll, turn1)
	second, seed2 := session(chat, keyAll, turn2)
	if first != second || seed != seed2 {
		t.Errorf("two turns: %+v %d, %+v %d", first, seed, second, seed2)
	}
	if s, _ := session(chat, keyAll, other); s.Key == first.Key {
		t.Error("another conversation has the same session")
	}
	if s, _ := session(chat, keyPlain, turn1); s.Key == first.Key {
		t.Error("another key has the same session")
	}
	byHeader, _ := session(chat, keyAll, turn1, [2]string{"X-Gatewright-Session", "s-1"})
	byField, _ := session(chat, keyAll, strings.Replace(other, "{", `{"prompt_cache_key":"s-1",`, 1))
	if byHeader.Key != byField.Key || byHeader.Source != "header" || byField.Source != "prompt_cache_key" {
		t.Errorf("one id in two places: %+v, %+v", byHeader, byField)
	}
	for field, source := range map[string]string{
		`"metadata":{"session_id":"s-1"}`: "metadata", `"session_id":"s-1"`: "session_id", `"litellm_session_id":"s-1"`: "litellm_session_id",
	} {
		if s, _ := session(chat, keyAll, strings.Replace(other, "{", "{"+field+",", 1)); s.Key != byHeader.Key || s.Source != source {
			t.Errorf("%s: %+v, want the session of s-1 from %s", field, s, source)
		}
	}
	embed, _ := session("/v1/embeddings", keyAll, `{"model":"m","input":"hi"}`, [2]string{"X-Gatewright-Session", "s-1"})
	if embed.Key != byHeader.Key {
		t.Errorf("embeddings with a session: %+v", embed)
	}
	_, seedA := session("/v1/embeddings", keyAll, `{"model":"m","input":"hi"}`)
	none, seedB := session("/v1/embeddings", keyAll, `{"model":"m","input":"hi"}`)
	if none.Present() || seedA == seedB {
		t.Errorf("embeddings without one: %+v, seeds %d and %d", none, seedA, seedB)
	}
}

func TestFeatures(t *testing.T) {
	r := start(t, nil)
	text := strings.Repeat("x", 6000)
	for _, c := range []struct {
		name, path, fields string
		check              func(q *engine.Request) bool
	}{
		{"chat text", chat, `"messages":[{"role":"user","content":"` + text + `"}]`, func(q *engine.Request) bool { return q.InputTokens == 1000 }},
		{"prompt", "/v1/completions", `"prompt":"` + text + `","max_tokens":7`, func(q *engine.Request) bool {
			return q.InputTokens == 1000 && q.MaxOutput == 7 && q.Endpoint == engine.EndpointCompletions
		}},
		{"tokens", "/v1/embeddings", `"input":[1,2,3,4,5,6]`, func(q *engine.Request) bool {
			return q.InputTokens > 0 && q.InputTokens <= 6 && q.Endpoint == engine.EndpointEmbeddings
		}},
		{"image", chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + text + `"}}]}]`, func(q *engine.Request) bool {
			return q.Needs == engine.CapVision && q.InputTokens < 100
		}},
		{"audio", chat, `"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}]`, func(q *engine.Request) bool { return q.Needs == engine.CapAudio }},
		{"video", chat, `"messages":[{"role":"user","content":[{"type":"video_url","video_url":{}}]}]`, func(q *engine.Request) bool { return q.Needs == engine.CapVideo }},
		{"file", chat, `"messages":[{"role":"user","content":[{"type":"file","file":{}}]}]`, func(q *engine.Request) bool { return q.Needs == engine.CapFiles }},
		{"reasoning", chat, `"reasoning_effort":"high","messages":[{"role":"user","content":"hi"}]`, func(q *engine.Request) bool { return q.Needs == engine.CapReasoning }},
		{"no fallbacks", chat, `"disable_fallbacks":true,"messages":[{"role":"user","content":"hi"}]`, func(q *engine.Request) bool { return q.DisableFallbacks }},
		{"fallbacks", chat, `"messages":[{"role":"user","content":"hi"}]`, func(q *engine.Request) bool { return !q.DisableFallbacks && !q.Stream }},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, body := r.do(http.MethodPost, c.path, keyAll, `{"model":"m",`+c.fields+"}")
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if q := r.last(); !c.check(q) {
				t.Errorf("request %+v", q)
			}
		})
	}
}

// TestCapsReachTheEngine sends the gateway's own headers, good and bad.
func TestCapsReachTheEngine(t *testing.T) {
	r := start(t, nil)
	r.do(http.MethodPost, chat, keyAll, asking("m"), [2]string{"X-Gatewright-Max-TTFT-Ms", "250"}, [2]string{"X-Gatewright-Max-Cost", "0.5"})
	if q := r.last(); q.MaxTTFT.Milliseconds() != 250 || q.MaxCost != 500_000_000 {
		t.Errorf("caps %s and %d", q.MaxTTFT, q.MaxCost)
	}
	status, _, body := r.do(http.MethodPost, chat, keyAll, asking("m"), [2]string{"X-Gatewright-Max-Cost", "much"})
	if e := toldIn(t, body); status != http.StatusBadRequest || e.code() != "invalid_header" || e.param() != "X-Gatewright-Max-Cost" {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestPayload checks what the executor gets, and that nothing of it outlives
// the request.
func TestPayload(t *testing.T) {
	var during wire.Payload
	r := start(t, func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		payload, _ := q.Payload.(*wire.Payload)
		during = *payload
		during.Body = bytes.Clone(during.Body)
		return serve(ctx, q, p, sink)
	})
	status, _, _ := r.do(http.MethodPost, chat, keyAll, asking("m"),
		[2]string{"OpenAI-Beta", "x=1"}, [2]string{"Traceparent", "00-1-2-01"}, [2]string{"Cookie", "a=b"}, [2]string{"X-Custom", "1"})
	if status != http.StatusOK || string(during.Body) != asking("m") || during.Endpoint != wire.Chat || during.Request.Model != "m" {
		t.Errorf("status %d, payload %+v", status, during)
	}
	if diff := cmp.Diff(http.Header{"Openai-Beta": {"x=1"}, "Traceparent": {"00-1-2-01"}}, during.Header); diff != "" {
		t.Errorf("header for the upstream (-want +got):\n%s", diff)
	}
	// A small answer goes out when the handler has returned.
	if after := r.last().Payload; after != nil {
		t.Errorf("the decision keeps %+v, whose memory serves other requests", after)
	}
}

// TestClientCredentialsStayHere sends random headers: of the client's own
// nothing but the allowed ones may be in what the executor gets.
func TestClientCredentialsStayHere(t *testing.T) {
	r := start(t, func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		payload, _ := q.Payload.(*wire.Payload)
		for name := range payload.Header {
			if name != "Openai-Beta" && name != "Traceparent" && name != "Tracestate" {
				return engine.Result{}, errors.New("header " + name)
			}
		}
		return serve(ctx, q, p, sink)
	})
	name := rapid.OneOf(
		rapid.SampledFrom([]string{
			"Cookie", "X-Api-Key", "Api-Key", "Proxy-Authorization", "OpenAI-Organization", "OpenAI-Project", "OpenAI-Beta",
			"X-Forwarded-For", "Forwarded", "X-Goog-Api-Key", "X-Gatewright-Session", "Traceparent", "Idempotency-Key",
		}),
		rapid.StringMatching(`X-[A-Za-z]{1,12}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		var headers [][2]string
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			headers = append(headers, [2]string{name.Draw(t, "name"), rapid.StringMatching(`[a-z0-9=]{0,20}`).Draw(t, "value")})
		}
		if status, _, body := r.do(http.MethodPost, chat, keyAll, asking("m"), headers...); status != http.StatusOK {
			t.Fatalf("status %d: %s (headers %v)", status, body, headers)
		}
	})
}

// TestBodiesAreNotMixedUp sends many bodies at once: buffers are shared, what
// is in them is not.
func TestBodiesAreNotMixedUp(t *testing.T) {
	const goroutines, each = 16, 40
	r := start(t, nil)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				filler := strings.Repeat(string(rune('a'+g)), (i*i*131)%200_000)
				body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%d %d %s"}]}`, g, i, filler)
				if i%5 == 4 {
					body = body[:len(body)-2] // refused, and the buffer goes back as well
				}
				status, _, got := r.do(http.MethodPost, chat, keyAll, body)
				switch {
				case i%5 == 4 && status != http.StatusBadRequest:
					t.Errorf("a cut body: status %d", status)
				case i%5 != 4 && (status != http.StatusOK || got != body):
					t.Errorf("status %d, %.80q came back for %.80q", status, got, body)
				}
			}
		})
	}
	wg.Wait()
}
