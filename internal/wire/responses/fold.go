package responses

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
	"gatewright/internal/wire/sse"
)

// FoldStream reads a streamed answer to its end and returns the whole answer,
// for a client that did not ask for a stream: the one in the final event. Where
// that comes without its output, the items that the stream told are put into it.
// limit bounds the bytes of all events together. The result is as good as an
// answer that came whole: judge it with [CheckAnswer].
//
// The error is a *fault.InsideError if the stream holds an error; it wraps
// fault.ErrUndecodable if the stream is malformed, too large, or ends before the
// answer is whole; errors of the reader are wrapped.
func FoldStream(events *sse.Reader, limit int) ([]byte, error) {
	f := folder{stream: NewStream(""), items: map[int64][]byte{}}
	size, last := 0, false
	for !last {
		ev, err := events.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && ev.HasData:
			last = true
		case err != nil:
			return nil, fmt.Errorf("read a streamed answer: %w", err)
		}
		if size += len(ev.Data); size > limit {
			return nil, fault.Undecodable("the streamed answer is larger than %d bytes", limit)
		}
		whole, err := f.event(&ev)
		if whole != nil || err != nil {
			return whole, err
		}
	}
	return nil, fault.Undecodable("the stream ended before the answer was whole")
}

// folder keeps what a stream told of its items.
type folder struct {
	stream *Stream
	items  map[int64][]byte // raw, by output_index
	buf    []byte
}

// event takes one event and returns the answer once it is whole.
func (f *folder) event(ev *sse.Event) (whole []byte, err error) {
	var info EventInfo
	f.buf, info, err = f.stream.Event(f.buf[:0], ev.Name, ev.Data)
	switch {
	case err != nil:
		return nil, err
	case info.Fault != nil:
		return nil, &fault.InsideError{Fault: *info.Fault}
	case info.Drop:
		return nil, nil // not whole yet
	}
	var index int64
	var item, response []byte
	c := scan.NewCursor(ev.Data, maxDepth)
	for c.EnterObject(); c.Member(); {
		switch string(c.Key()) {
		case "output_index":
			index, _ = request.Integer(c.Raw())
		case "item":
			item = c.Raw()
		case "response":
			response = c.Raw()
		}
	}
	if info.Finish {
		return f.answer(response)
	}
	if item != nil && len(f.items) < maxItems {
		f.items[index] = bytes.Clone(item) // of an item that was announced and is done, the latter
	}
	return nil, nil // not whole yet
}

// answer returns the answer of the final event.
func (f *folder) answer(response []byte) ([]byte, error) {
	if len(response) == 0 || response[0] != '{' {
		return nil, fault.Undecodable("the final event holds no answer")
	}
	var output span
	c := scan.NewCursor(response, maxDepth)
	c.EnterObject()
	open := c.Pos()
	for c.Member() {
		if string(c.Key()) == "output" {
			output.start, output.end = c.Skip()
		}
	}
	list := bytes.TrimSpace(response[output.start:output.end])
	if len(f.items) == 0 || len(list) > len("[]") && string(list) != "null" {
		return bytes.Clone(response), nil
	}
	var text []byte
	if !output.there() {
		output = span{open, open}
		text = append(text, `"output":`...)
	}
	text = append(text, '[')
	for i, index := range slices.Sorted(maps.Keys(f.items)) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, f.items[index]...)
	}
	text = append(text, ']')
	if output.start == open && output.end == open {
		text = append(text, ',')
	}
	return scan.Splice(nil, response, []scan.Edit{{Start: output.start, End: output.end, Text: text}}), nil
}
