package dialog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Model is the name that requests ask for, unless a work has its own.
const Model = "bench-model"

// MarkLength is the length of a request's mark: hex digits.
const MarkLength = 16

// Chunks is how many events with content a stream has, Gap is the time between
// two of them.
const (
	Chunks = 30
	Gap    = 3 * time.Millisecond
)

// RetryAfter is how long a limited upstream asks to be left alone: longer than
// any step of a run.
const RetryAfter = 5 * time.Minute

// userField is what stands before the mark in a request's body, answerField
// what stands before it in an answer.
const (
	userField   = `"user":"`
	answerField = `{"id":"chatcmpl-`
)

// noMark is the mark of templates.
const noMark = "0000000000000000"

const (
	created = 1760000000
	text    = "The gateway hands on what the upstream has said, byte for byte. "
	system  = "You help the people on call. Answer in a few words, name the section of the runbook, and never make up a command."
	history = `Checkout on cluster north-2 has waited for "ready" since 09:14; its pods answer 503 & start again every 40 s. `
)

// Content is the text of an answer that is not streamed.
var Content = strings.Repeat(text, 10)

// Token returns the text of the event i of a stream.
func Token(i int) string { return fmt.Sprintf(" t%02d", i) }

// Request returns the body of a chat request of about size bytes, with a
// template's mark, and where the mark stands. What the upstream looks at comes
// before the messages.
func Request(model string, size int, stream bool) (body []byte, mark int) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	const turns = 5
	messages := []message{{"system", system}}
	encoded, _ := json.Marshal(history) // a string: cannot fail
	length := max(1, (size-len(system)-400)/turns/len(encoded))
	for i := range turns {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		messages = append(messages, message{role, strings.Repeat(history, length)})
	}
	body, _ = json.Marshal(struct { // strings and numbers: cannot fail
		Model       string    `json:"model"`
		User        string    `json:"user"`
		Stream      bool      `json:"stream,omitempty"`
		Temperature float64   `json:"temperature"`
		MaxTokens   int       `json:"max_tokens"`
		Messages    []message `json:"messages"`
	}{model, noMark, stream, 0.2, 256, messages})
	return body, bytes.Index(body, []byte(userField)) + len(userField)
}

// Asked is what the upstream sees of a request.
type Asked struct {
	Mark   []byte // part of the body
	Stream bool
	Usage  bool // the stream is to end with its usage
}

// headLength is how far into a body the upstream looks for what comes before
// the messages.
const headLength = 512

var (
	streamTrue   = []byte(`"stream":true`)
	includeUsage = []byte(`"include_usage":true`)
)

// Read reads a request's body. It returns an error when the body is not whole
// or has no mark.
func Read(body []byte) (Asked, error) {
	if len(body) < 2 || body[0] != '{' || body[len(body)-1] != '}' {
		return Asked{}, errors.New("request body is not a whole JSON object")
	}
	head := body[:min(len(body), headLength)]
	at := bytes.Index(head, []byte(userField))
	if at < 0 || at+len(userField)+MarkLength > len(head) {
		return Asked{}, errors.New("request body has no user field with a mark")
	}
	at += len(userField)
	a := Asked{Mark: head[at : at+MarkLength], Stream: bytes.Contains(head, streamTrue)}
	a.Usage = a.Stream && bytes.Contains(body, includeUsage)
	return a, nil
}

// Answer returns the body of an answer, with a template's mark.
func Answer() []byte {
	return fmt.Appendf(nil, `%s%s","object":"chat.completion","created":%d,"model":"%s","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"%s","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{`+
		`"prompt_tokens":420,"completion_tokens":130,"total_tokens":550,"prompt_tokens_details":{"cached_tokens":0},`+
		`"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":"fp_bench"}`,
		answerField, noMark, created, Model, Content)
}

// Event returns the event i of a stream, with a template's mark: content for i
// below [Chunks], then the finish.
func Event(i int) []byte {
	choice := `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}`
	if i < Chunks {
		choice = `{"index":0,"delta":{"content":"` + Token(i) + `"},"logprobs":null,"finish_reason":null}`
	}
	return event(`"choices":[` + choice + `]`)
}

// UsageEvent returns the event with a stream's usage.
func UsageEvent() []byte {
	return event(`"choices":[],"usage":{"prompt_tokens":420,"completion_tokens":30,"total_tokens":450}`)
}

func event(rest string) []byte {
	return fmt.Appendf(nil, `data: %s%s","object":"chat.completion.chunk","created":%d,"model":"%s","system_fingerprint":"fp_bench",%s}`+"\n\n",
		answerField, noMark, created, Model, rest)
}

// Done is what a stream ends with.
const Done = "data: [DONE]\n\n"

// Marks lists where the marks of templates stand in b.
func Marks(b []byte) []int {
	var list []int
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(answerField))
		if i < 0 {
			return list
		}
		at += i + len(answerField)
		list = append(list, at)
	}
}

// PutMark writes the number n as the mark at the beginning of b.
func PutMark(b []byte, n uint64) {
	var digits [MarkLength]byte
	hex := strconv.AppendUint(digits[:0], n, 16)
	copy(b[:MarkLength], noMark[:MarkLength-len(hex)])
	copy(b[MarkLength-len(hex):MarkLength], hex)
}
