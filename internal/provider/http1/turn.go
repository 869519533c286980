package http1

import (
	"errors"
	"io"
	"syscall"

	"gatewright/internal/socket"
)

// Available says that the package works on this system: it can look at a
// connection without waiting.
const Available = socket.Available

// advance takes a turn as far as it goes without waiting. It runs within a wait
// for the connection to become readable, and again each time that it does;
// false lets the wait go on.
func (c *conn) advance(fd uintptr) bool {
	t := c.turn
	if t.stage == stageLook {
		if !c.look(fd) {
			return true
		}
		t.stage = stageWrite
	}
	if t.stage == stageWrite {
		t.stage = stageRead
		t.sent = true
		if blocked := c.push(fd); blocked {
			c.writeRest(t)
		} else {
			t.block.free()
			t.block = nil // an answer may take its time
		}
		if !t.early && t.writeErr == nil {
			return false // there was nothing to read a moment ago
		}
	}
	return c.pull(fd)
}

// look reports whether the connection can be written to: it is open, and unless
// it is new there is nothing in it.
func (c *conn) look(fd uintptr) bool {
	t := c.turn
	n, err := socket.TryRead(fd, c.probe[:])
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return true
	case c.used:
		t.err = errGone
	case n > 0:
		t.early = true // an upstream that answers whatever it is asked
		return true
	case err == nil:
		t.err = io.EOF
	default:
		t.err = socket.Failed(c, "read", err)
	}
	return false
}

// push writes as much of the request as the connection takes at once. blocked
// says that more is left.
func (c *conn) push(fd uintptr) (blocked bool) {
	t := c.turn
	for _, part := range [...]*[]byte{&t.first, &t.rest} {
		for len(*part) > 0 {
			n, err := socket.TryWrite(fd, *part)
			switch {
			case errors.Is(err, syscall.EAGAIN):
				return true
			case err != nil:
				t.writeErr = socket.Failed(c, "write", err)
				return false
			}
			*part = (*part)[n:]
		}
	}
	return false
}

// pull reads the beginning of the answer. It reports false when nothing has come.
func (c *conn) pull(fd uintptr) bool {
	t := c.turn
	t.block = newBlock()
	into := t.block[:]
	if t.early {
		t.block[0] = c.probe[0]
		t.n, into = 1, into[1:]
	}
	n, err := socket.TryRead(fd, into)
	t.n += n
	switch {
	case t.n > 0:
	case t.writeErr != nil:
		t.err = t.writeErr // the reason
	case errors.Is(err, syscall.EAGAIN):
		t.block.free()
		t.block = nil
		return false
	case err == nil:
		t.err = io.EOF
	default:
		t.err = socket.Failed(c, "read", err)
	}
	return true
}
