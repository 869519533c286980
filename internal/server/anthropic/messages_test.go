package anthropic_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	wire "gatewright/internal/wire/anthropic"
)

const (
	messages = "/v1/messages"
	count    = "/v1/messages/count_tokens"
)

// asking is a request for a model.
func asking(model string) string {
	return `{"model":"` + model + `","max_tokens":64,"messages":[{"role":"user","content":"hi"}]}`
}

// recorded is a request as a client sent it.
type recorded struct {
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

// sendable are the headers of a recorded request with a key of the rig's in
// place of the client's.
func (r *recorded) sendable() [][2]string {
	var headers [][2]string
	for _, h := range r.Request.Headers {
		switch strings.ToLower(h[0]) {
		case "accept-encoding": // ours to choose for reading the answer
			continue
		case "x-api-key":
			h[1] = keyAll
		case "authorization":
			h[1] = "Bearer " + keyAll
		}
		headers = append(headers, h)
	}
	return headers
}

// body is the recorded body with a model that rigs serve.
func (r *recorded) body(t *testing.T) string {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, r.Request.Body); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"claude-sonnet-4-5", "claude-sonnet-4-6", "mock-1", "gpt-5", "gpt-5.4"} {
		if s := strings.Replace(compact.String(), `"model":"`+asked+`"`, `"model":"claude-a"`, 1); s != compact.String() {
			return s
		}
	}
	t.Fatalf("no known model in %.200s", compact.String())
	return ""
}

// want is what routing and upstreams must know of a request.
type want struct {
	Endpoint engine.Endpoint
	Stream   bool
	Needs    engine.Capabilities
	Max      int64
	Source   string // of the session
	Version  string
	Beta     string // what it begins with
}

// TestRecordedClients sends what real clients sent, keys where they put them.
func TestRecordedClients(t *testing.T) {
	const (
		m       = engine.EndpointMessages
		old     = wire.Version20230601
		young   = wire.Version20261021
		opening = "opening"
	)
	for file, want := range map[string]want{
		"ai-sdk-anthropic":               {m, false, 0, 64000, opening, old, ""},
		"anthropic-go-messages":          {m, false, 0, 64, opening, old, ""},
		"anthropic-go-v2-messages":       {m, false, 0, 64, opening, young, ""},
		"anthropic-node-auth-token":      {m, false, 0, 64, opening, young, ""},
		"anthropic-node-count-tokens":    {engine.EndpointCountTokens, false, 0, 0, opening, young, ""},
		"anthropic-node-messages":        {m, false, 0, 64, opening, young, ""},
		"anthropic-node-messages-stream": {m, true, 0, 64, opening, young, ""},
		"claude-code-messages": {
			m, true, engine.CapTools | engine.CapReasoning, 32000, "header:x-claude-code-session-id", old, "claude-code-20250219",
		},
	} {
		t.Run(file, func(t *testing.T) {
			r := start(t, nil)
			rec := recordedFrom(t, "anthropic/clients/"+file+".json")
			body := rec.body(t)
			status, header, got := r.do(rec.Request.Method, rec.Request.Path, "", body, rec.sendable()...)
			if status != http.StatusOK || got != body {
				t.Fatalf("status %d, the executor saw %.200q", status, got)
			}
			if id := header.Get("Request-Id"); id == "" || id != header.Get("X-Request-Id") {
				t.Errorf("request-id %q, x-request-id %q", id, header.Get("X-Request-Id"))
			}
			s := r.last()
			beta := s.payload.Header.Get("Anthropic-Beta")
			if !strings.HasPrefix(beta, want.Beta) || want.Beta == "" && beta != "" {
				t.Errorf("beta %q", beta)
			}
			want.Beta = ""
			q := &s.request
			if diff := cmp.Diff(want, wantOf(s)); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if q.Model != "claude-a" || q.Caller.Key != "all" || q.InputTokens < 0 || q.CountTokens == nil || !q.Deadline.After(q.Now) {
				t.Errorf("request %+v", q)
			}
			for name := range s.payload.Header {
				switch name {
				case "Anthropic-Version", "Anthropic-Beta":
				default:
					t.Errorf("%s goes upstream", name)
				}
			}
		})
	}
}

func wantOf(s *seen) want {
	q := &s.request
	return want{q.Endpoint, q.Stream, q.Needs, q.MaxOutput, q.Session.Source, s.payload.Header.Get("Anthropic-Version"), ""}
}

