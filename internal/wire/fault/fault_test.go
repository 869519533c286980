package fault_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
)

const material = "../../../testdata/wire/errors"

func readJSON(tb testing.TB, name string, into any) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(material, name))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
}

type quoted struct {
	ID, Class string
	Status    int
	Body      json.RawMessage
}

func quotedBodies(tb testing.TB) []quoted {
	tb.Helper()
	var file struct{ Bodies []quoted }
	readJSON(tb, "bodies.json", &file)
	return file.Bodies
}

func TestParseQuotedBodies(t *testing.T) {
	kinds := map[string]fault.Kind{
		"context_window_exceeded": fault.ContextLength,
		"bad_request":             fault.BadRequest,
		"rate_limit":              fault.RateLimit,
		"request_too_large":       fault.BadRequest, // bytes, not tokens: the same everywhere
		"quota_exhausted":         fault.Quota,
		"content_policy":          fault.ContentPolicy,
		"overloaded":              fault.Overloaded,
		"auth":                    fault.Auth,
	}
	bodies := quotedBodies(t)
	if len(bodies) != 41 {
		t.Fatalf("got %d bodies, want 41", len(bodies))
	}
	for _, b := range bodies {
		t.Run(b.ID, func(t *testing.T) {
			got := fault.Parse(b.Status, b.Body)
			if want := kinds[b.Class]; got.Kind != want {
				t.Errorf("got kind %v, want %v", got.Kind, want)
			}
			if b.Status >= 400 && got.Status != b.Status {
				t.Errorf("got status %d, want %d", got.Status, b.Status)
			}
			if got.Status < 400 || got.Status > 599 {
				t.Errorf("got status %d, want 400 to 599", got.Status)
			}
			if want := strings.Contains(b.ID, "request-too-large-tpm"); got.Useless != want {
				t.Errorf("got useless %v, want %v", got.Useless, want)
			}
			if strings.Contains(got.Message, "{") {
				t.Errorf("message is not unwrapped: %s", got.Message)
			}
		})
	}
}

