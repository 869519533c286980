package translate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/protocols.md")

const protocolsPage = "../../../docs/protocols.md"

// requestField is a field of a request, or a value of one that fares differently,
// with a sample. The samples make the tables of docs/protocols.md.
type requestField struct {
	name   string
	sample string               // members that replace those of the smallest request
	same   bool                 // the sample means nothing, so a request with it is the same
	sameAt []translate.Protocol // it means nothing there, or stands outside of the body
}

// requestFields are the fields by the protocol of the client.
var requestFields = map[translate.Protocol][]requestField{
	translate.Chat:      chatFields,
	translate.Messages:  messagesFields,
	translate.Responses: responsesFields,
}

// smallest is the smallest request of a protocol, to which samples are added.
var smallest = map[translate.Protocol]string{
	translate.Chat:      `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	translate.Messages:  `{"model":"m","max_tokens":1000,"messages":[{"role":"user","content":"hi"}]}`,
	translate.Responses: `{"model":"m","input":"hi"}`,
}

const (
	oneTool  = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`
	oneTool2 = `"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]`
	userSays = `"messages":[{"role":"user","content":[{"type":"text","text":"hi"},`
	pixel    = `iVBORw0KGgo=`
)

// inPath is where a stream is asked for by the path, and where there is one tier.
var inPath = []translate.Protocol{translate.Gemini}

