package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// openAIRequest is what the simulation reads of a request; the rest is taken
// as it comes.
type openAIRequest struct {
	Model         string          `json:"model"`
	Messages      json.RawMessage `json:"messages"`
	Prompt        json.RawMessage `json:"prompt"`
	Input         json.RawMessage `json:"input"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	N                   *int            `json:"n"`
	Tools               json.RawMessage `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls"`
	Stop                json.RawMessage `json:"stop"`
	ResponseFormat      struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	EncodingFormat string `json:"encoding_format"`
	Dimensions     *int   `json:"dimensions"`
}

// The bounds of what a request may ask for.
const (
	maxChoices = 128
	maxInputs  = 2048
)

// decode reads the body of a request as OpenAI's service does: what it would
// refuse is refused with the same status, type and param.
func (openAI) decode(c *call, body []byte) *apiError {
	switch c.endpoint {
	case EndpointModels:
		return nil
	case EndpointImageGenerations, EndpointImageEdits, EndpointImageVariations,
		EndpointTranscriptions, EndpointTranslations, EndpointSpeech, EndpointModerations, EndpointRerank:
		return decodeMedia(c, body)
	case EndpointResponses, EndpointCompact, EndpointInputTokens, EndpointStored:
		return decodeResponses(c, body)
	case EndpointChat, EndpointCompletions, EndpointEmbeddings,
		EndpointMessages, EndpointCountTokens, EndpointGenerate, EndpointGeminiCount, EndpointGeminiEmbed:
	}
	var q openAIRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return invalidBody(err)
	}
	if c.model == "" { // Azure's path names the deployment, whatever the body says
		c.model = q.Model
	}
	if c.model == "" {
		return missing("model", "you must provide a model parameter")
	}
	if e := decodeBounds(c, &q); e != nil {
		return e
	}
	if c.endpoint == EndpointChat {
		return decodeChat(c, &q)
	}
	if c.endpoint == EndpointCompletions {
		return decodeCompletion(c, &q)
	}
	return decodeEmbeddings(c, &q)
}

func invalid(param, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, typ: "invalid_request_error", param: param, message: message}
}

func missing(param, message string) *apiError {
	e := invalid(param, message)
	e.code = "missing_required_parameter"
	return e
}

func invalidBody(err error) *apiError {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
		e := invalid(t.Field, fmt.Sprintf("Invalid type for '%s': got %s.", t.Field, t.Value))
		e.code = "invalid_type"
		return e
	}
	return invalid("", "The body of the request is not a JSON object: "+err.Error()+".")
}

// decodeBounds reads the numbers that bound an answer.
func decodeBounds(c *call, q *openAIRequest) *apiError {
	c.choices = 1
	if q.N != nil {
		if *q.N < 1 || *q.N > maxChoices {
			return invalid("n", fmt.Sprintf("Invalid 'n': %d is not in 1 to %d.", *q.N, maxChoices))
		}
		c.choices = *q.N
	}
	for _, m := range []struct {
		name string
		n    *int
	}{{"max_completion_tokens", q.MaxCompletionTokens}, {"max_tokens", q.MaxTokens}} {
		if m.n == nil {
			continue
		}
		if *m.n < 1 {
			e := invalid(m.name, fmt.Sprintf("Invalid '%s': %d is less than 1.", m.name, *m.n))
			e.code = "integer_below_min_value"
			return e
		}
		if c.maxTokens == 0 {
			c.maxTokens = *m.n
		}
	}
	return nil
}

// tokensOf estimates the tokens of n bytes.
func tokensOf(n int) int { return max((n+3)/4, 1) }

func decodeChat(c *call, q *openAIRequest) *apiError {
	c.stream, c.includeUsage = q.Stream, q.Stream && q.StreamOptions.IncludeUsage
	if !isFilledList(q.Messages) {
		return missing("messages", "Missing required parameter: 'messages' must be a list of at least one message.")
	}
	c.promptTokens = tokensOf(len(q.Messages) + len(q.Tools))
	messages := q.Messages
	c.last = func() lastMessage { return readLast(messages) }
	offeredTools(c, q.Tools, q.ToolChoice)
	c.serial = q.ParallelToolCalls != nil && !*q.ParallelToolCalls
	c.stops = readStops(q.Stop)
	switch q.ResponseFormat.Type {
	case "json_schema":
		c.structured, c.schema = true, q.ResponseFormat.JSONSchema.Schema
	case "json_object":
		c.structured = true
	}
	return nil
}

func isFilledList(raw json.RawMessage) bool {
	return len(raw) > 2 && raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
}

// readLast reads how a conversation ends.
func readLast(messages json.RawMessage) lastMessage {
	var list []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(messages, &list) != nil || len(list) == 0 {
		return lastMessage{}
	}
	out := lastMessage{role: list[len(list)-1].Role}
	for _, m := range slices.Backward(list) {
		if m.Role == "user" {
			out.user = contentText(m.Content)
			break
		}
	}
	return out
}

