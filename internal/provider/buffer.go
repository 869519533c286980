package provider

import (
	"errors"
	"io"
	"sync"
)

const (
	firstBuffer = 4 << 10
	maxPooled   = 1 << 20 // larger buffers are left to the garbage collector
)

// Buffer is a byte slice from a pool. Its owner may append to B and calls Free
// once, after which it must not be used.
type Buffer struct{ B []byte }

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, firstBuffer)} }}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer {
	b, _ := buffers.Get().(*Buffer)
	return b
}

// Free gives the buffer back.
func (b *Buffer) Free() {
	if cap(b.B) <= maxPooled {
		b.B = b.B[:0]
		buffers.Put(b)
	}
}

// ErrTooLarge says that a body is longer than it may be.
var ErrTooLarge = errors.New("body is larger than the limit")

// Fill appends what r holds, up to limit bytes; size is the length that is
// expected, or less than 1. It returns ErrTooLarge when r holds more, having
// read one byte beyond the limit at most.
func (b *Buffer) Fill(r io.Reader, size, limit int64) error {
	if size > limit {
		return ErrTooLarge
	}
	start := len(b.B)
	b.reserve(int(min(max(size, 0), maxPooled)) + 1)
	for {
		if len(b.B) == cap(b.B) {
			b.reserve(min(cap(b.B), maxPooled))
		}
		space := b.B[len(b.B):cap(b.B)]
		if left := limit + 1 - int64(len(b.B)-start); int64(len(space)) > left {
			space = space[:left]
		}
		n, err := r.Read(space)
		b.B = b.B[:len(b.B)+n]
		switch {
		case int64(len(b.B)-start) > limit:
			return ErrTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// reserve makes room for n more bytes.
func (b *Buffer) reserve(n int) {
	if cap(b.B)-len(b.B) >= n {
		return
	}
	bigger := make([]byte, len(b.B), max(len(b.B)+n, 2*cap(b.B)))
	copy(bigger, b.B)
	b.B = bigger
}
