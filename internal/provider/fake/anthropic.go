package fake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// anthropic is Anthropic's protocol: Messages, in both of its interface versions.
type anthropic struct{}

var _ protocol = anthropic{}

// makerAnthropic signs the thoughts.
const makerAnthropic = "anthropic"

// headerVersion names the interface version, which every request must.
const headerVersion = "Anthropic-Version"

// The interface versions. From versionNew on a request says nothing about
// sampling.
const (
	versionFirst = "2023-01-01"
	versionOld   = "2023-06-01"
	versionNew   = "2026-10-21"
)

// anthropicPaths are the endpoints behind /v1.
var anthropicPaths = map[string]struct {
	endpoint Endpoint
	method   string
}{
	"/messages":              {EndpointMessages, http.MethodPost},
	"/messages/count_tokens": {EndpointCountTokens, http.MethodPost},
}

// route knows /v1/x, /x and /anthropic/v1/x. The list of models stands at a path
// that OpenAI has, too; the header tells them apart.
func (anthropic) route(r *http.Request, path string) (*call, bool) {
	path = strings.TrimPrefix(path, "/anthropic")
	path = strings.TrimPrefix(path, "/v1")
	c := &call{proto: anthropic{}, contentType: r.Header.Get("Content-Type"), version: r.Header.Get(headerVersion)}
	c.key = r.Header.Get("X-Api-Key") // of two credentials this one counts
	if c.key == "" {
		c.key = bearer(r.Header)
	}
	at, ok := anthropicPaths[path]
	c.endpoint, c.method = at.endpoint, at.method
	if rest, models := strings.CutPrefix(path, "/models"); models && c.version != "" && (rest == "" || rest[0] == '/') {
		c.endpoint, c.method, ok = EndpointModels, http.MethodGet, true
		c.model = strings.TrimPrefix(rest, "/")
	}
	switch {
	case c.version == "":
		c.missing = wrongMessages("", "anthropic-version: header is required")
	case !slices.Contains([]string{versionFirst, versionOld, versionNew}, c.version):
		c.missing = wrongMessages("", "anthropic-version: "+strconv.Quote(c.version)+" is not a valid version")
	}
	return c, ok
}

// anthropicWords are Anthropic's words for the cases that have a name.
var anthropicWords = map[string]apiError{
	"context-length": {
		status: http.StatusBadRequest, typ: "invalid_request_error", message: "prompt is too long: 200251 tokens > 200000 maximum",
	},
	"content-filter": {status: http.StatusBadRequest, typ: "invalid_request_error", message: "Output blocked by content filtering policy"},
	"content-policy": {status: http.StatusBadRequest, typ: "invalid_request_error", message: "Output blocked by content filtering policy"},
	"insufficient-quota": {
		status: http.StatusTooManyRequests, typ: "rate_limit_error", code: "enforced_spend_limit_reached",
		message: "This organization has reached its spend limit.",
	},
	"credit-balance": {
		status: http.StatusBadRequest, typ: "invalid_request_error",
		message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
	},
	"rate-limit-hint": {
		status: http.StatusTooManyRequests, typ: "rate_limit_error",
		message: "This request would exceed your account's rate limit. Please try again later.",
	},
	"model-not-found": {status: http.StatusNotFound, typ: "not_found_error", message: "model: {model}"},
	"invalid-key":     {status: http.StatusUnauthorized, typ: "authentication_error", message: "invalid x-api-key"},
	"overloaded":      {status: statusOverloaded, typ: "overloaded_error", message: "Overloaded"},
	sayNoKey:          {status: http.StatusUnauthorized, typ: "authentication_error", message: "x-api-key header is required"},
	sayNoPath:         {status: http.StatusNotFound, typ: "not_found_error", message: "Not found: {request}"},
	sayMethod:         {status: http.StatusMethodNotAllowed, typ: "invalid_request_error", message: "Method Not Allowed: use {allowed}"},
	sayTooLarge:       {status: http.StatusRequestEntityTooLarge, typ: "request_too_large", message: "Request exceeds the maximum size of {limit} bytes"},
	sayUnknown:        {status: http.StatusNotFound, typ: "not_found_error", message: "model: {model}"},
	sayBroken:         {typ: "api_error", message: "Internal server error"},
	sayProvider:       {typ: "api_error", message: "Internal server error"},
}

