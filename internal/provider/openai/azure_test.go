package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/internal/provider"
)

// azureOf is an engine whose one upstream answers as Azure does.
func azureOf(t *testing.T, status int, kind, answer string, change func(base string, c *Config)) (r *rig, asked *atomic.Pointer[http.Request]) {
	t.Helper()
	asked = new(atomic.Pointer[http.Request])
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Clone(r.Context()))
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Apim-Request-Id", "azure-1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	client := provider.NewClient(provider.ClientOptions{Connect: 2 * time.Second})
	t.Cleanup(func() {
		client.Close()
		srv.Close()
	})
	o := rigOptions{config: func(_ string, c *Config) { change(srv.URL, c) }}
	return newEngine(t, o, client, map[string]string{"a": srv.URL}), asked
}

// TestAzureForms asks by the dated form of the API and by the newer one, with an
// API key and with a token, and reads a recorded answer.
func TestAzureForms(t *testing.T) {
	recorded, err := os.ReadFile("../../../testdata/wire/openai/azure/chat-model-router.sse")
	if err != nil {
		t.Fatal(err)
	}
	key := func(name, prefix string) *provider.Keyring {
		c, err := provider.NewCredential(name, prefix, "azure-key-0123")
		if err != nil {
			t.Fatal(err)
		}
		return provider.NewKeyring(c)
	}
	for _, tt := range []struct {
		name                     string
		change                   func(base string, c *Config)
		path, query, auth, token string
	}{
		{
			"dated",
			func(base string, c *Config) {
				c.BaseURL, c.DeploymentPaths, c.APIVersion, c.Keys = base, true, "2024-10-21", key("api-key", "")
			},
			"/openai/deployments/up-model/chat/completions", "api-version=2024-10-21", "azure-key-0123", "",
		},
		{
			"dated, with a token",
			func(base string, c *Config) {
				c.BaseURL, c.DeploymentPaths, c.APIVersion, c.Keys = base, true, "2025-01-01-preview", key("Authorization", "Bearer ")
			},
			"/openai/deployments/up-model/chat/completions", "api-version=2025-01-01-preview", "", "Bearer azure-key-0123",
		},
		{
			"newer",
			func(base string, c *Config) { c.BaseURL, c.Keys = base+"/openai/v1", key("api-key", "") },
			"/openai/v1/chat/completions", "", "azure-key-0123", "",
		},
		{
			"newer, what is not final yet",
			func(base string, c *Config) {
				c.BaseURL, c.APIVersion, c.Keys = base+"/openai/v1", "preview", key("api-key", "")
			},
			"/openai/v1/chat/completions", "api-version=preview", "azure-key-0123", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, asked := azureOf(t, http.StatusOK, eventsKind, string(recorded), tt.change)
			s, d, err := r.ask(t.Context(), true)
			if err != nil {
				t.Fatalf("%v, %s", err, attempts(d))
			}
			got := s.read(t, true)
			if got.Text != "Capital of Denmark." || got.Finish != "stop" || !got.Done || got.Usage || got.Model != publicModel {
				t.Errorf("got %+v", got)
			}
			if out := s.out.String(); !strings.HasPrefix(out, `data: {"choices":[],`) || !strings.Contains(out, `"prompt_filter_results"`) || !strings.Contains(out, `"content_filter_results"`) {
				t.Errorf("what the content filter found is not in %.400s", out)
			}
			if u := d.Result.Usage; !u.Known || u.Input != 15 || u.Output != 78 {
				t.Errorf("usage %+v", u)
			}
			if id := d.Attempts[0].UpstreamRequestID; id != "azure-1" {
				t.Errorf("the upstream's id is %q", id)
			}
			if u := asked.Load().URL; u.Path != tt.path || u.RawQuery != tt.query {
				t.Errorf("asked %s?%s, want %s?%s", u.Path, u.RawQuery, tt.path, tt.query)
			}
			if h := asked.Load().Header; h.Get("Api-Key") != tt.auth || h.Get("Authorization") != tt.token {
				t.Errorf("api-key %q, authorization %q", h.Get("Api-Key"), h.Get("Authorization"))
			}
		})
	}
}

// TestAzureContentFilter: a prompt or an answer that Azure's filter stopped is a
// matter of content, not of the deployment.
func TestAzureContentFilter(t *testing.T) {
	const blocked = `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,%q:{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"jailbreak":{"filtered":true,"detected":true}}}}}`
	for _, tt := range []struct {
		name, kind, answer string
		status             int
		streams            bool
		want               string
	}{
		{"prompt", jsonKind, strings.Replace(blocked, "%q", `"innererror"`, 1), http.StatusBadRequest, false, "a:content_policy"},
		{"prompt, the old spelling", jsonKind, strings.Replace(blocked, "%q", `"inner_error"`, 1), http.StatusBadRequest, true, "a:content_policy"},
		{"prompt, in a stream", eventsKind, "data: " + strings.Replace(blocked, "%q", `"innererror"`, 1) + "\n\n", http.StatusOK, true, "a:content_policy"},
		{
			"answer", jsonKind,
			`{"id":"1","choices":[{"index":0,"finish_reason":"content_filter","content_filter_results":{"hate":{"filtered":true}},"message":{"role":"assistant","content":""}}],"prompt_filter_results":[{"prompt_index":0}]}`,
			http.StatusOK, false, "a:ok",
		},
		{
			"answer, filtered later", eventsKind,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n" +
				"data: {\"choices\":[{\"index\":0,\"finish_reason\":null,\"content_filter_results\":{},\"content_filter_offsets\":{\"check_offset\":1}}]}\n\n" +
				"data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{}}]}\n\ndata: [DONE]\n\n",
			http.StatusOK, true, "a:ok",
		},
		{
			"rate", jsonKind, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 86400 seconds."}}`,
			http.StatusTooManyRequests, false, "a:rate_limit",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := azureOf(t, tt.status, tt.kind, tt.answer, func(base string, c *Config) {
				c.BaseURL, c.DeploymentPaths, c.APIVersion = base, true, "2024-10-21"
			})
			_, d, _ := r.ask(t.Context(), tt.streams)
			if got := attempts(d); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
