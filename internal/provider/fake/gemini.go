package fake

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// gemini is Google's generateContent, of the Gemini API and of Vertex AI.
type gemini struct{}

var _ protocol = gemini{}

// makerGoogle signs the thoughts.
const makerGoogle = "google"

// headerGoogleKey holds the key; it may stand in the query, too.
const headerGoogleKey = "X-Goog-Api-Key"

const contentGemini = "application/json; charset=UTF-8"

// geminiPath is a version and a model behind it, of Vertex AI with a project and a
// place before the model.
var geminiPath = regexp.MustCompile(`^/(?:(v1|v1beta|v1alpha|v1beta1)/)?(projects/[^/]+/locations/[^/]+/publishers/google/)?models(?:/(.+))?$`)

var geminiMethods = map[string]Endpoint{
	"generateContent":       EndpointGenerate,
	"streamGenerateContent": EndpointGenerate,
	"countTokens":           EndpointGeminiCount,
	"embedContent":          EndpointGeminiEmbed,
	"batchEmbedContents":    EndpointGeminiEmbed,
}

// route knows /VERSION/models/MODEL:METHOD, the same without a version, and
// Vertex AI's longer form. The list of models is Google's when the version is one
// that only Google has, or the key comes in Google's header.
func (gemini) route(r *http.Request, path string) (*call, bool) {
	at := geminiPath.FindStringSubmatch(path)
	if at == nil {
		return nil, false
	}
	c := &call{
		proto: gemini{}, contentType: r.Header.Get("Content-Type"), json: contentGemini, crlf: true, waits: true,
		version: at[1], method: http.MethodPost,
	}
	c.google.vertex = at[2] != ""
	query := r.URL.Query()
	for _, key := range []string{r.Header.Get(headerGoogleKey), query.Get("key"), bearer(r.Header)} {
		if c.key == "" {
			c.key = key
		}
	}
	model, method, asked := cutLast(at[3], ":")
	if !asked {
		c.endpoint, c.method, c.model = EndpointModels, http.MethodGet, at[3]
		return c, strings.HasPrefix(c.version, "v1alpha") || strings.HasPrefix(c.version, "v1beta") || r.Header.Get(headerGoogleKey) != ""
	}
	endpoint, ok := geminiMethods[method]
	c.endpoint, c.model, c.google.method = endpoint, model, method
	if method == "streamGenerateContent" {
		c.stream = query.Get("alt") == "sse"
		c.array = !c.stream
	}
	return c, ok
}

// cutLast cuts a text around the last separator in it.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// googleCall is what belongs to calls of Google's alone.
type googleCall struct {
	method string
	vertex bool
	// batch is set for several embeddings.
	batch bool
}

// geminiWords are Google's words for the cases that have a name.
var geminiWords = map[string]apiError{
	"context-length": {
		status: http.StatusBadRequest, typ: "INVALID_ARGUMENT",
		message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
	},
	"content-filter": {
		status: http.StatusOK, typ: "INVALID_ARGUMENT", blocks: "SAFETY", message: "The prompt was blocked for safety.",
	},
	"content-policy": {
		status: http.StatusOK, typ: "INVALID_ARGUMENT", blocks: "PROHIBITED_CONTENT", message: "The prompt holds content that is prohibited.",
	},
	"insufficient-quota": {
		status: http.StatusPaymentRequired, typ: "FAILED_PRECONDITION", message: "The prepaid credits of this project are used up. Please add credits to go on.",
	},
	"credit-balance": {
		status: http.StatusBadRequest, typ: "FAILED_PRECONDITION",
		message: "The free tier is not available for this project. Please enable billing on your project.",
	},
	"rate-limit-hint": {
		status: http.StatusTooManyRequests, typ: "RESOURCE_EXHAUSTED", message: geminiExhausted,
		extra: geminiPerMinute, retryAfter: []string{"52"},
	},
	"model-not-found": {status: http.StatusNotFound, typ: "NOT_FOUND", message: geminiNoModel},
	"invalid-key": {
		status: http.StatusBadRequest, typ: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key.",
		extra: `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}`,
	},
	"overloaded": {status: http.StatusServiceUnavailable, typ: "UNAVAILABLE", message: "The model is overloaded. Please try again later."},
	sayNoKey: {
		status: http.StatusForbidden, typ: "PERMISSION_DENIED",
		message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
	},
	sayNoPath:   {status: http.StatusNotFound, typ: "NOT_FOUND", message: "Method not found: {request}"},
	sayMethod:   {status: http.StatusNotFound, typ: "NOT_FOUND", message: "Method not found: {request}; use {allowed}"},
	sayTooLarge: {status: http.StatusBadRequest, typ: "INVALID_ARGUMENT", message: "Request payload size exceeds the limit: {limit} bytes."},
	sayUnknown:  {status: http.StatusNotFound, typ: "NOT_FOUND", message: geminiNoModel},
	sayBroken:   {number: http.StatusInternalServerError, typ: "INTERNAL", message: "An internal error has occurred."},
	sayProvider: {number: http.StatusInternalServerError, typ: "INTERNAL", message: "An internal error has occurred."},
}

