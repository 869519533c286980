package gemini_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewright/internal/wire/gemini"
)

const material = "../../../testdata/wire/gemini"

// recording is one entry of the index of recorded answers.
type recording struct {
	File   string
	Stream bool
	Expect expectation
}

// expectation is the right reading of a recording.
type expectation struct {
	Text          longText
	FunctionCalls []expectedCall `json:"function_calls"`
	FinishReason  string         `json:"finish_reason"`
	Usage         struct {
		PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, TotalTokenCount int64
	}
	JSONChunks int `json:"json_chunks"`
}

type expectedCall struct {
	ID, Name string
	Args     any
}

// longText is a text, or the digest of a long one.
type longText struct{ text, sha256 string }

func (l *longText) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var digest struct{ SHA256 string }
		err := json.Unmarshal(data, &digest)
		l.sha256 = digest.SHA256
		return err
	}
	return json.Unmarshal(data, &l.text)
}

func (l *longText) check(t *testing.T, got string) {
	t.Helper()
	if l.sha256 != "" {
		if sum := sha256.Sum256([]byte(got)); hex.EncodeToString(sum[:]) != l.sha256 {
			t.Errorf("got text %q, which has another digest", got)
		}
		return
	}
	if got != l.text {
		t.Errorf("got text %q, want %q", got, l.text)
	}
}

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(material, name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// recordings returns the recorded answers of a kind: ".sse" or ".json".
func recordings(tb testing.TB, suffix string) []recording {
	tb.Helper()
	var index struct{ Files []recording }
	if err := json.Unmarshal(readFile(tb, "index.json"), &index); err != nil {
		tb.Fatal(err)
	}
	var some []recording
	for _, r := range index.Files {
		if strings.HasSuffix(r.File, suffix) {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		tb.Fatalf("no recordings that end in %s", suffix)
	}
	return some
}

// body returns the answer of a recorded exchange.
func (r *recording) body(tb testing.TB) []byte {
	tb.Helper()
	whole := readFile(tb, r.File)
	var exchange struct {
		Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(whole, &exchange); err != nil {
		tb.Fatalf("%s: %v", r.File, err)
	}
	if exchange.Response.Body == nil {
		return whole
	}
	return exchange.Response.Body
}

// reading is what was read of an answer, whole or from a stream.
type reading struct {
	text, thoughts string
	signatures     int
	calls          []expectedCall
	reason         string
}

func (r *reading) take(t *testing.T, a *gemini.Answer) {
	t.Helper()
	for _, c := range a.Candidates {
		for _, p := range c.Parts {
			if p.Signature != "" {
				r.signatures++
			}
			switch p.Kind {
			case gemini.PartText:
				r.text += p.Text
			case gemini.PartThought:
				r.thoughts += p.Text
			case gemini.PartCall:
				call := expectedCall{ID: p.Call.ID, Name: p.Call.Name}
				if err := json.Unmarshal(p.Call.Args, &call.Args); err != nil {
					t.Errorf("arguments %s: %v", p.Call.Args, err)
				}
				r.calls = append(r.calls, call)
			case gemini.PartNothing, gemini.PartBlob, gemini.PartFile, gemini.PartOther:
			}
		}
		if c.Reason != "" {
			r.reason = c.Reason
		}
	}
}

// check compares with the right reading.
func (e *expectation) check(t *testing.T, got *reading, u gemini.Usage) {
	t.Helper()
	e.Text.check(t, got.text)
	want, err := json.Marshal(e.FunctionCalls)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := json.Marshal(got.calls)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.FunctionCalls)+len(got.calls) > 0 && !bytes.Equal(calls, want) {
		t.Errorf("got calls %s, want %s", calls, want)
	}
	if got.reason != e.FinishReason {
		t.Errorf("got finish reason %q, want %q", got.reason, e.FinishReason)
	}
	w := gemini.Usage{
		InputTokens:     e.Usage.PromptTokenCount,
		OutputTokens:    e.Usage.CandidatesTokenCount + e.Usage.ThoughtsTokenCount,
		ReasoningTokens: e.Usage.ThoughtsTokenCount,
		Known:           true,
	}
	if u != w {
		t.Errorf("got usage %+v, want %+v", u, w)
	}
	if sum := u.InputTokens + u.OutputTokens; sum != e.Usage.TotalTokenCount {
		t.Errorf("input and output make %d tokens, the service says %d", sum, e.Usage.TotalTokenCount)
	}
}
