package openai

import "gatewright/internal/wire/request"

// requestScan is one walk over a request.
type requestScan struct {
	request.Reader
	e     Endpoint
	r     *Request
	input bool // messages, prompt or input is there

	maxTokens, maxCompletionTokens int64
	safetyIdentifier               string
}

// ScanRequest reads what routing needs of a request in one pass. The body stays
// as it is and the Request refers to it. Arrays and objects may be nested
// maxDepth levels deep. The error is a *request.Error.
//
// Refused are: text that is no JSON object; a model that is missing or empty,
// and a missing messages, prompt or input; wrong types of the fields that are
// read; n and output tokens out of bounds; and a field that is read twice, or
// "model" in another case beside it, because an upstream might read the other
// one.
func ScanRequest(e Endpoint, body []byte, maxDepth int) (*Request, error) {
	s := requestScan{Reader: request.NewReader(body, maxDepth, request.Quoted), e: e, r: &Request{N: 1, body: body}}
	if err := s.Enter(); err != nil {
		return nil, err
	}
	s.r.open = s.Pos()
	if err := s.Fields(func(key []byte) int { return fieldOf(e, key) }, s.field); err != nil {
		return nil, err
	}
	r := s.r
	switch {
	case r.Model == "":
		return nil, s.Missing("model", "name the model to use")
	case !s.input:
		return nil, s.Missing(e.input(), "it is what the model answers to")
	}
	if r.MaxOutput = s.maxCompletionTokens; r.MaxOutput == 0 {
		r.MaxOutput = s.maxTokens
	}
	if r.User == "" {
		r.User = s.safetyIdentifier
	}
	return r, nil
}

// The fields that are read.
const (
	fieldNone = iota
	fieldModel
	fieldInput
	fieldStream
	fieldStreamOptions
	fieldN
	fieldMaxTokens
	fieldMaxCompletionTokens
	fieldTools
	fieldFunctions
	fieldResponseFormat
	fieldReasoningEffort
	fieldModalities
	fieldEncodingFormat

	// From here on they say who asks, not what for.
	fieldDisableFallbacks
	fieldPromptCacheKey
	fieldSessionID
	fieldLitellmSessionID
	fieldMetadata
	fieldUser
	fieldSafetyIdentifier
)

// fieldOf returns the number of a field that is read at the endpoint.
func fieldOf(e Endpoint, key []byte) int {
	switch string(key) {
	case "model":
		return fieldModel
	case "user":
		return fieldUser
	case "metadata":
		return fieldMetadata
	case "session_id":
		return fieldSessionID
	case "litellm_session_id":
		return fieldLitellmSessionID
	case "disable_fallbacks":
		return fieldDisableFallbacks
	case "prompt_cache_key":
		return fieldPromptCacheKey
	case "safety_identifier":
		return fieldSafetyIdentifier
	case e.input():
		return fieldInput
	}
	if e == Embeddings {
		if string(key) == "encoding_format" {
			return fieldEncodingFormat
		}
		return fieldNone
	}
	switch string(key) {
	case "stream":
		return fieldStream
	case "stream_options":
		return fieldStreamOptions
	case "n":
		return fieldN
	case "max_tokens":
		return fieldMaxTokens
	}
	if e == Completions {
		return fieldNone
	}
	return chatField(key)
}

func chatField(key []byte) int {
	switch string(key) {
	case "max_completion_tokens":
		return fieldMaxCompletionTokens
	case "tools":
		return fieldTools
	case "functions":
		return fieldFunctions
	case "response_format":
		return fieldResponseFormat
	case "reasoning_effort":
		return fieldReasoningEffort
	case "modalities":
		return fieldModalities
	}
	return fieldNone
}
