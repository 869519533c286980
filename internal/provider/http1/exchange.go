package http1

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// ErrMalformed is wrapped by the errors of an answer that is not HTTP/1.1, or
// whose end cannot be told for certain.
var ErrMalformed = errors.New("malformed answer")

// ErrTooLarge is wrapped by the errors of an answer whose head is too large.
var ErrTooLarge = errors.New("head of the answer is too large")

// exchange is one request and its answer, whose body it is.
type exchange struct {
	answer http.Response
	origin *Origin
	conn   *conn
	ctx    context.Context //nolint:containedctx // that of Do: the body is the rest of its work
	unhang func() bool     // takes back that the end of ctx closes the connection
	turn   turn
	in     buffer
	closes bool // the connection ends with the answer

	// state says who uses what stands here: whoever takes it away from another
	// leaves the rest to that one.
	state atomic.Uint32
	body  framing
	err   error // why reading has ended
}

// The states of an answer's body.
const (
	bodyOpen   uint32 = iota
	bodyBusy          // in Read
	bodyEnded         // to its end, or by an error
	bodyClosed        // before that
)

var _ io.ReadCloser = (*exchange)(nil)

// run sends a request and reads the head of its answer.
func (x *exchange) run(r *Request) error {
	t := &x.turn
	var text []byte
	if t.body = r.Body; t.body != nil {
		text = t.body.Bytes()
	}
	t.block = newBlock()
	head, closes, err := r.appendHead(t.block[:0], x.origin.authority, len(text))
	x.closes = closes
	if err == nil {
		// As much of the body as there is room for goes with the head.
		n := min(len(text), cap(head)-len(head))
		head = append(head, text[:n]...)
		t.first, t.rest = head, text[n:]
		err = x.converse(r)
	} else if t.body != nil {
		t.body.Written()
	}
	t.first, t.rest, t.body = nil, nil, nil
	if t.block != nil {
		x.in = buffer{b: t.block[:], w: t.n, block: t.block}
		t.block = nil
	}
	if err != nil {
		x.in.release()
		return err
	}
	return x.receive(r.Method)
}

// receive reads the head of the answer, and makes its body ready. Without one
// the exchange is over.
func (x *exchange) receive(method string) error {
	if err := x.readHead(method); err != nil {
		x.finish(false)
		return err
	}
	x.answer.Body = x
	if x.body.kind == bodyNone {
		x.answer.Body = http.NoBody
		x.finish(true)
	}
	return nil
}

// converse sends the request on one connection after the other until one of them
// is of use. Nothing is repeated: those before it have written nothing.
func (x *exchange) converse(r *Request) error {
	t := &x.turn
	first := t.first
	for {
		err := x.ctx.Err()
		if err == nil {
			x.conn, err = x.origin.connect(x.ctx, r.Fresh)
		}
		if err != nil {
			if t.body != nil {
				t.body.Written()
			}
			return err
		}
		r.Reused = x.conn.used
		x.unhang = context.AfterFunc(x.ctx, x.conn.hang)
		err = x.conn.converse(t)
		r.Sent, r.Answered = t.sent, t.n > 0
		if err == nil {
			return nil
		}
		err = x.drop(err)
		if !errors.Is(err, errGone) {
			return err
		}
		t.stage, t.err, t.first = stageLook, nil, first
	}
}

// drop gives the connection up because of an error, and returns the reason.
func (x *exchange) drop(err error) error {
	x.unhang()
	x.conn.closeAfter(&x.turn)
	if x.turn.writeErr != nil {
		return x.turn.writeErr
	}
	return err
}

// finish ends the exchange. The connection is kept if the answer was read to its
// end, and nothing speaks against it.
func (x *exchange) finish(whole bool) {
	// If the context has ended, somebody closes the connection, now or soon.
	if x.unhang() && whole && !x.closes && x.in.empty() && x.turn.written() {
		x.origin.keep(x.conn)
	} else {
		x.conn.closeAfter(&x.turn)
	}
	x.in.release()
}

// Read implements [io.Reader].
func (x *exchange) Read(p []byte) (int, error) {
	if !x.state.CompareAndSwap(bodyOpen, bodyBusy) {
		if x.state.Load() == bodyEnded {
			return 0, x.err
		}
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := x.read(p)
	if err == nil && x.state.CompareAndSwap(bodyBusy, bodyOpen) {
		return n, nil
	}
	whole := errors.Is(err, io.EOF)
	if !whole && x.ctx.Err() != nil {
		err = context.Cause(x.ctx)
	}
	x.err = err
	if !x.state.CompareAndSwap(bodyBusy, bodyEnded) {
		whole, err = false, http.ErrBodyReadAfterClose
	}
	x.finish(whole)
	return n, err
}

// Close implements [io.Closer]. It reads nothing more from the connection: that
// is kept only if the rest of the body is here already.
func (x *exchange) Close() error {
	switch x.state.Swap(bodyClosed) {
	case bodyOpen:
		x.finish(x.skip())
	case bodyBusy:
		_ = x.conn.Close() // Read sees it, and does the rest
	}
	return nil
}
