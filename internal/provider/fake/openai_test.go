package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const weatherTool = `"tools":[{"type":"custom","custom":{"name":"odd"}},{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":2},"note":{"type":"string"}},"required":["city","days"]}}},{"type":"function","function":{"name":"other"}}]`

// normal replaces what differs from call to call.
func normal(t *testing.T, body []byte) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if id, ok := v["id"].(string); ok && strings.Contains(id, "-") {
		prefix, rest, _ := strings.Cut(id, "-")
		v["id"] = fmt.Sprintf("%s-%d", prefix, len(rest))
	}
	if at, ok := v["created"].(float64); ok && at > modelsCreated {
		v["created"] = "now"
	}
	return v
}

func object(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

const noDetails = `"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}`

func TestPlainAnswers(t *testing.T) {
	for _, c := range []struct {
		name, behaviour, path, body, want string
	}{
		{
			"chat", "answer: {text: 'Say \"hi\"'}", chatPath, chatBody,
			`{"id":"chatcmpl-32","object":"chat.completion","created":"now","model":"m","system_fingerprint":"fp_simulated","service_tier":"default",
			"choices":[{"index":0,"message":{"role":"assistant","content":"Say \"hi\"","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],
			"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13,` + noDetails + `}}`,
		},
		{
			"two choices, cut", "answer: {text: a b c}", chatPath, `{"model":"m","n":2,"max_completion_tokens":2,"max_tokens":1,"messages":[{}]}`,
			`{"id":"chatcmpl-32","object":"chat.completion","created":"now","model":"m","system_fingerprint":"fp_simulated","service_tier":"default",
			"choices":[{"index":0,"message":{"role":"assistant","content":"a b","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"length"},
			{"index":1,"message":{"role":"assistant","content":"a b","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"length"}],
			"usage":{"prompt_tokens":1,"completion_tokens":4,"total_tokens":5,` + noDetails + `}}`,
		},
		{
			"reasoning and fixed usage", "answer: {text: a b c, reasoning: d e, usage: {prompt: 100, cached: 60}}", chatPath, chatBody,
			`{"id":"chatcmpl-32","object":"chat.completion","created":"now","model":"m","system_fingerprint":"fp_simulated","service_tier":"default",
			"choices":[{"index":0,"message":{"role":"assistant","content":"a b c","reasoning_content":"d e","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],
			"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":60,"audio_tokens":0},
			"completion_tokens_details":{"reasoning_tokens":2,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}`,
		},
		{
			"completions, two prompts", "answer: {text: a}", "/a/v1/completions", `{"model":"m","prompt":["x","yyyyy"]}`,
			`{"id":"cmpl-32","object":"text_completion","created":"now","model":"m","system_fingerprint":"fp_simulated","service_tier":"default",
			"choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":"stop"},{"index":1,"text":"a","logprobs":null,"finish_reason":"stop"}],
			"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,` + noDetails + `}}`,
		},
		{
			"models", "models: [m, org/name]", "/a/v1/models", "",
			`{"object":"list","data":[{"id":"m","object":"model","created":1767225600,"owned_by":"simulation"},{"id":"org/name","object":"model","created":1767225600,"owned_by":"simulation"}]}`,
		},
		{"no models", "{}", "/a/v1/models", "", `{"object":"list","data":[]}`},
		{"one model", "models: [m, org/name]", "/a/v1/models/org%2Fname", "", `{"id":"org/name","object":"model","created":1767225600,"owned_by":"simulation"}`},
		{"one model, slash", "models: [m, org/name]", "/a/v1/models/org/name", "", `{"id":"org/name","object":"model","created":1767225600,"owned_by":"simulation"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			method := "POST"
			if c.body == "" {
				method = "GET"
			}
			got := r.send(t, method, c.path, c.body)
			if diff := cmp.Diff(object(t, c.want), normal(t, got.body)); diff != "" || got.status != 200 {
				t.Errorf("%d (-want +got):\n%s", got.status, diff)
			}
			if len(got.header.Get("X-Request-Id")) != 36 || got.header.Get("Openai-Version") == "" || got.header.Get("Content-Type") != contentJSON {
				t.Errorf("headers %v", got.header)
			}
		})
	}
}

// TestStreamOnTheWire holds the whole stream still, byte for byte.
func TestStreamOnTheWire(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {text: 'a \"b'}"), Options{})
	for _, c := range []struct {
		name, path, body string
		want             []string
	}{
		{"without usage", chatPath, `{"model":"m","stream":true,"messages":[{}]}`, []string{
			`HEAD"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]}`,
			`HEAD"choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}]}`,
			`HEAD"choices":[{"index":0,"delta":{"content":" \"b"},"logprobs":null,"finish_reason":null}]}`,
			`HEAD"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}`,
			`[DONE]`, ``,
		}},
		{"with usage", chatPath, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{}],"max_tokens":1}`, []string{
			`HEAD"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`,
			`HEAD"choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}],"usage":null}`,
			`HEAD"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null}`,
			`HEAD"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,` + noDetails + `}}`,
			`[DONE]`, ``,
		}},
		{"completions", "/a/v1/completions", `{"model":"m","stream":true,"prompt":"x"}`, []string{
			`HEAD"choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null}]}`,
			`HEAD"choices":[{"index":0,"text":" \"b","logprobs":null,"finish_reason":null}]}`,
			`HEAD"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]}`,
			`[DONE]`, ``,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.send(t, "POST", c.path, c.body)
			first, _, _ := strings.Cut(string(got.body), `"choices":`)
			head := strings.TrimPrefix(first, "data: ")
			want := strings.ReplaceAll("data: "+strings.Join(c.want, "\n\ndata: "), "HEAD", head)
			want = strings.TrimSuffix(want, "data: ")
			if diff := cmp.Diff(want, string(got.body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.header.Get("Content-Type") != contentStream || got.header.Get("Content-Length") != "" || got.header.Get("Cache-Control") != "no-cache" {
				t.Errorf("headers %v", got.header)
			}
		})
	}
}

