package translate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
	"gatewright/internal/wire/translate"
)

// full is an upstream that takes all of Responses.
var full = &translate.Upstream{Model: "up", Full: true, Reasons: true}

func TestReadsResponsesRequests(t *testing.T) {
	const body = `{"model":"m","instructions":"i","disable_fallbacks":true,"input":[{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},` +
		`{"type":"input_file","filename":"x.txt","file_data":"YWJj"},{"type":"input_file","file_data":"QUJD"},{"type":"input_image","file_id":"file-1","detail":"low"}]},` +
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"id":"rs_1","encrypted_content":"e"},` +
		`{"type":"reasoning","id":"rs_2","summary":[]},{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"raw"}]},` +
		`{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}","status":"completed"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"free"},` +
		`{"type":"function_call_output","call_id":"c1","output":"r1"},{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"r2"}]},{"role":"user","content":"b"},{"role":"system","content":"s"}],` +
		`"user":"u","safety_identifier":"v","text":{"format":{"type":"json_schema","name":"n","description":"d","schema":{"type":"object"},"strict":true},"verbosity":"low"},` +
		`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"web_search"}]},"tools":[{"type":"web_search"},{"type":"custom","name":"g","format":{"type":"text"}}]}`
	r, lost, err := codecOf(t, translate.Responses).DecodeRequest([]byte(body))
	if err != nil || len(lost) > 0 {
		t.Fatalf("got losses %v, error %v", lost, err)
	}
	yes := true
	result := func(id, name, text string) translate.Part {
		return translate.Part{Kind: translate.KindResult, Result: translate.Result{CallID: id, Name: name, Parts: []translate.Part{{Text: text}}}}
	}
	want := &translate.Request{
		Model: "m", IncludeUsage: true, User: "v", Verbosity: "low",
		System: []translate.Part{{Text: "i"}, {Text: "d"}},
		Turns: []translate.Turn{
			{Parts: []translate.Part{
				{Text: "a"},
				{Kind: translate.KindDocument, Media: translate.Media{Data: "YWJj", MIME: "text/plain", Name: "x.txt"}},
				{Kind: translate.KindDocument, Media: translate.Media{Data: "QUJD", MIME: "application/pdf"}},
				{Kind: translate.KindImage, Media: translate.Media{FileID: "file-1", Origin: translate.OriginOpenAI, Detail: "low"}},
			}},
			{Role: translate.RoleAssistant, Parts: []translate.Part{
				{Kind: translate.KindReasoning, Text: "one\n\ntwo", Signature: translate.Signature{Origin: translate.OriginOpenAI, ID: "rs_1", Data: "e"}},
				{Kind: translate.KindReasoning, Text: "raw"},
				{Kind: translate.KindCall, Call: translate.Call{ID: "c1", Name: "f", Arguments: "{}"}},
				{Kind: translate.KindCall, Call: translate.Call{ID: "c2", Name: "g", Arguments: "free", Custom: true}},
			}},
			{Parts: []translate.Part{result("c1", "f", "r1"), result("c2", "g", "r2")}},
			{Parts: []translate.Part{{Text: "b"}}},
			{Role: translate.RoleSystem, Parts: []translate.Part{{Text: "s"}}},
		},
		Tools:      []translate.Tool{{Kind: translate.ToolServer, Name: "web_search", Type: "web_search"}, {Kind: translate.ToolCustom, Name: "g"}},
		ToolChoice: translate.ToolChoice{Mode: translate.ChoiceAuto, Allowed: []string{"f", "web_search"}},
		Format:     translate.Format{Kind: translate.FormatSchema, Name: "n", Description: "d", Schema: []byte(`{"type":"object"}`), Strict: &yes},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// TestReadsCodex reads the request of a coding agent, which offers a tool of the
// service beside its own.
func TestReadsCodex(t *testing.T) {
	var client struct {
		Request struct{ Body map[string]any }
	}
	if err := json.Unmarshal(readMaterial(t, "responses", "clients", "codex-cli-responses.json"), &client); err != nil {
		t.Fatal(err)
	}
	// What the recording leaves out stands there as texts.
	tools, _ := client.Request.Body["tools"].([]any)
	for _, one := range tools[:2] {
		tool, _ := one.(map[string]any)
		tool["parameters"] = map[string]any{"type": "object"}
	}
	client.Request.Body["tools"] = append(tools[:2], map[string]any{"type": "web_search", "external_web_access": false})
	body, err := json.Marshal(client.Request.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []translate.Protocol{translate.Chat, translate.Messages, translate.Gemini} {
		out, lost, err := translated(t, translate.Responses, p, full, string(body))
		if err != nil || !strings.Contains(out, "exec_command") || strings.Contains(out, "web_search") {
			t.Errorf("%v: got %s, %v", p, out, err)
		}
		if !strings.Contains(strings.Join(lost, " "), "web_search") {
			t.Errorf("%v: got losses %v", p, lost)
		}
	}
}

func TestResponsesRefuses(t *testing.T) {
	const in = `"model":"m","input":"hi"`
	for body, unsupported := range map[string]bool{
		``: false, `[]`: false, `{"input":"hi"}`: false, `{"model":"m"}`: false, `{"model":"m","input":[]}`: false, `{"model":"m","input":7}`: false,
		`{"model":"m","input":[{"role":"robot","content":"a"}]}`:                        false,
		`{"model":"m","input":[{"content":"a"}]}`:                                       false,
		`{"model":"m","input":[{"role":"user","content":[{"text":"a"}]}]}`:              false,
		`{"model":"m","input":[{"role":"user","content":"\ud800"}]}`:                    false,
		`{` + in + `,"tools":[{"name":"f"}]}`:                                           false,
		`{` + in + `,"tool_choice":"always"}`:                                           false,
		`{` + in + `,"max_output_tokens":0}`:                                            false,
		`{` + in + `,"text":{"format":{"type":"grammar"}}}`:                             true,
		`{` + in + `,"previous_response_id":"r"}`:                                       true,
		`{` + in + `,"background":true}`:                                                true,
		`{` + in + `,"top_logprobs":3}`:                                                 true,
		`{"model":"m","input":[{"role":"user","content":[{"type":"input_hologram"}]}]}`: true,
		`{"model":"m","input":[{"type":"mcp_call","output":"a"}]}`:                      true,
		`{"model":"m","input":[{"id":"msg_1"}]}`:                                        true,
	} {
		_, _, err := codecOf(t, translate.Responses).DecodeRequest([]byte(body))
		_, isUnsupported := errors.AsType[*translate.UnsupportedError](err)
		_, isInvalid := errors.AsType[*translate.InvalidError](err)
		if isUnsupported != unsupported || isInvalid == unsupported {
			t.Errorf("%s: got %v", body, err)
		}
	}
	if _, _, err := codecOf(t, translate.Responses).DecodeRequest([]byte(`{` + in + `,"background":false,"previous_response_id":null,"top_logprobs":0}`)); err != nil {
		t.Errorf("what is not asked for: got %v", err)
	}
}

func TestResponsesRequests(t *testing.T) {
	const asks = `"messages":[{"role":"user","content":"hi"}]`
	const said = `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]`
	tests := []struct {
		name, members, want string
		up                  *translate.Upstream
	}{
		{"least", asks, `{"model":"up",` + said + `,"store":false}`, anyUpstreamUp},
		{"instructions", `"messages":[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"hi"},{"role":"system","content":"c"}]`, `{"model":"up","instructions":"a\n\nb","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"c"}]}],"store":false}`, full},
		{
			"calls", `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"wait","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":"}},{"id":"` + strings.Repeat("x", 70) + `","type":"custom","custom":{"name":"g","input":"free"}}]},{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"` + strings.Repeat("x", 70) + `","content":"two"}],"tools":[{"type":"custom","custom":{"name":"g"}}]`,
			`{"model":"up","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"wait"}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":"},{"type":"custom_tool_call","call_id":"LONG","name":"g","input":"free"},{"type":"function_call_output","call_id":"c1","output":"one"},{"type":"custom_tool_call_output","call_id":"LONG","output":"two"}],"tools":[{"type":"custom","name":"g"}],"store":false}`, full,
		},
		{
			"custom tools elsewhere", `"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"g","input":"free"}}]},{"role":"tool","tool_call_id":"c1","content":"two"}],"tools":[{"type":"custom","custom":{"name":"g"}}]`,
			`{"model":"up","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","call_id":"c1","name":"g","arguments":"{\"input\":\"free\"}"},{"type":"function_call_output","call_id":"c1","output":"two"}],"tools":[{"type":"function","name":"g","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false},"strict":false}],"store":false}`, anyUpstreamUp,
		},
		{"reasoning", asks + `,"reasoning_effort":"high"`, `{"model":"up",` + said + `,"reasoning":{"effort":"high"},"include":["reasoning.encrypted_content"],"store":false}`, full},
		{"a budget", asks + `,"thinking":{"type":"enabled","budget_tokens":20000}`, `{"model":"up",` + said + `,"reasoning":{"effort":"high"},"include":["reasoning.encrypted_content"],"store":false}`, full},
		{"no reasoning", asks + `,"reasoning_effort":"none"`, `{"model":"up",` + said + `,"reasoning":{"effort":"none"},"store":false}`, full},
		{"JSON", asks + `,"response_format":{"type":"json_object"},"stream":true,"max_tokens":9`, `{"model":"up",` + said + `,"max_output_tokens":9,"text":{"format":{"type":"json_object"}},"stream":true,"store":false}`, full},
		{"who asks", asks + `,"user":"u","prompt_cache_key":"k","service_tier":"flex","metadata":{"b":"2","a":"1"}`, `{"model":"up",` + said + `,"store":false,"safety_identifier":"u","prompt_cache_key":"k","service_tier":"flex","metadata":{"a":"1","b":"2"}}`, full},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, _, err := translated(t, translate.Chat, translate.Responses, tt.up, `{"model":"m",`+tt.members+`}`)
			if err != nil {
				t.Fatal(err)
			}
			if long := member(t, body, "input"); strings.Contains(tt.want, "LONG") {
				i := strings.Index(long, `"call_id":"xxx`) + len(`"call_id":"`)
				id, _, _ := strings.Cut(long[i:], `"`)
				if len(id) != 64 {
					t.Errorf("got id %q", id)
				}
				tt.want = strings.ReplaceAll(tt.want, "LONG", id)
			}
			compareJSON(t, tt.want, body)
		})
	}
}

