package http1

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"gatewright/internal/socket"
)

// conn is a connection to an upstream. One exchange uses it at a time.
type conn struct {
	net.Conn
	in   io.Reader // reads from it
	raw  syscall.RawConn
	step func(fd uintptr) bool // turn, bound once
	hang func()                // closes the connection, bound once

	used  bool   // it has served before
	since uint32 // the tick when it became idle
	probe [1]byte
	turn  *turn // that it takes now
}

// turn is what a connection does for one exchange: it looks, writes, and waits
// for the answer. It is reset to be taken once more, on another connection.
type turn struct {
	stage stage
	first []byte // head and beginning of the request's body
	rest  []byte // of the body
	body  Body
	block *block // holds first, and then what is read; none while waiting
	early bool   // the byte that the look has found belongs to the answer
	sent  bool   // something of the request may have been written

	n        int        // bytes of the answer that stand in block
	err      error      // why there is none
	writeErr error      // why the request was not written whole
	writing  chan error // from the goroutine that writes the rest; nil = there is none
}

// stage is what comes next.
type stage uint8

const (
	stageLook stage = iota
	stageWrite
	stageRead
)

// errGone says that a kept connection is closed, or that something stood in it
// that nobody had asked for. Nothing has been written to it.
var errGone = errors.New("kept connection is of no use")

func newConn(nc net.Conn) (*conn, error) {
	in, err := socket.NewReader(nc)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, in: in, raw: in.Raw()}
	c.step, c.hang = c.advance, func() { _ = nc.Close() }
	return c, nil
}

// converse writes a request and waits for the answer's first bytes: t.n of them
// stand in t.block then. The body is released when nobody reads it any more,
// unless the error is errGone.
func (c *conn) converse(t *turn) error {
	c.turn = t
	// What is written lies within the wait for what is to be read. So the look at
	// the connection is the attempt to read that every wait begins with, and costs
	// nothing of its own.
	err := c.raw.Read(c.step)
	c.turn = nil
	if err == nil {
		err = t.err
	}
	if t.writing == nil && t.body != nil && !errors.Is(err, errGone) {
		t.body.Written()
	}
	return err
}

// lastWords is how long an answer may take that a broken write has left behind.
const lastWords = time.Second

// writeRest goes on with a request that the upstream does not take as fast as it
// comes, so that its answer can be read meanwhile.
func (c *conn) writeRest(t *turn) {
	first, rest, body, block := t.first, t.rest, t.body, t.block
	done := make(chan error, 1)
	t.writing, t.block = done, nil
	go func() {
		var err error
		if len(first) > 0 {
			_, err = c.Write(first)
		}
		if err == nil {
			_, err = c.Write(rest)
		}
		block.free()
		if body != nil {
			body.Written()
		}
		if err != nil {
			_ = c.SetReadDeadline(time.Now().Add(lastWords))
		}
		done <- err
	}()
}

// writeWait is how long a connection is held back whose answer has been read
// although its request is still being written.
const writeWait = 50 * time.Millisecond

// written reports whether the request of a turn has been written whole. If it
// still is being written, it waits for a moment.
func (t *turn) written() bool {
	if t.writing == nil {
		return t.writeErr == nil
	}
	timer := time.NewTimer(writeWait)
	defer timer.Stop()
	select {
	case err := <-t.writing:
		t.writing, t.writeErr = nil, err
		return err == nil
	case <-timer.C:
		return false
	}
}

// closeAfter closes the connection of a turn and waits until nobody writes to it.
func (c *conn) closeAfter(t *turn) {
	_ = c.Close()
	if t.writing != nil {
		t.writeErr = <-t.writing
		t.writing = nil
	}
}
