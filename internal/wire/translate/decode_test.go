package translate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/translate"
)

// TestDecodeForms: what can be written in several ways means the same.
func TestDecodeForms(t *testing.T) {
	type request = translate.Request
	user := func(parts ...translate.Part) func(*request) {
		return func(r *request) { r.Turns[0].Parts = parts }
	}
	media := func(kind translate.Kind, m translate.Media) func(*request) {
		return user(translate.Part{Kind: kind, Media: m})
	}
	thinks := func(want translate.Thinking) func(*request) { return func(r *request) { r.Thinking = want } }
	content := func(part string) string { return `"messages":[{"role":"user","content":[` + part + `]}]` }
	tests := []struct {
		name   string
		p      translate.Protocol
		sample string
		want   func(*request)
		lost   []string
	}{
		{"stop, one", translate.Chat, `"stop":"a"`, func(r *request) { r.Stop = []string{"a"} }, nil},
		{"content that is null", translate.Chat, `"messages":[{"role":"user","content":null}]`, user(), nil},
		{"content of texts", translate.Chat, content(`"hi",{"type":"input_text","text":"ho"}`), user(translate.Part{Text: "hi"}, translate.Part{Text: "ho"}), nil},
		{"image_url that is its address", translate.Chat, content(`{"type":"image_url","image_url":"https://e.com/a"}`), media(translate.KindImage, translate.Media{URL: "https://e.com/a"}), nil},
		{"image_url with parameters", translate.Chat, content(`{"type":"image_url","image_url":{"url":"DATA:image/png;charset=x;base64,AA=="}}`), media(translate.KindImage, translate.Media{MIME: "image/png", Data: "AA=="}), nil},
		{"image_url that is no base64", translate.Chat, content(`{"type":"image_url","image_url":{"url":"data:image/svg+xml,<svg/>"}}`), media(translate.KindImage, translate.Media{URL: "data:image/svg+xml,<svg/>"}), nil},
		{"file by its address", translate.Chat, content(`{"type":"file","file":{"file_data":"https://e.com/a.pdf"}}`), media(translate.KindDocument, translate.Media{URL: "https://e.com/a.pdf"}), nil},
		{"file without its type", translate.Chat, content(`{"type":"file","file":{"file_data":"AAAA"}}`), media(translate.KindDocument, translate.Media{MIME: "application/pdf", Data: "AAAA"}), nil},
		{"file with a format", translate.Chat, content(`{"type":"file","file":{"file_id":"x","format":"text/plain"}}`), media(translate.KindDocument, translate.Media{FileID: "x", Origin: translate.OriginOpenAI, MIME: "text/plain"}), nil},
		{"sound", translate.Chat, content(`{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}`), media(translate.KindAudio, translate.Media{MIME: "audio/mp3", Data: "AAAA"}), nil},
		{"video", translate.Chat, content(`{"type":"video_url","video_url":{"url":"https://e.com/a"}}`), media(translate.KindVideo, translate.Media{URL: "https://e.com/a"}), nil},
		{"a mark on the message", translate.Chat, `"messages":[{"role":"user","content":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, user(translate.Part{Text: "hi", Cache: translate.CacheLong}), nil},
		{"thoughts of Mistral's", translate.Chat, `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]},{"type":"refusal","refusal":"no"}]}]`, func(r *request) {
			r.Turns = append(r.Turns, translate.Turn{Role: translate.RoleAssistant, Parts: []translate.Part{{Kind: translate.KindReasoning, Text: "hm"}, {Kind: translate.KindRefusal, Text: "no"}}})
		}, nil},
		{"instructions that are no text", translate.Chat, `"messages":[{"role":"user","content":"hi"},{"role":"system","content":[{"type":"text","text":"s"},{"type":"image_url","image_url":{"url":"u"}}]}]`, func(r *request) {
			r.Turns = append(r.Turns, translate.Turn{Role: translate.RoleSystem, Parts: []translate.Part{{Text: "s"}}})
		}, []string{"messages[]"}},
		{"reasoning, enabled", translate.Chat, `"reasoning":{"enabled":true,"exclude":true}`, thinks(translate.Thinking{Effort: translate.EffortMedium, Summary: "none"}), nil},
		{"reasoning, not enabled", translate.Chat, `"reasoning":{"enabled":false}`, thinks(translate.Thinking{Effort: translate.EffortNone}), nil},
		{"reasoning, effort", translate.Chat, `"reasoning":{"effort":"low","enabled":true,"max_tokens":null,"new":1}`, thinks(translate.Thinking{Effort: translate.EffortLow}), []string{"reasoning.new"}},
		{"thinking, disabled", translate.Chat, `"thinking":{"type":"disabled"}`, thinks(translate.Thinking{Effort: translate.EffortNone}), nil},
		{"metadata that is no text", translate.Chat, `"metadata":{"a":"b","c":1}`, func(r *request) { r.Metadata = map[string]string{"a": "b"} }, []string{"metadata.c"}},
		{"format text", translate.Chat, `"response_format":{"type":"text"}`, func(*request) {}, nil},
		{"format with words", translate.Chat, `"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{},"x":1}}`, func(r *request) {
			r.Format = translate.Format{Kind: translate.FormatSchema, Name: "n", Description: "d", Schema: []byte("{}")}
		}, []string{"response_format.json_schema.x"}},
		{"custom tool of any text", translate.Chat, `"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"text"}}}]`, func(r *request) {
			r.Tools = []translate.Tool{{Kind: translate.ToolCustom, Name: "f"}}
		}, nil},
		{"tool with a mark", translate.Chat, `"tools":[{"type":"function","function":{"name":"f","cache_control":{"type":"ephemeral"}}}]`, func(r *request) {
			r.Tools = []translate.Tool{{Name: "f", Cache: translate.CacheShort}}
		}, nil},
		{"logit_bias of nothing", translate.Chat, `"logit_bias":{},"logprobs":false,"n":1,"store":false`, func(*request) {}, nil},
		{"many unknown fields", translate.Chat, strings.Repeat(`"x":1,`, 100) + `"y":{"z":1}`, func(*request) {}, []string{"x", "y"}},

		{"thinking, omitted", translate.Messages, `"thinking":{"type":"enabled","budget_tokens":2000,"display":"omitted"}`, thinks(translate.Thinking{Budget: 2000, Summary: "none"}), nil},
		{"thinking, summarized", translate.Messages, `"thinking":{"type":"adaptive","display":"summarized"}`, thinks(translate.Thinking{Adaptive: true, Summary: "auto"}), nil},
		{"thinking, disabled with an effort", translate.Messages, `"thinking":{"type":"disabled"},"output_config":{"effort":"high"}`, thinks(translate.Thinking{Effort: translate.EffortNone}), nil},
		{"format in the older place", translate.Messages, `"output_format":{"type":"json_schema","schema":{"a":1}}`, func(r *request) {
			strict := true
			r.Format = translate.Format{Kind: translate.FormatSchema, Strict: &strict, Schema: []byte(`{"a":1}`)}
		}, nil},
		{"type custom", translate.Messages, `"tools":[{"type":"custom","name":"f","input_schema":{}}]`, func(r *request) {
			r.Tools = []translate.Tool{{Name: "f", Schema: []byte("{}")}}
		}, nil},
		{"tools that run elsewhere", translate.Messages, `"tools":[{"type":"mcp_toolset","mcp_server_name":"x"}]`, func(r *request) {
			r.Tools = []translate.Tool{{Kind: translate.ToolServer, Name: "mcp_toolset", Type: "mcp_toolset"}}
		}, []string{"tools[].mcp_server_name"}},
		{"type behind the rest", translate.Messages, content(`{"source":{"data":"abc","type":"text"},"title":"t","type":"document"}`), media(translate.KindDocument, translate.Media{Plain: "abc", Name: "t"}), nil},
		{"a search result", translate.Messages, content(`{"type":"search_result","source":"https://e.com","title":"t","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), media(translate.KindDocument, translate.Media{Plain: "a\n\nb", Name: "t", MIME: "text/plain"}), nil},
		{"empty blocks", translate.Messages, content(`{"type":"text","text":""},{"type":"thinking","thinking":"","signature":""},{"type":"text","text":"a"}`), user(translate.Part{Text: "a"}), nil},
		{"calls without an input", translate.Messages, `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"}]}]`, func(r *request) {
			r.Turns = append(r.Turns, translate.Turn{Role: translate.RoleAssistant, Parts: []translate.Part{{Kind: translate.KindCall, Call: translate.Call{ID: "a", Name: "f", Arguments: "{}"}}}})
		}, nil},
		{"a service tier that nobody knows", translate.Messages, `"service_tier":"x"`, func(*request) {}, []string{"service_tier"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := request{Model: "m", Turns: []translate.Turn{{Parts: []translate.Part{{Text: "hi"}}}}}
			if tt.p == translate.Messages {
				want.MaxOutput, want.IncludeUsage = 1000, true
			}
			tt.want(&want)
			f := requestField{name: tt.name, sample: tt.sample}
			got, losses, err := codecOf(t, tt.p).DecodeRequest(f.with(t, tt.p))
			if err != nil {
				t.Fatal(err)
			}
			var lost []string
			for _, l := range losses {
				lost = append(lost, l.Path)
			}
			if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.lost, lost, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMediaOfAnswers: a chat client gets the images that a model makes, whole and
// streamed; Messages has no place for them.
func TestMediaOfAnswers(t *testing.T) {
	a := &translate.Answer{ID: "x", Parts: []translate.Part{
		{Kind: translate.KindImage, Media: translate.Media{Data: "/9j/AAAA"}},
		{Kind: translate.KindImage, Media: translate.Media{URL: "https://e.com/a"}},
	}, End: translate.End{Finish: translate.FinishStop}}
	for p, want := range map[translate.Protocol]int{translate.Chat: 1, translate.Messages: 0} {
		c := codecOf(t, p)
		e := c.NewEncoder(anyRequest, publicModel)
		var stream []byte
		for _, ev := range translate.Unfold(a) {
			stream = e.Event(stream, &ev)
		}
		readers[p](t, stream, true)
		for form, text := range map[string]string{"whole": string(c.EncodeAnswer(nil, a, anyRequest, publicModel)), "stream": string(stream)} {
			if strings.Count(text, `"url":"data:image/jpeg;base64,/9j/AAAA"`) != want || strings.Count(text, `"url":"https://e.com/a"`) != want {
				t.Errorf("%v, %s: got %s", p, form, text)
			}
		}
	}
}

func TestLossSaysWhy(t *testing.T) {
	l := translate.Loss{Path: "a[].b", Why: "no such thing"}
	if got, want := l.String(), "a[].b: no such thing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
