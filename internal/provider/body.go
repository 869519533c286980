package provider

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// Body is the body of a request to an upstream. It can be read any number of
// times. A long one stands in pooled memory that is given back when the owner has
// released it and every reader is closed, because a transport may go on reading
// after it has returned. A short one is a copy of its own: net/http sends the
// headers in a write of their own unless it knows the body to be in memory, which
// it does only of the standard library's readers.
type Body struct {
	short []byte
	buf   *Buffer // nil for a short one
	refs  atomic.Int32
}

// shortBody is the length up to which headers and body fit into one write.
const shortBody = writeBuffer - 4<<10

// NewBody returns a body of what is in buf, and takes the buffer over. The
// owner calls Release once.
func NewBody(buf *Buffer) *Body {
	if len(buf.B) <= shortBody {
		b := &Body{short: bytes.Clone(buf.B)}
		buf.Free()
		return b
	}
	b := &Body{buf: buf}
	b.refs.Store(1)
	return b
}

// Len returns the length in bytes.
func (b *Body) Len() int {
	if b.buf == nil {
		return len(b.short)
	}
	return len(b.buf.B)
}

// Reader returns a reader from the beginning. It must be closed.
func (b *Body) Reader() io.ReadCloser {
	if b.buf == nil {
		return io.NopCloser(bytes.NewReader(b.short))
	}
	b.refs.Add(1)
	return &bodyReader{body: b, rest: b.buf.B}
}

// Release gives up the owner's hold. No reader may be made afterwards.
func (b *Body) Release() {
	if b.buf != nil && b.refs.Add(-1) == 0 {
		b.buf.Free()
	}
}

var errBodyClosed = errors.New("request body is closed")

// bodyReader reads a body. Read and Close may run at the same time: a transport
// closes from one goroutine what it writes from another.
type bodyReader struct {
	mu     sync.Mutex
	body   *Body
	rest   []byte
	closed bool
}

// Read implements [io.Reader].
func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return 0, errBodyClosed
	case len(r.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (r *bodyReader) Close() error {
	r.mu.Lock()
	first := !r.closed
	r.closed, r.rest = true, nil
	r.mu.Unlock()
	if first {
		r.body.Release()
	}
	return nil
}
