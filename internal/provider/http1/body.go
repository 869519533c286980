package http1

import (
	"errors"
	"io"
)

// kind is how the end of a body is told.
type kind uint8

const (
	bodyNone    kind = iota // there is none
	bodySized               // by its length
	bodyChunked             // by a last chunk
	bodyRest                // by the end of the connection
)

// framing is where the reading of a body stands.
type framing struct {
	kind kind
	left uint64 // bytes of the body, or of its present chunk
	here bool   // nothing is read from the connection any more

	// of the chunked coding
	place  place
	excess int64 // bytes that are no data, beyond what is granted
	trail  int   // bytes of the trailer
}

// directRead is how much a caller must ask for to be given bytes without their
// way through the buffer.
const directRead = 4 << 10

// errNotHere says that the rest of a body would have to be waited for.
var errNotHere = errors.New("the rest has not come")

// read reads from the body. The error is io.EOF at its end.
func (x *exchange) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	switch x.body.kind {
	case bodySized:
		n, err := x.some(p)
		if err == nil && x.body.left == 0 {
			err = io.EOF
		} else {
			err = cut(err)
		}
		return n, err
	case bodyChunked:
		return x.readChunks(p)
	case bodyRest:
		x.body.left = uint64(len(p))
		return x.some(p)
	case bodyNone:
	}
	return 0, io.EOF
}

// some reads what comes next, no more than is left. io.EOF is the end of the
// connection.
func (x *exchange) some(p []byte) (n int, err error) {
	b := &x.body
	if uint64(len(p)) > b.left {
		p = p[:b.left]
	}
	switch {
	case !x.in.empty():
		n = x.in.take(p)
	case b.here:
		return 0, errNotHere
	case len(p) >= directRead || b.kind == bodySized && uint64(len(p)) == b.left:
		if n, err = x.conn.in.Read(p); n > 0 {
			err = nil // it comes again
		}
	default:
		if err = x.in.fill(x.conn.in); err == nil {
			n = x.in.take(p)
		}
	}
	b.left -= uint64(n)
	return n, err
}

// skip passes over the rest of the body as far as it is here, and reports
// whether that was all.
func (x *exchange) skip() bool {
	if x.body.kind == bodyRest {
		return false
	}
	x.body.here = true
	waste := newBlock()
	defer waste.free()
	for {
		if _, err := x.read(waste[:]); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
