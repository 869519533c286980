package fake

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	messagesPath   = "/a/v1/messages"
	messagesBody   = `{"model":"m","max_tokens":1000,"messages":[{"role":"user","content":"hello there"}]}`
	messagesStream = `{"model":"m","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"hello there"}]}`
	inputSchema    = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":2}},"required":["city","days"]}`
	messagesTools  = `"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"weather","input_schema":` + inputSchema + `},{"name":"other","input_schema":{"type":"object"}}]`
)

// messages sends a request as Anthropic's SDKs do.
func (r *rig) messages(t *testing.T, path, body string, header ...string) reply {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	return r.send(t, method, path, body, append([]string{headerVersion, versionOld}, header...)...)
}

// named is an event with a name.
type namedEvent struct{ name, data string }

// namedEvents reads a stream as its clients do.
func namedEvents(t *testing.T, body []byte) (out []namedEvent) {
	t.Helper()
	text := strings.ReplaceAll(string(body), "\r\n", "\n")
	for block := range strings.SplitSeq(text, "\n\n") {
		var e namedEvent
		for line := range strings.SplitSeq(block, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				e.name = name
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				e.data += data
			}
		}
		if e.data != "" {
			out = append(out, e)
		}
	}
	return out
}

func TestMessages(t *testing.T) {
	const usage = `"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}`
	for _, c := range []struct {
		name, behaviour, path, body, want string
	}{
		{
			"text", "answer: {text: 'Say \"hi\"'}", messagesPath, messagesBody,
			`{"id":"msg_32","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Say \"hi\""}],
			"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":11,` + usage + `,"output_tokens":2,"service_tier":"standard"}}`,
		},
		{
			"cut", "answer: {text: a b c}", messagesPath, strings.Replace(messagesBody, "1000", "2", 1),
			`{"id":"msg_32","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a b"}],
			"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":11,` + usage + `,"output_tokens":2,"service_tier":"standard"}}`,
		},
		{
			"stopped", "answer: {text: 'see Paris now'}", messagesPath, strings.Replace(messagesBody, `"model"`, `"stop_sequences":["zz","ris"],"model"`, 1),
			`{"id":"msg_32","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"see Pa"}],
			"stop_reason":"stop_sequence","stop_sequence":"ris","usage":{"input_tokens":11,` + usage + `,"output_tokens":2,"service_tier":"standard"}}`,
		},
		{
			"cached", "answer: {text: a, usage: {prompt: 100, cached: 60, cache_write: 30}}", "/a/anthropic/v1/messages", messagesBody,
			`{"id":"msg_32","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"}],
			"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":30,"cache_read_input_tokens":60,
			"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}`,
		},
		{"count", "{}", messagesPath + "/count_tokens?beta=true", `{"model":"m","messages":[{"role":"user","content":"hello there"}]}`, `{"input_tokens":11}`},
		{
			"models", "models: [m, n]", "/a/v1/models", "",
			`{"data":[{"type":"model","id":"m","display_name":"m","created_at":"2026-01-01T00:00:00Z"},
			{"type":"model","id":"n","display_name":"n","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"m","last_id":"n"}`,
		},
		{"one model", "models: [m]", "/a/v1/models/m", "", `{"type":"model","id":"m","display_name":"m","created_at":"2026-01-01T00:00:00Z"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			got := r.messages(t, c.path, c.body)
			if got.status != 200 || got.header.Get("Content-Type") != contentJSON || len(got.header.Get("Request-Id")) != 36 {
				t.Fatalf("%d %v %s", got.status, got.header, got.body)
			}
			var v map[string]any
			if err := json.Unmarshal(got.body, &v); err != nil {
				t.Fatal(err)
			}
			if id, ok := v["id"].(string); ok && len(id) == len("msg_")+32 {
				v["id"] = "msg_32"
			}
			if diff := cmp.Diff(object(t, c.want), any(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMessagesOnTheWire holds whole streams still, byte for byte.
func TestMessagesOnTheWire(t *testing.T) {
	usage := func(in, out string) string {
		return `{"input_tokens":` + in + `,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":` + out + `,"service_tier":"standard"}`
	}
	start := func(in string) string {
		return `{"type":"message_start","message":{"id":"msg_ID","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":` + usage(in, "1") + `}}`
	}
	signed := func(text string) string { return signatureOf(makerAnthropic, text) }
	const (
		ping = `{"type":"ping"}`
		text = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	)
	thinking := `{"model":"m","max_tokens":2048,"stream":true,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"x"}]}`
	thought := strings.Replace(usage("8", "3"), `,"service_tier"`, `,"output_tokens_details":{"thinking_tokens":2},"service_tier"`, 1)
	for _, c := range []struct {
		name, behaviour, body string
		want                  []string
	}{
		{"text", `answer: {text: 'a "b'}`, messagesStream, []string{
			start("11"), ping, text,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" \"b"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":` + usage("11", "2") + `}`,
			`{"type":"message_stop"}`,
		}},
		{"call", "{}", strings.TrimSuffix(messagesStream, "}") + `,"tools":[{"name":"f","input_schema":{"type":"object"}}]}`, []string{
			start("22"), ping,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_ID","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":` + usage("22", "2") + `}`,
			`{"type":"message_stop"}`,
		}},
		{"thought", "answer: {text: a, reasoning: p q}", thinking, []string{
			start("8"), ping,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"p"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":" q"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + signed("p q") + `"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":` + thought + `}`,
			`{"type":"message_stop"}`,
		}},
		{"thought, not shown", "answer: {text: a, reasoning: p q}", strings.Replace(thinking, `"adaptive"`, `"adaptive","display":"omitted"`, 1), []string{
			start("8"), ping,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + signed("p q") + `"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":` + thought + `}`,
			`{"type":"message_stop"}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			got := r.messages(t, messagesPath, c.body)
			var want strings.Builder
			for _, data := range c.want {
				var typed struct{ Type string }
				if err := json.Unmarshal([]byte(data), &typed); err != nil {
					t.Fatal(err)
				}
				want.WriteString("event: " + typed.Type + "\ndata: " + data + "\n\n")
			}
			if diff := cmp.Diff(want.String(), withoutIDs(string(got.body))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.header.Get("Content-Type") != contentStream {
				t.Errorf("content type %q", got.header.Get("Content-Type"))
			}
		})
	}
}

// withoutIDs replaces the ids of messages and calls.
func withoutIDs(text string) string {
	for _, prefix := range []string{`"id":"msg_`, `"id":"toolu_`} {
		before, rest, ok := strings.Cut(text, prefix)
		if !ok {
			continue
		}
		id, _, _ := strings.Cut(rest, `"`)
		text = before + prefix + strings.ReplaceAll(rest, id, "ID")
	}
	return text
}

// block is a block of a message.
type block struct {
	Type, Text, Thinking, Signature, Data, ID, Name string
	Input                                           json.RawMessage
}

type message struct {
	Content    []block
	StopReason string `json:"stop_reason"`
}

func (r *rig) message(t *testing.T, body string) message {
	t.Helper()
	got := r.messages(t, messagesPath, body)
	var m message
	if err := json.Unmarshal(got.body, &m); err != nil || got.status != 200 {
		t.Fatalf("%d %v %s", got.status, err, got.body)
	}
	return m
}

func TestMessagesToolCalls(t *testing.T) {
	for _, c := range []struct {
		name, behaviour, rest string
		want                  []string // names, with their input; none for a text
	}{
		{"first of its own", "{}", messagesTools, []string{`weather{"city":"text","days":2}`}},
		{"all", "answer: {tool_calls: all}", messagesTools, []string{`weather{"city":"text","days":2}`, "other{}"}},
		{"one at a time", "answer: {tool_calls: all}", messagesTools + `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`, []string{`weather{"city":"text","days":2}`}},
		{"named", "{}", messagesTools + `,"tool_choice":{"type":"tool","name":"other"}`, []string{"other{}"}},
		{"none asked", "{}", messagesTools + `,"tool_choice":{"type":"none"}`, nil},
		{"none by the script", "answer: {tool_calls: none}", messagesTools, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(c.behaviour), Options{})
			m := r.message(t, strings.TrimSuffix(messagesBody, "}")+","+c.rest+"}")
			var got []string
			var results []string
			for _, b := range m.Content {
				if b.Type == "tool_use" {
					got = append(got, b.Name+string(b.Input))
					results = append(results, `{"type":"tool_result","tool_use_id":"`+b.ID+`","content":"5"}`)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || (m.StopReason == "tool_use") != (len(c.want) > 0) {
				t.Fatalf("stop reason %q (-want +got):\n%s", m.StopReason, diff)
			}
			if len(got) == 0 {
				return
			}
			said, err := json.Marshal(m.Content)
			if err != nil {
				t.Fatal(err)
			}
			// The talk goes on as clients write it.
			turns := `{"model":"m","max_tokens":9,` + messagesTools + `,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":` +
				onlySet(t, said) + `},{"role":"user","content":[` + strings.Join(results, ",") + `]}]}`
			if after := r.message(t, turns); len(after.Content) != 1 || after.Content[0].Type != "text" || after.StopReason != "end_turn" {
				t.Errorf("after the results: %+v", after)
			}
		})
	}
}

// onlySet leaves the empty members of blocks out.
func onlySet(t *testing.T, blocks []byte) string {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal(blocks, &list); err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		for key, v := range one {
			delete(one, key)
			if v != "" && v != nil {
				one[strings.ToLower(key)] = v
			}
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMessagesThoughts(t *testing.T) {
	const behaviour = "answer: {text: a, reasoning: p q}"
	asked := func(thinking string) string {
		return strings.TrimSuffix(strings.Replace(messagesBody, "1000", "2048", 1), "}") + `,"thinking":` + thinking + `}`
	}
	signature := signatureOf(makerAnthropic, "p q")
	for _, c := range []struct {
		name, more, body string
		want             block
	}{
		{"not asked", "", messagesBody, block{Type: "text", Text: "a"}},
		{"disabled", "", asked(`{"type":"disabled"}`), block{Type: "text", Text: "a"}},
		{"enabled", "", asked(`{"type":"enabled","budget_tokens":1024}`), block{Type: "thinking", Thinking: "p q", Signature: signature}},
		{"omitted", "", asked(`{"type":"adaptive","display":"omitted"}`), block{Type: "thinking", Signature: signature}},
		{"redacted", "\nalways: redacted-thinking", asked(`{"type":"adaptive"}`), block{Type: "redacted_thinking", Data: signature}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream(behaviour+c.more), Options{})
			m := r.message(t, c.body)
			if diff := cmp.Diff(c.want, m.Content[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// It is taken back as it came.
			said, err := json.Marshal(m.Content)
			if err != nil {
				t.Fatal(err)
			}
			again := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":` + onlySetThought(t, said) +
				`},{"role":"user","content":"y"}]}`
			r.message(t, again)
		})
	}
}

// onlySetThought is onlySet with the text of a thought that is not shown.
func onlySetThought(t *testing.T, blocks []byte) string {
	t.Helper()
	text := onlySet(t, blocks)
	if strings.Contains(text, `"signature"`) && !strings.Contains(text, `"thinking":"p`) {
		text = strings.Replace(text, `"signature"`, `"thinking":"","signature"`, 1)
	}
	return text
}

func TestMessagesStructured(t *testing.T) {
	r := newRig(t, oneUpstream("{}"), Options{})
	m := r.message(t, strings.TrimSuffix(messagesBody, "}")+
		`,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}}}}`)
	if m.Content[0].Text != `{"ok":true}` {
		t.Errorf("got %+v", m)
	}
}

func TestMessagesCredentials(t *testing.T) {
	r := newRig(t, oneUpstream("api_key: right"), Options{})
	for _, c := range []struct {
		name   string
		header []string
		status int
		text   string
	}{
		{"x-api-key", []string{"X-Api-Key", "right"}, 200, ""},
		{"bearer", []string{"Authorization", "Bearer right"}, 200, ""},
		{"x-api-key wins", []string{"X-Api-Key", "wrong", "Authorization", "Bearer right"}, 401, "invalid x-api-key"},
		{"x-api-key wins, right", []string{"X-Api-Key", "right", "Authorization", "Bearer wrong"}, 200, ""},
		{"none", nil, 401, "x-api-key header is required"},
	} {
		got := r.messages(t, messagesPath, messagesBody, c.header...)
		if got.status != c.status {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
		if c.text != "" {
			messagesError(401, "authentication_error", c.text)(t, got)
		}
	}
}

// messagesError wants an error in Anthropic's form; what is "" may be anything.
func messagesError(status int, typ, text string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		var v struct {
			Type  string
			Error struct {
				Type, Message string
			}
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(r.body, &v); err != nil {
			t.Fatalf("%v in %q", err, r.body)
		}
		if r.status != status || v.Type != "error" || v.Error.Type != typ || v.Error.Message == "" || v.RequestID != r.header.Get("Request-Id") || v.RequestID == "" {
			t.Errorf("got %d %s, want %d %s", r.status, r.body, status, typ)
		}
		if text != "" && v.Error.Message != text {
			t.Errorf("got %q, want %q", v.Error.Message, text)
		}
	}
}
