package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"gatewright/engine"
)

const (
	// maxMessage is how much of a message a client gets, in bytes. Messages
	// quote what the client sent, which may be megabytes.
	maxMessage = 2048
	// maxCode bounds codes, types and parameters that came from an upstream.
	maxCode = 128
)

// errShuttingDown is why requests are cancelled that outlast the drain.
var errShuttingDown = errors.New("the gateway is shutting down")

// Error is what a client is told when its request failed. It is written in the
// shape of the client's protocol.
type Error struct {
	Code    string // of the table, or a policy's or an upstream's own; "" = none
	Status  int    // 0 = the table's
	Message string
	Param   string           // the request field at fault; "" = none
	Skipped []engine.Skipped // removed candidates; nil for callers that may not see routing

	// RequestID is the id of the request, set when the error is told.
	RequestID string

	kind       string              // an upstream's own type; "" = by code or status
	retryAfter string              // header value; "" = none
	header     map[string][]string // upstream headers that may pass on
	inBand     []byte              // the events that end a stream, in its own words; nil = the protocol's
	allow      string              // methods that a 405 names
	close      bool                // the connection cannot be used again
}

// newError returns an error of the table.
func newError(code, message string) *Error { return &Error{Code: code, Message: message} }

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// HTTPStatus returns the status of the answer.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	if status := StatusOf(e.Code); status != 0 {
		return status
	}
	return http.StatusBadGateway
}

// row returns the line of the table whose types hold for the error: its code's,
// unless the status was changed.
func (e *Error) row() *row {
	r := rows[e.Code]
	if r == nil || (r.status != 0 && r.status != e.HTTPStatus()) {
		return nil
	}
	return r
}

// OpenAIType returns the error's type in OpenAI's protocol.
func (e *Error) OpenAIType() string {
	if e.kind != "" {
		return e.kind
	}
	if r := e.row(); r != nil {
		return r.openai
	}
	switch status := e.HTTPStatus(); {
	case status == http.StatusPaymentRequired:
		return typeBilling
	case status == http.StatusForbidden:
		return typePermission
	case status == http.StatusTooManyRequests:
		return typeRateLimit
	case status >= http.StatusInternalServerError:
		return typeUpstream
	}
	return typeInvalidRequest
}

// AnthropicType returns the error's type in Anthropic's protocol; "" leaves it to
// the status. An upstream's own type stands if the protocol has it.
func (e *Error) AnthropicType() string {
	switch e.kind {
	case typeInvalidRequest, typeAuthentication, typeBilling, typePermission, typeRateLimit,
		typeNotFound, typeTooLarge, typeAPI, typeTimeout, typeOverloaded:
		return e.kind
	}
	if r := e.row(); r != nil {
		return r.anthropic
	}
	return ""
}

// explain turns whatever ended a request into what the client is told; nil when
// there is no client any more. fault reports that it is the gateway's own fault
// and somebody must look at err.
func explain(ctx context.Context, err error) (e *Error, fault bool) {
	if own, ok := errors.AsType[*Error](err); ok {
		return own, false
	}
	if refused, ok := errors.AsType[*engine.RefusedError](err); ok {
		e = &Error{
			Code: refused.Code, Status: refused.Status, Message: refused.Message,
			Param: refused.Param, Skipped: refused.Skipped,
		}
		if refused.RetryAfter > 0 {
			e.retryAfter = wholeSeconds(refused.RetryAfter)
		}
		return e, false
	}
	if upstream, ok := errors.AsType[*engine.UpstreamError](err); ok {
		return &Error{
			Code: upstream.Code, Status: upstream.Status, Message: upstream.Message, Param: upstream.Param,
			kind: upstream.Type, retryAfter: upstream.RetryAfter, header: upstream.Header, inBand: upstream.InBand,
		}, false
	}
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errShuttingDown) {
			e = newError(CodeShuttingDown, "the gateway is stopping and could not finish this request in time: send it again")
			e.retryAfter, e.close = "1", true
			return e, false
		}
		return nil, false
	}
	return internalError(), true
}

func internalError() *Error {
	return newError(CodeInternalError, "the gateway met a fault of its own; its log says more under the request id of this answer")
}

// wholeSeconds writes a wait as Retry-After: whole seconds, rounded up, at
// least 1.
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(max(int64(math.Ceil(d.Seconds())), 1), 10)
}
