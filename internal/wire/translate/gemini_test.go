package translate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/translate"
)

// toGemini translates a request of chat completions and returns the body.
func toGemini(t *testing.T, model, members string) (body string, lost []string, err error) {
	t.Helper()
	return translated(t, translate.Chat, translate.Gemini, &translate.Upstream{Model: model}, `{"model":"m",`+members+`}`)
}

const asks = `"messages":[{"role":"user","content":"hi"}]`

// member returns a member of a JSON object, however deep, as JSON.
func member(t *testing.T, body string, path ...string) string {
	t.Helper()
	raw := json.RawMessage(body)
	for _, key := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		raw = object[key]
	}
	return string(raw)
}

func TestGeminiRequests(t *testing.T) {
	const two = `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g","description":"d","parameters":{"type":"object"}}}]`
	calls := func(results string) string {
		return `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"wait","tool_calls":[` +
			`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":""}}]},` + results + `]`
	}
	const history = `{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"wait"},{"functionCall":{"name":"f","args":{"a":1},"id":"c1"}},{"functionCall":{"name":"g","args":{},"id":"c2"}}]}`
	tests := []struct {
		name, members string
		path          []string // of what is compared; empty for all
		want          string
	}{
		{name: "least", members: asks, want: `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{
			name:    "instructions",
			members: `"messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"},{"role":"developer","content":"b"}]`,
			want:    `{"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
		},
		{name: "instructions alone", members: `"messages":[{"role":"system","content":"a"}]`, want: `{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`},
		{
			name:    "turns of one side",
			members: `"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":""},{"role":"assistant","content":"c"}]`,
			want:    `{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]},{"role":"model","parts":[{"text":"c"}]}]}`,
		},
		{
			name: "results in the order of the calls", members: calls(`{"role":"tool","tool_call_id":"c2","content":"two"},{"role":"tool","tool_call_id":"c1","content":" [1] "},{"role":"user","content":"go"}`), path: []string{"contents"},
			want: `[` + history + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":[1]},"id":"c1"}},{"functionResponse":{"name":"g","response":{"output":"two"},"id":"c2"}}]},{"role":"user","parts":[{"text":"go"}]}]`,
		},
		{
			name: "a result with an image", members: calls(`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`), path: []string{"contents"},
			want: `[` + history + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"see"},"id":"c1"}}]},{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}]`,
		},
		{
			name:    "media",
			members: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.JPG?x=1"}},{"type":"image_url","image_url":{"url":"https://example.com/a"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]`,
			path:    []string{"contents"},
			want:    `[{"role":"user","parts":[{"fileData":{"mimeType":"image/jpeg","fileUri":"https://example.com/a.JPG?x=1"}},{"fileData":{"fileUri":"https://example.com/a"}},{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}]}]`,
		},
		{
			name: "tools", members: asks + `,` + two, path: []string{"tools"},
			want: `[{"functionDeclarations":[{"name":"f"},{"name":"g","description":"d","parametersJsonSchema":{"type":"object"}}]}]`,
		},
		{name: "no choice", members: asks + `,` + two + `,"tool_choice":"auto"`, path: []string{"toolConfig"}, want: ``},
		{name: "no tool", members: asks + `,` + two + `,"tool_choice":"none"`, path: []string{"toolConfig"}, want: `{"functionCallingConfig":{"mode":"NONE"}}`},
		{name: "some tool", members: asks + `,` + two + `,"tool_choice":"required"`, path: []string{"toolConfig"}, want: `{"functionCallingConfig":{"mode":"ANY"}}`},
		{name: "one tool", members: asks + `,` + two + `,"tool_choice":{"type":"function","function":{"name":"g"}}`, path: []string{"toolConfig"}, want: `{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`},
		{
			name: "allowed tools", members: asks + `,` + two + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`, path: []string{"tools"},
			want: `[{"functionDeclarations":[{"name":"f"}]}]`,
		},
		{
			name: "required of allowed tools", members: asks + `,` + two + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`, path: []string{"toolConfig"},
			want: `{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}`,
		},
		{
			name: "custom tools", members: `"tools":[{"type":"custom","custom":{"name":"f"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"free \"text\""}}]}]`, path: []string{"contents"},
			want: `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"input":"free \"text\""},"id":"c"}}]}]`,
		},
		{
			name: "sampling", members: asks + `,"temperature":0,"top_p":0.5,"top_k":3,"max_tokens":7,"stop":["a"],"presence_penalty":0,"frequency_penalty":-0.5`, path: []string{"generationConfig"},
			want: `{"temperature":0,"topP":0.5,"topK":3,"maxOutputTokens":7,"stopSequences":["a"],"frequencyPenalty":-0.5}`,
		},
		{name: "a seed of 64 bits", members: asks + `,"seed":-1`, path: []string{"generationConfig"}, want: `{"seed":2147483647}`},
		{name: "JSON", members: asks + `,"response_format":{"type":"json_object"}`, path: []string{"generationConfig"}, want: `{"responseMimeType":"application/json"}`},
		{
			name: "a schema", members: asks + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"$schema":"x","type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}}}`, path: []string{"generationConfig"},
			want: `{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, _, err := toGemini(t, "gemini-2.5-flash", tt.members)
			if err != nil {
				t.Fatal(err)
			}
			got := member(t, body, tt.path...)
			if got == "" || tt.want == "" {
				if got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			compareJSON(t, tt.want, got)
		})
	}
	// Models follow the order of properties, which comparing as JSON does not see.
	body, _, err := toGemini(t, "gemini-2.5-flash", tests[len(tests)-1].members)
	if err != nil || !strings.Contains(body, `"properties":{"b":{"type":"string"},"a":{"type":"integer"}}`) {
		t.Errorf("got %s, %v", body, err)
	}
}

func TestGeminiRefuses(t *testing.T) {
	for name, members := range map[string]string{
		"nothing is said":       `"messages":[{"role":"assistant","content":""}]`,
		"too many stops":        asks + `,"stop":["a","b","c","d","e","f"]`,
		"a file of OpenAI's":    `"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-1"}}]}]`,
		"a result of no call":   `"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c9","content":"x"}]`,
		"tools of others alone": asks + `,"tools":[{"type":"web_search"}]`,
	} {
		_, _, err := toGemini(t, "gemini-2.5-flash", members)
		if e, ok := errors.AsType[*translate.UnsupportedError](err); !ok || e.Path == "" || e.Message == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestGeminiThinking tells models of all generations how much to think.
func TestGeminiThinking(t *testing.T) {
	tests := []struct{ model, members, want string }{
		{"gemini-2.5-flash", `"reasoning_effort":"none"`, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", `"reasoning_effort":"minimal"`, `{"thinkingBudget":1024}`},
		{"models/gemini-2.5-pro", `"reasoning_effort":"none"`, `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", `"reasoning_effort":"medium"`, `{"thinkingBudget":8192}`},
		{"gemini-2.5-pro", `"reasoning_effort":"xhigh"`, `{"thinkingBudget":24576}`},
		{"gemini-2.5-pro", `"thinking":{"type":"enabled","budget_tokens":2000}`, `{"thinkingBudget":2000,"includeThoughts":true}`},
		{"gemini-2.5-pro", `"thinking":{"type":"adaptive"}`, `{"thinkingBudget":-1,"includeThoughts":true}`},
		{"gemini-3-pro-preview", `"reasoning_effort":"none"`, `{"thinkingLevel":"low"}`},
		{"gemini-3.8-flash", `"reasoning_effort":"medium"`, `{"thinkingLevel":"medium"}`},
		{"gemini-10.1-flash", `"reasoning_effort":"max"`, `{"thinkingLevel":"high"}`},
		{"gemini-flash-latest", `"reasoning_effort":"low"`, `{"thinkingLevel":"low"}`},
		{"gemini-3-pro", `"thinking":{"type":"adaptive"}`, `{"includeThoughts":true}`},
		{"gemini-3-pro", `"reasoning":{"effort":"high","exclude":true}`, `{"thinkingLevel":"high"}`},
		{"gemini-2.0-flash", `"reasoning_effort":"high"`, ``},
		{"gemini-2.0-flash", `"reasoning_effort":"none"`, ``},
		{"gemma-3-27b-it", `"reasoning_effort":"high"`, ``},
		{"gemini-3-pro", `"top_p":1`, ``},
	}
	for _, tt := range tests {
		body, lost, err := toGemini(t, tt.model, asks+`,`+tt.members)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if config := member(t, body, "generationConfig"); config != "" {
			got = member(t, config, "thinkingConfig")
		}
		if got != tt.want {
			t.Errorf("%s with %s: got %s, want %s", tt.model, tt.members, got, tt.want)
		}
		if dropped := tt.want == "" && strings.Contains(tt.members, "high"); dropped != (len(lost) > 0) && !strings.Contains(tt.members, "none") {
			t.Errorf("%s with %s: got losses %v", tt.model, tt.members, lost)
		}
	}
}

