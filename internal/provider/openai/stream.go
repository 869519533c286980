package openai

import (
	"bytes"
	"context"
	"errors"
	"io"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	"gatewright/internal/wire/fault"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// tail ends a stream.
const tail = "data: [DONE]\n\n"

// stream is a streamed answer.
type stream struct {
	*chat
	ctx    context.Context //nolint:containedctx // that of Do: the stream is the rest of its work
	events exchange.Events
	chunks *wire.Stream

	frame    []byte
	shown    bool // something has been shown
	finishes int  // chunks that ended a choice
	done     bool // the end has been handed out
}

// Streamed implements [exchange.Reader].
func (x *chat) Streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := &stream{chat: x, ctx: ctx, events: x.Events(body)}
	s.chunks = wire.NewStream(x.payload.Endpoint, x.Call.PublicModel, x.payload.Request.IncludeUsage)
	if x.thinkTags {
		s.chunks.SplitThinking()
	}
	return &provider.Response{Header: x.ResponseHeader(exchange.EventsType), Stream: s}, nil
}

// Next implements [provider.Stream].
func (s *stream) Next() (provider.Event, error) {
	ev, err := s.events.Next()
	if err != nil {
		return s.end(err)
	}
	out, err := s.take(&ev)
	if s.events.Cut && err != nil {
		return provider.Event{}, exchange.Broken(io.ErrUnexpectedEOF)
	}
	return out, err
}

// end handles the end of the body.
func (s *stream) end(err error) (provider.Event, error) {
	if errors.Is(err, io.EOF) && s.chunks.Finished() && !s.done {
		s.done = true
		return provider.Event{Frame: s.Tail(), Finished: true, Done: true}, nil
	}
	return provider.Event{}, err
}

// take makes the client's event of the upstream's.
func (s *stream) take(ev *sse.Event) (provider.Event, error) {
	const prefix = "data: "
	frame, info, err := s.chunks.Chunk(append(s.frame[:0], prefix...), ev.Data)
	s.frame = frame
	switch {
	case info.Malformed:
		return s.malformed(ev.Data, err)
	case info.Fault != nil:
		return provider.Event{}, s.Failure(info.Fault)
	case string(ev.Name) == "error" && !info.Done:
		f := fault.Parse(s.Resp.StatusCode, ev.Data)
		return provider.Event{}, s.Failure(&f)
	case info.Done:
		return s.doneEvent()
	}
	if info.Finish {
		s.finishes++
	}
	out := provider.Event{Finished: s.finished()}
	if !info.Drop {
		if !info.OneLine {
			s.unbreak(len(prefix))
		}
		s.frame = append(s.frame, '\n', '\n')
		out.Frame = s.frame
		out.Commits = info.Content
		out.Refused = info.Refusal
		s.shown = s.shown || info.Content
	}
	return out, nil
}

// unbreak makes one line of the frame from start on. A line break inside JSON stands
// between its values, and may as well be a blank.
func (s *stream) unbreak(start int) {
	for _, lineBreak := range [...]byte{'\n', '\r'} {
		for rest := s.frame[start:]; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

// finished reports whether all choices that the client asked for have ended.
func (s *stream) finished() bool {
	return s.chunks.Finished() && s.finishes >= s.payload.Request.N
}

// malformed handles an event that is no chunk. A damaged chunk is text that the
// client will never get: that ends the answer, since one with a hole must not
// look whole. What does not even begin like a chunk is taken for noise, once the
// upstream has shown that it can do better.
func (s *stream) malformed(data []byte, err error) (provider.Event, error) {
	if !s.shown || !exchange.IsNoise(data) {
		return provider.Event{}, provider.BadAnswer("the upstream sent an event that is no JSON", err)
	}
	return provider.Event{Skipped: true, Finished: s.finished()}, nil
}

// doneEvent is the end, after the finish that some upstreams leave out.
func (s *stream) doneEvent() (provider.Event, error) {
	if !s.chunks.Finished() {
		return provider.Event{}, io.EOF // as if it had not come: there is nothing to end
	}
	s.done = true
	const prefix = "data: "
	s.frame = append(s.frame[:0], prefix...)
	if s.frame = s.chunks.AppendFinish(s.frame); len(s.frame) > len(prefix) {
		s.frame = append(s.frame, '\n', '\n')
	} else {
		s.frame = s.frame[:0]
	}
	s.frame = append(s.frame, tail...)
	return provider.Event{Frame: s.frame, Finished: true, Done: true}, nil
}

// Usage implements [provider.Stream].
func (s *stream) Usage() engine.Usage { return usage(s.chunks.Usage()) }

// Tail implements [provider.Stream].
func (s *stream) Tail() []byte { return []byte(tail) }

// Close implements [provider.Stream].
func (s *stream) Close() error { return s.CloseStream(s.ctx, s.done) }
