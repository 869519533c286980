package anthropic

import (
	"net/http"

	"gatewright/internal/wire/scan"
	"gatewright/internal/wire/sse"
)

// statusOverloaded is the protocol's own status for a service that has no room.
const statusOverloaded = 529

// ErrorType returns the error type that the protocol has for an HTTP status.
func ErrorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return "timeout_error"
	case http.StatusServiceUnavailable, statusOverloaded:
		return "overloaded_error"
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}

// AppendError appends an error body of the protocol to dst and returns the
// longer slice. typ is one of the protocol's error types, as [ErrorType] gives
// them; an empty requestID becomes null.
func AppendError(dst []byte, typ, message, requestID string) []byte {
	dst = append(dst, `{"type":"error","error":{"type":`...)
	dst = scan.AppendString(dst, typ)
	dst = append(dst, `,"message":`...)
	dst = scan.AppendString(dst, message)
	dst = append(dst, `},"request_id":`...)
	if requestID == "" {
		return append(dst, "null}"...)
	}
	return append(scan.AppendString(dst, requestID), '}')
}

// AppendErrorEvent appends the same as a framed event of a stream.
func AppendErrorEvent(dst []byte, typ, message, requestID string) []byte {
	return sse.Append(dst, "error", AppendError(nil, typ, message, requestID))
}