// TestSessionsOfOtherClients sends the headers of clients that speak another
// protocol by themselves, and of their users.
func TestSessionsOfOtherClients(t *testing.T) {
	for file, source := range map[string]string{
		"responses/clients/codex-cli-responses.json": "header:session-id",
		"openai/clients/opencode-main.json":          "header:x-session-id",
		"openai/clients/opencode-title.json":         "header:x-session-id",
		"openai/clients/langchain-chat-stream.json":  "opening",
		"openai/clients/promptfoo-chat.json":         "opening",
	} {
		t.Run(file, func(t *testing.T) {
			r := start(t, nil)
			rec := recordedFrom(t, file)
			if status, _, body := r.do(http.MethodPost, messages, "", asking("claude-a"), rec.sendable()...); status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if got := r.last().request.Session.Source; got != source {
				t.Errorf("session from %q, want %q", got, source)
			}
		})
	}
}

// TestSessions checks which requests share a session, and so a draw.
func TestSessions(t *testing.T) {
	r := start(t, nil)
	session := func(path, key, body string, headers ...[2]string) (engine.Session, uint64) {
		t.Helper()
		if status, _, got := r.do(http.MethodPost, path, key, body, headers...); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, got)
		}
		q := &r.last().request
		return q.Session, q.Seed
	}
	with := func(fields string) string { return strings.Replace(asking("claude-a"), "{", "{"+fields+",", 1) }
	const id = "00000000-0000-4000-8000-000000000009"
	first, seed := session(messages, keyAll, asking("claude-a"), [2]string{"X-Claude-Code-Session-Id", id})
	for name, c := range map[string]struct{ body, source string }{
		"Claude Code":             {with(`"metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"` + id + `\"}"}`), "metadata"},
		"older Claude Code":       {with(`"metadata":{"user_id":"user_0_account_1_session_` + id + `"}`), "metadata"},
		"Langfuse":                {with(`"metadata":{"langfuse_session_id":"` + id + `"}`), "metadata"},
		"LiteLLM, in metadata":    {with(`"metadata":{"session_id":"` + id + `"}`), "metadata"},
		"LiteLLM":                 {with(`"litellm_session_id":"` + id + `"`), "litellm_session_id"},
		"OpenRouter":              {with(`"session_id":"` + id + `"`), "session_id"},
		"counting in the session": {strings.Replace(with(`"session_id":"`+id+`"`), `"max_tokens":64,`, "", 1), "session_id"},
	} {
		path := messages
		if !strings.Contains(c.body, "max_tokens") {
			path = count
		}
		got, s := session(path, keyAll, c.body)
		if got.Key != first.Key || s != seed || got.Source != c.source {
			t.Errorf("%s: session %x from %q, want %x from %q", name, got.Key, got.Source, first.Key, c.source)
		}
	}
	if got, _ := session(messages, keyPlain, asking("claude-a"), [2]string{"X-Claude-Code-Session-Id", id}); got.Key == first.Key {
		t.Error("another key has the same session")
	}
}

// TestCountingGoesTheWayOfGenerating for what differs in nothing else.
func TestCountingGoesTheWayOfGenerating(t *testing.T) {
	r := start(t, nil)
	body := asking("claude-a")
	r.do(http.MethodPost, messages, keyAll, body)
	generated := *r.last()
	r.do(http.MethodPost, count, keyAll, strings.Replace(body, `"max_tokens":64,`, `"stream":true,`, 1))
	counted := *r.last()
	if diff := cmp.Diff(generated.order, counted.order); diff != "" {
		t.Errorf("order (-generating +counting):\n%s", diff)
	}
	if counted.request.Endpoint.Family() != generated.request.Endpoint.Family() || counted.request.Stream || counted.payload.Endpoint != wire.CountTokens {
		t.Errorf("counting %+v", counted.request)
	}
}

// TestNeeds checks what routing learns of a body.
func TestNeeds(t *testing.T) {
	r := start(t, nil)
	content := func(block string) string {
		return `{"model":"sonnet","max_tokens":9,"messages":[{"role":"user","content":[` + block + `]}]}`
	}
	field := func(f string) string { return strings.Replace(asking("sonnet"), "{", "{"+f+",", 1) }
	for _, c := range []struct {
		name, body string
		want       engine.Capabilities
	}{
		{"nothing", asking("sonnet"), 0},
		{"tools", field(`"tools":[{"name":"f","input_schema":{}}]`), engine.CapTools},
		{"no tools", field(`"tools":[]`), 0},
		{"an image", content(`{"type":"image","source":{"type":"url","url":"https://x.example/i.png"}}`), engine.CapVision},
		{"a PDF", content(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}}`), engine.CapFiles},
		{"a document of text", content(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}`), 0},
		{"a schema", field(`"output_config":{"format":{"type":"json_schema","schema":{}}}`), engine.CapJSONSchema},
		{"thinking", field(`"thinking":{"type":"enabled","budget_tokens":1024}`), engine.CapReasoning},
		{"no thinking", field(`"thinking":{"type":"disabled"}`), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, _, body := r.do(http.MethodPost, messages, keyAll, c.body); status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if got := r.last().request.Needs; got != c.want {
				t.Errorf("needs %v, want %v", got.Names(), c.want.Names())
			}
		})
	}
	r.do(http.MethodPost, messages, keyAll, field(`"tools":[{"type":"web_search_20250305","name":"web_search"}]`))
	if got := r.last().request.Native; got != "tools" {
		t.Errorf("needs its maker for %q", got)
	}
	r.do(http.MethodPost, messages, keyAll, field(`"disable_fallbacks":true`), [2]string{"X-Gatewright-Max-Cost", "0.5"}, [2]string{"X-Gatewright-Max-TTFT-Ms", "1500"})
	if q := &r.last().request; !q.DisableFallbacks || q.MaxCost != 500_000_000 || q.MaxTTFT.Milliseconds() != 1500 {
		t.Errorf("request %+v", q)
	}
}

