package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/openai"
)

func TestRewrite(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	usage := openai.Rewrite{AddStreamUsage: true}
	tests := []struct {
		name, body string
		w          openai.Rewrite
		want       string
	}{
		{"nothing", `{"model":"m", ` + hi + ` }` + "\n", openai.Rewrite{}, `{"model":"m", ` + hi + ` }` + "\n"},
		{"same model", `{"model":"m",` + hi + `}`, openai.Rewrite{Model: "m"}, `{"model":"m",` + hi + `}`},
		{"model", `{ "model" : "m" ,` + hi + `}`, openai.Rewrite{Model: `a/"b"`}, `{ "model" : "a/\"b\"" ,` + hi + `}`},
		{"model last", `{` + hi + `,"model":"a\u00e9"}`, openai.Rewrite{Model: "n"}, `{` + hi + `,"model":"n"}`},
		{"own field last", `{"model":"m",` + hi + `,"disable_fallbacks":true}`, openai.Rewrite{}, `{"model":"m",` + hi + `}`},
		{"own field first", `{"disable_fallbacks":false,"model":"m",` + hi + `}`, openai.Rewrite{Model: "n"}, `{"model":"n",` + hi + `}`},
		{"own field null", `{"model":"m","disable_fallbacks": null , ` + hi + `}`, openai.Rewrite{}, `{"model":"m" , ` + hi + `}`},
		{"both own fields first", `{"disable_fallbacks":true,"litellm_session_id":"x","model":"m",` + hi + `}`, openai.Rewrite{}, `{"model":"m",` + hi + `}`},
		{"own fields apart", `{"litellm_session_id":"x","model":"m","disable_fallbacks":true,` + hi + `}`, openai.Rewrite{}, `{"model":"m",` + hi + `}`},
		{"session_id stays", `{"session_id":"x","model":"m",` + hi + `}`, openai.Rewrite{}, `{"session_id":"x","model":"m",` + hi + `}`},
		{"nested own field stays", `{"model":"m","x":{"disable_fallbacks":true},` + hi + `}`, openai.Rewrite{}, `{"model":"m","x":{"disable_fallbacks":true},` + hi + `}`},
		{"usage", `{"model":"m",` + hi + `}`, usage, `{"stream_options":{"include_usage":true},"model":"m",` + hi + `}`},
		{"usage, with an own field first", `{"disable_fallbacks":true,"model":"m",` + hi + `}`, usage, `{"stream_options":{"include_usage":true},"model":"m",` + hi + `}`},
		{"usage, options null", `{"model":"m","stream_options":null,` + hi + `}`, usage, `{"model":"m","stream_options":{"include_usage":true},` + hi + `}`},
		{"usage, options empty", `{"model":"m","stream_options":{ },` + hi + `}`, usage, `{"model":"m","stream_options":{"include_usage":true },` + hi + `}`},
		{"usage, other options", `{"model":"m","stream_options":{"include_obfuscation":false},` + hi + `}`, usage, `{"model":"m","stream_options":{"include_usage":true,"include_obfuscation":false},` + hi + `}`},
		{"usage false", `{"model":"m","stream_options":{"a":1,"include_usage":false},` + hi + `}`, usage, `{"model":"m","stream_options":{"a":1,"include_usage":true},` + hi + `}`},
		{"usage null", `{"model":"m","stream_options":{"include_usage": null},` + hi + `}`, usage, `{"model":"m","stream_options":{"include_usage": true},` + hi + `}`},
		{"usage there", `{"model":"m","stream_options":{"include_usage":true},` + hi + `}`, usage, `{"model":"m","stream_options":{"include_usage":true},` + hi + `}`},
		{"stream_options out", `{"model":"m","stream_options":{"include_usage":true},` + hi + `}`, openai.Rewrite{DropStreamOptions: true}, `{"model":"m",` + hi + `}`},
		{"stream_options out, the last", `{"model":"m",` + hi + `,"stream_options":null}`, openai.Rewrite{DropStreamOptions: true}, `{"model":"m",` + hi + `}`},
		{"stream_options out among our own", `{"disable_fallbacks":true,"stream_options":{},"litellm_session_id":"s","model":"m",` + hi + `}`, openai.Rewrite{Model: "n", DropStreamOptions: true}, `{"model":"n",` + hi + `}`},
		{"no stream_options to take out", `{"model":"m",` + hi + `}`, openai.Rewrite{DropStreamOptions: true}, `{"model":"m",` + hi + `}`},
		{"everything", `{"disable_fallbacks":true,"stream_options":{"include_usage":false},"litellm_session_id":"s","model":"m",` + hi + `}`, openai.Rewrite{Model: "n", AddStreamUsage: true}, `{"stream_options":{"include_usage":true},"model":"n",` + hi + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := scanned(t, openai.Chat, tt.body)
			got := string(r.Rewrite([]byte("kept;"), []byte(tt.body), tt.w))
			if want := "kept;" + tt.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !json.Valid([]byte(got[5:])) {
				t.Errorf("not valid: %s", got)
			}
		})
	}
}

