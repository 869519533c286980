package responses

import (
	"bytes"
	"slices"
	"strings"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// EventInfo says what one event of a stream is.
type EventInfo struct {
	// Content: the event holds something that a client sees: text, reasoning, a
	// call, a refusal, sound, or the end. What only announces (response.created,
	// an empty message or part) is no content.
	Content bool
	// Finish: the answer is whole with this event, which is the last.
	Finish bool
	// Refusal: the event holds a refusal or the notice of a content filter, and
	// so far the stream holds nothing else. It is Content too.
	Refusal bool
	// Drop: the event is not for the client.
	Drop bool
	// Malformed: the data is not a JSON object, or one without a type. Drop is set
	// too.
	Malformed bool
	// Fault is the error that the event tells, nil if none. Drop is set too.
	Fault *fault.Fault
}

// Stream follows one streamed answer event by event. It is not safe for
// concurrent use.
type Stream struct {
	model []byte // the public name as JSON

	usage    Usage
	owned    Owned
	said     said
	finished bool
	items    itemTable

	// Of the event at hand.
	edits []scan.Edit

	// For the events that end what the upstream broke off.
	id, created []byte // raw JSON
	sequence    int64  // the next number
}

// maxRaw bounds the id and the time of an answer that are remembered.
const maxRaw = 1 << 10

// NewStream returns a Stream for a streamed answer whose events are to name
// publicModel as their model.
func NewStream(publicModel string) *Stream {
	return &Stream{model: scan.AppendString(nil, publicModel)}
}

// Usage returns the usage that the stream told; it stands in the last event.
func (s *Stream) Usage() Usage { return s.usage }

// Owned returns what the upstream issued so far. Its slices are the Stream's.
func (s *Stream) Owned() Owned { return s.owned }

// Finished reports whether the answer is whole: its final event has come.
func (s *Stream) Finished() bool { return s.finished }

// Event takes one event of an upstream: its name, which may be empty, and its
// data. It appends to dst the framed event that the client is to get and returns
// the longer slice. The event carries the public model, its name stands before
// it, and its item has the id under which the item was announced: some services
// change it from event to event. Everything else is the upstream's. Nothing is
// appended with Drop. dst and data must not share memory.
//
// The error is not nil only with Malformed, wraps fault.ErrUndecodable and says what
// is wrong; the stream goes on. Events after the final one are dropped, and so
// is [DONE], which the protocol does not have.
func (s *Stream) Event(dst, name, data []byte) (out []byte, info EventInfo, err error) {
	data = bytes.TrimSpace(data)
	if s.finished || len(data) == 0 || string(data) == "[DONE]" {
		return dst, EventInfo{Drop: true}, nil
	}
	e := eventScan{Cursor: scan.NewCursor(data, maxDepth), s: s, body: data, edits: s.edits[:0], index: -1}
	e.members()
	if err := e.Close(); err != nil {
		return dst, EventInfo{Drop: true, Malformed: true}, fault.Undecodable("%v", err)
	}
	switch {
	case e.kind != "":
	case len(name) == 0 && !e.fault.there():
		return dst, EventInfo{Drop: true, Malformed: true}, fault.Undecodable("the event has no type")
	case len(name) > 0:
		e.kind = string(name)
		text := scan.AppendString([]byte(`"type":`), e.kind)
		if e.count > 0 {
			text = append(text, ',')
		}
		e.edits = append(e.edits, scan.Edit{Start: e.open, End: e.open, Text: text})
	}
	if e.usage.Known {
		s.usage = e.usage
	}
	if f := e.failure(name); f != nil {
		return dst, EventInfo{Drop: true, Fault: f}, nil
	}
	info = e.take()
	s.sequence = max(s.sequence, e.next) // of what the client gets
	s.edits = e.edits
	slices.SortStableFunc(e.edits, byStart)
	return frame(dst, e.kind, data, e.edits), info, nil
}

// frame appends an event with the edits made to its data. A line break inside
// JSON stands between its values, and may as well be a blank.
func frame(dst []byte, name string, data []byte, edits []scan.Edit) []byte {
	if name != "" && !strings.ContainsAny(name, "\r\n") {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "data: "...)
	start := len(dst)
	dst = scan.Splice(dst, data, edits)
	for _, lineBreak := range [...]byte{'\n', '\r'} {
		for rest := dst[start:]; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
	return append(dst, '\n', '\n')
}

// itemTable remembers the ids under which the items of an answer were announced.
type itemTable struct {
	items []announced
	bytes int
}

type announced struct {
	index int64
	id    []byte // raw JSON
}

// Limits of what a stream remembers of items; items beyond them pass as they
// are.
const (
	maxItems     = 256
	maxItemBytes = 64 << 10
)

// announce remembers the id of an item, unless it is known.
func (t *itemTable) announce(index int64, id []byte) {
	if len(id) == 0 || t.of(index) != nil || len(t.items) == maxItems || t.bytes+len(id) > maxItemBytes {
		return
	}
	t.items = append(t.items, announced{index, bytes.Clone(id)})
	t.bytes += len(id)
}

// of returns the id of the item at an index, nil if it was not announced.
func (t *itemTable) of(index int64) []byte {
	for i := range t.items {
		if t.items[i].index == index {
			return t.items[i].id
		}
	}
	return nil
}
