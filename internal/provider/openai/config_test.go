package openai

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
)

// TestURLs makes the addresses of the endpoints.
func TestURLs(t *testing.T) {
	client := provider.NewClient(provider.ClientOptions{})
	cases := []struct {
		config Config
		chat   string
	}{
		{Config{BaseURL: "https://api.example.com"}, "https://api.example.com/chat/completions"},
		{Config{BaseURL: "https://api.example.com/"}, "https://api.example.com/chat/completions"},
		{Config{BaseURL: "https://api.example.com/v1"}, "https://api.example.com/v1/chat/completions"},
		{Config{BaseURL: "http://api.example.com:8080/a/v1/#x"}, "http://api.example.com:8080/a/v1/chat/completions"},
		{Config{BaseURL: "https://api.example.com/v1?key=a%2Fb"}, "https://api.example.com/v1/chat/completions?key=a%2Fb"},
		{Config{BaseURL: "https://api.example.com/a%2Fb"}, "https://api.example.com/a%2Fb/chat/completions"},
		{
			Config{BaseURL: "https://r.openai.azure.com", Model: "gpt-4o", DeploymentPaths: true, APIVersion: "2024-10-21"},
			"https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
		},
		{
			Config{BaseURL: "https://r.openai.azure.com", Model: "a/../b?c", DeploymentPaths: true},
			"https://r.openai.azure.com/openai/deployments/a%2F..%2Fb%3Fc/chat/completions",
		},
	}
	for _, tc := range cases {
		tc.config.Client = client
		a, err := New(tc.config)
		if err != nil {
			t.Errorf("%s: %v", tc.config.BaseURL, err)
			continue
		}
		if got := a.urls[wire.Chat].String(); got != tc.chat {
			t.Errorf("got %s, want %s", got, tc.chat)
		}
		if got, want := a.urls[wire.Embeddings].String(), strings.Replace(tc.chat, "chat/completions", "embeddings", 1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestConfigErrors refuses what cannot work, and repeats no secret.
func TestConfigErrors(t *testing.T) {
	client := provider.NewClient(provider.ClientOptions{})
	const base = "https://api.example.com/v1"
	cases := []struct {
		name   string
		config Config
		want   string
	}{
		{"no base URL", Config{Client: client}, "base_url is not an http or https address"},
		{"other scheme", Config{BaseURL: "ftp://canary.example.com", Client: client}, "base_url is not an http or https address"},
		{"no URL", Config{BaseURL: "http://canary\x7f", Client: client}, "base_url is not a URL"},
		{"password", Config{BaseURL: "https://user:canary@example.com", Client: client}, "user name or password"},
		{"no client", Config{BaseURL: base}, "no client"},
		{"no Azure deployment", Config{BaseURL: base, Client: client, DeploymentPaths: true}, "cannot stand in a path"},
		{"Azure deployment that climbs", Config{BaseURL: base, Client: client, DeploymentPaths: true, Model: ".."}, "cannot stand in a path"},
		{"header of ours", Config{BaseURL: base, Client: client, Header: http.Header{"Content-Length": {"3"}}}, "headers.Content-Length cannot be configured"},
		{"header not canonical", Config{BaseURL: base, Client: client, Header: http.Header{"x-team": {"3"}}}, "write it as X-Team"},
		{"header with a line break", Config{BaseURL: base, Client: client, Header: http.Header{"X-Team": {"canary\r\nX-Other: 1"}}}, "control character"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			_, err := New(tc.config)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestAdapterPrintsNoSecret prints an adapter in every way.
func TestAdapterPrintsNoSecret(t *testing.T) {
	key, err := provider.NewCredential("Authorization", "Bearer ", "canary-0123456789")
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{
		BaseURL: "https://api.example.com/v1?key=canary-0123456789", Client: provider.NewClient(provider.ClientOptions{}),
		Keys: provider.NewKeyring(key),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{a, key} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "canary") {
				t.Errorf("%s: %s", verb, got)
			}
		}
	}
}
