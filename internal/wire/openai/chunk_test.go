package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/openai"
)

// delta returns a chunk with one choice whose delta is given.
func delta(members string) string {
	return `{"model":"x","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

// finish returns a chunk that ends a choice.
func finish(index int, reason string) string {
	return fmt.Sprintf(`{"model":"x","choices":[{"index":%d,"delta":{},"finish_reason":%q}]}`, index, reason)
}

func TestChunkInfo(t *testing.T) {
	content := openai.ChunkInfo{Content: true}
	refusal := openai.ChunkInfo{Content: true, Refusal: true}
	ended := openai.ChunkInfo{Content: true, Finish: true}
	drop := openai.ChunkInfo{Drop: true}
	tests := []struct {
		name string
		e    openai.Endpoint
		data string
		want openai.ChunkInfo
	}{
		{"role", openai.Chat, delta(`"role":"assistant"`), openai.ChunkInfo{}},
		{"role and empty text", openai.Chat, delta(`"role":"assistant","content":"","refusal":null`), openai.ChunkInfo{}},
		{"nulls", openai.Chat, delta(`"content":null,"reasoning":null,"reasoning_content":null,"tool_calls":null,"function_call":null,"audio":null`), openai.ChunkInfo{}},
		{"empties", openai.Chat, delta(`"content":[],"reasoning":"","reasoning_details":[ ],"tool_calls":[],"audio":{ },"images":[]`), openai.ChunkInfo{}},
		{"text", openai.Chat, delta(`"content":"a"`), content},
		{"space is text", openai.Chat, delta(`"content":" "`), content},
		{"reasoning_content", openai.Chat, delta(`"content":null,"reasoning_content":"a"`), content},
		{"reasoning", openai.Chat, delta(`"reasoning":"a"`), content},
		{"reasoning_details", openai.Chat, delta(`"reasoning_details":[{"type":"reasoning.encrypted"}]`), content},
		{"list content", openai.Chat, delta(`"content":[{"type":"text","text":"a"}]`), content},
		{"list content without text", openai.Chat, delta(`"content":[{"type":"text","text":""}]`), openai.ChunkInfo{}},
		{"tool call", openai.Chat, delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":""}}]`), content},
		{"function call", openai.Chat, delta(`"function_call":{"name":"f"}`), content},
		{"sound", openai.Chat, delta(`"audio":{"id":"1"}`), content},
		{"image", openai.Chat, delta(`"images":[{"type":"image_url"}]`), content},
		{"refusal", openai.Chat, delta(`"refusal":"no"`), refusal},
		{"refusal and text", openai.Chat, delta(`"refusal":"no","content":"a"`), content},
		{"filter", openai.Chat, finish(0, "content_filter"), openai.ChunkInfo{Content: true, Finish: true, Refusal: true}},
		{"finish", openai.Chat, finish(0, "stop"), ended},
		{"finish_reason empty", openai.Chat, `{"choices":[{"delta":{"content":""},"finish_reason":""}]}`, openai.ChunkInfo{}},
		{"finish_reason absent", openai.Chat, `{"choices":[{"delta":{}}]}`, openai.ChunkInfo{}},
		{"no choices", openai.Chat, `{"choices":[],"prompt_filter_results":[{}]}`, openai.ChunkInfo{}},
		{"no list of choices", openai.Chat, `{"type":"ping"}`, openai.ChunkInfo{}},
		{"choices null", openai.Chat, `{"choices":null}`, openai.ChunkInfo{}},
		{"a whole message", openai.Chat, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, ended},
		{"a message beside a delta", openai.Chat, `{"choices":[{"message":{"content":"a"},"delta":{"content":""}}]}`, openai.ChunkInfo{}},
		{"done", openai.Chat, " [DONE]\n", openai.ChunkInfo{Done: true}},
		{"empty", openai.Chat, "", drop},
		{"completion", openai.Completions, `{"choices":[{"text":"a","index":0,"finish_reason":null}]}`, content},
		{"empty completion", openai.Completions, `{"choices":[{"text":"","index":0,"finish_reason":null}]}`, openai.ChunkInfo{}},
		{"end of a completion", openai.Completions, `{"choices":[{"text":"","index":0,"finish_reason":"length"}]}`, ended},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, err := openai.NewStream(tt.e, public, true).Chunk(nil, []byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChunkMalformed(t *testing.T) {
	for _, data := range []string{
		"x", "[1]", "null", `"a"`, "{", `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]`,
		`{"choices":[{"delta":{"content":"a"}}]}}`, `{"choices":[{"delta":{"content":"a}]}`, "{\"choices\":[{\"delta\":{\"content\":\"\x01\"}}]}",
		`{"usage":{"prompt_tokens":1,"completion_tokens":1},"x":NaN}`,
	} {
		s := openai.NewStream(openai.Chat, public, true)
		out, info, err := s.Chunk([]byte("kept"), []byte(data))
		if !errors.Is(err, fault.ErrUndecodable) || string(out) != "kept" {
			t.Errorf("%s: got %s, error %v", data, out, err)
		}
		if want := (openai.ChunkInfo{Drop: true, Malformed: true}); info != want {
			t.Errorf("%s: got %+v", data, info)
		}
		// It leaves no trace, and the stream goes on.
		if s.Usage().Known || s.Finished() {
			t.Errorf("%s: got usage %+v, finished %v", data, s.Usage(), s.Finished())
		}
		if _, info, err = s.Chunk(nil, []byte(finish(0, "stop"))); err != nil || !info.Finish || !s.Finished() {
			t.Errorf("%s: the next chunk gave %+v, %v", data, info, err)
		}
	}
}

func TestChunkFault(t *testing.T) {
	tests := []struct {
		name, data string
		kind       fault.Kind
		status     int
	}{
		{"first event", `{"error":{"message":"slow down","code":429}}`, fault.RateLimit, 429},
		{"with choices", `{"error":{"code":400,"message":"Token limit reached"},"choices":[{"delta":{"content":""}}]}`, fault.BadRequest, 400},
		{"text", `{"error":"boom"}`, fault.Server, 502},
		{"in a choice", `{"choices":[{"delta":{},"error":{"code":502,"message":"x"}}]}`, fault.Server, 502},
		{"finish_reason error", `{"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`, fault.Server, 502},
		{"no envelope", `{"object":"error","message":"prompt is too long","code":400}`, fault.ContextLength, 400},
		{"another protocol", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, fault.Overloaded, 503},
		{"with usage", `{"error":{"message":"x"},"usage":{"prompt_tokens":3,"completion_tokens":4}}`, fault.Server, 502},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := openai.NewStream(openai.Chat, public, true)
			out, info, err := s.Chunk(nil, []byte(tt.data))
			if err != nil || len(out) > 0 || info.Fault == nil || !info.Drop || info.Content {
				t.Fatalf("got %s, %+v, %v", out, info, err)
			}
			if info.Fault.Kind != tt.kind || info.Fault.Status != tt.status || info.Fault.Message == "" {
				t.Errorf("got %+v, want %v with status %d", info.Fault, tt.kind, tt.status)
			}
			if s.Usage().Known != (tt.name == "with usage") {
				t.Errorf("got usage %+v", s.Usage())
			}
			if s.Finished() {
				t.Error("the stream is finished")
			}
		})
	}
	s := openai.NewStream(openai.Chat, public, true)
	if _, info, _ := s.Chunk(nil, []byte(`{"error":null,"choices":[{"delta":{"content":"a"},"error":{}}]}`)); info.Fault != nil || !info.Content {
		t.Errorf("an error that is null: got %+v", info)
	}
}

