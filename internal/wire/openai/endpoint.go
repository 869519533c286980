package openai

// Endpoint is one of the endpoints whose text this package knows.
type Endpoint uint8

// The endpoints.
const (
	Chat        Endpoint = iota // POST …/chat/completions
	Completions                 // POST …/completions
	Embeddings                  // POST …/embeddings
)

// String returns the endpoint as it appears in logs.
func (e Endpoint) String() string {
	switch e {
	case Chat:
		return "chat"
	case Completions:
		return "completions"
	case Embeddings:
		return "embeddings"
	}
	return "unknown"
}

// input returns the field that holds what the model reads.
func (e Endpoint) input() string {
	switch e {
	case Chat:
		return "messages"
	case Completions:
		return "prompt"
	case Embeddings:
	}
	return "input"
}