// TestContextLimit counts where the estimate is near the limit of 400 tokens.
func TestContextLimit(t *testing.T) {
	r := start(t, nil, check(func(q *engine.Request, pool []engine.Candidate, out *engine.Refusals) {
		for i := range pool {
			if c := &pool[i]; c.Context > 0 && q.InputTokens+q.MaxOutput > c.Context {
				out.Remove(i, engine.ReasonContextWindow, "too long")
			}
		}
	}))
	body := func(words int) string {
		return `{"model":"small","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat(" word", words) + `"}]}`
	}
	for words, status := range map[int]int{390: 200, 410: 400, 2000: 400} {
		got, header, answer := r.do(http.MethodPost, messages, keyAll, body(words))
		if got != status {
			t.Errorf("%d words: status %d, want %d", words, got, status)
		}
		if status == http.StatusOK {
			if n := r.last().request.InputTokens; n != int64(words) {
				t.Errorf("%d words are %d tokens", words, n)
			}
			continue
		}
		if e := toldIn(t, answer, header); e.Error.Details.Code != engine.CodeContextLengthExceeded || !strings.HasPrefix(e.Error.Message, "prompt is too long") {
			t.Errorf("told %+v", e)
		}
	}
}

// TestVersions checks which interface versions are taken and passed on.
func TestVersions(t *testing.T) {
	r := start(t, nil)
	for _, c := range []struct {
		name    string
		headers []string
		want    string // "" = refused
	}{
		{"none", nil, "2023-06-01"},
		{"the oldest", []string{"2023-06-01"}, "2023-06-01"},
		{"the newest", []string{"2026-10-21"}, "2026-10-21"},
		{"one to come", []string{"2027-03-01"}, "2027-03-01"},
		{"no date", []string{"latest"}, ""},
		{"no such day", []string{"2026-13-41"}, ""},
		{"two", []string{"2023-06-01", "2026-10-21"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var headers [][2]string
			for _, v := range c.headers {
				headers = append(headers, [2]string{"anthropic-version", v})
			}
			status, header, body := r.do(http.MethodPost, messages, keyAll, asking("claude-a"), headers...)
			if c.want == "" {
				if e := toldIn(t, body, header); status != http.StatusBadRequest || e.Error.Details.Code != "invalid_header" || !strings.Contains(e.Error.Message, "2026-10-21") {
					t.Errorf("status %d, %+v", status, e)
				}
				return
			}
			if got := r.last().payload.Header.Values("Anthropic-Version"); status != http.StatusOK || len(got) != 1 || got[0] != c.want {
				t.Errorf("status %d, version %q, want %s", status, got, c.want)
			}
		})
	}
}

// TestUpstreamHeaders checks what of a client's headers goes on, and that lists
// of beta switches stay as they are.
func TestUpstreamHeaders(t *testing.T) {
	r := start(t, nil)
	r.do(http.MethodPost, messages, keyAll, asking("claude-a"),
		[2]string{"anthropic-beta", "a-1,b-2"}, [2]string{"anthropic-beta", "c-3"}, [2]string{"Cookie", "c=1"},
		[2]string{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		[2]string{"anthropic-dangerous-direct-browser-access", "true"}, [2]string{"X-Gatewright-Session", "s"}, [2]string{"User-Agent", "ua"})
	want := http.Header{
		"Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"a-1,b-2", "c-3"},
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	if diff := cmp.Diff(want, r.last().payload.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// TestProbes sends what clients send before their first call.
func TestProbes(t *testing.T) {
	r := start(t, nil)
	rec := recordedFrom(t, "clients/claude-code-head.json")
	if status, header, _ := r.do(rec.Request.Method, "/", "", "", rec.sendable()...); status != http.StatusOK || header.Get("X-Request-Id") == "" {
		t.Errorf("status %d, header %v", status, header)
	}
}
