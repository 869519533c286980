package anthropic

import (
	"bytes"
	"slices"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

const (
	// maxDepth bounds the nesting of what upstreams send.
	maxDepth = 256
	// statusOK tells fault.Parse that an error came inside a good answer.
	statusOK = 200
	// stopRefusal is the stop_reason of an answer that the content policy ended.
	stopRefusal = "refusal"
)

// Answer is a whole answer that was found good.
type Answer struct {
	// Usage is what the answer consumed; of a count of tokens it is not known,
	// since nothing was.
	Usage Usage
	// Refused is true if the content policy ended the answer before it said
	// anything.
	Refused bool
	// StopReason is why the answer ended, empty if it does not say.
	StopReason string

	e     Endpoint
	open  int // offset behind the brace that opens the body
	model []span
}

// answerScan is one walk over an answer.
type answerScan struct {
	scan.Cursor
	a       *Answer
	counts  Counts
	content scan.Kind // of the member content, KindInvalid if absent
	odd     bool      // it holds something that is no block
	said    bool      // it holds something to see
	counted bool      // there is a count of input tokens
	fault   bool      // there is an error inside
	words   bool      // there is a message where a message of an error may be
}

// CheckAnswer judges the body of an answer with status 200 to a request that
// was not streamed. A message is good if it is valid JSON, holds no error, and
// has a list of blocks, which may be empty only if there is a stop_reason. A
// count of tokens needs the count.
//
// The error is a *fault.InsideError if the body holds an error object, and otherwise
// wraps fault.ErrUndecodable. The Answer refers to the body only by offsets.
func CheckAnswer(e Endpoint, body []byte) (Answer, error) {
	a := Answer{e: e}
	s := answerScan{Cursor: scan.NewCursor(body, maxDepth), a: &a}
	if len(bytes.TrimSpace(body)) == 0 {
		return Answer{}, fault.Undecodable("the body is empty")
	}
	if !s.EnterObject() {
		if kind := s.Kind(); kind != scan.KindInvalid && s.Close() == nil {
			return Answer{}, fault.Undecodable("the body is %s, not an object", kind)
		}
		return Answer{}, fault.Undecodable("the body is not JSON")
	}
	s.top()
	if err := s.Close(); err != nil {
		return Answer{}, fault.Undecodable("%v", err)
	}
	if s.fault || s.words && s.content == scan.KindInvalid && !s.counted {
		return Answer{}, &fault.InsideError{Fault: fault.Parse(statusOK, body)}
	}
	if err := s.judge(); err != nil {
		return Answer{}, err
	}
	if e == Messages {
		a.Usage = s.counts.Usage()
		a.Refused = a.StopReason == stopRefusal && !s.said
	}
	return a, nil
}

func (s *answerScan) judge() error {
	switch {
	case s.a.e == CountTokens && !s.counted:
		return fault.Undecodable("input_tokens is missing")
	case s.a.e == CountTokens:
		return nil
	case s.content == scan.KindInvalid:
		return fault.Undecodable("content is missing")
	case s.content != scan.KindArray:
		return fault.Undecodable("content is %s, not an array", s.content)
	case s.odd:
		return fault.Undecodable("content holds something that is no block")
	case !s.said && s.a.StopReason == "":
		return fault.Undecodable("the message has neither content nor stop_reason")
	}
	return nil
}

func (s *answerScan) top() {
	s.a.open = s.Pos()
	for s.Member() {
		switch string(s.Key()) {
		case "content":
			s.blocks()
		case "model":
			start, end := s.Skip()
			s.a.model = append(s.a.model, span{start, end})
		case "stop_reason":
			s.a.StopReason = request.LooseText(&s.Cursor)
		case "usage":
			s.counts.Add(&s.Cursor)
		case "input_tokens":
			s.counted = s.Kind() == scan.KindNumber
		case "type":
			raw, _, _ := s.Text()
			s.words = s.words || string(raw) == "error"
		case "error":
			s.fault = request.Filled(&s.Cursor) || s.fault
		case "message", "detail", "msg":
			s.words = request.Filled(&s.Cursor) || s.words
		}
	}
}

// blocks takes the content. Of two, as in everything else, the last counts.
func (s *answerScan) blocks() {
	s.content, s.odd, s.said = s.Kind(), false, false
	if !s.EnterArray() {
		return
	}
	for s.Element() {
		if s.Kind() != scan.KindObject {
			s.odd = true
			continue
		}
		s.said = blockSays(&s.Cursor) || s.said
	}
}

// blockSays takes a block and reports whether a client sees anything of it: any
// but a text or a thought that is empty.
func blockSays(c *scan.Cursor) (says bool) {
	c.EnterObject()
	var text, words bool
	for c.Member() {
		switch string(c.Key()) {
		case "type":
			raw, _, _ := c.Text()
			text = string(raw) == "text" || string(raw) == "thinking"
		case "text", "thinking", "signature":
			words = request.Filled(c) || words
		}
	}
	return words || !text
}

// AppendWithModel appends body, the text that was checked, to dst with model in
// the place of the upstream's and returns the longer slice. Everything else is
// copied; a count of tokens names no model.
func (a *Answer) AppendWithModel(dst, body []byte, model string) []byte {
	if a.e == CountTokens {
		return append(dst, body...)
	}
	name := scan.AppendString(nil, model)
	var room [2]scan.Edit
	edits := room[:0]
	for _, m := range a.model {
		edits = append(edits, scan.Edit{Start: m.start, End: m.end, Text: name})
	}
	if len(a.model) == 0 {
		edits = append(edits, scan.Edit{Start: a.open, End: a.open, Text: modelMember(name)})
	}
	slices.SortStableFunc(edits, byStart)
	return scan.Splice(dst, body, edits)
}

// modelMember returns the member that names a model, to stand before others.
func modelMember(name []byte) []byte {
	return append(append([]byte(`"model":`), name...), ',')
}
