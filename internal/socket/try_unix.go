//go:build unix

package socket

import "syscall"

// Available says that the system lets sockets be read from and written to without
// waiting, by [TryRead] and [TryWrite].
const Available = true

// maxCall is what some systems take at most, in bytes.
const maxCall = 1 << 30

// TryRead reads what a socket holds, as read(2) does. The error is
// [syscall.EAGAIN] if that is nothing; at the end n is 0 and there is no error.
func TryRead(fd uintptr, p []byte) (n int, err error) { return try(read, fd, p) }

// TryWrite writes as much as a socket takes, as write(2) does. The error is
// [syscall.EAGAIN] if that is nothing.
func TryWrite(fd uintptr, p []byte) (n int, err error) { return try(write, fd, p) }

// try makes a call until no signal interrupts it.
func try(call func(fd int, p []byte) (int, syscall.Errno), fd uintptr, p []byte) (int, error) {
	for {
		n, errno := call(int(fd), p[:min(len(p), maxCall)])
		if errno == 0 {
			return n, nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}
