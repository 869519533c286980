package provider

import (
	"net/http"
	"strings"
)

// Bounds of what is taken over from an upstream's headers.
const (
	maxPassed    = 64  // headers
	maxPassedLen = 512 // bytes of a value
	maxRequestID = 128 // bytes
)

// passedDown are the beginnings of the names of upstream headers that a client
// may see.
var passedDown = [...]string{"Openai-", "X-Ratelimit-", "Anthropic-"}

// ResponseHeader returns what of an upstream's headers may go to the client;
// nil when there is nothing. Never among it: cookies, server banners, what
// belongs to the connection or to the upstream's encoding of the body.
func ResponseHeader(upstream http.Header) http.Header {
	var out http.Header
	for key, values := range upstream {
		if !mayPassDown(key) || len(values) == 0 || len(values[0]) > maxPassedLen {
			continue
		}
		if out == nil {
			out = make(http.Header, len(passedDown)*2)
		}
		if out[key] = values[:1:1]; len(out) == maxPassed {
			break
		}
	}
	return out
}

func mayPassDown(key string) bool {
	for _, prefix := range passedDown {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// requestIDs are the headers in which upstreams name a call.
var requestIDs = [...]string{"X-Request-Id", "Request-Id", "Apim-Request-Id"}

// RequestID returns the upstream's name of the call; "" when it gave none that
// can be shown.
func RequestID(upstream http.Header) string {
	for _, key := range requestIDs {
		id := upstream.Get(key)
		if id == "" || len(id) > maxRequestID {
			continue
		}
		if strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
			return strings.Clone(id) // it outlives the answer, whose head is one text
		}
	}
	return ""
}