// TestRewriteKeepsTheRest rewrites random requests: what a reader sees differs
// by the changes alone, and nothing moves.
func TestRewriteKeepsTheRest(t *testing.T) {
	space := rapid.SampledFrom([]string{"", " ", "\n\t"})
	fields := map[string][]string{
		"disable_fallbacks":  {"true", "null"},
		"litellm_session_id": {`"s"`},
		"stream_options":     {`{}`, `null`, `{"x":1}`, `{"include_usage":false}`, `{"x":1,"include_usage":null}`, `{"include_usage":true,"x":[]}`},
		"stream":             {"true", "false"},
		"unknown":            {`{"model":"x"}`, `"},{"`, "1e400", `[[],{}]`},
		"user":               {`"u"`},
	}
	rapid.Check(t, func(t *rapid.T) {
		members := []string{`"model":"m"`, `"messages":[{"role":"user","content":"\"model\":\"x\""}]`}
		for _, key := range []string{"disable_fallbacks", "litellm_session_id", "stream_options", "stream", "unknown", "user"} {
			if rapid.Bool().Draw(t, key) {
				members = append(members, fmt.Sprintf("%q%s:%s%s", key, space.Draw(t, "space"), space.Draw(t, "space"), rapid.SampledFrom(fields[key]).Draw(t, key)))
			}
		}
		members = rapid.Permutation(members).Draw(t, "order")
		sep := space.Draw(t, "space") + "," + space.Draw(t, "space")
		body := []byte("{" + space.Draw(t, "space") + strings.Join(members, sep) + space.Draw(t, "space") + "}")
		r, err := openai.ScanRequest(openai.Chat, body, jsonDepth)
		if err != nil {
			t.Fatal(err)
		}
		w := openai.Rewrite{Model: rapid.SampledFrom([]string{"", "m", "other"}).Draw(t, "model"), AddStreamUsage: rapid.Bool().Draw(t, "usage")}
		before := bytes.Clone(body)
		out := r.Rewrite(nil, body, w)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was written to")
		}

		want := readMembers(t, body)
		delete(want, "disable_fallbacks")
		delete(want, "litellm_session_id")
		if w.Model != "" {
			want["model"] = json.RawMessage(`"` + w.Model + `"`)
		}
		got := readMembers(t, out)
		if w.AddStreamUsage {
			options := map[string]json.RawMessage{}
			if raw := want["stream_options"]; raw != nil && string(raw) != "null" {
				options = readMembers(t, raw)
			}
			options["include_usage"] = json.RawMessage("true")
			if diff := cmp.Diff(options, readMembers(t, got["stream_options"])); diff != "" {
				t.Fatalf("stream_options (-want +got):\n%s", diff)
			}
			delete(got, "stream_options")
			delete(want, "stream_options")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s became %s (-want +got):\n%s", body, out, diff)
		}
		if n := strings.Count(string(out), `"model"`); n != strings.Count(string(body), `"model"`) {
			t.Fatalf("%s became %s", body, out)
		}
	})
}

func readMembers(t *rapid.T, body []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return m
}

