package openai

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestHeadsChangeNothing compares a stream that knows the head of its chunks with
// one that has forgotten it before each.
func TestHeadsChangeNothing(t *testing.T) {
	head := rapid.SampledFrom([]string{
		`{"id":"a","object":"chat.completion.chunk","created":1,"model":"m",`,
		`{"id":"a","object":"chat.completion.chunk","created":1,"model":"m", "choices" : `,
		`{"id":"","created":0,"object":"chat.completion.chunk",`, `{`, ` {`, `{"usage":null,"model":"m",`, `{"model":"m","model":"n",`,
		`{"choices":[],`, `{"choices":[{"index":0,"delta":{"content":"twice"}}],"model":"m",`, `{"error":null,`, `{"error":{"message":"e"},`,
		`{"usage":{"prompt_tokens":1,"completion_tokens":2},`, `{"x_groq":{"usage":{"prompt_tokens":3}},`, `{"message":"broken","id":"b",`,
		`{"object":"error",`, `{"citations":["c"],`, `{"` + strings.Repeat("k", maxHead) + `":1,`, `{"a":tru,`, `[`, ``,
	})
	rest := rapid.SampledFrom([]string{
		`"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}`, `"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":null}`,
		`"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":null}}]}}]}`,
		`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`"choices":[{"index":0,"message":{"content":"whole"},"finish_reason":"stop"}]}`, `"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}`,
		`"choices":[{"index":0,"finish_reason":"error"}]}`, `"choices":[{"text":"t"}],"model":"late"}`, `"choices":null}`, `"choices":[{]}`, `"choices":[{"index":0`,
		`"choices":[{"delta":{"content":"x"}}],"choices":[{"delta":{"content":"y"}}]}`, `"choices":[],"message":"m"}`, `"model":"z"}`, `[{"index":0,"delta":{"content":"x"}}]}`, `}`, ``,
	})
	rapid.Check(t, func(t *rapid.T) {
		e := Endpoint(rapid.IntRange(int(Chat), int(Completions)).Draw(t, "endpoint"))
		wantUsage := rapid.Bool().Draw(t, "usage")
		same := rapid.SliceOfN(head, 1, 2).Draw(t, "heads")
		with, without := NewStream(e, "public", wantUsage), NewStream(e, "public", wantUsage)
		for range rapid.IntRange(1, 6).Draw(t, "chunks") {
			data := rapid.SampledFrom(same).Draw(t, "head") + rest.Draw(t, "rest")
			without.head, without.like = head0, likeness{}
			want := told(without, data)
			if got := told(with, data); got != want {
				t.Fatalf("%s:\n got %s\nwant %s", data, got, want)
			}
		}
		if rapid.Bool().Draw(t, "done") {
			if got, want := told(with, "[DONE]"), told(without, "[DONE]"); got != want {
				t.Fatalf("at the end:\n got %s\nwant %s", got, want)
			}
		}
	})
}

// head0 is a head that is not known.
var head0 head

// told is all that a stream says of a chunk and after it.
func told(s *Stream, data string) string {
	out, info, err := s.Chunk(nil, []byte(data))
	f := info.Fault
	info.Fault = nil
	if info.OneLine && bytes.ContainsAny(out, "\r\n") {
		return "more than one line: " + string(out)
	}
	info.OneLine = false // not all of them are known
	return fmt.Sprintf("%s %+v %v %v %+v %v %s", out, info, f, err, s.Usage(), s.Finished(), s.AppendFinish(nil))
}
