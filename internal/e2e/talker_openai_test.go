package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// pixel is an image.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func openAIClient(gw *process) openai.Client {
	return openai.NewClient(option.WithBaseURL(gw.url("/v1")), option.WithAPIKey(sdkKey), option.WithMaxRetries(0))
}

// failed is what an error of openai-go tells.
func failed(err error) (s said) {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		s.status, s.code, s.detail = e.StatusCode, e.Code, e.Message
		return s
	}
	s.broken = err
	return s
}

// chatTalker talks in chat completions.
type chatTalker struct {
	client  openai.Client
	model   string
	stream  bool
	history []openai.ChatCompletionMessageParamUnion
	calls   []called
}

func newChatTalker(gw *process, model string, stream bool) *chatTalker {
	return &chatTalker{
		client: openAIClient(gw), model: model, stream: stream,
		history: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief.")},
	}
}

func (c *chatTalker) params(a turn) openai.ChatCompletionNewParams {
	for i, result := range a.results {
		c.history = append(c.history, openai.ToolMessage(result, c.calls[i].id))
	}
	switch {
	case a.image:
		c.history = append(c.history, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(a.text),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + pixel}),
		}))
	case a.text != "":
		c.history = append(c.history, openai.UserMessage(a.text))
	}
	p := openai.ChatCompletionNewParams{Model: c.model, Messages: c.history, Temperature: openai.Float(0.5)}
	if a.tools {
		for name, properties := range cityTools {
			p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
				Name: name, Parameters: openai.FunctionParameters{"type": "object", "properties": properties, "required": required(properties)},
			}))
		}
	}
	if a.serial {
		p.ParallelToolCalls = openai.Bool(false)
	}
	if a.think {
		p.ReasoningEffort, p.MaxCompletionTokens = shared.ReasoningEffortMedium, openai.Int(8000)
	}
	if a.limit > 0 {
		p.MaxCompletionTokens = openai.Int(a.limit)
	}
	if a.stop != "" {
		p.Stop.OfString = openai.String(a.stop)
	}
	if a.schema != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "form", Schema: a.schema, Strict: openai.Bool(true),
		}}
	}
	return p
}

// required lists the names of properties.
func required(properties map[string]any) []string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	return names
}

func (c *chatTalker) send(ctx context.Context, a turn) said {
	var resp *http.Response
	p := c.params(a)
	var got openai.ChatCompletion
	var thought strings.Builder
	if c.stream {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		var acc openai.ChatCompletionAccumulator
		stream := c.client.Chat.Completions.NewStreaming(ctx, p, option.WithResponseInto(&resp))
		for stream.Next() {
			chunk := stream.Current()
			acc.AddChunk(chunk)
			for _, one := range chunk.Choices {
				thought.WriteString(reasoningOf(one.Delta.RawJSON()))
			}
		}
		if err := stream.Err(); err != nil {
			return failed(err)
		}
		got = acc.ChatCompletion
	} else {
		answer, err := c.client.Chat.Completions.New(ctx, p, option.WithResponseInto(&resp))
		if err != nil {
			return failed(err)
		}
		got = *answer
	}
	if len(got.Choices) != 1 {
		return said{broken: errors.New("no choice in " + got.RawJSON())}
	}
	one := got.Choices[0]
	if !c.stream {
		thought.WriteString(reasoningOf(one.Message.RawJSON()))
	}
	c.history = append(c.history, one.Message.ToParam())
	out := said{
		deployment: resp.Header.Get("X-Gatewright-Deployment"), model: got.Model, text: one.Message.Content, thought: thought.String(),
		finish: map[string]string{"stop": "stop", "length": "length", "tool_calls": "tools", "content_filter": "refusal"}[one.FinishReason],
		in:     got.Usage.PromptTokens, cached: got.Usage.PromptTokensDetails.CachedTokens, out: got.Usage.CompletionTokens,
	}
	for _, call := range one.Message.ToolCalls {
		out.calls = append(out.calls, called{call.ID, call.Function.Name, call.Function.Arguments})
	}
	c.calls = out.calls
	return out
}

