package translate_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/translate"
)

// steps sends the data of events, one after the other, and returns what each is.
func steps(t *testing.T, in, up translate.Protocol, events ...string) (infos []translate.StreamInfo, out string, s *translate.Stream) {
	t.Helper()
	s = translate.NewStream(codecOf(t, in), codecOf(t, up), anyRequest, anyUpstream, publicModel, someday)
	var b []byte
	for _, data := range events {
		var info translate.StreamInfo
		var err error
		if b, info, err = s.Event(b, nil, []byte(data)); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		infos = append(infos, info)
	}
	return infos, string(b), s
}

func TestStreamInfos(t *testing.T) {
	chunk := func(delta, finish string) string {
		return `{"id":"x","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
	}
	const usage = `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	quiet, content := translate.StreamInfo{}, translate.StreamInfo{Content: true}
	ended, done := translate.StreamInfo{Content: true, Finish: true}, translate.StreamInfo{Done: true}
	tests := []struct {
		name   string
		events []string
		want   []translate.StreamInfo
	}{
		{
			"text",
			[]string{chunk(`{"role":"assistant","content":""}`, "null"), chunk(`{"content":"a"}`, "null"), chunk(`{}`, `"stop"`), usage, "[DONE]", chunk(`{"content":"late"}`, "null")},
			[]translate.StreamInfo{quiet, content, ended, quiet, done, quiet},
		},
		{
			"a call commits by its name",
			[]string{chunk(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}`, "null"), chunk(`{}`, `"tool_calls"`), "[DONE]"},
			[]translate.StreamInfo{content, ended, done},
		},
		{
			"refusal",
			[]string{chunk(`{"role":"assistant","content":""}`, "null"), chunk(`{}`, `"content_filter"`), "[DONE]"},
			[]translate.StreamInfo{quiet, {Content: true, Finish: true, Refusal: true}, done},
		},
		{
			"refusal in the middle",
			[]string{chunk(`{"content":"a"}`, "null"), chunk(`{}`, `"content_filter"`), "[DONE]"},
			[]translate.StreamInfo{content, ended, done},
		},
		{
			"refusal with words",
			[]string{chunk(`{"refusal":"no"}`, "null"), chunk(`{}`, `"stop"`), "[DONE]"},
			[]translate.StreamInfo{{Content: true, Refusal: true}, {Content: true, Finish: true}, done},
		},
		{
			"words after a refusal",
			[]string{chunk(`{"refusal":"no"}`, "null"), chunk(`{"content":"yes"}`, "null"), chunk(`{"refusal":"no"}`, "null")},
			[]translate.StreamInfo{{Content: true, Refusal: true}, content, content},
		},
		{"azure's first chunk", []string{`{"id":"","choices":[],"prompt_filter_results":[{"x":1}]}`, chunk(`{"content":"a"}`, "null")}, []translate.StreamInfo{quiet, content}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, _ := steps(t, translate.Messages, translate.Chat, tt.events...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("infos (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStreamEndsWithoutDone: an upstream that told why the answer ended may leave
// out the rest; one that did not broke off.
func TestStreamEndsWithoutDone(t *testing.T) {
	const said = `{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`
	const ends = `{"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	_, out, s := steps(t, translate.Messages, translate.Chat, said, ends)
	rest, info := s.Close([]byte(out))
	if seen := readMessages(t, rest, true); !info.Done || !s.Finished() || !seen.over || seen.text != "a" {
		t.Errorf("got %+v and %s", info, rest)
	}
	if again, info := s.Close(nil); len(again) > 0 || info.Done {
		t.Errorf("closed again: %+v and %s", info, again)
	}
	_, _, s = steps(t, translate.Messages, translate.Chat, said)
	if rest, info := s.Close(nil); info.Done || s.Finished() || len(rest) > 0 {
		t.Errorf("got %+v and %s", info, rest)
	}
}

// TestStreamIsWholeWhateverFollows: an answer that has told why it ended has its
// end, for clients of every protocol, although an error or nonsense comes behind.
func TestStreamIsWholeWhateverFollows(t *testing.T) {
	const said = `{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"length"}]}`
	const failed = `{"error":{"message":"x"},"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
	for _, in := range []translate.Protocol{translate.Chat, translate.Messages, translate.Responses} {
		for name, behind := range map[string]string{"an error": failed, "nonsense": `{"choices":`} {
			c := codecOf(t, in)
			s := translate.NewStream(c, codecOf(t, translate.Chat), anyRequest, anyUpstream, publicModel, someday)
			out, _, err := s.Event(nil, nil, []byte(said))
			if err != nil {
				t.Fatal(err)
			}
			out, info, err := s.Event(out, nil, []byte(behind))
			if info.Fault != nil || (err != nil) != (name == "nonsense") || info.Done == (err != nil) {
				t.Errorf("%v, %s: got %+v, %v", in, name, info, err)
			}
			out, _ = s.Close(out)
			if seen := seenBy(t, in, out, true); !seen.over || seen.text != "a" || !s.Finished() {
				t.Errorf("%v, %s: got %+v of %s", in, name, seen, out)
			}
			if u := s.Usage(); (u.Input == 3 && u.Output == 2) != (name == "an error") {
				t.Errorf("%v, %s: usage %+v", in, name, u)
			}
		}
	}
}

func TestStreamFault(t *testing.T) {
	s := translate.NewStream(codecOf(t, translate.Chat), codecOf(t, translate.Messages), anyRequest, anyUpstream, publicModel, someday)
	out, info, err := s.Event(nil, []byte("error"), []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	if err != nil || info.Fault == nil || info.Fault.Kind != fault.Overloaded || len(out) > 0 {
		t.Errorf("got %+v, %s, %v", info, out, err)
	}
	if out, info, err := s.Event(nil, nil, []byte(`{"type":"message_start","message":{"id":"x"}}`)); len(out) > 0 || info != (translate.StreamInfo{}) || err != nil {
		t.Errorf("after the error: got %+v, %s, %v", info, out, err)
	}
	if out, info := s.Close(nil); len(out) > 0 || info.Done {
		t.Errorf("at the end: got %+v, %s", info, out)
	}
}

// TestStreamBreaks tells clients that the stream broke off, from where it stands.
func TestStreamBreaks(t *testing.T) {
	const said = `{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`
	f := &fault.Fault{Kind: fault.Server, Status: 502, Type: "upstream_error", Code: "upstream_truncated", Message: "broke off"}
	for in, want := range map[translate.Protocol]string{
		translate.Messages:  `{"type":"api_error","message":"broke off"}`,
		translate.Responses: `"type":"response.failed","sequence_number":6`,
	} {
		_, _, s := steps(t, in, translate.Chat, said)
		if out := string(s.Break(nil, f)); !strings.Contains(out, want) {
			t.Errorf("%v: got %s", in, out)
		}
		if out, info := s.Close(nil); len(out) > 0 || info.Done {
			t.Errorf("%v: something follows: %s", in, out)
		}
	}
}

// TestRefused tells answers that are nothing but a refusal.
func TestRefused(t *testing.T) {
	text, refusal := translate.Part{Kind: translate.KindText, Text: "a"}, translate.Part{Kind: translate.KindRefusal, Text: "no"}
	filtered := translate.End{Finish: translate.FinishFilter}
	for name, tt := range map[string]struct {
		answer translate.Answer
		want   bool
	}{
		"an answer":                {translate.Answer{Parts: []translate.Part{text}}, false},
		"nothing":                  {translate.Answer{}, false},
		"words":                    {translate.Answer{Parts: []translate.Part{refusal}}, true},
		"a filter":                 {translate.Answer{End: filtered, Parts: []translate.Part{{Kind: translate.KindText}}}, true},
		"an answer, then a filter": {translate.Answer{End: filtered, Parts: []translate.Part{text}}, false},
		"an answer, then words":    {translate.Answer{Parts: []translate.Part{text, refusal}}, false},
		"a call":                   {translate.Answer{End: filtered, Parts: []translate.Part{{Kind: translate.KindCall}}}, false},
	} {
		if got := tt.answer.Refused(); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestStreamDates: an answer whose upstream does not date it has the date of
// today.
func TestStreamDates(t *testing.T) {
	_, out, _ := steps(t, translate.Chat, translate.Messages, `{"type":"message_start","message":{"id":"msg_1"}}`)
	if !strings.Contains(out, `"created":1800000000`) {
		t.Errorf("got %s", out)
	}
}

func TestChatStreamRefusesDisorder(t *testing.T) {
	piece := func(index, args string) string {
		return `{"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":` + index + `,"id":"c` + index + `","function":{"name":"f","arguments":"` + args + `"}}]},"finish_reason":null}]}`
	}
	for name, tt := range map[string]struct {
		events []string
		want   string
	}{
		"a call goes on after it was whole": {[]string{piece("0", `{}`), piece("1", `{`), piece("0", `x`)}, "a call goes on after its arguments were whole"},
		"too much waits":                    {[]string{piece("0", `{`), piece("1", strings.Repeat("x", 17<<20)), piece("1", strings.Repeat("x", 17<<20))}, "more than 33554432 bytes wait for the end of a part"},
		"no JSON":                           {[]string{"{"}, "the text ends too early at byte 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := translate.NewStream(codecOf(t, translate.Messages), codecOf(t, translate.Chat), anyRequest, anyUpstream, publicModel, time.Unix(0, 0))
			var err error
			for _, data := range tt.events {
				if err != nil {
					t.Fatalf("an error too early: %v", err)
				}
				_, _, err = s.Event(nil, nil, []byte(data))
			}
			if !errors.Is(err, fault.ErrUndecodable) || err.Error() != "undecodable answer: "+tt.want {
				t.Errorf("got %v", err)
			}
			if out, info := s.Close(nil); len(out) > 0 || info.Done {
				t.Errorf("at the end: got %+v, %s", info, out)
			}
		})
	}
}

// TestInParallel encodes one request many times at once, as attempts do.
func TestInParallel(t *testing.T) {
	body := []byte(`{"model":"m","reasoning_effort":"high","response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}},
		"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","tool_calls":[{"id":"c.1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c.1","content":"r"}],
		"tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"g"}}]}`)
	r, _, err := codecOf(t, translate.Chat).DecodeRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for p := translate.Messages; p <= translate.Responses; p++ {
		c, ok := translate.For(p)
		if !ok {
			continue
		}
		want, _, err := c.EncodeRequest(r, upstreams[1])
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			all.Go(func() {
				for range 20 {
					if got, _, err := c.EncodeRequest(r, upstreams[1]); err != nil || string(got) != string(want) {
						t.Errorf("%v: %v, %s", p, err, got)
					}
				}
			})
		}
	}
	all.Wait()
}
