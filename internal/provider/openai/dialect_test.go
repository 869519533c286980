package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
)

// upstreamOf is an engine whose one upstream gives the same answer always. What
// it was asked last is in the text that is returned.
func upstreamOf(t *testing.T, dialect Dialect, kind, answer string) (r *rig, asked *atomic.Pointer[string]) {
	t.Helper()
	asked = new(atomic.Pointer[string])
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		asked.Store(&text)
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	client := provider.NewClient(provider.ClientOptions{Connect: 2 * time.Second})
	t.Cleanup(func() {
		client.Close()
		srv.Close()
	})
	o := rigOptions{config: func(_ string, c *Config) { c.Dialect = dialect }}
	return newEngine(t, o, client, map[string]string{"a": srv.URL + "/v1"}), asked
}

const (
	jsonKind, eventsKind = "application/json", "text/event-stream"

	thoughtfulAnswer = `{"id":"1","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"<think>\nhm\n</think>\n\nyes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
	thoughtfulStream = `data: {"id":"1","model":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"<th"}}]}

data: {"id":"1","model":"x","choices":[{"index":0,"delta":{"content":"ink>hm\n</thi"}}]}

data: {"id":"1","model":"x","choices":[{"index":0,"delta":{"content":"nk>\n"}}]}

data: {"id":"1","model":"x","choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}

data: [DONE]

`
)

// TestThinkTags: wherever thoughts come from and however they are to go, they are
// told apart from the answer.
func TestThinkTags(t *testing.T) {
	for _, tt := range []struct {
		name, kind, answer string
		streams            bool
	}{
		{"whole", jsonKind, thoughtfulAnswer, false},
		{"a stream", eventsKind, thoughtfulStream, true},
		{"a stream that nobody asked for", eventsKind, thoughtfulStream, false},
		{"no stream where one was asked for", jsonKind, thoughtfulAnswer, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := upstreamOf(t, Dialect{ThinkTags: true}, tt.kind, tt.answer)
			s, d, err := r.ask(t.Context(), tt.streams)
			if err != nil {
				t.Fatalf("%v, %s", err, attempts(d))
			}
			if got, want := thoughtAndText(t, s.out.String(), tt.streams), [2]string{"hm\n", "yes"}; got != want {
				t.Errorf("got %q, want %q of %s", got, want, s.out.String())
			}
		})
	}
	// Unasked, tags are text.
	r, _ := upstreamOf(t, Dialect{}, jsonKind, thoughtfulAnswer)
	s, _, err := r.ask(t.Context(), false)
	if got := thoughtAndText(t, s.out.String(), false); err != nil || got != [2]string{"", "<think>\nhm\n</think>\n\nyes"} {
		t.Errorf("got %q, %v", got, err)
	}
}

// thoughtAndText reads an answer.
func thoughtAndText(t *testing.T, out string, streams bool) (got [2]string) {
	t.Helper()
	texts := []string{out}
	if streams {
		texts = nil
		for line := range strings.Lines(out) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && data != "[DONE]" {
				texts = append(texts, data)
			}
		}
	}
	for _, text := range texts {
		var answer struct {
			Choices []struct {
				Message, Delta struct {
					Content   string
					Reasoning string `json:"reasoning_content"`
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, c := range answer.Choices {
			got[0] += c.Message.Reasoning + c.Delta.Reasoning
			got[1] += c.Message.Content + c.Delta.Content
		}
	}
	return got
}

// TestDialectRequests: what is sent to an upstream with ways of its own.
func TestDialectRequests(t *testing.T) {
	all := Dialect{
		NoSystemRole: true, MaxTokensField: "max_tokens",
		DropFields: []string{"reasoning_content", "reasoning_details", "extra_content"}, EmbeddingFormat: "float",
	}
	const chat = `{"model":"public-model","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},` +
		`{"role":"assistant","content":"a","reasoning_content":"r"},{"role":"user","content":"v"}],"max_completion_tokens":7}`
	const embedding = `{"model":"public-model","input":"x","encoding_format":"base64"}`
	const vectors = `{"object":"list","model":"x","data":[{"object":"embedding","index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`
	for _, tt := range []struct {
		name         string
		dialect      Dialect
		endpoint     wire.Endpoint
		body, answer string
		asked, got   string // "" = not looked at
	}{
		{
			"chat", all, wire.Chat, chat, thoughtfulAnswer,
			`{"model":"up-model","messages":[{"role":"user","content":"s\n\nu"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}],"max_tokens":7}`, "",
		},
		{"chat, as sent", Dialect{}, wire.Chat, chat, thoughtfulAnswer, strings.Replace(chat, "public-model", "up-model", 1), ""},
		{
			"embeddings", all, wire.Embeddings, embedding, vectors, `{"model":"up-model","input":"x"}`,
			strings.NewReplacer(`"x"`, `"public-model"`, `[1,2]`, `"AACAPwAAAEA="`).Replace(vectors),
		},
		{
			"embeddings of an upstream that does as it likes",
			Dialect{},
			wire.Embeddings, embedding, vectors,
			strings.Replace(embedding, "public-model", "up-model", 1),
			strings.NewReplacer(`"x"`, `"public-model"`, `[1,2]`, `"AACAPwAAAEA="`).Replace(vectors),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, asked := upstreamOf(t, tt.dialect, jsonKind, tt.answer)
			s, d, err := r.serve(t.Context(), request(t, tt.endpoint, tt.body, nil))
			if err != nil {
				t.Fatalf("%v, %s", err, attempts(d))
			}
			if diff := cmp.Diff(tt.asked, *asked.Load()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if out := s.out.String(); tt.got != "" && out != tt.got {
				t.Errorf("got  %s\nwant %s", out, tt.got)
			}
		})
	}
}

// TestEmbeddingsThatCannotBeRead are no answer.
func TestEmbeddingsThatCannotBeRead(t *testing.T) {
	r, _ := upstreamOf(t, Dialect{}, jsonKind, `{"data":[{"embedding":["x"]}]}`)
	_, d, err := r.serve(t.Context(), request(t, wire.Embeddings, `{"model":"public-model","input":"x","encoding_format":"base64"}`, nil))
	if err == nil || attempts(d) != "a:server" {
		t.Errorf("%v, %s", err, attempts(d))
	}
}
