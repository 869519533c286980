//go:build unix && (!linux || race)

package socket

import (
	"errors"
	"syscall"
)

// Elsewhere system calls are a matter of the system's library, and the race detector
// wants to know which memory they use.

func read(fd int, p []byte) (n int, err syscall.Errno) {
	n, e := syscall.Read(fd, p)
	errors.As(e, &err)
	return n, err
}

func write(fd int, p []byte) (n int, err syscall.Errno) {
	n, e := syscall.Write(fd, p)
	errors.As(e, &err)
	return n, err
}