const (
	geminiNoModel = "models/{model} is not found for API version v1beta, or is not supported for generateContent. " +
		"Call ModelService.ListModels to see the list of available models and their supported methods."
	geminiExhausted = "You exceeded your current quota, please check your plan and billing details."
	geminiPerMinute = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":` +
		`"generativelanguage.googleapis.com/generate_content_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]}`
)

// geminiStates are the names of statuses.
var geminiStates = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
	413: "INVALID_ARGUMENT", 416: "OUT_OF_RANGE", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 501: "UNIMPLEMENTED",
	503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

func (gemini) words(_ *call, what string) apiError {
	status := statusOf(what)
	if status == 0 {
		return geminiWords[what]
	}
	e := apiError{status: status, typ: geminiStates[status], message: http.StatusText(status)}
	switch status {
	case http.StatusTooManyRequests:
		e.message = "Resource has been exhausted (e.g. check quota)."
	case http.StatusServiceUnavailable:
		e.message = geminiWords["overloaded"].message
	}
	if e.typ == "" {
		e.typ = "UNKNOWN"
	}
	if e.message == "" {
		e.message = "status " + strconv.Itoa(status)
	}
	return e
}

// exceeded is the 429 of a quota.
func (gemini) exceeded(*call, *limits) apiError {
	return apiError{status: http.StatusTooManyRequests, typ: "RESOURCE_EXHAUSTED", message: geminiExhausted, extra: geminiPerMinute}
}

// coded takes a status as the one that the body names, the reason of a block as
// that, and any other code as the reason in the details.
func (p gemini) coded(e *apiError, code string) {
	if e.blocks != "" {
		e.blocks = code
		return
	}
	if status := statusOf(statusPrefix + code); status != 0 {
		as := p.words(nil, statusPrefix+code)
		e.number, e.typ, e.message, e.extra = status, as.typ, as.message, ""
		return
	}
	e.extra = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":` + string(appendString(nil, code)) + `,"domain":"googleapis.com"}`
}

// failure writes {"error": {"code", "message", "status", "details"}}; in the place
// of an array, as the only element of one. How long to wait stands among the
// details.
func (gemini) failure(c *call, e *apiError) []byte {
	b := make([]byte, 0, 256)
	if c.array {
		b = append(b, '[')
	}
	number := e.number
	if number == 0 {
		number = e.status
	}
	b = appendField(b, `{"error":{"code":`, number)
	b = appendString(append(b, `,"message":`...), e.message)
	b = appendString(append(b, `,"status":`...), e.typ)
	var details []string
	if e.extra != "" {
		details = append(details, e.extra)
	}
	if len(e.retryAfter) > 0 {
		details = append(details, retryInfo(e.retryAfter[0]))
	}
	if len(details) > 0 {
		b = append(append(append(b, `,"details":[`...), strings.Join(details, ",")...), ']')
	}
	b = append(b, "}}"...)
	if c.array {
		b = append(b, ']')
	}
	return b
}

// retryInfo tells how long to wait: a number is one of seconds, anything else is
// told as it is.
func retryInfo(wait string) string {
	if _, err := strconv.ParseFloat(wait, 64); err == nil {
		wait += "s"
	}
	return `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":` + string(appendString(nil, wait)) + `}`
}

// broken writes an event with an error object.
func (p gemini) broken(dst []byte, c *call, _ *answer, e *apiError, _ int) []byte {
	return appendEvent(dst, c, "", p.failure(c, e))
}

func (gemini) farewell(*call) (name, data string) { return "", "" }

// stamp sets what Google's front end sends; there is nothing of quotas in it.
func (gemini) stamp(h http.Header, _ *call, s stamp) {
	h["Server-Timing"] = []string{"gfet4t7; dur=" + strconv.FormatInt(s.elapsed.Milliseconds(), 10)}
}
