package fake

import (
	"strings"
	"testing"
)

// turns makes a request of messages.
func turns(messages string, more ...string) string {
	return `{"model":"m","max_tokens":2048,` + strings.Join(append(more, ""), ",") + `"messages":[` + messages + `]}`
}

const (
	asks   = `{"role":"user","content":"x"}`
	calls  = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	gives  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}`
	thinks = `"thinking":{"type":"enabled","budget_tokens":1024}`
	offers = `"tools":[{"name":"f","input_schema":{"type":"object"}}]`
)

// says makes a message of blocks.
func says(role, blocks string) string {
	return `{"role":"` + role + `","content":[` + blocks + `]}`
}

func TestMessagesAccepted(t *testing.T) {
	signed := `{"type":"thinking","thinking":"p","signature":"` + signatureOf(makerAnthropic, "p") + `"}`
	r := newRig(t, oneUpstream("{}"), Options{})
	for name, body := range map[string]string{
		"two of one side":        turns(asks + "," + asks),
		"begun answer":           turns(asks + `,{"role":"assistant","content":"The"}`),
		"empty begun answer":     turns(asks + `,{"role":"assistant","content":""}`),
		"instructions inside":    turns(asks + `,{"role":"system","content":"be brief"}`),
		"results, then text":     turns(asks + "," + calls + "," + says("user", `{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"so?"}`)),
		"result of blocks":       turns(asks + "," + calls + "," + says("user", `{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"y"},{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]}`)),
		"thought kept":           turns(asks+","+says("assistant", signed+`,{"type":"tool_use","id":"a","name":"f","input":{}}`)+","+gives, thinks, offers),
		"new question":           turns(asks+","+calls+","+gives+`,{"role":"assistant","content":"z"},`+asks, thinks, offers),
		"adaptive without it":    turns(asks+","+calls+","+gives, `"thinking":{"type":"adaptive"}`, offers),
		"marks":                  turns(says("user", `{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`), `"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]`),
		"media":                  turns(says("user", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"d"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}`)),
		"search result":          turns(says("user", `{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}]}`)),
		"tools of the service":   turns(asks+","+says("assistant", `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"so"}`)+","+asks, `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}]`),
		"sampling":               turns(asks, `"temperature":0.5,"top_k":3`),
		"sampling of old models": `{"model":"claude-3-7-sonnet","max_tokens":1,"temperature":1,"top_p":0.5,"messages":[` + asks + `]}`,
		"document, answered":     turns(asks + "," + says("assistant", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}},{"type":"text","text":"z"}`) + "," + asks),
		"who asks":               turns(asks, `"metadata":{"user_id":"u"},"service_tier":"auto","inference_geo":"eu"`),
		"strict tool":            turns(asks, `"tools":[{"name":"f","strict":true,"input_schema":{"type":"object","properties":{},"additionalProperties":false}}],"output_config":{"effort":"low"}`),
		"nulls":                  turns(asks, `"system":null,"tools":null,"cache_control":null`),
	} {
		if got := r.messages(t, messagesPath, body); got.status != 200 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestMessagesRefused(t *testing.T) {
	pair := says("assistant", `{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}`)
	tools := func(tool string) string { return turns(asks, `"tools":[`+tool+`]`) }
	format := func(schema string) string {
		return turns(asks, `"output_config":{"format":{"type":"json_schema","schema":`+schema+`}}`)
	}
	r := newRig(t, oneUpstream("{}"), Options{})
	for _, c := range []struct{ body, want string }{
		{`{"model":`, "The request body is not valid JSON"},
		{`[]`, "no object"},
		{`{} {}`, "behind the end"},
		{`{}`, "model: Field required"},
		{`{"model":"m","messages":[` + asks + `]}`, "max_tokens: Field required"},
		{`{"model":"m","max_tokens":0,"messages":[` + asks + `]}`, "max_tokens: Input should be greater than or equal to 1"},
		{`{"model":"m","max_tokens":1.5,"messages":[` + asks + `]}`, "max_tokens: Input should be a valid integer"},
		{`{"model":7,"max_tokens":1,"messages":[` + asks + `]}`, "model: Input should be a valid string"},
		{`{"model":"m","max_tokens":1}`, "messages: Field required"},
		{turns(""), "messages: at least one message is required"},
		{turns(asks, `"frequency_penalty":1`), "frequency_penalty: Extra inputs are not permitted"},
		{turns(`{"role":"tool","content":"x"}`), "messages.0.role: Input should be 'user', 'assistant' or 'system'"},
		{turns(`{"role":"user","content":"x","name":"n"}`), "messages.0.name: Extra inputs are not permitted"},
		{turns(`{"role":"user","content":""}`), "messages.0: all messages must have non-empty content"},
		{turns(asks + `,{"role":"assistant","content":[]},` + asks), "messages.1: all messages must have non-empty content"},
		{turns(`{"role":"assistant","content":"x"},` + asks), `messages: first message must use the "user" role`},
		{turns(says("user", `{"type":"text","text":""}`)), "messages: text content blocks must be non-empty"},
		{turns(says("user", `{"type":"text","text":" \n"}`)), "messages: text content blocks must contain non-whitespace text"},
		{turns(asks, `"system":[{"type":"text","text":""}]`), "system: text content blocks must be non-empty"},
		{turns(says("user", `{"type":"text","text":"x","index":0}`)), "messages.0.content.0.text.index: Extra inputs are not permitted"},
		{turns(says("user", `{"type":"image_url"}`)), "messages.0.content.0: Input tag 'image_url'"},
		{turns(says("user", `{"type":"tool_use","id":"a","name":"f","input":{}}`)), "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages"},
		{turns(asks + "," + says("assistant", `{"type":"tool_result","tool_use_id":"a"}`)), "messages.1.content.0: `tool_result` blocks can only be in `user` messages"},
		{turns(asks + `,{"role":"assistant","content":"The "}`), "messages: final assistant content cannot end with trailing whitespace"},

		{turns(asks + "," + calls), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a."},
		{turns(asks + "," + calls + "," + asks), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a."},
		{turns(asks + "," + calls + "," + says("user", `{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"a"}`)), "immediately after: a."},
		{turns(asks + "," + pair + "," + gives), "immediately after: b."},
		{turns(asks + "," + pair + "," + gives + "," + strings.Replace(gives, `"a"`, `"b"`, 1)), "immediately after: b."},
		{turns(asks + "," + calls + "," + gives + "," + gives), "messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."},
		{turns(gives), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."},
		{turns(asks + "," + calls + "," + says("user", `{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"a"}`)), "messages.2.content.1: each `tool_use` must have a single result"},
		{turns(asks + "," + calls + "," + gives + "," + calls + "," + gives), "messages.3.content.0: `tool_use` ids must be unique"},
		{turns(asks + "," + strings.Replace(calls, `"a"`, `"call:1"`, 1) + "," + gives), "messages.1.content.0.tool_use.id: String should match pattern"},
		{turns(asks + "," + strings.Replace(calls, `"input":{}`, `"input":"{}"`, 1) + "," + gives), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},

		{turns(says("user", `{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"aGk="}}`)), "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg'"},
		{turns(says("user", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%"}}`)), "Invalid base64 data"},
		{turns(says("user", `{"type":"document","source":{"type":"base64","media_type":"text/csv","data":"aGk="}}`)), "Input should be 'application/pdf'"},

		{tools(`{"name":"a b","input_schema":{"type":"object"}}`), "tools.0.custom.name: String should match pattern"},
		{tools(`{"name":"f"}`), "tools.0.custom.input_schema: Field required"},
		{tools(`{"name":"f","input_schema":{}}`), "tools.0.custom.input_schema.type: Field required"},
		{tools(`{"name":"f","input_schema":{"type":"OBJECT"}}`), "tools.0.custom.input_schema.type: Input should be 'object'"},
		{tools(`{"name":"f","input_schema":{"type":"object","properties":{"x":{"type":"STRING"}}}}`), "JSON schema is invalid"},
		{tools(`{"name":"f","input_schema":{"type":"object","anyOf":[{}]}}`), "does not support oneOf, allOf, or anyOf"},
		{tools(`{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}`), "tools: Tool names must be unique."},
		{tools(`{"type":"function","function":{"name":"f"}}`), "tools.0.name: Field required"},
		{tools(`{"name":"f","strict":true,"input_schema":{"type":"object","properties":{"x":{"type":"object"}},"additionalProperties":false}}`), "'additionalProperties' must be explicitly set to false"},
		{turns(asks, `"tool_choice":{"type":"auto"}`), "tool_choice: may only be specified while providing tools"},
		{turns(asks, offers, `"tool_choice":{"type":"tool","name":"g"}`), "Tool 'g' not found in provided tools"},
		{turns(asks, offers, `"tool_choice":"auto"`), "tool_choice"},
		{turns(asks, offers, `"tool_choice":{"type":"required"}`), "tool_choice.type: Input should be"},

		{turns(asks, `"thinking":{"type":"enabled","budget_tokens":1000}`), "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		{turns(asks, `"thinking":{"type":"enabled","budget_tokens":2048}`), "`max_tokens` must be greater than `thinking.budget_tokens`."},
		{turns(asks, `"thinking":{"type":"adaptive","budget_tokens":2048}`), "thinking.adaptive.budget_tokens: Extra inputs are not permitted"},
		{turns(asks, thinks, `"temperature":0.5`), "`temperature` may only be set to 1 when thinking is enabled."},
		{turns(asks, thinks, `"top_k":5`), "`top_k` must be unset when thinking is enabled."},
		{turns(asks, thinks, `"top_p":0.5`), "`top_p` must be greater than or equal to 0.95"},
		{turns(asks, thinks, offers, `"tool_choice":{"type":"any"}`), "Thinking may not be enabled when tool_choice forces tool use."},
		{turns(asks+","+calls+","+gives, thinks, offers), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."},
		{turns(asks + "," + says("assistant", `{"type":"thinking","thinking":"p","signature":"c2lnbmVk"}`) + "," + asks), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{turns(asks + "," + says("assistant", `{"type":"thinking","thinking":"changed","signature":"`+signatureOf(makerAnthropic, "p")+`"},{"type":"text","text":"z"}`) + "," + asks), "Invalid `signature`"},
		{turns(asks + "," + says("assistant", `{"type":"thinking","thinking":"p","signature":"`+signatureOf(makerGoogle, "p")+`"},{"type":"text","text":"z"}`) + "," + asks), "Invalid `signature`"},
		{turns(asks + "," + says("assistant", `{"type":"redacted_thinking","data":"x"},{"type":"text","text":"z"}`) + "," + asks), "Invalid `data` in `redacted_thinking` block"},
		{turns(asks + "," + says("assistant", `{"type":"thinking","thinking":"p","signature":"`+signatureOf(makerAnthropic, "p")+`"}`)), "The final block in an assistant message cannot be `thinking`."},

		{turns(asks, `"temperature":1.5`), "temperature: Input should be between 0 and 1"},
		{turns(asks, `"temperature":1,"top_p":0.9`), "cannot both be specified"},
		{turns(asks, `"stop_sequences":["  "]`), "stop_sequences: each stop sequence must contain non-whitespace"},
		{turns(asks, `"metadata":{"user":"u"}`), "metadata.user: Extra inputs are not permitted"},
		{turns(asks, `"metadata":{"user_id":"`+strings.Repeat("u", 257)+`"}`), "at most 256"},
		{turns(asks, `"service_tier":"flex"`), "service_tier: Input should be 'auto' or 'standard_only'"},
		{turns(asks, `"output_config":{"effort":"minimal"}`), "output_config.effort: Input should be"},
		{format(`{"type":"object","properties":{}}`), "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"},
		{format(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`), "For 'integer' type, property 'minimum' is not supported"},
		{format(`{"type":"wrong"}`), "JSON schema is invalid"},
		{turns(says("user", strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 5)+`{"type":"text","text":"x"}`)), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{turns(says("user", `{"type":"text","text":"x","cache_control":{"type":"persistent"}}`)), "cache_control.type: Input should be 'ephemeral'"},
	} {
		got := r.messages(t, messagesPath, c.body)
		messagesError(400, "invalid_request_error", "")(t, got)
		if !strings.Contains(string(got.body), strings.ReplaceAll(c.want, `"`, `\"`)) {
			t.Errorf("%s\ngot  %s\nwant %q", c.body, got.body, c.want)
		}
	}
}

func TestMessagesVersions(t *testing.T) {
	heat := turns(asks, `"temperature":1`)
	document := turns(asks + "," + says("assistant", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}},{"type":"text","text":"z"}`) + "," + asks)
	cited := turns(says("user", `{"type":"text","text":"x","citations":[{"type":"char_location"}]}`))
	r := newRig(t, oneUpstream("{}"), Options{})
	for _, c := range []struct{ name, version, path, body, want string }{
		{"none", "", messagesPath, messagesBody, "anthropic-version: header is required"},
		{"unknown", "2024-01-01", messagesPath, messagesBody, "is not a valid version"},
		{"old", versionOld, messagesPath, heat, ""},
		{"new", versionNew, messagesPath, messagesBody, ""},
		{"new, sampling", versionNew, messagesPath, heat, "temperature: Extra inputs are not permitted"},
		{"old, document", versionOld, messagesPath, document, ""},
		{"new, document", versionNew, messagesPath, document, "`document` blocks can only be in `user` messages"},
		{"old, citations", versionOld, messagesPath, cited, ""},
		{"new, citations", versionNew, messagesPath, cited, "citations: Extra inputs are not permitted"},
		{"count with a limit", versionOld, messagesPath + "/count_tokens", messagesBody, "max_tokens: Extra inputs are not permitted"},
	} {
		got := r.send(t, "POST", c.path, c.body, headerVersion, c.version)
		if c.want == "" && got.status != 200 || c.want != "" && (got.status != 400 || !strings.Contains(string(got.body), c.want)) {
			t.Errorf("%s: %d %s, want %q", c.name, got.status, got.body, c.want)
		}
	}
}

func TestMessagesPaths(t *testing.T) {
	r := newRig(t, oneUpstream("models: [m]"), Options{})
	messagesError(404, "not_found_error", "model: n")(t, r.messages(t, messagesPath, strings.Replace(messagesBody, `"m"`, `"n"`, 1)))
	messagesError(404, "not_found_error", "")(t, r.messages(t, "/a/v1/complete", messagesBody))
	got := r.messages(t, messagesPath, "")
	messagesError(405, "invalid_request_error", "")(t, got)
	if got.header.Get("Allow") != "POST" {
		t.Errorf("Allow: %q", got.header.Get("Allow"))
	}
	// Without the header the list of models is OpenAI's.
	if got := r.send(t, "GET", "/a/v1/models", ""); !strings.Contains(string(got.body), `"object":"list"`) {
		t.Errorf("models: %s", got.body)
	}
	short := newRig(t, oneUpstream("{}"), Options{MaxBody: 20})
	messagesError(413, "request_too_large", "")(t, short.messages(t, messagesPath, messagesBody))
}
