package prompt

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	for _, tc := range []struct {
		name      string
		body      string
		all, last string
	}{
		{"chat", `{"model":"m","messages":[{"role":"system","content":"be kind"},{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]}`, "be kind\none\ntwo\nthree", "three"},
		{"the user's last, not the last", `{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"secret"}]}`, "one\nsecret", "one"},
		{"parts", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"http://x"}},{"type":"text","text":"b"}]}]}`, "a\nb", "a\nb"},
		{"role behind content", `{"messages":[{"content":"one","role":"user"},{"content":"two","role":"assistant"}]}`, "one\ntwo", "one"},
		{"escapes", `{"messages":[{"role":"user","content":"a\n\"b\"\u00e9\ud83d\ude00"}]}`, "a\n\"b\"é😀", "a\n\"b\"é😀"},
		{"Messages", `{"system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"two"}]},{"role":"user","content":[{"type":"tool_result","content":"42"},{"type":"text","text":"three"}]}]}`, "be kind\none\ntwo\nthree", "three"},
		{"a result alone is no text of the user's", `{"messages":[{"role":"user","content":"one"},{"role":"user","content":[{"type":"tool_result","content":"42"}]}]}`, "one", "one"},
		{"Responses", `{"instructions":"be kind","input":[{"role":"user","content":[{"type":"input_text","text":"one"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]}]}`, "be kind\none\ntwo", "one"},
		{"a text as input", `{"input":"one","instructions":"be kind"}`, "one\nbe kind", "one"},
		{"prompts", `{"prompt":["one","two"]}`, "one\ntwo", "two"},
		{"nothing", `{"messages":[]}`, "", ""},
		{"other shapes", `{"messages":{"role":"user"},"system":5,"input":null}`, "", ""},
		{"no object", `[1]`, "", ""},
		{"broken", `{"messages":[{"role":"user","content":"one"},{"role":"user","content":"tw`, "one", "one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := NewClient(nil, []byte(tc.body))
			if got := c.Text(false); got != tc.all {
				t.Errorf("got %q, want %q", got, tc.all)
			}
			if got := c.Text(true); got != tc.last {
				t.Errorf("the last: got %q, want %q", got, tc.last)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	body := `{"metadata":{"a":"1","n":5,"o":{"x":"y"},"a\u0062":"\u00e9","a":"2"},"messages":[{"metadata":{"no":"no"}}]}`
	var got []string
	NewClient(nil, []byte(body)).Metadata(func(k, v string) { got = append(got, k+"="+v) })
	if diff := cmp.Diff([]string{"a=1", "ab=é", "a=2"}, got); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{`{"metadata":"a"}`, `{}`, `[]`, `{"metadata":{"a":`} {
		NewClient(nil, []byte(body)).Metadata(func(k, v string) { t.Errorf("%s: got %q=%q", body, k, v) })
	}
}

func TestHeader(t *testing.T) {
	c := NewClient(http.Header{"X-Team": {"search", "ads"}}, nil)
	if got := c.Header("x-team"); got != "search" {
		t.Errorf("got %q", got)
	}
	if got := c.Header("x-none"); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"metadata":{"a":"b"}}`))
	f.Add([]byte(`{"input":"\ud800","instructions":["x"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := NewClient(nil, body)
		all, last := c.Text(false), c.Text(true)
		c.Metadata(func(string, string) {})
		if json.Valid(body) && utf8.Valid(body) && !utf8.ValidString(all) {
			t.Errorf("%q: text that is not UTF-8: %q", body, all)
		}
		if !strings.Contains(all, last) {
			t.Errorf("%q: the last %q is not in %q", body, last, all)
		}
	})
}
