package responses

// Endpoint is one of the endpoints whose text this package knows.
type Endpoint uint8

// The endpoints.
const (
	Create      Endpoint = iota // POST …/responses
	InputTokens                 // POST …/responses/input_tokens
	Compact                     // POST …/responses/compact
)

// String returns the endpoint as it appears in logs.
func (e Endpoint) String() string {
	switch e {
	case Create:
		return "responses"
	case InputTokens:
		return "input_tokens"
	case Compact:
		return "compact"
	}
	return "unknown"
}
