package responses

import "gatewright/internal/wire/request"

// requestScan is one walk over a request.
type requestScan struct {
	request.Reader
	e     Endpoint
	r     *Request
	input bool // input is there

	safetyIdentifier string
	clientSession    string // client_metadata.session_id
	hosted           bool   // a tool of the upstream's own is offered
	client           bool   // a tool that the client runs is offered
	forced           bool   // tool_choice names a tool of the upstream's own
}

// ScanRequest reads what routing needs of a request in one pass. The body stays
// as it is and the Request refers to it. Arrays and objects may be nested
// maxDepth levels deep. The error is a *request.Error.
//
// Refused are: text that is no JSON object; a model that is missing or empty; an
// input that is missing although nothing stands for it; wrong types of the
// fields that are read; output tokens out of bounds; and a field that is read
// twice, or "model" in another case beside it, because an upstream might read
// the other one.
func ScanRequest(e Endpoint, body []byte, maxDepth int) (*Request, error) {
	s := requestScan{Reader: request.NewReader(body, maxDepth, request.Quoted), e: e, r: &Request{Stored: true, body: body}}
	if err := s.Enter(); err != nil {
		return nil, err
	}
	if err := s.Fields(fieldOf, s.field); err != nil {
		return nil, err
	}
	r := s.r
	switch {
	case r.Model == "":
		return nil, s.Missing("model", "name the model to use")
	case !s.input && r.Owned.Response == "" && r.Owned.Conversation == "" && r.Owned.Prompt == "":
		return nil, s.Missing("input", "it is what the model answers to")
	}
	if r.User == "" {
		r.User = s.safetyIdentifier
	}
	if r.MetadataSession == "" {
		r.MetadataSession = s.clientSession
	}
	switch {
	case e == Compact:
		r.native("compact")
	case s.forced:
		r.native("tool_choice")
	case s.hosted && !s.client:
		r.native("tools")
	}
	return r, nil
}

// native notes that the request needs an upstream of this protocol.
func (r *Request) native(what string) {
	if r.Native == "" {
		r.Native = what
	}
}

// The fields that are read.
const (
	fieldNone = iota
	fieldModel
	fieldInput
	fieldInstructions
	fieldStream
	fieldMaxOutputTokens
	fieldTools
	fieldToolChoice
	fieldReasoning
	fieldText
	fieldStore
	fieldBackground

	// What the upstream keeps.
	fieldPreviousResponseID
	fieldConversation
	fieldPrompt
	fieldContextManagement

	// Who asks, and the gateway's own.
	fieldDisableFallbacks
	fieldPromptCacheKey
	fieldSessionID
	fieldLitellmSessionID
	fieldMetadata
	fieldClientMetadata
	fieldUser
	fieldSafetyIdentifier
)

var fields = map[string]int{
	"model":                fieldModel,
	"input":                fieldInput,
	"instructions":         fieldInstructions,
	"stream":               fieldStream,
	"max_output_tokens":    fieldMaxOutputTokens,
	"tools":                fieldTools,
	"tool_choice":          fieldToolChoice,
	"reasoning":            fieldReasoning,
	"text":                 fieldText,
	"store":                fieldStore,
	"background":           fieldBackground,
	"previous_response_id": fieldPreviousResponseID,
	"conversation":         fieldConversation,
	"prompt":               fieldPrompt,
	"context_management":   fieldContextManagement,
	"disable_fallbacks":    fieldDisableFallbacks,
	"prompt_cache_key":     fieldPromptCacheKey,
	"session_id":           fieldSessionID,
	"litellm_session_id":   fieldLitellmSessionID,
	"metadata":             fieldMetadata,
	"client_metadata":      fieldClientMetadata,
	"user":                 fieldUser,
	"safety_identifier":    fieldSafetyIdentifier,
}

// fieldOf returns the number of a field that is read.
func fieldOf(key []byte) int { return fields[string(key)] }
