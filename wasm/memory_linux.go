package wasm

import "syscall"

const noReserve = syscall.MAP_NORESERVE

// smallPages asks for pages of the usual size: with huge ones each instance would
// weigh 2 MiB.
func smallPages(b []byte) { _ = syscall.Madvise(b, syscall.MADV_NOHUGEPAGE) }