func TestToolCalls(t *testing.T) {
	for _, c := range []struct {
		name, behaviour, rest string
		tool, arguments       string // "" for a text
	}{
		{"first function", "{}", weatherTool, "weather", `{"city":"text","days":2}`},
		{"named", "{}", weatherTool + `,"tool_choice":{"type":"function","function":{"name":"other"}}`, "other", "{}"},
		{"none asked", "{}", weatherTool + `,"tool_choice":"none"`, "", ""},
		{"none by the script", "answer: {tool_calls: none}", weatherTool, "", ""},
		{"after a result", "{}", weatherTool + `,"messages":[{"role":"user","content":"x"},{"role":"tool","content":"5"}]`, "", ""},
		{"after a result, required", "{}", weatherTool + `,"tool_choice":"required","messages":[{"role":"tool","content":"5"}]`, "weather", `{"city":"text","days":2}`},
		{"no function among the tools", "{}", `"tools":[{"type":"custom","custom":{"name":"odd"}}]`, "", ""},
		{"null", "{}", `"tools":null,"tool_choice":null`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			body := `{"model":"m","messages":[{"role":"user","content":"x"}],` + c.rest
			var v struct {
				Choices []struct {
					Message struct {
						Content   *string
						ToolCalls []struct {
							ID, Type string
							Function struct{ Name, Arguments string }
						} `json:"tool_calls"`
					}
					FinishReason string `json:"finish_reason"`
				}
			}
			got := r.send(t, "POST", chatPath, body+"}")
			if err := json.Unmarshal(got.body, &v); err != nil || len(v.Choices) != 1 {
				t.Fatalf("%v in %s", err, got.body)
			}
			stream := joinToolCall(t, r.send(t, "POST", chatPath, body+`,"stream":true}`).body)
			m := v.Choices[0].Message
			if c.tool == "" {
				if m.Content == nil || len(m.ToolCalls) != 0 || v.Choices[0].FinishReason != "stop" || stream != (call3{finish: "stop"}) {
					t.Errorf("got %s and %+v, want a text", got.body, stream)
				}
				return
			}
			if m.Content != nil || len(m.ToolCalls) != 1 || v.Choices[0].FinishReason != "tool_calls" {
				t.Fatalf("got %s, want a call", got.body)
			}
			one := m.ToolCalls[0]
			if one.Function.Name != c.tool || one.Function.Arguments != c.arguments || one.Type != "function" || !strings.HasPrefix(one.ID, "call_") {
				t.Errorf("got %+v, want %s(%s)", one, c.tool, c.arguments)
			}
			if stream.name != c.tool || stream.arguments != c.arguments || stream.finish != "tool_calls" || stream.id == "" {
				t.Errorf("streamed %+v, want %s(%s)", stream, c.tool, c.arguments)
			}
		})
	}
}

