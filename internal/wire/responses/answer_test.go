package responses_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
)

func TestCheckAnswerRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".json") {
		t.Run(rec.File, func(t *testing.T) {
			_, body := rec.exchange(t)
			a, err := responses.CheckAnswer(responses.Create, body)
			if err != nil {
				t.Fatal(err)
			}
			if a.Usage != rec.Expect.Usage.wire() || a.Status != rec.Expect.Status || a.Refused {
				t.Errorf("got %+v, want %+v", a, rec.Expect)
			}
			if a.Owned.Response == "" || len(a.Owned.Items) != 1 {
				t.Errorf("got %+v", a.Owned)
			}
			out := a.AppendWithModel(nil, body, public)
			var got answer
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			rec.Expect.Text.check(t, "text", got.Output[0].Content[0].Text)
			if got.Model != public {
				t.Errorf("got model %q", got.Model)
			}
		})
	}
}

// TestErrorRecordings reads the recorded error answers of the protocol.
func TestErrorRecordings(t *testing.T) {
	const folder = "../../../testdata/wire/errors/recorded"
	for file, want := range map[string]fault.Kind{
		"openai/error-400-responses-model-not-found.json": fault.NotFound,
		"openai/error-400-responses-reasoning-item.json":  fault.BadRequest,
		"openai/responses-error-insufficient-quota.json":  fault.Quota,
		"deepseek/error-400-tool-output-missing.json":     fault.BadRequest,
	} {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		var exchange struct {
			Response struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal(data, &exchange); err != nil {
			t.Fatal(err)
		}
		body := []byte(exchange.Response.Body)
		if len(body) == 0 {
			body = data
		}
		if body[0] == '"' { // recorded as text
			var text string
			if err := json.Unmarshal(body, &text); err != nil {
				t.Fatal(err)
			}
			body = []byte(text)
		}
		_, err = responses.CheckAnswer(responses.Create, body)
		inside, ok := errors.AsType[*fault.InsideError](err)
		if !ok || inside.Fault.Kind != want {
			t.Errorf("%s: got %v, want %v", file, err, want)
		}
	}
}

func TestCheckAnswer(t *testing.T) {
	const message = `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"a"}]}`
	const refusal = `{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`
	tests := []struct {
		name, body string
		e          responses.Endpoint
		refused    bool
		err        string // part of it; empty for a good answer
	}{
		{name: "text", body: `{"status":"completed","output":[` + message + `]}`},
		{name: "no status", body: `{"output":[` + message + `]}`},
		{name: "nothing", body: `{"status":"completed","output":[]}`},
		{name: "a refusal", body: `{"status":"completed","output":[{"type":"reasoning","summary":[]},` + refusal + `]}`, refused: true},
		{name: "a refusal and text", body: `{"status":"completed","output":[` + refusal + `,` + message + `]}`},
		{name: "a refusal and a call", body: `{"status":"completed","output":[` + refusal + `,{"type":"function_call","name":"f"}]}`},
		{name: "filtered", body: `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, refused: true},
		{name: "filtered with text", body: `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[` + message + `]}`},
		{name: "cut off", body: `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`},
		{name: "queued", body: `{"id":"r","status":"queued"}`},
		{name: "an error that is null", body: `{"status":"completed","error":null,"output":[]}`},
		{name: "a count", e: responses.InputTokens, body: `{"object":"response.input_tokens","input_tokens":11}`},
		{name: "no count", e: responses.InputTokens, body: `{"object":"response.input_tokens"}`, err: "input_tokens is missing"},
		{name: "a compaction", e: responses.Compact, body: `{"id":"r","object":"response.compaction","output":[{"type":"compaction","encrypted_content":"e"}],"usage":{"input_tokens":1,"output_tokens":2}}`},
		{name: "no output", body: `{"status":"completed"}`, err: "output is missing"},
		{name: "output null", body: `{"output":null}`, err: "output is null"},
		{name: "output that is a text", body: `{"output":"a"}`, err: "output is a string"},
		{name: "empty", body: "", err: "empty"},
		{name: "a page", body: "<html>", err: "not JSON"},
		{name: "an array", body: "[]", err: "an array"},
		{name: "cut", body: `{"output":[`, err: "ends too early"},
		{name: "something behind", body: `{"output":[]}x`, err: "text after"},
		{name: "too deep", body: `{"output":[` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `]}`, err: "nested deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := responses.CheckAnswer(tt.e, []byte(tt.body))
			if tt.err != "" {
				if !errors.Is(err, fault.ErrUndecodable) || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %+v, %v; want an error with %q", a, err, tt.err)
				}
				return
			}
			if err != nil || a.Refused != tt.refused {
				t.Fatalf("got %+v, %v", a, err)
			}
			out := a.AppendWithModel([]byte("kept"), []byte(tt.body), public)
			if !json.Valid(out[4:]) || strings.Contains(string(out), public) != (tt.e == responses.Create) {
				t.Errorf("got %s", out)
			}
		})
	}
}

func TestCheckAnswerFault(t *testing.T) {
	for body, kind := range map[string]fault.Kind{
		`{"error":{"message":"boom","code":"server_error"}}`:                                                           fault.Server,
		`{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"},"output":[]}`:             fault.RateLimit,
		`{"id":"r","status":"failed","error":null,"output":[]}`:                                                        fault.Server,
		`{"id":"r","status":"cancelled","output":[]}`:                                                                  fault.Server,
		`{"detail":"Not Found"}`:                                                                                       fault.Server,
		`{"status":"failed","error":{"code":"invalid_prompt","message":"flagged"},"metadata":{"type":"server_error"}}`: fault.ContentPolicy,
	} {
		_, err := responses.CheckAnswer(responses.Create, []byte(body))
		if inside, ok := errors.AsType[*fault.InsideError](err); !ok || inside.Fault.Kind != kind || inside.Fault.Status < 400 || err.Error() == "" {
			t.Errorf("%s: got %v, want %v", body, err, kind)
		}
	}
}

func TestAnswerOwns(t *testing.T) {
	a, err := responses.CheckAnswer(responses.Create, []byte(`{"id":"resp_1","conversation":{"id":"conv_1"},"output":[{"id":"rs_1","type":"reasoning"},{"id":"msg_1","type":"message"},{"id":"rs_1","type":"reasoning"}]}`))
	want := responses.Owned{Response: "resp_1", Conversation: "conv_1", Items: []string{"rs_1", "msg_1"}}
	if diff := cmp.Diff(want, a.Owned); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        responses.Usage
	}{
		{"all", `{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":17}`, responses.Usage{InputTokens: 10, CachedTokens: 4, CacheWriteTokens: 3, OutputTokens: 7, ReasoningTokens: 5, Known: true}},
		{"reasoning outside of the output", `{"input_tokens":12,"output_tokens":1,"output_tokens_details":{"reasoning_tokens":290},"total_tokens":303}`, responses.Usage{InputTokens: 12, OutputTokens: 291, ReasoningTokens: 290, Known: true}},
		{"null", `null`, responses.Usage{}},
		{"nothing", `{"total_tokens":3}`, responses.Usage{}},
		{"nonsense", `{"input_tokens":-1,"output_tokens":"7"}`, responses.Usage{}},
		{"more than there is", `{"input_tokens":2,"input_tokens_details":{"cached_tokens":9,"cache_write_tokens":9},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":5}}`, responses.Usage{InputTokens: 2, CachedTokens: 2, OutputTokens: 1, ReasoningTokens: 1, Known: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := responses.CheckAnswer(responses.Create, []byte(`{"output":[],"usage":`+tt.usage+`}`))
			if err != nil || a.Usage != tt.want {
				t.Errorf("got %+v, %v; want %+v", a.Usage, err, tt.want)
			}
		})
	}
}
