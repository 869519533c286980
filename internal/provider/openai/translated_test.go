package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/wire/anthropic"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/responses"
)

// TestTranslatedTo: what the upstream does not take as it is goes to what it has,
// in its words.
func TestTranslatedTo(t *testing.T) {
	const hello = `"stream":true,"messages":[{"role":"user","content":"hi"}]`
	chat, both := engine.EndpointSet(engine.EndpointChat), engine.EndpointSet(engine.EndpointChat, engine.EndpointResponses)
	only := engine.EndpointSet(engine.EndpointResponses)
	messages := func() any {
		body := []byte(`{"model":"m","max_tokens":5,` + hello + `}`)
		found, err := anthropic.ScanRequest(anthropic.Messages, body, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &anthropic.Payload{Request: found, Body: body}
	}
	completion := func() any {
		body := []byte(`{"model":"m",` + hello + `}`)
		found, err := wire.ScanRequest(wire.Chat, body, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &wire.Payload{Request: found, Body: body}
	}
	response := func() any {
		body := []byte(`{"model":"m","stream":true,"input":"hi"}`)
		found, err := responses.ScanRequest(responses.Create, body, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &responses.Payload{Request: found, Body: body}
	}
	for _, tt := range []struct {
		name    string
		config  Config
		payload any
		path    string
		holds   string
		lacks   string
	}{
		{"messages at chat", Config{Native: chat, IncludeUsage: true}, messages(), "/v1/chat/completions", `"stream_options":{"include_usage":true}`, `"input"`},
		{"messages where stream_options are refused", Config{Native: chat}, messages(), "/v1/chat/completions", `"stream":true`, "stream_options"},
		{"messages where there is both", Config{Native: both}, messages(), "/v1/chat/completions", `"messages"`, `"input"`},
		{"messages at Responses alone", Config{Native: only}, messages(), "/v1/responses", `"input"`, `"messages"`},
		{"messages at who knows", Config{}, messages(), "/v1/chat/completions", `"messages"`, `"input"`},
		{"chat at Responses alone", Config{Native: only}, completion(), "/v1/responses", `"input"`, `"messages"`},
		{"chat at chat", Config{Native: both}, completion(), "/v1/chat/completions", hello, `"input"`},
		{"responses at chat alone", Config{Native: chat}, response(), "/v1/chat/completions", `"messages"`, `"input"`},
		{"responses at Responses", Config{Native: both}, response(), "/v1/responses", `"input":"hi"`, `"messages"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var path, body string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				path, body = r.URL.Path, string(text)
				w.WriteHeader(http.StatusInternalServerError)
			}))
			defer srv.Close()
			client := provider.NewClient(provider.ClientOptions{})
			defer client.Close()
			tt.config.BaseURL, tt.config.Client, tt.config.Model = srv.URL+"/v1", client, "up-model"
			a, err := New(tt.config)
			if err != nil {
				t.Fatal(err)
			}
			c := &provider.Call{
				Request:    &engine.Request{Caller: &engine.Caller{}, Stream: true, Payload: tt.payload},
				Deployment: &engine.Deployment{ID: "d"}, PublicModel: publicModel, Clock: time.Now, Waiting: func() {},
			}
			if _, err := a.Do(t.Context(), c); err == nil {
				t.Error("an error is taken for an answer")
			}
			if path != tt.path || !strings.Contains(body, tt.holds) || strings.Contains(body, tt.lacks) || !strings.Contains(body, `"model":"up-model"`) {
				t.Errorf("asked at %s: %s", path, body)
			}
		})
	}
}
