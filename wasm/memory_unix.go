//go:build linux || darwin

package wasm

import "syscall"

// reserve takes addresses from the system, which gives memory for them as it is
// touched; nil if there are none.
func reserve(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|noReserve)
	if err != nil {
		return nil
	}
	smallPages(b)
	return b
}

func release(b []byte) { _ = syscall.Munmap(b) }
