package anthropic

import (
	"context"
	"errors"
	"io"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/sse"
)

// stream is a streamed answer to a client of the protocol.
type stream struct {
	*messages
	ctx    context.Context //nolint:containedctx // that of Do: the stream is the rest of its work
	events exchange.Events
	answer *wire.Stream

	frame []byte
	shown bool // something has been shown
	done  bool // the end has been handed out
}

var _ provider.Stream = (*stream)(nil)

// Next implements [provider.Stream]. Pings are passed over like comments: the
// connection lives, the answer does not grow. The client has the gateway's own.
func (s *stream) Next() (provider.Event, error) {
	for {
		ev, err := s.events.Next()
		switch {
		case err != nil:
			return s.end(err)
		case exchange.IsPing(&ev):
			continue
		}
		out, err := s.take(&ev)
		if s.events.Cut && err != nil {
			return provider.Event{}, exchange.Broken(io.ErrUnexpectedEOF)
		}
		return out, err
	}
}

// take makes the client's event of the upstream's.
func (s *stream) take(ev *sse.Event) (provider.Event, error) {
	frame, info, err := s.answer.Event(s.frame[:0], ev.Name, ev.Data)
	s.frame = frame
	switch {
	case info.Malformed:
		return s.malformed(ev.Data, err)
	case info.Fault != nil:
		return provider.Event{}, s.Failure(info.Fault)
	case info.Done && info.Drop:
		return provider.Event{}, io.EOF // as if it had not come: there is nothing to end
	}
	s.done = info.Done
	s.shown = s.shown || info.Content
	return provider.Event{
		Frame: s.frame, Commits: info.Content, Refused: info.Refusal, Finished: s.answer.Finished(), Done: info.Done,
	}, nil
}

// malformed handles an event that is none of the protocol's, or out of order. A
// damaged event is text that the client will never get; what does not even begin
// like one is taken for noise, once the upstream has shown that it can do better.
func (s *stream) malformed(data []byte, err error) (provider.Event, error) {
	if !s.shown || !exchange.IsNoise(data) {
		return provider.Event{}, provider.BadAnswer("the upstream sent something that is no event of the protocol", err)
	}
	return provider.Event{Skipped: true, Finished: s.answer.Finished()}, nil
}

// end handles the end of the body.
func (s *stream) end(err error) (provider.Event, error) {
	if errors.Is(err, io.EOF) && s.answer.Finished() && !s.done {
		s.done = true
		return provider.Event{Frame: s.Tail(), Finished: true, Done: true}, nil
	}
	return provider.Event{}, err
}

// Usage implements [provider.Stream].
func (s *stream) Usage() engine.Usage { return usage(s.answer.Usage()) }

// Tail implements [provider.Stream].
func (s *stream) Tail() []byte { return s.answer.AppendStop(nil) }

// Close implements [provider.Stream].
func (s *stream) Close() error { return s.CloseStream(s.ctx, s.done) }
