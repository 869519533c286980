package fake

import (
	"maps"
	"net/http"
	"strconv"
	"time"
)

// statusFaults answer with a status that is no success, in the maker's own
// words.
func statusFaults() []faultDef {
	words := params("code", "type", "message", "retry_after", "headers", "body")
	named := func(name, does string, e apiError, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "status", Does: does, Applies: AppliesAny, Params: words, Matrix: matrix},
			play:      func(x *exchange) { x.refuse(x.reworded(e)) },
		}
	}
	return []faultDef{
		{
			FaultInfo: FaultInfo{
				Name: statusPrefix + "NNN", Class: "status", Applies: AppliesAny,
				Does:   "the status NNN, 100 to 599, with an error body that suits it; 1xx comes before the normal answer, 101 ends the talk, 2xx carries the normal answer (206 its first half), 3xx leads to location, 204, 205 and 304 have no body",
				Params: params("code", "type", "message", "retry_after", "headers", "body", "location"),
				Matrix: []string{
					"F28", "F29", "F30", "F31", "F32", "F34", "F35", "F36", "F37", "F38", "F40", "F41", "F42", "F43", "F44", "F45", "F46", "F47",
				},
			},
			play: playStatus,
		},
		named("context-length", "400 context_length_exceeded", apiError{
			status: http.StatusBadRequest, typ: "invalid_request_error", code: "context_length_exceeded", param: "messages",
			message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
		}, "F38"),
		named("content-filter", "400 content_filter, as Azure refuses a prompt", apiError{
			status: http.StatusBadRequest, code: "content_filter", param: "prompt",
			message: "The prompt was filtered due to the content management policy. Please change the prompt and try again.",
			extra:   `"status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"high"}}}`,
		}, "F39"),
		named("content-policy", "400 invalid_prompt, as OpenAI refuses a prompt", apiError{
			status: http.StatusBadRequest, typ: "invalid_request_error", code: "invalid_prompt",
			message: "Invalid prompt: the prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
		}, "F39"),
		named("insufficient-quota", "429 insufficient_quota: the account has no money left", apiError{
			status: http.StatusTooManyRequests, typ: "insufficient_quota", code: "insufficient_quota",
			message: "You exceeded your current quota, please check your plan and billing details.",
		}, "F41"),
		named("credit-balance", "400 with the words of an empty account, as Anthropic says it", apiError{
			status: http.StatusBadRequest, typ: "invalid_request_error",
			message: "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.",
		}, "F41"),
		named("rate-limit-hint", "429 that tells how long to wait in its body alone", apiError{
			status: http.StatusTooManyRequests, typ: "tokens", code: "rate_limit_exceeded",
			message: "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 1500. Please try again in 52s.",
			extra:   `"resets_in_seconds":52,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"52s"}]`,
		}, "F33"),
		named("model-not-found", "404 model_not_found", apiError{
			status: http.StatusNotFound, typ: "invalid_request_error", code: "model_not_found",
			message: "The model does not exist or you do not have access to it.",
		}, "F42"),
		named("invalid-key", "401 invalid_api_key", apiError{
			status: http.StatusUnauthorized, typ: "invalid_request_error", code: "invalid_api_key",
			message: "Incorrect API key provided.",
		}, "F40"),
		named("overloaded", "503 server_is_overloaded", apiError{
			status: http.StatusServiceUnavailable, typ: "service_unavailable_error", code: "server_is_overloaded",
			message: "The engine is currently overloaded, please try again later.",
		}, "F34", "F35"),
	}
}

// reworded is e with the words that the script gives.
func (x *exchange) reworded(e apiError) *apiError {
	if x.fault.Code != "" {
		e.code = x.fault.Code
	}
	if x.fault.Type != "" {
		e.typ = x.fault.Type
	}
	if x.fault.Message != "" {
		e.message = x.fault.Message
	}
	return &e
}