// chatFields are the fields of chat completions.
var chatFields = []requestField{
	{name: "model", sample: `"model":"other"`, same: true},
	{name: "messages[]: system, developer", sample: `"messages":[{"role":"system","content":"s"},{"role":"developer","content":"d"},{"role":"user","content":"hi"}]`},
	{name: "messages[]: system, later", sample: `"messages":[{"role":"user","content":"hi"},{"role":"system","content":"s"},{"role":"user","content":"ho"}]`},
	{name: "messages[]: assistant", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"},{"role":"user","content":"ho"}]`},
	{name: "messages[]: assistant, first", sample: `"messages":[{"role":"assistant","content":"yo"},{"role":"user","content":"ho"}]`},
	{name: "messages[]: assistant, last", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]`},
	{name: "messages[].name", sample: `"messages":[{"role":"user","name":"bob","content":"hi"}]`},
	{name: "messages[].refusal", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"refusal":"no"},{"role":"user","content":"ho"}]`},
	{name: "messages[].tool_calls, tool results", sample: oneTool + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]`},
	{name: "messages[].tool_calls[].function.arguments, no JSON", sample: oneTool + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]`},
	{name: "messages[].reasoning_content", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo","reasoning_content":"hm"},{"role":"user","content":"ho"}]`},
	{name: "messages[].reasoning_details, of Anthropic's", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s","format":"anthropic-claude-v1"}]},{"role":"user","content":"ho"}]`},
	{name: "messages[].reasoning_details, of Google's", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s","format":"google-gemini-v1"}]},{"role":"user","content":"ho"}]`},
	{name: "messages[].reasoning_details, of OpenAI's", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo","reasoning_details":[{"type":"reasoning.encrypted","data":"d","id":"rs_1","format":"openai-responses-v1"}]},{"role":"user","content":"ho"}]`},
	{name: "messages[].function_call", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}]`},
	{name: "messages[].audio", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo","audio":{"id":"a"}},{"role":"user","content":"ho"}]`},
	{name: "content: image_url, data", sample: userSays + `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `"}}]}]`},
	{name: "content: image_url, address", sample: userSays + `{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]`},
	{name: "content: image_url.detail", sample: userSays + `{"type":"image_url","image_url":{"detail":"low","url":"data:image/png;base64,` + pixel + `"}}]}]`},
	{name: "content: input_audio", sample: userSays + `{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]`},
	{name: "content: video_url", sample: userSays + `{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}]}]`},
	{name: "content: file, PDF", sample: userSays + `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}]}]`},
	{name: "content: file, text", sample: userSays + `{"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,YWJj"}}]}]`},
	{name: "content: file_id", sample: userSays + `{"type":"file","file":{"file_id":"file-1"}}]}]`},
	{name: "content: cache_control", sample: `"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]`},
	{name: "max_tokens, max_completion_tokens", sample: `"max_completion_tokens":100,"max_tokens":99`},
	{name: "temperature", sample: `"temperature":0.5`},
	{name: "temperature above 1", sample: `"temperature":1.5`},
	{name: "top_p", sample: `"top_p":0.5`},
	{name: "temperature with top_p", sample: `"temperature":0.5,"top_p":0.5`},
	{name: "top_k", sample: `"top_k":5`},
	{name: "top_k with a fraction", sample: `"top_k":5.5`},
	{name: "presence_penalty", sample: `"presence_penalty":0.5`},
	{name: "frequency_penalty", sample: `"frequency_penalty":0.5`},
	{name: "seed", sample: `"seed":7`},
	{name: "logit_bias", sample: `"logit_bias":{"5":1}`},
	{name: "logprobs", sample: `"logprobs":true,"top_logprobs":2`},
	{name: "n", sample: `"n":2`},
	{name: "stop", sample: `"stop":["a","b"]`},
	{name: "stream, stream_options", sample: `"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}`, sameAt: inPath},
	{name: "tools: function", sample: oneTool},
	{name: "tools: function.strict", sample: `"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","properties":{},"additionalProperties":false}}}]`},
	{name: "tools: function.parameters, anyOf at the head", sample: `"tools":[{"type":"function","function":{"name":"f","parameters":{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}}]}}}]`},
	{name: "tools: custom", sample: `"tools":[{"type":"custom","custom":{"name":"f","description":"d"}}]`},
	{name: "tools: custom.format", sample: `"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"x"}}}}]`},
	{name: "tools: other types", sample: `"tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search"}]`},
	{name: "tools: other types alone", sample: `"tools":[{"type":"web_search"}]`},
	{name: "tool_choice", sample: oneTool + `,"tool_choice":"required"`},
	{name: "tool_choice: a tool", sample: oneTool + `,"tool_choice":{"type":"function","function":{"name":"f"}}`},
	{name: "tool_choice: allowed_tools", sample: `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`},
	{name: "parallel_tool_calls", sample: oneTool + `,"parallel_tool_calls":false`},
	{name: "functions, function_call", sample: `"functions":[{"name":"f"}]`},
	{name: "response_format: json_object", sample: `"response_format":{"type":"json_object"}`},
	{name: "response_format: json_schema", sample: `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","properties":{"a":{"type":"string"}}}}}`},
	{name: "response_format: json_schema, strict", sample: `"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}`},
	{name: "response_format: json_schema, strict, with bounds", sample: `"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer","minimum":0}},"required":["a"],"additionalProperties":false}}}`},
	{name: "reasoning_effort", sample: `"max_tokens":10000,"reasoning_effort":"high"`},
	{name: "reasoning (OpenRouter's)", sample: `"max_tokens":10000,"reasoning":{"max_tokens":2000}`},
	{name: "thinking (Anthropic's)", sample: `"max_tokens":10000,"thinking":{"type":"enabled","budget_tokens":2000}`},
	{name: "verbosity", sample: `"verbosity":"low"`},
	{name: "modalities, audio", sample: `"modalities":["text","audio"],"audio":{"voice":"x","format":"wav"}`},
	{name: "user, safety_identifier", sample: `"safety_identifier":"u"`},
	{name: "prompt_cache_key", sample: `"prompt_cache_key":"k"`},
	{name: "prompt_cache_retention, prompt_cache_options", sample: `"prompt_cache_retention":"24h"`},
	{name: "metadata", sample: `"metadata":{"a":"b"}`},
	{name: "service_tier: auto, default", sample: `"service_tier":"default"`, sameAt: inPath},
	{name: "service_tier: flex, priority", sample: `"service_tier":"flex"`},
	{name: "store", sample: `"store":true`},
	{name: "prediction", sample: `"prediction":{"type":"content","content":"x"}`},
	{name: "web_search_options", sample: `"web_search_options":{}`},
	{name: "fields that nobody knows", sample: `"something_new":1`},
	{name: "disable_fallbacks, session_id, litellm_session_id", sample: `"disable_fallbacks":true,"session_id":"x","litellm_session_id":"y"`, same: true},
}

// messagesFields are the fields of Messages.
var messagesFields = []requestField{
	{name: "model", sample: `"model":"other"`, same: true},
	{name: "system", sample: `"system":"s"`},
	{name: "system: blocks", sample: `"system":[{"type":"text","text":"s"},{"type":"text","text":"t"}]`},
	{name: "messages[]: system", sample: `"messages":[{"role":"user","content":"hi"},{"role":"system","content":"s"},{"role":"user","content":"ho"}]`},
	{name: "messages[]: assistant", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"},{"role":"user","content":"ho"}]`},
	{name: "messages[]: assistant, last", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]`},
	{name: "content: image, base64", sample: userSays + `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]}]`},
	{name: "content: image, url", sample: userSays + `{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]`},
	{name: "content: image, file", sample: userSays + `{"type":"image","source":{"type":"file","file_id":"file_1"}}]}]`},
	{name: "content: document, PDF", sample: userSays + `{"type":"document","title":"t","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}]`},
	{name: "content: document, text", sample: userSays + `{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"abc"}}]}]`},
	{name: "content: document, content", sample: userSays + `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"abc"}]}}]}]`},
	{name: "content: document, url", sample: userSays + `{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}]}]`},
	{name: "content: document.context, citations", sample: userSays + `{"type":"document","context":"c","citations":{"enabled":true},"source":{"type":"text","media_type":"text/plain","data":"abc"}}]}]`},
	{name: "content: search_result", sample: userSays + `{"type":"search_result","title":"t","source":"https://example.com","content":[{"type":"text","text":"abc"}]}]}]`},
	{name: "content: tool_use, tool_result", sample: oneTool2 + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]`},
	{name: "content: tool_result.is_error", sample: oneTool2 + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r","is_error":true}]}]`},
	{name: "content: tool_result with images", sample: oneTool2 + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]}]}]`},
	{name: "content: thinking, redacted_thinking", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"yo"}]},{"role":"user","content":"ho"}]`},
	{name: "content: blocks of server tools and others", sample: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"u"}]},{"type":"text","text":"yo"}]},{"role":"user","content":"ho"}]`},
	{name: "cache_control, on a block", sample: `"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]`},
	{name: "cache_control", sample: `"cache_control":{"type":"ephemeral"}`},
	{name: "max_tokens", sample: `"max_tokens":100`},
	{name: "temperature", sample: `"temperature":0.5`},
	{name: "top_p", sample: `"top_p":0.5`},
	{name: "top_k", sample: `"top_k":5`},
	{name: "stop_sequences", sample: `"stop_sequences":["a","b"]`},
	{name: "stream", sample: `"stream":true`, sameAt: inPath},
	{name: "tools", sample: oneTool2},
	{name: "tools[].strict", sample: `"tools":[{"name":"f","strict":true,"input_schema":{"type":"object","properties":{},"additionalProperties":false}}]`},
	{name: "tools[]: of the service", sample: `"tools":[{"name":"f","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}]`},
	{name: "tools[]: of the service alone", sample: `"tools":[{"type":"web_search_20250305","name":"web_search"}]`},
	{name: "tools[].allowed_callers and the like", sample: `"tools":[{"name":"f","input_schema":{"type":"object"},"defer_loading":true}]`},
	{name: "tool_choice: auto, any, none", sample: oneTool2 + `,"tool_choice":{"type":"any"}`},
	{name: "tool_choice: tool", sample: oneTool2 + `,"tool_choice":{"type":"tool","name":"f"}`},
	{name: "tool_choice.disable_parallel_tool_use", sample: oneTool2 + `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`},
	{name: "thinking: enabled", sample: `"max_tokens":10000,"thinking":{"type":"enabled","budget_tokens":2000}`},
	{name: "thinking: adaptive, with effort", sample: `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}`},
	{name: "output_config.effort", sample: `"output_config":{"effort":"low"}`},
	{name: "output_config.format", sample: `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}`},
	{name: "metadata.user_id", sample: `"metadata":{"user_id":"u"}`},
	{name: "service_tier", sample: `"service_tier":"standard_only"`, sameAt: inPath},
	{name: "context_management", sample: `"context_management":{"edits":[]}`},
	{name: "mcp_servers, container", sample: `"mcp_servers":[{"type":"url","url":"https://example.com","name":"x"}]`},
	{name: "inference_geo, speed", sample: `"inference_geo":"us"`},
	{name: "fields that nobody knows", sample: `"something_new":1`},
	{name: "disable_fallbacks, session_id, litellm_session_id", sample: `"disable_fallbacks":true,"session_id":"x","litellm_session_id":"y"`, same: true},
}

