package openai

import (
	"context"
	"errors"
	"io"
	"sync"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

const (
	pieceSize     = 32 << 10 // of a body that is handed on
	maxEmptyReads = 100      // in a row
)

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// rawBody is an answer that is handed on as it comes.
type rawBody struct {
	call
	ctx   context.Context //nolint:containedctx // that of Do: the stream is the rest of its work
	from  io.Reader
	piece *[pieceSize]byte
	err   error // of from
}

func newRawBody(ctx context.Context, x *call) *rawBody {
	s := &rawBody{call: *x, ctx: ctx}
	s.from = s.Announced(s.Body)
	s.piece, _ = pieces.Get().(*[pieceSize]byte)
	return s
}

// Next implements [provider.Stream].
func (s *rawBody) Next() (provider.Event, error) {
	for range maxEmptyReads {
		if s.err != nil {
			break
		}
		var n int
		n, s.err = s.from.Read(s.piece[:])
		if n > 0 {
			return provider.Event{Frame: s.piece[:n], Commits: true}, nil
		}
	}
	switch {
	case errors.Is(s.err, io.EOF):
		return provider.Event{Done: true}, nil
	case s.err == nil:
		s.err = io.ErrNoProgress
	}
	return provider.Event{}, exchange.Broken(s.err)
}

// Usage implements [provider.Stream]. What is no text does not tell it.
func (*rawBody) Usage() engine.Usage { return engine.Usage{} }

// Tail implements [provider.Stream].
func (*rawBody) Tail() []byte { return nil }

// Close implements [provider.Stream].
func (s *rawBody) Close() error {
	err := s.Body.Close()
	pieces.Put(s.piece)
	s.piece = nil
	return err
}

// rawEvents is the streamed answer of a byte route.
type rawEvents struct {
	call
	ctx    context.Context //nolint:containedctx // as in rawBody
	in     exchange.Events
	stream *wire.RawStream

	data, frame []byte
	shown       bool // an event has been handed out
	done        bool // the end has been handed out
}

// events makes the response of an event stream.
func (x *rawExchange) events(ctx context.Context) *provider.Response {
	s := &rawEvents{call: x.call, ctx: ctx, in: x.Events(x.Body), stream: wire.NewRawStream(x.Call.PublicModel)}
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Status: x.Resp.StatusCode, Stream: s}
}

// Next implements [provider.Stream].
func (s *rawEvents) Next() (provider.Event, error) {
	for {
		ev, err := s.in.Next()
		if err != nil {
			return s.end(err)
		}
		data, info, err := s.stream.Event(s.data[:0], ev.Data)
		s.data = data
		if !info.Drop {
			return s.take(&ev, &info, err)
		}
	}
}

// take makes the client's event of the upstream's.
func (s *rawEvents) take(ev *sse.Event, info *wire.RawInfo, err error) (provider.Event, error) {
	switch {
	case info.Malformed && (s.in.Cut || !s.shown || !exchange.IsNoise(ev.Data)):
		// One that is cut or damaged was something that the client will miss.
		return provider.Event{}, provider.BadAnswer("the upstream sent an event that is no JSON", err)
	case info.Malformed:
		return provider.Event{Skipped: true, Finished: s.stream.Finished()}, nil
	case info.Fault != nil:
		return provider.Event{}, s.Failure(info.Fault)
	case string(ev.Name) == "error" && !info.Done:
		f := fault.Parse(s.Resp.StatusCode, ev.Data)
		return provider.Event{}, s.Failure(&f)
	case info.Done && s.stream.Open():
		return provider.Event{}, io.EOF
	case info.Done:
		s.done = true
		return provider.Event{Frame: []byte(tail), Finished: true, Done: true}, nil
	}
	s.shown = true
	s.frame = sse.Append(s.frame[:0], string(ev.Name), s.data)
	return provider.Event{Frame: s.frame, Commits: true, Finished: s.stream.Finished()}, nil
}

// end handles the end of the body. Only what left a piece without its whole was
// cut: there is no event that ends every stream.
func (s *rawEvents) end(err error) (provider.Event, error) {
	if errors.Is(err, io.EOF) && s.shown && !s.stream.Open() && !s.done {
		s.done = true
		return provider.Event{Finished: true, Done: true}, nil
	}
	return provider.Event{}, err
}

// Usage implements [provider.Stream].
func (s *rawEvents) Usage() engine.Usage { return usage(s.stream.Usage()) }

// Tail implements [provider.Stream].
func (*rawEvents) Tail() []byte { return nil }

// Close implements [provider.Stream].
func (s *rawEvents) Close() error {
	return s.CloseStream(s.ctx, s.done)
}
