package exchange

import (
	"bytes"
	"errors"
	"io"

	"gatewright/internal/provider"
	"gatewright/internal/wire/sse"
)

// announced is the body of a stream. It says so before it reads.
type announced struct {
	io.Reader
	exchange *Exchange
}

// Read implements [io.Reader].
func (r *announced) Read(p []byte) (int, error) {
	r.exchange.Call.Waiting()
	n, err := r.Reader.Read(p)
	if err != nil {
		r.exchange.over = true
	}
	return n, err
}

// Announced returns the body of a stream as its events or pieces are to be read:
// the client gets what was handed out before the stream waits for more.
func (x *Exchange) Announced(body io.Reader) io.Reader { return &announced{body, x} }

// Events reads the events of one stream. It is used by one goroutine.
type Events struct {
	in *sse.Reader
	// Cut says that the last event was not closed by a blank line: the body ends
	// there, and if the event cannot be read it was cut.
	Cut bool
}

// Events returns the events of a stream whose body is [Exchange.Announced].
func (x *Exchange) Events(body io.Reader) Events {
	return Events{in: sse.NewReader(x.Announced(body), x.eventLimit)}
}

// Next returns the next event that has data; comments are passed over. It is
// valid until the next call. The error is io.EOF at the end of the body, and a
// *provider.Failure if it broke off or an event was too large.
func (e *Events) Next() (sse.Event, error) {
	for {
		ev, err := e.in.Next()
		switch {
		case err == nil && ev.HasData:
			return ev, nil
		case err == nil: // a comment
		case errors.Is(err, io.ErrUnexpectedEOF) && ev.HasData && !e.Cut:
			e.Cut = true
			return ev, nil
		default:
			return sse.Event{}, e.ended(err)
		}
	}
}

// ended says how the body ended.
func (e *Events) ended(err error) error {
	var large *sse.TooLargeError
	switch {
	case errors.As(err, &large):
		return provider.BadAnswer("an event of the upstream's stream is too large", err)
	case !errors.Is(err, io.EOF) && !e.Cut:
		return Broken(err)
	}
	return io.EOF
}

// IsNoise reports whether the data of an event that cannot be read is something
// beside the answer: it does not even begin like an event of a protocol. A damaged
// event, in contrast, is text that the client will never get.
func IsNoise(data []byte) bool {
	return !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// Unread returns the body as a stream of events of which nothing has been read,
// for one that is read at once.
func (x *Exchange) Unread() *sse.Reader { return sse.NewReader(x.Body, x.eventLimit) }

// IsPing reports whether an event only says that the connection lives, as Messages
// has it.
func IsPing(ev *sse.Event) bool {
	const longest = 64 // bytes of the data of a ping
	if len(ev.Name) > 0 {
		return string(ev.Name) == "ping"
	}
	return len(ev.Data) <= longest && bytes.Contains(ev.Data, []byte(`"ping"`))
}
