package translate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

// asStream returns an answer of Messages as a stream.
func asStream(blocks []string, stop string) string {
	var b []byte
	add := func(format string, args ...any) { b = sse.Append(b, "", fmt.Appendf(nil, format, args...)) }
	add(`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":1}}}`)
	for i, block := range blocks {
		var whole struct {
			Type, Text, Thinking, Signature string
			ID, Name                        string
			Input                           json.RawMessage
		}
		if err := json.Unmarshal([]byte(block), &whole); err != nil {
			panic(err)
		}
		pieces := func(kind, member, text string) {
			for _, r := range text {
				piece, _ := json.Marshal(string(r))
				add(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, i, kind, member, piece)
			}
		}
		switch whole.Type {
		case "text":
			add(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, i)
			pieces("text_delta", "text", whole.Text)
		case "thinking":
			add(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}}`, i)
			pieces("thinking_delta", "thinking", whole.Thinking)
			add(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":%q}}`, i, whole.Signature)
		case "tool_use":
			add(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, i, whole.ID, whole.Name)
			pieces("input_json_delta", "partial_json", string(whole.Input))
		default:
			add(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
		}
		add(`{"type":"content_block_stop","index":%d}`, i)
	}
	add(`{"type":"message_delta","delta":%s,"usage":{"output_tokens":2}}`, stop)
	add(`{"type":"message_stop"}`)
	return string(b)
}

