package translate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

const material = "../../../testdata/wire"

// recorded is one recorded answer of chat completions or Messages and the right
// reading of it.
type recorded struct {
	protocol translate.Protocol
	file     string
	body     []byte // of the answer: a stream if the file ends in .sse
	request  []byte // nil if it was not recorded

	text, reasoning digest
	calls           []call
	reason          string // in the protocol's own words
	usage           *translate.Usage
	fails           bool // the answer ends with an error
	late            bool // which comes after the reason of its end
}

func (r *recorded) stream() bool { return strings.HasSuffix(r.file, ".sse") }

// call is a call as a client sees it.
type call struct{ ID, Name, Arguments string }

// digest is a text, or the digest of a long one.
type digest struct {
	text, sha256 string
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *digest) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		var long struct{ SHA256 string }
		err := json.Unmarshal(data, &long)
		d.sha256 = long.SHA256
		return err
	}
	return json.Unmarshal(data, &d.text) // null is no text
}

func (d *digest) check(t *testing.T, what, got string) {
	t.Helper()
	sum := sha256.Sum256([]byte(got))
	if d.sha256 != "" && hex.EncodeToString(sum[:]) != d.sha256 || d.sha256 == "" && got != d.text {
		t.Errorf("%s: got %q, want %q %s", what, got, d.text, d.sha256)
	}
}

// indexed is an entry of an index of recordings.
type indexed struct {
	File     string
	Protocol string
	Request  struct{ Body json.RawMessage }
	Expect   struct {
		Text      digest
		Reasoning digest
		ToolCalls []struct {
			ID, Name, Arguments string
			InputJSON           string `json:"input_json"`
			Input               json.RawMessage
		} `json:"tool_calls"`
		FinishReason *string `json:"finish_reason"`
		StopReason   string  `json:"stop_reason"`
		Usage        *recordedUsage
		Error        any
	}
}

// recordedUsage is a usage object of either protocol.
type recordedUsage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	CachedTokens     int64 `json:"cached_tokens"`
	PromptDetails    struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	InputTokens   int64 `json:"input_tokens"`
	OutputTokens  int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

func (u *recordedUsage) neutral(p translate.Protocol) translate.Usage {
	if p == translate.Messages {
		return translate.Usage{
			Input: u.InputTokens + u.CacheRead + u.CacheCreation, Output: u.OutputTokens,
			Cached: u.CacheRead, CacheWrite: u.CacheCreation, Known: true,
		}
	}
	out := translate.Usage{
		Input: u.PromptTokens, Output: u.CompletionTokens, Cached: max(u.PromptDetails.Cached, u.CachedTokens),
		CacheWrite: u.PromptDetails.CacheWrite, Reasoning: u.CompletionDetails.Reasoning, Known: true,
	}
	switch gap := u.TotalTokens - out.Input - out.Output; {
	case gap > 0 && gap == out.Reasoning: // xAI
		out.Output += gap
	case gap > 0: // Gemini
		out.Output += gap
		out.Reasoning += gap
	}
	out.Reasoning = min(out.Reasoning, out.Output)
	return out
}

func readMaterial(tb testing.TB, name ...string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{material}, name...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// recordedAnswers returns all recorded answers of chat completions and Messages.
func recordedAnswers(tb testing.TB) (all []recorded) {
	tb.Helper()
	for folder, p := range map[string]translate.Protocol{"openai": translate.Chat, "anthropic": translate.Messages} {
		var index struct{ Files []indexed }
		if err := json.Unmarshal(readMaterial(tb, folder, "index.json"), &index); err != nil {
			tb.Fatal(err)
		}
		for i := range index.Files {
			if f := &index.Files[i]; f.Protocol == "chat" || f.Protocol == "messages" {
				all = append(all, f.recorded(tb, folder, p))
			}
		}
	}
	if len(all) < 50 {
		tb.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

func (f *indexed) recorded(tb testing.TB, folder string, p translate.Protocol) recorded {
	tb.Helper()
	r := recorded{
		protocol: p, file: f.File, body: readMaterial(tb, folder, f.File), request: f.Request.Body,
		text: f.Expect.Text, reasoning: f.Expect.Reasoning, reason: f.Expect.StopReason, fails: f.Expect.Error != nil,
	}
	if f.Expect.FinishReason != nil {
		r.reason, r.late = *f.Expect.FinishReason, r.fails
	}
	for _, c := range f.Expect.ToolCalls {
		arguments := c.Arguments
		if p == translate.Messages {
			if arguments = c.InputJSON; arguments == "" {
				arguments = string(c.Input)
			}
		}
		if arguments == "" {
			arguments = "{}"
		}
		r.calls = append(r.calls, call{ID: c.ID, Name: c.Name, Arguments: arguments})
	}
	if f.Expect.Usage != nil {
		u := f.Expect.Usage.neutral(p)
		r.usage = &u
	}
	if len(r.calls) > 0 && r.reason == "" && !r.fails {
		r.reason = "tool_calls" // it never came: what a call needs
	}
	if !r.stream() {
		var exchange struct {
			Request, Response struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal(r.body, &exchange); err != nil {
			tb.Fatal(err)
		}
		if exchange.Response.Body != nil {
			r.request, r.body = exchange.Request.Body, exchange.Response.Body
		}
	}
	return r
}

// codecOf returns a codec.
func codecOf(tb testing.TB, p translate.Protocol) *translate.Codec {
	tb.Helper()
	c, ok := translate.For(p)
	if !ok {
		tb.Fatalf("there is no codec of %v", p)
	}
	return &c
}
