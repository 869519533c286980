package responses

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
)

// RequestError says what is wrong with a request, in words that its sender can
// act on. It stands for status 400 and type invalid_request_error. The error
// body is that of OpenAI's other endpoints.
type RequestError struct {
	Param   string // the field, empty if the text itself is at fault
	Code    string // one of the Code constants
	Message string
	err     error
}

// Error returns the message.
func (e *RequestError) Error() string { return e.Message }

// Unwrap returns the *scan.SyntaxError or *scan.DepthError behind an error with
// CodeJSON, nil otherwise.
func (e *RequestError) Unwrap() error { return e.err }

func jsonError(err error) error {
	what := "the body is not valid JSON: "
	if _, ok := errors.AsType[*scan.DepthError](err); ok {
		what = "the body is "
	}
	return &RequestError{Code: CodeJSON, Message: what + err.Error(), err: err}
}

func missing(param, why string) error {
	return &RequestError{Param: param, Code: CodeMissing, Message: fmt.Sprintf("%q is missing; %s", param, why)}
}

func twice(param string) error {
	return &RequestError{
		Param: param, Code: CodeDuplicate,
		Message: fmt.Sprintf("%q stands in the body twice; send it once, an upstream might read the other one", param),
	}
}

// ErrUndecodable says that an answer with a good status is none: it is empty,
// no JSON, or lacks what makes an answer. The error that wraps it says which.
var ErrUndecodable = errors.New("undecodable answer")

func undecodable(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUndecodable}, args...)...)
}

// FaultError is an error object, or an answer that failed, where an answer with
// a good status should be.
type FaultError struct {
	Fault fault.Fault
}

// Error returns the kind and the message of the fault.
func (e *FaultError) Error() string {
	return "error inside a good answer: " + e.Fault.Kind.String() + ": " + e.Fault.Message
}