// offeredName returns the name under which a tool is offered to an upstream.
func offeredName(t *testing.T, p translate.Protocol, name string) string {
	t.Helper()
	r := &translate.Request{Turns: []translate.Turn{{Parts: []translate.Part{{Text: "hi"}}}}, Tools: []translate.Tool{{Name: name}}}
	body, _, err := codecOf(t, p).EncodeRequest(r, anyUpstream)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Tools []struct {
			Name     string
			Function struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	offered := out.Tools[0].Name + out.Tools[0].Function.Name
	if offered == name || len(offered) > len(name) {
		t.Fatalf("%q is offered as %q", name, offered)
	}
	return offered
}

// TestMessagesAnswers reads answers that need to know the request, whole and in
// the smallest pieces.
func TestMessagesAnswers(t *testing.T) {
	strict := true
	schema := translate.Format{Kind: translate.FormatSchema, Strict: &strict, Schema: []byte(`{"type":"object"}`)}
	tools := []translate.Tool{{Name: "f"}, {Kind: translate.ToolCustom, Name: "patch"}, {Name: strings.Repeat("long", 40)}}
	text := func(s string) translate.Part { return translate.Part{Kind: translate.KindText, Text: s} }
	toolCall := func(id, name, args string, custom bool) translate.Part {
		return translate.Part{Kind: translate.KindCall, Call: translate.Call{ID: id, Name: name, Arguments: args, Custom: custom}}
	}
	const end, use = `{"stop_reason":"end_turn"}`, `{"stop_reason":"tool_use"}`
	tests := []struct {
		name   string
		r      translate.Request
		blocks []string
		stop   string
		want   []translate.Part
		finish translate.Finish
	}{
		{"text", translate.Request{}, []string{`{"type":"text","text":"hi é\u2028"}`}, end, []translate.Part{text("hi é\u2028")}, translate.FinishStop},
		{
			"a call that is the answer",
			translate.Request{Format: schema},
			[]string{`{"type":"text","text":"Let me see."}`, `{"type":"tool_use","id":"t","name":"json_answer","input":{"a":"é"}}`},
			use,
			[]translate.Part{text(`{"a":"é"}`)},
			translate.FinishStop,
		},
		{
			"a call beside the one that would be the answer",
			translate.Request{Format: schema, Tools: tools},
			[]string{`{"type":"text","text":"Let me see."}`, `{"type":"tool_use","id":"t","name":"f","input":{}}`},
			use,
			[]translate.Part{toolCall("t", "f", "{}", false), text("Let me see.")},
			translate.FinishCalls,
		},
		{
			"no call where the answer should be one",
			translate.Request{Format: schema},
			[]string{`{"type":"text","text":"Let me see."}`},
			end,
			[]translate.Part{text("Let me see.")},
			translate.FinishStop,
		},
		{
			"a fence around JSON",
			translate.Request{Format: translate.Format{Kind: translate.FormatJSON}},
			[]string{"{\"type\":\"text\",\"text\":\"```json\\n{\\\"a\\\": \\\"``` x\\\"}\\n```\\n\"}"},
			end,
			[]translate.Part{text("{\"a\": \"``` x\"}")},
			translate.FinishStop,
		},
		{
			"no fence around JSON",
			translate.Request{Format: translate.Format{Kind: translate.FormatJSON}},
			[]string{`{"type":"text","text":" {\"a\":1} "}`},
			end,
			[]translate.Part{text(` {"a":1} `)},
			translate.FinishStop,
		},
		{
			"a fence that nobody wants off",
			translate.Request{},
			[]string{"{\"type\":\"text\",\"text\":\"```\\nx\\n```\"}"},
			end,
			[]translate.Part{text("```\nx\n```")},
			translate.FinishStop,
		},
		{
			"a custom tool",
			translate.Request{Tools: tools},
			[]string{`{"type":"tool_use","id":"t","name":"patch","input":{"input":"a\n\"b\" \ud83d\ude00"}}`},
			use,
			[]translate.Part{toolCall("t", "patch", "a\n\"b\" \U0001F600", true)},
			translate.FinishCalls,
		},
		{
			"a custom tool that is called otherwise",
			translate.Request{Tools: tools},
			[]string{`{"type":"tool_use","id":"t","name":"patch","input":{"text":"a"}}`},
			use,
			[]translate.Part{toolCall("t", "patch", `{"text":"a"}`, true)},
			translate.FinishCalls,
		},
		{
			"a tool with a name that was too long",
			translate.Request{Tools: tools},
			[]string{`{"type":"tool_use","id":"t","name":"` + offeredName(t, translate.Messages, strings.Repeat("long", 40)) + `","input":{}}`},
			use,
			[]translate.Part{toolCall("t", strings.Repeat("long", 40), "{}", false)},
			translate.FinishCalls,
		},
		{
			"thoughts",
			translate.Request{},
			[]string{`{"type":"thinking","thinking":"hm","signature":"s=="}`, `{"type":"redacted_thinking","data":"d=="}`, `{"type":"text","text":"a"}`},
			end,
			[]translate.Part{
				{Kind: translate.KindReasoning, Text: "hm", Signature: translate.Signature{Origin: translate.OriginAnthropic, Data: "s=="}},
				{Kind: translate.KindReasoning, Redacted: true, Signature: translate.Signature{Origin: translate.OriginAnthropic, Data: "redacted_thinking:d=="}},
				text("a"),
			},
			translate.FinishStop,
		},
		{
			"a refusal with words",
			translate.Request{},
			nil, `{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}}`,
			[]translate.Part{{Kind: translate.KindRefusal, Text: "no"}},
			translate.FinishFilter,
		},
		{"the window was full", translate.Request{}, []string{`{"type":"text","text":"a"}`}, `{"stop_reason":"model_context_window_exceeded"}`, []translate.Part{text("a")}, translate.FinishLength},
		{"a pause", translate.Request{}, []string{`{"type":"text","text":"a"}`}, `{"stop_reason":"pause_turn"}`, []translate.Part{text("a")}, translate.FinishStop},
		{"blocks that nobody knows", translate.Request{}, []string{`{"type":"new_thing","text":"x","content":[{"a":1}],"source":"u","data":7}`, `{"type":"text","text":"a"}`}, end, []translate.Part{text("a")}, translate.FinishStop},
	}
	c := codecOf(t, translate.Messages)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			compare := func(form string, a *translate.Answer) {
				want := tt.want
				if form == "whole" && tt.finish == translate.FinishCalls && len(want) == 2 {
					want = []translate.Part{want[1], want[0]} // a stream must wait with the text
				}
				if diff := cmp.Diff(want, a.Parts, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: parts (-want +got):\n%s", form, diff)
				}
				if a.End.Finish != tt.finish {
					t.Errorf("%s: got end %+v", form, a.End)
				}
			}
			var stop map[string]json.RawMessage
			if err := json.Unmarshal([]byte(tt.stop), &stop); err != nil {
				t.Fatal(err)
			}
			stop["content"] = json.RawMessage("[" + strings.Join(tt.blocks, ",") + "]")
			body, err := json.Marshal(stop)
			if err != nil {
				t.Fatal(err)
			}
			a, err := c.DecodeAnswer(body, &tt.r, anyUpstream)
			if err != nil {
				t.Fatal(err)
			}
			compare("whole", a)
			f := fold(t, c, &tt.r, anyUpstream, strings.NewReader(asStream(tt.blocks, tt.stop)))
			if f.err != nil || !f.whole {
				t.Fatalf("whole %v, %v", f.whole, f.err)
			}
			compare("stream", f.answer)
		})
	}
}