var anyUpstreamUp = &translate.Upstream{Model: "up"}

// responsesStream frames events.
func responsesStream(events ...string) *bytes.Reader {
	var out []byte
	for _, data := range events {
		out = sse.Append(out, "", []byte(data))
	}
	return bytes.NewReader(out)
}

// added and done return events of an item, piece one of a piece of its text.
func added(index, item string) string {
	return `{"type":"response.output_item.added","output_index":` + index + `,"item":` + item + `}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `}`
}

func textPiece(kind, index, delta string) string {
	return `{"type":"response.` + kind + `.delta","output_index":` + index + `,"content_index":0,"delta":"` + delta + `"}`
}

const (
	created   = `{"type":"response.created","response":{"id":"resp_1","created_at":7,"status":"in_progress","output":[]}}`
	completed = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}`
)

// TestReadsResponsesStreams reads streams whose items mix, or that leave out
// what others send.
func TestReadsResponsesStreams(t *testing.T) {
	call := func(id, arguments string) string {
		return `{"type":"function_call","id":"fc_` + id + `","call_id":"` + id + `","name":"f","arguments":"` + arguments + `"}`
	}
	message := func(text string) string {
		return `{"type":"message","id":"msg","content":[{"type":"output_text","text":"` + text + `"}]}`
	}
	const args = "function_call_arguments"
	tests := []struct {
		name   string
		events []string
		want   string // the parts, in short
	}{
		{"calls that mix", []string{
			added("0", call("a", "")), textPiece(args, "0", "{"), added("1", call("b", "")), textPiece(args, "1", "[1"), textPiece(args, "0", "}"), textPiece(args, "1", "]"),
			done("1", call("b", "[1]")), done("0", call("a", "{}")),
		}, "call a {} | call b [1]"},
		{"three that mix", []string{
			added("0", call("a", "")), added("1", call("b", "")), added("2", call("c", "")), textPiece(args, "2", "3"), textPiece(args, "1", "2"), textPiece(args, "0", "1"),
			done("2", call("c", "3")), done("1", call("b", "2")), done("0", call("a", "1")),
		}, "call a 1 | call b 2 | call c 3"},
		{"a text within a call", []string{
			added("0", call("a", "")), added("1", message("")), textPiece("output_text", "1", "x"), textPiece(args, "0", "1"), done("0", call("a", "1")), textPiece("output_text", "1", "y"), done("1", message("xy")),
		}, "call a 1 | text xy"},
		{"a call that never ends", []string{added("0", call("a", "")), textPiece(args, "0", "1"), added("1", message("")), textPiece("output_text", "1", "x")}, "call a 1 | text x"},
		{"a thought that ends late", []string{
			added("0", `{"type":"reasoning","id":"rs"}`), textPiece("reasoning_text", "0", "hm"), added("1", message("")), textPiece("output_text", "1", "x"),
			done("1", message("x")), done("0", `{"type":"reasoning","id":"rs","content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":"e"}`),
		}, "reasoning hm | text x | reasoning  [e]"},
		{"texts that alternate", []string{
			added("0", message("")), textPiece("output_text", "0", "a"), added("1", message("")), textPiece("output_text", "1", "b"), textPiece("output_text", "0", "c"), done("0", message("ac")), done("1", message("b")),
		}, "text a | text b | text c"},
		{"summaries", []string{
			added("0", `{"type":"reasoning"}`), `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}`, done("0", `{"type":"reasoning","id":"rs","encrypted_content":"e"}`),
		}, "reasoning a\n\nb [e]"},
		{"an encrypted thought", []string{added("0", `{"type":"reasoning"}`), done("0", `{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}`)}, "reasoning  [e]"},
		{"a thought of nothing", []string{added("0", `{"type":"reasoning"}`), done("0", `{"type":"reasoning","id":"rs","summary":[]}`)}, ""},
		{"texts at their end", []string{`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"a"}`, done("0", message("a"))}, "text a"},
		{"items at their end", []string{done("0", `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`), done("1", call("a", "{}")), done("2", message("x"))}, "reasoning hm | call a {} | text x"},
		{"arguments at the end", []string{added("0", call("a", "")), done("0", call("a", "{}"))}, "call a {}"},
		{"a call without an end of its own", []string{added("0", call("a", ""))}, "call a {}"},
		{"refusals", []string{added("0", `{"type":"message"}`), textPiece("refusal", "0", "no"), `{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"no"}`}, "refusal no"},
		{"halves of a character", []string{added("0", message("")), textPiece("output_text", "0", `\ud83d`), textPiece("output_text", "0", `\ude00`), textPiece("output_text", "0", `\ud83d`)}, "text 😀\uFFFD"},
		{"an image", []string{done("0", `{"type":"image_generation_call","id":"ig","result":"AAAA","output_format":"webp"}`)}, "image image/webp AAAA"},
		{"what the upstream does", []string{added("0", `{"type":"web_search_call","id":"ws"}`), `{"type":"response.web_search_call.searching","output_index":0}`, done("0", `{"type":"web_search_call","id":"ws"}`), done("1", message("x"))}, "text x"},
		{"an event that nobody knows", []string{`{"type":"response.new","output_index":0}`, added("0", message("")), textPiece("output_text", "0", "x")}, "text x"},
		{"free text", []string{added("0", `{"type":"custom_tool_call","call_id":"a","name":"g","input":""}`), textPiece("custom_tool_call_input", "0", `{\"input\":\"x\"}`)}, `call a {"input":"x"} custom`},
		{"a function that stands in", []string{added("0", strings.Replace(call("a", ""), `"f"`, `"free"`, 1)), textPiece(args, "0", `{\"inp`), textPiece(args, "0", `ut\":\"x\"}`), done("0", strings.Replace(call("a", `{\"input\":\"x\"}`), `"f"`, `"free"`, 1))}, "call a x custom"},
	}
	r := &translate.Request{Tools: []translate.Tool{{Name: "f"}, {Name: "free", Kind: translate.ToolCustom}}}
	c := codecOf(t, translate.Responses)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fold(t, c, r, full, responsesStream(append(append([]string{created}, tt.events...), completed)...))
			if f.err != nil || !f.whole {
				t.Fatalf("got error %v, whole %v", f.err, f.whole)
			}
			if got := inShort(f.answer.Parts); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if f.answer.ID != "resp_1" || f.answer.Created != 7 {
				t.Errorf("got id %q, created %d", f.answer.ID, f.answer.Created)
			}
			want := translate.FinishStop
			if strings.Contains(tt.want, "call ") {
				want = translate.FinishCalls
			}
			if f.answer.End.Finish != want {
				t.Errorf("got end %+v", f.answer.End)
			}
			// Without the final event it broke off.
			if cut := fold(t, c, r, full, responsesStream(append([]string{created}, tt.events...)...)); cut.whole {
				t.Error("cut it is whole")
			}
		})
	}
}

