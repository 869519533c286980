package openai

import (
	"encoding/json"
	"net/http"

	"gatewright/internal/server"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// Room serves OpenAI's protocol. It holds nothing, so one value serves all
// requests.
type Room struct{}

var _ server.Room = Room{}

// New returns the room.
func New() Room { return Room{} }

// Routes lists the endpoints, the most used first.
func (r Room) Routes() []server.Route {
	routes := []server.Route{
		{Method: http.MethodPost, Path: "/v1/chat/completions", Handle: generate(wire.Chat)},
		{Method: http.MethodPost, Path: "/v1/completions", Handle: generate(wire.Completions)},
		{Method: http.MethodPost, Path: "/v1/embeddings", Handle: generate(wire.Embeddings)},
		{Method: http.MethodGet, Path: "/v1/models", Handle: listModels},
		{Method: http.MethodGet, Path: "/v1/models/{id:.+}", Handle: oneModel},
	}
	for e, endpoint := range rawEndpoints {
		raw := wire.RawEndpoint(e)
		routes = append(routes, server.Route{Method: http.MethodPost, Path: "/v1/" + raw.Path(), Handle: pass(raw, endpoint)})
	}
	return routes
}

// Traits are none: what other protocols have besides is what they differ in from
// this one.
func (Room) Traits() server.Traits { return server.Traits{} }

// AppendError appends the error as the body of an answer:
// {"error": {"message", "type", "param", "code"}}, and where the caller may see
// routing the candidates that were removed.
func (Room) AppendError(dst []byte, e *server.Error) []byte {
	dst = wire.AppendError(dst, e.Message, e.OpenAIType(), e.Param, e.Code)
	if len(e.Skipped) == 0 {
		return dst
	}
	list, err := json.Marshal(e.Skipped)
	if err != nil {
		return dst // cannot be: texts and times; and the error matters more
	}
	const end = "}}"
	dst = append(dst[:len(dst)-len(end)], `,"skipped_candidates":`...)
	return append(append(dst, list...), end...)
}

// AppendErrorEvent appends the error as the last event of a stream. No [DONE]
// follows: a broken stream must not look like a finished one.
func (r Room) AppendErrorEvent(dst []byte, e *server.Error) []byte {
	return sse.Append(dst, "", r.AppendError(nil, e))
}
