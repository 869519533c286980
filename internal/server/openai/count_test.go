package openai_test

import (
	"context"
	"net/http"
	"testing"

	"gatewright/engine"
)

// TestCounting hands the engine the length of the text, and a tokenizer for the
// endpoints whose input has one limit.
func TestCounting(t *testing.T) {
	var counted int64
	var took bool
	r := start(t, func(_ context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		counted, took = -1, false
		if q.CountTokens != nil {
			n, d := q.CountTokens("gpt-4o")
			counted, took = n, d > 0
		}
		if err := sink.Commit(engine.Answer{Status: http.StatusOK, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{Status: http.StatusOK, Cost: engine.Unknown}, nil
	})
	for _, c := range []struct {
		path, body string
		bytes      int64
		tokens     int64 // -1 = nobody can count
	}{
		{chat, `{"model":"m","messages":[{"role":"user","content":"hello world"}]}`, 11, 2},
		{"/v1/completions", `{"model":"m","prompt":"hello world"}`, 11, 2},
		{"/v1/embeddings", `{"model":"m","input":["hello world","hello world"]}`, 22, -1},
		{answers, `{"model":"m","input":"hello world"}`, 11, 2},
		{answers + "/input_tokens", `{"model":"m","instructions":"hello","input":"hello world"}`, 16, 3},
	} {
		if status, _, body := r.do(http.MethodPost, c.path, keyAll, c.body); status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", c.path, status, body)
		}
		if q := r.last(); q.TextBytes != c.bytes || counted != c.tokens || took != (c.tokens > 0) {
			t.Errorf("%s: %d bytes, %d tokens (took time: %v); want %d and %d", c.path, q.TextBytes, counted, took, c.bytes, c.tokens)
		}
	}
}
