package server

import (
	"net/http"

	"gatewright/engine"
)

// The codes of errors that the server gives by itself, beside those of engine.
// They are never renamed.
const (
	CodeInvalidRequest       = "invalid_request"
	CodeInvalidJSON          = "invalid_json"
	CodeInvalidHeader        = "invalid_header"
	CodeInvalidType          = "invalid_type"
	CodeInvalidValue         = "invalid_value"
	CodeMissingParameter     = "missing_required_parameter"
	CodeDuplicateParameter   = "duplicate_parameter"
	CodeUnsupported          = "unsupported_parameter"
	CodeContentFilter        = "content_filter"
	CodeInvalidAPIKey        = "invalid_api_key"
	CodeBudgetExceeded       = "budget_exceeded"
	CodeLoopbackOnly         = "loopback_only"
	CodeBrowserRefused       = "browser_refused"
	CodeNotFound             = "not_found"
	CodeResponseNotFound     = "response_not_found"
	CodePreviousNotFound     = "previous_response_not_found"
	CodeConversationNotFound = "conversation_not_found"
	CodeItemNotFound         = "item_not_found"
	CodeMethodNotAllowed     = "method_not_allowed"
	CodeRequestTimeout       = "request_timeout"
	CodeRequestTooLarge      = "request_too_large"
	CodeUnsupportedMediaType = "unsupported_media_type"
	CodeHeaderTooLarge       = "request_header_fields_too_large"
	CodeRateLimitExceeded    = "rate_limit_exceeded"
	CodeInternalError        = "internal_error"
	CodeOverloaded           = "overloaded"
	CodeShuttingDown         = "shutting_down"
)

// The error types of OpenAI's protocol.
const (
	typeInvalidRequest = "invalid_request_error"
	typeAuthentication = "authentication_error"
	typeBilling        = "billing_error"
	typePermission     = "permission_error"
	typeRateLimit      = "rate_limit_error"
	typeServer         = "server_error"
	typeUnavailable    = "service_unavailable_error"
	typeUpstream       = "upstream_error"
)

// The error types of Anthropic's protocol that OpenAI's does not share.
const (
	typeNotFound   = "not_found_error"
	typeTooLarge   = "request_too_large"
	typeAPI        = "api_error"
	typeTimeout    = "timeout_error"
	typeOverloaded = "overloaded_error"
)

// row is one error of the table.
type row struct {
	code       string
	status     int    // 0 = in band only
	openai     string // error type for clients of OpenAI's protocol
	anthropic  string // and of Anthropic's
	failsOver  bool   // other candidates or fallbacks were tried before it is given
	retryAfter bool   // it may carry Retry-After
	meaning    string
}

