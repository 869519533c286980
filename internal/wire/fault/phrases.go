package fault

import "strings"

// codeOrder is the order in which structured codes are looked for when a body
// holds several.
var codeOrder = []Kind{
	ContextLength, Quota, ContentPolicy, NotFound, Auth, Overloaded, RateLimit, Timeout, Conflict, Server, BadRequest,
}

// codes are the machine-readable words of error bodies, lower case: values of
// code, type, status and reason.
var codes = map[string]Kind{
	"context_length_exceeded":       ContextLength,
	"context_window_exceeded":       ContextLength,
	"exceed_context_size_error":     ContextLength, // llama.cpp
	"model_context_window_exceeded": ContextLength,

	"insufficient_quota":                      Quota,
	"credit_balance_exhausted":                Quota,
	"organization_spend_limit_exceeded":       Quota,
	"project_spend_limit_exceeded":            Quota,
	"organization_usage_limit_exceeded":       Quota,
	"billing_error":                           Quota, // Anthropic, also the next three
	"linked_organization_spend_limit_reached": Quota,
	"enforced_spend_limit_reached":            Quota,
	"contract_spend_limit_reached":            Quota,
	"billing_hard_limit_reached":              Quota,
	"billing_not_active":                      Quota,
	"billing_disabled":                        Quota, // Google
	"insufficient_balance":                    Quota,
	"insufficient_credits":                    Quota,
	"exceeded_current_quota_error":            Quota, // Moonshot
	"arrearage":                               Quota, // DashScope, also the next
	"allocationquota.freetieronly":            Quota,
	"accountoverdueerror":                     Quota, // Volcengine
	"payment_required":                        Quota,
	"content_filter":                          ContentPolicy,
	"content_policy_violation":                ContentPolicy,
	"invalid_prompt":                          ContentPolicy,
	"responsibleaipolicyviolation":            ContentPolicy, // Azure
	"image_content_policy_violation":          ContentPolicy,
	"bio_policy":                              ContentPolicy,
	"moderation_blocked":                      ContentPolicy,
	"datainspectionfailed":                    ContentPolicy, // DashScope
	"data_inspection_failed":                  ContentPolicy,
	"model_not_found":                         NotFound,
	"not_found_error":                         NotFound,
	"not_found":                               NotFound,
	"deploymentnotfound":                      NotFound, // Azure
	"api_key_invalid":                         Auth,     // Google
	"invalid_api_key":                         Auth,
	"authentication_error":                    Auth,
	"invalid_authentication_error":            Auth,
	"permission_error":                        Auth,
	"permission_denied":                       Auth,
	"unauthenticated":                         Auth,
	"account_deactivated":                     Auth,
	"unsupported_country_region_territory":    Auth,
	"overloaded_error":                        Overloaded,
	"server_is_overloaded":                    Overloaded,
	"service_unavailable_error":               Overloaded,
	"engine_overloaded_error":                 Overloaded, // Moonshot
	"unavailable":                             Overloaded, // Google
	"resource_exhausted":                      RateLimit,
	"rate_limit_exceeded":                     RateLimit,
	"rate_limit_error":                        RateLimit,
	"rate_limit_reached_error":                RateLimit,
	"ratelimitexceeded":                       RateLimit,
	"ramp_limit_exceeded":                     RateLimit,
	"slow_down":                               RateLimit,
	"too_many_requests":                       RateLimit,
	"token_quota_reached":                     RateLimit,
	"timeout_error":                           Timeout,
	"deadline_exceeded":                       Timeout,
	"conflict_error":                          Conflict,
	"server_error":                            Server,
	"internal_server_error":                   Server,
	"api_error":                               Server,
	"internal":                                Server,
	"invalid_request_error":                   BadRequest,
	"invalid_argument":                        BadRequest,
	"tool_use_failed":                         BadRequest, // Groq
	"unsupported_parameter":                   BadRequest,
	"unsupported_value":                       BadRequest,
	"invalid_value":                           BadRequest,
}

var moneyPhrases = []string{
	"credit balance is too low",
	"insufficient balance",
	"insufficient credit",
	"insufficient funds",
	"not enough credit",
	"requires more credits",
	"out of credits",
	"any credits",
	"used all available credits",
	"exceeded your current quota",
	"billing hard limit",
	"spending limit",
	"spend limit",
	"check your billing details",
	"enable billing", // Google, where its free tier is not to be had; also the next three
	"billing to be enabled",
	"billing account",
	"billed users",
	"payment required",
	"account is in good standing", // DashScope: an account in arrears
}

var (
	usedUpPhrases = []string{"exceeded", "exhausted", "insufficient", "used up", "run out", "ran out", "reached", "not enough"}
	ratePhrases   = []string{"per minute", "per second", "per-minute", "per day", "rate limit", "rate-limit", "ratelimit"}
)

// tooLong finds the texts that say that the prompt does not fit. Others look
// much like it: a limit on output tokens, on bytes, on the length of a field,
// on tokens per minute.
func tooLong(text string) Kind {
	if containsAny(text, []string{
		"maximum allowed number of output tokens",
		"total message size",
		"string_above_max_length",
		"per minute",
		"per-minute",
	}) {
		return 0
	}
	if containsAny(text, []string{
		"maximum context length",
		"context length",
		"context window",
		"context limit",
		"prompt is too long",
		"input is too long",
		"exceeds the maximum number of tokens allowed",
		"exceeds the available context size",
		"input tokens exceed",
		"token exceed",
		"tokens exceed",
		"too many tokens",
		"too many input tokens",
		"reduce the length of the messages or completion",
		"range of input length should be",
		"exceeded model token limit",
		"maximum input length is",
		"`inputs` tokens + `max_new_tokens` must be",
	}) {
		return ContextLength
	}
	return 0
}

// refused finds the texts of content policies.
func refused(text string) Kind {
	if containsAny(text, []string{
		"content policy",
		"content management policy",
		"usage policy",
		"usage policies",
		"safety system",
		"content filtering policy",
		"the response was blocked",
		"inappropriate content",
	}) {
		return ContentPolicy
	}
	return flagged(text)
}

// flagged finds what a moderation step in front of a model says.
func flagged(text string) Kind {
	if containsAny(text, []string{"input was flagged", "prompt was flagged", "flagged by moderation"}) {
		return ContentPolicy
	}
	return 0
}

// badKey finds a refused credential behind a 400, or an account that is refused
// for the place where it is used.
func badKey(text string) Kind {
	if containsAny(text, []string{
		"api key not valid", "incorrect api key", "invalid api key", "invalid x-api-key", "api key is invalid", "api key expired",
		"user location is not supported", "country, region, or territory not supported",
	}) {
		return Auth
	}
	return 0
}

// noModel finds an unknown model behind a 400.
func noModel(text string) Kind {
	if containsAny(text, []string{
		"is not a valid model", "unknown model", "model not found", "model not exist", "model does not exist",
		"does not exist or you do not have access to it",
	}) {
		return NotFound
	}
	return 0
}

func busy(text string) Kind {
	if containsAny(text, []string{"overloaded", "high demand", "at capacity", "no capacity", "temporarily unavailable"}) {
		return Overloaded
	}
	return 0
}

func limited(text string) Kind {
	if containsAny(text, []string{"rate limit", "rate-limit", "rate_limit", "too many requests", "resource exhausted", "resource has been exhausted"}) {
		return RateLimit
	}
	return 0
}

func timedOut(text string) Kind {
	if containsAny(text, []string{"timed out", "timeout"}) {
		return Timeout
	}
	return 0
}

func containsAny(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
