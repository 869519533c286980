package responses_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewright/internal/wire/responses"
)

const (
	material  = "../../../testdata/wire/responses"
	public    = "public/model-1"
	jsonDepth = 128
	maxEvent  = 1 << 20
)

// recording is one entry of the index of recorded answers.
type recording struct {
	File    string
	Stream  bool
	Request struct{ Body json.RawMessage }
	Expect  expectation
}

// expectation is the right reading of a recording.
type expectation struct {
	Text          longText
	Reasoning     longText
	ToolCalls     []expectedCall `json:"tool_calls"`
	Status        string
	Usage         *usage
	StreamError   *struct{ Code, Message string } `json:"stream_error"`
	TerminalEvent string                          `json:"terminal_event"`
	EventTypes    []string                        `json:"event_types"`
	JSONEvents    int                             `json:"json_events"`
}

type expectedCall struct {
	CallID                 string `json:"call_id"`
	Name, Arguments, Input string
}

type usage struct {
	InputTokens        int64 `json:"input_tokens"`
	InputTokensDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens        int64 `json:"output_tokens"`
	OutputTokensDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// wire returns the usage as the package tells it.
func (u *usage) wire() responses.Usage {
	if u == nil {
		return responses.Usage{}
	}
	return responses.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.InputTokensDetails.CachedTokens,
		ReasoningTokens: u.OutputTokensDetails.ReasoningTokens, Known: true,
	}
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

// exchange returns the request, if it was recorded, and the answer unless it is
// a stream.
func (r *recording) exchange(tb testing.TB) (request, answer []byte) {
	tb.Helper()
	if r.Stream {
		return r.Request.Body, nil
	}
	var exchange struct {
		Request, Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(readFile(tb, r.File), &exchange); err != nil {
		tb.Fatalf("%s: %v", r.File, err)
	}
	return exchange.Request.Body, exchange.Response.Body
}

// clientRequest returns the request of a recorded client.
func clientRequest(tb testing.TB, name string) []byte {
	tb.Helper()
	var file struct {
		Request struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(readFile(tb, filepath.Join("clients", name)), &file); err != nil {
		tb.Fatal(err)
	}
	return file.Request.Body
}
