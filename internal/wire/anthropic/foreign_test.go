package anthropic_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/anthropic"
)

func TestForeign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anthropic.Foreign{
			Origin: rapid.SampledFrom([]string{"", "google", "openai"}).Draw(t, "origin"),
			ID:     rapid.String().Draw(t, "id"),
			Data:   rapid.String().Draw(t, "data"),
			Before: rapid.Bool().Draw(t, "before"),
		}
		got, ok := anthropic.ParseForeign(want.String())
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Fatalf("%q: %v (-want +got):\n%s", want.String(), ok, diff)
		}
	})
	for _, signature := range []string{"", "EqoBCkgIBxAB", "gatewright", "gatewright:a:b", "gatewright:a::%zz:d"} {
		if got, ok := anthropic.ParseForeign(signature); ok {
			t.Errorf("%q: got %+v", signature, got)
		}
	}
}

func TestRewriteTakesForeignThoughtsOut(t *testing.T) {
	foreign := `{"type":"thinking","thinking":"a","signature":"` + anthropic.Foreign{Origin: "google", Data: "x"}.String() + `"}`
	const own, text = `{"type":"thinking","thinking":"b","signature":"gatewrong"}`, `{"type":"text","text":"c"}`
	const none = `{"type":"text","text":"(nothing)"}`
	for content, want := range map[string]string{
		foreign + "," + text:                     text,
		foreign + " , " + foreign + "," + text:   text,
		text + "," + foreign:                     text,
		own + "," + foreign + "," + text:         own + "," + text,
		foreign + "," + text + "," + foreign:     text,
		own + "," + foreign + " , " + foreign:    own,
		own + "," + text:                         own + "," + text,
		foreign:                                  none,
		foreign + "," + foreign:                  none,
		foreign + `,"a",` + foreign + "," + text: `"a",` + text,
	} {
		body := func(content string) string {
			return `{"disable_fallbacks":true,"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[` + content + `]}]}`
		}
		r := scanned(t, anthropic.Messages, body(content))
		got := string(r.Rewrite(nil, []byte(body(content)), anthropic.Rewrite{Model: "n"}))
		again := scanned(t, anthropic.Messages, got)
		if clean := `{"model":"n"` + body(want)[len(`{"disable_fallbacks":true,"model":"m"`):]; compact(got) != compact(clean) || again.Model != "n" {
			t.Errorf("%s\ngot  %s\nwant %s", content, got, clean)
		}
	}
}

// compact drops the blanks that removals leave.
func compact(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != ' ' {
			out = append(out, s[i])
		}
	}
	return string(out)
}
