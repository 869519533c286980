package app

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"gatewright/engine"
)

// TestProtocols serves the clients of every protocol at upstreams of every protocol,
// from the file to the answer.
func TestProtocols(t *testing.T) {
	_, address := upstream(t)
	text := `
listen: 127.0.0.1:0
providers:
  openai: {protocol: openai, base_url: "` + address + `/a/v1", auth: none}
  responses: {protocol: openai, base_url: "` + address + `/a/v1", auth: none, endpoints: [responses]}
  anthropic: {protocol: anthropic, base_url: "` + address + `/a", api_key: "${A}"}
  gemini: {protocol: gemini, base_url: "` + address + `/a", api_key: "${A}"}
models:
  openai: {deployments: [openai]}
  responses: {deployments: [responses]}
  anthropic: {deployments: [anthropic]}
  gemini: {deployments: [gemini]}
  messages-only: {deployments: [{provider: openai, endpoints: [messages]}]}
`
	gateway, _ := run(t, Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: t.TempDir()})
	const hello = `"messages":[{"role":"user","content":"hello"}]`
	requests := []struct{ path, body, whole, stream string }{
		{"/v1/chat/completions", hello, `"choices":[`, "data: [DONE]"},
		{"/v1/messages", `"max_tokens":50,` + hello, `"stop_reason":"end_turn"`, "event: message_stop"},
		{"/v1/responses", `"input":"hello"`, `"status":"completed"`, "event: response.completed"},
	}
	for _, model := range []string{"openai", "responses", "anthropic", "gemini"} {
		for _, r := range requests {
			for _, stream := range []string{"false", "true"} {
				want := r.whole
				if stream == "true" {
					want = r.stream
				}
				status, got := post(t, gateway, r.path, `{"model":"`+model+`","stream":`+stream+`,`+r.body+`}`)
				if status != 200 || !strings.Contains(got, want) || !strings.Contains(got, "simulated") || !strings.Contains(got, `"model":"`+model+`"`) {
					t.Errorf("%s at %s, stream %s: %d %.600s", r.path, model, stream, status, got)
				}
			}
		}
		for path, body := range map[string]string{"/v1/messages/count_tokens": hello, "/v1/responses/input_tokens": `"input":"hello"`} {
			if status, got := post(t, gateway, path, `{"model":"`+model+`",`+body+`}`); status != 200 || !strings.Contains(got, `"input_tokens":`) {
				t.Errorf("%s at %s: %d %s", path, model, status, got)
			}
		}
	}
	if status, got := post(t, gateway, "/v1/messages", `{"model":"messages-only","max_tokens":50,`+hello+`}`); status != 200 {
		t.Errorf("messages where they are listed: %d %s", status, got)
	}
	if status, got := post(t, gateway, "/v1/chat/completions", `{"model":"messages-only",`+hello+`}`); status != 403 {
		t.Errorf("chat where messages are listed: %d %s", status, got)
	}
	if status, got := post(t, gateway, "/v1/chat/completions", `{"model":"gemini","n":2,`+hello+`}`); status != 400 || !strings.Contains(got, `"code":"unsupported_parameter"`) || !strings.Contains(got, `"param":"n"`) {
		t.Errorf("what no translation carries: %d %s", status, got)
	}
	if status, got := post(t, gateway, "/v1/embeddings", `{"model":"anthropic","input":"hello"}`); status != 403 {
		t.Errorf("embeddings at %s: %d %s", "anthropic", status, got)
	}
}

func post(t *testing.T, gateway, path, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+gateway+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

// TestTranslatedEndpoints: what is served natively, and what by translation.
func TestTranslatedEndpoints(t *testing.T) {
	s := buildSnapshot(t, `
providers:
  openai: {preset: openai, api_key: "${A}"}
  mistral: {preset: mistral, api_key: "${A}"}
  claude: {preset: anthropic, api_key: "${A}"}
  like-claude: {protocol: anthropic, base_url: "http://127.0.0.1:1", api_key: "${A}"}
  gemini: {preset: gemini, api_key: "${A}"}
  few: {preset: gemini, api_key: "${A}", endpoints: [messages]}
models:
  gpt: {deployments: [{provider: openai, upstream_model: gpt-4.1-mini}]}
  codex: {deployments: [{provider: openai, upstream_model: gpt-5-codex}]}
  vectors: {deployments: [{provider: openai, upstream_model: text-embedding-3-small}]}
  pixtral: {deployments: [{provider: mistral, upstream_model: mistral-large-latest}]}
  claude: {deployments: [{provider: claude, upstream_model: claude-sonnet-4-5}]}
  like-claude: {deployments: [like-claude]}
  gemini: {deployments: [{provider: gemini, upstream_model: gemini-2.5-pro}]}
  few: {deployments: [few]}
  listed: {deployments: [{provider: openai, upstream_model: gpt-4.1-mini, endpoints: [chat, messages]}]}
  listed-claude: {deployments: [{provider: claude, upstream_model: claude-sonnet-4-5, endpoints: [chat]}]}
`)
	const messages = "messages messages_count_tokens"
	for model, want := range map[string][2]string{
		"gpt":           {"chat completions responses responses_compact responses_input_tokens responses_stored", messages},
		"codex":         {"responses responses_compact responses_input_tokens responses_stored", "chat " + messages},
		"vectors":       {"embeddings", ""},
		"pixtral":       {"chat completions", "responses responses_input_tokens " + messages},
		"claude":        {messages, "chat responses responses_input_tokens"},
		"like-claude":   {"messages", "chat responses responses_input_tokens messages_count_tokens"},
		"gemini":        {"", "chat responses responses_input_tokens " + messages},
		"few":           {"", "messages"},
		"listed":        {"chat", "messages"},
		"listed-claude": {"", "chat"},
	} {
		m, ok := s.Model(model)
		if !ok {
			t.Fatalf("there is no model %q", model)
		}
		d := m.Deployments[0]
		if got := [2]string{names(d.Endpoints), names(d.Translated)}; got != want {
			t.Errorf("%s: got %q, want %q", model, got, want)
		}
	}
}

// names lists the endpoints of a set.
func names(set engine.Endpoints) string {
	var list []string
	for e := engine.EndpointNone + 1; e.String() != "none"; e++ {
		if set.Has(e) {
			list = append(list, e.String())
		}
	}
	return strings.Join(list, " ")
}
