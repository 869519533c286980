package openai

import (
	"net/http"

	"gatewright/engine"
	"gatewright/internal/server"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/prompt"
	"gatewright/internal/wire/tokens"
)

// endpoints are the engine's names of the wire's endpoints.
var endpoints = map[wire.Endpoint]engine.Endpoint{
	wire.Chat:        engine.EndpointChat,
	wire.Completions: engine.EndpointCompletions,
	wire.Embeddings:  engine.EndpointEmbeddings,
}

// generate handles the endpoints that are routed to a deployment.
func generate(e wire.Endpoint) func(*server.Exchange) error {
	return func(x *server.Exchange) error {
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		found, err := wire.ScanRequest(e, body, x.JSONDepth())
		if err != nil {
			return badRequest(err)
		}
		request, err := x.NewRequest(endpoints[e])
		if err != nil {
			return err
		}
		fill(request, found)
		if e != wire.Embeddings { // each input of those has the limit for itself
			request.CountTokens = server.Timed(func(model string) int64 { return tokens.AtLeast(body, model) })
		}
		request.Session, request.Seed = x.Session(session(e, found))
		request.Client = prompt.NewClient(x.Request.Header, body)
		request.Payload = &wire.Payload{Endpoint: e, Request: found, Body: body, Header: upstreamHeader(x.Request.Header)}
		return x.Serve(request)
	}
}

// fill takes over what the scan found.
func fill(to *engine.Request, from *wire.Request) {
	to.Model = from.Model
	to.Stream = from.Stream
	to.TextBytes = from.TextBytes
	to.MaxOutput = from.MaxOutput
	to.DisableFallbacks = from.DisableFallbacks
	to.Needs |= engine.CapTools.If(from.Tools) | engine.CapVision.If(from.Vision) | engine.CapAudio.If(from.Audio) |
		engine.CapVideo.If(from.Video) | engine.CapFiles.If(from.Files) | engine.CapJSONSchema.If(from.JSONSchema) |
		engine.CapReasoning.If(from.Reasoning)
}

// session is what the body says of its session. Embeddings belong to one only
// if the client says so: each input stands for itself, so their beginning would
// make a session of every request.
func session(e wire.Endpoint, r *wire.Request) server.BodySession {
	b := server.BodySession{
		PromptCacheKey: r.PromptCacheKey,
		Metadata:       r.MetadataSession,
		SessionID:      r.SessionID,
		LiteLLM:        r.LitellmSessionID,
	}
	if e != wire.Embeddings {
		b.Opening = r
	}
	return b
}

// upstreamHeader returns what of a client's headers an upstream may see: beta
// switches and the trace, never who the client is or what it pays with. nil =
// nothing.
func upstreamHeader(client http.Header) http.Header {
	var pass http.Header
	for _, name := range [...]string{"Openai-Beta", "Traceparent", "Tracestate"} {
		if values := client[name]; len(values) > 0 {
			if pass == nil {
				pass = make(http.Header)
			}
			pass[name] = values
		}
	}
	return pass
}
