package anthropic

// Endpoint is one of the endpoints whose text this package knows.
type Endpoint uint8

// The endpoints.
const (
	Messages    Endpoint = iota // POST …/messages
	CountTokens                 // POST …/messages/count_tokens
)

// String returns the endpoint as it appears in logs.
func (e Endpoint) String() string {
	switch e {
	case Messages:
		return "messages"
	case CountTokens:
		return "count_tokens"
	}
	return "unknown"
}

// Interface versions, values of the header Anthropic-Version.
const (
	// Version20230601 is what services expect that follow the protocol, and
	// what a request means that names no version.
	Version20230601 = "2023-06-01"
	// Version20261021 refuses the sampling fields whatever their values, and
	// documents directly in an assistant's message.
	Version20261021 = "2026-10-21"
)

// TakesSampling reports whether an interface version lets a request hold
// temperature, top_p and top_k. Versions are dates and compare as texts.
func TakesSampling(version string) bool { return version < Version20261021 }
