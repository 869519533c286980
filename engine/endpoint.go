package engine

// Endpoint is what a client called, in the protocol it called it.
type Endpoint uint8

// The endpoints that are routed. The zero value is none of them.
const (
	EndpointNone Endpoint = iota
	EndpointChat
	EndpointCompletions
	EndpointEmbeddings

	// The byte routes: bodies and answers that are passed on as they are, to
	// deployments that serve them natively.
	EndpointImageGenerations
	EndpointImageEdits
	EndpointImageVariations
	EndpointTranscriptions
	EndpointTranslations
	EndpointSpeech
	EndpointModerations
	EndpointRerank

	// The Responses protocol. What an upstream keeps of it (EndpointStored) is
	// read, cancelled and deleted at its owner alone.
	EndpointResponses
	EndpointCompact
	EndpointInputTokens
	EndpointStored

	// The Messages protocol.
	EndpointMessages
	EndpointCountTokens
)

// endpointNames are the words of the paths, so that a name in a log leads to
// its route.
var endpointNames = [...]string{
	EndpointNone:             "none",
	EndpointChat:             "chat",
	EndpointCompletions:      "completions",
	EndpointEmbeddings:       "embeddings",
	EndpointImageGenerations: "images_generations",
	EndpointImageEdits:       "images_edits",
	EndpointImageVariations:  "images_variations",
	EndpointTranscriptions:   "audio_transcriptions",
	EndpointTranslations:     "audio_translations",
	EndpointSpeech:           "audio_speech",
	EndpointModerations:      "moderations",
	EndpointRerank:           "rerank",
	EndpointResponses:        "responses",
	EndpointCompact:          "responses_compact",
	EndpointInputTokens:      "responses_input_tokens",
	EndpointStored:           "responses_stored",
	EndpointMessages:         "messages",
	EndpointCountTokens:      "messages_count_tokens",
}

// String returns the name that logs and decisions show; "none" for no endpoint.
func (e Endpoint) String() string {
	if int(e) < len(endpointNames) {
		return endpointNames[e]
	}
	return endpointNames[EndpointNone]
}

// EndpointByName returns the endpoint that configuration and logs call name.
func EndpointByName(name string) (Endpoint, bool) {
	for e, n := range endpointNames {
		if n == name && Endpoint(e) != EndpointNone {
			return Endpoint(e), true
		}
	}
	return EndpointNone, false
}

// Family groups endpoints that share a session's affinity: what generates text
// is one family, so that counting and generating find the same target. Every
// other endpoint is a family of its own, called by its name.
func (e Endpoint) Family() string {
	if generating.Has(e) {
		return "generate"
	}
	return e.String()
}

// generating are the endpoints of the family that generates text, or counts what
// that would take.
var generating = EndpointSet(
	EndpointChat, EndpointCompletions, EndpointResponses, EndpointCompact, EndpointInputTokens,
	EndpointMessages, EndpointCountTokens)

// Endpoints is a set of endpoints.
type Endpoints uint32

// EndpointSet returns the set that holds the given endpoints.
func EndpointSet(list ...Endpoint) Endpoints {
	var s Endpoints
	for _, e := range list {
		s |= 1 << e
	}
	return s
}

// Has reports whether e is in the set.
func (s Endpoints) Has(e Endpoint) bool { return s&(1<<e) != 0 }

// Capabilities is a set of abilities that a request needs or a deployment has.
type Capabilities uint16

// The abilities that admission looks at.
const (
	CapTools Capabilities = 1 << iota
	CapVision
	CapAudio
	CapVideo
	CapFiles
	CapJSONSchema
	CapReasoning
)

// AllCapabilities is the set of every ability.
const AllCapabilities = CapTools | CapVision | CapAudio | CapVideo | CapFiles | CapJSONSchema | CapReasoning

// capabilityNames are in the order of the bits.
var capabilityNames = [...]string{"tools", "vision", "audio", "video", "files", "json_schema", "reasoning"}

// Names lists the abilities of the set by the names that configuration uses.
func (c Capabilities) Names() []string {
	var names []string
	for i, n := range capabilityNames {
		if c&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// If returns the abilities when they are needed, and otherwise none.
func (c Capabilities) If(needed bool) Capabilities {
	if needed {
		return c
	}
	return 0
}

// CapabilityByName returns the ability that configuration calls name.
func CapabilityByName(name string) (Capabilities, bool) {
	for i, n := range capabilityNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