func TestChunkModel(t *testing.T) {
	const choices = `"choices":[{"index":0,"delta":{"content":"a"}}]`
	for data, want := range map[string]string{
		`{ "id":"1", "model" : "x", ` + choices + `}`: `{ "id":"1", "model" : "p/\"m\"", ` + choices + `}`,
		`{"model":"",` + choices + `}`:                `{"model":"p/\"m\"",` + choices + `}`,
		`{"model":null,` + choices + `}`:              `{"model":"p/\"m\"",` + choices + `}`,
		`{` + choices + `}`:                           `{"model":"p/\"m\"",` + choices + `}`,
		`{` + choices + `,"x":{"model":"y"}}`:         `{"model":"p/\"m\"",` + choices + `,"x":{"model":"y"}}`,
		`{"choices":[],"model":"a","model":"b"}`:      `{"choices":[],"model":"p/\"m\"","model":"p/\"m\""}`,
		`{}`:                                          `{}`,
	} {
		out, _, err := openai.NewStream(openai.Chat, `p/"m"`, true).Chunk([]byte("kept;"), []byte(data))
		if err != nil || string(out) != "kept;"+want {
			t.Errorf("%s:\ngot  %s, %v\nwant kept;%s", data, out, err, want)
		}
	}
}

func TestChunkUsage(t *testing.T) {
	const (
		usage  = `"usage":{"prompt_tokens":1,"completion_tokens":2}`
		model  = `"model":"` + public + `"`
		choice = `"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]`
	)
	tests := []struct {
		name, data   string
		asked, unask string // what the client gets if it asked for usage, and if it did not
	}{
		{"only usage", `{` + model + `,"choices":[],` + usage + `}`, `{` + model + `,"choices":[],` + usage + `}`, ""},
		{"only usage, no choices", `{` + model + `,` + usage + `}`, `{` + model + `,` + usage + `}`, ""},
		{"usage and moderation", `{` + model + `,"choices":[],` + usage + `,"moderation":{"a":1}}`, `{` + model + `,"choices":[],` + usage + `,"moderation":{"a":1}}`, `{` + model + `,"choices":[],` + usage + `,"moderation":{"a":1}}`},
		{"usage on the finish", `{` + model + `,` + choice + `,` + usage + `}`, `{` + model + `,` + choice + `,` + usage + `}`, `{` + model + `,` + choice + `,` + usage + `}`},
		{"usage null", `{"usage":null,` + model + `,` + choice + `}`, `{"usage":null,` + model + `,` + choice + `}`, `{` + model + `,` + choice + `}`},
		{"usage null at the end", `{` + model + `,` + choice + `, "usage" : null}`, `{` + model + `,` + choice + `, "usage" : null}`, `{` + model + `,` + choice + `}`},
		{"no choices, usage null", `{` + model + `,"choices":[],"usage":null}`, `{` + model + `,"choices":[],"usage":null}`, `{` + model + `,"choices":[]}`},
	}
	for _, tt := range tests {
		for asked, want := range map[bool]string{true: tt.asked, false: tt.unask} {
			out, info, err := openai.NewStream(openai.Chat, public, asked).Chunk(nil, []byte(tt.data))
			if err != nil || string(out) != want || info.Drop != (want == "") {
				t.Errorf("%s, asked %v:\ngot  %s, drop %v, %v\nwant %s", tt.name, asked, out, info.Drop, err, want)
			}
		}
	}
}

