package e2e

import (
	"context"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func anthropicClient(gw *process) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(gw.url("/")), option.WithAPIKey(sdkKey), option.WithMaxRetries(0))
}

// messagesFailed is what an error of Anthropic's SDK tells.
func messagesFailed(err error) (s said) {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		s.status, s.code, s.detail = e.StatusCode, string(e.Type()), e.Message
		return s
	}
	s.broken = err
	return s
}

// messagesTalker talks in Messages, of the newer interface version.
type messagesTalker struct {
	client  anthropic.Client
	model   string
	stream  bool
	history []anthropic.MessageParam
	calls   []called
}

func newMessagesTalker(gw *process, model string, stream bool) *messagesTalker {
	return &messagesTalker{client: anthropicClient(gw), model: model, stream: stream}
}

func (c *messagesTalker) params(a turn) anthropic.MessageNewParams {
	var blocks []anthropic.ContentBlockParamUnion
	for i, result := range a.results {
		blocks = append(blocks, anthropic.NewToolResultBlock(c.calls[i].id, result, false))
	}
	if a.text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(a.text))
	}
	if a.image {
		blocks = append(blocks, anthropic.NewImageBlockBase64("image/png", pixel))
	}
	c.history = append(c.history, anthropic.NewUserMessage(blocks...))
	p := anthropic.MessageNewParams{
		Model: c.model, MaxTokens: 8000, Messages: c.history, System: []anthropic.TextBlockParam{{Text: "Be brief."}},
	}
	if a.tools {
		for name, properties := range cityTools {
			p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
				Name: name, InputSchema: anthropic.ToolInputSchemaParam{Properties: properties, Required: required(properties)},
			}})
		}
	}
	if a.serial {
		p.ToolChoice.OfAuto = &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: anthropic.Bool(true)}
	}
	if a.think {
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(2000)
	}
	if a.limit > 0 {
		p.MaxTokens = a.limit
	}
	if a.stop != "" {
		p.StopSequences = []string{a.stop}
	}
	if a.schema != nil {
		p.OutputConfig.Format.Schema = a.schema
	}
	return p
}

func (c *messagesTalker) send(ctx context.Context, a turn) said {
	var resp *http.Response
	p := c.params(a)
	var got anthropic.Message
	if c.stream {
		stream := c.client.Messages.NewStreaming(ctx, p, option.WithResponseInto(&resp))
		for stream.Next() {
			if err := got.Accumulate(stream.Current()); err != nil {
				return said{broken: err}
			}
		}
		if err := stream.Err(); err != nil {
			return messagesFailed(err)
		}
	} else {
		answer, err := c.client.Messages.New(ctx, p, option.WithResponseInto(&resp))
		if err != nil {
			return messagesFailed(err)
		}
		got = *answer
	}
	c.history = append(c.history, got.ToParam())
	u := got.Usage
	out := said{
		deployment: resp.Header.Get("X-Gatewright-Deployment"), model: got.Model,
		finish: map[anthropic.StopReason]string{
			"end_turn": "stop", "stop_sequence": "stop", "model_context_window_exceeded": "window", "max_tokens": "length", "tool_use": "tools", "refusal": "refusal",
		}[got.StopReason],
		in: u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, cached: u.CacheReadInputTokens, out: u.OutputTokens,
	}
	for _, b := range got.Content {
		switch b.Type {
		case "text":
			out.text += b.Text
		case "thinking":
			out.thought += b.Thinking
		case "tool_use":
			out.calls = append(out.calls, called{b.ID, b.Name, string(b.Input)})
		}
	}
	c.calls = out.calls
	return out
}
