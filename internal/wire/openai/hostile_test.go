package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatewright/internal/wire/openai"
)

// anyObject draws an object out of the keys that mean something, in any order
// and number, with values that mostly fit.
func anyObject(t *rapid.T, keys []string, value func(t *rapid.T, key string) string) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n"})
	var members []string
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		key := rapid.SampledFrom(keys).Draw(t, "key")
		members = append(members, space.Draw(t, "space")+`"`+key+`"`+space.Draw(t, "space")+":"+value(t, key)+space.Draw(t, "space"))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func anyList(t *rapid.T, element func(t *rapid.T) string) string {
	var list []string
	for range rapid.IntRange(0, 3).Draw(t, "elements") {
		list = append(list, element(t))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

var scalar = rapid.SampledFrom([]string{"null", `""`, `"a"`, `"b"`, "0", "1", "-1", "7.5", "true", "[]", "{}", `"\u0061\n"`, `["x"]`})

func anyCall(t *rapid.T) string {
	return anyObject(t, []string{"index", "id", "id", "type", "function", "function", "custom"}, func(t *rapid.T, key string) string {
		if key == "function" && rapid.IntRange(0, 5).Draw(t, "odd") > 0 {
			return anyObject(t, []string{"name", "arguments", "x"}, func(t *rapid.T, _ string) string { return scalar.Draw(t, "value") })
		}
		return scalar.Draw(t, "value")
	})
}

func anyMessage(t *rapid.T) string {
	keys := []string{"role", "content", "content", "reasoning", "reasoning_content", "refusal", "tool_calls", "tool_calls", "function_call", "audio"}
	return anyObject(t, keys, func(t *rapid.T, key string) string {
		switch odd := rapid.IntRange(0, 5).Draw(t, "odd") == 0; {
		case key == "tool_calls" && !odd:
			return anyList(t, anyCall)
		case key == "content" && odd:
			return anyList(t, func(t *rapid.T) string {
				return anyObject(t, []string{"type", "text", "thinking"}, func(t *rapid.T, _ string) string { return scalar.Draw(t, "value") })
			})
		}
		return scalar.Draw(t, "value")
	})
}

func anyChoice(t *rapid.T) string {
	return anyObject(t, []string{"index", "delta", "delta", "message", "text", "finish_reason", "error"}, func(t *rapid.T, key string) string {
		if key == "delta" || key == "message" {
			return anyMessage(t)
		}
		if key == "error" {
			return "null"
		}
		return scalar.Draw(t, "value")
	})
}

func anyAnswer(t *rapid.T) string {
	keys := []string{"id", "created", "model", "model", "object", "choices", "choices", "choices", "usage", "x_groq", "error", "system_fingerprint"}
	return anyObject(t, keys, func(t *rapid.T, key string) string {
		switch key {
		case "choices":
			return anyList(t, anyChoice)
		case "usage":
			return rapid.SampledFrom([]string{"null", "null", `{"prompt_tokens":1,"completion_tokens":2}`, "{}"}).Draw(t, "usage")
		case "error":
			return "null"
		}
		return scalar.Draw(t, "value")
	})
}

// TestHostileStreams feeds streams of odd chunks: what comes out is valid, and
// nothing panics, folding included.
func TestHostileStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([]openai.Endpoint{openai.Chat, openai.Chat, openai.Completions}).Draw(t, "endpoint")
		s := openai.NewStream(e, public, rapid.Bool().Draw(t, "want usage"))
		var chunks []string
		for range rapid.IntRange(1, 6).Draw(t, "chunks") {
			data := anyAnswer(t)
			chunks = append(chunks, data)
			out, info, err := s.Chunk(nil, []byte(data))
			if err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			if len(out) > 0 && !json.Valid(out) {
				t.Fatalf("%s became %s", data, out)
			}
			if quiet := info.Drop || info.Done; quiet != (len(out) == 0) {
				t.Fatalf("%s: got %+v and %s", data, info, out)
			}
		}
		chunks = append(chunks, "[DONE]")
		if _, _, err := s.Chunk(nil, []byte("[DONE]")); err != nil {
			t.Fatal(err)
		}
		if out := s.AppendFinish(nil); len(out) > 0 && !json.Valid(out) {
			t.Fatalf("the last chunk is not valid: %s", out)
		}
		whole, err := fold(e, stream(chunks...))
		if err == nil && !json.Valid(whole) {
			t.Fatalf("the folded answer is not valid: %s", whole)
		}
	})
}

// TestHostileAnswers checks odd answers: what comes out is valid and as good as
// what went in.
func TestHostileAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := anyAnswer(t)
		if rapid.Bool().Draw(t, "likely") {
			body = fmt.Sprintf(`{"choices":[{"finish_reason":"stop","message":%s}]}`, anyMessage(t))
		}
		a, err := openai.CheckAnswer(openai.Chat, []byte(body))
		if err != nil {
			return
		}
		out := a.AppendWithModel(nil, []byte(body), public)
		if !json.Valid(out) {
			t.Fatalf("%s became %s", body, out)
		}
		if _, err := openai.CheckAnswer(openai.Chat, out); err != nil {
			t.Fatalf("%s became %s: %v", body, out, err)
		}
		for _, c := range openai.UnfoldAnswer([]byte(body), public, true) {
			if !json.Valid(c) {
				t.Fatalf("%s unfolded to %s", body, c)
			}
		}
	})
}
