package translate

import (
	"fmt"
)

// Loss is something of a request that does not reach the upstream, by rule.
type Loss struct {
	// Path is where it stood in the client's body, or the neutral field where
	// only the target lacks it, without indexes: "messages[].content[].detail".
	Path string
	// Why says what the rule is, for a person.
	Why string
}

// String returns the loss as one line.
func (l Loss) String() string { return l.Path + ": " + l.Why }

// maxLosses bounds how many losses are listed; a body may hold any number of
// unknown fields.
const maxLosses = 64

// losses collects what is lost, each path once.
type losses []Loss

func (l *losses) add(path, why string) {
	if len(*l) >= maxLosses {
		return
	}
	for _, have := range *l {
		if have.Path == path {
			return
		}
	}
	*l = append(*l, Loss{Path: path, Why: why})
}

// InvalidError says that a request is wrong in its own protocol, whatever the
// upstream: status 400.
type InvalidError struct {
	Path    string // the field, empty if the text itself is at fault
	Message string
}

// Error returns the message.
func (e *InvalidError) Error() string { return e.Message }

// UnsupportedError says that a request is good but asks for something that
// cannot be had from an upstream of another protocol.
type UnsupportedError struct {
	Path    string
	Message string
}

// Error returns the message.
func (e *UnsupportedError) Error() string { return e.Message }

func invalid(path, format string, args ...any) error {
	return &InvalidError{Path: path, Message: fmt.Sprintf("%q: ", path) + fmt.Sprintf(format, args...)}
}

func unsupported(path, format string, args ...any) error {
	return &UnsupportedError{Path: path, Message: fmt.Sprintf("%q: ", path) + fmt.Sprintf(format, args...)}
}
