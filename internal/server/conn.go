package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"gatewright/internal/socket"
)

const (
	// writeChunk is how much is written under one deadline. A reader that takes
	// less than this in the time of one write is cut off.
	writeChunk = 64 << 10
	// lingerTime and lingerBytes bound what is still read from a client that was
	// refused, so that the refusal reaches it before the connection is reset.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// listener wraps each connection that it accepts.
type listener struct {
	net.Listener
	server *Server
}

// Accept waits for the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{
		Conn:    c,
		out:     socket.NewWriter(c, l.server.timeouts.Write),
		server:  l.server,
		framing: framing{limit: l.server.headerLimit},
	}, nil
}

// conn is one client connection. It refuses what framing refuses, writes under
// deadlines that move with progress, and says in JSON what net/http would say in
// plain text.
type conn struct {
	net.Conn
	out     *socket.Writer
	server  *Server
	framing framing
	refused *Error // why nothing more is read; set by the reader
	late    bool   // the reader ran out of time inside a header section

	// The read deadline is set eight times for one request, by net/http and by
	// Exchange, and each time would cost a timer of the runtime. So it is kept
	// here until somebody reads.
	mu      sync.Mutex
	until   time.Time // the read deadline
	set     time.Time // what the connection has been told of it
	reading bool
}

// Read reads what framing lets pass. What a request holds before the fault is
// read on, then the fault is the error.
func (c *conn) Read(p []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	c.begin()
	n, err := c.Conn.Read(p)
	c.end()
	passed, refused := c.framing.feed(p[:n])
	if refused == nil {
		c.late = c.framing.size > 0 && errors.Is(err, os.ErrDeadlineExceeded)
		return n, err
	}
	c.refused = refused
	if passed > 0 {
		return passed, nil
	}
	return 0, refused
}

// begin makes the read deadline hold.
func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = true
	_ = c.tell() // the read itself says what is wrong
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
}

// tell tells the connection its read deadline. The caller holds mu.
func (c *conn) tell() error {
	if c.set.Equal(c.until) {
		return nil
	}
	c.set = c.until
	return c.Conn.SetReadDeadline(c.until)
}

// SetReadDeadline sets the deadline of the read that is waiting, and of later
// ones.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	if !c.reading {
		return nil
	}
	return c.tell()
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Write writes p in pieces, each within the time of one write.
func (c *conn) Write(p []byte) (int, error) {
	if status, ok := plainRefusal(p); ok {
		return len(p), c.refuse(status)
	}
	written := 0
	for {
		piece := p[written:]
		if len(piece) > writeChunk {
			piece = piece[:writeChunk]
		}
		n, err := c.out.Write(piece)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// CloseWrite tells the client that nothing more will come.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// refuse writes why the connection ends, and reads on for a moment so that the
// client gets to see it.
func (c *conn) refuse(status int) error {
	e := c.refused
	switch {
	case e != nil:
	case c.late:
		e = newError(CodeRequestTimeout, "the headers came too slowly: send them within "+c.server.timeouts.Header.String())
	default:
		e = unreadable(status)
	}
	if _, err := c.out.Write(c.server.rawAnswer(e)); err != nil {
		return err
	}
	if c.CloseWrite() != nil {
		return nil //nolint:nilerr // a connection that cannot be half closed cannot linger
	}
	if err := c.Conn.SetReadDeadline(time.Now().Add(lingerTime)); err != nil {
		return err
	}
	// However this ends, the connection is done for.
	_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
	return nil
}

// plainRefusal reports whether p is what net/http itself answers to a request
// that it could not read, and with which status.
func plainRefusal(p []byte) (status int, ok bool) {
	const start = "HTTP/1.1 "
	const digits = len("400")
	if len(p) < len(start)+digits || len(p) > 512 || p[len(start)] < '4' || !bytes.HasPrefix(p, []byte(start)) {
		return 0, false
	}
	if !bytes.Contains(p, []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")) {
		return 0, false
	}
	status, err := strconv.Atoi(string(p[len(start) : len(start)+digits]))
	return status, err == nil
}

// rawAnswer is the whole answer to a request that net/http could not read.
func (s *Server) rawAnswer(e *Error) []byte {
	id := s.ids()
	body := s.fallback.AppendError(nil, e)
	status := e.HTTPStatus()
	answer := "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) +
		"\r\nContent-Type: " + jsonType[0] +
		"\r\nContent-Length: " + strconv.Itoa(len(body)) +
		"\r\n" + headerRequestID + ": " + id +
		"\r\nConnection: close\r\n\r\n"
	return append([]byte(answer), body...)
}

// unreadable explains the status that net/http gives to a request that it
// cannot read.
func unreadable(status int) *Error {
	if status == http.StatusRequestHeaderFieldsTooLarge {
		return newError(CodeHeaderTooLarge, "the request line and headers are too large: send fewer or shorter ones")
	}
	return newError(CodeInvalidRequest, "this is not a request that can be read: send HTTP/1.1 with a valid request line and headers")
}
