package translate_test

import (
	"strings"
	"testing"

	"gatewright/internal/wire/translate"
)

// TestNoSystemRole: instructions become words of the user's.
func TestNoSystemRole(t *testing.T) {
	const (
		hi       = `{"role":"user","content":"hi"}`
		call     = `{"role":"assistant","content":null,"tool_calls":[{"id":"abcdefghijklmnopq","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		result   = `{"role":"tool","tool_call_id":"abcdefghijklmnopq","content":"r"}`
		geminiHi = `{"contents":[{"role":"user","parts":[{"text":"a\n\nb\n\nhi"}]}]}`
	)
	tests := []struct {
		name, in     string // a request of chat, its messages
		chat, gemini string
	}{
		{"none", hi, `[` + hi + `]`, `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{"before", `{"role":"system","content":"a"},{"role":"developer","content":"b"},` + hi, `[{"role":"user","content":"a\n\nb\n\nhi"}]`, geminiHi},
		{"later", `{"role":"system","content":"a"},` + hi + `,{"role":"system","content":"b"}`, `[{"role":"user","content":"a\n\nb\n\nhi"}]`, geminiHi},
		{"alone", `{"role":"system","content":"a"}`, `[{"role":"user","content":"a"}]`, `{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`},
		{
			"an image first", `{"role":"system","content":"a"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`,
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]`,
			`{"contents":[{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}]}`,
		},
		{"results first", `{"role":"system","content":"a"},` + call + `,` + result, `[` + call + `,` + result + `,{"role":"user","content":"a"}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"model":"m","messages":[` + tt.in + `]}`
			for to, want := range map[translate.Protocol]string{translate.Chat: `{"model":"up","messages":` + tt.chat + `}`, translate.Gemini: tt.gemini} {
				if want == "" {
					continue
				}
				got, _, err := translated(t, translate.Chat, to, &translate.Upstream{Model: "up", NoSystemRole: true}, body)
				if err != nil {
					t.Fatalf("%s: %v", to, err)
				}
				compareJSON(t, want, got)
			}
		})
	}
	// The request itself stays as it is: others are asked with it too.
	r, _, err := codecOf(t, translate.Chat).DecodeRequest([]byte(`{"model":"m","messages":[{"role":"system","content":"a"},` + hi + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		text, _, err := codecOf(t, translate.Chat).EncodeRequest(r, &translate.Upstream{Model: "up", NoSystemRole: true})
		if err != nil {
			t.Fatal(err)
		}
		compareJSON(t, `{"model":"up","messages":[{"role":"user","content":"a\n\nhi"}]}`, string(text))
	}
	text, _, err := codecOf(t, translate.Chat).EncodeRequest(r, &translate.Upstream{Model: "up"})
	if err != nil {
		t.Fatal(err)
	}
	compareJSON(t, `{"model":"up","messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"}]}`, string(text))
}

func TestMaxTokensField(t *testing.T) {
	for field, full := range map[string]bool{"max_tokens": true, "max_completion_tokens": false} {
		up := &translate.Upstream{Model: "up", Full: full, MaxTokensField: field}
		got, _, err := translated(t, translate.Messages, translate.Chat, up, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		compareJSON(t, `{"model":"up","`+field+`":5,"messages":[{"role":"user","content":"hi"}]}`, got)
	}
}

// TestThinkTags: a client of Messages finds thoughts that the upstream writes
// into its text where it looks for thoughts.
func TestThinkTags(t *testing.T) {
	up := &translate.Upstream{Model: "up", ThinkTags: true}
	chat, messages := codecOf(t, translate.Chat), codecOf(t, translate.Messages)
	r, _, err := messages.DecodeRequest([]byte(`{"model":"m","max_tokens":5,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hi"}],"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := chat.DecodeAnswer([]byte(`{"choices":[{"message":{"role":"assistant","content":"<think>\nhm\n</think>\n\nyes"},"finish_reason":"stop"}]}`), r, up)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(messages.EncodeAnswer(nil, a, r, "m"))
	if !strings.Contains(whole, `"thinking":"hm\n"`) || !strings.Contains(whole, `"text":"yes"`) || strings.Contains(whole, "think>") {
		t.Errorf("whole: %s", whole)
	}

	d, e := chat.NewDecoder(r, up), messages.NewEncoder(r, "m")
	var events []translate.Event
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":{"content":"<thi"}}]}`, `{"choices":[{"index":0,"delta":{"content":"nk>hm</th"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"ink>\nyes"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`,
	} {
		if events, err = d.Event(events, nil, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	var out []byte
	for i := range events {
		out = e.Event(out, &events[i])
	}
	stream := string(out)
	if !strings.Contains(stream, `"thinking_delta","thinking":"hm"`) || !strings.Contains(stream, `"text_delta","text":"yes"`) || strings.Contains(stream, "think>") {
		t.Errorf("stream: %s", stream)
	}
}