// contentText is the text of a message's content: a string, or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// offeredTools reads the functions that an answer may call: the one that
// tool_choice names, else all.
func offeredTools(c *call, tools, choice json.RawMessage) {
	var list []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if len(tools) == 0 || json.Unmarshal(tools, &list) != nil {
		return
	}
	mode, named := readToolChoice(choice)
	if mode == "none" {
		return
	}
	c.forced = named != "" || mode == "required"
	for _, t := range list {
		if t.Type == "function" && t.Function.Name != "" && (named == "" || named == t.Function.Name) {
			c.tools = append(c.tools, tool{name: t.Function.Name, parameters: t.Function.Parameters})
		}
	}
}

// readStops reads one sequence or a list of them.
func readStops(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func readToolChoice(choice json.RawMessage) (mode, named string) {
	if json.Unmarshal(choice, &mode) == nil {
		return mode, ""
	}
	var object struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(choice, &object) != nil {
		return "", ""
	}
	return "", object.Function.Name
}

// decodeCompletion reads a prompt: a text, or a list with an answer for each.
func decodeCompletion(c *call, q *openAIRequest) *apiError {
	c.stream, c.includeUsage = q.Stream, q.Stream && q.StreamOptions.IncludeUsage
	c.stops = readStops(q.Stop)
	c.last = func() lastMessage { return lastMessage{} }
	if len(q.Prompt) == 0 {
		c.promptTokens = 1 // the service takes an empty prompt
		return nil
	}
	prompts, e := readInputs(q.Prompt, "prompt")
	if e != nil {
		return e
	}
	if len(prompts) > maxChoices {
		return invalid("prompt", fmt.Sprintf("Invalid 'prompt': more than %d prompts.", maxChoices))
	}
	for _, p := range prompts {
		c.promptTokens += p.tokens
	}
	last := lastMessage{role: "user", user: prompts[len(prompts)-1].text}
	c.last = func() lastMessage { return last }
	c.choices *= len(prompts)
	return nil
}

func decodeEmbeddings(c *call, q *openAIRequest) *apiError {
	if len(q.Input) == 0 {
		return missing("input", "Missing required parameter: 'input'.")
	}
	inputs, e := readInputs(q.Input, "input")
	if e != nil {
		return e
	}
	switch q.EncodingFormat {
	case "", "float":
	case "base64":
		c.base64 = true
	default:
		e := invalid("encoding_format", fmt.Sprintf("Invalid value: '%s'. Supported values are: 'float' and 'base64'.", q.EncodingFormat))
		e.code = "invalid_value"
		return e
	}
	if q.Dimensions != nil {
		if *q.Dimensions < 1 || *q.Dimensions > maxDimensions {
			return invalid("dimensions", fmt.Sprintf("Invalid 'dimensions': %d is not in 1 to %d.", *q.Dimensions, maxDimensions))
		}
		c.dimensions = *q.Dimensions
	}
	for _, in := range inputs {
		if in.tokens == 0 {
			return invalid("input", "Invalid 'input': input cannot be an empty string.")
		}
		c.promptTokens += in.tokens
		c.inputs = append(c.inputs, in.text)
	}
	return nil
}

// input is one text, or one list of token numbers as it was written.
type input struct {
	text   string
	tokens int
}

// readInputs reads a text, a list of texts, a list of token numbers, or a list
// of such lists.
func readInputs(raw json.RawMessage, param string) ([]input, *apiError) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []input{textInput(text)}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, invalid(param, fmt.Sprintf("Invalid '%s': write a text, a list of texts, or a list of token numbers; none may be empty.", param))
	}
	if numbers, ok := tokenInput(raw); ok {
		return []input{numbers}, nil
	}
	if len(list) > maxInputs {
		return nil, invalid(param, fmt.Sprintf("Invalid '%s': more than %d entries.", param, maxInputs))
	}
	out := make([]input, len(list))
	for i, entry := range list {
		text = ""
		if json.Unmarshal(entry, &text) == nil {
			out[i] = textInput(text)
			continue
		}
		numbers, ok := tokenInput(entry)
		if !ok {
			return nil, invalid(param, fmt.Sprintf("Invalid '%s': entry %d is neither a text nor a list of token numbers.", param, i))
		}
		out[i] = numbers
	}
	return out, nil
}

func textInput(text string) input {
	if text == "" {
		return input{}
	}
	return input{text: text, tokens: tokensOf(len(text))}
}

func tokenInput(raw json.RawMessage) (input, bool) {
	var numbers []uint32
	if json.Unmarshal(raw, &numbers) != nil || len(numbers) == 0 {
		return input{}, false
	}
	return input{text: fmt.Sprint(numbers), tokens: len(numbers)}, true
}
