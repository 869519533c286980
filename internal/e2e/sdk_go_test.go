package e2e

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// sdkScript plays the upstreams that the SDK tests meet: the first always
// fails, so every answer is one that was failed over.
const sdkScript = `
seed: 1
upstreams:
  broken:
    script: [{fault: http-503, times: 1000000}]
  good:
    models: [sim-model]
    answer: {text: "Hello from good.", tool_calls: auto}
`

const sdkConfig = `
listen: 127.0.0.1:0
providers:
  broken: {protocol: openai, base_url: "http://SIM/broken/v1", api_key: sk-broken, priority: 1}
  good: {protocol: openai, base_url: "http://SIM/good/v1", api_key: sk-good}
models:
  org/chat:8b:
    aliases: [chat]
    deployments:
      - {provider: broken, upstream_model: sim-model}
      - {provider: good, upstream_model: sim-model}
router:
  retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}
keys:
  test: {secret: "${E2E_KEY}", expose_routing: true}
`

const sdkKey = "gw-test-0123456789abcdef"

// sdkGateway starts a simulated upstream and a gateway in front of it.
func sdkGateway(t *testing.T) *process {
	t.Helper()
	t.Setenv("E2E_KEY", sdkKey)
	sim := start(t, "simulate", "--listen", "127.0.0.1:0", write(t, "sim.yaml", sdkScript))
	config := strings.ReplaceAll(sdkConfig, "SIM", sim.address)
	return start(t, "serve", "--config", write(t, "gatewright.yaml", config), "--data-dir", t.TempDir())
}

func TestOpenAIGo(t *testing.T) {
	gw := sdkGateway(t)
	client := openai.NewClient(option.WithBaseURL(gw.url("/v1")), option.WithAPIKey(sdkKey), option.WithMaxRetries(0))
	ctx := t.Context()

	t.Run("models", func(t *testing.T) {
		page, err := client.Models.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range page.Data {
			names = append(names, m.ID)
		}
		slices.Sort(names)
		if want := []string{"chat", "org/chat:8b"}; !slices.Equal(names, want) {
			t.Errorf("models = %v, want %v", names, want)
		}
		m, err := client.Models.Get(ctx, "org/chat:8b")
		if err != nil || m.ID != "org/chat:8b" {
			t.Errorf("one model = %+v, %v", m, err)
		}
	})
	t.Run("chat", func(t *testing.T) {
		got, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "chat", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.Model != "chat" || !strings.Contains(got.Choices[0].Message.Content, "good") || got.Usage.TotalTokens == 0 {
			t.Errorf("answer = %s", got.RawJSON())
		}
	})
	t.Run("stream", func(t *testing.T) {
		stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
			Model:         "org/chat:8b",
			Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
			StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		})
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			chunk := stream.Current()
			if chunk.Model != "org/chat:8b" {
				t.Fatalf("chunk's model = %q", chunk.Model)
			}
			acc.AddChunk(chunk)
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(acc.Choices[0].Message.Content, "good") || acc.Usage.TotalTokens == 0 {
			t.Errorf("stream gave %q, usage %+v", acc.Choices[0].Message.Content, acc.Usage)
		}
	})
	t.Run("tools", func(t *testing.T) {
		got, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "chat", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("weather?")},
			Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
				Name: "get_weather",
				Parameters: openai.FunctionParameters{
					"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"},
				},
			})},
		})
		if err != nil {
			t.Fatal(err)
		}
		calls := got.Choices[0].Message.ToolCalls
		if len(calls) != 1 || calls[0].Function.Name != "get_weather" || calls[0].ID == "" || got.Choices[0].FinishReason != "tool_calls" {
			t.Fatalf("answer = %s", got.RawJSON())
		}
		again, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "chat", Messages: []openai.ChatCompletionMessageParamUnion{
				openai.UserMessage("weather?"), got.Choices[0].Message.ToParam(), openai.ToolMessage("sunny", calls[0].ID),
			},
		})
		if err != nil || again.Choices[0].Message.Content == "" {
			t.Errorf("after the tool's result: %v, %v", again, err)
		}
	})
	t.Run("embeddings", func(t *testing.T) {
		got, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{
			Model: "chat", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Data) != 2 || len(got.Data[0].Embedding) == 0 || got.Model != "chat" {
			t.Errorf("answer = %.300s", got.RawJSON())
		}
	})
	t.Run("errors", func(t *testing.T) {
		_, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "absent", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
		})
		var e *openai.Error
		if !errors.As(err, &e) || e.StatusCode != 404 || e.Code != "model_not_found" {
			t.Errorf("unknown model: %v", err)
		}
		stranger := openai.NewClient(option.WithBaseURL(gw.url("/v1")), option.WithAPIKey("wrong"), option.WithMaxRetries(0))
		_, err = stranger.Models.List(ctx)
		if !errors.As(err, &e) || e.StatusCode != 401 || e.Code != "invalid_api_key" {
			t.Errorf("wrong key: %v", err)
		}
	})
}
