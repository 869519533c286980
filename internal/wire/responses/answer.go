package responses

import (
	"bytes"
	"slices"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// maxDepth bounds the nesting of what upstreams send.
const maxDepth = 256

// Answer is a whole answer that was found good.
type Answer struct {
	// Usage is what the answer consumed.
	Usage Usage
	// Refused is true if the answer holds nothing but a refusal or the notice of
	// a content filter.
	Refused bool
	// Status is the status that the answer tells: "completed", "incomplete", or
	// "queued" and "in_progress" of one that is fetched later; empty if the
	// endpoint has none.
	Status string
	// Reason is incomplete_details.reason, empty if there is none.
	Reason string
	// Owned is what the upstream issued.
	Owned Owned

	open  int // offset behind the brace that opens the body
	model []span
	named bool // the endpoint's answers have a model
}

// said is what an answer or a stream holds.
type said uint8

const (
	saidContent said = 1 << iota // text, reasoning, a call, anything but a refusal
	saidRefusal
)

// answerScan is one walk over an answer.
type answerScan struct {
	scan.Cursor
	e Endpoint
	a *Answer

	output scan.Kind // of the member output, KindInvalid if absent
	tokens bool      // there is a count of input tokens
	fault  span      // the error inside
	words  bool      // there is a message where a message of an error may be
	said   said
}

// CheckAnswer judges the body of an answer with status 200 to a request that
// was not streamed. It is good if it is valid JSON, holds no error, did not fail
// and was not cancelled, and has an output, which may be empty; an answer of
// input_tokens needs the number.
//
// The error is a *fault.InsideError if the body holds an error or the answer failed,
// and otherwise wraps fault.ErrUndecodable. The Answer refers to the body only by
// offsets.
func CheckAnswer(e Endpoint, body []byte) (Answer, error) {
	var a Answer
	s := answerScan{Cursor: scan.NewCursor(body, maxDepth), e: e, a: &a}
	if len(bytes.TrimSpace(body)) == 0 {
		return Answer{}, fault.Undecodable("the body is empty")
	}
	if !s.EnterObject() {
		if kind := s.Kind(); kind != scan.KindInvalid && s.Close() == nil {
			return Answer{}, fault.Undecodable("the body is %s, not an object", kind)
		}
		return Answer{}, fault.Undecodable("the body is not JSON")
	}
	a.open, a.named = s.Pos(), e == Create
	s.members()
	if err := s.Close(); err != nil {
		return Answer{}, fault.Undecodable("%v", err)
	}
	switch {
	case s.fault.there():
		return Answer{}, &fault.InsideError{Fault: fault.Parse(statusOK, body[s.fault.start:s.fault.end])}
	case s.words && s.output == scan.KindInvalid && !s.tokens, failed(a.Status):
		return Answer{}, &fault.InsideError{Fault: fault.Parse(statusOK, body)}
	}
	if err := s.judge(); err != nil {
		return Answer{}, err
	}
	a.Refused = s.said&saidContent == 0 && (s.said&saidRefusal != 0 || a.Reason == reasonFilter)
	return a, nil
}

// statusOK tells fault.Parse that an error came inside a good answer.
const statusOK = 200

// reasonFilter is the incomplete_details.reason of an answer that a content
// filter stopped.
const reasonFilter = "content_filter"

func failed(status string) bool { return status == "failed" || status == "cancelled" }

func (s *answerScan) judge() error {
	switch {
	case s.e == InputTokens && s.tokens:
		return nil
	case s.e == InputTokens:
		return fault.Undecodable("input_tokens is missing")
	case s.output == scan.KindInvalid && (s.a.Status == "queued" || s.a.Status == "in_progress"):
		return nil // the output comes later
	case s.output == scan.KindInvalid:
		return fault.Undecodable("output is missing")
	case s.output != scan.KindArray:
		return fault.Undecodable("output is %s, not an array", s.output)
	}
	return nil
}

// members takes the members of an answer, which the cursor has entered.
func (s *answerScan) members() {
	for s.Member() {
		switch string(s.Key()) {
		case "id":
			s.a.Owned.Response = request.LooseText(&s.Cursor)
		case "model":
			start, end := s.Skip()
			s.a.model = append(s.a.model, span{start, end})
		case "status":
			s.a.Status = request.LooseText(&s.Cursor)
		case "usage":
			if u := readUsage(&s.Cursor); u.Known {
				s.a.Usage = u
			}
		case "input_tokens":
			s.tokens = s.Kind() == scan.KindNumber
		case "conversation":
			s.a.Owned.Conversation = ownedID(&s.Cursor)
		case "incomplete_details":
			s.details()
		case "output":
			s.outputField()
		case "error":
			s.fault = errorPlace(&s.Cursor)
		case "message", "detail", "msg":
			s.words = request.Filled(&s.Cursor) || s.words
		}
	}
}

func (s *answerScan) details() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) == "reason" {
			s.a.Reason = request.LooseText(&s.Cursor)
		}
	}
}