// TestChatAnswers is the same for chat completions.
func TestChatAnswers(t *testing.T) {
	tools := []translate.Tool{{Kind: translate.ToolCustom, Name: "patch"}, {Name: strings.Repeat("long", 20)}}
	tests := []struct {
		name    string
		message string
		finish  string
		want    []translate.Part
		end     translate.Finish
	}{
		{"text", `{"content":"a"}`, "stop", []translate.Part{{Kind: translate.KindText, Text: "a"}}, translate.FinishStop},
		{"refusal", `{"content":null,"refusal":"no"}`, "stop", []translate.Part{{Kind: translate.KindRefusal, Text: "no"}}, translate.FinishStop},
		{"filter", `{"content":""}`, "content_filter", nil, translate.FinishFilter},
		{"an end that nobody knows", `{"content":"a"}`, "eos", []translate.Part{{Kind: translate.KindText, Text: "a"}}, translate.FinishStop},
		{
			"a call that was demanded", `{"content":null,"tool_calls":[{"index":0,"id":"c","function":{"name":"patch","arguments":"{\"input\":\"a\\nb\"}"}}]}`, "stop",
			[]translate.Part{{Kind: translate.KindCall, Call: translate.Call{ID: "c", Name: "patch", Arguments: "a\nb", Custom: true}}},
			translate.FinishCalls,
		},
		{
			"a name that was too long", `{"content":null,"tool_calls":[{"index":0,"id":"c","function":{"name":"` + offeredName(t, translate.Chat, strings.Repeat("long", 20)) + `","arguments":"{}"}}]}`, "tool_calls",
			[]translate.Part{{Kind: translate.KindCall, Call: translate.Call{ID: "c", Name: strings.Repeat("long", 20), Arguments: "{}"}}},
			translate.FinishCalls,
		},
		{
			"reasoning with its signature", `{"content":"a","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s","format":"anthropic-claude-v1","index":0}]}`, "stop",
			[]translate.Part{{Kind: translate.KindReasoning, Text: "hm", Signature: translate.Signature{Origin: translate.OriginAnthropic, Data: "s"}}, {Kind: translate.KindText, Text: "a"}},
			translate.FinishStop,
		},
		{
			"reasoning in details alone", `{"content":"a","reasoning_details":[{"type":"reasoning.summary","summary":"hm","id":"rs_1","format":"openai-responses-v1","index":0},{"type":"reasoning.encrypted","data":"d","id":"rs_1","format":"openai-responses-v1","index":1}]}`, "stop",
			[]translate.Part{{Kind: translate.KindReasoning, Text: "hm", Signature: translate.Signature{Origin: translate.OriginOpenAI, ID: "rs_1", Data: "d"}}, {Kind: translate.KindText, Text: "a"}},
			translate.FinishStop,
		},
		{
			"redacted reasoning", `{"content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"d","format":"anthropic-claude-v1","index":0}]}`, "stop",
			[]translate.Part{{Kind: translate.KindReasoning, Redacted: true, Signature: translate.Signature{Origin: translate.OriginAnthropic, Data: "redacted_thinking:d"}}, {Kind: translate.KindText, Text: "a"}},
			translate.FinishStop,
		},
		{
			"signatures of Google's", `{"content":null,"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}},{"index":1,"id":"d","function":{"name":"f","arguments":"{}"}}],"reasoning_details":[{"type":"reasoning.encrypted","id":"d","data":"e","format":"google-gemini-v1"}]}`, "tool_calls",
			[]translate.Part{
				{Kind: translate.KindCall, Call: translate.Call{ID: "c", Name: "f", Arguments: "{}"}, Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "s"}},
				{Kind: translate.KindCall, Call: translate.Call{ID: "d", Name: "f", Arguments: "{}"}, Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "e"}},
			},
			translate.FinishCalls,
		},
		{
			"an image", `{"content":"a","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`, "stop",
			[]translate.Part{{Kind: translate.KindText, Text: "a"}, {Kind: translate.KindImage, Media: translate.Media{MIME: "image/png", Data: "AAAA"}}},
			translate.FinishStop,
		},
		{"sound in the usage", `{"content":"a"}`, "stop", []translate.Part{{Kind: translate.KindText, Text: "a"}}, translate.FinishStop},
	}
	c := codecOf(t, translate.Chat)
	const usage = `"usage":{"prompt_tokens":9,"completion_tokens":8,"prompt_tokens_details":{"audio_tokens":4},"completion_tokens_details":{"audio_tokens":3}}`
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &translate.Request{Tools: tools}
			compare := func(form string, a *translate.Answer) {
				t.Helper()
				if diff := cmp.Diff(tt.want, a.Parts, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: parts (-want +got):\n%s", form, diff)
				}
				if a.End.Finish != tt.end || a.Usage != (translate.Usage{Input: 9, Output: 8, InputAudio: 4, OutputAudio: 3, Known: true}) {
					t.Errorf("%s: got %+v and %+v", form, a.End, a.Usage)
				}
			}
			a, err := c.DecodeAnswer([]byte(`{"id":"x","choices":[{"index":0,"message":`+tt.message+`,"finish_reason":"`+tt.finish+`"}],`+usage+`}`), r, anyUpstream)
			if err != nil {
				t.Fatal(err)
			}
			compare("whole", a)
			stream := `data: {"id":"x","choices":[{"index":0,"delta":` + tt.message + `,"finish_reason":null}]}` + "\n\n" +
				`data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"` + tt.finish + `"}],` + usage + "}\n\ndata: [DONE]\n\n"
			f := fold(t, c, r, anyUpstream, strings.NewReader(stream))
			if f.err != nil || !f.whole {
				t.Fatalf("whole %v, %v", f.whole, f.err)
			}
			compare("stream", f.answer)
		})
	}
}

