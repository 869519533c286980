package provider

import (
	"bytes"
	"io"
	"sync/atomic"
)

// Body is the body of a request to an upstream. It stands in pooled memory and
// can be read any number of times. The memory is given back once the owner has
// released it and everything that was begun to be written has been written: a
// transport may go on reading after it has returned. What is never known to be
// written is left to the garbage collector.
//
// Its readers are the standard library's own, because net/http sends headers and
// body in one write only where it knows that the body is in memory.
type Body struct {
	buf  *Buffer
	refs atomic.Int32 // the owner's hold, and one for each reader that is not known to be written
}

// NewBody returns a body of what is in buf, and takes the buffer over. The
// owner calls Release once.
func NewBody(buf *Buffer) *Body {
	b := &Body{buf: buf}
	b.refs.Store(1)
	return b
}

// Len returns the length in bytes.
func (b *Body) Len() int { return len(b.buf.B) }

// Bytes returns the body itself. It may be read while the owner holds the body, or
// somebody else does.
func (b *Body) Bytes() []byte { return b.buf.B }

// hold takes the body for a request that is to be written: Written gives it back.
func (b *Body) hold() { b.refs.Add(1) }

// Reader returns a reader from the beginning, for a request that is to be
// written. It may be made while the owner holds the body, and read until Written
// is called for it.
func (b *Body) Reader() io.ReadCloser {
	b.hold()
	return io.NopCloser(bytes.NewReader(b.buf.B))
}

// Written says that a request with one of the readers has been written whole, so
// that nobody reads it any more. It is called at most once for each reader.
func (b *Body) Written() { b.drop() }

// Release gives up the owner's hold. No reader may be made afterwards.
func (b *Body) Release() { b.drop() }

func (b *Body) drop() {
	if b.refs.Add(-1) == 0 {
		b.buf.Free()
	}
}
