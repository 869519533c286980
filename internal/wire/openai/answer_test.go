package openai_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
)

func TestAnswerRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".json") {
		t.Run(rec.File, func(t *testing.T) {
			e := openai.Chat
			if rec.Protocol == "embeddings" {
				e = openai.Embeddings
			}
			_, body := rec.body(t)
			a, err := openai.CheckAnswer(e, body)
			if err != nil {
				t.Fatal(err)
			}
			checkUsage(t, a.Usage, rec.Expect.Usage)
			if a.Refused {
				t.Error("got a refusal")
			}
			out := a.AppendWithModel(nil, body, public)
			if e == openai.Embeddings {
				checkEmbeddings(t, body, out, rec.Expect.Vectors)
				return
			}
			want := rec.Expect
			c := newClient()
			c.read(t, out)
			want.Text.check(t, "text", c.text)
			want.Reasoning.check(t, "reasoning", c.reasoning)
			calls := c.toolCalls()
			for i := range want.ToolCalls {
				want.ToolCalls[i].Index = i
				if want.ToolCalls[i].ID == "" && i < len(calls) {
					if !strings.HasPrefix(calls[i].ID, "call_") || len(calls[i].ID) < 12 {
						t.Errorf("call %d got the id %q", i, calls[i].ID)
					}
					calls[i].ID = ""
				}
			}
			if diff := cmp.Diff(want.ToolCalls, calls); diff != "" {
				t.Errorf("tool calls (-want +got):\n%s", diff)
			}
			if c.finish != *want.FinishReason || a.FinishReason != c.finish {
				t.Errorf("got finish_reason %q and %q, want %q", c.finish, a.FinishReason, *want.FinishReason)
			}
			if !c.models[public] {
				t.Errorf("got model %v", c.models)
			}
		})
	}
}

// checkEmbeddings compares all but the model.
func checkEmbeddings(t *testing.T, body, out []byte, vectors int) {
	t.Helper()
	var before, after map[string]any
	if err := errors.Join(json.Unmarshal(body, &before), json.Unmarshal(out, &after)); err != nil {
		t.Fatal(err)
	}
	before["model"] = public
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if data, _ := after["data"].([]any); len(data) != vectors {
		t.Errorf("got %d vectors, want %d", len(data), vectors)
	}
}

