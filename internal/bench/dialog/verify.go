package dialog

import (
	"bytes"
	"fmt"
)

// Verifier verifies the answers of one client. It is for one goroutine.
type Verifier struct {
	id      []byte   // answerField and the mark
	content []byte   // of an answer
	tokens  [][]byte // of each event of a stream
}

// NewVerifier returns a verifier.
func NewVerifier() *Verifier {
	v := &Verifier{id: []byte(answerField + noMark), content: []byte(`"content":"` + Content + `"`)}
	for i := range Chunks {
		v.tokens = append(v.tokens, []byte(`"content":"`+Token(i)+`"`))
	}
	return v
}

var (
	finish     = []byte(`"finish_reason":"stop"`)
	usageField = []byte(`"usage":{`)
	dataPrefix = []byte("data: ")
	comment    = []byte(":")
	doneEvent  = []byte("data: [DONE]")
	eventEnd   = []byte("\n\n")
)

// Answer verifies the body of an answer that is not streamed.
func (v *Verifier) Answer(mark, body []byte) error {
	copy(v.id[len(answerField):], mark)
	switch {
	case !bytes.HasPrefix(body, v.id):
		return fmt.Errorf("answer belongs to another request, or to none: %.80q", body)
	case !bytes.Contains(body, v.content), !bytes.Contains(body, finish), !bytes.Contains(body, usageField):
		return fmt.Errorf("answer of %d bytes lacks content, finish reason or usage", len(body))
	case body[len(body)-1] != '}':
		return fmt.Errorf("answer of %d bytes is cut off", len(body))
	}
	return nil
}

// Stream verifies the body of a streamed answer: each event, their order, and
// the end. Usage was not asked for, so it must not be there.
func (v *Verifier) Stream(mark, body []byte) error {
	copy(v.id[len(answerField):], mark)
	for n := 0; n <= Chunks; {
		event, rest, whole := bytes.Cut(body, eventEnd)
		if !whole {
			return fmt.Errorf("stream is cut off after %d of %d events", n, Chunks+1)
		}
		body = rest
		if bytes.HasPrefix(event, comment) {
			continue
		}
		want := finish
		if n < Chunks {
			want = v.tokens[n]
		}
		data := bytes.TrimPrefix(event, dataPrefix)
		if len(data) == len(event) || !bytes.HasPrefix(data, v.id) || !bytes.Contains(data, want) || data[len(data)-1] != '}' {
			return fmt.Errorf("event %d of a stream is not what the upstream sent: %.200q", n, event)
		}
		n++
	}
	event, rest, whole := bytes.Cut(body, eventEnd)
	switch {
	case !whole || !bytes.Equal(event, doneEvent):
		return fmt.Errorf("stream does not end with [DONE] after its finish: %.80q", body)
	case len(rest) > 0:
		return fmt.Errorf("stream goes on after its end: %.80q", rest)
	}
	return nil
}