func TestStreamUsageIsTheLast(t *testing.T) {
	s := openai.NewStream(openai.Chat, public, false)
	for _, data := range []string{
		`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":13,"total_tokens":18}}`,
		delta(`"content":"a"`),
		`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":20,"total_tokens":25}}`,
		`{"choices":[],"usage":null}`,
		`{"choices":[],"usage":{}}`,
		`{"choices":[],"x_groq":{"id":"1"}}`,
	} {
		if _, _, err := s.Chunk(nil, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(counted(5, 20, 0, 0, 0), s.Usage()); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if _, _, err := s.Chunk(nil, []byte(`{"choices":[],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":21}}}`)); err != nil {
		t.Fatal(err)
	}
	if got := s.Usage().OutputTokens; got != 21 {
		t.Errorf("got %d output tokens from x_groq, want 21", got)
	}
}

// feed gives a stream its chunks and returns what a client reads.
func feed(t *testing.T, s *openai.Stream, chunks ...string) *client {
	t.Helper()
	c := newClient()
	for _, data := range chunks {
		out, info, err := s.Chunk(nil, []byte(data))
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !info.Drop && !info.Done {
			c.read(t, out)
		}
	}
	if out := s.AppendFinish(nil); len(out) > 0 {
		c.read(t, out)
	}
	if out := s.AppendFinish(nil); len(out) > 0 {
		t.Errorf("a second chunk is owed: %s", out)
	}
	return c
}

func TestStreamFinished(t *testing.T) {
	text, call := delta(`"content":"a"`), delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]`)
	second := `{"choices":[{"index":1,"delta":{"content":"b"}}]}`
	tests := []struct {
		name   string
		chunks []string
		want   bool
		finish string // what the client reads
	}{
		{"nothing", nil, false, ""},
		{"role", []string{delta(`"role":"assistant"`)}, false, ""},
		{"text", []string{text}, false, ""},
		{"finish without done", []string{text, finish(0, "stop")}, true, "stop"},
		{"finish and done", []string{text, finish(0, "length"), "[DONE]"}, true, "length"},
		{"finish_reason null after the finish", []string{text, finish(0, "stop"), delta(`"content":""`)}, true, "stop"},
		{"one of two", []string{text, second, finish(0, "stop")}, false, "stop"},
		{"two of two", []string{text, second, finish(1, "stop"), finish(0, "stop")}, true, "stop"},
		{"done alone", []string{"[DONE]"}, false, ""},
		{"done after a role", []string{delta(`"role":"assistant","content":""`), "[DONE]"}, false, ""},
		{"done after a chunk without choices", []string{`{"choices":[]}`, "[DONE]"}, false, ""},
		{"done after a text", []string{text, "[DONE]"}, true, "stop"},
		{"done after a call", []string{text, call, "[DONE]"}, true, "tool_calls"},
		{"done after one of two", []string{text, second, finish(0, "length"), "[DONE]"}, true, "stop"},
		{"text after done", []string{"[DONE]", text, finish(0, "stop")}, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := openai.NewStream(openai.Chat, public, true)
			c := feed(t, s, tt.chunks...)
			if s.Finished() != tt.want || c.finish != tt.finish {
				t.Errorf("got finished %v and %q, want %v and %q", s.Finished(), c.finish, tt.want, tt.finish)
			}
		})
	}
}

func TestAppendFinish(t *testing.T) {
	s := openai.NewStream(openai.Chat, `p"m`, true)
	for _, data := range []string{
		`{"id":"","created":0,"choices":[]}`,
		`{"id":"c-1","created":7,"choices":[{"index":2,"delta":{"tool_calls":[{"index":3,"id":"1","function":{"name":"f"}}]}},{"index":0,"delta":{"content":"a"}},{"index":1,"finish_reason":"stop"}]}`,
		"[DONE]",
	} {
		if _, _, err := s.Chunk(nil, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	want := `kept;{"id":"c-1","object":"chat.completion.chunk","created":7,"model":"p\"m","choices":[` +
		`{"index":2,"delta":{"tool_calls":[{"index":3,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"},` +
		`{"index":0,"delta":{},"finish_reason":"stop"}]}`
	if got := string(s.AppendFinish([]byte("kept;"))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s = openai.NewStream(openai.Completions, "m", true)
	feed(t, s, `{"choices":[{"text":"a","index":0}]}`)
	if got := s.AppendFinish(nil); got != nil {
		t.Errorf("before [DONE]: got %s", got)
	}
	if _, _, err := s.Chunk(nil, []byte("[DONE]")); err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.AppendFinish(nil)), `{"object":"text_completion","model":"m","choices":[{"index":0,"text":"","finish_reason":"stop"}]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStreamRefusal(t *testing.T) {
	for name, chunks := range map[string][]string{
		"refusal":         {delta(`"role":"assistant"`), delta(`"refusal":"I"`)},
		"filter":          {delta(`"role":"assistant","content":""`), finish(0, "content_filter")},
		"after text":      {delta(`"content":"a"`), finish(0, "content_filter")},
		"after a refusal": {delta(`"refusal":"I"`), delta(`"refusal":" can't"`)},
	} {
		s := openai.NewStream(openai.Chat, public, true)
		var last openai.ChunkInfo
		for _, data := range chunks {
			var err error
			if _, last, err = s.Chunk(nil, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		if last.Refusal != (name != "after text") || !last.Content {
			t.Errorf("%s: got %+v", name, last)
		}
	}
}

func TestChunkMendsCalls(t *testing.T) {
	piece := func(call string) string { return delta(`"tool_calls":[` + call + `]`) }
	call := func(index int, id, name, arguments string) expectedCall {
		return expectedCall{Index: index, ID: id, Name: name, Arguments: arguments}
	}
	const first = `{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}}`
	tests := []struct {
		name   string
		chunks []string
		want   []expectedCall
	}{
		{"plain", []string{piece(first), piece(`{"index":0,"function":{"arguments":"{\"a\""}}`), piece(`{"index":0,"function":{"arguments":":1}"}}`)}, []expectedCall{call(0, "1", "f", `{"a":1}`)}},
		{"id and name repeated", []string{piece(first), piece(`{"id":"1","index":0,"function":{"name":"f","arguments":"{}"}}`)}, []expectedCall{call(0, "1", "f", "{}")}},
		{"id and name empty later", []string{piece(first), piece(`{"index":0,"id":"","function":{"arguments":"{}","name":""}}`)}, []expectedCall{call(0, "1", "f", "{}")}},
		{"id and name null later", []string{piece(first), piece(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`)}, []expectedCall{call(0, "1", "f", "{}")}},
		{"only id and name repeated", []string{piece(first), piece(`{"id":"1","function":{"name":"f"}}`)}, []expectedCall{call(0, "1", "f", "{}")}},
		{"name in pieces", []string{piece(first), piece(`{"index":0,"function":{"name":"oo","arguments":"{}"}}`)}, []expectedCall{call(0, "1", "foo", "{}")}},
		{"arguments null", []string{piece(`{"index":0,"id":"1","function":{"name":"f","arguments":null}}`)}, []expectedCall{call(0, "1", "f", "{}")}},
		{"arguments null, then there", []string{piece(`{"index":0,"id":"1","function":{"name":"f","arguments":null}}`), piece(`{"index":0,"function":{"arguments":"[]"}}`)}, []expectedCall{call(0, "1", "f", "[]")}},
		{"no arguments ever", []string{piece(first), piece(`{"index":1,"id":"2","function":{"name":"g"}}`)}, []expectedCall{call(0, "1", "f", "{}"), call(1, "2", "g", "{}")}},
		{"no index", []string{piece(`{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"g","arguments":"{"}}`), piece(`{"function":{"arguments":"}"}}`)}, []expectedCall{call(0, "1", "f", "{}"), call(1, "2", "g", "{}")}},
		{"no index, id repeated", []string{piece(`{"id":"1","function":{"name":"f","arguments":"{"}}`), piece(`{"id":"2","function":{"name":"g","arguments":"{}"}}`), piece(`{"id":"1","function":{"arguments":"}"}}`)}, []expectedCall{call(0, "1", "f", "{}"), call(1, "2", "g", "{}")}},
		{"first index is 1", []string{piece(`{"index":1,"id":"1","function":{"name":"f","arguments":"{}"}}`)}, []expectedCall{call(1, "1", "f", "{}")}},
		{"custom calls pass", []string{piece(`{"index":0,"id":"1","type":"custom","custom":{"name":"f","input":"x"}}`), piece(`{"index":0,"id":"1"}`)}, []expectedCall{call(0, "11", "", "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := feed(t, openai.NewStream(openai.Chat, public, true), append(tt.chunks, finish(0, "tool_calls"))...)
			if diff := cmp.Diff(tt.want, c.toolCalls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChunkMendsCallsOfOneChunk(t *testing.T) {
	// A call that begins and ends in one chunk, and one without a delta of its own.
	s := openai.NewStream(openai.Chat, public, true)
	c := feed(t, s, `{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":null}}]},"finish_reason":"tool_calls","index":0}]}`)
	if diff := cmp.Diff([]expectedCall{{ID: "1", Name: "f", Arguments: "{}"}}, c.toolCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestChunkMakesIDs(t *testing.T) {
	s := openai.NewStream(openai.Chat, public, true)
	c := feed(t, s,
		delta(`"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{"}},{"index":1,"function":{"name":"f","arguments":"{}"}}]`),
		delta(`"tool_calls":[{"index":0,"id":"","function":{"arguments":"}"}}]`),
		finish(0, "tool_calls"))
	calls := c.toolCalls()
	if len(calls) != 2 || calls[0].ID == calls[1].ID || calls[0].Arguments != "{}" {
		t.Fatalf("got %+v", calls)
	}
	for _, call := range calls {
		if !strings.HasPrefix(call.ID, "call_") || strings.Count(call.ID, "call_") != 1 || call.Name != "f" {
			t.Errorf("got %+v", call)
		}
	}
}

func TestChunkOfManyCalls(t *testing.T) {
	// What a stream remembers is bounded; the rest passes as it is.
	s := openai.NewStream(openai.Chat, public, true)
	for i := range 1000 {
		out, _, err := s.Chunk(nil, fmt.Appendf(nil, `{"choices":[{"index":%d,"delta":{"tool_calls":[{"index":%d,"id":"1","function":{"name":"f"}}]}}]}`, i, i))
		if err != nil || !json.Valid(out) {
			t.Fatalf("%s, %v", out, err)
		}
	}
	if s.Finished() {
		t.Error("the stream is finished")
	}
}

func TestChunkAllocates(t *testing.T) {
	s := openai.NewStream(openai.Chat, public, false)
	data := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}`)
	buf := make([]byte, 0, 1<<10)
	if got := testing.AllocsPerRun(1000, func() {
		if _, _, err := s.Chunk(buf, data); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("got %v allocations a chunk, want 0", got)
	}
}