// table is every error that a client can get, in the order of docs/errors.md.
// An upstream's own refusal of the caller's request keeps the upstream's code.
var table = []row{
	{CodeInvalidRequest, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the request cannot be read, or can be read in more than one way"},
	{CodeInvalidJSON, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the body is not JSON, or nested too deeply"},
	{CodeInvalidHeader, 400, typeInvalidRequest, typeInvalidRequest, false, false, "a request header of the gateway has a value it does not understand"},
	{CodeInvalidType, 400, typeInvalidRequest, typeInvalidRequest, false, false, "a field of the body has the wrong JSON type"},
	{CodeInvalidValue, 400, typeInvalidRequest, typeInvalidRequest, false, false, "a field of the body is out of bounds"},
	{CodeMissingParameter, 400, typeInvalidRequest, typeInvalidRequest, false, false, "a field that the endpoint needs is missing"},
	{CodeDuplicateParameter, 400, typeInvalidRequest, typeInvalidRequest, false, false, "a field of the body stands there twice, or in another spelling beside it"},
	{CodeUnsupported, 400, typeInvalidRequest, typeInvalidRequest, true, false, "the request asks for something that no deployment which may serve it can do: each speaks another protocol, and no translation carries it"},
	{engine.CodeStrategyOverrideNotAllowed, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the model name chooses a strategy and the key may not"},
	{engine.CodeUnknownStrategy, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the model name chooses a strategy that does not exist"},
	{engine.CodeConflictingSuffixes, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the model name names a provider or a strategy twice"},
	{engine.CodeProviderDisabled, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the provider that the model name asks for is disabled"},
	{engine.CodeProviderNotAllowed, 400, typeInvalidRequest, typeInvalidRequest, false, false, "the provider that the model name asks for is not allowed for the key"},
	{engine.CodeContextLengthExceeded, 400, typeInvalidRequest, typeInvalidRequest, true, false, "the request is longer than the context window; context_window_fallbacks were tried"},
	{CodeContentFilter, 400, typeInvalidRequest, typeInvalidRequest, true, false, "the upstream's content policy refuses the request; content_policy_fallbacks were tried"},
	{CodeInvalidAPIKey, 401, typeAuthentication, typeAuthentication, false, false, "the caller's key is missing, malformed, unknown or disabled"},
	{CodeBudgetExceeded, 402, typeBilling, typeBilling, false, false, "the budget of the key, its team or its org is used up"},
	{engine.CodeNoEligibleCandidate, 403, typePermission, typePermission, false, false, "no deployment of the model may serve this request, for lasting reasons"},
	{engine.CodeModelNotAllowed, 403, typePermission, typePermission, false, false, "the key may not use the model"},
	{CodeLoopbackOnly, 403, typePermission, typePermission, false, false, "no key is defined, so only callers on the gateway's own machine are served"},
	{CodeBrowserRefused, 403, typePermission, typePermission, false, false, "no key is defined and the request comes from a web page of another site"},
	{CodeNotFound, 404, typeInvalidRequest, typeNotFound, false, false, "there is no such path"},
	{engine.CodeModelNotFound, 404, typeInvalidRequest, typeNotFound, false, false, "there is no such model"},
	{CodeResponseNotFound, 404, typeInvalidRequest, typeNotFound, false, false, "there is no such response, or it was not given to this key"},
	{CodePreviousNotFound, 404, typeInvalidRequest, typeNotFound, false, false, "the response that the request continues does not exist, or was not given to this key"},
	{CodeConversationNotFound, 404, typeInvalidRequest, typeNotFound, false, false, "the conversation belongs to another key"},
	{CodeItemNotFound, 404, typeInvalidRequest, typeNotFound, false, false, "the request refers to an item that does not exist, or was not given to this key"},
	{CodeMethodNotAllowed, 405, typeInvalidRequest, typeInvalidRequest, false, false, "the path does not take this method; Allow names those it takes"},
	{CodeRequestTimeout, 408, typeInvalidRequest, typeInvalidRequest, false, false, "the body came too slowly"},
	{CodeRequestTooLarge, 413, typeInvalidRequest, typeTooLarge, false, false, "the body is larger than limits.body"},
	{CodeUnsupportedMediaType, 415, typeInvalidRequest, typeInvalidRequest, false, false, "the body's content type or encoding is not taken"},
	{CodeRateLimitExceeded, 429, typeRateLimit, typeRateLimit, true, true, "a rate limit of the key, or of every upstream that was tried"},
	{engine.CodeAllCandidatesCooling, 429, typeRateLimit, typeRateLimit, true, true, "every candidate is waiting out a rate limit"},
	{engine.CodeAllQuotaExhausted, 429, typeRateLimit, typeRateLimit, true, true, "the quota of every candidate is used up until a known time"},
	{CodeHeaderTooLarge, 431, typeInvalidRequest, typeInvalidRequest, false, false, "the request's headers are larger than limits.header"},
	{CodeInternalError, 500, typeServer, typeAPI, false, false, "a fault of the gateway; the log says more under the request id"},
	{engine.CodeUpstreamConnect, 502, typeUpstream, typeAPI, true, false, "no connection to the upstream"},
	{engine.CodeUpstreamAuth, 502, typeUpstream, typeAPI, true, false, "the upstream refuses the gateway's own credential"},
	{engine.CodeUpstreamBilling, 502, typeUpstream, typeAPI, true, true, "the gateway's account at the upstream is out of credit; 429 when the upstream said 429"},
	{engine.CodeUpstreamModelNotFound, 502, typeUpstream, typeAPI, true, false, "the upstream does not know the model or endpoint"},
	{engine.CodeUpstreamError, 502, typeUpstream, typeAPI, true, true, "the upstream failed; its own status from 500 on is kept"},
	{engine.CodeAllCircuitsOpen, 503, typeUnavailable, typeOverloaded, true, true, "every candidate has failed too often and is being left alone"},
	{engine.CodePolicyError, 503, typeUnavailable, typeAPI, false, false, "an admission policy failed and fails closed"},
	{CodeOverloaded, 503, typeUnavailable, typeOverloaded, false, true, "more requests are running than limits.concurrent"},
	{CodeShuttingDown, 503, typeUnavailable, typeOverloaded, false, true, "the gateway is stopping and could not finish the request in time"},
	{engine.CodeUpstreamTimeout, 504, typeUpstream, typeTimeout, true, false, "the upstream did not answer in time"},
	{engine.CodeUpstreamTruncated, 0, typeUpstream, typeAPI, false, false, "the upstream broke off after part of the answer was sent"},
}

// rows is the table by code.
var rows = func() map[string]*row {
	m := make(map[string]*row, len(table))
	for i := range table {
		m[table[i].code] = &table[i]
	}
	return m
}()

// StatusOf returns the HTTP status of an error code: 0 for one that comes in
// band only, 403 for one that is not in the table, because only policies make
// their own.
func StatusOf(code string) int {
	if r := rows[code]; r != nil {
		return r.status
	}
	return http.StatusForbidden
}
