package recorded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Answer is a recorded answer of a model and the right reading of it, in the
// words of no protocol.
type Answer struct {
	Entry

	Text, Reasoning Text
	Calls           []Call // the ids as recorded, "" where none was; the arguments in one form
	Finish          Finish
	Reason          string // for it, in the upstream's own words; "" = none was given
	Usage           *Usage // nil = none was given
	Fails           bool   // it ends with an error
	// Pieces is the text that the pieces of the stream make, where the recording
	// leaves some out that the whole at its end has; "" = it leaves out none.
	Pieces string
	// Refusal are the words of a refusal that stand in a place of the protocol's own,
	// and which a client of another protocol reads as the text; "" = none do.
	Refusal string
	// Odd says why no client can be given the answer to a question; "" = it can.
	Odd string
	// FreeText: it calls the tool write_sql with a text that is no JSON.
	FreeText bool
}

// Call is a call of a tool.
type Call struct{ ID, Name, Arguments string }

// Usage is what an answer cost, in tokens. What was read from a cache and written
// to one is input, what was thought is output.
type Usage struct{ Input, Output int64 }

// Finish is a way to end.
type Finish string

// The ways to end.
const (
	Stopped   Finish = "stop"
	AtLength  Finish = "length"
	WithCalls Finish = "calls"
	Filtered  Finish = "filter"
)

// Resumed is the recording of a stream that is fetched and begins in the middle.
const Resumed = "openai/responses-background-stream-resume.sse"

// finishes are the ways to end by the words of upstreams; whatever is not here has
// ended by itself.
var finishes = map[string]Finish{
	"length": AtLength, "max_tokens": AtLength, "MAX_TOKENS": AtLength,
	"tool_calls": WithCalls, "tool_use": WithCalls,
	"content_filter": Filtered, "refusal": Filtered, "SAFETY": Filtered, "MODEL_ARMOR": Filtered,
}

// Answers returns every recorded answer of a model in testdata/wire. Most streams
// are plain ASCII; some of these stand there a second time in other letters, so that
// each protocol has characters that can be cut.
func Answers(wire fs.FS) ([]Answer, error) {
	files, err := Entries(wire)
	if err != nil {
		return nil, err
	}
	all := make([]Answer, 0, len(files))
	for i := range files {
		if files[i].Kind == "embeddings" || files[i].Kind == "other" {
			continue
		}
		a := Answer{Entry: files[i]}
		if err := a.expect(); err != nil {
			return nil, fmt.Errorf("what to expect of %s: %w", a.File, err)
		}
		all = append(all, a)
		if other, ok := a.inOtherLetters(); ok {
			all = append(all, other)
		}
	}
	return all, nil
}

// letters are of two, three and four bytes.
const letters = "é漢🙂"

var word = regexp.MustCompile(`[A-Za-z]{4,}`)

// inOtherLetters returns the stream with other letters in a word of its text, if
// there is a word that stands in the text alone.
func (a *Answer) inOtherLetters() (Answer, bool) {
	ascii := !slices.ContainsFunc(a.Body, func(b byte) bool { return b >= utf8.RuneSelf })
	if !a.Stream() || !ascii {
		return Answer{}, false
	}
	for _, w := range word.FindAllString(a.Text.Whole, -1) {
		if bytes.Count(a.Body, []byte(w)) != strings.Count(a.Text.Whole, w) {
			continue
		}
		other, wide := *a, w[:2]+letters+w[2:]
		other.File = "in other letters/" + a.File
		other.Body = bytes.ReplaceAll(a.Body, []byte(w), []byte(wide))
		other.Text.Whole = strings.ReplaceAll(a.Text.Whole, w, wide)
		return other, true
	}
	return Answer{}, false
}

// expectation is an entry's right reading, in the words of any protocol.
type expectation struct {
	Text, Reasoning Text
	ToolCalls       []expectedCall `json:"tool_calls"`
	FunctionCalls   []expectedCall `json:"function_calls"`
	FinishReason    string         `json:"finish_reason"`
	StopReason      string         `json:"stop_reason"`
	Status          string
	Usage           *expectedUsage
	Error           any
}

type expectedCall struct {
	ID              string
	CallID          string `json:"call_id"`
	Name, Arguments string
	InputJSON       string `json:"input_json"`
	Input, Args     json.RawMessage
}

func (c *expectedCall) call() Call {
	free := ""
	if len(c.Input) > 0 && c.Input[0] == '"' {
		_ = json.Unmarshal(c.Input, &free)
	}
	arguments := cmp.Or(c.Arguments, c.InputJSON, free, string(c.Input), string(c.Args), "{}")
	return Call{ID: cmp.Or(c.CallID, c.ID), Name: c.Name, Arguments: canonical(arguments)}
}

type expectedUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`

	Input       int64 `json:"input_tokens"`
	Output      int64 `json:"output_tokens"`
	CacheRead   int64 `json:"cache_read_input_tokens"`
	CacheCreate int64 `json:"cache_creation_input_tokens"`

	PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount int64
}

// tokens returns what was consumed: where the sum is more than its parts, the rest
// was thought.
func (u *expectedUsage) tokens() *Usage {
	out := Usage{
		Input:  u.Prompt + u.Input + u.CacheRead + u.CacheCreate + u.PromptTokenCount,
		Output: u.Completion + u.Output + u.CandidatesTokenCount + u.ThoughtsTokenCount,
	}
	if u.Prompt > 0 && u.Total > out.Input+out.Output {
		out.Output = u.Total - out.Input
	}
	return &out
}

// expect takes the right reading, and what no index tells of a few files.
func (a *Answer) expect() error {
	var e expectation
	if err := json.Unmarshal(a.Expect, &e); err != nil {
		return err
	}
	a.Text, a.Reasoning = e.Text, e.Reasoning
	for _, c := range append(e.ToolCalls, e.FunctionCalls...) {
		a.Calls = append(a.Calls, c.call())
	}
	a.Reason = cmp.Or(e.FinishReason, e.StopReason)
	if a.Finish = finishes[a.Reason]; a.Finish == "" {
		a.Finish = Stopped
	}
	if len(a.Calls) > 0 && a.Finish == Stopped {
		a.Finish = WithCalls // whatever the word, or without one
	}
	if e.Usage != nil {
		a.Usage = e.Usage.tokens()
	}
	a.Fails = e.Error != nil || e.Status == "failed" || strings.Contains(a.File, "spliced")
	a.FreeText = strings.Contains(a.File, "custom-tool")
	switch a.File {
	case "openai/responses-phase.sse":
		a.Pieces = "Got itHere are a few **AI"
	case "gemini/response-blocked-model-armor.json":
		a.Refusal = "The response violated Responsible AI Safety settings (Hate Speech, Harassment, Dangerous) filters."
	case "anthropic/refusal.sse":
		a.Refusal = "This request triggered restrictions on violative cyber content and was blocked under Anthropic's Usage Policy."
	case "anthropic/sdk-refusal.sse":
		a.Refusal = "This request was refused due to policy."
	case "openrouter/stream-error.sse":
		a.Fails = false // its error comes when the answer has ended, for which it is the reason
	case Resumed:
		a.Odd = "it begins in the middle, as what is fetched does"
	}
	return nil
}

// canonical returns JSON in one form, and any other text as it is.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(out)
}