type call3 struct{ id, name, arguments, finish string }

// joinToolCall puts a streamed call together as the SDKs do.
func joinToolCall(t *testing.T, stream []byte) call3 {
	t.Helper()
	var out call3
	for _, data := range events(stream) {
		var c chunk
		if data == "[DONE]" {
			continue
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatal(err)
		}
		for _, ch := range c.Choices {
			for _, tc := range ch.Delta.ToolCalls {
				out.id += tc.ID
				out.name += tc.Function.Name
				out.arguments += tc.Function.Arguments
			}
			if ch.FinishReason != nil {
				out.finish = *ch.FinishReason
			}
		}
	}
	return out
}

func TestParallelToolCalls(t *testing.T) {
	const want = "weather{\"city\":\"text\",\"days\":2} other{}"
	r := newRig(t, oneUpstream("answer: {tool_calls: all}"), Options{})
	body := `{"model":"m","messages":[{"role":"user","content":"x"}],` + weatherTool
	var v struct {
		Choices []struct {
			Message struct {
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal(r.send(t, "POST", chatPath, body+"}").body, &v); err != nil || len(v.Choices) != 1 {
		t.Fatalf("%v in %+v", err, v)
	}
	var got []string
	ids := map[string]bool{}
	for _, c := range v.Choices[0].Message.ToolCalls {
		got = append(got, c.Function.Name+c.Function.Arguments)
		ids[c.ID] = true
	}
	if strings.Join(got, " ") != want || len(ids) != 2 {
		t.Errorf("got %q with the ids %v", got, ids)
	}
	streamed := make([]string, 2)
	for _, data := range events(r.send(t, "POST", chatPath, body+`,"stream":true}`).body) {
		var c chunk
		if data == "[DONE]" || json.Unmarshal([]byte(data), &c) != nil {
			continue
		}
		for _, tc := range c.Choices[0].Delta.ToolCalls {
			streamed[tc.Index] += tc.Function.Name + tc.Function.Arguments
		}
	}
	if strings.Join(streamed, " ") != want {
		t.Errorf("streamed %q", streamed)
	}
	if one := joinToolCall(t, r.send(t, "POST", chatPath, body+`,"stream":true,"parallel_tool_calls":false}`).body); one.name != "weather" {
		t.Errorf("one at a time: %+v", one)
	}
}

func TestStopSequences(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {text: 'one \"two\" <b> three'}"), Options{})
	for _, c := range []struct{ stop, want string }{
		{`"tw"`, `one "`},
		{`["zzz","<b>"]`, `one "two" `},
		{`["one"]`, ""},
		{`"e \""`, "on"},
		{`[]`, `one "two" <b> three`},
		{`""`, `one "two" <b> three`},
		{`null`, `one "two" <b> three`},
	} {
		got := tell(t, r.send(t, "POST", chatPath, strings.TrimSuffix(streamBody, "}")+`,"stop":`+c.stop+`}`).body)
		if got.content != c.want || got.finish != "stop" {
			t.Errorf("stop %s: got %q, %s, want %q", c.stop, got.content, got.finish, c.want)
		}
	}
}

func TestContentOfAnswers(t *testing.T) {
	for _, c := range []struct{ name, behaviour, body, want string }{
		{"default", "{}", chatBody, "Hello from a, a simulated upstream."},
		{"repeated to length", "answer: {text: x y, tokens: 5}", chatBody, "x y x y x"},
		{"cut to length", "answer: {text: x y z, tokens: 2}", chatBody, "x y"},
		{"echo", "answer: {echo: true}", chatBody, "hello there"},
		{"echo of parts", "answer: {echo: true}", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"image_url"},{"type":"text","text":"two"}]},{"role":"assistant","content":"no"}]}`, "one\ntwo"},
		{"echo of nothing", "answer: {echo: true, text: t}", `{"model":"m","messages":[{"role":"system","content":"x"}]}`, "t"},
		{"long word", "answer: {text: " + strings.Repeat("ä", 40) + "}", chatBody, strings.Repeat("ä", 40)},
		{"object asked for", "answer: {text: t}", `{"model":"m","messages":[{}],"response_format":{"type":"json_object"}}`, `{"answer":"t"}`},
		{"schema asked for", "{}", `{"model":"m","messages":[{}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}`, `{"ok":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			var v struct {
				Choices []struct{ Message struct{ Content string } }
			}
			got := r.send(t, "POST", chatPath, c.body)
			if err := json.Unmarshal(got.body, &v); err != nil || len(v.Choices) != 1 {
				t.Fatalf("%v in %s", err, got.body)
			}
			if v.Choices[0].Message.Content != c.want {
				t.Errorf("got %q, want %q", v.Choices[0].Message.Content, c.want)
			}
			stream := r.send(t, "POST", chatPath, strings.TrimSuffix(c.body, "}")+`,"stream":true}`)
			if got := tell(t, stream.body); got.content != c.want {
				t.Errorf("streamed %q, want %q", got.content, c.want)
			}
		})
	}
}

