package responses

import (
	"errors"
	"fmt"

	"gatewright/internal/wire/fault"
)

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
