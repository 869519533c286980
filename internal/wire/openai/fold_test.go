package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

const maxAnswer = 1 << 20

func fold(e openai.Endpoint, body string) ([]byte, error) {
	return openai.FoldStream(e, sse.NewReader(strings.NewReader(body), maxEvent), public, maxAnswer)
}

// stream frames chunks as events.
func stream(chunks ...string) string {
	var b []byte
	for _, c := range chunks {
		b = sse.Append(b, "", []byte(c))
	}
	return string(b)
}

// TestFoldRecordings folds each recorded stream: the whole answer reads as the
// stream does.
func TestFoldRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		t.Run(rec.File, func(t *testing.T) {
			want := rec.Expect
			mended(rec.File, &want)
			body, err := fold(openai.Chat, string(readFile(t, rec.File)))
			if want.Error != nil && want.FinishReason == nil { // otherwise it comes behind the end
				if _, ok := errors.AsType[*fault.InsideError](err); !ok {
					t.Fatalf("got %s, %v; want a FaultError", body, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			a, err := openai.CheckAnswer(openai.Chat, body)
			if err != nil {
				t.Fatal(err)
			}
			checkUsage(t, a.Usage, want.Usage)
			c := newClient()
			c.read(t, a.AppendWithModel(nil, body, public))
			want.Text.check(t, "text", c.text)
			want.Reasoning.check(t, "reasoning", c.reasoning)
			for i := range want.ToolCalls {
				want.ToolCalls[i].Index = i
			}
			if diff := cmp.Diff(want.ToolCalls, c.toolCalls()); diff != "" {
				t.Errorf("tool calls (-want +got):\n%s", diff)
			}
			if c.finish != *want.FinishReason {
				t.Errorf("got finish_reason %q, want %q", c.finish, *want.FinishReason)
			}
		})
	}
}

func TestFoldStream(t *testing.T) {
	tests := []struct {
		name   string
		e      openai.Endpoint
		chunks []string
		want   string
	}{
		{"text", openai.Chat, []string{
			`{"id":"1","created":5,"object":"chat.completion.chunk","model":"x","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}`,
			`{"id":"2","created":6,"service_tier":"default","choices":[{"index":0,"delta":{"content":"a<b"},"finish_reason":null}]}`,
			`{"id":"1","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"é"},"finish_reason":"stop"}]}`,
			`{"id":"1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
			"[DONE]", "{not read}",
		}, `{"choices":[{"finish_reason":"stop","index":0,"logprobs":null,"message":{"content":"a<bé","role":"assistant"}}],"created":5,"id":"1","model":"public/model-1","object":"chat.completion","service_tier":"default","system_fingerprint":"fp","usage":{"completion_tokens":2,"prompt_tokens":1,"total_tokens":3}}`},
		{"calls of two choices", openai.Chat, []string{
			`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{"}},{"index":0,"id":"a","function":{"name":"f"}}]}}]}`,
			`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}},{"index":0,"delta":{"refusal":"n"}}]}`,
			`{"choices":[{"index":0,"delta":{"refusal":"o"},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"tool_calls"}]}`,
		}, `{"choices":[{"finish_reason":"stop","index":0,"message":{"content":null,"refusal":"no","role":"assistant"}},{"finish_reason":"tool_calls","index":1,"message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"g"},"id":"b","type":"function"},{"function":{"arguments":"{}","name":"f"},"id":"a","type":"function"}]}}],"model":"public/model-1","object":"chat.completion"}`},
		{"logprobs, reasoning details, unknown members", openai.Chat, []string{
			`{"choices":[{"index":0,"delta":{"content":"a","reasoning_details":[{"index":0,"type":"reasoning.text","text":"x"}],"extra":1},"logprobs":{"content":[{"token":"a"}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"b","reasoning_details":[{"index":0,"type":"reasoning.text","text":"y","signature":"s"},{"type":"other"}],"extra":2},"logprobs":{"content":[{"token":"b"}]},"finish_reason":"stop"}]}`,
		}, `{"choices":[{"finish_reason":"stop","index":0,"logprobs":{"content":[{"token":"a"},{"token":"b"}]},"message":{"content":"ab","extra":2,"reasoning_details":[{"index":0,"signature":"s","text":"xy","type":"reasoning.text"},{"type":"other"}],"role":"assistant"}}],"model":"public/model-1","object":"chat.completion"}`},
		{"the answer so far beside the delta", openai.Chat, []string{
			`{"citations":["u"],"choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"}}]}`,
			`{"citations":["u","v"],"choices":[{"index":0,"message":{"content":"ab"},"delta":{"content":"b"},"finish_reason":"stop"}]}`,
		}, `{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"ab","role":"assistant"}}],"citations":["u","v"],"model":"public/model-1","object":"chat.completion"}`},
		{"completion", openai.Completions, []string{
			`{"choices":[{"text":"a","index":0,"finish_reason":null}]}`, `{"choices":[{"text":"b","index":0,"finish_reason":"length"}]}`, "[DONE]",
		}, `{"choices":[{"finish_reason":"length","index":0,"text":"ab"}],"model":"public/model-1","object":"text_completion"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := fold(tt.e, stream(tt.chunks...))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if _, err := openai.CheckAnswer(tt.e, got); err != nil {
				t.Errorf("the answer is not good: %v", err)
			}
		})
	}
}

func TestFoldStreamErrors(t *testing.T) {
	text := delta(`"content":"a"`)
	long := delta(`"content":"` + strings.Repeat("x", maxAnswer*2/3) + `"`)
	for name, body := range map[string]string{
		"empty":             "",
		"no end":            stream(text),
		"role and done":     stream(delta(`"role":"assistant"`), "[DONE]"),
		"malformed":         stream(text, "{", finish(0, "stop")),
		"not a stream":      "<html>\n\n",
		"above the limit":   stream(long, long, finish(0, "stop")),
		"second of two cut": stream(`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, finish(0, "stop")),
	} {
		if got, err := fold(openai.Chat, body); !errors.Is(err, fault.ErrUndecodable) || got != nil {
			t.Errorf("%s: got %s, %v; want fault.ErrUndecodable", name, got, err)
		}
	}
	_, err := fold(openai.Chat, stream(text, `{"error":{"code":429,"message":"slow down"}}`))
	if got, ok := errors.AsType[*fault.InsideError](err); !ok || got.Fault.Kind != fault.RateLimit {
		t.Errorf("got error %v, want a rate limit", err)
	}
	broken := errors.New("connection reset")
	r := sse.NewReader(io.MultiReader(strings.NewReader(stream(text)), iotest.ErrReader(broken)), maxEvent)
	if _, err := openai.FoldStream(openai.Chat, r, public, maxAnswer); !errors.Is(err, broken) {
		t.Errorf("got error %v, want the reader's", err)
	}
	small := sse.NewReader(strings.NewReader(stream(text)), 10)
	_, err = openai.FoldStream(openai.Chat, small, public, maxAnswer)
	if _, ok := errors.AsType[*sse.TooLargeError](err); !ok {
		t.Errorf("got error %v, want a TooLargeError", err)
	}
}

func TestFoldStreamWithoutLastLine(t *testing.T) {
	body := strings.TrimSuffix(stream(delta(`"content":"a"`), finish(0, "stop")), "\n")
	if _, err := fold(openai.Chat, body); err != nil {
		t.Error(err)
	}
}

// TestFoldStreamOfManyPieces checks that the work grows with the text, not with
// its square: this many pieces would take minutes.
func TestFoldStreamOfManyPieces(t *testing.T) {
	const n = 20_000
	var b []byte
	for i := range n {
		b = sse.Append(b, "", fmt.Appendf(nil, `{"choices":[{"index":0,"delta":{"content":"0123456789","tool_calls":[{"index":%d,"custom":{}}]}}]}`, i))
	}
	b = sse.Append(b, "", []byte(finish(0, "stop")))
	got, err := openai.FoldStream(openai.Chat, sse.NewReader(bytes.NewReader(b), maxEvent), public, 10*maxAnswer)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient()
	c.read(t, got)
	if len(c.text) != 10*n {
		t.Errorf("got %d bytes of text, want %d", len(c.text), 10*n)
	}
}

func TestUnfoldAnswer(t *testing.T) {
	const body = `{"id":"1","object":"chat.completion","created":5,"model":"x","provider":"p","service_tier":"default","choices":[` +
		`{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"r","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"},` +
		`{"index":1,"message":{"role":"assistant","content":"b<"},"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	head := func(usage, extra string) string {
		return `"created":5,"id":"1","model":"public/model-1","object":"chat.completion.chunk"` + extra + `,"service_tier":"default"` + usage
	}
	chunks := func(usage string) []string {
		return []string{
			`{"choices":[{"delta":{"content":"a","reasoning_content":"r","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c","index":0,"type":"function"}]},"finish_reason":null,"index":0,"logprobs":null}],` + head(usage, `,"provider":"p"`) + `}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls","index":0,"logprobs":null}],` + head(usage, "") + `}`,
			`{"choices":[{"delta":{"content":"b<","role":"assistant"},"finish_reason":null,"index":1}],` + head(usage, "") + `}`,
			`{"choices":[{"delta":{},"finish_reason":"stop","index":1,"logprobs":null}],` + head(usage, "") + `}`,
		}
	}
	tests := []struct {
		name, body string
		usage      bool
		want       []string
	}{
		{"chat", body, false, chunks("")},
		{"chat with usage", body, true, append(chunks(`,"usage":null`), `{"choices":[],`+head(`,"usage":{"completion_tokens":2,"prompt_tokens":1}`, "")+`}`)},
		{"completion", `{"choices":[{"text":"a","finish_reason":"length","index":0}],"model":"x"}`, true, []string{
			`{"choices":[{"finish_reason":null,"index":0,"text":"a"}],"model":"public/model-1","object":"text_completion","usage":null}`,
			`{"choices":[{"finish_reason":"length","index":0,"logprobs":null,"text":""}],"model":"public/model-1","object":"text_completion","usage":null}`,
		}},
		{"no index", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, false, []string{
			`{"choices":[{"delta":{"content":"a"},"finish_reason":null,"index":0}],"model":"public/model-1","object":"chat.completion.chunk"}`,
			`{"choices":[{"delta":{},"finish_reason":"stop","index":0,"logprobs":null}],"model":"public/model-1","object":"chat.completion.chunk"}`,
		}},
		{"not a good answer", `{"choices":[]}`, false, nil},
		{"not JSON", `x`, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range openai.UnfoldAnswer([]byte(tt.body), public, tt.usage) {
				got = append(got, string(c))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnfoldRecordings unfolds each recorded answer, reads it as a stream, and
// folds it again.
func TestUnfoldRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".json") {
		if rec.Protocol != "chat" {
			continue
		}
		t.Run(rec.File, func(t *testing.T) {
			_, body := rec.body(t)
			a, err := openai.CheckAnswer(openai.Chat, body)
			if err != nil {
				t.Fatal(err)
			}
			whole := newClient()
			whole.read(t, a.AppendWithModel(nil, body, public))

			var chunks []string
			for _, c := range openai.UnfoldAnswer(body, public, true) {
				chunks = append(chunks, string(c))
			}
			s := openai.NewStream(openai.Chat, public, true)
			got := feed(t, s, append(chunks, "[DONE]")...)
			if got.text != whole.text || got.reasoning != whole.reasoning || got.finish != whole.finish {
				t.Errorf("got %+v, want %+v", got, whole)
			}
			if diff := cmp.Diff(whole.toolCalls(), got.toolCalls()); diff != "" {
				t.Errorf("tool calls (-whole +stream):\n%s", diff)
			}
			if !s.Finished() || s.Usage() != a.Usage {
				t.Errorf("got finished %v and usage %+v, want usage %+v", s.Finished(), s.Usage(), a.Usage)
			}
			folded, err := fold(openai.Chat, stream(chunks...))
			if err != nil {
				t.Fatal(err)
			}
			again := newClient()
			again.read(t, folded)
			if again.text != whole.text || again.finish != whole.finish {
				t.Errorf("folded: got %+v, want %+v", again, whole)
			}
			if diff := cmp.Diff(usageOf(t, body), usageOf(t, folded)); diff != "" {
				t.Errorf("usage (-want +folded):\n%s", diff)
			}
		})
	}
}

func usageOf(t *testing.T, body []byte) any {
	t.Helper()
	var v struct{ Usage any }
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v.Usage
}
