package e2e

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	older "github.com/anthropics/anthropic-sdk-go"
	olderoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func TestAnthropicGo(t *testing.T) {
	t.Parallel()
	gw, _ := protocolsGateway(t)
	client := anthropicClient(gw)
	ctx := t.Context()

	t.Run("models", func(t *testing.T) {
		page, err := client.Models.List(ctx, anthropic.ModelListParams{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range page.Data {
			names = append(names, m.ID)
		}
		if !slices.Contains(names, "on-gemini") || !slices.Contains(names, "moving") {
			t.Errorf("models = %v", names)
		}
	})
	t.Run("count tokens", func(t *testing.T) {
		for _, model := range protocolModels {
			got, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
				Model: model, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("How many tokens are these?"))},
			})
			if err != nil || got.InputTokens < 3 || got.InputTokens > 200 {
				t.Errorf("%s: %+v, %v", model, got, err)
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		ask := anthropic.MessageNewParams{
			Model: "absent", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
		}
		_, err := client.Messages.New(ctx, ask)
		var e *anthropic.Error
		if !errors.As(err, &e) || e.StatusCode != http.StatusNotFound || e.Type() != anthropic.ErrorTypeNotFoundError || e.RequestID == "" {
			t.Errorf("unknown model: %v", err)
		}
		stranger := anthropic.NewClient(option.WithBaseURL(gw.url("/")), option.WithAPIKey("wrong"), option.WithMaxRetries(0))
		_, err = stranger.Messages.New(ctx, ask)
		if !errors.As(err, &e) || e.StatusCode != http.StatusUnauthorized || e.Type() != anthropic.ErrorTypeAuthenticationError {
			t.Errorf("wrong key: %v", err)
		}
	})
}

// The SDK before the newer interface version sends the older one, and may say how
// to draw.
func TestAnthropicGoOlder(t *testing.T) {
	t.Parallel()
	gw, _ := protocolsGateway(t)
	client := older.NewClient(olderoption.WithBaseURL(gw.url("/")), olderoption.WithAPIKey(sdkKey), olderoption.WithMaxRetries(0))
	for _, model := range protocolModels {
		p := older.MessageNewParams{
			Model: model, MaxTokens: 100, Temperature: older.Float(0.5),
			Messages: []older.MessageParam{older.NewUserMessage(older.NewTextBlock("Say hello."))},
		}
		got, err := client.Messages.New(t.Context(), p)
		if err != nil || got.Content[0].Text != "Say hello." || got.StopReason != older.StopReasonEndTurn || got.Model != model {
			t.Errorf("%s: %+v, %v", model, got, err)
		}
		var acc older.Message
		stream := client.Messages.NewStreaming(t.Context(), p)
		for stream.Next() {
			if err := acc.Accumulate(stream.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Err(); err != nil || acc.Content[0].Text != "Say hello." || acc.Usage.OutputTokens != 20 {
			t.Errorf("%s, streamed: %+v, %v", model, acc, err)
		}
	}
}
