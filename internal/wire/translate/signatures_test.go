package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/translate"
)

// signed is an answer with what every maker wants back.
var signed = &translate.Answer{
	ID: "msg_1", End: translate.End{Finish: translate.FinishCalls},
	Parts: []translate.Part{
		{Kind: translate.KindReasoning, Text: "of Anthropic", Signature: translate.Signature{Origin: translate.OriginAnthropic, Data: "a+/="}},
		{Kind: translate.KindReasoning, Redacted: true, Signature: translate.Signature{Origin: translate.OriginAnthropic, Data: "redacted_thinking:b+/="}},
		{Kind: translate.KindReasoning, Text: "of OpenAI", Signature: translate.Signature{Origin: translate.OriginOpenAI, ID: "rs_1:x", Data: "c:d"}},
		{Kind: translate.KindReasoning, Redacted: true, Signature: translate.Signature{Origin: translate.OriginOpenAI, ID: "rs_2", Data: "open-e"}},
		{Kind: translate.KindReasoning, Text: "of Google", Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "goog-f"}},
		{Kind: translate.KindText, Text: "said", Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "goog-g"}},
		{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789ab", Name: "f", Arguments: `{"x":1}`}, Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "goog-h"}},
		{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789cd", Name: "f", Arguments: `{}`}},
	},
}

// TestSignaturesComeBack: a client that sends an answer back as it got it sends
// back what every maker wants.
func TestSignaturesComeBack(t *testing.T) {
	for p, list := range map[translate.Protocol]string{translate.Chat: "choices", translate.Messages: "content"} {
		c := codecOf(t, p)
		e := c.NewEncoder(anyRequest, publicModel)
		var stream []byte
		for _, ev := range translate.Unfold(signed) {
			stream = e.Event(stream, &ev)
		}
		for form, message := range map[string]any{
			"whole":  wholeMessage(t, c.EncodeAnswer(nil, signed, anyRequest, publicModel), list),
			"stream": streamedMessage(t, p, stream),
		} {
			body, err := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": "hi"}, message}})
			if err != nil {
				t.Fatal(err)
			}
			r, lost, err := c.DecodeRequest(body)
			if err != nil || len(lost) > 0 {
				t.Fatalf("%v, %s: %v, %v", p, form, err, lost)
			}
			if diff := cmp.Diff(signed.Parts, r.Turns[1].Parts); diff != "" {
				t.Errorf("%v, %s: %s\n(-want +got):\n%s", p, form, body, diff)
			}
		}
	}
}

// wholeMessage returns the message of a whole answer as a client sends it back.
func wholeMessage(t *testing.T, body []byte, list string) any {
	t.Helper()
	var a map[string]any
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatal(err)
	}
	if list == "content" {
		return map[string]any{"role": "assistant", "content": a["content"]}
	}
	choice, _ := a[list].([]any)[0].(map[string]any)
	return choice["message"]
}

// streamedMessage puts a streamed message together as a client does that knows
// nothing of what the fields mean: texts are joined, elements of lists too, by
// their indexes.
func streamedMessage(t *testing.T, p translate.Protocol, stream []byte) any {
	t.Helper()
	message := map[string]any{"role": "assistant"}
	var blocks []any
	eachEvent(t, strings.NewReader(string(stream)), func(_, data []byte) bool {
		if string(data) == "[DONE]" {
			return true
		}
		var ev map[string]any
		if err := json.Unmarshal(data, &ev); err != nil {
			t.Fatal(err)
		}
		if p == translate.Chat {
			for _, c := range ev["choices"].([]any) {
				join(message, c.(map[string]any)["delta"].(map[string]any))
			}
			return true
		}
		switch ev["type"] {
		case "content_block_start":
			blocks = append(blocks, ev["content_block"])
		case "content_block_delta":
			joinBlock(blocks[len(blocks)-1].(map[string]any), ev["delta"].(map[string]any))
		case "content_block_stop":
			if b := blocks[len(blocks)-1].(map[string]any); b["type"] == "tool_use" {
				text, _ := b["partial_json"].(string)
				delete(b, "partial_json")
				var input any
				if err := json.Unmarshal([]byte(text), &input); err != nil {
					t.Fatal(err)
				}
				b["input"] = input
			}
		}
		return true
	})
	if p == translate.Messages {
		message["content"] = blocks
	}
	return message
}