// inShort writes parts as one line.
func inShort(parts []translate.Part) string {
	var list []string
	for i := range parts {
		p := &parts[i]
		one := p.Kind.String() + " " + p.Text
		if p.Kind == translate.KindCall {
			one = "call " + p.Call.ID + " " + p.Call.Arguments
		}
		if p.Call.Custom {
			one += " custom"
		}
		if p.Kind == translate.KindImage {
			one = "image " + p.Media.MIME + " " + p.Media.Data
		}
		if p.Signature.Data != "" {
			one += " [" + p.Signature.Data + "]"
		}
		list = append(list, one)
	}
	return strings.Join(list, " | ")
}

// TestReadsResponsesFinals reads the last events of streams.
func TestReadsResponsesFinals(t *testing.T) {
	const output = `"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]`
	tests := []struct {
		name, final, parts string
		want               translate.Finish
	}{
		{"all at once", `{"type":"response.completed","response":{"id":"r","status":"completed",` + output + `}}`, "reasoning  [e] | text a | refusal b | call c {}", translate.FinishCalls},
		{"cut off", `{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},` + output + `}}`, "reasoning  [e] | text a | refusal b | call c {}", translate.FinishLength},
		{"filtered", `{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}`, "", translate.FinishFilter},
		{"without a status", `{"type":"response.incomplete","response":{"id":"r"}}`, "", translate.FinishLength},
	}
	c := codecOf(t, translate.Responses)
	for _, tt := range tests {
		f := fold(t, c, anyRequest, full, responsesStream(tt.final))
		if got := inShort(f.answer.Parts); got != tt.parts || f.answer.End.Finish != tt.want || !f.whole {
			t.Errorf("%s: got %q, %+v, whole %v", tt.name, got, f.answer.End, f.whole)
		}
	}
	// A whole answer reads the same.
	a, err := c.DecodeAnswer([]byte(`{"id":"r","status":"completed",`+output+`}`), anyRequest, full)
	if err != nil || inShort(a.Parts) != tests[0].parts || a.End.Finish != translate.FinishCalls {
		t.Errorf("whole: got %+v, %v", a, err)
	}
	if _, err := c.DecodeAnswer([]byte(`{"id":"r","status":"queued"}`), anyRequest, full); !errors.Is(err, fault.ErrUndecodable) {
		t.Errorf("not finished: got %v", err)
	}
	var inside *fault.InsideError
	if _, err := c.DecodeAnswer([]byte(`{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}}`), anyRequest, full); !errors.As(err, &inside) || inside.Fault.Kind != fault.RateLimit {
		t.Errorf("failed: got %v", err)
	}
}

