package anthropic

import (
	"bytes"
	"slices"
	"strconv"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// EventInfo says what one event of a stream is.
type EventInfo struct {
	// Done: the event is the message_stop that ends a stream.
	Done bool
	// Content: the event holds something that a client sees: text, a thought, a
	// call, or the end. The beginning of a message or of a text, a ping and an
	// event of an unknown kind are no content.
	Content bool
	// Finish: the event tells why the answer ended.
	Finish bool
	// Refusal: the content policy ended the answer before it said anything. It
	// is Content too.
	Refusal bool
	// Drop: the event is not for the client.
	Drop bool
	// Malformed: the event is no JSON object, or does not belong where it
	// stands: what follows cannot be trusted. Drop is set too.
	Malformed bool
	// Fault is the error that the event holds, nil if none. Drop is set too.
	Fault *fault.Fault
}

// Stream follows one streamed answer event by event. It is not safe for
// concurrent use.
type Stream struct {
	model  []byte // the public name as JSON
	member []byte // `"model":…,`

	counts   Counts
	started  bool
	begun    int   // blocks
	open     []int // indexes of the blocks that have not ended
	said     bool
	called   bool
	finished bool
	done     bool
	broken   error

	edits []scan.Edit // of the event at hand
}

// maxOpen bounds how many blocks may be open at a time; the protocol sends one
// after the other.
const maxOpen = 64

// NewStream returns a Stream for an answer whose message is to name publicModel
// as its model.
func NewStream(publicModel string) *Stream {
	name := scan.AppendString(nil, publicModel)
	return &Stream{model: name, member: modelMember(name)}
}

// Usage returns the usage that the stream told last. The counts of a stream are
// cumulative and may correct each other, so the last of each counts.
func (s *Stream) Usage() Usage { return s.counts.Usage() }

// Finished reports whether the answer is whole: the stream told why it ended,
// or it ended with message_stop and there is content.
func (s *Stream) Finished() bool { return s.finished }

// Event takes one server-sent event. It appends to dst what the client is to
// get, framed, and returns the longer slice: the event with the public model,
// after whatever the upstream left out that the makers' libraries need, such as
// the end of a block or the name of the event. Nothing is appended with Drop.
// dst and data must not share memory.
//
// A message that begins twice before its first block is one message, and the
// second beginning is dropped; a message that begins inside another cannot be
// told from a retry that was spliced in, and is malformed. The error is not nil
// only with Malformed, wraps fault.ErrUndecodable and says what is wrong; it sticks
// when the order of the events is at fault. Events after message_stop are
// dropped.
func (s *Stream) Event(dst, name, data []byte) (out []byte, info EventInfo, err error) {
	data = bytes.TrimSpace(data)
	if s.broken != nil {
		return dst, EventInfo{Drop: true, Malformed: true}, s.broken
	}
	if s.done || len(data) == 0 {
		return dst, EventInfo{Drop: true}, nil
	}
	e := eventScan{Cursor: scan.NewCursor(data, maxDepth), s: s, counts: s.counts, edits: s.edits[:0]}
	e.top(name)
	s.edits = e.edits
	if err := e.Close(); err != nil {
		return dst, EventInfo{Drop: true, Malformed: true}, fault.Undecodable("%v", err)
	}
	if e.kind == kindError || e.fault {
		f := fault.Parse(statusOK, data)
		return dst, EventInfo{Drop: true, Fault: &f}, nil
	}
	if e.odd != "" {
		return dst, EventInfo{Drop: true, Malformed: true}, fault.Undecodable("%s", e.odd)
	}
	dst, info = s.take(dst, &e)
	if s.broken != nil {
		return dst, EventInfo{Drop: true, Malformed: true}, s.broken
	}
	s.counts = e.counts
	if info.Drop {
		return dst, info, nil
	}
	slices.SortStableFunc(e.edits, byStart)
	return appendFrame(dst, e.name(name), data, e.edits), info, nil
}

// take brings the state of the stream up to date and appends what was left out
// before the event.
func (s *Stream) take(dst []byte, e *eventScan) ([]byte, EventInfo) {
	switch e.kind {
	case kindStart:
		return dst, s.begin()
	case kindBlockStart, kindBlockDelta, kindBlockStop:
		return dst, s.block(e)
	case kindDelta:
		return s.delta(dst, e)
	case kindStop:
		return s.stop(dst)
	case kindOther, kindPing, kindError:
	}
	return dst, EventInfo{}
}

func (s *Stream) begin() EventInfo {
	if s.started && (s.begun > 0 || s.finished) {
		s.broken = fault.Undecodable("a second message begins inside the first")
	}
	again := s.started
	s.started = true
	return EventInfo{Drop: again}
}

func (s *Stream) block(e *eventScan) EventInfo {
	at := slices.Index(s.open, e.index)
	switch {
	case !s.started:
		s.broken = fault.Undecodable("a block comes before the message begins")
	case s.finished:
		s.broken = fault.Undecodable("a block comes after the end of the message")
	case e.kind == kindBlockStart && (at >= 0 || len(s.open) == maxOpen):
		s.broken = fault.Undecodable("block %d begins twice, or too many are open", e.index)
	case e.kind == kindBlockStart:
		s.open = append(s.open, e.index)
		s.begun++
	case at < 0:
		s.broken = fault.Undecodable("block %d has not begun or has ended", e.index)
	case e.kind == kindBlockStop:
		s.open = slices.Delete(s.open, at, at+1)
	}
	s.said = s.said || e.says
	s.called = s.called || e.calls
	return EventInfo{Content: e.says}
}

// delta takes a message_delta. With the reason of the end it ends what is still
// open.
func (s *Stream) delta(dst []byte, e *eventScan) ([]byte, EventInfo) {
	if !s.started {
		s.broken = fault.Undecodable("the end comes before the message begins")
		return dst, EventInfo{}
	}
	if !e.ends || s.finished {
		return dst, EventInfo{}
	}
	s.finished = true
	return s.appendBlockStops(dst), EventInfo{Content: true, Finish: true, Refusal: e.refusal && !s.said}
}

// stop takes message_stop. A message that has content and no stop_reason gets
// one; one that has nothing is none, and its end is not passed on.
func (s *Stream) stop(dst []byte) ([]byte, EventInfo) {
	info := EventInfo{Done: true}
	if !s.finished {
		if !s.said {
			return dst, EventInfo{Done: true, Drop: true}
		}
		reason := "end_turn"
		if s.called {
			reason = "tool_use"
		}
		s.finished, info.Content, info.Finish = true, true, true
		dst = s.appendBlockStops(dst)
		dst = append(dst, "event: message_delta\n"+`data: {"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":`...)
		dst = strconv.AppendInt(dst, s.counts.output.n, 10)
		dst = append(dst, "}}\n\n"...)
	}
	s.done = true
	return dst, info
}

// appendBlockStops ends the blocks that are open.
func (s *Stream) appendBlockStops(dst []byte) []byte {
	for _, index := range s.open {
		dst = append(dst, "event: content_block_stop\n"+`data: {"type":"content_block_stop","index":`...)
		dst = strconv.AppendInt(dst, int64(index), 10)
		dst = append(dst, "}\n\n"...)
	}
	s.open = s.open[:0]
	return dst
}

// AppendStop appends the message_stop that the upstream owes to dst and returns
// the longer slice: when the stream breaks off after it told why the answer
// ended. Otherwise, and when it is called again, nothing is appended.
func (s *Stream) AppendStop(dst []byte) []byte {
	if !s.finished || s.done {
		return dst
	}
	s.done = true
	return append(dst, "event: message_stop\n"+`data: {"type":"message_stop"}`+"\n\n"...)
}

// appendFrame appends data with the edits made as a framed event. A line break
// inside JSON stands between its values and may as well be a blank, which is
// kinder to clients than an event of several lines.
func appendFrame(dst, name, data []byte, edits []scan.Edit) []byte {
	if isName(name) {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "data: "...)
	start := len(dst)
	dst = scan.Splice(dst, data, edits)
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' {
			dst[i] = ' '
		}
	}
	return append(dst, '\n', '\n')
}

// isName reports whether a name is one that an event may have.
func isName(name []byte) bool {
	for _, b := range name {
		if b-'0' > 9 && (b|0x20 < 'a' || b|0x20 > 'z') && b != '_' && b != '.' && b != '-' {
			return false
		}
	}
	return len(name) > 0
}
