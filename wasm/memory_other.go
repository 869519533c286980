//go:build !linux && !darwin

package wasm

// reserve takes the memory from Go's heap where there is no mmap.
func reserve(n int) []byte { return make([]byte, n) }

func release([]byte) {}
