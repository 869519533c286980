package http1

import (
	"io"
	"sync"
)

// blockSize is how much of a request goes out in the first write, and how much
// is read at once: the usual request and the usual answer are smaller.
const blockSize = 16 << 10

// block is memory for one exchange: the request is put together in it, and when
// that has been written the answer is read into it. A connection that waits for
// its next use holds none.
type block [blockSize]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

func newBlock() *block {
	b, _ := blocks.Get().(*block)
	return b
}

func (b *block) free() { blocks.Put(b) }

// buffer holds what was read from a connection and not yet taken.
type buffer struct {
	b     []byte
	r, w  int    // b[r:w] is held
	block *block // whose memory b is; nil = memory of its own
}

func (in *buffer) held() []byte { return in.b[in.r:in.w] }

func (in *buffer) empty() bool { return in.r == in.w }

// fill reads once. It makes room by moving what is held, and beyond that by
// growing.
func (in *buffer) fill(from io.Reader) error {
	switch {
	case in.r == in.w:
		in.r, in.w = 0, 0
	case in.w < len(in.b):
	case in.r > 0:
		in.w = copy(in.b, in.held())
		in.r = 0
	default:
		bigger := make([]byte, 2*len(in.b))
		copy(bigger, in.b)
		in.release()
		in.b = bigger
	}
	n, err := from.Read(in.b[in.w:])
	in.w += n
	switch {
	case n > 0:
		return nil // an error comes again
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// take copies what is held to p.
func (in *buffer) take(p []byte) int {
	n := copy(p, in.held())
	in.r += n
	return n
}

// release gives the block back.
func (in *buffer) release() {
	if in.block != nil {
		in.block.free()
		in.block = nil
	}
	in.b = nil
}