// with returns the smallest request with the members of a sample.
func (f *requestField) with(t *testing.T, p translate.Protocol) []byte {
	t.Helper()
	var request, sample map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(smallest[p]), &request), json.Unmarshal([]byte("{"+f.sample+"}"), &sample)); err != nil {
		t.Fatalf("%v: %s: %v", p, f.name, err)
	}
	maps.Copy(request, sample)
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// upstreams are the two kinds of upstreams that the tables tell apart: one of
// which nothing is known, and one that can do everything.
var upstreams = [...]*translate.Upstream{
	{Model: "up"},
	{Model: "up", MaxOutput: 32_000, Full: true, Reasons: true, KeepsReasoning: true, SchemaOutput: true},
}

// fate says what becomes of a request at an upstream: its body, or why there is
// none, and what is lost.
type fate struct {
	body    string
	refused string
	lost    []string
}

func fateOf(t *testing.T, in, up *translate.Codec, u *translate.Upstream, body []byte) fate {
	t.Helper()
	refused := func(err error) fate {
		e, ok := errors.AsType[*translate.UnsupportedError](err)
		if !ok {
			t.Fatalf("%s: %v", body, err)
		}
		return fate{refused: strings.TrimPrefix(e.Message, fmt.Sprintf("%q: ", e.Path))}
	}
	r, lost, err := in.DecodeRequest(body)
	if err != nil {
		return refused(err)
	}
	out, more, err := up.EncodeRequest(r, u)
	if err != nil {
		return refused(err)
	}
	if !json.Valid(out) {
		t.Fatalf("%s became %s, which is not valid", body, out)
	}
	f := fate{body: string(out)}
	for _, l := range append(lost, more...) {
		f.lost = append(f.lost, l.Why)
	}
	return f
}