// reasoningOf is the member of a message that several makers have.
func reasoningOf(message string) string {
	var v struct {
		Reasoning string `json:"reasoning_content"`
	}
	if json.Unmarshal([]byte(message), &v) != nil {
		return ""
	}
	return v.Reasoning
}

// responsesTalker talks in Responses that nobody keeps: what was said goes along
// each time.
type responsesTalker struct {
	client  openai.Client
	model   string
	stream  bool
	history responses.ResponseInputParam
	calls   []called
}

func newResponsesTalker(gw *process, model string, stream bool) *responsesTalker {
	return &responsesTalker{client: openAIClient(gw), model: model, stream: stream}
}

func (c *responsesTalker) params(a turn) responses.ResponseNewParams {
	for i, result := range a.results {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(result)
		item.OfFunctionCallOutput.CallID = openai.String(c.calls[i].id)
		c.history = append(c.history, item)
	}
	switch {
	case a.image:
		c.history = append(c.history, responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
			{OfInputText: &responses.ResponseInputTextParam{Text: a.text}},
			{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String("data:image/png;base64," + pixel), Detail: "auto"}},
		}, responses.EasyInputMessageRoleUser))
	case a.text != "":
		c.history = append(c.history, responses.ResponseInputItemParamOfMessage(a.text, responses.EasyInputMessageRoleUser))
	}
	p := responses.ResponseNewParams{
		Model: c.model, Instructions: openai.String("Be brief."), Store: openai.Bool(false),
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: c.history},
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	}
	if a.tools {
		for name, properties := range cityTools {
			p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
				Name: name, Parameters: map[string]any{"type": "object", "properties": properties, "required": required(properties)}, Strict: openai.Bool(false),
			}})
		}
	}
	if a.serial {
		p.ParallelToolCalls = openai.Bool(false)
	}
	if a.think {
		p.Reasoning.Effort, p.MaxOutputTokens = shared.ReasoningEffortMedium, openai.Int(8000)
		p.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if a.limit > 0 {
		p.MaxOutputTokens = openai.Int(a.limit)
	}
	if a.schema != nil {
		p.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "form", Schema: a.schema, Strict: openai.Bool(true)}
	}
	return p
}

func (c *responsesTalker) send(ctx context.Context, a turn) said {
	var resp *http.Response
	p := c.params(a)
	var got responses.Response
	if c.stream {
		stream := c.client.Responses.NewStreaming(ctx, p, option.WithResponseInto(&resp))
		for stream.Next() {
			if ev := stream.Current(); ev.Type == "response.completed" || ev.Type == "response.incomplete" || ev.Type == "response.failed" {
				got = ev.Response
			}
		}
		if err := stream.Err(); err != nil {
			return failed(err)
		}
	} else {
		answer, err := c.client.Responses.New(ctx, p, option.WithResponseInto(&resp))
		if err != nil {
			return failed(err)
		}
		got = *answer
	}
	out := said{
		deployment: resp.Header.Get("X-Gatewright-Deployment"), model: got.Model, text: got.OutputText(), finish: "stop",
		in: got.Usage.InputTokens, cached: got.Usage.InputTokensDetails.CachedTokens, out: got.Usage.OutputTokens,
	}
	for _, item := range got.Output {
		for _, piece := range item.Summary {
			out.thought += piece.Text
		}
		if item.Type == "function_call" {
			out.calls, out.finish = append(out.calls, called{item.CallID, item.Name, item.Arguments.OfString}), "tools"
		}
		c.history = append(c.history, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
	}
	switch {
	case got.Status == responses.ResponseStatusIncomplete && got.IncompleteDetails.Reason == "max_output_tokens":
		out.finish = "length"
	case got.Status == responses.ResponseStatusIncomplete:
		out.finish = "refusal"
	case got.Status != responses.ResponseStatusCompleted:
		out.broken = errors.New("status " + string(got.Status) + ": " + got.Error.Message)
	}
	c.calls = out.calls
	return out
}
