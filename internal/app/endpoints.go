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
	messagesEndpoints = engine.EndpointSet(engine.EndpointMessages, engine.EndpointCountTokens)
	openAIEndpoints   = textEndpoints | embeddingEndpoints | mediaEndpoints | responsesEndpoints |
		engine.EndpointSet(engine.EndpointModerations, engine.EndpointRerank)
	// conversations are what can be had by translation.
	conversations = engine.EndpointSet(engine.EndpointChat, engine.EndpointResponses, engine.EndpointInputTokens) | messagesEndpoints
)

// endpoints are what a deployment can be asked for: what it serves in its
// upstream's own protocol, and what by translation. What it lists itself is all
// that it serves of either.
func endpoints(r *config.Resolved) (own, translated engine.Endpoints) {
	own = native(r)
	if converses(r, own) {
		translated = conversations &^ own
	}
	if list := r.Provider.Endpoints; list != nil && r.Provider.Upstream.Protocol == config.ProtocolGemini {
		translated &= named(list)
	}
	if r.Endpoints != nil {
		listed := named(r.Endpoints)
		own, translated = own&listed, translated&listed
	}
	return own, translated
}

// converses reports whether a deployment can serve conversations by translation.
func converses(r *config.Resolved, own engine.Endpoints) bool {
	served := own
	if r.Provider.Upstream.Protocol == config.ProtocolGemini {
		served = endpointsOf(r.Mode)
	}
	return served&engine.EndpointSet(engine.EndpointChat, engine.EndpointResponses, engine.EndpointMessages) != 0
}

// native are the endpoints of its own protocol that the upstream of a deployment
// serves: what the deployment lists of them, else what its provider does, of what
// the model is for. Responses are served only where that is known: an upstream
// without them would fail each such request, and be left alone for chat too.
func native(r *config.Resolved) engine.Endpoints {
	p := r.Provider
	protocol, known := openAIEndpoints, openAIEndpoints&^responsesEndpoints|named(p.Upstream.Responses)
	switch p.Upstream.Protocol {
	case config.ProtocolAnthropic:
		protocol, known = messagesEndpoints, engine.EndpointSet(engine.EndpointMessages)
		if p.Upstream.CountTokens {
			known = messagesEndpoints
		}
	case config.ProtocolGemini:
		return 0
	}
	if p.Endpoints != nil {
		known = named(p.Endpoints) & protocol
	}
	served := known & endpointsOf(r.Mode)
	if r.Endpoints != nil {
		served |= named(r.Endpoints) & protocol
	}
	return served
}

// endpointsOf are what a model of a mode is for. One that is not listed may be
// anything: its upstream will say. What is listed for sound or images is not
// told apart further, since the list does not.
func endpointsOf(mode catalog.Mode) engine.Endpoints {
	switch mode {
	case catalog.ModeEmbedding:
		return embeddingEndpoints
	case catalog.ModeChat:
		return textEndpoints | responsesEndpoints | messagesEndpoints
	case catalog.ModeResponses:
		return responsesEndpoints | messagesEndpoints
	case catalog.ModeMedia:
		return mediaEndpoints
	}
	return openAIEndpoints | messagesEndpoints
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