// words says in a few words what becomes of a field.
func (f *fate) words() string {
	switch {
	case f.refused != "":
		return "refused: " + f.refused
	case len(f.lost) > 0:
		return "dropped: " + strings.Join(f.lost, "; ")
	}
	return "carried"
}

// cell is what a table says of a field at an upstream's protocol.
func (f *requestField) cell(t *testing.T, in, up *translate.Codec) string {
	t.Helper()
	var words [len(upstreams)]string
	for i, u := range upstreams {
		base := fateOf(t, in, up, u, []byte(smallest[in.Protocol]))
		got := fateOf(t, in, up, u, f.with(t, in.Protocol))
		if len(base.lost) > 0 || base.refused != "" {
			t.Fatalf("%v to %v: the smallest request fares badly: %+v", in.Protocol, up.Protocol, base)
		}
		words[i] = got.words()
		if same := got.body == base.body; same != (f.same || slices.Contains(f.sameAt, up.Protocol)) && words[i] == "carried" {
			t.Errorf("%v to %v, %s: it is lost without a word (or means something after all): %s", in.Protocol, up.Protocol, f.name, got.body)
		}
	}
	if words[0] == words[1] {
		return words[0]
	}
	if words[1] == "carried" {
		return words[1] + "; " + strings.Replace(words[0], ": ", " by default: ", 1)
	}
	return words[1] + "; by default " + words[0]
}

// TestRequestFields checks that every field of a request is carried, dropped or
// refused, as the tables of docs/protocols.md say. With -update it writes them.
func TestRequestFields(t *testing.T) {
	page, err := os.ReadFile(protocolsPage)
	if err != nil {
		t.Fatal(err)
	}
	for p := translate.Chat; p <= translate.Responses; p++ {
		fields := requestFields[p]
		if len(fields) == 0 {
			continue
		}
		in := codecOf(t, p)
		var table bytes.Buffer
		table.WriteString("| field |")
		var ups []*translate.Codec
		for q := translate.Chat; q <= translate.Responses; q++ {
			if c, ok := translate.For(q); ok && q != p {
				ups = append(ups, &c)
				fmt.Fprintf(&table, " to %s |", q)
			}
		}
		table.WriteString("\n|---|" + strings.Repeat("---|", len(ups)) + "\n")
		for i := range fields {
			fmt.Fprintf(&table, "| %s |", fields[i].name)
			for _, up := range ups {
				fmt.Fprintf(&table, " %s |", fields[i].cell(t, in, up))
			}
			table.WriteString("\n")
		}
		page = replaceTable(t, page, "request-"+p.String(), table.Bytes())
	}
	if *update {
		if err := os.WriteFile(protocolsPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// replaceTable returns a page with the table between the marks of a name, which
// must be the right one unless it is to be rewritten.
func replaceTable(t *testing.T, page []byte, name string, table []byte) []byte {
	t.Helper()
	begin, end := []byte("<!-- begin "+name+" -->\n"), []byte("<!-- end "+name+" -->")
	before, rest, ok := bytes.Cut(page, begin)
	was, after, ok2 := bytes.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table %s", protocolsPage, name)
	}
	if !bytes.Equal(was, table) && !*update {
		t.Errorf("the table %s of %s is not right; run the test with -update and look at the difference", name, protocolsPage)
	}
	return bytes.Join([][]byte{before, begin, table, end, after}, nil)
}
