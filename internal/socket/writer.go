package socket

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// Writer writes to a connection, each piece within the same time. Its methods may run
// in parallel.
type Writer struct {
	conn  net.Conn
	limit time.Duration
	raw   syscall.RawConn       // nil = the connection is no socket
	step  func(fd uintptr) bool // push, bound once

	// Of the call that runs.
	mu     sync.Mutex
	p      []byte // what is left
	n      int
	err    error
	waited bool // the connection has a write deadline
}

// NewWriter returns a Writer to c. A call of Write may take as long as limit says, and
// sets the write deadline of c only if it must wait: when nothing is left to be
// written the deadline is none.
func NewWriter(c net.Conn, limit time.Duration) *Writer {
	w := &Writer{conn: c, limit: limit}
	w.raw, _ = raw(c) // else the connection's own method has to do
	w.step = w.push
	return w
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.write(p)
	if w.waited {
		w.waited = false
		_ = w.conn.SetWriteDeadline(time.Time{}) // a closed connection has none
	}
	return n, err
}

func (w *Writer) write(p []byte) (int, error) {
	if w.raw == nil {
		w.wait()
		return w.conn.Write(p)
	}
	w.p, w.n, w.err = p, 0, nil
	err := w.raw.Write(w.step)
	w.p = nil
	if err == nil && w.err != nil {
		err = Failed(w.conn, "write", w.err)
	}
	return w.n, err
}

// push writes what the socket takes. It reports false if something is left.
func (w *Writer) push(fd uintptr) (done bool) {
	for len(w.p) > 0 {
		n, err := TryWrite(fd, w.p)
		w.p = w.p[n:]
		w.n += n
		if errors.Is(err, syscall.EAGAIN) {
			w.wait()
			return false
		}
		if err != nil {
			w.err = err
			break
		}
	}
	return true
}

// wait sets the deadline of what is being written, once. On a closed connection the
// write itself says what is wrong.
func (w *Writer) wait() {
	if !w.waited {
		w.waited = true
		_ = w.conn.SetWriteDeadline(time.Now().Add(w.limit))
	}
}
