package translation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

// stream is a streamed answer.
type stream struct {
	*answer
	ctx    context.Context //nolint:containedctx // that of Do: the stream is the rest of its work
	events exchange.Events
	both   *translate.Stream

	frame  []byte
	shown  bool  // something has been shown
	over   bool  // the end stands in a frame that has been handed out
	done   bool  // it has been said so
	failed error // comes next: what the upstream said before it has been handed out
}

var (
	_ provider.Stream  = (*stream)(nil)
	_ provider.Breaker = (*stream)(nil)
)

// Streamed implements [exchange.Reader].
func (x *answer) Streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := &stream{
		answer: x, ctx: ctx, events: x.Events(body),
		both: translate.NewStream(x.in, x.up, x.request, x.about, x.Call.PublicModel, x.Call.Clock()),
	}
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Stream: s}, nil
}

// Next implements [provider.Stream].
func (s *stream) Next() (provider.Event, error) {
	switch {
	case s.failed != nil:
		return provider.Event{}, s.failed
	case s.over:
		s.done = true
		return provider.Event{Finished: true, Done: true}, nil
	}
	for {
		ev, err := s.events.Next()
		switch {
		case isEnd(err):
			return s.end()
		case err != nil:
			return provider.Event{}, err
		case exchange.IsPing(&ev):
			continue // like a comment: the connection lives, the answer does not grow
		}
		return s.take(&ev)
	}
}

// take makes the client's events of the upstream's.
func (s *stream) take(ev *sse.Event) (provider.Event, error) {
	if s.shown && s.noise(ev.Data) {
		return provider.Event{Skipped: true, Finished: s.both.Finished()}, nil
	}
	frame, info, err := s.both.Event(s.frame[:0], ev.Name, ev.Data)
	s.frame = frame
	switch {
	case err != nil && s.events.Cut:
		s.failed = exchange.Broken(io.ErrUnexpectedEOF)
	case err != nil:
		s.failed = s.Undecodable(err)
	case info.Fault != nil:
		s.failed = s.Failure(info.Fault)
	}
	if s.failed != nil && len(frame) == 0 {
		return provider.Event{}, s.failed
	}
	return s.event(&info), nil
}

// noise reports whether an event is something beside the answer.
func (s *stream) noise(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && data[0] != '{' && data[0] != '[' && !bytes.Equal(data, []byte("[DONE]"))
}

// event makes the event of what has been framed. What ends a stream and shows
// something has two ends: nothing can be shown with the last.
func (s *stream) event(info *translate.StreamInfo) provider.Event {
	s.shown = s.shown || info.Content
	out := provider.Event{Frame: s.frame, Commits: info.Content, Refused: info.Refusal, Finished: s.both.Finished()}
	switch {
	case info.Done && info.Content:
		s.over = true
	case info.Done:
		s.over, s.done, out.Done = true, true, true
	}
	return out
}

// end handles the end of the body.
func (s *stream) end() (provider.Event, error) {
	frame, info := s.both.Close(s.frame[:0])
	s.frame = frame
	switch {
	case info.Fault != nil:
		return provider.Event{}, s.Failure(info.Fault)
	case !info.Done:
		return provider.Event{}, io.EOF
	}
	return s.event(&info), nil
}

// isEnd reports whether the error of a reader is the end of the body.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }

// Usage implements [provider.Stream].
func (s *stream) Usage() engine.Usage { return usage(s.both.Usage()) }

// Tail implements [provider.Stream].
func (s *stream) Tail() []byte {
	if s.over {
		return nil
	}
	frame, _ := s.both.Close(nil)
	return frame
}

// Broken implements [provider.Breaker]. Only Responses has an end that depends on
// what was sent before; the others have the server's words.
func (s *stream) Broken(e *engine.UpstreamError) []byte {
	if s.in.Protocol != translate.Responses {
		return nil
	}
	return s.both.Break(nil, &fault.Fault{
		Kind: fault.Server, Status: http.StatusBadGateway, Type: typeUpstream, Code: e.Code, Message: e.Message,
	})
}

// typeUpstream is the type of an error that is an upstream's fault.
const typeUpstream = "upstream_error"

// Close implements [provider.Stream].
func (s *stream) Close() error { return s.CloseStream(s.ctx, s.done) }

// ready is the stream of an answer that came whole.
type ready struct {
	*answer
	ctx     context.Context //nolint:containedctx // as in stream
	frames  []byte
	refused bool
	usage   engine.Usage
	told    bool
}

var _ provider.Stream = (*ready)(nil)

// Next implements [provider.Stream].
func (s *ready) Next() (provider.Event, error) {
	if s.told {
		return provider.Event{Finished: true, Done: true}, nil
	}
	s.told = true
	return provider.Event{Frame: s.frames, Commits: true, Refused: s.refused, Finished: true}, nil
}

// Usage implements [provider.Stream].
func (s *ready) Usage() engine.Usage { return s.usage }

// Tail implements [provider.Stream]. The end has been told with the rest.
func (*ready) Tail() []byte { return nil }

// Close implements [provider.Stream].
func (s *ready) Close() error { return s.CloseStream(s.ctx, true) }
