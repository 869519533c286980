package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

const jsonDepth = 128

// features compares what a Request tells, not the places that it remembers.
var features = cmpopts.IgnoreUnexported(anthropic.Request{})

func scanned(t *testing.T, e anthropic.Endpoint, body string) *anthropic.Request {
	t.Helper()
	r, err := anthropic.ScanRequest(e, []byte(body), jsonDepth)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

func TestScanRequest(t *testing.T) {
	const least = `"max_tokens":9,"model":"m","messages":[{"role":"user","content":"hi"}]`
	is := func(change func(*anthropic.Request)) anthropic.Request {
		r := anthropic.Request{Model: "m", MaxOutput: 9, TextBytes: 2}
		change(&r)
		return r
	}
	bytesMore := func(n int) anthropic.Request {
		return is(func(r *anthropic.Request) { r.TextBytes += int64(n) })
	}
	user := func(blocks string) string {
		return `{"max_tokens":9,"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"},` + blocks + `]}]}`
	}
	tests := []struct {
		name string
		body string
		want anthropic.Request
	}{
		{"least", "{" + least + "}", bytesMore(0)},
		{"nulls count as absent", `{"stream":null,"system":null,"tools":null,"thinking":null,"output_config":null,"metadata":null,"disable_fallbacks":null,"session_id":null,"litellm_session_id":null,` + least + "}", bytesMore(0)},
		{"model with escapes", `{"max_tokens":9,"mod\u0065l":"a\/b\u00e9","messages":[{"role":"user","content":"hi"}]}`, anthropic.Request{Model: "a/bé", MaxOutput: 9, TextBytes: 2}},
		{"stream", `{"stream":true,` + least + "}", is(func(r *anthropic.Request) { r.Stream = true })},
		{"no tokens", strings.Replace("{"+least+"}", "9", "0", 1), is(func(r *anthropic.Request) { r.MaxOutput = 0 })},
		{"forms of numbers", strings.Replace("{"+least+"}", "9", "3.2e4", 1), is(func(r *anthropic.Request) { r.MaxOutput = 32000 })},
		{"system text", `{"system":"abc",` + least + "}", bytesMore(3)},
		{"system blocks", `{"system":[{"type":"text","text":"abc","cache_control":{"type":"ephemeral"}},{"type":"text","text":"de"}],` + least + "}", bytesMore(5)},
		{"tools", `{"tools":[{"name":"f","input_schema":{"type":"object"}}],` + least + "}", is(func(r *anthropic.Request) { r.Tools, r.TextBytes = true, 2+4+1+12+4+6 })},
		{"no tools", `{"tools":[],` + least + "}", bytesMore(0)},
		{"image", user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAAAAAA"}}`), is(func(r *anthropic.Request) { r.Vision = true })},
		{"image in a result", user(`{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"abc"},{"type":"image","source":{"type":"url","url":"u"}}]}`), is(func(r *anthropic.Request) { r.Vision, r.TextBytes = true, 5 })},
		{"document", user(`{"source":{"type":"base64","media_type":"application/pdf","data":"AAAAAAAA"},"type":"document","title":"abc"}`), is(func(r *anthropic.Request) { r.Files, r.TextBytes = true, 5 })},
		{"document that is text", user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"abcd"}}`), bytesMore(4)},
		{"document of blocks", user(`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"abcd"}]}}`), bytesMore(4)},
		{"a call and its result", user(`{"type":"tool_use","id":"x","name":"f","input":{"a":"bc","type":"image"}},{"type":"tool_result","tool_use_id":"x","content":"def"}`), bytesMore(len("a" + "bc" + "type" + "image" + "def"))},
		{"thinking", user(`{"type":"thinking","thinking":"abc","signature":"xxxx"},{"type":"redacted_thinking","data":"xxxx"}`), bytesMore(3)},
		{"schema", `{"output_config":{"effort":"low","format":{"schema":{},"type":"json_schema"}},` + least + "}", is(func(r *anthropic.Request) { r.JSONSchema = true })},
		{"schema in the older place", `{"output_format":{"type":"json_schema","schema":{}},` + least + "}", is(func(r *anthropic.Request) { r.JSONSchema = true })},
		{"reasoning", `{"thinking":{"type":"enabled","budget_tokens":1024},` + least + "}", is(func(r *anthropic.Request) { r.Reasoning = true })},
		{"reasoning that is adaptive", `{"thinking":{"type":"adaptive"},` + least + "}", is(func(r *anthropic.Request) { r.Reasoning = true })},
		{"no reasoning", `{"thinking":{"type":"disabled"},` + least + "}", bytesMore(0)},
		{"odd contents are the upstream's to judge", `{"max_tokens":9,"model":"m","messages":[{"role":"user","content":{"a":1}},{"role":7,"content":12},{},{"content":["hi",1,null]}],"system":7,"thinking":"x","output_config":[]}`, bytesMore(0)},
		{"gateway's own", `{"disable_fallbacks":true,"session_id":"a","litellm_session_id":"b",` + least + "}", is(func(r *anthropic.Request) { r.DisableFallbacks, r.SessionID, r.LitellmSessionID = true, "a", "b" })},
		{"unknown fields in any number", `{"a":1,"a":{"model":"x","stream":true},"Stream":true,` + least + "}", bytesMore(0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(&tt.want, scanned(t, anthropic.Messages, tt.body), features); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
	count := scanned(t, anthropic.CountTokens, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	if diff := cmp.Diff(&anthropic.Request{Model: "m", TextBytes: 2}, count, features); diff != "" {
		t.Errorf("count_tokens (-want +got):\n%s", diff)
	}
}

// TestScanRequestNative names what no translation can carry.
func TestScanRequestNative(t *testing.T) {
	block := func(b string) string { return `"messages":[{"role":"user","content":[` + b + `]}]` }
	for body, want := range map[string]string{
		`"messages":[{}]`: "",
		`"messages":[{}],"tools":[{"name":"f"},{"type":"custom","name":"g"},{"type":"web_search_20250305","name":"web_search"}]`: "",
		`"messages":[{}],"tools":[{"type":"web_search_20250305","name":"web_search"}]`:                                           "tools",
		`"messages":[{}],"tools":[{"type":null,"name":"f"}]`:                                                                     "",
		`"messages":[{}],"tools":[]`:                                                 "",
		block(`{"type":"image","source":{"type":"file","file_id":"file_1"}}`):        "source.type file",
		block(`{"type":"document","source":{"file_id":"file_1","type":"file"}}`):     "source.type file",
		block(`{"type":"image","source":{"type":"url","url":"https://x.example/"}}`): "",
	} {
		if got := scanned(t, anthropic.Messages, `{"model":"m","max_tokens":1,`+body+`}`).Native; got != want {
			t.Errorf("%s: needs its maker for %q, want %q", body, got, want)
		}
	}
}

func TestScanRequestSessions(t *testing.T) {
	for metadata, want := range map[string][2]string{ // user, session
		`{"user_id":"user_1_account_2_session_00000000-0000-4000-8000-000000000009"}`: {"user_1_account_2_session_00000000-0000-4000-8000-000000000009", "00000000-0000-4000-8000-000000000009"},
		`{"user_id":"{\"device_id\":\"0\",\"session_id\":\"s\"}"}`:                    {`{"device_id":"0","session_id":"s"}`, "s"},
		`{"user_id":"{\"account\":\"a_session_b\",\"session_id\":\"s\"}"}`:            {`{"account":"a_session_b","session_id":"s"}`, "s"},
		`{"session_id":"x","user_id":"user_1_session_2"}`:                             {"user_1_session_2", "x"},
		`{"langfuse_session_id":"l","user_id":"user_1_session_2"}`:                    {"user_1_session_2", "l"},
		`{"langfuse_session_id":"l","session_id":"x"}`:                                {"", "x"},
		`{"user_id":"{\"session_id\":\"a\""}`:                                         {`{"session_id":"a"`, ""},
		`{"user_id":"{\"session_id\":7}"}`:                                            {`{"session_id":7}`, ""},
		`{"user_id":"somebody"}`:                                                      {"somebody", ""},
		`{"user_id":7}`:                                                               {"", ""},
		`{"user_id":"\ud800"}`:                                                        {"", ""},
		`"text"`:                                                                      {"", ""},
		`{"nested":{"user_id":"x_session_y"}}`:                                        {"", ""},
	} {
		r := scanned(t, anthropic.Messages, `{"metadata":`+metadata+`,"max_tokens":1,"model":"m","messages":[{}]}`)
		if got := [2]string{r.User, r.MetadataSession}; got != want {
			t.Errorf("%s: got %q, want %q", metadata, got, want)
		}
	}
}

func TestScanRequestErrors(t *testing.T) {
	const rest = `"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	tests := []struct {
		name string
		body string
		want request.Error
	}{
		{"empty", "", request.Error{Code: request.CodeJSON, Message: "the body is not valid JSON: the text ends too early at byte 0"}},
		{"a list", "[]", request.Error{Code: request.CodeJSON, Message: "the body must be a JSON object, not an array"}},
		{"cut", `{"model":"m",` + rest[:20], request.Error{Code: request.CodeJSON, Message: "the body is not valid JSON: the text ends too early at byte 33"}},
		{"too deep", `{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"model":"m",` + rest, request.Error{Code: request.CodeJSON, Message: "the body is nested deeper than 128 levels"}},
		{"no model", "{" + rest, request.Error{Param: "model", Code: request.CodeMissing, Message: "model is missing; name the model to use"}},
		{"model empty", `{"model":"",` + rest, request.Error{Param: "model", Code: request.CodeMissing, Message: "model is missing; name the model to use"}},
		{"model a number", `{"model":7,` + rest, request.Error{Param: "model", Code: request.CodeType, Message: "model must be a string, not a number"}},
		{"model no text", `{"model":"\ud800",` + rest, request.Error{Param: "model", Code: request.CodeValue, Message: "model: the string holds half a surrogate pair"}},
		{"model twice", `{"model":"a","mod\u0065l":"b",` + rest, request.Error{Param: "model", Code: request.CodeDuplicate, Message: "model stands in the body twice; send it once, an upstream might read the other one"}},
		{"model in disguise", `{"model":"a","Model":"b",` + rest, request.Error{Param: "Model", Code: request.CodeDuplicate, Message: `"Model" is not a field; write "model"`}},
		{"no messages", `{"model":"m","max_tokens":1}`, request.Error{Param: "messages", Code: request.CodeMissing, Message: "messages is missing; it is what the model answers to"}},
		{"messages empty", `{"model":"m","max_tokens":1,"messages":[]}`, request.Error{Param: "messages", Code: request.CodeMissing, Message: "messages is missing; the array is empty"}},
		{"messages a text", `{"model":"m","max_tokens":1,"messages":"hi"}`, request.Error{Param: "messages", Code: request.CodeType, Message: "messages must be an array, not a string"}},
		{"message a text", `{"model":"m","max_tokens":1,"messages":[{},"hi"]}`, request.Error{Param: "messages.1", Code: request.CodeType, Message: "messages.1 must be an object, not a string"}},
		{"no max_tokens", `{"model":"m","messages":[{}]}`, request.Error{Param: "max_tokens", Code: request.CodeMissing, Message: "max_tokens is missing; say how many tokens the answer may have"}},
		{"max_tokens null", `{"model":"m","max_tokens":null,"messages":[{}]}`, request.Error{Param: "max_tokens", Code: request.CodeMissing, Message: "max_tokens is missing; say how many tokens the answer may have"}},
		{"max_tokens negative", `{"model":"m","max_tokens":-1,"messages":[{}]}`, request.Error{Param: "max_tokens", Code: request.CodeValue, Message: "max_tokens must be an integer from 0 to 1000000000, not -1"}},
		{"max_tokens broken", `{"model":"m","max_tokens":1.5,"messages":[{}]}`, request.Error{Param: "max_tokens", Code: request.CodeValue, Message: "max_tokens must be an integer from 0 to 1000000000, not 1.5"}},
		{"max_tokens a text", `{"model":"m","max_tokens":"9","messages":[{}]}`, request.Error{Param: "max_tokens", Code: request.CodeType, Message: "max_tokens must be an integer, not a string"}},
		{"stream a text", `{"stream":"true","model":"m",` + rest, request.Error{Param: "stream", Code: request.CodeType, Message: "stream must be true or false, not a string"}},
		{"tools an object", `{"tools":{},"model":"m",` + rest, request.Error{Param: "tools", Code: request.CodeType, Message: "tools must be an array, not an object"}},
		{"disable_fallbacks a number", `{"disable_fallbacks":1,"model":"m",` + rest, request.Error{Param: "disable_fallbacks", Code: request.CodeType, Message: "disable_fallbacks must be true or false, not a number"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := anthropic.ScanRequest(anthropic.Messages, []byte(tt.body), jsonDepth)
			got, ok := errors.AsType[*request.Error](err)
			if !ok || r != nil {
				t.Fatalf("got %+v, %v", r, err)
			}
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreFields(request.Error{}, "Err")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			_, syntax := errors.AsType[*scan.SyntaxError](err)
			_, depth := errors.AsType[*scan.DepthError](err)
			if tt.want.Code == request.CodeJSON && tt.body != "[]" && !syntax && !depth {
				t.Errorf("the error wraps %v", errors.Unwrap(got))
			}
		})
	}
}

// clientRequests returns the bodies that client programs sent, by file.
func clientRequests(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(material, "clients", "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d files, %v", len(files), err)
	}
	bodies := map[string]json.RawMessage{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var exchange struct {
			Request struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal(data, &exchange); err != nil {
			tb.Fatal(err)
		}
		bodies[filepath.Base(file)] = exchange.Request.Body
	}
	return bodies
}

func TestScanRequestClients(t *testing.T) {
	for file, body := range clientRequests(t) {
		e := anthropic.Messages
		if strings.Contains(file, "count-tokens") {
			e = anthropic.CountTokens
		}
		r, err := anthropic.ScanRequest(e, body, jsonDepth)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if !strings.HasPrefix(r.Model, "claude-") || r.TextBytes == 0 || r.MaxOutput == 0 && e == anthropic.Messages {
			t.Errorf("%s: got %+v", file, r)
		}
		if file != "claude-code-messages.json" {
			continue
		}
		want := &anthropic.Request{
			Model: "claude-sonnet-4-6", Stream: true, MaxOutput: 32000, TextBytes: r.TextBytes, Tools: true, Reasoning: true,
			MetadataSession: "00000000-0000-4000-8000-000000000009", User: r.User,
		}
		if diff := cmp.Diff(want, r, features); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestScanRequestRecordings(t *testing.T) {
	for _, rec := range append(recordings(t, ".json"), recordings(t, ".sse")...) {
		body, _ := rec.body(t)
		if body == nil {
			continue
		}
		e := anthropic.Messages
		if rec.Protocol == "other" {
			e = anthropic.CountTokens
		}
		r, err := anthropic.ScanRequest(e, body, jsonDepth)
		if err != nil {
			t.Errorf("%s: %v", rec.File, err)
			continue
		}
		var want struct {
			Model     string
			Stream    bool
			MaxTokens int64 `json:"max_tokens"`
			Tools     []any
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatal(err)
		}
		if r.Model != want.Model || r.Stream != want.Stream || r.MaxOutput != want.MaxTokens || r.Tools != (len(want.Tools) > 0) {
			t.Errorf("%s: got %+v, want %+v", rec.File, r, want)
		}
	}
}

func TestRewrite(t *testing.T) {
	const hi = `"max_tokens":1,"messages":[{"role":"user","content":"the \"model\":\"m\" says"}]`
	tests := []struct {
		name, body, model, want string
	}{
		{"model", `{"model":"m",` + hi + `}`, "n", `{"model":"n",` + hi + `}`},
		{"model with space", "{ \"model\" :\n\"m\" , " + hi + "}", "n", "{ \"model\" :\n\"n\" , " + hi + "}"},
		{"model that needs escapes", `{` + hi + `,"model":"m"}`, "a\"b\n", `{` + hi + `,"model":"a\"b\n"}`},
		{"no model", `{"model":"m",` + hi + `}`, "", `{"model":"m",` + hi + `}`},
		{"same model keeps its spelling", `{"model":"\u006d",` + hi + `}`, "m", `{"model":"\u006d",` + hi + `}`},
		{"the gateway's own", `{"disable_fallbacks":true,"model":"m","litellm_session_id":"x","session_id":"y",` + hi + `}`, "n", `{"model":"n","session_id":"y",` + hi + `}`},
		{"the gateway's own at the end", `{"model":"m",` + hi + `,"disable_fallbacks":null}`, "", `{"model":"m",` + hi + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := scanned(t, anthropic.Messages, tt.body)
			got := string(r.Rewrite([]byte("kept;"), []byte(tt.body), anthropic.Rewrite{Model: tt.model}))
			if want := "kept;" + tt.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func opening(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	if !scanned(t, anthropic.Messages, body).HashOpening(&b) {
		return ""
	}
	return b.String()
}

func TestHashOpening(t *testing.T) {
	const base = `{"model":"m","max_tokens":1,"system":"sys","tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"user","content":"hi"}]}`
	want := opening(t, base)
	same := map[string]string{
		"later turn":           `{"model":"m","max_tokens":1,"system":"sys","tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"},{"role":"user","content":"more"}]}`,
		"other order":          `{"messages":[{"content":"hi","role":"user"}],"tools":[{"name":"b"},{"name":"a"}],"system":"sys","max_tokens":9,"model":"x","stream":true}`,
		"blocks and marks":     `{"model":"m","max_tokens":1,"system":[{"type":"text","text":"sys","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"a","cache_control":{"type":"ephemeral"}},{"name":"b"}],"messages":[{"role":"user","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"hi"}]}]}`,
		"billing line":         `{"model":"m","max_tokens":1,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=1;"},{"type":"text","text":"sys"}],"tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"user","content":"hi"}]}`,
		"an assistant's first": `{"model":"m","max_tokens":1,"system":"sys","tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"assistant","content":"yo"},{"role":"user","content":"hi"}]}`,
	}
	for name, body := range same {
		if got := opening(t, body); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	other := map[string]string{
		"another system text": strings.Replace(base, "sys", "SYS", 1),
		"another first text":  strings.Replace(base, "hi", "ho", 1),
		"another tool":        strings.Replace(base, `"b"`, `"c"`, 1),
		"no tools":            strings.Replace(base, `"tools":[{"name":"a"},{"name":"b"}],`, "", 1),
		"text moved":          `{"model":"m","max_tokens":1,"system":"syshi","tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"user","content":""}]}`,
		"image":               strings.Replace(base, `"hi"`, `[{"type":"text","text":"hi"},{"type":"image","source":{"type":"url","url":"u"}}]`, 1),
	}
	for name, body := range other {
		if got := opening(t, body); got == want || got == "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := opening(t, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[]}]}`); got != "" {
		t.Errorf("nothing was said: got %q", got)
	}
}
