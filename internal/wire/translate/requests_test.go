package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/translate"
)

// translated translates a request and returns it with the paths of what was
// lost.
func translated(t *testing.T, from, to translate.Protocol, u *translate.Upstream, body string) (out string, lost []string, err error) {
	t.Helper()
	r, losses, err := codecOf(t, from).DecodeRequest([]byte(body))
	if err != nil {
		return "", nil, err
	}
	text, more, err := codecOf(t, to).EncodeRequest(r, u)
	for _, l := range append(losses, more...) {
		lost = append(lost, l.Path)
	}
	return string(text), lost, err
}

// compareJSON compares two texts of JSON.
func compareJSON(t *testing.T, want, got string) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("got %s\n(-want +got):\n%s", got, diff)
	}
}

func TestChatToMessages(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]`
	plain := &translate.Upstream{Model: "up"}
	limited := &translate.Upstream{Model: "up", MaxOutput: 8000}
	thinks := &translate.Upstream{Model: "up", MaxOutput: 20_000, Reasons: true}
	adapts := &translate.Upstream{Model: "up", MaxOutput: 20_000, Reasons: true, Adaptive: true}
	newer := &translate.Upstream{Model: "up", MaxOutput: 8000, Version: "2026-10-21"}
	schema := &translate.Upstream{Model: "up", SchemaOutput: true}
	tests := []struct {
		name string
		up   *translate.Upstream
		in   string
		want string
		lost []string
	}{
		{"least", plain, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `{"model":"up","max_tokens":4096,` + hi + `}`, nil},
		{"the model's own limit", limited, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `{"model":"up","max_tokens":8000,` + hi + `}`, nil},
		{"the client's limit", limited, `{"model":"m","max_tokens":7,"max_completion_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, `{"model":"up","max_tokens":9,` + hi + `}`, nil},
		{"above the limit", limited, `{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"hi"}]}`, `{"model":"up","max_tokens":8000,` + hi + `}`, []string{"max_tokens"}},
		{
			"system texts", plain,
			`{"model":"m","messages":[{"role":"system","content":"a"},{"role":"developer","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"hi"}]}`,
			`{"model":"up","max_tokens":4096,"system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}],` + hi + `}`, nil,
		},
		{
			"nobody but the system", plain,
			`{"model":"m","messages":[{"role":"system","content":"hi"}]}`,
			`{"model":"up","max_tokens":4096,` + hi + `}`,
			[]string{"system"},
		},
		{
			"parallel calls: their results in one message, before what else the user says", plain,
			`{"model":"m","messages":[{"role":"user","content":"q"},
			 {"role":"assistant","content":"let me see","tool_calls":[{"id":"a.1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":""}}]},
			 {"role":"tool","tool_call_id":"a.1","content":"one"},{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"two"}]},{"role":"user","content":"go on"}],
			 "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"properties":{"x":{"type":"number"}}}}},{"type":"function","function":{"name":"g"}}]}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},
			 {"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"a_1_1r4w185","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"g","input":{}}]},
			 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a_1_1r4w185","content":[{"type":"text","text":"one"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"two"}]},{"type":"text","text":"go on"}]}],
			 "tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"x":{"type":"number"}}}},{"name":"g","input_schema":{"type":"object","properties":{}}}]}`, nil,
		},
		{
			"ids that come again", plain,
			`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"0","content":"r"},{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"0","content":"s"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"tool_use","id":"0","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"0","content":[{"type":"text","text":"r"}]}]},{"role":"assistant","content":[{"type":"tool_use","id":"0_2","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"0_2","content":[{"type":"text","text":"s"}]}]}],
			 "tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]}`, nil,
		},
		{
			"a history of calls, and no tools", plain,
			`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":""}]}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"invalid_json":"{"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}],
			 "tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}}`,
			[]string{"messages[].tool_calls[].function.arguments"},
		},
		{
			"turns of one side become one message", plain,
			`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},{"role":"assistant","content":"d \n"}]}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}]}`, nil,
		},
		{
			"tool choices", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required","parallel_tool_calls":false}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`, nil,
		},
		{
			"one call at most", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}],"parallel_tool_calls":false}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, nil,
		},
		{
			"some of the tools", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"g","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"auto"}}`, nil,
		},
		{
			"a custom tool is one with a text", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x\ny"}}]},{"role":"tool","tool_call_id":"a","content":"r"}],"tools":[{"type":"custom","custom":{"name":"f"}}],"tool_choice":{"type":"custom","custom":{"name":"f"}}}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"input":"x\ny"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}]}],
			 "tools":[{"name":"f","input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}}],"tool_choice":{"type":"tool","name":"f"}}`, nil,
		},
		{
			"images and documents", plain,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9j/"}},{"type":"image_url","image_url":{"url":"https://e.com/a"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}},{"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,YWJj"}}]}]}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j/"}},{"type":"image","source":{"type":"url","url":"https://e.com/a"}},{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}},{"type":"document","title":"a.txt","source":{"type":"text","media_type":"text/plain","data":"abc"}}]}]}`, nil,
		},
		{
			"a schema by the protocol's own means", schema,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}}}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}}}`, nil,
		},
		{
			"bounds go into the description", schema,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer","description":"An age.","minimum":0,"maximum":150}},"required":["a"],"additionalProperties":false}}}}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer","description":"An age. (minimum 0, maximum 150)"}},"required":["a"],"additionalProperties":false}}}}`,
			[]string{"response_format"},
		},
		{
			"a schema to which the service cannot hold a model", schema,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"next":{"$ref":"#"}}}}}}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"json_answer","description":"Give the answer to the user. The arguments of this tool are the whole answer; call it once, at the end.","input_schema":{"type":"object","properties":{"next":{"$ref":"#"}}}}],"tool_choice":{"type":"tool","name":"json_answer"}}`, nil,
		},
		{
			"a schema for an answer that is begun", schema,
			`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"{"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}}}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"{"}]}],"tools":[{"name":"json_answer","description":"Give the answer to the user. The arguments of this tool are the whole answer; call it once, at the end.","input_schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}],"tool_choice":{"type":"tool","name":"json_answer"}}`, nil,
		},
		{
			"alternatives at the head of a tool's schema", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"description":"d","oneOf":[{"type":"object","properties":{"by":{"const":"id"},"id":{"type":"string"}},"required":["by","id"]},{"$ref":"#/$defs/N"}],"$defs":{"N":{"properties":{"by":{"const":"name"},"name":{"type":"string"}},"required":["name","by"]}},"required":["x"],"properties":{"x":{}}}}}]}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object","description":"d","$defs":{"N":{"properties":{"by":{"const":"name"},"name":{"type":"string"}},"required":["name","by"]}},"properties":{"by":{"anyOf":[{"const":"id"},{"const":"name"}]},"id":{"type":"string"},"name":{"type":"string"},"x":{}},"required":["by","x"]}}]}`,
			[]string{"tools[].parameters"},
		},
		{
			"a tool's schema in parts", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}}}]}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{},"b":{}},"required":["a"]}}]}`,
			[]string{"tools[].parameters"},
		},
		{
			"tools to whose schemas the model is held, and one to which it cannot be", schema,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"properties":{"q":{"type":"string","minLength":1}}}}},{"type":"function","function":{"name":"g","strict":true,"parameters":{"type":"object","additionalProperties":{"type":"string"}}}}]}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{"q":{"type":"string","description":"(minLength 1)"}},"additionalProperties":false},"strict":true},{"name":"g","input_schema":{"type":"object","additionalProperties":{"type":"string"}}}]}`,
			[]string{"tools[].strict"},
		},
		{
			"a schema by a tool", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"An answer.","schema":{"type":"object"}}}}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"json_answer","description":"Give the answer to the user. The arguments of this tool are the whole answer; call it once, at the end. An answer.","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"json_answer"}}`, nil,
		},
		{
			"a schema by a tool among others", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"json_answer"}}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"tools":[{"name":"json_answer","input_schema":{"type":"object","properties":{}}},{"name":"json_answer_","description":"Give the answer to the user. The arguments of this tool are the whole answer; call it once, at the end.","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}}`, nil,
		},
		{
			"any JSON", plain,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"response_format":{"type":"json_object"}}`,
			`{"model":"up","max_tokens":4096,"system":[{"type":"text","text":"s"},{"type":"text","text":"Answer with one JSON object and nothing else: no text before or after it and no code fence around it."}],` + hi + `}`,
			[]string{"response_format"},
		},
		{
			"sampling", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":1.5,"top_p":1,"top_k":5,"seed":1,"presence_penalty":0}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"temperature":1,"top_k":5}`,
			[]string{"seed", "temperature"},
		},
		{
			"top_k with a fraction", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"top_k":39.6}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"top_k":40}`,
			[]string{"top_k"},
		},
		{
			"top_k that means all tokens", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"top_k":-1}`,
			`{"model":"up","max_tokens":4096,` + hi + `}`, nil,
		},
		{
			"sampling that the interface version refuses", newer,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5,"top_p":0.5,"top_k":5}`,
			`{"model":"up","max_tokens":8000,` + hi + `}`,
			[]string{"temperature", "top_p", "top_k"},
		},
		{
			"stop, user, tier, stream", plain,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"stop":["a"," "],"user":"u","service_tier":"default","stream":true}`,
			`{"model":"up","max_tokens":4096,` + hi + `,"stream":true,"stop_sequences":["a"],"metadata":{"user_id":"u"},"service_tier":"standard_only"}`,
			[]string{"stop"},
		},
		{
			"an effort is a budget", thinks,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"medium","max_tokens":5000,"temperature":0.5}`,
			`{"model":"up","max_tokens":5000,` + hi + `,"thinking":{"type":"enabled","budget_tokens":2500}}`,
			[]string{"temperature"},
		},
		{
			"a budget", thinks,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"reasoning":{"max_tokens":9000},"max_tokens":5000}`,
			`{"model":"up","max_tokens":5000,` + hi + `,"thinking":{"type":"enabled","budget_tokens":4999}}`, nil,
		},
		{
			"no room to think", thinks,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"high","max_tokens":1024}`,
			`{"model":"up","max_tokens":1024,` + hi + `}`,
			[]string{"thinking"},
		},
		{
			"an effort", adapts,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"minimal"}`,
			`{"model":"up","max_tokens":20000,` + hi + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`, nil,
		},
		{
			"no effort", adapts,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"none"}`,
			`{"model":"up","max_tokens":20000,` + hi + `,"thinking":{"type":"disabled"}}`, nil,
		},
		{
			"a forced call leaves no room to think", thinks,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required","reasoning_effort":"high"}`,
			`{"model":"up","max_tokens":20000,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}}`,
			[]string{"thinking"},
		},
		{
			"a thought goes back with its signature", thinks,
			`{"model":"m","reasoning_effort":"low","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s==","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"d==","format":"anthropic-claude-v1","index":1}],"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`,
			`{"model":"up","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s=="},{"type":"redacted_thinking","data":"d=="},{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}]}],
			 "tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"},"thinking":{"type":"enabled","budget_tokens":4000}}`, nil,
		},
		{
			"a thought that was not kept ends the thinking", thinks,
			`{"model":"m","reasoning_effort":"low","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`,
			`{"model":"up","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}]}],
			 "tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}}`,
			[]string{"thinking"},
		},
		{
			"an answer that is begun without a thought ends the thinking", thinks,
			`{"model":"m","reasoning_effort":"low","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"It is"}]}`,
			`{"model":"up","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"It is"}]}]}`,
			[]string{"thinking"},
		},
		{
			"an answer that is begun with a thought", thinks,
			`{"model":"m","reasoning_effort":"low","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"It is","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}]}]}`,
			`{"model":"up","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"It is"}]}],"thinking":{"type":"enabled","budget_tokens":4000}}`, nil,
		},
		{
			"a model that does not go on from an answer", adapts,
			`{"model":"m","reasoning_effort":"low","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"It is"}]}`,
			`{"model":"up","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"It is"}]},{"role":"user","content":[{"type":"text","text":"Go on."}]}],"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`,
			[]string{"messages"},
		},
		{
			"blocks of LiteLLM", thinks,
			`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}]},{"role":"user","content":"r"}]}`,
			`{"model":"up","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"r"}]}]}`, nil,
		},
		{
			"five marks", plain,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"2","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"3","cache_control":{"type":"ephemeral"}},{"type":"text","text":"4","cache_control":{"type":"ephemeral"}},{"type":"text","text":"5","cache_control":{"type":"ephemeral"}}]}]}`,
			`{"model":"up","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"2","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"3","cache_control":{"type":"ephemeral"}},{"type":"text","text":"4","cache_control":{"type":"ephemeral"}},{"type":"text","text":"5"}]}]}`,
			[]string{"cache_control"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, lost, err := translated(t, translate.Chat, translate.Messages, tt.up, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			compareJSON(t, tt.want, got)
			if diff := cmp.Diff(tt.lost, lost, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessagesToChat(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	plain := &translate.Upstream{Model: "up"}
	full := &translate.Upstream{Model: "up", Full: true, Reasons: true}
	keeps := &translate.Upstream{Model: "up", KeepsReasoning: true}
	tests := []struct {
		name string
		up   *translate.Upstream
		in   string
		want string
		lost []string
	}{
		{"least", plain, `{"model":"m","max_tokens":5,` + hi + `}`, `{"model":"up","max_tokens":5,` + hi + `}`, nil},
		{"a service that takes the newer field", full, `{"model":"m","max_tokens":5,` + hi + `}`, `{"model":"up","max_completion_tokens":5,` + hi + `}`, nil},
		{"stream", plain, `{"model":"m","max_tokens":5,"stream":true,` + hi + `}`, `{"model":"up","max_tokens":5,"stream":true,"stream_options":{"include_usage":true},` + hi + `}`, nil},
		{
			"a stream of a service that refuses stream_options", &translate.Upstream{Model: "up", NoStreamOptions: true},
			`{"model":"m","max_tokens":5,"stream":true,` + hi + `}`, `{"model":"up","max_tokens":5,"stream":true,` + hi + `}`, nil,
		},
		{
			"system", plain,
			`{"model":"m","max_tokens":5,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=1"},{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}],` + hi + `}`,
			`{"model":"up","max_tokens":5,"messages":[{"role":"system","content":"a\n\nb"},{"role":"user","content":"hi"}]}`,
			[]string{"system", "cache_control"},
		},
		{
			"calls and results", plain,
			`{"model":"m","max_tokens":5,"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"q"},
			 {"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
			 {"role":"user","content":[{"type":"text","text":"go on"},{"type":"tool_result","tool_use_id":"a","content":"one"},{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"two"}]}]}]}`,
			`{"model":"up","max_tokens":5,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"q"},
			 {"role":"assistant","content":"let me see","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
			 {"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"},{"role":"user","content":"go on"}]}`,
			[]string{"messages[].content[].is_error"},
		},
		{
			"an image in a result", plain,
			`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]}]}]}`,
			`{"model":"up","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":""},
			 {"role":"user","content":[{"type":"text","text":"From the result of tool call a:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]}]}`,
			[]string{"messages[].content[].content"},
		},
		{
			"documents", plain,
			`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"document","title":"t","source":{"type":"text","data":"abc","media_type":"text/plain"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}]}`,
			`{"model":"up","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"t\n\nabc"},{"type":"file","file":{"filename":"document","file_data":"data:application/pdf;base64,AAAA"}}]}]}`, nil,
		},
		{
			"tool choices", plain,
			`{"model":"m","max_tokens":5,` + hi + `,"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true}}`,
			`{"model":"up","max_tokens":5,` + hi + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false}`, nil,
		},
		{
			"long names of tools", plain,
			`{"model":"m","max_tokens":5,` + hi + `,"tools":[{"name":"mcp__` + strings.Repeat("x", 70) + `","input_schema":{"type":"object"}}]}`,
			`{"model":"up","max_tokens":5,` + hi + `,"tools":[{"type":"function","function":{"name":"mcp__` + strings.Repeat("x", 51) + `_1y1k3h5","parameters":{"type":"object"}}}]}`, nil,
		},
		{
			"a schema", plain,
			`{"model":"m","max_tokens":5,` + hi + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`,
			`{"model":"up","max_tokens":5,` + hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},"strict":true}}}`, nil,
		},
		{
			"thinking at a model that does not", plain,
			`{"model":"m","max_tokens":5,` + hi + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"temperature":1,"top_k":4}`,
			`{"model":"up","max_tokens":5,` + hi + `,"temperature":1}`,
			[]string{"top_k", "thinking"},
		},
		{
			"thinking", full,
			`{"model":"m","max_tokens":5,` + hi + `,"thinking":{"type":"enabled","budget_tokens":9000},"temperature":1,"top_p":0.99}`,
			`{"model":"up","max_completion_tokens":5,` + hi + `,"reasoning_effort":"medium"}`,
			[]string{"temperature"},
		},
		{
			"thoughts at a service that wants them", keeps,
			`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"}]},{"role":"user","content":"r"}]}`,
			`{"model":"up","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","reasoning_content":"hm"},{"role":"user","content":"r"}]}`, nil,
		},
		{
			"what another maker wants back with a call", keeps,
			`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"thinking","thinking":"","signature":"gatewright:google:before::sig=="}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]}`,
			`{"model":"up","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig=="}}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`, nil,
		},
		{
			"ids of nine letters", &translate.Upstream{Model: "up", ShortCallIDs: true},
			`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}},{"type":"tool_use","id":"abcdef123","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"r"},{"type":"tool_result","tool_use_id":"abcdef123","content":"s"}]}]}`,
			`{"model":"up","max_tokens":5,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"4838a0c25","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"abcdef123","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"4838a0c25","content":"r"},{"role":"tool","tool_call_id":"abcdef123","content":"s"}]}`, nil,
		},
		{
			"a long user", plain,
			`{"model":"m","max_tokens":5,` + hi + `,"metadata":{"user_id":"` + strings.Repeat("u", 65) + `"}}`,
			`{"model":"up","max_tokens":5,` + hi + `,"user":"f20e249d15fa4b9f44ba21d154f62e1efa76ddfdce5d25139a33a4787cee5a8b"}`, nil,
		},
		{
			"five stop sequences", plain,
			`{"model":"m","max_tokens":5,` + hi + `,"stop_sequences":["1","2","3","4","5"]}`,
			`{"model":"up","max_tokens":5,` + hi + `,"stop":["1","2","3","4"]}`,
			[]string{"stop"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, lost, err := translated(t, translate.Messages, translate.Chat, tt.up, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			compareJSON(t, tt.want, got)
			if diff := cmp.Diff(tt.lost, lost, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}
