//go:build !unix

package http1

import "errors"

// Available says that the package works on this system: it can look at a
// connection without waiting.
const Available = false

// advance fails: callers take net/http here.
func (c *conn) advance(uintptr) bool {
	c.turn.err = errors.ErrUnsupported
	return true
}