// TestHeldEventsAreBounded tells endlessly of other items while a call is open.
func TestHeldEventsAreBounded(t *testing.T) {
	d := codecOf(t, translate.Responses).NewDecoder(anyRequest, full)
	events, err := d.Event(nil, nil, []byte(added("0", `{"type":"function_call","call_id":"a","name":"f"}`)))
	long := textPiece("output_text", "1", strings.Repeat("x", 100_000))
	for range 100 {
		if events, err = d.Event(events, nil, []byte(long)); err != nil {
			break
		}
	}
	if !errors.Is(err, fault.ErrUndecodable) {
		t.Errorf("got %v and %d events", err, len(events))
	}
}

// encodeResponses writes events for a client.
func encodeResponses(r *translate.Request, events ...translate.Event) []byte {
	c, _ := translate.For(translate.Responses)
	e := c.NewEncoder(r, publicModel)
	var out []byte
	for i := range events {
		out = e.Event(out, &events[i])
	}
	return out
}

func TestWritesResponsesErrors(t *testing.T) {
	f := &fault.Fault{Kind: fault.Server, Status: 502, Message: "the upstream broke off", Code: "upstream_truncated", Type: "upstream_error"}
	text := translate.Event{Kind: translate.EventPart, Part: translate.Part{Kind: translate.KindText}}
	s := readResponses(t, encodeResponses(anyRequest, translate.Event{Kind: translate.EventStart, ID: "x"}, text, translate.Event{Kind: translate.EventDelta, Text: "a"}, translate.Event{Kind: translate.EventError, Fault: f}, text), true)
	if s.failed != f.Message || s.over || s.reason != "failed" {
		t.Errorf("got %+v", s)
	}
	out := string(encodeResponses(anyRequest, translate.Event{Kind: translate.EventError, Fault: &fault.Fault{Kind: fault.Overloaded, Message: "m"}}))
	compareJSON(t, `{"type":"error","sequence_number":0,"error":{"code":"overloaded","message":"m","param":null},"code":"overloaded","message":"m","param":null}`, strings.TrimPrefix(strings.TrimSpace(out), "event: error\ndata: "))
}