// statusErrors are the words for the statuses that have some of their own.
var statusErrors = map[int]apiError{
	400: {typ: "invalid_request_error", message: "The request was not valid."},
	401: {typ: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided."},
	402: {typ: "billing_error", code: "insufficient_credits", message: "This account has no credits left."},
	403: {typ: "permission_error", code: "permission_denied", message: "This key may not use the requested resource."},
	404: {typ: "invalid_request_error", code: "model_not_found", message: "The model does not exist or you do not have access to it."},
	405: {typ: "invalid_request_error", message: "The method is not allowed here."},
	408: {typ: "timeout_error", message: "The request took too long."},
	409: {typ: "conflict_error", message: "The request is in conflict with another one."},
	410: {typ: "invalid_request_error", code: "model_deprecated", message: "The model was retired."},
	413: {typ: "invalid_request_error", code: "request_too_large", message: "The request is too large."},
	422: {typ: "invalid_request_error", message: "The request could not be processed."},
	425: {typ: "invalid_request_error", message: "The request came too early."},
	429: {typ: "requests", code: "rate_limit_exceeded", message: "Rate limit reached on requests per min (RPM)."},
	502: {typ: "server_error", message: "Bad gateway."},
	503: {typ: "service_unavailable_error", code: "server_is_overloaded", message: "The engine is currently overloaded, please try again later."},
	504: {typ: "timeout_error", message: "The engine did not answer in time."},
	529: {typ: "overloaded_error", message: "Overloaded."},
}

// errorOf is the error of a status.
func errorOf(status int) apiError {
	e, ok := statusErrors[status]
	switch {
	case ok:
	case status >= http.StatusInternalServerError:
		e = apiError{typ: "server_error", message: "The server had an error while processing your request."}
	default:
		e = apiError{typ: "invalid_request_error", message: "The request was refused with status " + strconv.Itoa(status) + "."}
	}
	e.status = status
	return e
}

// playStatus answers with the status of an http-NNN.
func playStatus(x *exchange) {
	status := x.def.status
	switch {
	case status == http.StatusSwitchingProtocols:
		h := x.header("")
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", "simulated")
		x.raw(status, rawHead("HTTP/1.1", status, h))
	case status < http.StatusOK:
		x.interim(status)
		x.give()
	case status == http.StatusPartialContent:
		x.partial()
	case status < http.StatusMultipleChoices && !bodiless(status):
		x.status = status
		if x.fault.Body != nil {
			x.sendWhole(status, contentJSON, []byte(*x.fault.Body))
			return
		}
		x.give()
	case bodiless(status):
		h := x.header("")
		if status == http.StatusResetContent {
			h.Set("Content-Length", "0")
		}
		x.begin(status)
	case status < http.StatusBadRequest:
		x.redirect(status)
	default:
		x.refuse(x.reworded(errorOf(status)))
	}
}

// interim sends an informational answer ahead of the final one.
func (x *exchange) interim(status int) {
	h := x.w.Header()
	h.Set("Link", "</simulated.css>; rel=preload; as=style")
	maps.Copy(h, x.fault.Headers)
	x.w.WriteHeader(status)
	clear(h)
	x.fault.Headers = nil
}

// partial answers 206 with the first half of the normal answer.
func (x *exchange) partial() {
	body := x.render().buf
	h := x.header(x.call.answerType())
	h.Set("Content-Range", "bytes 0-"+strconv.Itoa(len(body)/2-1)+"/"+strconv.Itoa(len(body)))
	x.begin(http.StatusPartialContent)
	x.write(body[:len(body)/2])
}

func (x *exchange) redirect(status int) {
	h := x.header("")
	h.Set("Location", x.root+"/redirected")
	if x.fault.Location != "" {
		h.Set("Location", x.fault.Location)
	}
	body := ""
	if x.fault.Body != nil {
		body = *x.fault.Body
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.begin(status)
	x.put([]byte(body))
}

// delay is the wait that a fault is about.
func (x *exchange) delay(otherwise time.Duration) time.Duration {
	if x.fault.Delay != 0 {
		return x.fault.Delay
	}
	return otherwise
}

// size is the length that a fault is about.
func (x *exchange) size(otherwise int64) int64 {
	if x.fault.Size != 0 {
		return x.fault.Size
	}
	return otherwise
}

// count is the number that a fault is about.
func (x *exchange) count(otherwise int) int {
	if x.fault.Count != 0 {
		return x.fault.Count
	}
	return otherwise
}

// after is how many content events go out before a stream is struck.
func (x *exchange) after() int {
	if x.fault.After != nil {
		return *x.fault.After
	}
	return defaultAfter
}

const defaultAfter = 3