// TestDecodeAnswerErrors: what is no answer is none.
func TestDecodeAnswerErrors(t *testing.T) {
	tests := []struct {
		name string
		p    translate.Protocol
		body string
		kind fault.Kind // 0 for what cannot be decoded
		want string
	}{
		{"empty", translate.Chat, "", 0, "undecodable answer: the body is empty"},
		{"no choices", translate.Chat, `{"id":"x"}`, 0, "undecodable answer: choices is missing"},
		{"error", translate.Chat, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, fault.RateLimit, "error inside a good answer: rate_limit: slow down"},
		{"a page", translate.Messages, "<html>", 0, "undecodable answer: the body is not JSON"},
		{"no content", translate.Messages, `{"id":"x"}`, 0, "undecodable answer: content is missing"},
		{"overloaded", translate.Messages, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, fault.Overloaded, "error inside a good answer: overloaded: Overloaded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := codecOf(t, tt.p).DecodeAnswer([]byte(tt.body), anyRequest, anyUpstream)
			inside, ok := errors.AsType[*fault.InsideError](err)
			if err == nil || err.Error() != tt.want || ok != (tt.kind != 0) || errors.Is(err, fault.ErrUndecodable) == ok {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if ok && inside.Fault.Kind != tt.kind {
				t.Errorf("got %v", inside.Fault.Kind)
			}
		})
	}
}

