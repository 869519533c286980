package fake

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	generatePath = "/a/v1beta/models/m:generateContent"
	ssePath      = "/a/v1beta/models/m:streamGenerateContent?alt=sse"
	generateBody = `{"contents":[{"role":"user","parts":[{"text":"hello you"}]}]}`
	functions    = `"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"weather","parametersJsonSchema":` + inputSchema + `},{"name":"other"}]}]`
)

// generate sends a request as Google's SDKs do.
func (r *rig) generate(t *testing.T, path, body string) reply {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	return r.send(t, method, path, body, headerGoogleKey, "k")
}

// withMore is the request with more members.
func withMore(more string) string { return strings.TrimSuffix(generateBody, "}") + "," + more + "}" }

func TestGenerate(t *testing.T) {
	usage := func(prompt, said, total string) string {
		return `"usageMetadata":{"promptTokenCount":` + prompt + `,"candidatesTokenCount":` + said + `,"totalTokenCount":` + total +
			`,"promptTokensDetails":[{"modality":"TEXT","tokenCount":` + prompt + `}]}`
	}
	for _, c := range []struct{ name, behaviour, path, body, want string }{
		{
			"text", "answer: {text: 'Say \"hi\"'}", generatePath, generateBody,
			`{"candidates":[{"content":{"parts":[{"text":"Say \"hi\""}],"role":"model"},"finishReason":"STOP","index":0}],` +
				usage("12", "2", "14") + `,"modelVersion":"m","responseId":"ID"}`,
		},
		{
			"two, cut", "answer: {text: a b c}", "/a/v1/models/m:generateContent", withMore(`"generationConfig":{"candidateCount":2,"maxOutputTokens":2}`),
			`{"candidates":[{"content":{"parts":[{"text":"a b"}],"role":"model"},"finishReason":"MAX_TOKENS","index":0},
			{"content":{"parts":[{"text":"a b"}],"role":"model"},"finishReason":"MAX_TOKENS","index":1}],` +
				usage("12", "4", "16") + `,"modelVersion":"m","responseId":"ID"}`,
		},
		{
			"stopped", "answer: {text: 'see Paris now'}", "/a/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
			withMore(`"generation_config":{"stop_sequences":[" Par"]}`),
			`{"candidates":[{"content":{"parts":[{"text":"see"}],"role":"model"},"finishReason":"STOP","index":0}],` +
				usage("12", "1", "13") + `,"modelVersion":"m","responseId":"ID"}`,
		},
		{
			"thoughts counted", "answer: {text: a, reasoning: p q, usage: {prompt: 50, cached: 20}}", generatePath, generateBody,
			`{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"SIG"}],"role":"model"},"finishReason":"STOP","index":0}],
			"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":1,"totalTokenCount":53,"cachedContentTokenCount":20,
			"promptTokensDetails":[{"modality":"TEXT","tokenCount":50}],"thoughtsTokenCount":2},"modelVersion":"m","responseId":"ID"}`,
		},
		{
			"all spent on thoughts", "answer: {text: a, reasoning: p q r}", generatePath, withMore(`"generationConfig":{"maxOutputTokens":2}`),
			`{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}],
			"usageMetadata":{"promptTokenCount":12,"totalTokenCount":14,"promptTokensDetails":[{"modality":"TEXT","tokenCount":12}],"thoughtsTokenCount":2},
			"modelVersion":"m","responseId":"ID"}`,
		},
		{
			"count", "{}", "/a/v1beta/models/m:countTokens", generateBody,
			`{"totalTokens":12,"promptTokensDetails":[{"modality":"TEXT","tokenCount":12}]}`,
		},
		{
			"count of a request", "{}", "/a/v1beta/models/m:countTokens", `{"generateContentRequest":` + withMore(`"model":"models/m"`) + `}`,
			`{"totalTokens":20,"promptTokensDetails":[{"modality":"TEXT","tokenCount":20}]}`,
		},
		{
			"embedding", "answer: {dimensions: 1}", "/a/v1beta/models/m:embedContent", `{"content":{"parts":[{"text":"hello"}]}}`,
			`{"embedding":{"values":[1]},"usageMetadata":{"promptTokenCount":2}}`,
		},
		{
			"embeddings", "{}", "/a/v1beta/models/m:batchEmbedContents", `{"requests":[{"model":"models/m","outputDimensionality":1,"content":{"parts":[{"text":"hello"}]}}]}`,
			`{"embeddings":[{"values":[1]}],"usageMetadata":{"promptTokenCount":2}}`,
		},
		{
			"models", "models: [m]", "/a/v1beta/models", "",
			`{"models":[{"name":"models/m","version":"001","displayName":"m","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]}]}`,
		},
		{
			"one model", "models: [m]", "/a/v1beta/models/m", "",
			`{"name":"models/m","version":"001","displayName":"m","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			got := r.generate(t, c.path, c.body)
			if got.status != 200 || got.header.Get("Content-Type") != contentGemini {
				t.Fatalf("%d %v %s", got.status, got.header, got.body)
			}
			if diff := cmp.Diff(object(t, c.want), object(t, withoutGoogleIDs(string(got.body)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// withoutGoogleIDs replaces what differs from answer to answer.
func withoutGoogleIDs(text string) string {
	for member, with := range map[string]string{"responseId": "ID", "thoughtSignature": "SIG"} {
		parts := strings.Split(text, `"`+member+`":"`)
		for i := range parts[1:] {
			_, rest, _ := strings.Cut(parts[i+1], `"`)
			parts[i+1] = with + `"` + rest
		}
		text = strings.Join(parts, `"`+member+`":"`)
	}
	return text
}

// TestGenerateOnTheWire holds whole streams still, byte for byte.
func TestGenerateOnTheWire(t *testing.T) {
	chunk := func(parts, end, said, total, thoughts string) string {
		if said != "" {
			said = `"candidatesTokenCount":` + said + `,`
		}
		return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + end + `,"index":0}],"usageMetadata":{"promptTokenCount":12,` + said +
			`"totalTokenCount":` + total + `,"promptTokensDetails":[{"modality":"TEXT","tokenCount":12}]` + thoughts + `},"modelVersion":"m","responseId":"ID"}`
	}
	const stop, thoughts = `,"finishReason":"STOP"`, `,"thoughtsTokenCount":2`
	shown := withMore(`"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`)
	text := []string{
		chunk(`{"text":"a"}`, "", "1", "13", ""),
		chunk(`{"text":" \"b"}`, "", "2", "14", ""),
		chunk(`{"text":""}`, stop, "2", "14", ""),
	}
	for _, c := range []struct {
		name, behaviour, body string
		want                  []string
	}{
		{"text", `answer: {text: 'a "b'}`, generateBody, text},
		{"thoughts", "answer: {text: a, reasoning: p q}", shown, []string{
			chunk(`{"text":"p","thought":true}`, "", "", "14", thoughts),
			chunk(`{"text":" q","thought":true}`, "", "", "14", thoughts),
			chunk(`{"text":"a"}`, "", "1", "15", thoughts),
			chunk(`{"text":"","thoughtSignature":"SIG"}`, stop, "1", "15", thoughts),
		}},
		{"refused", "always: {fault: content-filter, code: OTHER, message: no}", generateBody, []string{
			`{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"no"},"usageMetadata":{"promptTokenCount":12,"totalTokenCount":12,"promptTokensDetails":[{"modality":"TEXT","tokenCount":12}]},"modelVersion":"m","responseId":"ID"}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			got := r.generate(t, ssePath, c.body)
			want := "data: " + strings.Join(c.want, "\r\n\r\ndata: ") + "\r\n\r\n"
			if diff := cmp.Diff(want, withoutGoogleIDs(string(got.body))); diff != "" || got.header.Get("Content-Type") != contentStream {
				t.Errorf("%v (-want +got):\n%s", got.header, diff)
			}
			// Without alt=sse the same comes as one array.
			list := r.generate(t, strings.TrimSuffix(ssePath, "?alt=sse"), c.body)
			if diff := cmp.Diff("["+strings.Join(c.want, ",\r\n")+"]", withoutGoogleIDs(string(list.body))); diff != "" || list.header.Get("Content-Type") != contentGemini {
				t.Errorf("array %v (-want +got):\n%s", list.header, diff)
			}
		})
	}
}

// generated is what a client reads of an answer.
type generated struct {
	Candidates []struct {
		Content struct {
			Role  string
			Parts []json.RawMessage
		}
		FinishReason string
	}
}

func TestGenerateFunctionCalls(t *testing.T) {
	for _, c := range []struct {
		name, behaviour, model, rest string
		want                         []string // names, with their arguments; none for a text
		signed                       bool
	}{
		{"first", "{}", "m", functions, []string{`weather{"city":"text","days":2}`}, false},
		{"of a model that signs", "{}", "gemini-3-pro", functions, []string{`weather{"city":"text","days":2}`}, true},
		{"of one that thinks", "answer: {reasoning: p}", "m", functions, []string{`weather{"city":"text","days":2}`}, true},
		{"all", "answer: {tool_calls: all}", "gemini-3-pro", functions, []string{`weather{"city":"text","days":2}`, "other{}"}, true},
		{"named", "{}", "m", functions + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["other"]}}`, []string{"other{}"}, false},
		{"none asked", "{}", "m", functions + `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			path := strings.Replace(generatePath, "/m:", "/"+c.model+":", 1)
			body := withMore(c.rest)
			var v generated
			got := r.generate(t, path, body)
			if err := json.Unmarshal(got.body, &v); err != nil || len(v.Candidates) != 1 || v.Candidates[0].FinishReason != "STOP" {
				t.Fatalf("%v in %s", err, got.body)
			}
			calls, responses := readCalls(t, v.Candidates[0].Content.Parts, c.signed)
			if diff := cmp.Diff(c.want, calls); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			streamed := r.generate(t, strings.Replace(path, ":generateContent", ":streamGenerateContent?alt=sse", 1), body)
			if got, _ := readCalls(t, streamedParts(t, streamed.body), c.signed); cmp.Diff(c.want, got) != "" {
				t.Errorf("streamed %q, want %q", got, c.want)
			}
			if len(calls) == 0 {
				return
			}
			said, err := json.Marshal(v.Candidates[0].Content)
			if err != nil {
				t.Fatal(err)
			}
			again := `{"contents":[{"role":"user","parts":[{"text":"x"}]},` + strings.NewReplacer(`"Role"`, `"role"`, `"Parts"`, `"parts"`).Replace(string(said)) +
				`,{"role":"user","parts":[` + strings.Join(responses, ",") + `]}],` + functions + `}`
			after := r.generate(t, path, again)
			if after.status != 200 || !strings.Contains(string(after.body), "Hello from a") {
				t.Errorf("after the results: %d %s", after.status, after.body)
			}
		})
	}
}

func streamedParts(t *testing.T, body []byte) (parts []json.RawMessage) {
	t.Helper()
	for _, e := range namedEvents(t, body) {
		var v generated
		if err := json.Unmarshal([]byte(e.data), &v); err != nil {
			t.Fatalf("%v in %s", err, e.data)
		}
		parts = append(parts, v.Candidates[0].Content.Parts...)
	}
	return parts
}

// readCalls returns the calls among parts, and the responses that a client gives.
// Of the calls the first is signed, when any is, and all have ids then.
func readCalls(t *testing.T, parts []json.RawMessage, signed bool) (calls, responses []string) {
	t.Helper()
	for _, raw := range parts {
		var p struct {
			FunctionCall *struct {
				Name, ID string
				Args     json.RawMessage
			}
			ThoughtSignature string
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if p.FunctionCall == nil {
			continue
		}
		if want := signed && len(calls) == 0; isSignature(makerGoogle, p.ThoughtSignature) != want || (p.FunctionCall.ID != "") != signed {
			t.Errorf("call %s", raw)
		}
		calls = append(calls, p.FunctionCall.Name+string(p.FunctionCall.Args))
		responses = append(responses, `{"functionResponse":{"name":"`+p.FunctionCall.Name+`","response":{"output":"5"}}}`)
	}
	return calls, responses
}

// geminiError wants an error in Google's form; what is "" may be anything.
func geminiError(status int, state, text string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		var v struct {
			Error struct {
				Code            int
				Message, Status string
			}
		}
		if err := json.Unmarshal(r.body, &v); err != nil {
			t.Fatalf("%v in %q", err, r.body)
		}
		if r.status != status || v.Error.Code != status || v.Error.Status != state || v.Error.Message == "" || r.header.Get("Content-Type") != contentGemini {
			t.Errorf("got %d %v %s, want %d %s", r.status, r.header, r.body, status, state)
		}
		if !strings.Contains(v.Error.Message, text) {
			t.Errorf("got %q, want %q", v.Error.Message, text)
		}
	}
}

func TestGenerateCredentials(t *testing.T) {
	r := newRig(t, oneUpstream("api_key: right"), Options{})
	for _, c := range []struct {
		name, path string
		header     []string
		check      func(t *testing.T, r reply)
	}{
		{"header", generatePath, []string{headerGoogleKey, "right"}, nil},
		{"query", generatePath + "?key=right", nil, nil},
		{"token", generatePath, []string{"Authorization", "Bearer right"}, nil},
		{"wrong", generatePath, []string{headerGoogleKey, "wrong"}, geminiError(400, "INVALID_ARGUMENT", "API key not valid")},
		{"none", generatePath, nil, geminiError(403, "PERMISSION_DENIED", "unregistered callers")},
	} {
		got := r.send(t, "POST", c.path, generateBody, c.header...)
		if c.check == nil && got.status != 200 {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
		if c.check != nil {
			c.check(t, got)
		}
	}
	if got := r.send(t, "POST", generatePath, generateBody, headerGoogleKey, "wrong"); !strings.Contains(string(got.body), `"reason":"API_KEY_INVALID"`) {
		t.Errorf("no reason in %s", got.body)
	}
	// People who look in do not see the key.
	seen := r.send(t, "GET", "/_sim/upstreams/a", "")
	if text := string(seen.body); strings.Contains(text, "right") || !strings.Contains(text, "key=%2A%2A%2A") {
		t.Errorf("the key is told: %s", text)
	}
}
