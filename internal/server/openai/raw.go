package openai

import (
	"gatewright/engine"
	"gatewright/internal/server"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/prompt"
)

// rawEndpoints are the engine's names of the byte routes.
var rawEndpoints = [wire.RawEndpoints]engine.Endpoint{
	wire.ImageGenerations: engine.EndpointImageGenerations,
	wire.ImageEdits:       engine.EndpointImageEdits,
	wire.ImageVariations:  engine.EndpointImageVariations,
	wire.Transcriptions:   engine.EndpointTranscriptions,
	wire.Translations:     engine.EndpointTranslations,
	wire.Speech:           engine.EndpointSpeech,
	wire.Moderations:      engine.EndpointModerations,
	wire.Rerank:           engine.EndpointRerank,
}

// pass handles a byte route: the body, JSON or a form, is read only as far as
// routing needs. What it holds has no length in tokens that could be told from
// here, and no beginning of a conversation: it belongs to a session only if a
// header says so.
func pass(e wire.RawEndpoint, endpoint engine.Endpoint) func(*server.Exchange) error {
	return func(x *server.Exchange) error {
		body, formType, err := x.ReadUpload()
		if err != nil {
			return err
		}
		found, err := wire.ScanRaw(formType, body, x.JSONDepth())
		if err != nil {
			return badRequest(err)
		}
		request, err := x.NewRequest(endpoint)
		if err != nil {
			return err
		}
		request.Model, request.Stream, request.DisableFallbacks = found.Model, found.Stream, found.DisableFallbacks
		request.Session, request.Seed = x.Session(server.BodySession{})
		request.Client = prompt.NewClient(x.Request.Header, body)
		request.Payload = &wire.RawPayload{Endpoint: e, Request: found, Body: body, Header: upstreamHeader(x.Request.Header)}
		return x.Serve(request)
	}
}
