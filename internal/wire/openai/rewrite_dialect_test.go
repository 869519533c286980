package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/openai"
)

// thoughts are all fields that may have to be dropped.
var thoughts = []string{"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "extra_content"}

func TestRewriteInstructions(t *testing.T) {
	const (
		sys   = `{"role":"system","content":"Be \"brief\".\u000a"}`
		dev   = `{"content":[{"type":"text","text":"In French."},{"type":"text","text":"Always."}],"role":"developer"}`
		hi    = `{"role":"user","content":"hi"}`
		there = `{"role":"assistant","content":"Hello."}`
	)
	tests := []struct{ name, messages, want string }{
		{"none", hi + `, ` + there, hi + `, ` + there},
		{"one", sys + ` , ` + hi + `,` + there, ` {"role":"user","content":"Be \"brief\".\u000a\n\nhi"},` + there},
		{"two", sys + `,` + dev + `,` + hi, `{"role":"user","content":"Be \"brief\".\u000a\n\nIn French.\n\nAlways.\n\nhi"}`},
		{"later", hi + `,` + there + `,` + sys + `,` + hi, `{"role":"user","content":"Be \"brief\".\u000a\n\nhi"},` + there + `,` + hi},
		{"last", hi + `,` + sys, `{"role":"user","content":"Be \"brief\".\u000a\n\nhi"}`},
		{"before the assistant", sys + `,` + there + `,` + hi, there + `,{"role":"user","content":"Be \"brief\".\u000a\n\nhi"}`},
		{
			"parts", sys + `,{"role":"user","content":[ {"type":"image_url","image_url":{"url":"x"}}]}`,
			`{"role":"user","content":[{"type":"text","text":"Be \"brief\".\u000a"}, {"type":"image_url","image_url":{"url":"x"}}]}`,
		},
		{"no parts", sys + `,{"role":"user","content":[]}`, `{"role":"user","content":[{"type":"text","text":"Be \"brief\".\u000a"}]}`},
		{"empty user", sys + `,{"role":"user","content":""}`, `{"role":"user","content":"Be \"brief\".\u000a"}`},
		{"null user", sys + `,{"role":"user","content": null}`, `{"role":"user","content": "Be \"brief\".\u000a"}`},
		{"user without content", sys + `,{"role":"user"}`, `{"content":"Be \"brief\".\u000a","role":"user"}`},
		{"user of an odd kind", sys + `,{"role":"user","content":7},` + hi, `{"role":"user","content":7},{"role":"user","content":"Be \"brief\".\u000a\n\nhi"}`},
		{"no user", sys + `,` + dev + `,` + there, `{"role":"user","content":"Be \"brief\".\u000a\n\nIn French.\n\nAlways."},` + there},
		{"alone", sys, `{"role":"user","content":"Be \"brief\".\u000a"}`},
		{"empty", `{"role":"system","content":""},` + hi, hi},
		{"null", `{"role":"system","content":null},` + hi, hi},
		{"without a text", `{"role":"system","content":[{"type":"image_url"}]},` + hi, hi},
		{"a list of texts", `{"role":"system","content":["a","b"]},` + hi, `{"role":"user","content":"a\n\nb\n\nhi"}`},
		{"contents twice", `{"role":"system","content":"a","content":["b"]},` + hi, `{"role":"user","content":"b\n\nhi"}`},
		{"with thoughts of its own", `{"role":"system","content":"a","reasoning":"b"},` + hi, `{"role":"user","content":"a\n\nhi"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"model":"m","messages":[` + tt.messages + `],"user":"u"}`
			want := `{"model":"m","messages":[` + tt.want + `],"user":"u"}`
			got := string(scanned(t, openai.Chat, body).Rewrite(nil, []byte(body), openai.Rewrite{NoSystemRole: true, DropFields: thoughts}))
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("not valid: %s", got)
			}
			if got := string(scanned(t, openai.Chat, body).Rewrite(nil, []byte(body), openai.Rewrite{})); got != body {
				t.Errorf("unasked: %s", got)
			}
		})
	}
}