// joinBlock adds a delta of Messages to its block.
func joinBlock(block, delta map[string]any) {
	for key, piece := range delta {
		if text, ok := piece.(string); ok && key != "type" {
			was, _ := block[key].(string)
			block[key] = was + text
		}
	}
}

// join adds a delta of chat completions to a message.
func join(into, delta map[string]any) {
	for key, value := range delta {
		switch v := value.(type) {
		case string:
			was, _ := into[key].(string)
			if key == "role" || key == "type" || key == "id" {
				was = ""
			}
			into[key] = was + v
		case map[string]any:
			was, ok := into[key].(map[string]any)
			if !ok {
				was = map[string]any{}
			}
			join(was, v)
			into[key] = was
		case []any:
			list, _ := into[key].([]any)
			for _, item := range v {
				list = joinElement(list, item.(map[string]any))
			}
			into[key] = list
		default:
			into[key] = value
		}
	}
}

func joinElement(list []any, item map[string]any) []any {
	for _, have := range list {
		if have.(map[string]any)["index"] == item["index"] {
			join(have.(map[string]any), item)
			return list
		}
	}
	fresh := map[string]any{}
	join(fresh, item)
	return append(list, fresh)
}

// TestSignaturesGoHome: what came back goes to its own maker and to no other.
func TestSignaturesGoHome(t *testing.T) {
	r := &translate.Request{Model: "m", Turns: []translate.Turn{
		{Parts: []translate.Part{{Kind: translate.KindText, Text: "hi"}}},
		{Role: translate.RoleAssistant, Parts: signed.Parts},
		{Parts: []translate.Part{{Kind: translate.KindResult, Result: translate.Result{CallID: "call_0123456789ab", Name: "f"}}, {Kind: translate.KindResult, Result: translate.Result{CallID: "call_0123456789cd", Name: "f"}}}},
	}}
	home := map[translate.Protocol][]string{
		translate.Messages:  {"a+/=", "b+/="},
		translate.Gemini:    {"goog-f", "goog-g", "goog-h"},
		translate.Responses: {"c:d", "open-e"},
	}
	for p := range home {
		c, ok := translate.For(p)
		if !ok {
			continue
		}
		body, _, err := c.EncodeRequest(r, &translate.Upstream{Model: "gemini-3-pro", Full: true, Reasons: true})
		if err != nil {
			t.Fatal(err)
		}
		for origin, all := range home {
			for _, signature := range all {
				if there := strings.Contains(string(body), `"`+signature+`"`); there != (origin == p) {
					t.Errorf("%v: a signature of %v is there: %v\n%s", p, origin, there, body)
				}
			}
		}
	}
}

// TestThoughtsAreAskedFor: a client of Messages that did not ask for thinking
// gets none, and yet what the maker of a call wants back with it.
func TestThoughtsAreAskedFor(t *testing.T) {
	c := codecOf(t, translate.Messages)
	for name, tt := range map[string]struct {
		thinking translate.Thinking
		want     []string
	}{
		"asked":        {translate.Thinking{Budget: 2000}, []string{"thinking", "redacted_thinking", "thinking", "thinking", "thinking", "text", "thinking", "tool_use", "thinking", "tool_use"}},
		"not asked":    {translate.Thinking{}, []string{"text", "tool_use", "thinking", "tool_use"}},
		"told not to":  {translate.Thinking{Effort: translate.EffortNone}, []string{"text", "tool_use", "thinking", "tool_use"}},
		"to be hidden": {translate.Thinking{Adaptive: true, Summary: "none"}, []string{"text", "tool_use", "thinking", "tool_use"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &translate.Request{Thinking: tt.thinking}
			e := c.NewEncoder(r, publicModel)
			var stream []byte
			for _, ev := range translate.Unfold(signed) {
				stream = e.Event(stream, &ev)
			}
			readMessages(t, stream, true)
			for form, message := range map[string]any{
				"whole":  wholeMessage(t, c.EncodeAnswer(nil, signed, r, publicModel), "content"),
				"stream": streamedMessage(t, translate.Messages, stream),
			} {
				var types []string
				for _, b := range message.(map[string]any)["content"].([]any) {
					types = append(types, b.(map[string]any)["type"].(string))
				}
				if diff := cmp.Diff(tt.want, types); diff != "" {
					t.Errorf("%s (-want +got):\n%s", form, diff)
				}
			}
		})
	}
}
