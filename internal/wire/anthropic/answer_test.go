package anthropic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/fault"
)

func TestAnswerRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".json") {
		t.Run(rec.File, func(t *testing.T) {
			_, body := rec.body(t)
			if rec.Protocol == "other" {
				a, err := anthropic.CheckAnswer(anthropic.CountTokens, body)
				if err != nil || a.Usage.Known {
					t.Fatalf("got %+v, %v", a, err)
				}
				if got := a.AppendWithModel(nil, body, public); string(got) != string(body) {
					t.Errorf("the count became %s", got)
				}
				return
			}
			a, err := anthropic.CheckAnswer(anthropic.Messages, body)
			if err != nil {
				t.Fatal(err)
			}
			want := rec.Expect
			checkUsage(t, a.Usage, want.Usage)
			if a.Refused || a.StopReason != want.StopReason {
				t.Errorf("got %+v", a)
			}
			var m message
			if err := json.Unmarshal(a.AppendWithModel(nil, body, public), &m); err != nil {
				t.Fatal(err)
			}
			text, _ := m.text()
			want.Text.check(t, "text", text)
			types, calls := []string{}, []expectedCall{}
			for _, b := range m.Content {
				types = append(types, b.Type)
				if b.Type == "tool_use" {
					calls = append(calls, expectedCall{ID: b.ID, Name: b.Name, Input: b.Input})
				}
			}
			if diff := cmp.Diff(want.BlockTypes, types); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.ToolCalls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if m.Model != public {
				t.Errorf("got model %q", m.Model)
			}
		})
	}
}

