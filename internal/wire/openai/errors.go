package openai

import (
	"errors"
	"fmt"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

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