func TestRewriteDropFields(t *testing.T) {
	const body = `{"model":"m","reasoning":{"effort":"low"},"messages":[{"role":"user","content":"say \"reasoning\""},` +
		`{"reasoning_content":"a","role":"assistant","content":null,"reasoning":"b", "reasoning_details":[{"type":"x","text":"}"}],` +
		`"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}","extra_content":1},"extra_content":{"google":{"thought_signature":"s"}}},7],"thinking_blocks":null},` +
		`{"role":"tool","tool_call_id":"1","content":"r"}]}`
	call := func(extra string) string {
		return `"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}","extra_content":1}` + extra + `},7]`
	}
	head, tail := `{"model":"m","reasoning":{"effort":"low"},"messages":[{"role":"user","content":"say \"reasoning\""},{`, `},{"role":"tool","tool_call_id":"1","content":"r"}]}`
	signature := `,"extra_content":{"google":{"thought_signature":"s"}}`
	tests := []struct {
		name string
		drop []string
		want string
	}{
		{"all of them", thoughts, head + `"role":"assistant","content":null,` + call("") + tail},
		{
			"some",
			[]string{"reasoning_content", "reasoning_details", "thinking_blocks", "extra_content"},
			head + `"role":"assistant","content":null,"reasoning":"b",` + call("") + tail,
		},
		{
			"none of a call",
			[]string{"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"},
			head + `"role":"assistant","content":null,` + call(signature) + tail,
		},
		{"none", nil, body},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(scanned(t, openai.Chat, body).Rewrite(nil, []byte(body), openai.Rewrite{DropFields: tt.drop}))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRewriteOutputLimit(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	tests := []struct{ members, field, want string }{
		{`"max_tokens":5`, "max_completion_tokens", `"max_completion_tokens":5`},
		{`"max_completion_tokens": 5`, "max_tokens", `"max_tokens": 5`},
		{`"max_tokens":5`, "max_tokens", `"max_tokens":5`},
		{`"max_completion_tokens":5`, "max_completion_tokens", `"max_completion_tokens":5`},
		{`"max_tokens":5,"max_completion_tokens":6`, "max_tokens", `"max_tokens":6`},
		{`"max_tokens":5,"max_completion_tokens":6`, "max_completion_tokens", `"max_completion_tokens":6`},
		{`"max_completion_tokens":6,"max_tokens":5`, "max_tokens", `"max_tokens":6`},
		{`"max_completion_tokens":null,"max_tokens":5`, "max_completion_tokens", `"max_completion_tokens":5`},
		{`"max_completion_tokens":null,"max_tokens":5`, "max_tokens", `"max_tokens":5`},
		{`"max_completion_tokens":6,"max_tokens":null`, "max_tokens", `"max_tokens":6`},
		{`"max_tokens":null`, "max_completion_tokens", ``},
		{`"max_tokens":null,"max_completion_tokens":null`, "max_tokens", `"max_tokens":null`},
		{`"max\u005ftokens":5`, "max_completion_tokens", `"max_completion_tokens":5`},
		{`"temperature":1`, "max_tokens", `"temperature":1`},
		{`"max_tokens":5,"max_completion_tokens":6`, "", `"max_tokens":5,"max_completion_tokens":6`},
	}
	for _, tt := range tests {
		t.Run(tt.members+" as "+tt.field, func(t *testing.T) {
			body := `{"model":"m",` + tt.members + `,` + hi + `}`
			want := strings.Replace(`{"model":"m",`+tt.want+`,`+hi+`}`, ",,", ",", 1)
			r := scanned(t, openai.Chat, body)
			if got := string(r.Rewrite(nil, []byte(body), openai.Rewrite{MaxTokensField: tt.field})); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	// A completion has one name for it.
	body := `{"model":"m","max_tokens":5,"prompt":"x"}`
	if got := string(scanned(t, openai.Completions, body).Rewrite(nil, []byte(body), openai.Rewrite{})); got != body {
		t.Errorf("got %s", got)
	}
}

func TestRewriteEmbeddingFormat(t *testing.T) {
	tests := []struct{ members, format, want string }{
		{`,"encoding_format":"base64"`, "float", ``},
		{`,"encoding_format":"float"`, "float", `,"encoding_format":"float"`},
		{``, "float", ``},
		{`,"encoding_format":"base64"`, "base64", `,"encoding_format":"base64"`},
		{`,"encoding_format":"float"`, "base64", `,"encoding_format":"base64"`},
		{`,"encoding_format":null`, "base64", `,"encoding_format":"base64"`},
		{`,"encoding_format":"ubinary"`, "float", `,"encoding_format":"ubinary"`},
		{`,"encoding_format":"base64"`, "", `,"encoding_format":"base64"`},
	}
	for _, tt := range tests {
		t.Run(tt.members+" as "+tt.format, func(t *testing.T) {
			body := `{"model":"m","input":"x"` + tt.members + `}`
			r := scanned(t, openai.Embeddings, body)
			if got := string(r.Rewrite(nil, []byte(body), openai.Rewrite{EmbeddingFormat: tt.format})); got != `{"model":"m","input":"x"`+tt.want+`}` {
				t.Errorf("got %s", got)
			}
		})
	}
	body := `{"model":"m","input":"x"}`
	got := string(scanned(t, openai.Embeddings, body).Rewrite(nil, []byte(body), openai.Rewrite{EmbeddingFormat: "base64"}))
	if want := `{"encoding_format":"base64","model":"m","input":"x"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRewriteMessagesProperty compares rewrites of random conversations with
// what a plain reader makes of them.
func TestRewriteMessagesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(anyTurn), 1, 6).Draw(t, "messages")
		w := openai.Rewrite{NoSystemRole: rapid.Bool().Draw(t, "move")}
		if rapid.Bool().Draw(t, "drop") {
			w.DropFields = thoughts
		}
		text, err := json.Marshal(map[string]any{"model": "m", "messages": list})
		if err != nil {
			t.Fatal(err)
		}
		r, err := openai.ScanRequest(openai.Chat, text, jsonDepth)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Messages []map[string]any }
		out := r.Rewrite(nil, text, w)
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(plainRewrite(t, list, w), got.Messages); diff != "" {
			t.Fatalf("%s became %s (-want +got):\n%s", text, out, diff)
		}
	})
}

func anyTurn(t *rapid.T) map[string]any {
	text := rapid.SampledFrom([]string{"", "a", "b \"c\"\n", "é😀", "}],["})
	m := map[string]any{"role": rapid.SampledFrom([]string{"system", "developer", "user", "assistant"}).Draw(t, "role")}
	switch rapid.IntRange(0, 3).Draw(t, "content") {
	case 0:
		m["content"] = text.Draw(t, "text")
	case 1:
		m["content"] = nil
	case 2:
		parts := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			parts = append(parts, map[string]any{"type": "text", "text": text.Draw(t, "part")})
		}
		m["content"] = parts
	}
	for _, field := range thoughts {
		if m["role"] == "assistant" && rapid.IntRange(0, 3).Draw(t, field) == 0 {
			m[field] = map[string]any{"x": text.Draw(t, "thought")}
		}
	}
	if m["role"] == "assistant" && rapid.Bool().Draw(t, "call") {
		m["tool_calls"] = []any{map[string]any{"extra_content": "x", "id": "1"}, map[string]any{"id": "2"}}
	}
	return m
}

// plainRewrite is the same rewrite on decoded messages.
func plainRewrite(t *rapid.T, list []map[string]any, w openai.Rewrite) []map[string]any {
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	for _, m := range out {
		for _, field := range w.DropFields {
			delete(m, field)
			calls, _ := m["tool_calls"].([]any)
			for _, c := range calls {
				delete(c.(map[string]any), field)
			}
		}
	}
	isSystem := func(m map[string]any) bool { return m["role"] == "system" || m["role"] == "developer" }
	first := slices.IndexFunc(out, isSystem)
	if !w.NoSystemRole || first < 0 {
		return out
	}
	var texts []string
	add := func(v any) {
		if s, _ := v.(string); s != "" {
			texts = append(texts, s)
		}
	}
	for _, m := range out {
		if !isSystem(m) {
			continue
		}
		add(m["content"])
		parts, _ := m["content"].([]any)
		for _, p := range parts {
			add(p.(map[string]any)["text"])
		}
	}
	said := strings.Join(texts, "\n\n")
	host := slices.IndexFunc(out, func(m map[string]any) bool { return m["role"] == "user" })
	if host < 0 {
		out[first] = map[string]any{"role": "user", "content": said}
	} else if said != "" {
		switch c := out[host]["content"].(type) {
		case string:
			out[host]["content"] = said
			if c != "" {
				out[host]["content"] = said + "\n\n" + c
			}
		case []any:
			out[host]["content"] = append([]any{map[string]any{"type": "text", "text": said}}, c...)
		default:
			out[host]["content"] = said
		}
	}
	return slices.DeleteFunc(out, isSystem)
}

// TestRewriteUnasked: what a deployment does not need costs nothing.
func TestRewriteUnasked(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a","reasoning_content":"r"}],"max_tokens":5}`)
	r := scanned(t, openai.Chat, string(body))
	dst := make([]byte, 0, 2*len(body))
	if n := testing.AllocsPerRun(100, func() { dst = r.Rewrite(dst[:0], body, openai.Rewrite{Model: "m"}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	// Asked for, and nothing to do.
	plain := []byte(`{"model":"m","messages":[{"role":"user","content":"u"}],"max_tokens":5}`)
	r = scanned(t, openai.Chat, string(plain))
	w := openai.Rewrite{Model: "m", NoSystemRole: true, DropFields: thoughts, MaxTokensField: openai.MaxTokens}
	if n := testing.AllocsPerRun(100, func() { dst = r.Rewrite(dst[:0], plain, w) }); n != 0 {
		t.Errorf("%v allocations where nothing is to be done", n)
	}
}

func FuzzRewriteMessages(f *testing.F) {
	for _, messages := range []string{
		`[{"role":"system","content":"a"},{"role":"user","content":"b"}]`,
		`[{"role":"user","content":[{"type":"text","text":"b"}]},{"role":"developer","content":["x",{"text":"y"}]}]`,
		`[{"role":"assistant","reasoning_content":"r","tool_calls":[{"extra_content":{}}]},{"role":"system"}]`,
		`[{"role":"system","content":"a","role":"user"},{}]`,
		`[{ "content" : null , "role" : "user" } , { "role" : "system" , "content" : "\ud83d" }]`,
	} {
		f.Add(messages, true, true)
	}
	f.Fuzz(func(t *testing.T, messages string, move, newer bool) {
		body := fmt.Appendf(nil, `{"model":"m","max_tokens":7,"messages":%s}`, messages)
		r, err := openai.ScanRequest(openai.Chat, body, jsonDepth)
		if err != nil {
			return
		}
		w := openai.Rewrite{NoSystemRole: move, DropFields: thoughts, MaxTokensField: openai.MaxTokens}
		if newer {
			w.MaxTokensField = openai.MaxCompletionTokens
		}
		out := r.Rewrite(nil, body, w)
		again, err := openai.ScanRequest(openai.Chat, out, jsonDepth)
		if err != nil {
			t.Fatalf("%s became %s: %v", body, out, err)
		}
		if again.MaxOutput != r.MaxOutput {
			t.Fatalf("%s became %s", body, out)
		}
		if twice := again.Rewrite(nil, out, w); string(twice) != string(out) {
			t.Fatalf("%s became %s, then %s", body, out, twice)
		}
	})
}
