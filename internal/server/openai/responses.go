package openai

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"gatewright/engine"
	"gatewright/internal/server"
	chat "gatewright/internal/wire/openai"
	"gatewright/internal/wire/prompt"
	wire "gatewright/internal/wire/responses"
	"gatewright/internal/wire/tokens"
)

// Responses serves OpenAI's Responses protocol, whose answers are kept upstream
// and continued there. Errors have the shape of OpenAI's other endpoints, but at
// the end of a stream. It holds nothing of a request, so one value serves all.
type Responses struct {
	Room
	owners Owners
}

var _ server.Room = Responses{}

// NewResponses returns the room; owners say who issued what requests name.
func NewResponses(owners Owners) Responses { return Responses{owners: owners} }

// Routes lists the endpoints, the most used first.
func (r Responses) Routes() []server.Route {
	const one = "/v1/responses/{id}"
	return []server.Route{
		{Method: http.MethodPost, Path: "/v1/responses", Handle: r.create(wire.Create, engine.EndpointResponses)},
		{Method: http.MethodPost, Path: "/v1/responses/compact", Handle: r.create(wire.Compact, engine.EndpointCompact)},
		{Method: http.MethodPost, Path: "/v1/responses/input_tokens", Handle: r.create(wire.InputTokens, engine.EndpointInputTokens)},
		{Method: http.MethodGet, Path: one, Handle: r.stored(chat.StoredGet)},
		{Method: http.MethodDelete, Path: one, Handle: r.stored(chat.StoredDelete)},
		{Method: http.MethodPost, Path: one + "/cancel", Handle: r.stored(chat.StoredCancel)},
		{Method: http.MethodGet, Path: one + "/input_items", Handle: r.stored(chat.StoredInputItems)},
	}
}

// AppendErrorEvent appends the error as the event that ends a stream of which
// nothing is known here.
func (Responses) AppendErrorEvent(dst []byte, e *server.Error) []byte {
	return wire.NewStream("").AppendBroken(dst, e.Message, e.OpenAIType(), e.Code)
}

// create handles the endpoints that take a conversation.
func (r Responses) create(e wire.Endpoint, endpoint engine.Endpoint) func(*server.Exchange) error {
	return func(x *server.Exchange) error {
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		found, err := wire.ScanRequest(e, body, x.JSONDepth())
		if err != nil {
			return badRequest(err)
		}
		request, err := x.NewRequest(endpoint)
		if err != nil {
			return err
		}
		if request.Owner, err = r.owner(x.Caller, found); err != nil {
			return err
		}
		fillResponses(request, found)
		request.CountTokens = server.Timed(func(model string) int64 { return tokens.AtLeast(body, model) })
		if e == wire.Create {
			request.Stream, request.Async = found.Stream, found.Background
		}
		request.Session, request.Seed = x.Session(server.BodySession{
			PromptCacheKey: found.PromptCacheKey,
			Metadata:       found.MetadataSession,
			SessionID:      found.SessionID,
			LiteLLM:        found.LitellmSessionID,
			Opening:        found,
		})
		request.Client = prompt.NewClient(x.Request.Header, body)
		request.Payload = &wire.Payload{Endpoint: e, Request: found, Body: body, Header: upstreamHeader(x.Request.Header)}
		return x.Serve(request)
	}
}

// fillResponses takes over what the scan found.
func fillResponses(to *engine.Request, from *wire.Request) {
	to.Model = from.Model
	to.TextBytes = from.TextBytes
	to.MaxOutput = from.MaxOutput
	to.DisableFallbacks = from.DisableFallbacks
	to.Native = from.Native
	to.Needs |= engine.CapTools.If(from.Tools) | engine.CapVision.If(from.Vision) | engine.CapAudio.If(from.Audio) |
		engine.CapFiles.If(from.Files) | engine.CapJSONSchema.If(from.JSONSchema) | engine.CapReasoning.If(from.Reasoning)
}

// stored handles what is asked of an answer that its upstream keeps: it goes
// there and nowhere else.
func (r Responses) stored(action chat.StoredAction) func(*server.Exchange) error {
	return func(x *server.Exchange) error {
		id := x.PathVar("id")
		owner, ok := r.owners.Find(x.Caller, engine.Issue{Kind: engine.IssueResponse, ID: id})
		if !ok {
			return notFound(server.CodeResponseNotFound, "", "there is no response with the id %q; what one key created cannot be seen by another", id)
		}
		d, ok := x.Snapshot.Deployment(owner)
		if !ok {
			return &server.Error{
				Code: engine.CodeNoEligibleCandidate, Message: fmt.Sprintf("the deployment that keeps the response %q is not configured any more", id),
			}
		}
		request, err := x.NewRequest(engine.EndpointStored)
		if err != nil {
			return err
		}
		query := x.Request.URL.Query()
		request.Model, request.Owner = d.Model, d.ID
		request.Stream = action == chat.StoredGet && asksForStream(query)
		request.Payload = &chat.Stored{Action: action, ID: id, Query: query, Header: upstreamHeader(x.Request.Header)}
		return x.Serve(request)
	}
}

// asksForStream reports whether a query wants the events of an answer.
func asksForStream(query url.Values) bool {
	wanted, err := strconv.ParseBool(query.Get("stream"))
	return err == nil && wanted
}

func notFound(code, param, format, id string) *server.Error {
	return &server.Error{Code: code, Param: param, Message: fmt.Sprintf(format, id)}
}
