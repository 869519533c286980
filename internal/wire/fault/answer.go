package fault

import (
	"errors"
	"fmt"
)

// ErrUndecodable says that an answer with a good status is none: it is empty,
// no JSON, or lacks what makes an answer. The error that wraps it says which.
var ErrUndecodable = errors.New("undecodable answer")

// Undecodable returns an error that wraps [ErrUndecodable] and says why.
func Undecodable(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUndecodable}, args...)...)
}

// InsideError is an error object, or an answer that failed, where an answer with a
// good status should be.
type InsideError struct {
	Fault Fault
}

// Error returns the kind and the message of the fault.
func (e *InsideError) Error() string {
	return "error inside a good answer: " + e.Fault.Kind.String() + ": " + e.Fault.Message
}
