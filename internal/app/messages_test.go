package app

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// TestClientsOfMessages finds the protocol mounted: its own routes, its form of
// the list of models, its errors, and the base that its clients look at.
func TestClientsOfMessages(t *testing.T) {
	_, address := upstream(t)
	gateway, _ := run(t, Options{File: parse(t, configOf(address, "")), Logger: slog.New(slog.DiscardHandler), DataDir: t.TempDir()})
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/v1/messages", `{"model":"nobody","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, 404, `{"type":"error","error":{"type":"not_found_error"`},
		{"POST", "/v1/messages/count_tokens", `{"model":"nobody","messages":[{"role":"user","content":"hi"}]}`, 404, `{"type":"error","error":{"type":"not_found_error"`},
		{"GET", "/v1/models", "", 200, `{"data":[{"type":"model","id":"m"`},
		{"HEAD", "/", "", 200, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+gateway+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.HasPrefix(string(text), c.says) {
			t.Errorf("%s %s: status %d, %s, %v; want %d and %s", c.method, c.path, resp.StatusCode, text, err, c.status, c.says)
		}
	}
}
