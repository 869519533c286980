package anthropic

import "gatewright/internal/wire/request"

// requestScan is one walk over a request.
type requestScan struct {
	request.Reader
	e     Endpoint
	r     *Request
	limit bool // max_tokens is there
	input bool // messages is there

	history history
	inside  bool   // in a block of a message
	kind    string // of the block that was taken last
}

// ScanRequest reads what routing needs of a request in one pass. The body stays
// as it is and the Request refers to it. Arrays and objects may be nested
// maxDepth levels deep. The error is a *request.Error.
//
// Refused are: text that is no JSON object; a model, a max_tokens or messages
// that are missing or empty (the counting of tokens needs no max_tokens); wrong
// types of the fields that are read; and a field that is read twice, or "model"
// in another case beside it, because an upstream might read the other one.
func ScanRequest(e Endpoint, body []byte, maxDepth int) (*Request, error) {
	s := requestScan{Reader: request.NewReader(body, maxDepth, request.Bare), e: e, r: &Request{body: body}}
	if err := s.Enter(); err != nil {
		return nil, err
	}
	if err := s.Fields(fieldOf, s.field); err != nil {
		return nil, err
	}
	switch {
	case s.r.Model == "":
		return nil, s.Missing("model", "name the model to use")
	case !s.input:
		return nil, s.Missing("messages", "it is what the model answers to")
	case !s.limit && e == Messages:
		return nil, s.Missing("max_tokens", "say how many tokens the answer may have")
	}
	if !s.history.bare {
		s.r.budget = span{}
	}
	return s.r, nil
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
