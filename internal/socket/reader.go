package socket

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// Reader reads from a connection. It is used by one goroutine at a time.
type Reader struct {
	conn net.Conn
	raw  syscall.RawConn
	step func(fd uintptr) bool // pull, bound once

	// Of the call that runs.
	p   []byte
	n   int
	err error
}

// NewReader returns a Reader of c. The error is [errors.ErrUnsupported] if c is no
// socket, as *tls.Conn is none.
func NewReader(c net.Conn) (*Reader, error) {
	raw, err := raw(c)
	if err != nil {
		return nil, err
	}
	r := &Reader{conn: c, raw: raw}
	r.step = r.pull
	return r, nil
}

// Raw returns the connection as [TryRead] and [TryWrite] need it.
func (r *Reader) Raw() syscall.RawConn { return r.raw }

// Read implements [io.Reader] as the connection's own method does: it waits, within
// the read deadline, until there is something.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.p, r.n, r.err = p, 0, nil
	err := r.raw.Read(r.step)
	r.p = nil
	switch {
	case err != nil:
		return 0, err
	case r.err != nil:
		return 0, Failed(r.conn, "read", r.err)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// pull reads once. It reports false if there is nothing.
func (r *Reader) pull(fd uintptr) (done bool) {
	r.n, r.err = TryRead(fd, r.p)
	return !errors.Is(r.err, syscall.EAGAIN)
}
