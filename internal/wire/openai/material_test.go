package openai_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const material = "../../../testdata/wire/openai"

// recording is one entry of the index of recorded answers.
type recording struct {
	File     string
	Protocol string
	Stream   bool
	Framing  string
	Request  struct{ Body json.RawMessage }
	Expect   expectation
}

type expectation struct {
	Text         longText
	Reasoning    longText
	ToolCalls    []expectedCall `json:"tool_calls"`
	FinishReason *string        `json:"finish_reason"`
	Usage        map[string]any
	Error        map[string]any
	SawDone      bool `json:"saw_done"`
	JSONChunks   int  `json:"json_chunks"`
	CommentLines int  `json:"comment_lines"`
	Vectors      int
}

type expectedCall struct {
	Index               int
	ID, Name, Arguments string
}

// longText is a text, or the digest of a long one.
type longText struct {
	text, sha256 string
}

func (l *longText) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var digest struct{ SHA256 string }
		err := json.Unmarshal(data, &digest)
		l.sha256 = digest.SHA256
		return err
	}
	return json.Unmarshal(data, &l.text) // null is no text
}

func (l *longText) check(t *testing.T, what, got string) {
	t.Helper()
	if l.sha256 != "" {
		if sum := sha256.Sum256([]byte(got)); hex.EncodeToString(sum[:]) != l.sha256 {
			t.Errorf("%s: got %q, which has another digest", what, got)
		}
		return
	}
	if got != l.text {
		t.Errorf("%s: got %q, want %q", what, got, l.text)
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

// recordings returns the recorded answers of a kind: ".sse" or ".json". What is
// neither chat nor embeddings is not among them.
func recordings(tb testing.TB, suffix string) []recording {
	tb.Helper()
	var index struct{ Files []recording }
	if err := json.Unmarshal(readFile(tb, "index.json"), &index); err != nil {
		tb.Fatal(err)
	}
	var some []recording
	for _, r := range index.Files {
		if strings.HasSuffix(r.File, suffix) && r.Protocol != "other" {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		tb.Fatalf("no recordings that end in %s", suffix)
	}
	return some
}

// body returns the request, if it was recorded, and the answer unless it is a
// stream.
func (r *recording) body(tb testing.TB) (request, answer []byte) {
	tb.Helper()
	if r.Stream {
		return r.Request.Body, nil
	}
	whole := readFile(tb, r.File)
	var exchange struct {
		Request, Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(whole, &exchange); err != nil {
		tb.Fatalf("%s: %v", r.File, err)
	}
	if exchange.Response.Body == nil {
		return nil, whole
	}
	return exchange.Request.Body, exchange.Response.Body
}

// number returns a count of a usage object, however deep; 0 if it is absent.
func number(usage map[string]any, path ...string) int64 {
	for _, key := range path[:len(path)-1] {
		usage, _ = usage[key].(map[string]any)
	}
	n, _ := usage[path[len(path)-1]].(float64)
	return int64(n)
}