func TestRewriteInParallel(t *testing.T) {
	body := []byte(`{"disable_fallbacks":true,"stream":true,"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	r := scanned(t, openai.Chat, string(body))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			model := fmt.Sprintf("model-%d", i)
			for range 100 {
				got := r.Rewrite(nil, body, openai.Rewrite{Model: model, AddStreamUsage: true})
				if want := `{"stream_options":{"include_usage":true},"stream":true,"model":"` + model + `",`; !strings.HasPrefix(string(got), want) {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	wg.Wait()
}

func opening(t *testing.T, e openai.Endpoint, body string) string {
	t.Helper()
	var b bytes.Buffer
	if some := scanned(t, e, body).HashOpening(&b); some != (b.Len() > 0) {
		t.Errorf("reported %v, wrote %d bytes", some, b.Len())
	}
	return b.String()
}

func TestHashOpening(t *testing.T) {
	chat := func(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }
	const (
		system  = `{"role":"system","content":"Be brief."}`
		hello   = `{"role":"user","content":"hello"}`
		later   = `,{"role":"assistant","content":"Hi."},{"role":"user","content":"more"}`
		tools   = `"tools":[{"function":{"name":"a"}},{"function":{"name":"b"}}]`
		swapped = `"tools":[{"function":{"name":"b","description":"new"}},{"function":{"name":"a"}}]`
	)
	same := []struct{ name, a, b string }{
		{"a later turn", chat(system + "," + hello), chat(system + "," + hello + later)},
		{"another model", chat(hello), strings.Replace(chat(hello), `"m"`, `"n"`, 1)},
		{"a later system message", chat(hello), chat(hello + "," + system)},
		{"content before the role", chat(hello), chat(`{"content":"hello","role":"user"}`)},
		{"marks on a part", chat(`{"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}`), chat(`{"role":"user","content":[{"type":"text","text":"hello"}]}`)},
		{"a part or a text", chat(hello), chat(`{"role":"user","content":[{"type":"text","text":"hello"}]}`)},
		{"developer or system", chat(system + "," + hello), chat(strings.Replace(system, "system", "developer", 1) + "," + hello)},
		{"order of tools", `{` + tools + `,"model":"m","messages":[` + hello + `]}`, `{"model":"m","messages":[` + hello + `],` + swapped + `}`},
	}
	for _, tt := range same {
		if a, b := opening(t, openai.Chat, tt.a), opening(t, openai.Chat, tt.b); a != b || a == "" {
			t.Errorf("%s: got two openings, %q and %q", tt.name, a, b)
		}
	}
	long := strings.Repeat("x", 20<<10)
	other := []struct{ name, a, b string }{
		{"system text", chat(system + "," + hello), chat(strings.Replace(system, "brief", "long", 1) + "," + hello)},
		{"first user message", chat(hello), chat(strings.Replace(hello, "hello", "hallo", 1))},
		{"no system text", chat(system + "," + hello), chat(hello)},
		{"who says it", chat(`{"role":"system","content":"a"},` + hello), chat(`{"role":"user","content":"a"}`)},
		{"where it is cut", chat(`{"role":"system","content":"ab"},{"role":"user","content":"c"}`), chat(`{"role":"system","content":"a"},{"role":"user","content":"bc"}`)},
		{"tools", `{` + tools + `,"model":"m","messages":[` + hello + `]}`, chat(hello)},
		{"the image", chat(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"a"}}]}`), chat(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"b"}}]}`)},
		{"length of a long text", chat(`{"role":"user","content":"` + long + `"}`), chat(`{"role":"user","content":"` + long + `x"}`)},
		{"user message after many system parts", chat(strings.Repeat(system+",", 40) + hello), chat(strings.Repeat(system+",", 40) + strings.Replace(hello, "hello", "hallo", 1))},
	}
	for _, tt := range other {
		if a, b := opening(t, openai.Chat, tt.a), opening(t, openai.Chat, tt.b); a == b {
			t.Errorf("%s: got one opening for both, %.100q", tt.name, a)
		}
	}
	if got := opening(t, openai.Chat, chat(`{"role":"user","content":"`+long+`"}`)); len(got) > 9<<10 {
		t.Errorf("a long text gives %d bytes", len(got))
	}
	if got := opening(t, openai.Chat, chat(`{"role":"assistant","content":"x"}`)); got != "" {
		t.Errorf("got an opening of nothing: %q", got)
	}
	if got := opening(t, openai.Embeddings, `{"model":"m","input":"x"}`); got != "" {
		t.Errorf("embeddings have an opening: %q", got)
	}
	if a, b := opening(t, openai.Completions, `{"model":"m","prompt":"x"}`), opening(t, openai.Completions, `{"model":"m","prompt":"y"}`); a == b {
		t.Error("two prompts have one opening")
	}
}
