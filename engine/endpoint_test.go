package engine_test

import (
	"testing"

	"gatewright/engine"
)

func TestEndpointNamesAndFamilies(t *testing.T) {
	for _, c := range []struct {
		endpoint     engine.Endpoint
		name, family string
	}{
		{engine.EndpointNone, "none", "none"},
		{engine.EndpointChat, "chat", "generate"},
		{engine.EndpointCompletions, "completions", "generate"},
		{engine.EndpointEmbeddings, "embeddings", "embeddings"},
		{engine.EndpointImageGenerations, "images_generations", "images_generations"},
		{engine.EndpointImageEdits, "images_edits", "images_edits"},
		{engine.EndpointImageVariations, "images_variations", "images_variations"},
		{engine.EndpointTranscriptions, "audio_transcriptions", "audio_transcriptions"},
		{engine.EndpointTranslations, "audio_translations", "audio_translations"},
		{engine.EndpointSpeech, "audio_speech", "audio_speech"},
		{engine.EndpointModerations, "moderations", "moderations"},
		{engine.EndpointRerank, "rerank", "rerank"},
		{engine.EndpointResponses, "responses", "generate"},
		{engine.EndpointCompact, "responses_compact", "generate"},
		{engine.EndpointInputTokens, "responses_input_tokens", "generate"},
		{engine.EndpointStored, "responses_stored", "responses_stored"},
		{engine.Endpoint(255), "none", "none"},
	} {
		if got := c.endpoint.String(); got != c.name {
			t.Errorf("endpoint %d is called %q, want %q", c.endpoint, got, c.name)
		}
		if got, ok := engine.EndpointByName(c.name); ok != (c.name != "none") || got.String() != c.name {
			t.Errorf("the name %q is that of %s, %v", c.name, got, ok)
		}
		if got := c.endpoint.Family(); got != c.family {
			t.Errorf("the family of %s is %q, want %q", c.name, got, c.family)
		}
	}
}

func TestEndpointSetHoldsWhatItWasGiven(t *testing.T) {
	s := engine.EndpointSet(engine.EndpointChat, engine.EndpointRerank)
	for e := engine.EndpointNone; e <= engine.EndpointStored; e++ {
		if got, want := s.Has(e), e == engine.EndpointChat || e == engine.EndpointRerank; got != want {
			t.Errorf("the set of chat and rerank has %s: %v, want %v", e, got, want)
		}
	}
}
