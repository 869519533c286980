package request

import (
	"bytes"
	"errors"
	"strconv"

	"gatewright/internal/wire/scan"
)

// Codes of an [Error]. Not every protocol shows them to the client.
const (
	CodeMissing   = "missing_required_parameter"
	CodeType      = "invalid_type"
	CodeValue     = "invalid_value"
	CodeDuplicate = "duplicate_parameter"
	CodeJSON      = "invalid_json"
	CodeForm      = "invalid_request" // a form that cannot be read, or in more than one way
)

// Error says what is wrong with a request, in words that its sender can act on.
// It stands for status 400 and type invalid_request_error.
type Error struct {
	Param   string // the field, empty if the text itself is at fault
	Code    string // one of the Code constants
	Message string
	// Err is the *scan.SyntaxError or *scan.DepthError behind an error with
	// CodeJSON, what package form said behind one with CodeForm, nil otherwise.
	Err error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// InvalidJSON returns the *Error for a body that the cursor refused with err.
func InvalidJSON(err error) error {
	what := "the body is not valid JSON: "
	if _, ok := errors.AsType[*scan.DepthError](err); ok {
		what = "the body is "
	}
	return &Error{Code: CodeJSON, Message: what + err.Error(), Err: err}
}

// Disguised refuses "Model" and the like, names of members that are not read: a
// service that ignores case would answer with another model than the one that
// was admitted. The error is an *Error.
func Disguised(key []byte) error {
	if len(key) != len("model") || !bytes.EqualFold(key, []byte("model")) {
		return nil
	}
	name := string(key) // a copy, so that a key that is fine costs nothing
	return &Error{Param: name, Code: CodeDuplicate, Message: strconv.Quote(name) + ` is not a field; write "model"`}
}

// Names says how messages write the names of parameters: as the protocol's own
// services do. The errors that it makes are *Error.
type Names uint8

const (
	// Quoted writes "max_tokens" and "messages[3]".
	Quoted Names = iota
	// Bare writes max_tokens and messages.3 without quotes.
	Bare
)

// Missing returns the error for a field that is missing or empty; why says what
// to send.
func (n Names) Missing(param, why string) error {
	return &Error{Param: param, Code: CodeMissing, Message: n.write(param) + " is missing; " + why}
}

// Twice returns the error for a field that is there more than once.
func (n Names) Twice(param string) error {
	return &Error{
		Param: param, Code: CodeDuplicate,
		Message: n.write(param) + " stands in the body twice; send it once, an upstream might read the other one",
	}
}

// write returns a name as it stands in a message.
func (n Names) write(param string) string {
	if n == Bare {
		return param
	}
	return strconv.Quote(param)
}

// element returns the name of an element of a list.
func (n Names) element(list string, index int) string {
	i := strconv.Itoa(index)
	if n == Bare {
		return list + "." + i
	}
	return list + "[" + i + "]"
}
