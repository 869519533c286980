package openai

import (
	"errors"
	"fmt"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// Codes of a [RequestError].
const (
	CodeMissing   = "missing_required_parameter"
	CodeType      = "invalid_type"
	CodeValue     = "invalid_value"
	CodeDuplicate = "duplicate_parameter"
	CodeJSON      = "invalid_json"
	CodeForm      = "invalid_request" // a form that cannot be read, or in more than one way
)

// RequestError says what is wrong with a request, in words that its sender can
// act on. It stands for status 400 and type invalid_request_error.
type RequestError struct {
	Param   string // the field, empty if the text itself is at fault
	Code    string // one of the Code constants
	Message string
	err     error
}

// Error returns the message.
func (e *RequestError) Error() string { return e.Message }

// Unwrap returns the *scan.SyntaxError or *scan.DepthError behind an error with
// CodeJSON, what package form said behind one with CodeForm, nil otherwise.
func (e *RequestError) Unwrap() error { return e.err }

// ErrUndecodable says that an answer with a good status is none: it is empty,
// no JSON, or lacks what makes an answer. The error that wraps it says which.
var ErrUndecodable = errors.New("undecodable answer")

func undecodable(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUndecodable}, args...)...)
}

// FaultError is an error object where an answer with a good status should be.
type FaultError struct {
	Fault fault.Fault
}

// Error returns the kind and the message of the fault.
func (e *FaultError) Error() string {
	return "error inside a good answer: " + e.Fault.Kind.String() + ": " + e.Fault.Message
}

// AppendError appends an error body of the protocol to dst and returns the
// longer slice. Empty texts become null, except the message.
func AppendError(dst []byte, message, typ, param, code string) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = scan.AppendString(dst, message)
	for _, f := range [...]struct{ key, value string }{{"type", typ}, {"param", param}, {"code", code}} {
		dst = append(dst, ',', '"')
		dst = append(dst, f.key...)
		dst = append(dst, '"', ':')
		if f.value == "" {
			dst = append(dst, "null"...)
			continue
		}
		dst = scan.AppendString(dst, f.value)
	}
	return append(dst, '}', '}')
}
