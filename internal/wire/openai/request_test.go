package openai_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

const jsonDepth = 128

// features compares what a Request tells, not the places that it remembers.
var features = cmpopts.IgnoreUnexported(openai.Request{})

func scanned(t *testing.T, e openai.Endpoint, body string) *openai.Request {
	t.Helper()
	r, err := openai.ScanRequest(e, []byte(body), jsonDepth)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

func TestScanRequest(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	tests := []struct {
		name string
		e    openai.Endpoint
		body string
		want openai.Request
	}{
		{"least", openai.Chat, `{"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"nulls count as absent", openai.Chat, `{"model":"m",` + hi + `,"stream":null,"stream_options":null,"n":null,"max_tokens":null,"max_completion_tokens":null,"tools":null,"functions":null,"response_format":null,"reasoning_effort":null,"modalities":null,"user":null,"metadata":null,"disable_fallbacks":null,"litellm_session_id":null,"prompt_cache_key":null}`, openai.Request{Model: "m", TextBytes: 2}},
		{"model with escapes", openai.Chat, `{"mod\u0065l":"a\/b\u00e9",` + hi + `}`, openai.Request{Model: "a/bé", TextBytes: 2}},
		{"stream", openai.Chat, `{"stream":true,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, Stream: true}},
		{"stream false", openai.Chat, `{"stream":false,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"usage", openai.Chat, `{"stream":true,"stream_options":{"x":[1],"include_usage":true},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, Stream: true, IncludeUsage: true}},
		{"usage null", openai.Chat, `{"stream_options":{"include_usage":null},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"max_tokens", openai.Chat, `{"max_tokens":5,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, MaxOutput: 5}},
		{"max_completion_tokens first", openai.Chat, `{"max_tokens":5,"max_completion_tokens":7,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, MaxOutput: 7}},
		{"forms of numbers", openai.Chat, `{"max_tokens":1e9,"n":2.0,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, MaxOutput: 1_000_000_000, N: 2}},
		{"n", openai.Chat, `{"n":128,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, N: 128}},
		{"tools", openai.Chat, `{"tools":[{"type":"function","function":{"name":"f","parameters":{"a":"bc"}}}],"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2 + int64(len("type"+"function"+"function"+"name"+"f"+"parameters"+"a"+"bc")), Tools: true}},
		{"tools empty", openai.Chat, `{"tools":[],"functions":[],"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"functions", openai.Chat, `{"functions":[{"name":"f"}],"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2 + 5, Tools: true}},
		{"custom tool", openai.Chat, `{"tools":[{"type":"custom","custom":{"name":"f"}}],"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2 + 21, Tools: true}},
		{"image", openai.Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAAAAAAAAAAAAAA"}}]}]}`, openai.Request{Model: "m", TextBytes: 3, Vision: true}},
		{"sound, video and file", openai.Chat, `{"model":"m","messages":[{"content":[{"input_audio":{"data":"AAAA","format":"wav"},"type":"input_audio"},{"type":"file","file":{"file_data":"AAAA"}},{"type":"video_url","video_url":{"url":"u"}}],"role":"user"}]}`, openai.Request{Model: "m", Audio: true, Files: true, Video: true}},
		{"sound as output", openai.Chat, `{"modalities":["text","audio"],"audio":{"voice":"x"},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, Audio: true}},
		{"a tool's property is no image", openai.Chat, `{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"image_url":{"type":"image_url"},"input_audio":{}}}}}],"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 80, Tools: true}},
		{"a text about images is none", openai.Chat, `{"model":"m","messages":[{"role":"user","content":"\"type\":\"image_url\""}]}`, openai.Request{Model: "m", TextBytes: 18}},
		{"an image in a tool's arguments is none", openai.Chat, `{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"type\":\"image_url\"}"}}]}]}`, openai.Request{Model: "m", TextBytes: 21}},
		{"json schema", openai.Chat, `{"response_format":{"json_schema":{"name":"x"},"type":"json_schema"},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, JSONSchema: true}},
		{"json object", openai.Chat, `{"response_format":{"type":"json_object"},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"reasoning", openai.Chat, `{"reasoning_effort":"low","model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, Reasoning: true}},
		{"reasoning none", openai.Chat, `{"reasoning_effort":"none","model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"text in all forms", openai.Chat, `{"model":"m","messages":[{"role":"system","content":"é\u00e9\n"},{"role":"user","content":["ab",{"type":"text","text":"cd"}]},{"role":"assistant","content":null,"refusal":"no","tool_calls":[{"id":"i","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"i","content":"xyz"}]}`, openai.Request{Model: "m", TextBytes: 5 + 4 + 2 + 3 + 3}},
		{"odd contents are the upstream's to judge", openai.Chat, `{"model":"m","messages":[{"role":"user","content":{"a":1}},{"role":7,"content":12},{}]}`, openai.Request{Model: "m"}},
		{"gateway's own", openai.Chat, `{"disable_fallbacks":true,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, DisableFallbacks: true}},
		{"session keys", openai.Chat, `{"prompt_cache_key":"a","session_id":"b","litellm_session_id":"c","user":"d","safety_identifier":"e","metadata":{"session_id":"f"},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, PromptCacheKey: "a", SessionID: "b", LitellmSessionID: "c", User: "d", MetadataSession: "f"}},
		{"safety_identifier stands in", openai.Chat, `{"safety_identifier":"e","model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2, User: "e"}},
		{"nested names are not read", openai.Chat, `{"x":{"model":"n","stream":true,"tools":[1]},"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"unknown fields in any number", openai.Chat, `{"a":1,"a":2,"Stream":true,"model":"m",` + hi + `}`, openai.Request{Model: "m", TextBytes: 2}},
		{"completion", openai.Completions, `{"model":"m","prompt":"abc","max_tokens":0,"stream":true}`, openai.Request{Model: "m", TextBytes: 3, Stream: true}},
		{"completions", openai.Completions, `{"model":"m","prompt":["abc","de"],"n":2,"tools":"not read here"}`, openai.Request{Model: "m", TextBytes: 5, N: 2}},
		{"completion of tokens", openai.Completions, `{"model":"m","prompt":[1,2,3]}`, openai.Request{Model: "m", TextBytes: 3 * openai.TokenBytes}},
		{"embedding", openai.Embeddings, `{"model":"m","input":"abc","encoding_format":"base64","n":"not read here"}`, openai.Request{Model: "m", TextBytes: 3, EncodingFormat: "base64"}},
		{"embeddings of texts", openai.Embeddings, `{"model":"m","input":["abc","\u00e9"]}`, openai.Request{Model: "m", TextBytes: 5}},
		{"embeddings of tokens", openai.Embeddings, `{"model":"m","input":[[1,2],[3],[]]}`, openai.Request{Model: "m", TextBytes: 3 * openai.TokenBytes}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want.N == 0 {
				tt.want.N = 1
			}
			if diff := cmp.Diff(&tt.want, scanned(t, tt.e, tt.body), features); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanRequestSessions(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"session_id":"a","langfuse_session_id":"b","user_id":"user_x_session_c"}`:                   "a",
		`{"user_id":"user_x_session_c","langfuse_session_id":"b"}`:                                    "b",
		`{"user_id":"user_1_account_2_session_00000000-0000-4000-8000-000000000009"}`:                 "00000000-0000-4000-8000-000000000009",
		`{"user_id":"{\"device_id\":\"0\",\"session_id\":\"00000000-0000-4000-8000-000000000009\"}"}`: "00000000-0000-4000-8000-000000000009",
		`{"user_id":"{\"session_id\":\"a\""}`:                                                         "", // broken JSON
		`{"user_id":"{\"session_id\":7}"}`:                                                            "",
		`{"user_id":"somebody"}`:                                                                      "",
		`{"user_id":"x_session_"}`:                                                                    "",
		`{"session_id":7}`:                                                                            "",
		`{"session_id":"\ud800"}`:                                                                     "",
		`{}`:                                                                                          "",
		`"text"`:                                                                                      "",
		`{"nested":{"session_id":"not this one"}}`:                                                    "",
	} {
		r := scanned(t, openai.Chat, `{"metadata":`+metadata+`,"model":"m","messages":[{}]}`)
		if r.MetadataSession != want {
			t.Errorf("%s: got %q, want %q", metadata, r.MetadataSession, want)
		}
	}
}

func TestScanRequestErrors(t *testing.T) {
	const rest = `"messages":[{"role":"user","content":"hi"}]}`
	tests := []struct {
		name string
		e    openai.Endpoint
		body string
		want request.Error
	}{
		{"empty", openai.Chat, ``, request.Error{Code: "invalid_json", Message: "the body is not valid JSON: the text ends too early at byte 0"}},
		{"not an object", openai.Chat, `[1]`, request.Error{Code: "invalid_json", Message: "the body must be a JSON object, not an array"}},
		{"not JSON", openai.Chat, `model=m`, request.Error{Code: "invalid_json", Message: "the body is not valid JSON: a value is missing at byte 0"}},
		{"broken", openai.Chat, `{"model":"m","messages":[{"role":"user"]}`, request.Error{Code: "invalid_json", Message: "the body is not valid JSON: a comma is missing at byte 39"}},
		{"broken in a value that is read", openai.Chat, `{"model":"m`, request.Error{Code: "invalid_json", Message: "the body is not valid JSON: the text ends too early at byte 11"}},
		{"broken number", openai.Chat, `{"n":-x,"model":"m",` + rest, request.Error{Code: "invalid_json", Message: "the body is not valid JSON: a digit is missing at byte 6"}},
		{"text behind", openai.Chat, `{"model":"m",` + rest + `{}`, request.Error{Code: "invalid_json", Message: "the body is not valid JSON: text after the end of the value at byte 57"}},
		{"too deep", openai.Chat, `{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"model":"m",` + rest, request.Error{Code: "invalid_json", Message: "the body is nested deeper than 128 levels"}},
		{"no model", openai.Chat, `{` + rest, request.Error{Param: "model", Code: "missing_required_parameter", Message: `"model" is missing; name the model to use`}},
		{"empty model", openai.Chat, `{"model":"",` + rest, request.Error{Param: "model", Code: "missing_required_parameter", Message: `"model" is missing; name the model to use`}},
		{"null model", openai.Chat, `{"model":null,` + rest, request.Error{Param: "model", Code: "missing_required_parameter", Message: `"model" is missing; name the model to use`}},
		{"no messages", openai.Chat, `{"model":"m"}`, request.Error{Param: "messages", Code: "missing_required_parameter", Message: `"messages" is missing; it is what the model answers to`}},
		{"empty messages", openai.Chat, `{"model":"m","messages":[]}`, request.Error{Param: "messages", Code: "missing_required_parameter", Message: `"messages" is missing; the array is empty`}},
		{"no prompt", openai.Completions, `{"model":"m",` + rest, request.Error{Param: "prompt", Code: "missing_required_parameter", Message: `"prompt" is missing; it is what the model answers to`}},
		{"null input", openai.Embeddings, `{"model":"m","input":null}`, request.Error{Param: "input", Code: "missing_required_parameter", Message: `"input" is missing; it is what the model answers to`}},
		{"empty input", openai.Embeddings, `{"model":"m","input":[]}`, request.Error{Param: "input", Code: "missing_required_parameter", Message: `"input" is missing; the array is empty`}},
		{"model of another type", openai.Chat, `{"model":7,` + rest, request.Error{Param: "model", Code: "invalid_type", Message: `"model" must be a string, not a number`}},
		{"model that is no text", openai.Chat, `{"model":"a\ud800",` + rest, request.Error{Param: "model", Code: "invalid_value", Message: `"model": the string holds half a surrogate pair`}},
		{"messages of another type", openai.Chat, `{"model":"m","messages":"hi"}`, request.Error{Param: "messages", Code: "invalid_type", Message: `"messages" must be an array, not a string`}},
		{"message of another type", openai.Chat, `{"model":"m","messages":[{},"hi"]}`, request.Error{Param: "messages[1]", Code: "invalid_type", Message: `"messages[1]" must be an object, not a string`}},
		{"input of another type", openai.Embeddings, `{"model":"m","input":{"a":1}}`, request.Error{Param: "input", Code: "invalid_type", Message: `"input" must be a string or an array, not an object`}},
		{"stream of another type", openai.Chat, `{"model":"m","stream":"true",` + rest, request.Error{Param: "stream", Code: "invalid_type", Message: `"stream" must be true or false, not a string`}},
		{"stream_options of another type", openai.Chat, `{"model":"m","stream_options":true,` + rest, request.Error{Param: "stream_options", Code: "invalid_type", Message: `"stream_options" must be an object, not true or false`}},
		{"include_usage of another type", openai.Chat, `{"model":"m","stream_options":{"include_usage":1},` + rest, request.Error{Param: "stream_options.include_usage", Code: "invalid_type", Message: `"stream_options.include_usage" must be true or false, not a number`}},
		{"tools of another type", openai.Chat, `{"model":"m","tools":{},` + rest, request.Error{Param: "tools", Code: "invalid_type", Message: `"tools" must be an array, not an object`}},
		{"functions of another type", openai.Chat, `{"model":"m","functions":"f",` + rest, request.Error{Param: "functions", Code: "invalid_type", Message: `"functions" must be an array, not a string`}},
		{"response_format of another type", openai.Chat, `{"model":"m","response_format":"json",` + rest, request.Error{Param: "response_format", Code: "invalid_type", Message: `"response_format" must be an object, not a string`}},
		{"disable_fallbacks of another type", openai.Chat, `{"model":"m","disable_fallbacks":"yes",` + rest, request.Error{Param: "disable_fallbacks", Code: "invalid_type", Message: `"disable_fallbacks" must be true or false, not a string`}},
		{"session_id of another type", openai.Chat, `{"model":"m","session_id":[],` + rest, request.Error{Param: "session_id", Code: "invalid_type", Message: `"session_id" must be a string, not an array`}},
		{"n too small", openai.Chat, `{"model":"m","n":0,` + rest, request.Error{Param: "n", Code: "invalid_value", Message: `"n" must be an integer from 1 to 128, not 0`}},
		{"n too large", openai.Chat, `{"model":"m","n":1000000,` + rest, request.Error{Param: "n", Code: "invalid_value", Message: `"n" must be an integer from 1 to 128, not 1000000`}},
		{"n a fraction", openai.Chat, `{"model":"m","n":1.5,` + rest, request.Error{Param: "n", Code: "invalid_value", Message: `"n" must be an integer from 1 to 128, not 1.5`}},
		{"n of another type", openai.Chat, `{"model":"m","n":"1",` + rest, request.Error{Param: "n", Code: "invalid_type", Message: `"n" must be an integer, not a string`}},
		{"1e99 tokens", openai.Chat, `{"model":"m","max_tokens":1e99,` + rest, request.Error{Param: "max_tokens", Code: "invalid_value", Message: `"max_tokens" must be an integer from 1 to 1000000000, not 1e99`}},
		{"more than any double", openai.Chat, `{"model":"m","max_tokens":1e999,` + rest, request.Error{Param: "max_tokens", Code: "invalid_value", Message: `"max_tokens" must be an integer from 1 to 1000000000, not 1e999`}},
		{"no tokens", openai.Chat, `{"model":"m","max_completion_tokens":0,` + rest, request.Error{Param: "max_completion_tokens", Code: "invalid_value", Message: `"max_completion_tokens" must be an integer from 1 to 1000000000, not 0`}},
		{"fewer than none", openai.Completions, `{"model":"m","prompt":"","max_tokens":-1}`, request.Error{Param: "max_tokens", Code: "invalid_value", Message: `"max_tokens" must be an integer from 0 to 1000000000, not -1`}},
		{"digits without end", openai.Chat, `{"model":"m","max_tokens":` + strings.Repeat("9", 1000) + `,` + rest, request.Error{Param: "max_tokens", Code: "invalid_value", Message: `"max_tokens" must be an integer from 1 to 1000000000, not ` + strings.Repeat("9", 40)}},
		{"model twice", openai.Chat, `{"model":"m","model":"n",` + rest, request.Error{Param: "model", Code: "duplicate_parameter", Message: `"model" stands in the body twice; send it once, an upstream might read the other one`}},
		{"model twice, once in escapes", openai.Chat, `{"model":"m","\u006dodel":"n",` + rest, request.Error{Param: "model", Code: "duplicate_parameter", Message: `"model" stands in the body twice; send it once, an upstream might read the other one`}},
		{"model in another case", openai.Chat, `{"model":"m","Model":"n",` + rest, request.Error{Param: "Model", Code: "duplicate_parameter", Message: `"Model" is not a field; write "model"`}},
		{"messages twice", openai.Chat, `{"model":"m","messages":null,` + rest, request.Error{Param: "messages", Code: "duplicate_parameter", Message: `"messages" stands in the body twice; send it once, an upstream might read the other one`}},
		{"include_usage twice", openai.Chat, `{"model":"m","stream_options":{"include_usage":true,"include_usage":false},` + rest, request.Error{Param: "stream_options.include_usage", Code: "duplicate_parameter", Message: `"stream_options.include_usage" stands in the body twice; send it once, an upstream might read the other one`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := openai.ScanRequest(tt.e, []byte(tt.body), jsonDepth)
			got, ok := errors.AsType[*request.Error](err)
			if !ok || r != nil {
				t.Fatalf("got %+v, %v; want a RequestError", r, err)
			}
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreFields(request.Error{}, "Err")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if err.Error() != got.Message {
				t.Errorf("got text %q, want the message", err)
			}
			_, syntax := errors.AsType[*scan.SyntaxError](err)
			_, deep := errors.AsType[*scan.DepthError](err)
			if want := tt.want.Code == request.CodeJSON && tt.name != "not an object"; (syntax || deep) != want {
				t.Errorf("got a cause %v, want %v", syntax || deep, want)
			}
		})
	}
}

// TestScanRequestClients reads what client libraries and programs send.
func TestScanRequestClients(t *testing.T) {
	want := map[string]openai.Request{
		"ai-sdk-openai-compatible-object.json":       {Model: "mock-1", TextBytes: 1, JSONSchema: true},
		"ai-sdk-openai-compatible-stream-usage.json": {Model: "mock-1", TextBytes: 9, Stream: true, IncludeUsage: true},
		"ai-sdk-openai-compatible-stream.json":       {Model: "mock-1", TextBytes: 9, Stream: true},
		"ai-sdk-openai-compatible-tools.json":        {Model: "mock-1", Tools: true},
		"go-openai-chat-stream.json":                 {Model: "mock-1", TextBytes: 9, Stream: true, IncludeUsage: true},
		"langchain-chat-stream.json":                 {Model: "mock-1", TextBytes: 9, Stream: true, IncludeUsage: true},
		"langchain-embeddings.json":                  {Model: "mock-emb", TextBytes: 2, EncodingFormat: "base64"},
		"openai-go-chat-stream.json":                 {Model: "mock-1", TextBytes: 9, Stream: true, IncludeUsage: true},
		"openai-go-embeddings.json":                  {Model: "mock-emb", TextBytes: 2},
		"openai-node-chat-stream.json":               {Model: "mock-1", TextBytes: 9, Stream: true, IncludeUsage: true},
		"openai-node-chat.json":                      {Model: "mock-1", TextBytes: 9},
		"openai-node-embeddings.json":                {Model: "mock-emb", TextBytes: 2, EncodingFormat: "base64"},
		"opencode-main.json":                         {Model: "mock-1", MaxOutput: 32000, Tools: true, Stream: true, IncludeUsage: true},
		"opencode-title.json":                        {Model: "mock-1", MaxOutput: 32000, Stream: true, IncludeUsage: true},
		"promptfoo-chat.json":                        {Model: "mock-1", MaxOutput: 1024},
	}
	files, err := os.ReadDir(filepath.Join(material, "clients"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want) {
		t.Errorf("got %d requests, want %d", len(files), len(want))
	}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			var file struct {
				Request struct {
					Path string
					Body json.RawMessage
				}
			}
			if err := json.Unmarshal(readFile(t, filepath.Join("clients", f.Name())), &file); err != nil {
				t.Fatal(err)
			}
			e := openai.Chat
			if strings.HasSuffix(file.Request.Path, "/embeddings") {
				e = openai.Embeddings
			}
			got := scanned(t, e, string(file.Request.Body))
			w := want[f.Name()]
			w.N = 1
			if w.TextBytes == 0 {
				w.TextBytes = got.TextBytes // of prompts that were left out
			}
			if diff := cmp.Diff(&w, got, features); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScanRequestRecordings reads the requests of the recorded answers.
func TestScanRequestRecordings(t *testing.T) {
	seen := 0
	for _, rec := range append(recordings(t, ".sse"), recordings(t, ".json")...) {
		body, _ := rec.body(t)
		if len(body) == 0 {
			continue
		}
		seen++
		e := openai.Chat
		if rec.Protocol == "embeddings" {
			e = openai.Embeddings
		}
		r := scanned(t, e, string(body))
		var plain struct {
			Model  string
			Stream bool
			Tools  []any
		}
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatal(err)
		}
		if r.Model != plain.Model || r.Stream != plain.Stream || r.Tools != (len(plain.Tools) > 0) || r.TextBytes == 0 {
			t.Errorf("%s: got %+v, want %+v", rec.File, r, plain)
		}
	}
	if seen < 20 {
		t.Errorf("read %d requests, want at least 20", seen)
	}
}
