package responses_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/scan"
)

func scanRequest(t *testing.T, body string) *responses.Request {
	t.Helper()
	r, err := responses.ScanRequest(responses.Create, []byte(body), jsonDepth)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

var exportedFields = cmpopts.IgnoreUnexported(responses.Request{})

func TestScanClients(t *testing.T) {
	const codexSession = "00000000-0000-4000-8000-000000000001"
	tests := []struct {
		file string
		want responses.Request
	}{
		{"openai-node-responses.json", responses.Request{Model: "mock-1", Stored: true, TextBytes: 9, PromptCacheKey: "sess-1", User: "u-1"}},
		{"openai-go-responses.json", responses.Request{Model: "mock-1", Stored: true, TextBytes: 9}},
		{"ai-sdk-openai-responses.json", responses.Request{Model: "gpt-5", Stored: true, TextBytes: 9, PromptCacheKey: "sess-1"}},
		{"promptfoo-responses.json", responses.Request{Model: "gpt-5", Stored: true, TextBytes: 16}},
		{"codex-cli-responses.json", responses.Request{
			Model: "gpt-5.4", Stream: true, Tools: true, PromptCacheKey: codexSession, MetadataSession: codexSession,
			Owned: responses.Owned{Items: []string{
				"msg_00000000-0000-4000-8000-000000000005", "msg_00000000-0000-4000-8000-000000000006",
				"msg_00000000-0000-4000-8000-000000000007", "msg_00000000-0000-4000-8000-000000000008",
			}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			body := clientRequest(t, tt.file)
			r, err := responses.ScanRequest(responses.Create, body, jsonDepth)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want.TextBytes == 0 {
				tt.want.TextBytes = r.TextBytes
				if r.TextBytes < 200 || r.TextBytes > int64(len(body)) {
					t.Errorf("got %d bytes of text of %d", r.TextBytes, len(body))
				}
			}
			if diff := cmp.Diff(&tt.want, r, exportedFields); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if !r.HashOpening(new(bytes.Buffer)) {
				t.Error("there is no opening")
			}
		})
	}
}

// TestScanRecordings scans the requests of the recorded answers.
func TestScanRecordings(t *testing.T) {
	n := 0
	for _, suffix := range []string{".sse", ".json"} {
		for _, rec := range recordings(t, suffix) {
			body, _ := rec.exchange(t)
			if len(body) <= len(`""`) {
				continue
			}
			n++
			r, err := responses.ScanRequest(responses.Create, body, jsonDepth)
			if err != nil {
				t.Errorf("%s: %v", rec.File, err)
				continue
			}
			if conversation := strings.Contains(rec.File, "conversation"); (r.Owned.Conversation != "") != conversation || (r.Native == "conversation") != conversation {
				t.Errorf("%s: got %+v, native %q", rec.File, r.Owned, r.Native)
			}
			if r.Model == "" || r.TextBytes == 0 || r.Stream != rec.Stream {
				t.Errorf("%s: got %+v", rec.File, r)
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d requests were scanned", n)
	}
}

func TestScanRequest(t *testing.T) {
	const in = `"model":"m","input":"hi"`
	tests := []struct {
		name, body string
		want       responses.Request
	}{
		{"least", `{` + in + `}`, responses.Request{Stored: true, TextBytes: 2}},
		{"nulls", `{` + in + `,"stream":null,"tools":null,"reasoning":null,"text":null,"store":null,"previous_response_id":null,"conversation":null,"prompt":null,"metadata":null,"max_output_tokens":null}`, responses.Request{Stored: true, TextBytes: 2}},
		{"instructions", `{` + in + `,"instructions":"be\n"}`, responses.Request{Stored: true, TextBytes: 5}},
		{"stream", `{` + in + `,"stream":true,"store":false,"background":false,"max_output_tokens":5.12e2}`, responses.Request{Stream: true, MaxOutput: 512, TextBytes: 2}},
		{"reasoning", `{` + in + `,"reasoning":{"effort":"low"},"text":{"format":{"type":"json_schema","schema":{}},"verbosity":"low"}}`, responses.Request{Stored: true, Reasoning: true, JSONSchema: true, TextBytes: 2}},
		{"no reasoning", `{` + in + `,"reasoning":{"effort":"none","summary":"auto"},"text":{"format":{"type":"text"}}}`, responses.Request{Stored: true, TextBytes: 2}},
		{"tools", `{` + in + `,"tools":[{"type":"function","name":"f","parameters":{"a":"b"}},{"type":"web_search"}]}`, responses.Request{Stored: true, Tools: true, TextBytes: 2 + 4 + 8 + 4 + 1 + 10 + 1 + 1 + 4 + 10}},
		{"parts", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"é"},{"type":"input_image","image_url":"data:x"},{"type":"input_file","file_id":"f"},{"type":"input_audio","input_audio":{"data":"A"}}]}]}`, responses.Request{Stored: true, Vision: true, Audio: true, Files: true, TextBytes: 2}},
		{"calls", `{"model":"m","input":[{"type":"function_call","call_id":"c","name":"fn","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"abc"},{"type":"input_image","image_url":"u"}]},{"type":"custom_tool_call","name":"x","input":"four"},{"type":"custom_tool_call_output","output":"y"}]}`, responses.Request{Stored: true, Vision: true, TextBytes: 2 + 2 + 3 + 1 + 4 + 1}},
		{"reasoning items", `{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"long"}],"encrypted_content":"e"},{"role":"user","content":"a"}]}`, responses.Request{Stored: true, TextBytes: 1, Owned: responses.Owned{Items: []string{"rs_1"}, Encrypted: []uint64{0}}}},
		{"previous", `{"model":"m","previous_response_id":"resp_1"}`, responses.Request{Stored: true, Native: "previous_response_id", Owned: responses.Owned{Response: "resp_1"}}},
		{"conversation", `{` + in + `,"conversation":{"id":"conv_1"}}`, responses.Request{Stored: true, TextBytes: 2, Native: "conversation", Owned: responses.Owned{Conversation: "conv_1"}}},
		{"prompt", `{"model":"m","prompt":{"id":"pmpt_1","variables":{}}}`, responses.Request{Stored: true, Native: "prompt", Owned: responses.Owned{Prompt: "pmpt_1"}}},
		{"background", `{` + in + `,"background":true}`, responses.Request{Stored: true, Background: true, TextBytes: 2, Native: "background"}},
		{"context", `{` + in + `,"context_management":[{"type":"compaction"}]}`, responses.Request{Stored: true, TextBytes: 2, Native: "context_management"}},
		{"a reference", `{"model":"m","input":[{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}]}`, responses.Request{Stored: true, TextBytes: 1, Native: "input[1].type", Owned: responses.Owned{References: []string{"msg_1"}, Items: []string{"msg_1"}}}},
		{"a reference in other letters", `{"model":"m","input":[{"type":"item\u005freference","id":"msg\u005f1"}]}`, responses.Request{Stored: true, Native: "input[0].type", Owned: responses.Owned{References: []string{"msg_1"}, Items: []string{"msg_1"}}}},
		{"a reference with two ids", `{"model":"m","input":[{"id":"msg_1","type":"item_reference","id":"msg_2"},{"type":"message","id":"msg_3","role":"user","content":"a"}]}`, responses.Request{Stored: true, TextBytes: 1, Native: "input[0].type", Owned: responses.Owned{References: []string{"msg_1", "msg_2"}, Items: []string{"msg_2", "msg_3"}}}},
		{"a bare reference", `{"model":"m","input":[{"id":"msg_1"}]}`, responses.Request{Stored: true, Native: "input[0].type", Owned: responses.Owned{References: []string{"msg_1"}, Items: []string{"msg_1"}}}},
		{"a compaction", `{"model":"m","input":[{"encrypted_content":"e","type":"compaction"}]}`, responses.Request{Stored: true, Native: "input[0].type", Owned: responses.Owned{Encrypted: []uint64{0}}}},
		{"what the upstream did", `{"model":"m","input":[{"type":"web_search_call","id":"ws_1","action":{"query":"q"}},{"role":"user","content":"a"}]}`, responses.Request{Stored: true, TextBytes: 1, Owned: responses.Owned{Items: []string{"ws_1"}}}},
		{"the upstream's tools alone", `{` + in + `,"tools":[{"type":"web_search"}]}`, responses.Request{Stored: true, Tools: true, TextBytes: 2 + 14, Native: "tools"}},
		{"the upstream's tool by force", `{` + in + `,"tools":[{"type":"web_search"},{"name":"f","type":"function"}],"tool_choice":{"type":"web_search"}}`, responses.Request{Stored: true, Tools: true, TextBytes: 2 + 14 + 17, Native: "tool_choice"}},
		{"tools that are allowed", `{` + in + `,"tools":[{"type":"custom","name":"f"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"custom","name":"f"}]}}`, responses.Request{Stored: true, Tools: true, TextBytes: 2 + 15}},
		{"sessions", `{` + in + `,"session_id":"a","litellm_session_id":"b","metadata":{"session_id":"c","langfuse_session_id":"d"},"safety_identifier":"u","disable_fallbacks":true}`, responses.Request{Stored: true, TextBytes: 2, SessionID: "a", LitellmSessionID: "b", MetadataSession: "c", User: "u", DisableFallbacks: true}},
		{"a session in a user", `{` + in + `,"user":"p","metadata":{"user_id":"user_x_account_y_session_z"},"client_metadata":{"session_id":"no"}}`, responses.Request{Stored: true, TextBytes: 2, MetadataSession: "z", User: "p"}},
		{"a session in JSON", `{` + in + `,"metadata":{"user_id":"{\"session_id\":\"z\"}"}}`, responses.Request{Stored: true, TextBytes: 2, MetadataSession: "z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := scanRequest(t, tt.body)
			tt.want.Model = "m"
			for i := range got.Owned.Encrypted { // the value is TestFingerprints' matter
				got.Owned.Encrypted[i] = 0
			}
			if diff := cmp.Diff(&tt.want, got, exportedFields); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
	if r, err := responses.ScanRequest(responses.Compact, []byte(`{`+in+`}`), jsonDepth); err != nil || r.Native != "compact" {
		t.Errorf("compact: got %+v, %v", r, err)
	}
	if r, err := responses.ScanRequest(responses.InputTokens, []byte(`{`+in+`}`), jsonDepth); err != nil || r.Native != "" {
		t.Errorf("input_tokens: got %+v, %v", r, err)
	}
}

func TestScanRequestErrors(t *testing.T) {
	const in = `"model":"m","input":"hi"`
	tests := []struct{ name, body, param, code string }{
		{"empty", ``, "", request.CodeJSON},
		{"an array", `[]`, "", request.CodeJSON},
		{"cut", `{"model":"m"`, "", request.CodeJSON},
		{"too deep", `{` + in + `,"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "", request.CodeJSON},
		{"no model", `{"input":"hi"}`, "model", request.CodeMissing},
		{"an empty model", `{"model":"","input":"hi"}`, "model", request.CodeMissing},
		{"no input", `{"model":"m"}`, "input", request.CodeMissing},
		{"an empty input", `{"model":"m","input":[]}`, "input", request.CodeMissing},
		{"input null", `{"model":"m","input":null}`, "input", request.CodeMissing},
		{"a model that is a number", `{"model":1,"input":"hi"}`, "model", request.CodeType},
		{"half a character", `{"model":"\ud800","input":"hi"}`, "model", request.CodeValue},
		{"an input that is a number", `{"model":"m","input":1}`, "input", request.CodeType},
		{"an item that is a text", `{"model":"m","input":[{"role":"user","content":"a"},"b"]}`, "input[1]", request.CodeType},
		{"stream", `{` + in + `,"stream":"true"}`, "stream", request.CodeType},
		{"store", `{` + in + `,"store":0}`, "store", request.CodeType},
		{"background", `{` + in + `,"background":1}`, "background", request.CodeType},
		{"tools", `{` + in + `,"tools":{}}`, "tools", request.CodeType},
		{"reasoning", `{` + in + `,"reasoning":"low"}`, "reasoning", request.CodeType},
		{"text", `{` + in + `,"text":"json"}`, "text", request.CodeType},
		{"instructions", `{` + in + `,"instructions":{}}`, "instructions", request.CodeType},
		{"previous", `{` + in + `,"previous_response_id":7}`, "previous_response_id", request.CodeType},
		{"conversation", `{` + in + `,"conversation":{}}`, "conversation", request.CodeType},
		{"conversation with a bad number", `{` + in + `,"conversation":{"id":-}}`, "", request.CodeJSON},
		{"prompt", `{` + in + `,"prompt":7}`, "prompt", request.CodeType},
		{"no tokens", `{` + in + `,"max_output_tokens":0}`, "max_output_tokens", request.CodeValue},
		{"half a token", `{` + in + `,"max_output_tokens":1.5}`, "max_output_tokens", request.CodeValue},
		{"too many tokens", `{` + in + `,"max_output_tokens":1e10}`, "max_output_tokens", request.CodeValue},
		{"model twice", `{"model":"a",` + in + `}`, "model", request.CodeDuplicate},
		{"model in disguise", `{"Model":"a",` + in + `}`, "Model", request.CodeDuplicate},
		{"input twice", `{` + in + `,"input":"b"}`, "input", request.CodeDuplicate},
		{"an escaped key twice", `{` + in + `,"\u0069nput":"b"}`, "input", request.CodeDuplicate},
		{"disable_fallbacks", `{` + in + `,"disable_fallbacks":"yes"}`, "disable_fallbacks", request.CodeType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := responses.ScanRequest(responses.Create, []byte(tt.body), jsonDepth)
			e, ok := errors.AsType[*request.Error](err)
			if r != nil || !ok || e.Param != tt.param || e.Code != tt.code || e.Message == "" {
				t.Fatalf("got %+v, %#v; want %s about %q", r, err, tt.code, tt.param)
			}
			if tt.code != request.CodeJSON || tt.name == "an array" {
				return
			}
			_, syntax := errors.AsType[*scan.SyntaxError](err)
			_, depth := errors.AsType[*scan.DepthError](err)
			if !syntax && !depth {
				t.Errorf("%v wraps nothing", err)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	foreign := responses.Foreign{Origin: "google", Data: "AA=="}.String()
	thought := `{"type":"reasoning","summary":[],"encrypted_content":"` + foreign + `"}`
	const message = `{"role":"user","content":"a"}`
	tests := []struct{ name, body, model, want string }{
		{"the model", `{ "model" : "m" , "input":"hi"}`, "up/\"m\"", `{ "model" : "up/\"m\"" , "input":"hi"}`},
		{"the same model", `{"model":"m","input":"hi"}`, "m", `{"model":"m","input":"hi"}`},
		{"no model", `{"model":"m","input":"hi"}`, "", `{"model":"m","input":"hi"}`},
		{"the gateway's own first", `{"disable_fallbacks":true,"litellm_session_id":"s","model":"m","input":"hi"}`, "x", `{"model":"x","input":"hi"}`},
		{"the gateway's own last", `{"model":"m","input":"hi","litellm_session_id":null, "disable_fallbacks":false }`, "", `{"model":"m","input":"hi" }`},
		{"foreign thoughts", `{"model":"m","input":[` + message + `,` + thought + `,` + message + `]}`, "x", `{"model":"x","input":[` + message + `,` + message + `]}`},
		{"foreign thoughts first", `{"input":[` + thought + `, ` + thought + `,` + message + `],"model":"m"}`, "x", `{"input":[` + message + `],"model":"x"}`},
		{"foreign thoughts last", `{"input":[` + message + `,` + thought + `],"model":"m"}`, "", `{"input":[` + message + `],"model":"m"}`},
		{"own thoughts", `{"input":[{"type":"reasoning","encrypted_content":"gAAA"}],"model":"m"}`, "", `{"input":[{"type":"reasoning","encrypted_content":"gAAA"}],"model":"m"}`},
		{"unknown fields", `{"z":{"a":[1.50]},"model":"m","input":"\u00e9"}`, "x", `{"z":{"a":[1.50]},"model":"x","input":"\u00e9"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Remove keeps the white space that stands behind a comma.
			got := strings.NewReplacer("[ {", "[{", "{ \"model\":", `{ "model":`).Replace(string(scanRequest(t, tt.body).Rewrite([]byte("kept"), []byte(tt.body), tt.model)))
			if got != "kept"+tt.want {
				t.Errorf("got  %s\nwant kept%s", got, tt.want)
			}
			if !json.Valid([]byte(got[4:])) {
				t.Errorf("%s is not valid", got)
			}
		})
	}
	if o := scanRequest(t, `{"input":[`+thought+`,`+message+`],"model":"m"}`).Owned; len(o.Encrypted) > 0 {
		t.Errorf("a foreign thought is owned: %+v", o)
	}
}

func TestForeign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := responses.Foreign{
			Origin: rapid.StringMatching(`[a-z]{1,10}`).Draw(t, "origin"), ID: rapid.String().Draw(t, "id"),
			Data: rapid.String().Draw(t, "data"), Before: rapid.Bool().Draw(t, "before"),
		}
		if got, ok := responses.ParseForeign(want.String()); !ok || got != want {
			t.Errorf("%+v became %q and then %+v, %v", want, want.String(), got, ok)
		}
	})
	for _, s := range []string{"", "gAAAAAB", "gatewright:", "gatewright:a:b", "gatewright:a::%zz:d"} {
		if f, ok := responses.ParseForeign(s); ok {
			t.Errorf("%q: got %+v", s, f)
		}
	}
}

func TestFingerprints(t *testing.T) {
	body := func(contents ...string) string {
		var items []string
		for _, c := range contents {
			items = append(items, `{"type":"reasoning","encrypted_content":"`+c+`"}`)
		}
		return `{"model":"m","input":[` + strings.Join(items, ",") + `]}`
	}
	long := strings.Repeat("a", 1000)
	sums := scanRequest(t, body("a", "b", long, long+"a", long[:999]+"b", "b"+long[1:])).Owned.Encrypted
	if len(sums) != 6 {
		t.Fatalf("got %d fingerprints, want 6", len(sums))
	}
	again := scanRequest(t, body("a", "a", "b")).Owned.Encrypted
	if diff := cmp.Diff(sums[:2], again); diff != "" {
		t.Errorf("the same contents (-want +got):\n%s", diff)
	}
	// An answer that issues a content gives the fingerprint that a request with it has.
	a, err := responses.CheckAnswer(responses.Create, []byte(`{"id":"resp_1","output":[{"id":"rs_1","type":"reasoning","encrypted_content":"a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := responses.Owned{Response: "resp_1", Items: []string{"rs_1"}, Encrypted: sums[:1]}
	if diff := cmp.Diff(want, a.Owned); diff != "" {
		t.Errorf("what an answer issues (-want +got):\n%s", diff)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("c%d", i))
	}
	if got := scanRequest(t, body(many...)).Owned.Encrypted; len(got) != 64 || got[63] != scanRequest(t, body("c99")).Owned.Encrypted[0] {
		t.Errorf("got %d fingerprints, want the newest 64", len(got))
	}
}

func opening(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	if !scanRequest(t, body).HashOpening(&b) {
		return ""
	}
	return b.String()
}

func TestHashOpening(t *testing.T) {
	const dev, user, more = `{"role":"developer","content":"d"}`, `{"type":"message","content":[{"type":"input_text","text":"u"}],"role":"user","id":"msg_1"}`, `{"role":"assistant","content":"x"},{"role":"user","content":"y"}`
	const tools = `"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`
	first := opening(t, `{"model":"m","instructions":"i",`+tools+`,"input":[`+dev+`,`+user+`]}`)
	same := map[string]string{
		"a later turn":            `{"model":"n","instructions":"i",` + tools + `,"input":[` + dev + `,` + user + `,` + more + `]}`,
		"fields in another order": `{"input":[` + dev + `,` + user + `],"tools":[{"name":"g"},{"name":"f"}],"instructions":"i","model":"m"}`,
		"another id":              strings.Replace(`{"model":"m","instructions":"i",`+tools+`,"input":[`+dev+`,`+user+`]}`, "msg_1", "msg_2", 1),
	}
	for name, body := range same {
		if got := opening(t, body); got != first {
			t.Errorf("%s: got another opening", name)
		}
	}
	other := map[string]string{
		"instructions":  `{"model":"m","instructions":"j",` + tools + `,"input":[` + dev + `,` + user + `]}`,
		"developer":     `{"model":"m","instructions":"i",` + tools + `,"input":[` + user + `]}`,
		"user":          `{"model":"m","instructions":"i",` + tools + `,"input":[` + dev + `,{"role":"user","content":"v"}]}`,
		"tools":         `{"model":"m","instructions":"i","input":[` + dev + `,` + user + `]}`,
		"another place": `{"model":"m",` + tools + `,"input":[{"role":"developer","content":"i"},` + dev + `,` + user + `]}`,
	}
	for name, body := range other {
		if got := opening(t, body); got == first || got == "" {
			t.Errorf("%s: got the same opening", name)
		}
	}
	for name, body := range map[string]string{
		"previous":     `{"model":"m","previous_response_id":"r","input":"u"}`,
		"conversation": `{"model":"m","conversation":"c","input":"u"}`,
		"no text":      `{"model":"m","input":[{"type":"function_call_output","output":"x"}]}`,
	} {
		if got := opening(t, body); got != "" {
			t.Errorf("%s: got an opening", name)
		}
	}
	if opening(t, `{"model":"m","input":"u"}`) == "" {
		t.Error("a text opens nothing")
	}
}
