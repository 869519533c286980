package wasm

import (
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// account is how much linear memory a runtime may have and has, in bytes.
type account struct {
	limit int64
	used  atomic.Int64
}

// take adds to what is used unless that is too much.
func (a *account) take(n int64) bool {
	if a.used.Add(n) > a.limit {
		a.used.Add(-n)
		return false
	}
	return true
}

// linear is the memory of one instance. It lies outside Go's heap, so that the
// collector neither scans nor moves nor counts it, in addresses that are
// reserved up to its maximum: growing never moves it. It is its own allocator,
// for the one memory that an instance has, so that it can be freed even when the
// engine gives up half-way.
type linear struct {
	account *account
	limit   uint64 // what the profile allows, in bytes

	mu    sync.Mutex
	space []byte // reserved
	size  int64  // in use
}

var (
	_ experimental.MemoryAllocator = (*linear)(nil)
	_ experimental.LinearMemory    = (*linear)(nil)
)

// Allocate implements experimental.MemoryAllocator. When there are no addresses
// left, Reallocate gives nil.
func (l *linear) Allocate(_, most uint64) experimental.LinearMemory {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.space == nil {
		l.space = reserve(int(max(1, min(most, l.limit)))) //nolint:gosec // a few MiB
	}
	return l
}

// Reallocate implements experimental.LinearMemory. It gives nil when the guest
// may not have so much.
func (l *linear) Reallocate(size uint64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if size > uint64(len(l.space)) {
		return nil
	}
	more := int64(size) - l.size //nolint:gosec // a few MiB
	if !l.account.take(more) {
		return nil
	}
	l.size += more
	return l.space[:size:size]
}

// Free implements experimental.LinearMemory. It may be called more than once.
func (l *linear) Free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account.used.Add(-l.size)
	l.size = 0
	if l.space != nil {
		release(l.space)
		l.space = nil
	}
}

// inUse is how much of it the guest has, in bytes.
func (l *linear) inUse() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}
