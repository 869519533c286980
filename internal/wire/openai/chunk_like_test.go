package openai

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLikenessesChangeNothing compares a stream that knows what its chunks are
// like with one that walks over each.
func TestLikenessesChangeNothing(t *testing.T) {
	before := rapid.SampledFrom([]string{
		`{"id":"a","model":"m","choices":[{"index":0,"delta":{"content":`, `{"model":"m","usage":null,"choices":[{"delta":{"role":"assistant","content":`,
		`{"choices":[{"index":1,"delta":{"content":"","reasoning_content":`, ` {"choices" : [ {"delta" : {"reasoning" : `,
		"{\n\"choices\":[{\"delta\":{\"content\":", `{"model":"public","choices":[{"delta":{"content":`,
		`{"choices":[{"index":0,"delta":{"content":"twice","content":`, `{"choices":[{"delta":{"refusal":`, `{"choices":[{"delta":{"content":[{"text":`,
		`{"choices":[{"message":{"content":`, `{"choices":[{"text":`, `{"error":null,"choices":[{"delta":{"content":`, `{"message":"m","choices":[{"delta":{"content":`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":`, `{"choices":[{"delta":{"content":"x"}},{"delta":{"content":`,
		`{"citations":["c"],"choices":[{"delta":{"content":`, `{"id":"` + strings.Repeat("k", maxLikeness) + `","choices":[{"delta":{"content":`,
	})
	text := rapid.SampledFrom([]string{
		`"x"`, `"two words"`, `" a longer text, of more than one block of the walk over strings"`, `"ü 日本 \u00fc \ud83d\ude00"`, `"\n\"quoted\"\\"`, `"<think>x</think>y"`,
		`""`, `"\"`, `"\x"`, "\"\x01\"", `"x","content":"y"`, `"x"}}],"choices":[{"delta":{"content":"y"`, `null`, `7`, `["x"]`, `"`, `x`, ``,
	})
	after := rapid.SampledFrom([]string{
		`},"finish_reason":null}]}`, `}}],"usage":null}`, `}}],"model":"late"}`, `},"finish_reason":"stop"}]}`, `},"finish_reason":"error"}]}`, `}}]} `,
		`}]}`, `}]}}]}`, `}}]}}]}`, `}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `}}],"error":{"message":"e"}}`, `,"audio":{"data":"x"}}}]}`, `}}],"p":"x"}`, `}}],"p":"y"}`, "}}]\r\n}", `}}`, ``,
	})
	alike := 0
	rapid.Check(t, func(t *rapid.T) {
		e := Endpoint(rapid.IntRange(int(Chat), int(Completions)).Draw(t, "endpoint"))
		wantUsage := rapid.Bool().Draw(t, "usage")
		with, without := NewStream(e, "public", wantUsage), NewStream(e, "public", wantUsage)
		if rapid.Bool().Draw(t, "thinks") {
			with.SplitThinking()
			without.SplitThinking()
		}
		head, tail := rapid.SliceOfN(before, 1, 2).Draw(t, "before"), rapid.SliceOfN(after, 1, 2).Draw(t, "after")
		for range rapid.IntRange(2, 12).Draw(t, "chunks") {
			data := rapid.SampledFrom(head).Draw(t, "head") + text.Draw(t, "text") + rapid.SampledFrom(tail).Draw(t, "tail")
			if _, is := with.like.append(nil, []byte(data)); is {
				alike++
			}
			without.head, without.like = head0, likeness{}
			want := told(without, data)
			if got := told(with, data); got != want {
				t.Fatalf("%s:\n got %s\nwant %s", data, got, want)
			}
		}
		if got, want := told(with, "[DONE]"), told(without, "[DONE]"); got != want {
			t.Fatalf("at the end:\n got %s\nwant %s", got, want)
		}
	})
	if alike == 0 {
		t.Error("no chunk was like another")
	}
}

// A service that puts something new into every chunk is not learnt for ever.
func TestLikenessGivesUp(t *testing.T) {
	s := NewStream(Chat, "public", false)
	for i := range 2 * maxTries {
		told(s, `{"choices":[{"delta":{"content":"x"}}],"obfuscation":"`+strings.Repeat("o", i)+`"}`)
	}
	if s.like.tries != maxTries || len(s.like.after) > len(`"}}],"obfuscation":""}`)+maxTries {
		t.Errorf("%d tries, the last with %q", s.like.tries, s.like.after)
	}
}
