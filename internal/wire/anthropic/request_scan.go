package anthropic

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
	limit bool   // max_tokens is there
	input bool   // messages is there

	history history
	inside  bool   // in a block of a message
	kind    string // of the block that was taken last
}

// ScanRequest reads what routing needs of a request in one pass. The body stays
// as it is and the Request refers to it. Arrays and objects may be nested
// maxDepth levels deep. The error is a *RequestError.
//
// Refused are: text that is no JSON object; a model, a max_tokens or messages
// that are missing or empty (the counting of tokens needs no max_tokens); wrong
// types of the fields that are read; and a field that is read twice, or "model"
// in another case beside it, because an upstream might read the other one.
func ScanRequest(e Endpoint, body []byte, maxDepth int) (*Request, error) {
	s := requestScan{Cursor: scan.NewCursor(body, maxDepth), e: e, r: &Request{body: body}}
	if err := s.top(); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, jsonError(err)
	}
	switch {
	case s.r.Model == "":
		return nil, missing("model", "name the model to use")
	case !s.input:
		return nil, missing("messages", "it is what the model answers to")
	case !s.limit && e == Messages:
		return nil, missing("max_tokens", "say how many tokens the answer may have")
	}
	if !s.history.bare {
		s.r.budget = span{}
	}
	return s.r, nil
}

func jsonError(err error) error {
	what := "the body is not valid JSON: "
	if _, ok := errors.AsType[*scan.DepthError](err); ok {
		what = "the body is "
	}
	return &RequestError{Code: CodeJSON, Message: what + err.Error(), err: err}
}

func missing(param, why string) error {
	return &RequestError{Param: param, Code: CodeMissing, Message: fmt.Sprintf("%s is missing; %s", param, why)}
}

// top walks over the members of the body.
func (s *requestScan) top() error {
	if !s.EnterObject() {
		if s.Err() != nil {
			return jsonError(s.Err())
		}
		if kind := s.Kind(); kind != scan.KindInvalid {
			return &RequestError{Code: CodeJSON, Message: "the body must be a JSON object, not " + kind.String()}
		}
		return jsonError(s.Close())
	}
	for i := 0; s.Member(); i++ {
		f := fieldOf(s.Key())
		if f == fieldNone {
			if err := s.modelInDisguise(); err != nil {
				return err
			}
			continue
		}
		if s.seen&(1<<f) != 0 {
			return &RequestError{
				Param: string(s.Key()), Code: CodeDuplicate,
				Message: fmt.Sprintf("%s stands in the body twice; send it once, an upstream might read the other one", s.Key()),
			}
		}
		s.seen |= 1 << f
		if err := s.field(f, i); err != nil {
			return err
		}
	}
	return nil
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
	fieldMessages
	fieldSystem
	fieldStream
	fieldMaxTokens
	fieldTools
	fieldThinking
	fieldOutputConfig
	fieldOutputFormat // an older place of output_config.format

	// From here on they say who asks, not what for.
	fieldMetadata
	fieldSessionID
	fieldLitellmSessionID
	fieldDisableFallbacks
)

func fieldOf(key []byte) int {
	switch string(key) {
	case "model":
		return fieldModel
	case "messages":
		return fieldMessages
	case "system":
		return fieldSystem
	case "stream":
		return fieldStream
	case "max_tokens":
		return fieldMaxTokens
	case "tools":
		return fieldTools
	case "thinking":
		return fieldThinking
	case "output_config":
		return fieldOutputConfig
	case "output_format":
		return fieldOutputFormat
	case "metadata":
		return fieldMetadata
	case "session_id":
		return fieldSessionID
	case "litellm_session_id":
		return fieldLitellmSessionID
	case "disable_fallbacks":
		return fieldDisableFallbacks
	}
	return fieldNone
}