func TestParseRecorded(t *testing.T) {
	want := map[string]fault.Fault{
		"openai/error-404-embedding-model.json":           {Kind: fault.NotFound, Status: 404, Type: "invalid_request_error", Code: "model_not_found"},
		"openai/error-404-model-not-found.json":           {Kind: fault.NotFound, Status: 404, Type: "invalid_request_error", Code: "model_not_found"},
		"openai/error-400-responses-model-not-found.json": {Kind: fault.NotFound, Status: 400, Type: "invalid_request_error", Code: "model_not_found", Param: "model"},
		"openai/error-400-unsupported-value.json":         {Kind: fault.BadRequest, Status: 400, Type: "invalid_request_error", Code: "unsupported_value", Param: "messages[0].role"},
		"openai/error-400-code-null.json":                 {Kind: fault.BadRequest, Status: 400, Type: "invalid_request_error", Param: "web_search_options"},
		"openai/error-400-responses-reasoning-item.json":  {Kind: fault.BadRequest, Status: 400, Type: "invalid_request_error", Param: "input"},
		"openai/error-400-max-tokens-unsupported.json":    {Kind: fault.BadRequest, Status: 400, Type: "invalid_request_error", Code: "unsupported_parameter", Param: "max_tokens"},
		"openai/responses-error-insufficient-quota.json":  {Kind: fault.Quota, Status: 429, Type: "insufficient_quota", Code: "insufficient_quota"},
		"anthropic/error-404-model.json":                  {Kind: fault.NotFound, Status: 404, Type: "not_found_error"},
		"gemini/error-429-retry-info.json":                {Kind: fault.RateLimit, Status: 429, Code: "429"},
		"gemini/error-404-model.json":                     {Kind: fault.NotFound, Status: 404, Code: "404"},
		"openrouter/error-429-wrapped.json":               {Kind: fault.RateLimit, Status: 429, Code: "429"},
		"deepseek/error-400-tool-output-missing.json":     {Kind: fault.BadRequest, Status: 400, Type: "invalid_request_error", Code: "invalid_request_error"},
		"groq/error-400-tool-use-failed.json":             {Kind: fault.BadRequest, Status: 400, Type: "invalid_request_error", Code: "tool_use_failed"},
		"groq/error-404-model.json":                       {Kind: fault.NotFound, Status: 404, Type: "invalid_request_error", Code: "model_not_found"},
	}
	var index struct {
		Files []struct {
			File, Framing string
			Status        int
		}
	}
	readJSON(t, "recorded/index.json", &index)
	if len(index.Files) != len(want) {
		t.Errorf("got %d recorded answers, want %d", len(index.Files), len(want))
	}
	for _, f := range index.Files {
		t.Run(f.File, func(t *testing.T) {
			var whole json.RawMessage
			readJSON(t, filepath.Join("recorded", f.File), &whole)
			var exchange struct {
				Response struct {
					Status int
					Body   json.RawMessage
				}
			}
			if err := json.Unmarshal(whole, &exchange); err != nil {
				t.Fatal(err)
			}
			status, body := exchange.Response.Status, exchange.Response.Body
			if body == nil {
				status, body = want[f.File].Status, whole
			}
			got := fault.Parse(status, body)
			if got.Message == "" || strings.Contains(got.Message, "{") {
				t.Errorf("got message %q", got.Message)
			}
			got.Message = ""
			if diff := cmp.Diff(want[f.File], got); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKinds(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   fault.Kind
		code   int // the effective status, if it differs
	}{
		{"context phrase inside a 500", 500, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, fault.Server, 0},
		{"context phrase inside a 503", 503, `{"error":{"message":"prompt is too long"}}`, fault.Overloaded, 0},
		{"context phrase inside a 404", 404, `{"error":{"message":"context window"}}`, fault.NotFound, 0},
		{"llama.cpp with status 500", 500, `{"error":{"code":500,"message":"x","type":"exceed_context_size_error"}}`, fault.ContextLength, 400},
		{"413 without a body", 413, ``, fault.ContextLength, 0},
		{"413 that is a rate limit", 413, `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`, fault.RateLimit, 0},
		{"context phrase that speaks of minutes", 400, `{"error":{"message":"too many tokens per minute"}}`, fault.BadRequest, 0},
		{"422 context", 422, `{"detail":"Input is too long for requested model"}`, fault.ContextLength, 0},
		{"403 out of quota by code", 403, `{"error":{"message":"no","code":"insufficient_quota"}}`, fault.Quota, 0},
		{"403 out of quota by words", 403, `{"error":{"message":"The free quota of this model is exhausted."}}`, fault.Quota, 0},
		{"403 rate by words", 403, `{"error":{"message":"Quota exceeded for metric: requests per minute"}}`, fault.RateLimit, 0},
		{"400 in a place that is not served", 400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"User location is not supported for the API use."}}`, fault.Auth, 0},
		{"400 with billing off", 400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"Imagen API is only accessible to billed users at this time. This API method requires billing to be enabled."}}`, fault.Quota, 0},
		{"403 with billing off", 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED"}]}}`, fault.Quota, 0},
		{"400 of another condition", 400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"The File x is not in an ACTIVE state and usage is not allowed."}}`, fault.BadRequest, 0},
		{"400 without billing", 400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"Gemini API free tier is not available in your country. Please enable billing on your project."}}`, fault.Quota, 0},
		{"400 out of credit", 400, `{"error":{"message":"Your credit balance is too low to access the API"}}`, fault.Quota, 0},
		{"400 in arrears", 400, `{"code":"Arrearage","message":"Access denied"}`, fault.Quota, 0},
		{"402 without a body", 402, ``, fault.Quota, 0},
		{"429 with money words", 429, `{"error":{"message":"You exceeded your current quota, please check your billing details"}}`, fault.RateLimit, 0},
		{"429 with the newest code", 429, `{"error":{"message":"no","type":"insufficient_quota","code":"project_spend_limit_exceeded"}}`, fault.Quota, 0},
		{"429 spend limit at Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`, fault.Quota, 0},
		{"429 ramp at Anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"ramp_limit_exceeded"}}}`, fault.RateLimit, 0},
		{"429 of an overloaded engine", 429, `{"error":{"message":"busy","type":"engine_overloaded_error"}}`, fault.RateLimit, 0},
		{"500 around a 429", 500, `{"error":{"code":429,"message":"slow down"}}`, fault.RateLimit, 429},
		{"500 with server_error", 500, `{"error":{"message":"x","type":"server_error","code":null}}`, fault.Server, 0},
		{"502 page", 502, "<html><head><title>502 Bad Gateway</title></head><body><h1>x</h1></body></html>", fault.Server, 0},
		{"403 page with money words", 403, "<html><title>quota exceeded</title></html>", fault.Auth, 0},
		{"403 moderation", 403, `{"error":{"code":403,"message":"This model requires moderation and your input was flagged"}}`, fault.ContentPolicy, 0},
		{"401", 401, `{"error":{"message":"x","code":"invalid_api_key","type":"invalid_request_error"}}`, fault.Auth, 0},
		{"400 with a refused key", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xx"}`, fault.Auth, 0},
		{"400 with an unknown model", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, fault.NotFound, 0},
		{"404 as a text", 404, `{"error":"model 'x' not found, try pulling it first"}`, fault.NotFound, 0},
		{"405", 405, ``, fault.NotFound, 0},
		{"408", 408, ``, fault.Timeout, 0},
		{"409", 409, ``, fault.Conflict, 0},
		{"418", 418, ``, fault.BadRequest, 0},
		{"425", 425, ``, fault.Conflict, 0},
		{"451", 451, ``, fault.BadRequest, 0},
		{"504", 504, ``, fault.Server, 0},
		{"520", 520, ``, fault.Server, 0},
		{"529", 529, ``, fault.Overloaded, 0},
		{"599", 599, ``, fault.Server, 0},
		{"302", 302, ``, fault.Server, 502},
		{"in band: numeric code 502", 200, `{"error":{"code":502,"message":"bad"}}`, fault.Server, 502},
		{"in band: numeric code 429", 200, `{"error":{"code":429,"message":"You exceeded your current quota"}}`, fault.RateLimit, 429},
		{"in band: code 429 as text", 200, `{"error":{"code":"429","message":"x"}}`, fault.RateLimit, 429},
		{"in band: code 400", 200, `{"error":{"code":400,"message":"Token limit reached"}}`, fault.BadRequest, 400},
		{"in band: code 401", 200, `{"error":{"code":401,"message":"x"}}`, fault.Auth, 401},
		{"in band: code 503", 200, `{"error":{"code":503,"message":"x"}}`, fault.Overloaded, 503},
		{"in band: text code", 200, `{"error":{"code":"rate_limit_exceeded","message":"x"}}`, fault.RateLimit, 429},
		{"in band: quota", 200, `{"error":{"type":"insufficient_quota","message":"x"}}`, fault.Quota, 429},
		{"in band: context by words", 200, `{"error":{"message":"maximum context length is 5"}}`, fault.ContextLength, 400},
		{"in band: overloaded", 200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, fault.Overloaded, 503},
		{"in band: words only", 200, `{"error":"upstream request timed out"}`, fault.Timeout, 504},
		{"in band: the request's fault by type", 200, `{"error":{"message":"x","type":"invalid_request_error","code":null}}`, fault.BadRequest, 400},
		{"in band: nothing told", 200, `{"error":{"message":"boom"}}`, fault.Server, 502},
		{"in band: status_code", 200, `{"error":{"message":"x","status_code":400,"code":"tool_use_failed"}}`, fault.BadRequest, 400},
		{"event of a stream with an error status", 503, "event: error\ndata: {\"error\":{\"message\":\"model overloaded\",\"code\":503}}\n\n", fault.Overloaded, 0},
		{"nested JSON as a body of text", 400, `"{\"error\":{\"message\":\"prompt is too long\"}}"`, fault.ContextLength, 0},
		{"errors list", 403, `{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}`, fault.Auth, 0},
		{"validation list", 422, `{"detail":[{"loc":["body","n"],"msg":"Input should be a number","type":"int_parsing"}]}`, fault.BadRequest, 0},
		{"cut off", 400, `{"error":{"type":"invalid_request_error","message":"This model's maximum context length is 4097 tok`, fault.ContextLength, 0},
		{"broken JSON", 500, `{"error":`, fault.Server, 0},
		{"null", 500, `null`, fault.Server, 0},
		{"number", 400, `17`, fault.BadRequest, 0},
		{"empty object", 400, `{}`, fault.BadRequest, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := fault.Parse(tt.status, []byte(tt.body))
			if got.Kind != tt.want {
				t.Errorf("got kind %v, want %v", got.Kind, tt.want)
			}
			want := tt.code
			if want == 0 {
				want = tt.status
			}
			if got.Status != want {
				t.Errorf("got status %d, want %d", got.Status, want)
			}
			if got.Message == "" {
				t.Error("got no message")
			}
		})
	}
}

func TestParseMessage(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef"
	tests := []struct {
		name, body, want string
	}{
		{"plain", `{"error":{"message":"No such thing."}}`, "No such thing."},
		{"line breaks and controls", `{"error":{"message":"a\n\n\tb\u0000c\u202ed"}}`, "a b c d"},
		{"not UTF-8", "{\"error\":{\"message\":\"a\xffb\"}}", "a\ufffdb"},
		{"markup", `{"error":{"message":"no <b>such</b> <img src=x onerror=alert(1)> thing<br/>"}}`, "no such  thing"},
		{"script", `{"error":{"message":"x<script>alert(1)</script >y<SCRIPT>z"}}`, "xy"},
		{"letters that lower case makes longer", `{"error":{"message":"\u0130\u0130\u0130<script>\u0130</script>y"}}`, "\u0130\u0130\u0130y"},
		{"page with such letters", "<html><title>\u0130\u0130\u0130</title></html>", "\u0130\u0130\u0130"},
		{"markup in markup", `{"error":{"message":"<<b>script>x"}}`, "script>x"},
		{"unfinished markup", `{"error":{"message":"<<a href=x"}}`, "a href=x"},
		{"unfinished script", `{"error":{"message":"x <script src=y"}}`, "x"},
		{"no markup", `{"error":{"message":"<400> 1 < 2, a <- b"}}`, "<400> 1 < 2, a <- b"},
		{"page", "<!DOCTYPE html><html><title>502 Bad\nGateway</title><p>nginx</p></html>", "502 Bad Gateway"},
		{"page without a title", "<html><body>secret sauce</body></html>", "the upstream answered with a web page instead of an error object (status 400)"},
		{"empty", "", "the upstream answered with an empty error body (status 400)"},
		{"says nothing", `{"ok":false}`, "the upstream answered with an error that has no message (status 400)"},
		{"prose", "upstream connect error", "upstream connect error"},
		{"wrapped text", `{"error":{"message":"Provider returned error","metadata":{"raw":"try later"}}}`, "Provider returned error: try later"},
		{"wrapped JSON", `{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}`, "inner"},
		{"key with a prefix", `{"error":{"message":"Incorrect API key provided: sk-proj-abcDEF. Find it at https://a.example/keys."}}`, "Incorrect API key provided: ***. Find it at https://a.example/keys."},
		{"masked by the upstream", `{"error":{"message":"Incorrect API key provided: sk-ab****wxyz."}}`, "Incorrect API key provided: ***."},
		{"short key of any service", `{"error":{"message":"key: local-key-1 is wrong"}}`, "key: *** is wrong"},
		{"address with a key", `{"error":{"message":"POST https://a.example/v1beta?key=abcdef&alt=sse: 404"}}`, "POST https://a.example/v1beta?key=***&alt=sse: 404"},
		{"address with a user", `{"error":{"message":"dial http://user:hunter2@a.example/v1 refused"}}`, "dial http://***@a.example/v1 refused"},
		{"header", `{"error":{"message":"got Authorization: Bearer abcdef123456"}}`, "got Authorization: Bearer ***"},
		{"header named only", `{"error":{"message":"missing Bearer authentication"}}`, "missing Bearer authentication"},
		{"hex", `{"error":{"message":"no deployment ` + hex + ` here"}}`, "no deployment *** here"},
		{"base64", `{"error":{"message":"bad token QWxhZGRpbjpvcGVuIHNlc2FtZQ12345678"}}`, "bad token ***"},
		{"google key", `{"error":{"message":"bad AIzaSyD-EXAMPLE_example0123456789abcdef"}}`, "bad ***"},
		{"ids of what clients know stay", `{"error":{"message":"Item 'rs_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b' of type 'reasoning' was provided without 'msg_68af4030baa48193b0b43b4c2a176a1a05438e46b5f69a3b', previous response resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b not found, see responses/resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b."}}`, "Item 'rs_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b' of type 'reasoning' was provided without 'msg_68af4030baa48193b0b43b4c2a176a1a05438e46b5f69a3b', previous response resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b not found, see responses/resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b."},
		{"an id where a key stands", `{"error":{"message":"Bearer resp_68af4030592c81938ec0a5fbab4a3e9f and key=msg_68af4030592c81938ec0a5fbab4a3e9f, resp_68af4030592c81938ec0a5fbab4a3e9f%2068af4030592c81938ec0a5fbab4a3e9f"}}`, "Bearer *** and key=***, ***"},
		{"names of models stay", `{"error":{"message":"models gpt-4o-mini-2024-07-18, accounts/fireworks/models/llama-v3p1-405b-instruct, claude-3-5-sonnet-20240620"}}`, "models gpt-4o-mini-2024-07-18, accounts/fireworks/models/llama-v3p1-405b-instruct, claude-3-5-sonnet-20240620"},
		{"counts stay", `{"error":{"message":"max_tokens: 10000 > 4096, token: 200251, key: 'name'"}}`, "max_tokens: 10000 > 4096, token: 200251, key: 'name'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.Parse(400, []byte(tt.body)).Message; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestParseFieldsAreClean(t *testing.T) {
	body := `{"error":{"message":"m","type":"<b>t\n</b>","code":"sk-abcdefgh","param":"` + strings.Repeat("p", 500) + `"}}`
	got := fault.Parse(400, []byte(body))
	want := fault.Fault{Kind: fault.BadRequest, Status: 400, Message: "m", Type: "t", Code: "***"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fault (-want +got):\n%s", diff)
	}
}

func TestParseLargeBody(t *testing.T) {
	words := strings.Repeat("the prompt is here ", 60000)
	for name, body := range map[string]string{
		"long message":     `{"error":{"message":"` + words + `"}}`,
		"long prose":       words,
		"code after a lot": `{"error":{"echo":"` + words + `","code":"insufficient_quota"}}`,
		"many wrappers":    strings.Repeat(`{"error":`, 100000),
		"many arrays":      strings.Repeat(`[`, 100000),
		"many tags":        strings.Repeat(`<a`, 100000),
		"many scripts":     strings.Repeat(`<script>`, 20000),
	} {
		t.Run(name, func(t *testing.T) {
			got := fault.Parse(400, []byte(body))
			checkShown(t, got)
			if got.Kind != fault.BadRequest {
				t.Errorf("got kind %v, want bad_request", got.Kind)
			}
		})
	}
}

func TestKindString(t *testing.T) {
	seen := map[string]bool{}
	for k := range fault.BadRequest + 2 {
		seen[k.String()] = true
	}
	if want := int(fault.BadRequest) + 1; len(seen) != want { // unknown stands for two
		t.Errorf("got %d names, want %d: %v", len(seen), want, seen)
	}
}

// checkShown checks what a Fault promises of its texts.
func checkShown(t *testing.T, f fault.Fault) {
	t.Helper()
	if f.Message == "" || len(f.Message) > fault.MaxMessage {
		t.Errorf("message of %d bytes", len(f.Message))
	}
	if f.Status < 400 || f.Status > 599 {
		t.Errorf("status %d", f.Status)
	}
	if f.Kind < fault.ContextLength || f.Kind > fault.BadRequest {
		t.Errorf("kind %d", f.Kind)
	}
	for _, s := range []string{f.Message, f.Type, f.Code, f.Param} {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("text is not clean: %q", s)
		}
		for i := range len(s) - 1 {
			if s[i] == '<' && (s[i+1]|0x20 >= 'a' && s[i+1]|0x20 <= 'z' || strings.IndexByte("/!?", s[i+1]) >= 0) {
				t.Errorf("text holds markup: %q", s)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, b := range quotedBodies(f) {
		f.Add(b.Status, []byte(b.Body))
	}
	f.Add(200, []byte(`{"error":"x"}`))
	f.Add(502, []byte("<html><title>x</title>"))
	f.Add(400, []byte(`{"error":{"message":"{\"error\":{\"message\":\"\\ud800 <<b>script>\"}}"}}`))
	f.Add(400, []byte("\xef\xbb\xbf[\"Bearer abcdef sk-abcdef https://u:p@h/?key=v\"]"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		own := 200 + uint(status)%400
		got := fault.Parse(int(own), body)
		checkShown(t, got)
		if again := fault.Parse(int(own), body); again != got {
			t.Errorf("read twice: %+v and %+v", got, again)
		}
		secret := fmt.Sprintf(`{"error":{"message":"key sk-proj-0123456789abcdefghij, %s"}}`, strings.ToValidUTF8(strings.Map(plain, string(body)), ""))
		if got := fault.Parse(401, []byte(secret)); strings.Contains(got.Message, "0123456789abcdefghij") {
			t.Errorf("message shows a key: %q", got.Message)
		}
	})
}

func plain(r rune) rune {
	if r == '"' || r == '\\' || r < ' ' {
		return -1
	}
	return r
}
