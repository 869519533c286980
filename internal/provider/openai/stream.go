package openai

import (
	"bytes"
	"context"
	"errors"
	"io"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/wire/fault"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// tail ends a stream.
const tail = "data: [DONE]\n\n"

// maxDrain is how many bytes behind the end of a stream are read so that its
// connection can be used again.
const maxDrain = 16 << 10

// stream is a streamed answer.
type stream struct {
	*chat
	ctx    context.Context //nolint:containedctx // that of Do: the stream is the rest of its work
	events *sse.Reader
	chunks *wire.Stream

	frame    []byte
	shown    bool // something has been shown
	finishes int  // chunks that ended a choice
	done     bool // the end has been handed out
	lenient  bool // an event that no blank line closed has been taken
}

// streamed makes the response of an event stream. Nothing of it has been read.
func (x *chat) streamed(ctx context.Context, body io.Reader) (*provider.Response, error) {
	s := &stream{chat: x, ctx: ctx}
	s.events = sse.NewReader(&announced{body, x.call.Waiting}, x.eventLimit)
	s.chunks = wire.NewStream(x.payload.Endpoint, x.call.PublicModel, x.payload.Request.IncludeUsage)
	return &provider.Response{Header: x.responseHeader(eventsType), Stream: s}, nil
}

// announced is a reader that says so before it reads.
type announced struct {
	io.Reader
	waiting func()
}

// Read implements [io.Reader].
func (r *announced) Read(p []byte) (int, error) {
	r.waiting()
	return r.Reader.Read(p)
}

// Next implements [provider.Stream].
func (s *stream) Next() (provider.Event, error) {
	for {
		ev, err := s.events.Next()
		switch {
		case err == nil && !ev.HasData:
			continue // a comment
		case err == nil:
		case errors.Is(err, io.ErrUnexpectedEOF) && ev.HasData && !s.lenient:
			s.lenient = true // the last event lacks its blank line
		default:
			return s.end(err)
		}
		out, err := s.take(&ev)
		if s.lenient && err != nil {
			return provider.Event{}, s.broken(io.ErrUnexpectedEOF)
		}
		return out, err
	}
}

// end handles the end of the body.
func (s *stream) end(err error) (provider.Event, error) {
	var large *sse.TooLargeError
	switch {
	case errors.As(err, &large):
		return provider.Event{}, provider.BadAnswer("an event of the upstream's stream is too large", err)
	case !errors.Is(err, io.EOF) && !s.lenient:
		return provider.Event{}, s.broken(err)
	case s.chunks.Finished() && !s.done:
		s.done = true
		return provider.Event{Frame: s.Tail(), Finished: true, Done: true}, nil
	}
	return provider.Event{}, io.EOF
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
		return provider.Event{}, s.failure(info.Fault)
	case string(ev.Name) == "error" && !info.Done:
		f := fault.Parse(s.resp.StatusCode, ev.Data)
		return provider.Event{}, s.failure(&f)
	case info.Done:
		return s.doneEvent()
	}
	if info.Finish {
		s.finishes++
	}
	out := provider.Event{Finished: s.finished()}
	if !info.Drop {
		out.Frame = s.framed(len(prefix))
		out.Commits = info.Content
		out.Refused = info.Refusal
		s.shown = s.shown || info.Content
	}
	return out, nil
}

// framed ends the frame. A line break inside JSON stands between its values, and
// may as well be a blank.
func (s *stream) framed(start int) []byte {
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
	s.frame = append(s.frame, '\n', '\n')
	return s.frame
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
	if !s.shown || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
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
func (s *stream) Close() error {
	if s.done && s.ctx.Err() == nil {
		_, _ = io.CopyN(io.Discard, s.resp.Body, maxDrain)
	}
	return s.body.Close()
}
