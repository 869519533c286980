//go:build unix

package http1

import (
	"errors"
	"io"
	"syscall"
)

// Available says that the package works on this system: it can look at a
// connection without waiting.
const Available = true

// advance takes a turn as far as it goes without waiting. It runs within a wait
// for the connection to become readable, and again each time that it does;
// false lets the wait go on.
func (c *conn) advance(fd uintptr) bool {
	t := c.turn
	if t.stage == stageLook {
		if !c.look(int(fd)) {
			return true
		}
		t.stage = stageWrite
	}
	if t.stage == stageWrite {
		t.stage = stageRead
		t.sent = true
		if blocked := c.push(int(fd)); blocked {
			c.writeRest(t)
		} else {
			t.block.free()
			t.block = nil // an answer may take its time
		}
		if !t.early && t.writeErr == nil {
			return false // there was nothing to read a moment ago
		}
	}
	return c.pull(int(fd))
}

// look reports whether the connection can be written to: it is open, and unless
// it is new there is nothing in it.
func (c *conn) look(fd int) bool {
	t := c.turn
	n, err := read(fd, c.probe[:])
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
		t.err = c.failed("read", err)
	}
	return false
}

// push writes as much of the request as the connection takes at once. blocked
// says that more is left.
func (c *conn) push(fd int) (blocked bool) {
	t := c.turn
	for _, part := range [...]*[]byte{&t.first, &t.rest} {
		for len(*part) > 0 {
			n, err := write(fd, *part)
			switch {
			case errors.Is(err, syscall.EAGAIN):
				return true
			case err != nil:
				t.writeErr = c.failed("write", err)
				return false
			}
			*part = (*part)[n:]
		}
	}
	return false
}

// pull reads the beginning of the answer. It reports false when nothing has come.
func (c *conn) pull(fd int) bool {
	t := c.turn
	t.block = newBlock()
	into := t.block[:]
	if t.early {
		t.block[0] = c.probe[0]
		t.n, into = 1, into[1:]
	}
	n, err := read(fd, into)
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
		t.err = c.failed("read", err)
	}
	return true
}

// read and write are the system calls, without the interruptions.

func read(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}

// maxWrite is what some systems take at most.
const maxWrite = 1 << 30

func write(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, p[:min(len(p), maxWrite)])
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}
