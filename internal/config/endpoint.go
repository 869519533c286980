package config

import "slices"

// The endpoints of the Responses protocol, and of Messages.
const (
	endpointResponses   = "responses"
	endpointCompact     = "responses_compact"
	endpointInputTokens = "responses_input_tokens"
	endpointMessages    = "messages"
	endpointCountTokens = "messages_count_tokens"
)

// endpoints are what a provider or a deployment can serve, by the names that
// logs and decisions show.
var endpoints = []string{
	"chat", "completions", "embeddings",
	"images_generations", "images_edits", "images_variations",
	"audio_transcriptions", "audio_translations", "audio_speech",
	"moderations", "rerank",
	endpointResponses, endpointCompact, endpointInputTokens,
	endpointMessages, endpointCountTokens,
}

// endpointSet is what references to them are checked against.
var endpointSet = newNameSet(endpoints)

// Endpoints lists the names that endpoints may have. "responses" is everything
// below /v1/responses but what has a name of its own.
func Endpoints() []string { return slices.Clone(endpoints) }

// checkEndpoints checks a list of endpoints; none means that nothing is said.
func (c *checker) checkEndpoints(list []string, at path) {
	c.references(list, "endpoint", &endpointSet, at)
	if list != nil && len(list) == 0 && !c.broken(at) {
		c.fail(at, "name at least one, or remove it", "nothing is served")
	}
}
