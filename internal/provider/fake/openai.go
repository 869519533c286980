package fake

import (
	"net/http"
	"strconv"
	"strings"
)

// openAI is OpenAI's protocol, and Azure's paths to it.
type openAI struct{}

var _ protocol = openAI{}

// openAIPaths are the endpoints behind /v1 or behind an Azure deployment.
var openAIPaths = map[string]struct {
	endpoint Endpoint
	method   string
}{
	"/chat/completions": {EndpointChat, http.MethodPost},
	"/completions":      {EndpointCompletions, http.MethodPost},
	"/embeddings":       {EndpointEmbeddings, http.MethodPost},
	"/models":           {EndpointModels, http.MethodGet},

	"/images/generations":   {EndpointImageGenerations, http.MethodPost},
	"/images/edits":         {EndpointImageEdits, http.MethodPost},
	"/images/variations":    {EndpointImageVariations, http.MethodPost},
	"/audio/transcriptions": {EndpointTranscriptions, http.MethodPost},
	"/audio/translations":   {EndpointTranslations, http.MethodPost},
	"/audio/speech":         {EndpointSpeech, http.MethodPost},
	"/moderations":          {EndpointModerations, http.MethodPost},
	"/rerank":               {EndpointRerank, http.MethodPost},

	"/responses":              {EndpointResponses, http.MethodPost},
	"/responses/compact":      {EndpointCompact, http.MethodPost},
	"/responses/input_tokens": {EndpointInputTokens, http.MethodPost},
}

// azureRoot begins the paths of Azure's form, googleRoot those at which Google
// speaks OpenAI's protocol.
const (
	azureRoot  = "/openai/"
	googleRoot = "/v1beta/openai/"
)

// route knows /v1/x, /x, /openai/v1/x, /openai/deployments/NAME/x and
// /v1beta/openai/x.
func (openAI) route(r *http.Request, path string) (*call, bool) {
	c := &call{proto: openAI{}, key: bearer(r.Header), contentType: r.Header.Get("Content-Type")}
	if rest, google := strings.CutPrefix(path, googleRoot); google {
		path = "/" + rest
	}
	rest, azure := strings.CutPrefix(path, azureRoot)
	if azure {
		c.azure = true
		if key := r.Header.Get("Api-Key"); key != "" {
			c.key = key
		}
		if deployment, ok := strings.CutPrefix(rest, "deployments/"); ok {
			name, tail, _ := strings.Cut(deployment, "/")
			c.model, path = name, "/"+tail
			if r.URL.Query().Get("api-version") == "" {
				c.missing = &apiError{status: http.StatusNotFound, code: "404", message: "Resource not found: the query parameter api-version is missing."}
			}
		} else {
			path = "/" + rest
		}
	}
	if tail, ok := strings.CutPrefix(path, "/v1/"); ok && c.model == "" {
		path = "/" + tail
	}
	at, ok := openAIPaths[path]
	if !ok && routeResponses(c, r, path) {
		return c, true
	}
	if id, one := strings.CutPrefix(path, "/models/"); one && id != "" {
		at, ok = openAIPaths["/models"], true
		c.model = id
	}
	c.endpoint, c.method = at.endpoint, at.method
	return c, ok
}

func bearer(h http.Header) string {
	scheme, key, ok := strings.Cut(h.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// failure writes {"error": {…}}. Azure leaves type and param out and writes the
// status as the code, as text, where it has no better one.
func (openAI) failure(c *call, e *apiError) []byte {
	b := append(make([]byte, 0, 256), `{"error":{`...)
	if c.azure {
		code := e.code
		if code == "" || e.status == http.StatusTooManyRequests || e.status == http.StatusUnauthorized {
			code = strconv.Itoa(e.status)
		}
		b = append(b, `"code":`...)
		b = appendString(b, code)
		b = append(b, `,"message":`...)
		b = appendString(b, e.message)
	} else {
		b = append(b, `"message":`...)
		b = appendString(b, e.message)
		b = append(b, `,"type":`...)
		b = appendNullable(b, e.typ)
		b = append(b, `,"param":`...)
		b = appendNullable(b, e.param)
		b = append(b, `,"code":`...)
		b = appendCode(b, e.code)
	}
	if e.extra != "" {
		b = append(b, ',')
		b = append(b, e.extra...)
	}
	return append(b, `}}`...)
}

// appendCode appends a code: a number when it has digits alone.
func appendCode(dst []byte, code string) []byte {
	if n, err := strconv.ParseUint(code, 10, 32); err == nil {
		return strconv.AppendUint(dst, n, 10)
	}
	return appendNullable(dst, code)
}

// stamp sets x-request-id, openai-* and, with a quota that says so,
// x-ratelimit-*.
func (openAI) stamp(h http.Header, c *call, s stamp) {
	h["X-Request-Id"] = []string{c.requestID}
	if c.azure {
		h["Apim-Request-Id"] = []string{c.requestID}
	} else {
		h["Openai-Processing-Ms"] = []string{strconv.FormatInt(s.elapsed.Milliseconds(), 10)}
		h["Openai-Version"] = []string{"2020-10-01"}
	}
	l := s.limits
	if l == nil || !l.of.Headers {
		return
	}
	reset := compact(l.reset)
	if c.azure {
		reset = strconv.FormatInt(int64(l.reset.Seconds()), 10)
	}
	if l.of.Requests > 0 {
		h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(l.of.Requests))
		h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(l.requests))
		h.Set("X-Ratelimit-Reset-Requests", reset)
	}
	if l.of.Tokens > 0 {
		h.Set("X-Ratelimit-Limit-Tokens", strconv.Itoa(l.of.Tokens))
		h.Set("X-Ratelimit-Remaining-Tokens", strconv.Itoa(l.tokens))
		h.Set("X-Ratelimit-Reset-Tokens", reset)
	}
}

func (openAI) farewell(*call) (name, data string) { return "", "[DONE]" }

// broken writes an event with an error object; of a response, the events that
// tell it.
func (p openAI) broken(dst []byte, c *call, a *answer, e *apiError, events int) []byte {
	if c.responses.render != nil {
		return appendFailed(dst, c, a, e, events)
	}
	return appendEvent(dst, c, "", p.failure(c, e))
}
