package translate

import (
	"time"

	"gatewright/internal/wire/fault"
)

// Stream turns the stream of an upstream into the stream of a client. It is not
// safe for concurrent use.
type Stream struct {
	decoder Decoder
	encoder Encoder
	created int64
	events  []Event

	usage    Usage
	refusing bool // the open part is a refusal
	said     bool // something other than a refusal was told
	finished bool
	broken   bool // nothing more of the upstream's is read
	ended    bool
}

// StreamInfo says what one event of an upstream's stream is for the client.
type StreamInfo struct {
	// Content: the client sees something of it: text, reasoning, a call, an
	// image, or the end.
	Content bool
	// Finish: it tells why the answer ended.
	Finish bool
	// Refusal: what the client sees is the words of a refusal, or that the content
	// policy ended the answer, and nothing else was said before. It is Content too.
	Refusal bool
	// Done: it is the end of the stream, and what was appended ends the client's.
	Done bool
	// Fault is the error that it holds, nil if none; nothing was appended for it.
	// One that comes when the answer has told why it ended is the end.
	Fault *fault.Fault
}

// NewStream returns a Stream that decodes as up does and encodes as in does. r,
// u and model are those of [Codec.NewDecoder] and [Codec.NewEncoder]; now dates
// an answer whose upstream does not.
func NewStream(in, up *Codec, r *Request, u *Upstream, model string, now time.Time) *Stream {
	return &Stream{decoder: up.NewDecoder(r, u), encoder: in.NewEncoder(r, model), created: now.Unix()}
}

// Event takes one server-sent event of the upstream, appends what the client is
// to get, framed, to dst and returns the longer slice. The error wraps
// [fault.ErrUndecodable]: the rest of the stream cannot be read, and what was appended
// is all. Events after the end, or after an error, give nothing.
func (s *Stream) Event(dst, name, data []byte) (out []byte, info StreamInfo, err error) {
	if s.ended || s.broken {
		return dst, StreamInfo{}, nil
	}
	s.events, err = s.decoder.Event(s.events[:0], name, data)
	s.broken = err != nil
	dst, info = s.encode(dst)
	return dst, info, err
}

// Close says that the upstream's body has ended, and does for what is owed then
// what Event does. Without Done, now or before, the stream broke off. One that has
// told why it ended is whole, whatever came behind.
func (s *Stream) Close(dst []byte) (out []byte, info StreamInfo) {
	if s.ended {
		return dst, StreamInfo{}
	}
	s.events = s.events[:0]
	if !s.broken {
		s.events = s.decoder.Close(s.events)
	}
	if dst, info = s.encode(dst); s.finished && !s.ended {
		s.events = append(s.events[:0], Event{Kind: EventEnd})
		dst, info = s.encode(dst)
	}
	return dst, info
}

// Usage returns the usage that the stream told last.
func (s *Stream) Usage() Usage { return s.usage }

// Finished reports whether the answer is whole: the stream told why it ended.
func (s *Stream) Finished() bool { return s.finished }

// Break ends a stream that broke off: it appends the events that tell the client
// of f, in the words of its protocol and from where the stream stands, to dst and
// returns the longer slice. Nothing follows.
func (s *Stream) Break(dst []byte, f *fault.Fault) []byte {
	s.ended = true
	return s.encoder.Event(dst, &Event{Kind: EventError, Fault: f})
}

func (s *Stream) encode(dst []byte) (out []byte, info StreamInfo) {
	for i := range s.events {
		ev := &s.events[i]
		switch ev.Kind {
		case EventStart:
			if ev.Created == 0 {
				ev.Created = s.created
			}
		case EventPart:
			info.Content = s.part(&ev.Part) || info.Content
		case EventDelta:
			info.Content = true
			s.said = s.said || !s.refusing
			info.Refusal = info.Refusal || s.refusing
		case EventUsage:
			s.usage = ev.Usage
		case EventFinish:
			s.finished, info.Content, info.Finish = true, true, true
			info.Refusal = info.Refusal || ev.End.Finish == FinishFilter
		case EventEnd:
			s.ended, info.Done = true, true
		case EventError:
			s.ended = true
			if !s.finished {
				info.Fault = ev.Fault
				return dst, info
			}
			ev, info.Done = &Event{Kind: EventEnd}, true // the answer is whole
		case EventSignature, EventPartEnd, EventPing:
		}
		dst = s.encoder.Event(dst, ev)
	}
	info.Refusal = info.Refusal && !s.said
	return dst, info
}

// part notes that a part begins and reports whether there is something to see of
// it without its pieces.
func (s *Stream) part(p *Part) bool {
	s.refusing = p.Kind == KindRefusal
	visible := true
	switch p.Kind {
	case KindText, KindRefusal:
		visible = false
	case KindReasoning:
		visible = p.Redacted
	case KindImage, KindAudio, KindVideo, KindDocument, KindCall, KindResult:
	}
	s.said = s.said || visible
	return visible
}
