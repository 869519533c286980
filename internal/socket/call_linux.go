//go:build linux && !race

package socket

import (
	"syscall"
	"unsafe"
)

// read and write are the system calls; n may be anything after an error.

func read(fd int, p []byte) (n int, err syscall.Errno) {
	//nolint:gosec // the kernel takes an address
	r, _, err := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(r), err
}

func write(fd int, p []byte) (n int, err syscall.Errno) {
	//nolint:gosec // the kernel takes an address
	r, _, err := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(r), err
}
