package gemini

import (
	"bytes"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/scan"
)

// maxDepth bounds the nesting of what upstreams send.
const maxDepth = 256

// maxCandidates bounds how many candidates are read; the gateway asks for one.
const maxCandidates = 16

// Answer is a whole answer, or what one chunk of a streamed one holds.
type Answer struct {
	ID string // responseId
	// Candidates are in the order in which they stand.
	Candidates []Candidate
	// BlockReason says why the prompt was blocked, empty if it was not. It ends
	// an answer if there is no candidate beside it.
	BlockReason string
	// BlockMessage is what the service says of it for a person.
	BlockMessage string
	Usage        Usage

	fault bool // there is an error inside
}

// Candidate is one of the alternatives of an answer, or a piece of it.
type Candidate struct {
	Index int
	Parts []Part
	// Reason is the finishReason, empty if there is none; Message is what the
	// service adds to it for a person.
	Reason, Message string
}

// holds reports whether the candidate has something that a client sees.
func (c *Candidate) holds() bool {
	for i := range c.Parts {
		if c.Parts[i].holds() {
			return true
		}
	}
	return false
}

// nameless reports whether the candidate calls a function that it does not name.
func (c *Candidate) nameless() bool {
	for i := range c.Parts {
		if c.Parts[i].Kind == PartCall && c.Parts[i].Call.Name == "" {
			return true
		}
	}
	return false
}

// pieces reports whether there are calls whose arguments come in pieces.
func (c *Candidate) pieces() bool {
	for i := range c.Parts {
		if call := &c.Parts[i].Call; call.more || len(call.pieces) > 0 {
			return true
		}
	}
	return false
}

var errNameless = fault.Undecodable("a functionCall has no name")

// CheckAnswer reads the body of an answer with status 200 to a request that was
// not streamed, and judges it. It is good if it is valid JSON, holds no error,
// and has at least one candidate each of which has something in it or ended for
// a reason; or if it says that the prompt was blocked. A candidate that is empty
// because the model wrote no readable answer (MALFORMED_FUNCTION_CALL and the
// like) is a failure of the upstream. One that is empty and ended with STOP or MAX_TOKENS is good.
//
// The error is a *fault.InsideError if the body holds an error object or such a failure,
// and otherwise wraps fault.ErrUndecodable. The Answer may share memory with the body.
func CheckAnswer(body []byte) (*Answer, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fault.Undecodable("the body is empty")
	}
	a, err := read(body)
	if err != nil {
		return nil, err
	}
	if a.fault {
		return nil, &fault.InsideError{Fault: fault.Parse(statusOK, body)}
	}
	if len(a.Candidates) == 0 && a.BlockReason == "" {
		return nil, fault.Undecodable("there are no candidates")
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		holds, finish := c.holds(), FinishOf(c.Reason)
		switch {
		case c.nameless():
			return nil, errNameless
		case !holds && finish == FinishNone:
			return nil, fault.Undecodable("a candidate has neither content nor finishReason")
		case !holds && finish == FinishMalformed:
			return nil, &fault.InsideError{Fault: unreadable(c.Reason)}
		}
	}
	return a, nil
}

// statusOK tells fault.Parse that an error came inside a good answer.
const statusOK = 200

// read reads an answer or a chunk. An array, which is how errors are wrapped at
// times, is read as what it holds if it holds one thing.
func read(body []byte) (*Answer, error) {
	c := scan.NewCursor(body, maxDepth)
	a := &Answer{}
	switch {
	case c.EnterObject():
		a.members(&c)
	case c.EnterArray():
		for n := 0; c.Element(); n++ {
			if n > 0 || !c.EnterObject() {
				c.Fail("the body is an array, not an object")
				break
			}
			a.members(&c)
		}
	default:
		c.Fail("the body is not an object")
	}
	if err := c.Close(); err != nil {
		return nil, fault.Undecodable("%v", err)
	}
	return a, nil
}

// members takes the members of an answer, which the cursor has entered.
func (a *Answer) members(c *scan.Cursor) {
	for c.Member() {
		switch string(c.Key()) {
		case "candidates":
			a.Candidates = readCandidates(c)
		case "promptFeedback":
			a.feedback(c)
		case "usageMetadata":
			if u := readUsage(c); u.Known {
				a.Usage = u
			}
		case "responseId":
			a.ID = text(c)
		case "error":
			kind := c.Kind()
			a.fault = a.fault || kind == scan.KindObject || kind == scan.KindString
		}
	}
}

func (a *Answer) feedback(c *scan.Cursor) {
	if !c.EnterObject() {
		return
	}
	for c.Member() {
		switch string(c.Key()) {
		case "blockReason":
			if reason := text(c); reason != "BLOCK_REASON_UNSPECIFIED" && reason != "BLOCKED_REASON_UNSPECIFIED" {
				a.BlockReason = reason
			}
		case "blockReasonMessage":
			a.BlockMessage = text(c)
		}
	}
}

func readCandidates(c *scan.Cursor) (list []Candidate) {
	if !c.EnterArray() {
		return nil
	}
	for c.Element() {
		if len(list) == maxCandidates || !c.EnterObject() {
			continue
		}
		list = append(list, readCandidate(c))
	}
	return list
}

func readCandidate(c *scan.Cursor) (one Candidate) {
	for c.Member() {
		switch string(c.Key()) {
		case "index":
			var n int64
			count(c, &n)
			one.Index = int(n)
		case "content":
			one.Parts = readContent(c)
		case "finishReason":
			one.Reason = text(c)
		case "finishMessage":
			one.Message = text(c)
		}
	}
	return one
}

func readContent(c *scan.Cursor) (parts []Part) {
	if !c.EnterObject() {
		return nil
	}
	for c.Member() {
		if string(c.Key()) != "parts" || !c.EnterArray() {
			continue
		}
		for c.Element() {
			parts = append(parts, readPart(c))
		}
	}
	return parts
}