func TestCheckAnswerGood(t *testing.T) {
	tests := []struct {
		name string
		e    openai.Endpoint
		body string
		want openai.Answer
	}{
		{"empty text that stopped", openai.Chat, `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, openai.Answer{FinishReason: "stop"}},
		{"null text that stopped", openai.Chat, `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, openai.Answer{FinishReason: "stop"}},
		{"text without an end", openai.Chat, `{"choices":[{"message":{"content":"a"}}]}`, openai.Answer{}},
		{"error null", openai.Chat, `{"error":null,"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}`, openai.Answer{FinishReason: "length"}},
		{"error empty", openai.Chat, `{"error":{},"choices":[{"message":{"content":"a"},"error":""}]}`, openai.Answer{}},
		{"refusal", openai.Chat, `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}`, openai.Answer{FinishReason: "stop", Refused: true}},
		{"filtered", openai.Chat, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`, openai.Answer{FinishReason: "content_filter", Refused: true}},
		{"filtered in the middle", openai.Chat, `{"choices":[{"message":{"content":"a"},"finish_reason":"content_filter"}]}`, openai.Answer{FinishReason: "content_filter"}},
		{"one of two refused", openai.Chat, `{"choices":[{"message":{"refusal":"no"}},{"message":{"content":"a"}}]}`, openai.Answer{}},
		{"both refused", openai.Chat, `{"choices":[{"message":{"refusal":"no"}},{"message":{},"finish_reason":"content_filter"}]}`, openai.Answer{Refused: true}},
		{"message inside a good answer", openai.Chat, `{"message":"ok","choices":[{"message":{"content":"a"}}]}`, openai.Answer{}},
		{"usage at Groq", openai.Chat, `{"x_groq":{"usage":{"prompt_tokens":1,"completion_tokens":2}},"choices":[{"message":{"content":"a"}}]}`, openai.Answer{Usage: openai.Usage{InputTokens: 1, OutputTokens: 2, Known: true}}},
		{"completion", openai.Completions, `{"choices":[{"text":"a","finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`, openai.Answer{FinishReason: "stop", Usage: openai.Usage{InputTokens: 1, OutputTokens: 2, Known: true}}},
		{"empty completion", openai.Completions, `{"choices":[{"text":"","finish_reason":"stop"}]}`, openai.Answer{FinishReason: "stop"}},
		{"embedding", openai.Embeddings, `{"data":[{"embedding":[0.1]},{"embedding":"AAAA"}],"usage":{"prompt_tokens":1}}`, openai.Answer{Usage: openai.Usage{InputTokens: 1, Known: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := openai.CheckAnswer(tt.e, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if got.Usage != tt.want.Usage || got.Refused != tt.want.Refused || got.FinishReason != tt.want.FinishReason {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestCheckAnswerUndecodable(t *testing.T) {
	const good = `{"message":{"content":"a"},"finish_reason":"stop"}`
	tests := []struct {
		name string
		e    openai.Endpoint
		body string
		want string
	}{
		{"empty", openai.Chat, "", "the body is empty"},
		{"space", openai.Chat, " \n", "the body is empty"},
		{"page", openai.Chat, "<html>", "the body is not JSON"},
		{"prose", openai.Chat, "ok", "the body is not JSON"},
		{"array", openai.Chat, "[" + good + "]", "the body is an array, not an object"},
		{"null", openai.Chat, "null", "the body is null, not an object"},
		{"truncated", openai.Chat, `{"choices":[` + good, "the text ends too early at byte 62"},
		{"NaN", openai.Chat, `{"choices":[` + good + `],"x":NaN}`, "a value is missing at byte 68"},
		{"raw line feed in a text", openai.Chat, "{\"choices\":[{\"message\":{\"content\":\"a\nb\"}}]}", "a control byte in a string at byte 36"},
		{"two answers", openai.Chat, `{"choices":[` + good + `]}{}`, "text after the end of the value at byte 64"},
		{"no choices", openai.Chat, `{"id":"x"}`, "choices is missing"},
		{"choices null", openai.Chat, `{"choices":null}`, "choices is null, not an array"},
		{"choices empty", openai.Chat, `{"choices":[]}`, "choices is empty"},
		{"choices an object", openai.Chat, `{"choices":{"0":` + good + `}}`, "choices is an object, not an array"},
		{"the last choices count", openai.Chat, `{"choices":[` + good + `],"choices":null}`, "choices is null, not an array"},
		{"choice null", openai.Chat, `{"choices":[null]}`, "choices holds something that is no object"},
		{"one choice of two", openai.Chat, `{"choices":[` + good + `,"a"]}`, "choices holds something that is no object"},
		{"no message", openai.Chat, `{"choices":[{"finish_reason":"stop"}]}`, "choices holds a choice without a message"},
		{"message null", openai.Chat, `{"choices":[{"message":null,"finish_reason":"stop"}]}`, "choices holds a choice without a message"},
		{"a text instead of a message", openai.Chat, `{"choices":[{"text":"a","finish_reason":"stop"}]}`, "choices holds a choice without a message"},
		{"nothing said, no end", openai.Chat, `{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[]},"finish_reason":null}]}`, "choices holds a choice with neither content nor finish_reason"},
		{"a message instead of a text", openai.Completions, `{"choices":[` + good + `]}`, "choices holds a choice without a text"},
		{"no data", openai.Embeddings, `{"choices":[` + good + `]}`, "data is missing"},
		{"data empty", openai.Embeddings, `{"data":[]}`, "data is empty"},
		{"no embedding", openai.Embeddings, `{"data":[{"embedding":[0.1]},{"index":1}]}`, "data holds an element without an embedding"},
		{"embedding empty", openai.Embeddings, `{"data":[{"embedding":[]}]}`, "data holds an element without an embedding"},
		{"too deep", openai.Chat, `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,"choices":[` + good + `]}`, "nested deeper than 256 levels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openai.CheckAnswer(tt.e, []byte(tt.body))
			if !errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("got error %v, want fault.ErrUndecodable", err)
			}
			if got, want := err.Error(), "undecodable answer: "+tt.want; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestCheckAnswerFault(t *testing.T) {
	tests := []struct {
		name, body string
		kind       fault.Kind
		status     int
	}{
		{"502", `{"error":{"code":502,"message":"bad gateway"}}`, fault.Server, 502},
		{"429", `{"error":{"code":429,"message":"slow down"}}`, fault.RateLimit, 429},
		{"text", `{"error":"out of memory"}`, fault.Server, 502},
		{"beside choices", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"error":{"code":400,"message":"x"}}`, fault.BadRequest, 400},
		{"inside a choice", `{"choices":[{"message":{"content":""},"finish_reason":"error","error":{"code":503,"message":"x"}}]}`, fault.Server, 502},
		{"finish_reason error", `{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}`, fault.Server, 502},
		{"no envelope", `{"object":"error","message":"This model's maximum context length is 5","code":400}`, fault.ContextLength, 400},
		{"message only", `{"message":"Too many requests"}`, fault.RateLimit, 429},
		{"detail", `{"detail":"Not Found"}`, fault.Server, 502},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openai.CheckAnswer(openai.Chat, []byte(tt.body))
			got, ok := errors.AsType[*fault.InsideError](err)
			if !ok || errors.Is(err, fault.ErrUndecodable) {
				t.Fatalf("got error %v, want a FaultError", err)
			}
			if got.Fault.Kind != tt.kind || got.Fault.Status != tt.status {
				t.Errorf("got %v with status %d, want %v with %d", got.Fault.Kind, got.Fault.Status, tt.kind, tt.status)
			}
			if !strings.Contains(err.Error(), got.Fault.Message) {
				t.Errorf("got text %q", err)
			}
		})
	}
}

func TestAppendWithModel(t *testing.T) {
	const choice = `"choices":[{"message":{"content":"a"}}]`
	tests := []struct {
		name, body, want string
	}{
		{"replaced", `{ "model" : "x" , ` + choice + ` }`, `{ "model" : "p/\"m\"" , ` + choice + ` }`},
		{"empty", `{"model":"",` + choice + `}`, `{"model":"p/\"m\"",` + choice + `}`},
		{"null", `{"model":null,` + choice + `}`, `{"model":"p/\"m\"",` + choice + `}`},
		{"absent", `{` + choice + `}`, `{"model":"p/\"m\"",` + choice + `}`},
		{"twice", `{"model":"x",` + choice + `,"model":"y"}`, `{"model":"p/\"m\"",` + choice + `,"model":"p/\"m\""}`},
		{"nested stays", `{"model":"x","y":{"model":"z"},` + choice + `}`, `{"model":"p/\"m\"","y":{"model":"z"},` + choice + `}`},
		{"arguments null", `{"model":"x","choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":null}}]}}]}`, `{"model":"p/\"m\"","choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}`},
		{"list content", `{"model":"x","choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a\n"},{"text":"b"}]},{"type":"text","text":"c"},{"text":"\"d"}]}}]}`, `{"model":"p/\"m\"","choices":[{"message":{"reasoning_content":"a\nb","content":"c\"d"}}]}`},
		{"list content of other parts", `{"model":"x","choices":[{"message":{"content":[{"type":"image"}]},"finish_reason":"stop"}]}`, `{"model":"p/\"m\"","choices":[{"message":{"content":[{"type":"image"}]},"finish_reason":"stop"}]}`},
		{"custom call stays", `{"model":"x","choices":[{"message":{"tool_calls":[{"custom":{"name":"f","input":null}}]}}]}`, `{"model":"p/\"m\"","choices":[{"message":{"tool_calls":[{"custom":{"name":"f","input":null}}]}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := openai.CheckAnswer(openai.Chat, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // it may be called again
				if got, want := string(a.AppendWithModel([]byte("kept;"), []byte(tt.body), `p/"m"`)), "kept;"+tt.want; got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}

func TestAppendWithModelMakesIDs(t *testing.T) {
	ids := func(body string) []string {
		a, err := openai.CheckAnswer(openai.Chat, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		c := newClient()
		c.read(t, a.AppendWithModel(nil, []byte(body), public))
		var ids []string
		for _, call := range c.toolCalls() {
			ids = append(ids, call.ID)
		}
		return ids
	}
	const body = `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"id":"","function":{"name":"f","arguments":"{}"}},{"id":null,"function":{"name":"f","arguments":"{}"}}]}}],"id":"1"}`
	first := ids(body)
	if len(first) != 3 || first[0] == first[1] || first[1] == first[2] || first[0] == "" {
		t.Errorf("got ids %q", first)
	}
	if diff := cmp.Diff(first, ids(body)); diff != "" {
		t.Errorf("the same answer again (-first +again):\n%s", diff)
	}
	if other := ids(strings.Replace(body, `"id":"1"`, `"id":"2"`, 1)); other[0] == first[0] {
		t.Errorf("two answers have the id %q", first[0])
	}
}

func counted(input, output, cached, written, reasoning int64) openai.Usage {
	return openai.Usage{
		InputTokens: input, OutputTokens: output, CachedTokens: cached, CacheWriteTokens: written, ReasoningTokens: reasoning,
		Known: true,
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        openai.Usage
	}{
		{"full", `{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"completion_tokens_details":{"reasoning_tokens":5}}`, counted(10, 20, 4, 3, 5)},
		{"details null", `{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":null,"completion_tokens_details":null}`, counted(1, 2, 0, 0, 0)},
		{"other names", `{"input_tokens":1,"output_tokens":2,"input_tokens_details":{"cached_tokens":1},"output_tokens_details":{"reasoning_tokens":2}}`, counted(1, 2, 1, 0, 2)},
		{"DeepSeek", `{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4}`, counted(10, 2, 6, 0, 0)},
		{"Moonshot", `{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":6}`, counted(10, 2, 6, 0, 0)},
		{"xAI", `{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303,"completion_tokens_details":{"reasoning_tokens":290}}`, counted(12, 291, 0, 0, 290)},
		{"Gemini", `{"prompt_tokens":35,"completion_tokens":12,"total_tokens":109}`, counted(35, 74, 0, 0, 62)},
		{"cache outside the input", `{"prompt_tokens":10,"completion_tokens":2,"total_tokens":112,"prompt_tokens_details":{"cached_tokens":100}}`, counted(110, 2, 100, 0, 0)},
		{"reasoning above output", `{"prompt_tokens":43,"completion_tokens":10,"total_tokens":53,"completion_tokens_details":{"reasoning_tokens":11}}`, counted(43, 10, 0, 0, 10)},
		{"cached above input", `{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}`, counted(5, 1, 5, 0, 0)},
		{"embeddings", `{"prompt_tokens":4,"total_tokens":4}`, counted(4, 0, 0, 0, 0)},
		{"odd numbers", `{"prompt_tokens":1e1,"completion_tokens":2.0}`, counted(10, 2, 0, 0, 0)},
		{"nonsense", `{"prompt_tokens":-5,"completion_tokens":"7","total_tokens":1e300}`, openai.Usage{}},
		{"more nonsense", `{"prompt_tokens":3,"completion_tokens":1e30,"completion_tokens_details":[1]}`, counted(3, 0, 0, 0, 0)},
		{"empty", `{}`, openai.Usage{}},
		{"null", `null`, openai.Usage{}},
		{"text", `"12"`, openai.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"usage":` + tt.usage + `,"choices":[{"message":{"content":"a"}}]}`
			a, err := openai.CheckAnswer(openai.Chat, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, a.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendError(t *testing.T) {
	tests := []struct{ message, typ, param, code, want string }{
		{"no", "", "", "", `{"error":{"message":"no","type":null,"param":null,"code":null}}`},
		{"a\n\n\"data: x\"", "t", "messages[0]", "c", `{"error":{"message":"a\n\n\"data: x\"","type":"t","param":"messages[0]","code":"c"}}`},
		{"<b>\xff\u2028", "t", "", "c", `{"error":{"message":"\u003cb\u003e` + "\ufffd" + `\u2028","type":"t","param":null,"code":"c"}}`},
	}
	for _, tt := range tests {
		got := string(openai.AppendError([]byte("kept;"), tt.message, tt.typ, tt.param, tt.code))
		if want := "kept;" + tt.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
