package fake

import (
	"strings"
	"testing"
)

const (
	wonders  = `{"role":"user","parts":[{"text":"x"}]}`
	callsF   = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}`
	answersF = `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"y"}}}]}`
	declares = `"tools":[{"functionDeclarations":[{"name":"f"}]}]`
)

// talk makes a request of contents.
func talk(contents string, more ...string) string {
	return `{` + strings.Join(append(more, ""), ",") + `"contents":[` + contents + `]}`
}

func TestGenerateAccepted(t *testing.T) {
	two := `{"role":"model","parts":[{"text":"so"},{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g"}}]}`
	given := `{"role":"function","parts":[{"functionResponse":{"name":"g","response":{}}},{"functionResponse":{"name":"f","response":{"a":1}}}]}`
	r := newRig(t, oneUpstream("{}"), Options{})
	for name, body := range map[string]string{
		"no role":           talk(`{"parts":[{"text":"x"}]}`),
		"answer last":       talk(wonders + `,{"role":"model","parts":[{"text":"The"}]}`),
		"two of one side":   talk(wonders + "," + wonders),
		"call and response": talk(wonders + "," + callsF + "," + answersF),
		"calls, any order":  talk(wonders + "," + two + "," + given),
		"in snake case":     talk(`{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"aGk="}}]}`, `"system_instruction":{"parts":[{"text":"s"}]}`),
		"instructions":      talk(wonders, `"systemInstruction":{"role":"user","parts":[{"text":"s"}]},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`),
		"files":             talk(`{"role":"user","parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"https://x/y"}}]}`),
		"config":            talk(wonders, `"generationConfig":{"temperature":2,"topP":1,"topK":40,"seed":1,"presencePenalty":-2,"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"string"}}}}`),
		"subset":            talk(wonders, `"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"type":"STRING","enum":["x"]}}},"required":["a"]}}]}]`),
		"mode":              talk(wonders, declares, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}`),
	} {
		if got := r.generate(t, generatePath, body); got.status != 200 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestGenerateRefused(t *testing.T) {
	config := func(members string) string { return talk(wonders, `"generationConfig":{`+members+`}`) }
	declared := func(function string) string {
		return talk(wonders, `"tools":[{"functionDeclarations":[`+function+`]}]`)
	}
	r := newRig(t, oneUpstream("{}"), Options{})
	for _, c := range []struct{ body, want string }{
		{`{"contents":`, "Invalid JSON payload received."},
		{`{}`, "contents is not specified"},
		{talk(""), "contents is not specified"},
		{talk(wonders, `"max_tokens":1`), "Unknown name \"max_tokens\": Cannot find field."},
		{talk(wonders, `"messages":[]`), "Unknown name \"messages\""},
		{talk(`{"role":"assistant","parts":[{"text":"x"}]}`), "Please use a valid role: user, model."},
		{talk(`{"role":"user","parts":[]}`), "contents[0].parts: contents.parts must not be empty."},
		{talk(`{"role":"user","content":"x"}`), "Unknown name \"content\" at 'contents[0]'"},
		{talk(`{"role":"user","parts":[{}]}`), "required oneof field 'data'"},
		{talk(`{"role":"user","parts":[{"text":"x","inlineData":{"mimeType":"a/b","data":""}}]}`), "oneof field 'data' is already set. Cannot set 'inlineData'"},
		{talk(`{"role":"user","parts":[{"type":"text","text":"x"}]}`), "Unknown name \"type\" at 'contents[0].parts[0]'"},
		{talk(`{"role":"user","parts":[{"text":7}]}`), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 7"},
		{talk(`{"role":"user","parts":[{"inlineData":{"mimeType":"a/b","data":"%"}}]}`), "Base64 decoding failed"},
		{talk(wonders + `,{"role":"model","parts":[{"text":"z","thoughtSignature":"AAAA"}]},` + wonders), "Thought signature is not valid."},
		{talk(wonders, `"systemInstruction":{"parts":[]}`), "parts must not be empty"},

		{talk(callsF + "," + answersF), "function call turn comes immediately after a user turn"},
		{talk(wonders + `,{"role":"model","parts":[{"text":"z"}]},` + callsF + "," + answersF), "function call turn comes immediately after a user turn"},
		{talk(wonders + "," + callsF + "," + wonders), "number of function response parts is equal"},
		{talk(wonders + "," + callsF + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}`), "number of function response parts is equal"},
		{talk(wonders + "," + answersF), "function response turn comes immediately after a function call turn"},
		{talk(wonders + "," + callsF + "," + answersF + "," + answersF), "function response turn comes immediately after a function call turn"},
		{talk(wonders + "," + callsF + "," + strings.Replace(answersF, `"f"`, `"g"`, 1)), "name the functions of the function call turn: f"},
		{talk(wonders + "," + callsF + "," + strings.Replace(answersF, `"f"`, `""`, 1)), "Name cannot be empty."},
		{talk(wonders + "," + callsF + "," + strings.Replace(answersF, `{"output":"y"}`, `"y"`, 1)), "Invalid value at 'contents[2].parts[0].functionResponse.response'"},
		{talk(wonders + "," + strings.Replace(callsF, `"model"`, `"user"`, 1) + "," + answersF), "Function call must be in a model turn."},

		{declared(`{"name":"a b"}`), "Invalid function name."},
		{declared(`{"name":"` + strings.Repeat("a", 65) + `"}`), "Invalid function name."},
		{declared(`{"name":"f"},{"name":"f"}`), "Duplicate function declaration found: f"},
		{declared(`{"name":"f","parameters":{"type":"object","additionalProperties":false}}`), "Unknown name \"additionalProperties\" at 'tools[0].functionDeclarations[0].parameters'"},
		{declared(`{"name":"f","parameters":{"type":"object","properties":{"a":{"$ref":"#"}}}}`), "Unknown name \"$ref\""},
		{declared(`{"name":"f","parameters":{"type":"wrong"}}`), "(TYPE_ENUM), \"wrong\""},
		{declared(`{"name":"f","parameters":{"type":"OBJECT"},"parametersJsonSchema":{}}`), "cannot both be set"},
		{declared(`{"name":"f","parametersJsonSchema":{"type":"wrong"}}`), "is no JSON schema"},
		{talk(wonders, `"tools":[{"type":"function"}]`), "Unknown name \"type\" at 'tools[0]'"},
		{talk(wonders, `"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}`), "Function calling config is set without function_declarations."},
		{talk(wonders, declares, `"toolConfig":{"functionCallingConfig":{"mode":"required"}}`), "(TYPE_ENUM), \"required\""},
		{talk(wonders, declares, `"toolConfig":{"functionCallingConfig":{"mode":"AUTO","allowedFunctionNames":["f"]}}`), "only when mode is ANY"},
		{talk(wonders, declares, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`), "g, which is not declared"},

		{config(`"temperature":2.5`), "temperature must be in the range"},
		{config(`"topP":2`), "top_p must be"},
		{config(`"topK":0`), "top_k must be"},
		{config(`"maxOutputTokens":0`), "max_output_tokens must be positive"},
		{config(`"candidateCount":9`), "candidate_count must be"},
		{config(`"frequencyPenalty":2`), "must be in the range [-2.0, 2.0)"},
		{config(`"stopSequences":["a","b","c","d","e","f"]`), "at most 5"},
		{config(`"maxTokens":1`), "Unknown name \"maxTokens\" at 'generationConfig'"},
		{config(`"responseSchema":{"type":"OBJECT"}`), "only allowed mimetypes"},
		{config(`"responseMimeType":"application/json","responseSchema":{},"responseJsonSchema":{}`), "cannot both be set"},
		{config(`"responseMimeType":"text/html"`), "(TYPE_ENUM), \"text/html\""},
		{config(`"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"low"}`), "only one of thinking budget and thinking level"},
		{config(`"thinkingConfig":{"effort":"low"}`), "Unknown name \"effort\""},
		{talk(wonders, `"safetySettings":[{"category":"C","threshold":"NONE"}]`), "(TYPE_ENUM), \"NONE\""},
	} {
		got := r.generate(t, generatePath, c.body)
		geminiError(400, "INVALID_ARGUMENT", c.want)(t, got)
		if t.Failed() {
			t.Fatal(c.body)
		}
	}
}

// Models that sign want the signatures back, since the user last said something.
func TestGenerateSignatures(t *testing.T) {
	r := newRig(t, oneUpstream("{}"), Options{})
	signed := func(signature string) string {
		return strings.Replace(callsF, `}]}`, `,"thoughtSignature":"`+signature+`"}]}`, 1)
	}
	own := signatureOf(makerGoogle, "f")
	for _, c := range []struct {
		name, model, body string
		ok                bool
	}{
		{"signed", "gemini-3-pro", talk(wonders + "," + signed(own) + "," + answersF), true},
		{"unsigned", "gemini-3-pro", talk(wonders + "," + callsF + "," + answersF), false},
		{"unsigned, older model", "gemini-2.5-pro", talk(wonders + "," + callsF + "," + answersF), true},
		{"unsigned, before the last question", "gemini-3-pro", talk(wonders + "," + callsF + "," + answersF + "," + wonders), true},
		{"said to have none", "gemini-3-pro", talk(wonders + "," + signed("skip_thought_signature_validator") + "," + answersF), true},
		{"another maker's", "gemini-3-pro", talk(wonders + "," + signed(signatureOf(makerAnthropic, "f")) + "," + answersF), false},
		{"second unsigned", "gemini-3-pro", talk(wonders + "," + signed(own) + "," + answersF + "," + callsF + "," + answersF), false},
		{"second signed", "gemini-3-pro", talk(wonders + "," + signed(own) + "," + answersF + "," + signed(own) + "," + answersF), true},
	} {
		got := r.generate(t, strings.Replace(generatePath, "/m:", "/"+c.model+":", 1), c.body)
		if (got.status == 200) != c.ok {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
}

func TestGeminiPaths(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]"), Options{})
	geminiError(404, "NOT_FOUND", "models/n is not found")(t, r.generate(t, strings.Replace(generatePath, "/m:", "/n:", 1), generateBody))
	geminiError(404, "NOT_FOUND", "Method not found")(t, r.generate(t, strings.Replace(generatePath, ":generateContent", "", 1), generateBody))
	for path, body := range map[string]string{
		"/a/v1beta/models/m:countTokens":        withMore(`"systemInstruction":{"parts":[{"text":"s"}]}`),
		"/a/v1beta/models/m:embedContent":       `{"content":{"parts":[]}}`,
		"/a/v1beta/models/m:batchEmbedContents": `{"requests":[{"model":"models/n","content":{"parts":[{"text":"x"}]}}]}`,
	} {
		if got := r.generate(t, path, body); got.status != 400 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	// Vertex AI counts more than the contents.
	vertex := "/a/v1/projects/p/locations/l/publishers/google/models/m:countTokens"
	if got := r.generate(t, vertex, withMore(`"systemInstruction":{"parts":[{"text":"s"}]}`)); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	// Google speaks OpenAI's protocol, too.
	if got := r.send(t, "POST", "/a/v1beta/openai/chat/completions", chatBody); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	// An error in the place of an array is the only element of one.
	list := strings.TrimSuffix(ssePath, "?alt=sse")
	if got := r.generate(t, list, `{}`); got.status != 400 || !strings.HasPrefix(string(got.body), `[{"error":{`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}