// statusOverloaded is a status that only Anthropic has.
const statusOverloaded = 529

// anthropicTypes are the types of the errors by status.
var anthropicTypes = map[int]string{
	401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	408: "timeout_error", 409: "conflict_error", 413: "request_too_large", 429: "rate_limit_error",
	504: "timeout_error", statusOverloaded: "overloaded_error",
}

func (anthropic) words(_ *call, what string) apiError {
	status := statusOf(what)
	if status == 0 {
		return anthropicWords[what]
	}
	e := apiError{status: status, typ: anthropicTypes[status], message: http.StatusText(status)}
	switch {
	case status == statusOverloaded:
		e.message = "Overloaded"
	case e.message == "":
		e.message = "status " + strconv.Itoa(status)
	}
	if e.typ == "" {
		e.typ = "invalid_request_error"
		if status >= http.StatusInternalServerError {
			e.typ = "api_error"
		}
	}
	return e
}

// exceeded is the 429 of a quota.
func (anthropic) exceeded(_ *call, l *limits) apiError {
	e := apiError{status: http.StatusTooManyRequests, typ: "rate_limit_error"}
	switch l.exceeded {
	case limitConcurrent:
		e.message = "Number of concurrent connections has exceeded your rate limit of " + strconv.Itoa(l.of.Concurrent) + "."
	case limitTokens:
		e.message = "This request would exceed the rate limit for your organization of " + strconv.Itoa(l.of.Tokens) + " tokens per " + l.of.Per.String() + "."
	default:
		e.message = "This request would exceed the rate limit for your organization of " + strconv.Itoa(l.of.Requests) + " requests per " + l.of.Per.String() + "."
	}
	return e
}

// coded takes a status as the type that errors of this status have, and any other
// code as the one in the details.
func (p anthropic) coded(e *apiError, code string) {
	if status := statusOf(statusPrefix + code); status != 0 {
		as := p.words(nil, statusPrefix+code)
		e.typ, e.message, e.code = as.typ, as.message, ""
		return
	}
	e.code = code
}

// failure writes {"type": "error", "error": {…}, "request_id"}.
func (anthropic) failure(c *call, e *apiError) []byte {
	b := append(make([]byte, 0, 256), `{"type":"error","error":{"type":`...)
	b = appendString(b, e.typ)
	b = append(b, `,"message":`...)
	b = appendString(b, e.message)
	if e.code != "" {
		b = append(appendString(append(b, `,"details":{"error_code":`...), e.code), '}')
	}
	b = append(b, `},"request_id":`...)
	return append(appendString(b, c.requestID), '}')
}

// broken writes the event error.
func (p anthropic) broken(dst []byte, c *call, _ *answer, e *apiError, _ int) []byte {
	return appendEvent(dst, c, "error", p.failure(c, e))
}

const (
	eventPing = "ping"
	pingData  = `{"type":"ping"}`
	eventStop = "message_stop"
)

func (anthropic) farewell(*call) (name, data string) {
	return eventStop, `{"type":"` + eventStop + `"}`
}

// stamp sets request-id and, with a quota that says so, anthropic-ratelimit-*.
func (anthropic) stamp(h http.Header, c *call, s stamp) {
	h["Request-Id"] = []string{c.requestID}
	h["Anthropic-Organization-Id"] = []string{"00000000-0000-4000-8000-000000000000"}
	l := s.limits
	if l == nil || !l.of.Headers {
		return
	}
	reset := time.Now().Add(l.reset).UTC().Format(time.RFC3339)
	tell := func(what string, limit, left int) {
		if limit > 0 {
			h.Set("Anthropic-Ratelimit-"+what+"-Limit", strconv.Itoa(limit))
			h.Set("Anthropic-Ratelimit-"+what+"-Remaining", strconv.Itoa(left))
			h.Set("Anthropic-Ratelimit-"+what+"-Reset", reset)
		}
	}
	tell("Requests", l.of.Requests, l.requests)
	tell("Tokens", l.of.Tokens, l.tokens)
}

// wrongMessages is a refusal of a request.
func wrongMessages(path, problem string) *apiError {
	if path != "" {
		problem = path + ": " + problem
	}
	return &apiError{status: http.StatusBadRequest, typ: "invalid_request_error", message: problem}
}
