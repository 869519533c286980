package gemini

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatewright/internal/provider"
)

// TestURLs makes the addresses of a model's methods.
func TestURLs(t *testing.T) {
	const base = "https://generativelanguage.googleapis.com/v1beta"
	for _, tt := range []struct{ base, model, generate, stream, count string }{
		{
			base, "gemini-2.5-pro", base + "/models/gemini-2.5-pro:generateContent",
			base + "/models/gemini-2.5-pro:streamGenerateContent?alt=sse", base + "/models/gemini-2.5-pro:countTokens",
		},
		{
			base + "/?key=a%2Fb", "models/gemini-2.5-pro", base + "/models/gemini-2.5-pro:generateContent?key=a%2Fb",
			base + "/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=a%2Fb", base + "/models/gemini-2.5-pro:countTokens?key=a%2Fb",
		},
		{
			"http://127.0.0.1:1", "tunedModels/a b?c", "http://127.0.0.1:1/tunedModels/a%20b%3Fc:generateContent",
			"http://127.0.0.1:1/tunedModels/a%20b%3Fc:streamGenerateContent?alt=sse", "http://127.0.0.1:1/tunedModels/a%20b%3Fc:countTokens",
		},
	} {
		a, err := New(Config{BaseURL: tt.base, Model: tt.model, Client: provider.NewClient(provider.ClientOptions{})})
		if err != nil {
			t.Errorf("%s: %v", tt.model, err)
			continue
		}
		for want, got := range map[string]string{tt.generate: a.generate.String(), tt.stream: a.stream.String(), tt.count: a.count.String()} {
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// TestConfigErrors refuses what cannot work, and repeats no secret.
func TestConfigErrors(t *testing.T) {
	client := provider.NewClient(provider.ClientOptions{})
	const base = "https://api.example.com/v1beta"
	for _, tt := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no base URL", Config{Client: client, Model: "m"}, "base_url is not an http or https address"},
		{"no URL", Config{BaseURL: "http://canary\x7f", Client: client, Model: "m"}, "base_url is not a URL"},
		{"no client", Config{BaseURL: base, Model: "m"}, "no client"},
		{"no model", Config{BaseURL: base, Client: client}, "cannot stand in a path"},
		{"a model that climbs", Config{BaseURL: base, Client: client, Model: "models/.."}, "cannot stand in a path"},
		{"a model without a name", Config{BaseURL: base, Client: client, Model: "models/"}, "cannot stand in a path"},
		{"header of ours", Config{BaseURL: base, Client: client, Model: "m", Header: http.Header{"Te": {"canary"}}}, "headers.Te cannot be configured"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestPrintsNoSecret prints an adapter in every way.
func TestPrintsNoSecret(t *testing.T) {
	a, err := New(Config{BaseURL: "https://api.example.com/v1beta?key=canary-0123456789", Model: "m", Client: provider.NewClient(provider.ClientOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, a); got != "gemini:models/m" {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

// TestQuestion puts a request into the envelope of a question for its tokens.
func TestQuestion(t *testing.T) {
	a := &Adapter{model: `models/"m"`}
	for request, want := range map[string]string{
		`{"contents":[]}`: `{"generateContentRequest":{"model":"models/\"m\"","contents":[]}}`,
		`{}`:              `{"generateContentRequest":{"model":"models/\"m\""}}`,
	} {
		if got := string(a.question([]byte(request))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
