package anthropic

import (
	"errors"
	"net/http"
	"time"

	"gatewright/engine"
	"gatewright/internal/server"
	wire "gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/prompt"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/tokens"
)

// The names of headers, in the form that net/http keeps them.
const (
	headerVersion = "Anthropic-Version"
	headerBeta    = "Anthropic-Beta"
)

// handle handles the endpoints that take a conversation.
func handle(e wire.Endpoint, endpoint engine.Endpoint) func(*server.Exchange) error {
	return func(x *server.Exchange) error {
		header, err := upstreamHeader(x.Request.Header)
		if err != nil {
			return err
		}
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
		fill(request, found)
		request.Stream = found.Stream && e == wire.Messages
		request.CountTokens = server.Timed(func(model string) int64 { return tokens.AtLeast(body, model) })
		request.Session, request.Seed = x.Session(server.BodySession{
			Metadata:  found.MetadataSession,
			SessionID: found.SessionID,
			LiteLLM:   found.LitellmSessionID,
			Opening:   found,
		})
		request.Client = prompt.NewClient(x.Request.Header, body)
		request.Payload = &wire.Payload{Endpoint: e, Request: found, Body: body, Header: header}
		return x.Serve(request)
	}
}

// fill takes over what the scan found.
func fill(to *engine.Request, from *wire.Request) {
	to.Model = from.Model
	to.TextBytes = from.TextBytes
	to.MaxOutput = from.MaxOutput
	to.DisableFallbacks = from.DisableFallbacks
	to.Native = from.Native
	to.Needs |= engine.CapTools.If(from.Tools) | engine.CapVision.If(from.Vision) | engine.CapFiles.If(from.Files) |
		engine.CapJSONSchema.If(from.JSONSchema) | engine.CapReasoning.If(from.Reasoning)
}

// upstreamHeader returns what of a client's headers an upstream may see: the
// interface version, beta switches and the trace, never who the client is or
// what it pays with. A client that names no version means the oldest.
func upstreamHeader(client http.Header) (http.Header, error) {
	version, err := version(client)
	if err != nil {
		return nil, err
	}
	pass := http.Header{headerVersion: {version}}
	for _, name := range [...]string{headerBeta, "Traceparent", "Tracestate"} {
		if values := client[name]; len(values) > 0 {
			pass[name] = values
		}
	}
	return pass, nil
}

// version returns the interface version that a client speaks. One that is newer
// than the gateway is the upstream's to judge.
func version(client http.Header) (string, error) {
	values := client[headerVersion]
	if len(values) == 0 || (len(values) == 1 && values[0] == "") {
		return wire.Version20230601, nil
	}
	if _, err := time.Parse(time.DateOnly, values[0]); err != nil || len(values) > 1 {
		return "", &server.Error{
			Code: server.CodeInvalidHeader, Param: "anthropic-version",
			Message: "anthropic-version must be one date: send " + wire.Version20230601 + " or " + wire.Version20261021,
		}
	}
	return values[0], nil
}

// badRequest tells the client what is wrong with its body.
func badRequest(err error) error {
	e, ok := errors.AsType[*request.Error](err)
	if !ok {
		return err
	}
	return &server.Error{Code: e.Code, Message: e.Message, Param: e.Param}
}