func TestGeminiSchemas(t *testing.T) {
	tests := []struct {
		name, schema, want string
		lost               []string // the words that are dropped
	}{
		{name: "all that is known", schema: `{"type":"object","title":"t","description":"d","properties":{"z":{"type":["string","null"],"format":"date-time"},"a":{"type":"array","items":{"type":"number","minimum":1,"maximum":2},"minItems":1,"maxItems":3}},"required":["a"],"additionalProperties":false,"propertyOrdering":["z"]}`, want: `{"type":"object","title":"t","description":"d","properties":{"z":{"type":["string","null"],"format":"date-time"},"a":{"type":"array","items":{"type":"number","minimum":1,"maximum":2},"minItems":1,"maxItems":3}},"required":["a"],"additionalProperties":false,"propertyOrdering":["z"]}`},
		{name: "words without meaning", schema: `{"$schema":"s","$id":"i","$comment":"c","type":"object"}`, want: `{"type":"object"}`},
		{name: "words that are not known", schema: `{"type":"string","pattern":"x","minLength":1,"default":"d","format":"uri"}`, want: `{"type":"string"}`, lost: []string{"pattern", "minLength", "default", "format"}},
		{name: "const", schema: `{"properties":{"a":{"const":"x"},"b":{"const":2}}}`, want: `{"type":"object","properties":{"a":{"enum":["x"]},"b":{"enum":[2]}}}`},
		{name: "enums", schema: `{"enum":["a",1,null,true]}`, want: `{"enum":["a",1]}`, lost: []string{"enum"}},
		{name: "an enum of nothing that is known", schema: `{"enum":[null,false]}`, want: `{}`, lost: []string{"enum"}},
		{name: "alternatives", schema: `{"oneOf":[{"type":"string"},{"const":true}]}`, want: `{"anyOf":[{"type":"string"},{}]}`, lost: []string{"enum"}},
		{name: "two lists of alternatives", schema: `{"anyOf":[{"type":"string"}],"oneOf":[{"type":"number"}]}`, want: `{"anyOf":[{"type":"string"}]}`, lost: []string{"oneOf"}},
		{name: "definitions", schema: `{"$ref":"#/definitions/a","description":"d","definitions":{"a":{"type":"object","properties":{"b":{"$ref":"#/definitions/a"}}}}}`, want: `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/a"}}}}}`, lost: []string{"description"}},
		{name: "allOf", schema: `{"description":"own","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"],"description":"other"},{"properties":{"b":{"type":"string"},"a":{"type":"number"}},"required":["b","a"]}]}`, want: `{"type":"object","description":"own","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`},
		{name: "OpenAPI", schema: `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true},"b":{"nullable":true,"properties":{}}}}`, want: `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["object","null"],"properties":{}}}}`},
		{name: "tuples", schema: `{"type":"array","items":[{"type":"string"},true]}`, want: `{"type":"array","prefixItems":[{"type":"string"},{}]}`},
		{name: "more tuples", schema: `{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, want: `{"type":"array","prefixItems":[{"type":"string"}],"items":{}}`},
		{name: "anything else", schema: `{"type":"object","additionalProperties":{"type":"string","pattern":"x"}}`, want: `{"type":"object","additionalProperties":{"type":"string"}}`, lost: []string{"pattern"}},
		{name: "a property with the name of a word", schema: `{"properties":{"pattern":{"type":"string"},"type":{"type":"string"},"$ref":{"type":"string"}}}`, want: `{"type":"object","properties":{"pattern":{"type":"string"},"type":{"type":"string"},"$ref":{"type":"string"}}}`},
		{name: "conditions", schema: `{"if":{},"then":{},"not":{},"patternProperties":{}}`, want: `{}`, lost: []string{"if", "then", "not", "patternProperties"}},
		{name: "nothing", schema: `{}`, want: `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, lost, err := toGemini(t, "gemini-2.5-flash", asks+`,"tools":[{"type":"function","function":{"name":"f","parameters":`+tt.schema+`}}]`)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Tools []struct {
					FunctionDeclarations []struct{ ParametersJSONSchema json.RawMessage }
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			compareJSON(t, tt.want, string(got.Tools[0].FunctionDeclarations[0].ParametersJSONSchema))
			for i, path := range lost {
				lost[i] = strings.TrimPrefix(path, "tools[].parameters.")
			}
			if diff := cmp.Diff(tt.lost, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
	deep := strings.Repeat(`{"properties":{"a":`, 90) + `{}` + strings.Repeat(`}}`, 90)
	if body, _, err := toGemini(t, "gemini-2.5-flash", asks+`,"tools":[{"type":"function","function":{"name":"f","parameters":`+deep+`}}]`); err != nil || !json.Valid([]byte(body)) {
		t.Errorf("a deep schema: got %s, %v", body, err)
	}
}

// TestGeminiSignaturesGoBack sends answers with signatures to clients and what
// the clients send back to Gemini: each signature is where it was.
func TestGeminiSignaturesGoBack(t *testing.T) {
	up := codecOf(t, translate.Gemini)
	answer := translate.Answer{ID: "r1", Parts: []translate.Part{
		{Kind: translate.KindText, Text: "look", Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "dGV4dA=="}},
		{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789ab", Name: "f", Arguments: `{"a":1}`}, Signature: translate.Signature{Origin: translate.OriginGoogle, Data: "Y2FsbA=="}},
		{Kind: translate.KindCall, Call: translate.Call{ID: "call_0123456789cd", Name: "g", Arguments: `{}`}},
	}, End: translate.End{Finish: translate.FinishCalls}}
	const want = `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"look","thoughtSignature":"dGV4dA=="},` +
		`{"functionCall":{"name":"f","args":{"a":1},"id":"call_0123456789ab"},"thoughtSignature":"Y2FsbA=="},{"functionCall":{"name":"g","args":{},"id":"call_0123456789cd"}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"id":"call_0123456789ab"}},{"functionResponse":{"name":"g","response":{"output":"y"},"id":"call_0123456789cd"}}]}]`
	// How the history of a client looks that keeps all that an answer holds.
	histories := map[translate.Protocol]func(body string) string{
		translate.Chat: func(body string) string {
			var a struct {
				Choices []struct{ Message json.RawMessage }
			}
			_ = json.Unmarshal([]byte(body), &a)
			return `{"model":"m","messages":[{"role":"user","content":"hi"},` + string(a.Choices[0].Message) + `,{"role":"tool","tool_call_id":"call_0123456789ab","content":"x"},{"role":"tool","tool_call_id":"call_0123456789cd","content":"y"}]}`
		},
		translate.Messages: func(body string) string {
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` + member(t, body, "content") + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0123456789ab","content":"x"},{"type":"tool_result","tool_use_id":"call_0123456789cd","content":"y"}]}]}`
		},
		translate.Responses: func(body string) string {
			output := member(t, body, "output")
			return `{"model":"m","input":[{"role":"user","content":"hi"},` + output[1:len(output)-1] + `,{"type":"function_call_output","call_id":"call_0123456789ab","output":"x"},{"type":"function_call_output","call_id":"call_0123456789cd","output":"y"}]}`
		},
	}
	for p, history := range histories {
		t.Run(p.String(), func(t *testing.T) {
			in := codecOf(t, p)
			request := history(string(in.EncodeAnswer(nil, &answer, anyRequest, publicModel)))
			r, _, err := in.DecodeRequest([]byte(request))
			if err != nil {
				t.Fatalf("%s: %v", request, err)
			}
			body, _, err := up.EncodeRequest(r, &translate.Upstream{Model: "gemini-3-pro"})
			if err != nil {
				t.Fatal(err)
			}
			compareJSON(t, want, member(t, string(body), "contents"))
		})
	}
}

// TestGeminiCallsWithoutSignatures sends a history that another model wrote:
// newer models want a signature with the first call of each step.
func TestGeminiCallsWithoutSignatures(t *testing.T) {
	const calls = `{"role":"assistant","tool_calls":[{"id":"a%d","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b%d","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a%d","content":"x"},{"role":"tool","tool_call_id":"b%d","content":"x"}`
	messages := `"messages":[{"role":"user","content":"hi"},` + fmt.Sprintf(calls, 1, 1, 1, 1) + `,` + fmt.Sprintf(calls, 2, 2, 2, 2) + `]`
	for model, want := range map[string]int{"gemini-3-pro": 2, "gemini-4-argon": 2, "gemini-pro-latest": 2, "gemini-2.5-pro": 0, "gemma-3": 0} {
		body, _, err := toGemini(t, model, messages)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(body, `"thoughtSignature":"skip_thought_signature_validator"`); got != want {
			t.Errorf("%s: got %d signatures, want %d: %s", model, got, want, body)
		}
	}
}

// readRequest reads a request of Gemini's.
func readRequest(t *testing.T, body string) *translate.Request {
	t.Helper()
	r, _, err := codecOf(t, translate.Gemini).DecodeRequest([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// TestReadsGeminiClients reads what Google's own library and others send.
func TestReadsGeminiClients(t *testing.T) {
	n := 0
	check := func(name string, body []byte) {
		t.Run(name, func(t *testing.T) {
			n++
			r := readRequest(t, string(body))
			out, _, err := codecOf(t, translate.Gemini).EncodeRequest(r, &translate.Upstream{Model: "gemini-2.5-flash"})
			if err != nil {
				t.Fatal(err)
			}
			again := readRequest(t, string(out))
			if diff := cmp.Diff(flatten(r.Turns), flatten(again.Turns), sameJSON); diff != "" {
				t.Errorf("written and read again (-want +got):\n%s", diff)
			}
		})
	}
	for _, file := range []string{"google-genai-generate.json", "google-genai-stream.json", "google-genai-tools-schema.json"} {
		var client struct {
			Request struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal(readMaterial(t, "gemini", "clients", file), &client); err != nil {
			t.Fatal(err)
		}
		check(file, client.Request.Body)
	}
	for _, rec := range recordedElsewhere(t) {
		if rec.protocol == translate.Gemini && len(rec.request) > 0 {
			check(rec.file, rec.request)
		}
	}
	if n < 8 {
		t.Errorf("only %d requests were read", n)
	}
}

func TestReadsGeminiRequests(t *testing.T) {
	r := readRequest(t, `{"system_instruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"hi"},{"file_data":{"file_uri":"gs://b/o","mime_type":"image/png"}}]},`+
		`{"role":"model","parts":[{"text":"hm","thought":true},{"function_call":{"name":"f","args":{"a":1}},"thought_signature":"s1"},{"functionCall":{"name":"f"},"thoughtSignature":"skip_thought_signature_validator"}]},`+
		`{"role":"function","parts":[{"function_response":{"name":"f","response":{"error":"no"}}},{"functionResponse":{"name":"f","response":{"output":"a","x":1}}},{"executableCode":{"code":"1"}}]}],`+
		`"tools":[{"function_declarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING"}}}}]},{"googleSearch":{}}],"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}},`+
		`"generation_config":{"max_output_tokens":5,"response_mime_type":"application/json","response_schema":{"type":"OBJECT"},"thinking_config":{"thinking_level":"LOW"},"candidate_count":1},"labels":{"a":"b"},"model":"models/x"}`)
	google := func(data string) translate.Signature {
		return translate.Signature{Origin: translate.OriginGoogle, Data: data}
	}
	result := func(id, text string, failed bool) translate.Part {
		return translate.Part{Kind: translate.KindResult, Result: translate.Result{CallID: id, Name: "f", IsError: failed, Parts: []translate.Part{{Text: text}}}}
	}
	want := translate.Request{
		Model: "x", IncludeUsage: true, System: []translate.Part{{Text: "s"}}, MaxOutput: 5, Metadata: map[string]string{"a": "b"},
		Turns: []translate.Turn{
			{Parts: []translate.Part{{Text: "hi"}, {Kind: translate.KindImage, Media: translate.Media{FileID: "gs://b/o", Origin: translate.OriginGoogle, MIME: "image/png"}}}},
			{Role: translate.RoleAssistant, Parts: []translate.Part{
				{Kind: translate.KindReasoning, Text: "hm"},
				{Kind: translate.KindCall, Call: translate.Call{ID: "call_1", Name: "f", Arguments: `{"a":1}`}, Signature: google("s1")},
				{Kind: translate.KindCall, Call: translate.Call{ID: "call_2", Name: "f", Arguments: `{}`}},
			}},
			{Parts: []translate.Part{result("call_1", "no", true), result("call_2", `{"output":"a","x":1}`, false)}},
		},
		Tools: []translate.Tool{
			{Name: "f", Schema: []byte(`{"type":"object","properties":{"type":{"type":"string"}}}`)},
			{Kind: translate.ToolServer, Name: "googleSearch", Type: "googleSearch"},
		},
		ToolChoice: translate.ToolChoice{Mode: translate.ChoiceTool, Name: "f"},
		Format:     translate.Format{Kind: translate.FormatSchema, Schema: []byte(`{"type":"object"}`)},
		Thinking:   translate.Thinking{Effort: translate.EffortLow},
	}
	if diff := cmp.Diff(&want, r, sameJSON); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	for body, unsupported := range map[string]bool{
		``: false, `[]`: false, `{}`: false, `{"contents":[{"role":"x","parts":[]}]}`: false, `{"contents":"a"}`: false,
		`{"contents":[{"parts":[{"text":1}]}]}`:                                                 false,
		`{"contents":[{"parts":[{"text":"a"}]}],"cachedContent":"c"}`:                           true,
		`{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"candidateCount":2}}`:       true,
		`{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":"many"}}`: false,
	} {
		_, _, err := codecOf(t, translate.Gemini).DecodeRequest([]byte(body))
		_, isUnsupported := errors.AsType[*translate.UnsupportedError](err)
		if err == nil || isUnsupported != unsupported {
			t.Errorf("%s: got %v", body, err)
		}
	}
}
