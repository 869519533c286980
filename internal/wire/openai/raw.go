package openai

import "net/http"

// RawEndpoint is one of the endpoints whose bodies are passed on as they are:
// here they are read only as far as routing needs.
type RawEndpoint uint8

// The byte routes.
const (
	ImageGenerations RawEndpoint = iota
	ImageEdits
	ImageVariations
	Transcriptions
	Translations
	Speech
	Moderations
	Rerank
	RawEndpoints int = iota // how many there are
)

// rawPaths are the paths below a base URL.
var rawPaths = [RawEndpoints]string{
	ImageGenerations: "images/generations",
	ImageEdits:       "images/edits",
	ImageVariations:  "images/variations",
	Transcriptions:   "audio/transcriptions",
	Translations:     "audio/translations",
	Speech:           "audio/speech",
	Moderations:      "moderations",
	Rerank:           "rerank",
}

// Path returns the endpoint's path below a base URL, such as
// "audio/transcriptions"; "" for a value that is none of the constants.
func (e RawEndpoint) Path() string {
	if int(e) < len(rawPaths) {
		return rawPaths[e]
	}
	return ""
}

// RawPayload is one client request of a byte route as it travels from the
// server to an adapter: the body as it came, what one scan found in it, and the
// client's headers that may go upstream. It is not written after the server
// made it; the body's memory is the server's until the request ends.
type RawPayload struct {
	Endpoint RawEndpoint
	Request  *RawRequest
	Body     []byte
	Header   http.Header
}
