package engine

// Endpoint is what a client called, in the protocol it called it.
type Endpoint uint8

// The endpoints that are routed. The zero value is none of them.
const (
	EndpointNone Endpoint = iota
	EndpointChat
	EndpointCompletions
	EndpointEmbeddings
)

// String returns the name that logs and decisions show.
func (e Endpoint) String() string {
	switch e {
	case EndpointChat:
		return "chat"
	case EndpointCompletions:
		return "completions"
	case EndpointEmbeddings:
		return "embeddings"
	case EndpointNone:
	}
	return "none"
}

// Family groups endpoints that share a session's affinity: what generates text
// is one family, so that counting and generating find the same target.
func (e Endpoint) Family() string {
	switch e {
	case EndpointChat, EndpointCompletions:
		return "generate"
	case EndpointEmbeddings:
		return "embeddings"
	case EndpointNone:
	}
	return "none"
}

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

// CapabilityByName returns the ability that configuration calls name.
func CapabilityByName(name string) (Capabilities, bool) {
	for i, n := range capabilityNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