func (s *answerScan) outputField() {
	s.output = s.Kind()
	if !s.EnterArray() {
		return
	}
	for s.Element() {
		if s.EnterObject() {
			it := readItem(&s.Cursor)
			s.said |= it.said
			s.a.Owned.addItem(it.id)
			s.a.Owned.addEncrypted(it.encrypted)
		}
	}
}

// outputItem is what is read of an item of an output.
type outputItem struct {
	kind, id  string
	encrypted []byte // raw
	said      said
}

// readItem takes the members of an item, which the cursor has entered.
func readItem(c *scan.Cursor) (it outputItem) {
	var words, refusal bool
	for c.Member() {
		switch string(c.Key()) {
		case "type":
			it.kind = request.LooseText(c)
		case "id":
			it.id = request.LooseText(c)
		case "encrypted_content":
			it.encrypted, _, _ = c.Text()
		case "content":
			w, r := parts(c)
			words, refusal = words || w, refusal || r
		case "summary":
			w, _ := parts(c)
			words = words || w
		}
	}
	switch it.kind {
	case "message", "reasoning":
		if words {
			it.said |= saidContent
		}
		if refusal {
			it.said |= saidRefusal
		}
	case "":
	default:
		it.said |= saidContent // a call of some kind
	}
	return it
}

// parts takes the content or the summary of an item and reports whether there
// are words in it, and whether there is a refusal.
func parts(c *scan.Cursor) (words, refusal bool) {
	if !c.EnterArray() {
		return false, false
	}
	for c.Element() {
		if !c.EnterObject() {
			continue
		}
		for c.Member() {
			switch string(c.Key()) {
			case "refusal":
				refusal = request.Filled(c) || refusal
			case "text", "transcript", "data":
				words = request.Filled(c) || words
			}
		}
	}
	return words, refusal
}

// errorPlace takes the value that is due and returns its place if it is an error
// that says something.
func errorPlace(c *scan.Cursor) span {
	c.Kind() // brings the position to the value
	start := c.Pos()
	if !request.Filled(c) {
		return span{}
	}
	return span{start, c.Pos()}
}

// AppendWithModel appends body, the text that was checked, to dst with model in
// the place of the upstream's and returns the longer slice. Everything else is
// copied. An answer of an endpoint whose answers name no model gets none.
func (a *Answer) AppendWithModel(dst, body []byte, model string) []byte {
	name := scan.AppendString(nil, model)
	var room [2]scan.Edit
	edits := room[:0]
	for _, m := range a.model {
		edits = append(edits, scan.Edit{Start: m.start, End: m.end, Text: name})
	}
	if len(a.model) == 0 && a.named {
		text := append([]byte(`"model":`), name...)
		edits = append(edits, scan.Edit{Start: a.open, End: a.open, Text: append(text, ',')})
	}
	slices.SortStableFunc(edits, byStart)
	return scan.Splice(dst, body, edits)
}
