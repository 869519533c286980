package scan

import "fmt"

// SyntaxError says where a text is not the JSON that it should be.
type SyntaxError struct {
	Offset int // bytes from the beginning of the text
	Msg    string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset)
}

// DepthError says that arrays and objects are nested deeper than allowed.
type DepthError struct {
	Limit int // levels
}

// Error implements error.
func (e *DepthError) Error() string {
	return fmt.Sprintf("nested deeper than %d levels", e.Limit)
}
