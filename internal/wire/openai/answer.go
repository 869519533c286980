package openai

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
	// Refused is true if the answer holds nothing but a refusal or the notice
	// of a content filter. It is the same in all of its choices.
	Refused bool
	// FinishReason is why the first choice ended, empty if it does not say.
	FinishReason string

	open  int // offset behind the brace that opens the body
	model []span
	edits []scan.Edit // that mend it, in any order

	numbers, encoded bool // there are embeddings as numbers, as base64
}

// answerScan is one walk over an answer.
type answerScan struct {
	scan.Cursor
	e    Endpoint
	a    *Answer
	body []byte

	choices scan.Kind // of the member choices or data, KindInvalid if absent
	count   int       // elements of it
	useless string    // what is wrong with one of them
	unhappy int       // choices that only refuse
	fault   bool      // there is an error inside
	words   bool      // there is a message where a message of an error may be
}

// CheckAnswer judges the body of an answer with status 200 to a request that
// was not streamed. It is good if it is valid JSON, holds no error, and has at
// least one choice each of which has a message (or a text) with some content or
// a finish_reason; an embeddings answer needs at least one embedding. An empty
// text with finish_reason stop is a good answer.
//
// The error is a *fault.InsideError if the body holds an error object, and otherwise
// wraps fault.ErrUndecodable. The Answer refers to the body only by offsets.
func CheckAnswer(e Endpoint, body []byte) (Answer, error) {
	var a Answer
	s := answerScan{Cursor: scan.NewCursor(body, maxDepth), e: e, a: &a, body: body}
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
	if s.fault || s.words && s.choices == scan.KindInvalid {
		return Answer{}, &fault.InsideError{Fault: fault.Parse(statusOK, body)}
	}
	if err := s.judge(); err != nil {
		return Answer{}, err
	}
	a.Refused = s.unhappy == s.count && e != Embeddings
	return a, nil
}

// statusOK tells fault.Parse that an error came inside a good answer.
const statusOK = 200

// list returns the member that makes an answer.
func (e Endpoint) list() string {
	if e == Embeddings {
		return "data"
	}
	return "choices"
}

func (s *answerScan) judge() error {
	name := s.e.list()
	switch {
	case s.choices == scan.KindInvalid:
		return fault.Undecodable("%s is missing", name)
	case s.choices != scan.KindArray:
		return fault.Undecodable("%s is %s, not an array", name, s.choices)
	case s.count == 0:
		return fault.Undecodable("%s is empty", name)
	case s.useless != "":
		return fault.Undecodable("%s holds %s", name, s.useless)
	}
	return nil
}

func (s *answerScan) top() {
	s.a.open = s.Pos()
	var groq Usage
	for s.Member() {
		switch string(s.Key()) {
		case s.e.list():
			s.list()
		case "model":
			start, end := s.Skip()
			s.a.model = append(s.a.model, span{start, end})
		case "usage":
			if u := readUsage(&s.Cursor); u.Known {
				s.a.Usage = u
			}
		case "x_groq":
			groq = usageInside(&s.Cursor)
		case "error":
			s.fault = request.Filled(&s.Cursor) || s.fault
		case "object":
			raw, _, _ := s.Text()
			s.words = s.words || string(raw) == "error"
		case "message", "detail", "msg":
			s.words = request.Filled(&s.Cursor) || s.words
		}
	}
	if !s.a.Usage.Known {
		s.a.Usage = groq
	}
}

// usageInside takes the object that is due and reads the usage inside it.
func usageInside(c *scan.Cursor) (u Usage) {
	if !c.EnterObject() {
		return Usage{}
	}
	for c.Member() {
		if string(c.Key()) == "usage" {
			u = readUsage(c)
		}
	}
	return u
}

// list takes choices or data. Of two, as in everything else, the last counts.
func (s *answerScan) list() {
	s.choices, s.count, s.useless, s.unhappy = s.Kind(), 0, "", 0
	if !s.EnterArray() {
		return
	}
	for ; s.Element(); s.count++ {
		switch {
		case !s.EnterObject():
			s.useless = "something that is no object"
		case s.e == Embeddings:
			s.embedding()
		default:
			s.choice()
		}
	}
}

func (s *answerScan) embedding() {
	there := false
	for s.Member() {
		if string(s.Key()) == "embedding" {
			s.a.numbers = s.a.numbers || s.Kind() == scan.KindArray
			s.a.encoded = s.a.encoded || s.Kind() == scan.KindString
			there = request.Filled(&s.Cursor)
		}
	}
	if !there {
		s.useless = "an element without an embedding"
	}
}

func (s *answerScan) choice() {
	m := messageScan{Cursor: &s.Cursor, body: s.body, edits: s.a.edits, choice: s.count}
	there := false
	var finish string
	for s.Member() {
		switch string(s.Key()) {
		case "message":
			if s.e == Chat {
				there = m.walk()
			}
		case "text":
			if s.e == Completions {
				there = s.Kind() == scan.KindString
				m.note(saidText)
			}
		case "finish_reason":
			raw, _, _ := s.Text()
			finish = string(raw)
			s.fault = s.fault || finish == finishError
		case "error":
			s.fault = request.Filled(&s.Cursor) || s.fault
		}
	}
	s.a.edits = m.edits
	if s.count == 0 {
		s.a.FinishReason = finish
	}
	switch {
	case !there:
		s.useless = "a choice without a message"
		if s.e == Completions {
			s.useless = "a choice without a text"
		}
	case m.said == 0 && finish == "":
		s.useless = "a choice with neither content nor finish_reason"
	case m.said&saidContent == 0 && (m.said&saidRefusal != 0 || finish == finishFilter):
		s.unhappy++
	}
}

// Values of finish_reason that decide something: a content filter stopped the
// answer, and the upstream failed while it answered (OpenRouter).
const (
	finishFilter = "content_filter"
	finishError  = "error"
)

// AppendWithModel appends body, the text that was checked, to dst with model in
// the place of the upstream's and returns the longer slice. What clients
// stumble over is mended: a tool call without an id gets one, arguments that
// are null become "{}", and content that is a list of parts becomes a text,
// with the parts that think in reasoning_content. Everything else is copied.
func (a *Answer) AppendWithModel(dst, body []byte, model string) []byte {
	name := scan.AppendString(nil, model)
	var room [4]scan.Edit
	edits := append(room[:0], a.edits...)
	for _, m := range a.model {
		edits = append(edits, scan.Edit{Start: m.start, End: m.end, Text: name})
	}
	if len(a.model) == 0 {
		text := append([]byte(`"model":`), name...)
		edits = append(edits, scan.Edit{Start: a.open, End: a.open, Text: append(text, ',')})
	}
	slices.SortStableFunc(edits, byStart)
	return scan.Splice(dst, body, edits)
}
