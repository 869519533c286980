package fake

import (
	"net/http"
	"strconv"
	"strings"
)

// openAIWords are OpenAI's words for the cases that have a name, and Azure's for
// a prompt that is refused there.
var openAIWords = map[string]apiError{
	"context-length": {
		status: http.StatusBadRequest, typ: "invalid_request_error", code: "context_length_exceeded", param: "messages",
		message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
	},
	"content-filter": {
		status: http.StatusBadRequest, code: "content_filter", param: "prompt",
		message: "The prompt was filtered due to the content management policy. Please change the prompt and try again.",
		extra:   `"status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"high"}}}`,
	},
	"content-policy": {
		status: http.StatusBadRequest, typ: "invalid_request_error", code: "invalid_prompt",
		message: "Invalid prompt: the prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
	},
	"insufficient-quota": {
		status: http.StatusTooManyRequests, typ: "insufficient_quota", code: "insufficient_quota",
		message: "You exceeded your current quota, please check your plan and billing details.",
	},
	"credit-balance": {
		status: http.StatusBadRequest, typ: "invalid_request_error",
		message: "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.",
	},
	"rate-limit-hint": {
		status: http.StatusTooManyRequests, typ: "tokens", code: "rate_limit_exceeded",
		message: "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 1500. Please try again in 52s.",
		extra:   `"resets_in_seconds":52,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"52s"}]`,
	},
	"model-not-found": {
		status: http.StatusNotFound, typ: "invalid_request_error", code: "model_not_found",
		message: "The model does not exist or you do not have access to it.",
	},
	"invalid-key": {
		status: http.StatusUnauthorized, typ: "invalid_request_error", code: "invalid_api_key",
		message: "Incorrect API key provided.",
	},
	"overloaded": {
		status: http.StatusServiceUnavailable, typ: "service_unavailable_error", code: "server_is_overloaded",
		message: "The engine is currently overloaded, please try again later.",
	},
	sayNoKey: {
		status: http.StatusUnauthorized, typ: "invalid_request_error",
		message: "No API key provided. Send it in the Authorization header, as Bearer YOUR_KEY.",
	},
	sayNoPath: {status: http.StatusNotFound, typ: "invalid_request_error", message: "Invalid URL ({request})"},
	sayMethod: {
		status: http.StatusMethodNotAllowed, typ: "invalid_request_error",
		message: "Not allowed to {method} on {path}; use {allowed}.",
	},
	sayTooLarge: {
		status: http.StatusRequestEntityTooLarge, typ: "invalid_request_error",
		message: "The request body is longer than {limit} bytes.",
	},
	sayUnknown: {
		status: http.StatusNotFound, typ: "invalid_request_error", code: "model_not_found",
		message: "The model `{model}` does not exist or you do not have access to it.",
	},
	sayBroken:   {typ: "server_error", message: "The server had an error while processing your request."},
	sayProvider: {typ: "server_error", code: defaultErrorCode, message: "The provider returned an error."},
}

// openAIStatuses are the words for the statuses that have some of their own.
var openAIStatuses = map[int]apiError{
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

// words finds what OpenAI says. The Responses endpoints do not know a model with
// another status than the others.
func (openAI) words(c *call, what string) apiError {
	status := statusOf(what)
	if status == 0 {
		e := openAIWords[what]
		if what == sayUnknown && c.responses.render != nil {
			e.status, e.param = http.StatusBadRequest, "model"
		}
		return e
	}
	e, ok := openAIStatuses[status]
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

// exceeded is the 429 of a quota.
func (openAI) exceeded(c *call, l *limits) apiError {
	e := apiError{status: http.StatusTooManyRequests, typ: l.exceeded, code: "rate_limit_exceeded"}
	of := strconv.Itoa(l.of.Requests)
	switch l.exceeded {
	case limitConcurrent:
		e.typ = limitRequests
		e.message = "Rate limit reached for " + c.model + " on concurrent requests: Limit " + strconv.Itoa(l.of.Concurrent) + "."
		return e
	case limitTokens:
		of = strconv.Itoa(l.of.Tokens)
	}
	e.message = strings.Join([]string{
		"Rate limit reached for ", c.model, " on ", l.exceeded, ": Limit ", of,
		" per ", l.of.Per.String(), ". Please try again in ", compact(l.reset), ".",
	}, "")
	return e
}

func (openAI) coded(e *apiError, code string) { e.code = code }
