package openai

import (
	"bytes"
	"errors"
	"fmt"

	"gatewright/internal/wire/scan"
)

// requestScan is one walk over a request.
type requestScan struct {
	scan.Cursor
	e     Endpoint
	r     *Request
	seen  uint32 // fields, by their numbers
	input bool   // messages, prompt or input is there

	maxTokens, maxCompletionTokens int64
	safetyIdentifier               string
}

// ScanRequest reads what routing needs of a request in one pass. The body stays
// as it is and the Request refers to it. Arrays and objects may be nested
// maxDepth levels deep. The error is a *RequestError.
//
// Refused are: text that is no JSON object; a model that is missing or empty,
// and a missing messages, prompt or input; wrong types of the fields that are
// read; n and output tokens out of bounds; and a field that is read twice, or
// "model" in another case beside it, because an upstream might read the other
// one.
func ScanRequest(e Endpoint, body []byte, maxDepth int) (*Request, error) {
	s := requestScan{Cursor: scan.NewCursor(body, maxDepth), e: e, r: &Request{N: 1, body: body}}
	if err := s.top(); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, jsonError(err)
	}
	r := s.r
	switch {
	case r.Model == "":
		return nil, missing("model", "name the model to use")
	case !s.input:
		return nil, missing(e.input(), "it is what the model answers to")
	}
	if r.MaxOutput = s.maxCompletionTokens; r.MaxOutput == 0 {
		r.MaxOutput = s.maxTokens
	}
	if r.User == "" {
		r.User = s.safetyIdentifier
	}
	return r, nil
}

func jsonError(err error) error {
	what := "the body is not valid JSON: "
	if _, ok := errors.AsType[*scan.DepthError](err); ok {
		what = "the body is "
	}
	return &RequestError{Code: CodeJSON, Message: what + err.Error(), err: err}
}

func missing(param, why string) error {
	return &RequestError{Param: param, Code: CodeMissing, Message: fmt.Sprintf("%q is missing; %s", param, why)}
}

// enter enters the object that the body must be.
func (s *requestScan) enter() error {
	if s.EnterObject() {
		return nil
	}
	if s.Err() != nil {
		return jsonError(s.Err())
	}
	if kind := s.Kind(); kind != scan.KindInvalid {
		return &RequestError{Code: CodeJSON, Message: "the body must be a JSON object, not " + kind.String()}
	}
	return jsonError(s.Close())
}

// top walks over the members of the body.
func (s *requestScan) top() error {
	if err := s.enter(); err != nil {
		return err
	}
	s.r.open = s.Pos()
	for i := 0; s.Member(); i++ {
		f := fieldOf(s.e, s.Key())
		if f == fieldNone {
			if err := s.modelInDisguise(); err != nil {
				return err
			}
			continue
		}
		if s.seen&(1<<f) != 0 {
			return twice(string(s.Key()))
		}
		s.seen |= 1 << f
		if err := s.field(f, i); err != nil {
			return err
		}
	}
	return nil
}

func twice(param string) error {
	return &RequestError{
		Param: param, Code: CodeDuplicate,
		Message: fmt.Sprintf("%q stands in the body twice; send it once, an upstream might read the other one", param),
	}
}

// modelInDisguise refuses "Model" and the like: a service that ignores case
// would answer with another model than the one that was admitted.
func (s *requestScan) modelInDisguise() error {
	if key := s.Key(); len(key) == len("model") && bytes.EqualFold(key, []byte("model")) {
		return &RequestError{
			Param: string(key), Code: CodeDuplicate,
			Message: fmt.Sprintf("%q is not a field; write \"model\"", key),
		}
	}
	return nil
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
