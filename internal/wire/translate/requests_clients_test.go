package translate_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

// TestInvalidRequests: what is wrong in the client's own protocol is said with
// its place, whatever the upstream.
func TestInvalidRequests(t *testing.T) {
	tests := []struct {
		name string
		p    translate.Protocol
		body string
		want string
	}{
		{"no JSON", translate.Chat, `{`, "the body is not valid JSON: the text ends too early at byte 1"},
		{"no object", translate.Chat, `[]`, `"": must be an object, not an array`},
		{"no model", translate.Chat, `{"messages":[]}`, `"model": is missing; name the model to use`},
		{"no messages", translate.Chat, `{"model":"m"}`, `"messages": is missing; it is what the model answers to`},
		{"no role", translate.Chat, `{"model":"m","messages":[{"content":"a"}]}`, `"messages[0]": has no role; write system, user, assistant or tool`},
		{"unknown role", translate.Chat, `{"model":"m","messages":[{"role":"x"}]}`, `"messages[0]": role must be system, developer, user, assistant or tool, not "x"`},
		{"odd content", translate.Chat, `{"model":"m","messages":[{"role":"user","content":{"a":1}}]}`, `"messages[0].content": must be an array, not an object`},
		{"half a pair", translate.Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"\ud800"}]}]}`, `"messages[0].content[0].text": the string holds half a surrogate pair`},
		{"no type", translate.Chat, `{"model":"m","messages":[{"role":"user","content":[{"text":"a"}]}]}`, `"messages[0].content[0]": has no type; write {"type":"text","text":…}`},
		{"temperature a text", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"temperature":"1"}`, `"temperature": must be a number, not a string`},
		{"seed broken", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"seed":1.5}`, `"seed": must be an integer`},
		{"max_tokens negative", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":-1}`, `"max_tokens": must be an integer from 1 to 1000000000, not -1`},
		{"a tool without a name", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}]}`, `"tools[0]": has no name; write {"type":"function","function":{"name":…}}`},
		{"a choice of nothing", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"function"}}`, `"tool_choice": names no tool; write {"type":"function","function":{"name":…}}`},
		{"an unknown choice", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"tool_choice":"maybe"}`, `"tool_choice": must be none, auto, required or a tool, not "maybe"`},
		{"a schema without one", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_schema"}}`, `"response_format": has no schema; write {"type":"json_schema","json_schema":{"name":…,"schema":…}}`},
		{"messages without a role", translate.Messages, `{"model":"m","messages":[{"content":"a"}]}`, `"messages[0]": has no role; write user or assistant`},
		{"messages with an unknown role", translate.Messages, `{"model":"m","messages":[{"role":"tool","content":"a"}]}`, `"messages[0].role": must be user, assistant or system, not "tool"`},
		{"block without a type", translate.Messages, `{"model":"m","messages":[{"role":"user","content":[{"text":"a"}]}]}`, `"messages[0].content[0]": has no type`},
		{"image from nowhere", translate.Messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"x"}}]}]}`, `"messages[0].content[0]": source.type must be base64, url, file, text or content, not "x"`},
		{"a choice without a name", translate.Messages, `{"model":"m","messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"tool"}}`, `"tool_choice": names no tool; add "name"`},
		{"unknown thinking", translate.Messages, `{"model":"m","messages":[{"role":"user","content":"a"}],"thinking":{"type":"x"}}`, `"thinking.type": must be enabled, adaptive or disabled, not "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _, err := codecOf(t, tt.p).DecodeRequest([]byte(tt.body))
			if e, ok := errors.AsType[*translate.InvalidError](err); !ok || e.Message != tt.want || r != nil {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestDecodesClients decodes what client programs sent: nothing that matters is
// lost, to whatever protocol it goes.
func TestDecodesClients(t *testing.T) {
	harmless := map[string]bool{ // by their paths
		"context_management": true, // Anthropic's own
		"system":             true, // the line for Anthropic's books
		"cache_control":      true, "system[].cache_control": true, "messages[].content[].cache_control": true,
		"thinking": true, "reasoning": true, // at a model of which nothing is known
		"verbosity": true, "prompt_cache_key": true, "top_k": true, "store": true, "metadata": true, "user": true,
		"seed": true, "logprobs": true, "messages[].name": true, "tools[].strict": true,
	}
	files := 0
	for folder, p := range map[string]translate.Protocol{"anthropic": translate.Messages, "openai": translate.Chat} {
		names, err := filepath.Glob(filepath.Join(material, folder, "clients", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			body := clientBody(t, name)
			if body == nil {
				continue
			}
			files++
			r, lost, err := codecOf(t, p).DecodeRequest(body)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkClient(t, name, body, r)
			for q := translate.Chat; q <= translate.Responses; q++ {
				up, ok := translate.For(q)
				if !ok || q == p {
					continue
				}
				out, more, err := up.EncodeRequest(r, &translate.Upstream{Model: "up"})
				if err != nil || !json.Valid(out) {
					t.Errorf("%s to %v: %v, %s", name, q, err, out)
				}
				for _, l := range append(lost, more...) {
					if !harmless[l.Path] {
						t.Errorf("%s to %v loses %v", name, q, l)
					}
				}
			}
		}
	}
	if files < 15 {
		t.Errorf("only %d requests", files)
	}
}

// clientBody returns the body of a recorded request of text generation, without
// the texts that stand for what was left out of it; nil for another request.
func clientBody(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var exchange struct {
		Request struct {
			Path string
			Body map[string]any
		}
	}
	if err := json.Unmarshal(data, &exchange); err != nil {
		t.Fatal(err)
	}
	r := &exchange.Request
	if strings.Contains(r.Path, "embeddings") || strings.Contains(r.Path, "count_tokens") {
		return nil
	}
	if tools, ok := r.Body["tools"].([]any); ok {
		kept := make([]any, 0, len(tools))
		for _, item := range tools {
			tool, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if function, ok := tool["function"].(map[string]any); ok {
				tool = function
			}
			for _, key := range []string{"input_schema", "parameters"} {
				if _, left := tool[key].(string); left {
					tool[key] = map[string]any{"type": "object"}
				}
			}
			kept = append(kept, item)
		}
		r.Body["tools"] = kept
	}
	body, err := json.Marshal(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// checkClient compares the neutral form with what the body plainly says.
func checkClient(t *testing.T, name string, body []byte, r *translate.Request) {
	t.Helper()
	var want struct {
		Model    string
		Stream   bool
		Messages []struct{ Role string }
		Tools    []any
		Limit    int64 `json:"max_tokens"`
		Newer    int64 `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if r.Model != want.Model || r.Stream != want.Stream || len(r.Tools) != len(want.Tools) || r.MaxOutput != max(want.Limit, want.Newer) {
		t.Errorf("%s: got %+v", name, r)
	}
	texts := 0
	for _, turn := range r.Turns {
		for _, p := range turn.Parts {
			if p.Kind == translate.KindText && p.Text != "" {
				texts++
			}
		}
	}
	if texts == 0 || len(r.Turns) == 0 {
		t.Errorf("%s: nobody says anything: %+v", name, r)
	}
}