// TestWritesResponsesAnswers checks what an answer repeats of its request.
func TestWritesResponsesAnswers(t *testing.T) {
	body := `{"model":"m","input":"hi","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},{"type":"custom","name":"g"},{"type":"web_search"}],"tool_choice":{"type":"custom","name":"g"},` +
		`"parallel_tool_calls":false,"max_output_tokens":9,"temperature":0.5,"top_p":1,"reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_object"},"verbosity":"low"},"metadata":{"a":"b"}}`
	c := codecOf(t, translate.Responses)
	r, _, err := c.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	a := &translate.Answer{ID: "chatcmpl-1", Created: 7, End: translate.End{Finish: translate.FinishLength}, Parts: []translate.Part{
		{Text: "a"},
		{Kind: translate.KindRefusal, Text: "b"},
		{Kind: translate.KindAudio, Media: translate.Media{Data: "AAAA"}},
		{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789ab", Name: "g", Arguments: "free", Custom: true}},
		{Kind: translate.KindImage, Media: translate.Media{Data: "AAAA", MIME: "image/png"}},
		{Text: "c"},
	}}
	const item = `{"id":"msg_chatcmpl-1_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]},{"type":"refusal","refusal":"b"}]}`
	want := `{"id":"resp_chatcmpl-1","object":"response","created_at":7,"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"instructions":null,"model":"public-model",` +
		`"output":[` + item + `,{"id":"ctc_chatcmpl-1_1","type":"custom_tool_call","status":"completed","call_id":"call_0123456789ab","name":"g","input":"free"},{"id":"ig_chatcmpl-1_2","type":"image_generation_call","status":"completed","result":"AAAA","output_format":"png"},` +
		`{"id":"msg_chatcmpl-1_3","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"c","annotations":[],"logprobs":[]}]}],"usage":null,` +
		`"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},{"type":"custom","name":"g"}],"tool_choice":{"type":"custom","name":"g"},"parallel_tool_calls":false,"max_output_tokens":9,` +
		`"temperature":0.5,"top_p":1,"reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_object"},"verbosity":"low"},"previous_response_id":null,"store":false,"truncation":"disabled","metadata":{"a":"b"}}`
	compareJSON(t, want, string(c.EncodeAnswer(nil, a, r, publicModel)))
	// Its stream ends with the same.
	s := readResponses(t, encodeResponses(r, translate.Unfold(a)...), true)
	if s.text != "ac" || s.refusal != "b" || s.reason != "length" || len(s.calls) != 1 {
		t.Errorf("as a stream: got %+v", s)
	}
}

// TestCallsOfAnswersDiffer sends answers of a service that numbers its calls: a
// history of a client of Responses has each id once.
func TestCallsOfAnswersDiffer(t *testing.T) {
	c := codecOf(t, translate.Responses)
	id := func(answer string) string {
		a := &translate.Answer{ID: answer, Parts: []translate.Part{{Kind: translate.KindCall, Call: translate.Call{ID: "functions.f:0", Name: "f", Arguments: "{}"}}}}
		whole := readResponses(t, c.EncodeAnswer(nil, a, anyRequest, publicModel), false).calls[0].ID
		if streamed := readResponses(t, encodeResponses(anyRequest, translate.Unfold(a)...), true); len(streamed.calls) != 1 || streamed.calls[0].ID != whole {
			t.Errorf("got %q, and %+v in a stream", whole, streamed.calls)
		}
		return whole
	}
	if one, two := id("r1"), id("r2"); one == two || one != id("r1") {
		t.Errorf("got ids %q and %q", one, two)
	}
}
