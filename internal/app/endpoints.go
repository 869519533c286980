package app

import (
	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/internal/config/catalog"
)

// What deployments can be asked for, by what the catalog knows of a model.
var (
	textEndpoints      = engine.EndpointSet(engine.EndpointChat, engine.EndpointCompletions)
	embeddingEndpoints = engine.EndpointSet(engine.EndpointEmbeddings)
	mediaEndpoints     = engine.EndpointSet(
		engine.EndpointImageGenerations, engine.EndpointImageEdits, engine.EndpointImageVariations,
		engine.EndpointTranscriptions, engine.EndpointTranslations, engine.EndpointSpeech)
	responsesEndpoints = engine.EndpointSet(
		engine.EndpointResponses, engine.EndpointCompact, engine.EndpointInputTokens, engine.EndpointStored)
	allEndpoints = textEndpoints | embeddingEndpoints | mediaEndpoints | responsesEndpoints |
		engine.EndpointSet(engine.EndpointModerations, engine.EndpointRerank)
)

// endpoints are what a deployment can be asked for: what it lists itself, else
// what its provider serves of what the model is for. Responses are served only
// where that is known: an upstream without them would fail each such request,
// and be left alone for chat too.
func endpoints(r *config.Resolved) engine.Endpoints {
	if r.Endpoints != nil {
		return named(r.Endpoints)
	}
	served := allEndpoints&^responsesEndpoints | named(r.Provider.Upstream.Responses)
	if list := r.Provider.Endpoints; list != nil {
		served = named(list)
	}
	return served & endpointsOf(r.Mode)
}

// endpointsOf are what a model of a mode is for. One that is not listed may be
// anything: its upstream will say. What is listed for sound or images is not
// told apart further, since the list does not.
func endpointsOf(mode catalog.Mode) engine.Endpoints {
	switch mode {
	case catalog.ModeEmbedding:
		return embeddingEndpoints
	case catalog.ModeChat:
		return textEndpoints | responsesEndpoints
	case catalog.ModeResponses:
		return responsesEndpoints
	case catalog.ModeMedia:
		return mediaEndpoints
	}
	return allEndpoints
}

// named is the set of the endpoints with the given names of the configuration.
// Who serves responses keeps them.
func named(list []string) engine.Endpoints {
	var set engine.Endpoints
	for _, name := range list {
		e, _ := engine.EndpointByName(name) // configuration and presets hold known names
		set |= engine.EndpointSet(e)
		if e == engine.EndpointResponses {
			set |= engine.EndpointSet(engine.EndpointStored)
		}
	}
	return set
}
