package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"gatewright/engine"
	"gatewright/internal/server"
	wire "gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/sse"
)

// Room serves Anthropic's protocol. It holds nothing, so one value serves all
// requests.
type Room struct{}

var _ server.Room = Room{}

// New returns the room.
func New() Room { return Room{} }

const pathMessages = "/v1/messages"

// Routes lists the endpoints, the most used first. Models are listed in this
// protocol for clients that name a version of it.
func (Room) Routes() []server.Route {
	return []server.Route{
		{Method: http.MethodPost, Path: pathMessages, Handle: handle(wire.Messages, engine.EndpointMessages)},
		{Method: http.MethodPost, Path: pathMessages + "/count_tokens", Handle: handle(wire.CountTokens, engine.EndpointCountTokens)},
		{Method: http.MethodGet, Path: "/v1/models", Header: headerVersion, Handle: listModels},
		{Method: http.MethodGet, Path: "/v1/models/{id:.+}", Header: headerVersion, Handle: oneModel},
	}
}

// Traits say where the protocol's clients put keys and look for request ids, and
// how to know them.
func (Room) Traits() server.Traits {
	return server.Traits{
		KeyHeader: "X-Api-Key",
		IDHeader:  "Request-Id",
		Speaks: func(r *http.Request) bool {
			path := r.URL.Path
			return len(r.Header[headerVersion]) > 0 || path == pathMessages || strings.HasPrefix(path, pathMessages+"/")
		},
	}
}

// errorBody is an error of the protocol. The gateway's code of it stands where
// the service puts its own.
type errorBody struct {
	Type      string      `json:"type"`
	Error     errorObject `json:"error"`
	RequestID string      `json:"request_id"`
}

type errorObject struct {
	Type    string           `json:"type"`
	Message string           `json:"message"`
	Details *errorDetails    `json:"details,omitempty"`
	Skipped []engine.Skipped `json:"skipped_candidates,omitempty"`
}

type errorDetails struct {
	Code string `json:"error_code"`
}

// AppendError appends the error as the body of an answer: {"type": "error",
// "error": {"type", "message", "details": {"error_code"}}, "request_id"}, and
// where the caller may see routing the candidates that were removed.
func (Room) AppendError(dst []byte, e *server.Error) []byte {
	body := errorBody{
		Type: "error", RequestID: e.RequestID,
		Error: errorObject{Type: e.AnthropicType(), Message: message(e), Skipped: e.Skipped},
	}
	if body.Error.Type == "" {
		body.Error.Type = wire.ErrorType(e.HTTPStatus())
	}
	if e.Code != "" {
		body.Error.Details = &errorDetails{Code: e.Code}
	}
	text, err := json.Marshal(body)
	if err != nil {
		// Cannot be: texts and times. The error matters more.
		return wire.AppendError(dst, body.Error.Type, body.Error.Message, e.RequestID)
	}
	return append(dst, text...)
}

// message is what the client is told. The protocol's clients know a prompt that
// is too long by these words alone, and shorten it.
func message(e *server.Error) string {
	const words = "prompt is too long"
	if e.Code != engine.CodeContextLengthExceeded || strings.Contains(strings.ToLower(e.Message), words) {
		return e.Message
	}
	return words + ": " + e.Message
}

// AppendErrorEvent appends the error as the last event of a stream. No
// message_stop follows: a broken stream must not look like a finished one.
func (r Room) AppendErrorEvent(dst []byte, e *server.Error) []byte {
	return sse.Append(dst, "error", r.AppendError(nil, e))
}