func TestCheckAnswerGood(t *testing.T) {
	text := `"content":[{"type":"text","text":"a"}]`
	tests := []struct {
		name string
		body string
		want anthropic.Answer
	}{
		{"text", `{` + text + `,"stop_reason":"end_turn"}`, anthropic.Answer{StopReason: "end_turn"}},
		{"text without an end", `{` + text + `}`, anthropic.Answer{}},
		{"nothing, but an end", `{"content":[],"stop_reason":"end_turn"}`, anthropic.Answer{StopReason: "end_turn"}},
		{"unknown block", `{"content":[{"type":"new","x":1}]}`, anthropic.Answer{}},
		{"refusal", `{"content":[],"stop_reason":"refusal","stop_details":{"explanation":"no"}}`, anthropic.Answer{StopReason: "refusal", Refused: true}},
		{"refusal with an empty text", `{"content":[{"type":"text","text":""}],"stop_reason":"refusal"}`, anthropic.Answer{StopReason: "refusal", Refused: true}},
		{"refusal in the middle", `{` + text + `,"stop_reason":"refusal"}`, anthropic.Answer{StopReason: "refusal"}},
		{"error null", `{"error":null,` + text + `}`, anthropic.Answer{}},
		{"message inside a good answer", `{"message":"ok",` + text + `}`, anthropic.Answer{}},
		{"the window was full", `{` + text + `,"stop_reason":"model_context_window_exceeded"}`, anthropic.Answer{StopReason: "model_context_window_exceeded"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := anthropic.CheckAnswer(anthropic.Messages, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if got.Usage != tt.want.Usage || got.Refused != tt.want.Refused || got.StopReason != tt.want.StopReason {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestCheckAnswerUndecodable(t *testing.T) {
	tests := []struct {
		name string
		e    anthropic.Endpoint
		body string
		want string
	}{
		{"empty", anthropic.Messages, " \n", "the body is empty"},
		{"page", anthropic.Messages, "<html>", "the body is not JSON"},
		{"array", anthropic.Messages, "[]", "the body is an array, not an object"},
		{"cut", anthropic.Messages, `{"content":[`, "the text ends too early at byte 12"},
		{"two answers", anthropic.Messages, `{"content":[]}{}`, "text after the end of the value at byte 14"},
		{"no content", anthropic.Messages, `{"id":"x","stop_reason":"end_turn"}`, "content is missing"},
		{"content null", anthropic.Messages, `{"content":null,"stop_reason":"end_turn"}`, "content is null, not an array"},
		{"content a text", anthropic.Messages, `{"content":"a"}`, "content is a string, not an array"},
		{"the last content counts", anthropic.Messages, `{"content":[{"type":"text","text":"a"}],"content":[]}`, "the message has neither content nor stop_reason"},
		{"block a text", anthropic.Messages, `{"content":[{"type":"text","text":"a"},"b"]}`, "content holds something that is no block"},
		{"nothing said, no end", anthropic.Messages, `{"content":[{"type":"text","text":""}],"stop_reason":null}`, "the message has neither content nor stop_reason"},
		{"no count", anthropic.CountTokens, `{"content":[{"type":"text","text":"a"}]}`, "input_tokens is missing"},
		{"count a text", anthropic.CountTokens, `{"input_tokens":"7"}`, "input_tokens is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := anthropic.CheckAnswer(tt.e, []byte(tt.body))
			if !errors.Is(err, fault.ErrUndecodable) || err.Error() != "undecodable answer: "+tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCheckAnswerFault(t *testing.T) {
	for body, want := range map[string]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`:                             "overloaded: Overloaded",
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200251 tokens > 200000 maximum"}}`: "context_length: prompt is too long: 200251 tokens > 200000 maximum",
		`{"content":[{"type":"text","text":"a"}],"error":{"type":"api_error","message":"x"}}`:                                      "server: x",
		`{"message":"Internal error"}`: "server: Internal error",
		`{"type":"error"}`:             "server: the upstream answered with an error that has no message (status 502)",
	} {
		_, err := anthropic.CheckAnswer(anthropic.Messages, []byte(body))
		got, ok := errors.AsType[*fault.InsideError](err)
		if !ok || errors.Is(err, fault.ErrUndecodable) || got.Error() != "error inside a good answer: "+want {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

func TestAppendWithModel(t *testing.T) {
	const rest = `"content":[{"type":"text","text":"the \"model\":\"m\" says"}],"usage":{"model":"inner"}`
	for body, want := range map[string]string{
		`{"model":"m",` + rest + `}`:                `{"model":"p\"q",` + rest + `}`,
		"{\n" + rest + `,"model" : null }`:          "{\n" + rest + `,"model" : "p\"q" }`,
		`{ ` + rest + `}`:                           `{"model":"p\"q", ` + rest + `}`,
		`{"model":"m","mod\u0065l":1,` + rest + `}`: `{"model":"p\"q","mod\u0065l":"p\"q",` + rest + `}`,
	} {
		a, err := anthropic.CheckAnswer(anthropic.Messages, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(a.AppendWithModel([]byte("kept;"), []byte(body), `p"q`)); got != "kept;"+want {
			t.Errorf("got  %s\nwant %s", got, "kept;"+want)
		}
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        anthropic.Usage
	}{
		{"none", `null`, anthropic.Usage{}},
		{"names no count", `{"service_tier":"standard"}`, anthropic.Usage{}},
		{"plain", `{"input_tokens":3,"output_tokens":5}`, anthropic.Usage{InputTokens: 3, OutputTokens: 5, Known: true}},
		{"cache", `{"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":20,"output_tokens":5}`, anthropic.Usage{InputTokens: 33, OutputTokens: 5, CachedTokens: 10, CacheWriteTokens: 20, Known: true}},
		{"lifetimes", `{"input_tokens":3,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":8,"ephemeral_1h_input_tokens":12},"output_tokens":5}`, anthropic.Usage{InputTokens: 23, OutputTokens: 5, CacheWriteTokens: 20, CacheWriteLongTokens: 12, Known: true}},
		{"lifetimes alone", `{"input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":8,"ephemeral_1h_input_tokens":12},"output_tokens":5}`, anthropic.Usage{InputTokens: 23, OutputTokens: 5, CacheWriteTokens: 20, CacheWriteLongTokens: 12, Known: true}},
		{"thinking", `{"input_tokens":3,"output_tokens":5,"output_tokens_details":{"thinking_tokens":4}}`, anthropic.Usage{InputTokens: 3, OutputTokens: 5, ReasoningTokens: 4, Known: true}},
		{"more thinking than output", `{"output_tokens":5,"output_tokens_details":{"thinking_tokens":9}}`, anthropic.Usage{OutputTokens: 5, ReasoningTokens: 5, Known: true}},
		{"nonsense", `{"input_tokens":-3,"output_tokens":1e30,"cache_read_input_tokens":"7"}`, anthropic.Usage{}},
		{"null counts", `{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":null,"cache_creation":null}`, anthropic.Usage{InputTokens: 3, OutputTokens: 5, Known: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := anthropic.CheckAnswer(anthropic.Messages, []byte(`{"content":[],"stop_reason":"end_turn","usage":`+tt.usage+`}`))
			if err != nil || a.Usage != tt.want {
				t.Errorf("got %+v, %v, want %+v", a.Usage, err, tt.want)
			}
		})
	}
}

// TestStreamUsage: each count of a stream is the last one that was told.
func TestStreamUsage(t *testing.T) {
	f := follow(t, stream(
		strings.Replace(start, `"input_tokens":3`, `"input_tokens":3,"cache_read_input_tokens":100`, 1),
		text0, hello, stop0,
		`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":4,"input_tokens":61}}`,
		ended, over,
	))
	want := anthropic.Usage{InputTokens: 161, OutputTokens: 7, CachedTokens: 100, Known: true}
	if got := f.stream.Usage(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := anthropic.NewStream(public).Usage(); got != (anthropic.Usage{}) {
		t.Errorf("before the first event: got %+v", got)
	}
}

func TestAppendError(t *testing.T) {
	const want = `{"type":"error","error":{"type":"overloaded_error","message":"say \"no\"\n"},"request_id":`
	if got := string(anthropic.AppendError([]byte("kept;"), "overloaded_error", "say \"no\"\n", "req_1")); got != "kept;"+want+`"req_1"}` {
		t.Errorf("got %s", got)
	}
	if got := string(anthropic.AppendErrorEvent(nil, "overloaded_error", "say \"no\"\n", "")); got != "event: error\ndata: "+want+"null}\n\n" {
		t.Errorf("got %s", got)
	}
}

func TestErrorType(t *testing.T) {
	for status, want := range map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		408: "timeout_error", 413: "request_too_large", 422: "invalid_request_error", 429: "rate_limit_error",
		500: "api_error", 502: "api_error", 503: "overloaded_error", 504: "timeout_error", 529: "overloaded_error",
	} {
		if got := anthropic.ErrorType(status); got != want {
			t.Errorf("%d: got %q, want %q", status, got, want)
		}
	}
}

func TestTakesSampling(t *testing.T) {
	for version, want := range map[string]bool{"": true, anthropic.Version20230601: true, anthropic.Version20261021: false, "2027-01-01": false} {
		if got := anthropic.TakesSampling(version); got != want {
			t.Errorf("%q: got %v", version, got)
		}
	}
}