func TestEmbeddings(t *testing.T) {
	r := newRig(t, oneUpstream("answer: {dimensions: 12}"), Options{})
	ask := func(body string) (vectors []json.RawMessage) {
		t.Helper()
		got := r.send(t, "POST", "/a/v1/embeddings", body)
		var v struct {
			Object, Model string
			Data          []struct {
				Object    string
				Index     int
				Embedding json.RawMessage
			}
			Usage struct {
				Prompt int `json:"prompt_tokens"`
				Total  int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal(got.body, &v); err != nil || v.Object != "list" || v.Model != "m" || v.Usage.Prompt == 0 || v.Usage.Total != v.Usage.Prompt {
			t.Fatalf("%v in %s", err, got.body)
		}
		for i, d := range v.Data {
			if d.Index != i || d.Object != "embedding" {
				t.Errorf("entry %d is %+v", i, d)
			}
			vectors = append(vectors, d.Embedding)
		}
		return vectors
	}
	numbers := func(raw json.RawMessage) (out []float32) {
		t.Helper()
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		return out
	}

	one := ask(`{"model":"m","input":"hello"}`)
	v := numbers(one[0])
	length := 0.0
	for _, f := range v {
		length += float64(f) * float64(f)
	}
	if len(v) != 12 || math.Abs(length-1) > 1e-5 {
		t.Errorf("%d dimensions, square %v; want 12 of unit length", len(v), length)
	}

	many := ask(`{"model":"m","input":["hello","other","hello"]}`)
	if len(many) != 3 || string(many[0]) != string(one[0]) || string(many[2]) != string(one[0]) || string(many[1]) == string(one[0]) {
		t.Errorf("a vector must depend on its input alone: %s and %s", one, many)
	}

	coded := ask(`{"model":"m","input":"hello","encoding_format":"base64"}`)
	var text string
	if err := json.Unmarshal(coded[0], &text); err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 4*len(v) {
		t.Fatalf("%v, %d bytes", err, len(raw))
	}
	for i := range v {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); got != v[i] {
			t.Errorf("element %d: %v in base64, %v as a number", i, got, v[i])
		}
	}

	short := ask(`{"model":"m","input":"hello","dimensions":3}`)
	if got := numbers(short[0]); len(got) != 3 {
		t.Errorf("%d dimensions, want 3", len(got))
	}
	tokens := ask(`{"model":"m","input":[1,2,3]}`)
	lists := ask(`{"model":"m","input":[[1,2,3],[4]]}`)
	if len(tokens) != 1 || len(lists) != 2 || string(tokens[0]) != string(lists[0]) {
		t.Errorf("tokens %s, lists %s", tokens, lists)
	}
}
