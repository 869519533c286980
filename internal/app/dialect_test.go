package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestDialect takes an upstream with ways of its own from the configuration to
// the wire and back, for clients that speak its protocol and for others.
func TestDialect(t *testing.T) {
	var asked atomic.Pointer[string]
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := r.URL.Path + " " + string(body)
		asked.Store(&text)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"<think>\nhm\n</think>\n\nyes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`)
	}))
	t.Cleanup(upstream.Close)
	file := parse(t, `
listen: 127.0.0.1:0
providers: {own: {protocol: openai, base_url: "`+upstream.URL+`/v1", auth: none}}
models:
  m:
    deployments:
      - {provider: own, upstream_model: up, no_system_role: true, reasoning: think_tags, history_reasoning: drop, max_tokens_field: max_completion_tokens}
`)
	address, _ := run(t, Options{File: file, Logger: slog.New(slog.DiscardHandler), DataDir: t.TempDir()})

	for _, tt := range []struct {
		name, path, body string
		sent             []string // parts of what the upstream is asked
		got              []string // parts of what the client sees
	}{
		{
			"chat", "/v1/chat/completions",
			`{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a","reasoning_content":"r"},{"role":"user","content":"v"}]}`,
			[]string{`/v1/chat/completions {"model":"up","max_completion_tokens":9,"messages":[{"role":"user","content":"s\n\nu"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}]}`},
			[]string{`"reasoning_content":"hm\n","role":"assistant","content":"yes"`},
		},
		{
			"messages", "/v1/messages",
			`{"model":"m","max_tokens":9,"system":"s","thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"u"}]}`,
			[]string{`"messages":[{"role":"user","content":"s\n\nu"}]`, `"max_completion_tokens":9`},
			[]string{`"thinking":"hm\n"`, `"text":"yes"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := ask(t, address, "nobody", http.MethodPost, tt.path, tt.body)
			if a.status != http.StatusOK {
				t.Fatalf("status %d: %s", a.status, a.text)
			}
			for _, part := range tt.sent {
				if !strings.Contains(*asked.Load(), part) {
					t.Errorf("asked %s, which lacks %s", *asked.Load(), part)
				}
			}
			for _, part := range tt.got {
				if !strings.Contains(a.text, part) {
					t.Errorf("got %s, which lacks %s", a.text, part)
				}
			}
		})
	}
}
