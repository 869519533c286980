package openai

import (
	"context"
	"io"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/sse"
)

// eventStream is a streamed answer of the Responses protocol.
type eventStream struct {
	*call
	ctx    context.Context //nolint:containedctx // that of Do: the stream is the rest of its work
	events exchange.Events
	answer *responses.Stream
	keeps  bool // the upstream keeps the answer
	past   bool // it is the record of an answer: its failure is what was asked for

	frame []byte
	news  news
	shown bool // something has been shown
	last  bool // the final event has been handed out
	done  bool // so has the end
}

var (
	_ provider.Stream  = (*eventStream)(nil)
	_ provider.Breaker = (*eventStream)(nil)
)

func newEventStream(ctx context.Context, x *call, body io.Reader) *eventStream {
	return &eventStream{call: x, ctx: ctx, events: x.Events(body), answer: responses.NewStream(x.Call.PublicModel)}
}

// Next implements [provider.Stream].
func (s *eventStream) Next() (provider.Event, error) {
	if s.last {
		s.done = true // the protocol ends with its final event
		return provider.Event{Finished: true, Done: true}, nil
	}
	ev, err := s.events.Next()
	if err != nil {
		return provider.Event{}, err
	}
	out, err := s.take(&ev)
	if s.events.Cut && err != nil {
		return provider.Event{}, exchange.Broken(io.ErrUnexpectedEOF)
	}
	return out, err
}

// take makes the client's event of the upstream's.
func (s *eventStream) take(ev *sse.Event) (provider.Event, error) {
	frame, info, err := s.answer.Event(s.frame[:0], ev.Name, ev.Data)
	s.frame = frame
	switch {
	case info.Malformed:
		return s.malformed(ev.Data, err)
	case info.Fault != nil && s.past:
		return s.record(ev)
	case info.Fault != nil:
		return provider.Event{}, s.Failure(info.Fault)
	}
	s.last = info.Finish
	s.shown = s.shown || info.Content
	if s.shown || s.past {
		s.remember()
	}
	if info.Drop {
		return provider.Event{}, nil
	}
	return provider.Event{Frame: s.frame, Commits: info.Content || s.past, Refused: info.Refusal, Finished: s.last}, nil
}

// remember notes what the upstream has issued, before the client sees it.
func (s *eventStream) remember() {
	o := s.answer.Owned()
	if fresh, some := s.news.of(&o); some {
		s.issued(&fresh, s.keeps)
	}
}

// malformed handles an event that is none of the protocol's, as in a stream of
// chat: a damaged event is text that the client will never get.
func (s *eventStream) malformed(data []byte, err error) (provider.Event, error) {
	if !s.shown || !exchange.IsNoise(data) {
		return provider.Event{}, provider.BadAnswer("the upstream sent something that is no event of the protocol", err)
	}
	return provider.Event{Skipped: true}, nil
}

// record passes an event on that tells of a failure, in the record of an answer.
func (s *eventStream) record(ev *sse.Event) (provider.Event, error) {
	const errorEvent = "error" // response.failed follows
	s.last = string(ev.Name) != errorEvent && kindOf(ev.Data) != errorEvent
	data := withModel(nil, ev.Data, s.Call.PublicModel, "response")
	s.frame = sse.Append(s.frame[:0], string(ev.Name), data)
	return provider.Event{Frame: s.frame, Commits: true, Finished: s.last}, nil
}

// Usage implements [provider.Stream].
func (s *eventStream) Usage() engine.Usage {
	if s.past {
		return engine.Usage{} // it was told, and counted, when the answer was made
	}
	return responsesUsage(s.answer.Usage())
}

// Tail implements [provider.Stream]: the protocol has no end but its final
// event.
func (s *eventStream) Tail() []byte { return nil }

// Broken implements [provider.Breaker].
func (s *eventStream) Broken(e *engine.UpstreamError) []byte {
	return s.answer.AppendBroken(nil, e.Message, typeUpstream, e.Code)
}

// typeUpstream is the type of an error that is an upstream's fault.
const typeUpstream = "upstream_error"

// Close implements [provider.Stream].
func (s *eventStream) Close() error { return s.CloseStream(s.ctx, s.done) }
