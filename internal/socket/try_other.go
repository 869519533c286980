//go:build !unix

package socket

import "errors"

// Available says that the system lets sockets be read from and written to without
// waiting, by [TryRead] and [TryWrite].
const Available = false

// TryRead fails: ask [Available] first.
func TryRead(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

// TryWrite fails: ask [Available] first.
func TryWrite(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
