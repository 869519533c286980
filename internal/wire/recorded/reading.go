package recorded

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Reading is what a client reads in an answer.
type Reading struct {
	Text, Reasoning string // what the model says, words of a refusal among it, and thought
	Calls           []Call
	Reason          string // for its end, in the client's own words; "" = none was given
	Input, Output   int64  // tokens
	Over            bool   // it came to its end
	Failed          bool   // an error stands in it
	Model           string
	Turn            []byte // what the client sends back of it, as JSON of its protocol
	// Faults are breaches of the protocol: what a client cannot read, or must not
	// be sent where it stands.
	Faults []string
}

// Read reads an answer as a plain client of its own protocol does. The answer of
// an upstream that speaks the client's protocol is native: there the upstream is
// to blame for numbers that do not follow one another and for pieces that do not
// make the whole, which is no fault then.
func Read(q Ask, text string, native bool) *Reading {
	out := &Reading{Over: !q.Stream}
	switch q.Client {
	case Chat:
		readChat(out, text, q.Stream)
	case Messages:
		readMessages(out, text, q.Stream)
	case Responses:
		readResponses(out, text, q.Stream, native)
	case Gemini:
		out.fault("no client speaks %s", q.Client)
	}
	return out
}

func (r *Reading) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

func (r *Reading) decode(data string, into any) {
	if err := json.Unmarshal([]byte(data), into); err != nil {
		r.fault("the client cannot read %.300q: %v", data, err)
	}
}

// keep keeps what is sent back of the answer.
func (r *Reading) keep(turn any) {
	text, err := json.Marshal(turn)
	if err != nil {
		r.fault("what the client sends back: %v", err)
	}
	r.Turn = text
}

// events calls take with each event of a stream that has data. Lines end with LF,
// CRLF or CR; an event that no blank line ends is dropped.
func events(text string, take func(name, data string)) {
	name, data, some := "", "", false
	for text != "" {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			return
		}
		line := text[:end]
		if strings.HasPrefix(text[end:], "\r\n") {
			end++
		}
		text = text[end+1:]
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if some {
				take(name, data)
			}
			name, data, some = "", "", false
		case field == "event":
			name = value
		case field == "data" && some:
			data += "\n" + value
		case field == "data":
			data, some = value, true
		}
	}
}
