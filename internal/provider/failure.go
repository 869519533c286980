package provider

import (
	"net/http"
	"strings"
	"time"

	"gatewright/engine"
	"gatewright/internal/wire/fault"
)

// Failure is a call that brought no answer: what went wrong, in the words of
// the upstream where it had any. All texts are safe to show.
type Failure struct { //nolint:errname // a failed call is a Failure, as it has a FailureClass
	Class engine.FailureClass
	// Status is the HTTP status that the failure amounts to: the upstream's own,
	// or the one that an error inside a good answer stands for; 0 = none.
	Status int
	// Code, Type, Param and Message are the upstream's; Message is never empty.
	Code, Type, Param, Message string
	// Cooldown is the wait that a valid Retry-After asks for; 0 = none.
	Cooldown time.Duration
	// Unfit says that nothing was sent, since the deployment cannot serve what the
	// request asks for, though another may: it is passed over as if admission had
	// removed it. Class is ClassLocal then.
	Unfit bool
	// RetryAfter is a Retry-After that may go to the client as it came although
	// it cools nothing; "" = none.
	RetryAfter string
	// Header is what of the upstream's headers may go to the client.
	Header http.Header
	// Err is the cause, for debugging; nil = none. It may name addresses.
	Err error
}

// Error returns the class and the message.
func (f *Failure) Error() string { return f.Class.String() + ": " + f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// BadAnswer is the failure of an answer that cannot be used, whatever its
// status: empty, undecodable, broken off, too large. message says which; err
// may be nil.
func BadAnswer(message string, err error) *Failure {
	return &Failure{Class: engine.ClassServer, Message: message, Err: err}
}

// FromFault makes the failure of an error answer. status and h are those of the
// HTTP answer, f is what was read in its body (or in an error object that came
// with status 200).
func FromFault(status int, h http.Header, f *fault.Fault, now time.Time) *Failure {
	out := &Failure{
		Class: classOf(f), Status: f.Status,
		Code: f.Code, Type: f.Type, Param: f.Param, Message: f.Message,
		Header: ResponseHeader(h),
	}
	switch {
	case status == http.StatusTooManyRequests || out.Class == engine.ClassQuota:
		// Only these two cool a deployment down.
		out.Cooldown, _ = RetryAfter(h, now)
		if out.Cooldown > 0 && out.Class == engine.ClassRateLimit {
			out.Class = engine.ClassRateLimitTimed
		}
	case status >= http.StatusInternalServerError:
		if _, ok := RetryAfter(h, now); ok {
			out.RetryAfter = h.Get("Retry-After")
		}
	}
	return out
}

// CodeUnsupported is the code of a request that asks for something which none of
// the deployments that might have served it can do.
const CodeUnsupported = "unsupported_parameter"

// Unfit is the failure of a deployment that cannot serve what the request asks
// for in param, a field of the client's body; message says why.
func Unfit(param, message string) *Failure {
	return &Failure{
		Class: engine.ClassLocal, Unfit: true, Status: http.StatusBadRequest,
		Code: CodeUnsupported, Type: invalidRequest, Param: param, Message: message,
	}
}

// Invalid is the failure of a request that is wrong in its own protocol, whatever
// the upstream: param is the field of the client's body.
func Invalid(param, message string) *Failure {
	return &Failure{
		Class: engine.ClassClient, Status: http.StatusBadRequest,
		Code: "invalid_value", Type: invalidRequest, Param: param, Message: message,
	}
}

// invalidRequest is the type of an error that is the caller's, in all protocols.
const invalidRequest = "invalid_request_error"

// Hint adds the wait that the body of an error asks for, where its headers named
// none: a rate limit then has a time, as with a Retry-After. 0 is no wait.
func (f *Failure) Hint(wait time.Duration) {
	if wait <= 0 || f.Cooldown > 0 {
		return
	}
	switch f.Class { //nolint:exhaustive // only these two cool a deployment down
	case engine.ClassRateLimit:
		f.Class = engine.ClassRateLimitTimed
	case engine.ClassQuota:
	default:
		return
	}
	f.Cooldown = min(wait, maxRetryAfter)
}

// classOf maps the kind of a fault.
func classOf(f *fault.Fault) engine.FailureClass {
	switch f.Kind {
	case fault.ContextLength:
		return engine.ClassContext
	case fault.ContentPolicy:
		return engine.ClassContent
	case fault.Quota:
		return engine.ClassQuota
	case fault.RateLimit:
		return engine.ClassRateLimit
	case fault.Auth:
		return engine.ClassAuth
	case fault.NotFound:
		return engine.ClassNotFound
	case fault.Conflict:
		return engine.ClassConflict
	case fault.Timeout:
		if f.Status == http.StatusRequestTimeout {
			return engine.ClassConflict
		}
	case fault.BadRequest:
		if f.Status < http.StatusInternalServerError {
			return engine.ClassClient
		}
	case fault.Overloaded, fault.Server:
	}
	return engine.ClassServer
}

// upstreamError is what the caller gets when this failure is the last. What is
// our or the provider's fault never looks like the caller's. earliest is the
// soonest end of the waits that rate limits of this request asked for; 0 =
// none.
func (f *Failure) upstreamError(earliest time.Duration) *engine.UpstreamError {
	e := &engine.UpstreamError{Class: f.Class, Header: f.Header, Message: f.Message}
	switch f.Class {
	case engine.ClassConnect:
		e.Status, e.Code = http.StatusBadGateway, engine.CodeUpstreamConnect
	case engine.ClassTimeout:
		e.Status, e.Code = http.StatusGatewayTimeout, engine.CodeUpstreamTimeout
	case engine.ClassRateLimitTimed, engine.ClassRateLimit:
		f.ownWords(e, http.StatusTooManyRequests, "rate_limit_exceeded")
		if f.Class == engine.ClassRateLimitTimed {
			e.RetryAfter = seconds(earliest)
		}
	case engine.ClassQuota:
		e.Status, e.Code = http.StatusBadGateway, engine.CodeUpstreamBilling
		e.Message = "the account at the upstream is out of quota or credit"
		if f.Status == http.StatusTooManyRequests {
			e.Status = f.Status
			e.RetryAfter = seconds(f.Cooldown)
		}
	case engine.ClassConflict:
		e.Status, e.Code = http.StatusBadGateway, engine.CodeUpstreamError
		if f.Status == http.StatusRequestTimeout {
			e.Status, e.Code = http.StatusGatewayTimeout, engine.CodeUpstreamTimeout
		}
	case engine.ClassAuth:
		e.Status, e.Code = http.StatusBadGateway, engine.CodeUpstreamAuth
		e.Message = "the upstream refused the gateway's credential"
	case engine.ClassNotFound:
		e.Status, e.Code = http.StatusBadGateway, engine.CodeUpstreamModelNotFound
		e.Message = "the upstream does not know the model or the endpoint"
	case engine.ClassContext:
		e.Status, e.Code, e.Type = http.StatusBadRequest, engine.CodeContextLengthExceeded, invalidRequest
		e.Param = f.Param
	case engine.ClassContent:
		f.ownWords(e, within(f.Status, http.StatusBadRequest), "content_filter")
	case engine.ClassClient:
		f.ownWords(e, within(f.Status, http.StatusBadRequest), "")
	case engine.ClassTruncated:
		e.Status, e.Code, e.Committed = http.StatusBadGateway, engine.CodeUpstreamTruncated, true
	case engine.ClassLocal:
		e.Status, e.Code, e.Type, e.Param = http.StatusBadGateway, engine.CodeUpstreamError, f.Type, f.Param
		if f.Unfit {
			e.Status, e.Code = f.Status, f.Code
		}
	case engine.ClassServer, engine.ClassNone, engine.ClassCancelled:
		e.Status, e.Code = http.StatusBadGateway, engine.CodeUpstreamError
		if f.Status >= http.StatusInternalServerError {
			f.ownWords(e, f.Status, engine.CodeUpstreamError)
			e.RetryAfter = f.RetryAfter
		}
	}
	return e
}

// ownWords keeps the upstream's status, code, type and param. A code of digits
// says no more than a status.
func (f *Failure) ownWords(e *engine.UpstreamError, status int, code string) {
	e.Status, e.Code, e.Type, e.Param = status, f.Code, f.Type, f.Param
	if strings.Trim(f.Code, "0123456789") == "" {
		e.Code = code
	}
}

// within returns a status of the caller's own errors, or instead of any other
// the given one.
func within(status, instead int) int {
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError {
		return instead
	}
	return status
}
