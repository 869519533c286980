package engine

import (
	"fmt"
	"time"
)

// The codes of errors that the engine gives to a client. They are never
// renamed.
const (
	CodeStrategyOverrideNotAllowed = "strategy_override_not_allowed"
	CodeUnknownStrategy            = "unknown_strategy"
	CodeConflictingSuffixes        = "conflicting_suffixes"
	CodeProviderDisabled           = "provider_disabled"
	CodeProviderNotAllowed         = "provider_not_allowed"
	CodeContextLengthExceeded      = "context_length_exceeded"
	CodeNoEligibleCandidate        = "no_eligible_candidate"
	CodeModelNotAllowed            = "model_not_allowed"
	CodeModelNotFound              = "model_not_found"
	CodeAllCandidatesCooling       = "all_candidates_cooling"
	CodeAllQuotaExhausted          = "all_quota_exhausted"
	CodeAllCircuitsOpen            = "all_circuits_open"
	CodePolicyError                = "policy_error"
)

// The codes of errors that an executor gives when every attempt failed.
const (
	CodeUpstreamConnect       = "upstream_connect"
	CodeUpstreamAuth          = "upstream_auth"
	CodeUpstreamBilling       = "upstream_billing"
	CodeUpstreamModelNotFound = "upstream_model_not_found"
	CodeUpstreamError         = "upstream_error"
	CodeUpstreamTimeout       = "upstream_timeout"
	CodeUpstreamTruncated     = "upstream_truncated"
)

// RefusedError is a request that was refused here, before any upstream was
// called. Status follows from Code, except where a policy gave its own.
type RefusedError struct {
	Code       string
	Status     int // 0 = the status of Code
	Message    string
	Param      string        // the request field at fault; "" = none
	RetryAfter time.Duration // 0 = none
	Skipped    []Skipped     // for callers with ExposeRouting
}

// Error returns the code and the message.
func (e *RefusedError) Error() string { return e.Code + ": " + e.Message }

// UpstreamError is what the caller gets when every attempt failed, or the
// upstream judged the request itself to be wrong.
type UpstreamError struct {
	Code       string // ours, or for a 4xx of the caller's own the upstream's
	Type       string // upstream's error type for the caller's own 4xx; "" = by status
	Param      string
	Message    string              // sanitised: no markup, no secret
	Status     int                 // for the client
	RetryAfter string              // header value to pass on; "" = none
	Header     map[string][]string // upstream headers that may pass on
	Class      FailureClass
	Committed  bool // part of the answer had been sent: report in band
	// InBand are the events that end a committed stream in the words of its
	// protocol, where the executor knows better how it stands than the server
	// does; nil = the server's words.
	InBand []byte
}

// Error returns status, code and message.
func (e *UpstreamError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}
