package fake

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"time"
)

// wire is a connection that was taken over from net/http, for answers that its
// server would not let out. A goroutine of its own reads the connection, to
// learn that the client has left; close ends it.
type wire struct {
	conn net.Conn
	gone chan struct{} // closed when the client has closed, or reading failed
	more chan struct{} // closed when the client has sent something
	done chan struct{} // closed when the reader has returned
}

func newWire(conn net.Conn, r *bufio.Reader) *wire {
	w := &wire{conn: conn, gone: make(chan struct{}), more: make(chan struct{}), done: make(chan struct{})}
	go w.watch(r)
	return w
}

func (w *wire) watch(r *bufio.Reader) {
	defer close(w.done)
	var buf [512]byte
	said := false
	for {
		n, err := r.Read(buf[:])
		if n > 0 && !said {
			said = true
			close(w.more)
		}
		if err != nil {
			close(w.gone)
			return
		}
	}
}

// close closes the connection in the usual way (FIN) and waits for the reader.
func (w *wire) close() {
	_ = w.conn.Close()
	<-w.done
}

// reset closes the connection with a TCP reset (RST). Beneath TLS no farewell
// is sent.
func (w *wire) reset() {
	under := w.conn
	if t, ok := under.(*tls.Conn); ok {
		under = t.NetConn()
	}
	if t, ok := under.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = under.Close()
	<-w.done
}

// interrupt unblocks reads and writes.
func (w *wire) interrupt() { _ = w.conn.SetDeadline(longAgo) }

// takeOver takes the connection out of net/http's hands; false when that cannot
// be (HTTP/2, a recorder). What was written before is flushed first.
func (x *exchange) takeOver() bool {
	if x.wire != nil {
		return true
	}
	if x.written && !x.flush() {
		return false
	}
	conn, rw, err := x.rc.Hijack()
	if err != nil {
		return false
	}
	w := newWire(conn, rw.Reader)
	x.up.mu.Lock()
	x.wire = w
	x.up.mu.Unlock()
	select {
	case <-x.up.sim.closed: // Close may have come between
		w.interrupt()
	default:
	}
	return true
}

// cut closes the connection without an end to the answer.
func (x *exchange) cut() {
	x.release()
	if x.takeOver() {
		x.settle()
		x.wire.close()
		return
	}
	x.abandon()
}

// reset resets the connection.
func (x *exchange) reset() {
	x.release()
	if x.takeOver() {
		x.settle()
		x.wire.reset()
		return
	}
	x.abandon()
}

// abandon breaks an answer off where the connection cannot be taken over: over
// HTTP/2 it becomes RST_STREAM.
func (x *exchange) abandon() {
	x.settle()
	panic(http.ErrAbortHandler)
}

// raw takes the connection over and sends bytes that are a whole answer of
// their own, head and all. It returns false when it could not; where the
// connection cannot be taken over the client is told why.
func (x *exchange) raw(status int, p []byte) bool {
	if !x.takeOver() {
		if !x.stopped {
			writeError(x.w, http.StatusNotImplemented, "the fault "+x.def.Name+" needs an HTTP/1 connection")
		}
		return false
	}
	if !x.waitUntil(x.head) {
		return false
	}
	x.release()
	if status != 0 {
		x.note(status)
	}
	return x.put(p)
}

// rawHead is a status line and headers as bytes, the blank line included.
func rawHead(proto string, status int, h http.Header) []byte {
	var b bytes.Buffer
	b.WriteString(proto + " " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	_ = h.Write(&b) // a buffer never fails to write
	b.WriteString("\r\n")
	return b.Bytes()
}

// rawAnswer is the normal answer's headers and body, for faults that write them
// by themselves.
func (x *exchange) rawAnswer() (http.Header, []byte) {
	body := x.render().buf
	h := x.header(x.call.answerType())
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return h, body
}
