package openai

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// RawAnswer is a JSON answer of a byte route that was found good, whole or as
// one event of a stream.
type RawAnswer struct {
	// Usage is what the answer consumed, in tokens.
	Usage Usage
	// Type is the member type, by which events are told apart; "" if absent.
	Type string

	model []span
}

// CheckRaw judges the JSON body of an answer with status 200 to a byte route. It
// is good if it is a valid JSON object and holds no error; what else makes an
// answer is the endpoint's own.
//
// The error is a *fault.InsideError if the body holds an error object, and otherwise
// wraps fault.ErrUndecodable. The RawAnswer refers to the body only by offsets.
func CheckRaw(body []byte) (RawAnswer, error) {
	c := scan.NewCursor(body, maxDepth)
	if len(bytes.TrimSpace(body)) == 0 {
		return RawAnswer{}, fault.Undecodable("the body is empty")
	}
	if !c.EnterObject() {
		if kind := c.Kind(); kind != scan.KindInvalid && c.Close() == nil {
			return RawAnswer{}, fault.Undecodable("the body is %s, not an object", kind)
		}
		return RawAnswer{}, fault.Undecodable("the body is not JSON")
	}
	var a RawAnswer
	failed := false
	for c.Member() {
		switch string(c.Key()) {
		case "model":
			if c.Kind() == scan.KindString {
				start, end := c.Skip()
				a.model = append(a.model, span{start, end})
			}
		case "usage":
			if u := readUsage(&c); u.Known {
				a.Usage = u
			}
		case "type":
			raw, _, _ := c.Text()
			a.Type = string(raw)
		case "error":
			failed = request.Filled(&c) || failed
		case "object":
			raw, _, _ := c.Text()
			failed = failed || string(raw) == "error"
		}
	}
	if err := c.Close(); err != nil {
		return RawAnswer{}, fault.Undecodable("%v", err)
	}
	if failed {
		return RawAnswer{}, &fault.InsideError{Fault: fault.Parse(statusOK, body)}
	}
	return a, nil
}

// NamesModel reports whether the answer names a model.
func (a *RawAnswer) NamesModel() bool { return len(a.model) > 0 }

// AppendWithModel appends body, the text that was checked, to dst with model in
// the place of the upstream's and returns the longer slice. An answer that
// names no model is copied as it is.
func (a *RawAnswer) AppendWithModel(dst, body []byte, model string) []byte {
	var room [1]scan.Edit
	edits := room[:0]
	for _, m := range a.model {
		edits = append(edits, scan.Edit{Start: m.start, End: m.end, Text: scan.AppendString(nil, model)})
	}
	return scan.Splice(slices.Grow(dst, len(body)+len(model)), body, edits)
}

// RawStream follows the streamed answer of a byte route event by event. It is
// not safe for concurrent use.
type RawStream struct {
	model    string
	usage    Usage
	open     bool // a piece has come, and the whole that it belongs to has not
	finished bool
}

// RawInfo says what an event of a RawStream is.
type RawInfo struct {
	// Done: the event is the [DONE] that some services end a stream with.
	Done bool
	// Drop: the event is empty and not for the client.
	Drop bool
	// Malformed: the event is not a JSON object.
	Malformed bool
	// Fault is the error that the event reports, nil if none.
	Fault *fault.Fault
}

// NewRawStream returns a RawStream that shows model in the place of the
// upstream's.
func NewRawStream(model string) *RawStream { return &RawStream{model: model} }

// Event takes the data of one event. It appends to dst what the client is to
// get as data, which is the same with the public model where a model is named,
// and returns the longer slice. Nothing is appended with Done, Drop, Malformed
// or Fault. dst and data must not share memory. The error is not nil only with
// Malformed, wraps fault.ErrUndecodable and says what is wrong.
func (s *RawStream) Event(dst, data []byte) (out []byte, info RawInfo, err error) {
	switch string(bytes.TrimSpace(data)) {
	case "":
		return dst, RawInfo{Drop: true}, nil
	case "[DONE]":
		return dst, RawInfo{Done: true}, nil
	}
	a, err := CheckRaw(data)
	if f, ok := errors.AsType[*fault.InsideError](err); ok {
		return dst, RawInfo{Fault: &f.Fault}, nil
	}
	if err != nil {
		return dst, RawInfo{Malformed: true}, err
	}
	if a.Usage.Known {
		s.usage = a.Usage
	}
	switch {
	case strings.HasSuffix(a.Type, ".delta"), strings.HasSuffix(a.Type, ".partial_image"):
		s.open = true
	case strings.HasSuffix(a.Type, ".done"), strings.HasSuffix(a.Type, ".completed"):
		s.open = false
	}
	s.finished = a.Type == "transcript.text.done" || a.Type == "speech.audio.done"
	return a.AppendWithModel(dst, data, s.model), RawInfo{}, nil
}

// Open reports whether the stream would be cut short if it ended here: a piece
// of text, sound or image has come, and the event that completes it has not.
func (s *RawStream) Open() bool { return s.open }

// Finished reports whether the last event was one that nothing follows.
func (s *RawStream) Finished() bool { return s.finished }

// Usage returns what the stream has consumed, as far as it has said.
func (s *RawStream) Usage() Usage { return s.usage }