// TestEncodesErrors: an error in a stream has the form of the client's protocol.
func TestEncodesErrors(t *testing.T) {
	f := fault.Fault{Kind: fault.Overloaded, Message: "busy \"now\"", Type: "x", Code: "y", Status: 503}
	for p, want := range map[translate.Protocol]string{
		translate.Chat:     `data: {"error":{"message":"busy \"now\"","type":"x","param":null,"code":"y"}}` + "\n\n",
		translate.Messages: "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"busy \"now\""},"request_id":null}` + "\n\n",
	} {
		e := codecOf(t, p).NewEncoder(anyRequest, publicModel)
		if got := string(e.Event(nil, &translate.Event{Kind: translate.EventError, Fault: &f})); got != want {
			t.Errorf("%v: got %s", p, got)
		}
	}
}

// TestUsageIsAskedFor: a chat client that did not ask for the usage of a stream
// does not get it.
func TestUsageIsAskedFor(t *testing.T) {
	a := &translate.Answer{Parts: []translate.Part{{Kind: translate.KindText, Text: "a"}}, Usage: translate.Usage{Input: 1, Known: true}}
	for _, asks := range []bool{true, false} {
		e := codecOf(t, translate.Chat).NewEncoder(&translate.Request{IncludeUsage: asks}, publicModel)
		var out []byte
		for _, ev := range translate.Unfold(a) {
			out = e.Event(out, &ev)
		}
		if got := strings.Contains(string(out), "usage"); got != asks {
			t.Errorf("asks %v: got %s", asks, out)
		}
	}
}

// TestHalvesOfPairs: an escaped surrogate pair may be cut between two pieces.
func TestHalvesOfPairs(t *testing.T) {
	chunk := func(text string) string {
		return `data: {"id":"x","choices":[{"index":0,"delta":{"content":"` + text + `","reasoning_content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
	}
	end := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, tt := range map[string]struct{ body, want string }{
		"cut":           {chunk(`a\ud83d`) + chunk(`\ude00b`), "a\U0001F600b"},
		"not cut":       {chunk(`a\ud83d\ude00b`), "a\U0001F600b"},
		"half a pair":   {chunk(`a\ud83d`) + chunk("b"), "a\uFFFDb"},
		"at the end":    {chunk(`a\uD83D`), "a\uFFFD"},
		"no escape":     {chunk(`a\\ud83d`) + chunk("b"), `a\ud83db`},
		"an odd escape": {chunk(`a\\\ud83d`) + chunk(`\ude00`), "a\\\U0001F600"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fold(t, codecOf(t, translate.Chat), anyRequest, anyUpstream, strings.NewReader(tt.body+end))
			var got, thought strings.Builder
			for _, p := range f.answer.Parts {
				if p.Kind == translate.KindText {
					got.WriteString(p.Text)
				} else {
					thought.WriteString(p.Text)
				}
			}
			if got.String() != tt.want || thought.String() != tt.want || !f.whole {
				t.Errorf("got %q and %q, want %q", got.String(), thought.String(), tt.want)
			}
		})
	}
}

// TestCallIDs: ids that a service numbers anew in every answer are told apart for
// a client of Messages, whole and streamed alike; others stay.
func TestCallIDs(t *testing.T) {
	c := codecOf(t, translate.Messages)
	seenIDs := map[string]bool{}
	for _, answer := range []string{"chatcmpl-1", "chatcmpl-2"} {
		a := &translate.Answer{ID: answer, Parts: []translate.Part{
			{Kind: translate.KindCall, Call: translate.Call{ID: "0", Name: "f", Arguments: "{}"}},
			{Kind: translate.KindCall, Call: translate.Call{ID: "functions.f:1", Name: "f", Arguments: "{}"}},
			{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789_" + answer, Name: "f", Arguments: "{}"}},
		}}
		whole := readMessages(t, c.EncodeAnswer(nil, a, anyRequest, publicModel), false)
		e := c.NewEncoder(anyRequest, publicModel)
		var out []byte
		for _, ev := range translate.Unfold(a) {
			out = e.Event(out, &ev)
		}
		if diff := cmp.Diff(whole.calls, readMessages(t, out, true).calls); diff != "" {
			t.Errorf("whole and streamed (-whole +streamed):\n%s", diff)
		}
		for i, call := range whole.calls {
			if seenIDs[call.ID] || strings.ContainsAny(call.ID, ".:") || i == 2 && call.ID != a.Parts[2].Call.ID {
				t.Errorf("%s: call %d has the id %q", answer, i, call.ID)
			}
			seenIDs[call.ID] = true
		}
	}
}
