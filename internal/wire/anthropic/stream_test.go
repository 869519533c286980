package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
)

const (
	public   = "public-model"
	maxEvent = 1 << 20
)

// followed is what came of a stream.
type followed struct {
	out    []byte
	infos  []anthropic.EventInfo
	errs   []error
	stream *anthropic.Stream
}

// follow sends a stream through, as a gateway does, to its end.
func follow(t *testing.T, body io.Reader) followed {
	t.Helper()
	f := followed{stream: anthropic.NewStream(public)}
	r := sse.NewReader(body, maxEvent)
	for {
		ev, err := r.Next()
		if err == nil && !ev.HasData {
			continue
		}
		if err != nil && !ev.HasData {
			break
		}
		var info anthropic.EventInfo
		var bad error
		before := len(f.out)
		f.out, info, bad = f.stream.Event(f.out, ev.Name, ev.Data)
		if info.Drop && len(f.out) != before {
			t.Errorf("%s was dropped and gave %s", ev.Data, f.out[before:])
		}
		f.infos = append(f.infos, info)
		f.errs = append(f.errs, bad)
		if err != nil || bad != nil || info.Fault != nil {
			break
		}
	}
	f.out = f.stream.AppendStop(f.out)
	return f
}

// seen is what a client makes of a stream.
func seen(t *testing.T, out []byte) *client {
	t.Helper()
	var c client
	r := sse.NewReader(bytes.NewReader(out), 2*maxEvent)
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return &c
		}
		if err != nil {
			t.Fatal(err)
		}
		c.read(t, string(ev.Name), string(ev.Data))
	}
}

// framings are ways in which the same stream may come.
func framings(body []byte) map[string]io.Reader {
	crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	comments := bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n: keep-alive\n\n: x\n\n"))
	return map[string]io.Reader{
		"whole":      bytes.NewReader(body),
		"bytes":      iotest.OneByteReader(bytes.NewReader(body)),
		"crlf":       iotest.OneByteReader(bytes.NewReader(crlf)),
		"cr":         bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\r"))),
		"comments":   iotest.HalfReader(bytes.NewReader(comments)),
		"no names":   bytes.NewReader(withoutNames(body)),
		"with error": iotest.DataErrReader(bytes.NewReader(body)),
	}
}

// withoutNames drops the event lines, as some proxies do.
func withoutNames(body []byte) []byte {
	var out []byte
	for line := range bytes.Lines(body) {
		if !bytes.HasPrefix(line, []byte("event:")) {
			out = append(out, line...)
		}
	}
	return out
}

func TestStreamRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		body := readFile(t, rec.File)
		for framing, r := range framings(body) {
			t.Run(rec.File+"/"+framing, func(t *testing.T) {
				f := follow(t, r)
				if strings.Contains(rec.File, "spliced") {
					checkSpliced(t, &f)
					return
				}
				checkRecording(t, &rec, &f)
			})
		}
	}
}

func checkRecording(t *testing.T, rec *recording, f *followed) {
	t.Helper()
	if err := errors.Join(f.errs...); err != nil {
		t.Fatal(err)
	}
	c, want := seen(t, f.out), rec.Expect
	c.end(t)
	text, reasoning := c.text()
	want.Text.check(t, "text", text)
	want.Reasoning.check(t, "reasoning", reasoning)
	types, calls := []string{}, []expectedCall{}
	for i := range c.Content {
		b := &c.Content[i]
		types = append(types, b.Type)
		if b.Type == "tool_use" {
			if b.json == "" {
				b.json = "{}"
			}
			calls = append(calls, expectedCall{ID: b.ID, Name: b.Name, InputJSON: b.json})
		}
	}
	if diff := cmp.Diff(want.BlockTypes, types); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.ToolCalls, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if *c.StopReason != want.StopReason || c.Model != public || c.pings != want.Pings {
		t.Errorf("got stop_reason %q, model %q and %d pings", *c.StopReason, c.Model, c.pings)
	}
	checkUsage(t, f.stream.Usage(), want.Usage)
	checkCommits(t, f.infos, len(want.BlockTypes) == 0 || text == "" && len(calls) == 0)
}

// checkCommits checks which events may commit an answer to its upstream.
func checkCommits(t *testing.T, infos []anthropic.EventInfo, refused bool) {
	t.Helper()
	finishes, refusals, first := 0, 0, -1
	for i, info := range infos {
		if info.Content && first < 0 {
			first = i
		}
		if info.Finish {
			finishes++
		}
		if info.Refusal {
			refusals++
		}
		if info.Done != (i == len(infos)-1) {
			t.Errorf("event %d of %d: done is %v", i, len(infos), info.Done)
		}
	}
	if finishes != 1 || (refusals == 1) != refused || first < 1 {
		t.Errorf("got %d ends and %d refusals, and the first content in event %d", finishes, refusals, first)
	}
}

// checkSpliced checks the reading of a retry that was spliced into a stream:
// it ends at the second message, and the two calls are never joined.
func checkSpliced(t *testing.T, f *followed) {
	t.Helper()
	last := len(f.errs) - 1
	if !errors.Is(f.errs[last], fault.ErrUndecodable) || !f.infos[last].Malformed || f.stream.Finished() {
		t.Errorf("got %+v, %v", f.infos[last], f.errs[last])
	}
	if _, info, err := f.stream.Event(nil, nil, []byte(`{"type":"ping"}`)); err == nil || !info.Malformed {
		t.Error("the stream went on")
	}
	c := seen(t, f.out)
	if call := c.Content[1]; call.ID != "toolu_first" || call.json != `{"value":"Spark` || c.stopped {
		t.Errorf("got %+v", call)
	}
}

func checkUsage(t *testing.T, got anthropic.Usage, want map[string]any) {
	t.Helper()
	w := anthropic.Usage{
		OutputTokens:         number(want, "output_tokens"),
		CachedTokens:         number(want, "cache_read_input_tokens"),
		CacheWriteTokens:     number(want, "cache_creation_input_tokens"),
		CacheWriteLongTokens: number(want, "cache_creation", "ephemeral_1h_input_tokens"),
		ReasoningTokens:      number(want, "output_tokens_details", "thinking_tokens"),
		Known:                true,
	}
	w.InputTokens = number(want, "input_tokens") + w.CachedTokens + w.CacheWriteTokens
	if got != w {
		t.Errorf("got usage %+v, want %+v", got, w)
	}
}

// TestStreamCut cuts recorded streams after every event: only a stream that
// told why it ended is whole.
func TestStreamCut(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		events := strings.SplitAfter(strings.TrimRight(string(readFile(t, rec.File)), "\n")+"\n\n", "\n\n")
		events = events[:len(events)-1]
		for n := range events {
			f := follow(t, strings.NewReader(strings.Join(events[:n], "")))
			told := strings.Contains(strings.Join(events[:n], ""), `"stop_reason":"`)
			if broken := len(f.errs) > 0 && f.errs[len(f.errs)-1] != nil; f.stream.Finished() != (told && !broken) {
				t.Errorf("%s after %d of %d events: finished is %v", rec.File, n, len(events), f.stream.Finished())
			}
			c := seen(t, f.out)
			if f.stream.Finished() {
				c.end(t)
			}
		}
	}
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`
	text0 = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hello = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`
	stop0 = `{"type":"content_block_stop","index":0}`
	ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}`
	over  = `{"type":"message_stop"}`
)

// stream frames the data of events, without names.
func stream(data ...string) io.Reader {
	var b []byte
	for _, d := range data {
		b = sse.Append(b, "", []byte(d))
	}
	return bytes.NewReader(b)
}

func TestStreamMends(t *testing.T) {
	const call = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`
	tests := []struct {
		name   string
		events []string
		want   []string // kinds of the events that the client gets
		reason string
	}{
		{"whole", []string{start, text0, hello, stop0, ended, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"no message_stop", []string{start, text0, hello, stop0, ended}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"no block stop", []string{start, text0, hello, ended, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"no message_delta", []string{start, text0, hello, stop0, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"no message_delta after a call", []string{start, call, over}, []string{"message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"}, "tool_use"},
		{"stop_reason null, then told", []string{start, text0, hello, stop0, `{"type":"message_delta","delta":{"stop_reason":null},"usage":{}}`, ended, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_delta", "message_stop"}, "end_turn"},
		{"no usage", []string{`{"type":"message_start","message":{"id":"x"}}`, text0, hello, stop0, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"usage and content null", []string{`{"type":"message_start","message":{"content":null,"usage":null,"id":"x"}}`, text0, hello, stop0, `{"type":"message_delta","usage":null,"delta":{"stop_reason":"end_turn"}}`, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"begins twice", []string{start, start, text0, hello, stop0, ended, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"begins twice with a ping and another id", []string{start, `{"type":"ping"}`, strings.Replace(start, "msg_1", "msg_2", 1), text0, hello, stop0, ended, over}, []string{"message_start", "ping", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"unknown events", []string{start, `{"type":"new_thing","x":1}`, text0, hello, stop0, ended, over, `{"type":"late"}`}, []string{"message_start", "new_thing", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
		{"line breaks between values", []string{strings.ReplaceAll(start, ",", ",\n"), text0, hello, stop0, ended, over}, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, "end_turn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := follow(t, stream(tt.events...))
			if err := errors.Join(f.errs...); err != nil || !f.stream.Finished() {
				t.Fatalf("finished %v, %v", f.stream.Finished(), err)
			}
			c := seen(t, f.out)
			c.end(t)
			var names []string
			for line := range strings.Lines(string(f.out)) {
				if name, ok := strings.CutPrefix(line, "event: "); ok {
					names = append(names, strings.TrimSpace(name))
				}
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if *c.StopReason != tt.reason || c.Model != public {
				t.Errorf("got stop_reason %q and model %q", *c.StopReason, c.Model)
			}
		})
	}
}

func TestStreamRefusesDisorder(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"no JSON", []string{start, "{"}, "the text ends too early at byte 1"},
		{"no object", []string{"[1]"}, "the event is not an object at byte 0"},
		{"no type", []string{start, `{"a":1}`}, "the event has no type"},
		{"type is none", []string{start, `{"type":7}`}, "the type of the event is no string"},
		{"message_start without a message", []string{`{"type":"message_start"}`}, "message_start has no message"},
		{"no beginning", []string{text0}, "a block comes before the message begins"},
		{"an end without a beginning", []string{ended}, "the end comes before the message begins"},
		{"second message", []string{start, text0, hello, start}, "a second message begins inside the first"},
		{"second message after the end", []string{start, text0, hello, stop0, ended, start}, "a second message begins inside the first"},
		{"block begins twice", []string{start, text0, text0}, "block 0 begins twice, or too many are open"},
		{"block has not begun", []string{start, hello}, "block 0 has not begun or has ended"},
		{"block has ended", []string{start, text0, stop0, hello}, "block 0 has not begun or has ended"},
		{"block after the end", []string{start, text0, stop0, ended, text0}, "a block comes after the end of the message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := follow(t, stream(tt.events...))
			got := f.errs[len(f.errs)-1]
			if len(f.errs) != len(tt.events) || !errors.Is(got, fault.ErrUndecodable) || got.Error() != "undecodable answer: "+tt.want {
				t.Errorf("got error %v in event %d, want %q in the last of %d", got, len(f.errs), tt.want, len(tt.events))
			}
		})
	}
}

func TestStreamEmpty(t *testing.T) {
	// A message that ends without having said anything and without a reason is
	// none.
	f := follow(t, stream(start, text0, stop0, over))
	if f.stream.Finished() || !f.infos[3].Done || strings.Contains(string(f.out), "message_stop") {
		t.Errorf("got %+v and %s", f.infos[3], f.out)
	}
	if follow(t, stream()).stream.Finished() {
		t.Error("no stream at all is finished")
	}
}

func TestEventInfo(t *testing.T) {
	block := func(b string) string {
		return `{"type":"content_block_start","index":0,"content_block":` + b + `}`
	}
	delta := func(d string) string { return `{"type":"content_block_delta","index":0,"delta":` + d + `}` }
	content := anthropic.EventInfo{Content: true}
	tests := []struct {
		name   string
		before []string
		event  string
		want   anthropic.EventInfo
	}{
		{"beginning", nil, start, anthropic.EventInfo{}},
		{"ping", nil, `{"type":"ping"}`, anthropic.EventInfo{}},
		{"unknown event", nil, `{"type":"x","text":"y"}`, anthropic.EventInfo{}},
		{"empty text block", []string{start}, text0, anthropic.EventInfo{}},
		{"text block with text", []string{start}, block(`{"type":"text","text":"a"}`), content},
		{"thinking block", []string{start}, block(`{"type":"thinking","thinking":"","signature":""}`), anthropic.EventInfo{}},
		{"redacted thinking", []string{start}, block(`{"type":"redacted_thinking","data":"x"}`), content},
		{"call", []string{start}, block(`{"type":"tool_use","id":"a","name":"b","input":{}}`), content},
		{"unknown block", []string{start}, block(`{"type":"fallback"}`), content},
		{"text", []string{start, text0}, hello, content},
		{"empty text", []string{start, text0}, delta(`{"type":"text_delta","text":""}`), anthropic.EventInfo{}},
		{"thought", []string{start, text0}, delta(`{"type":"thinking_delta","thinking":"a"}`), content},
		{"signature", []string{start, text0}, delta(`{"type":"signature_delta","signature":"a"}`), content},
		{"arguments", []string{start, text0}, delta(`{"type":"input_json_delta","partial_json":"{"}`), content},
		{"empty arguments", []string{start, text0}, delta(`{"type":"input_json_delta","partial_json":""}`), anthropic.EventInfo{}},
		{"block stop", []string{start, text0}, stop0, anthropic.EventInfo{}},
		{"end", []string{start, text0, hello, stop0}, ended, anthropic.EventInfo{Content: true, Finish: true}},
		{"refusal", []string{start, text0, stop0}, strings.Replace(ended, "end_turn", "refusal", 1), anthropic.EventInfo{Content: true, Finish: true, Refusal: true}},
		{"refusal in the middle", []string{start, text0, hello, stop0}, strings.Replace(ended, "end_turn", "refusal", 1), anthropic.EventInfo{Content: true, Finish: true}},
		{"no reason yet", []string{start}, `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":1}}`, anthropic.EventInfo{}},
		{"stop", []string{start, text0, hello, ended}, over, anthropic.EventInfo{Done: true}},
		{"after the stop", []string{start, text0, hello, ended, over}, hello, anthropic.EventInfo{Drop: true}},
		{"no data", []string{start}, " ", anthropic.EventInfo{Drop: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := anthropic.NewStream(public)
			for _, b := range tt.before {
				if _, _, err := s.Event(nil, nil, []byte(b)); err != nil {
					t.Fatal(err)
				}
			}
			_, got, err := s.Event(nil, nil, []byte(tt.event))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventFault(t *testing.T) {
	tests := []struct {
		name, event, data, kind, message string
	}{
		{"overloaded", "error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded", "Overloaded"},
		{"by its name alone", "error", `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded", "Overloaded"},
		{"by its object alone", "", `{"error":{"message":"This model's maximum context length is 5 tokens"}}`, "context_length", "This model's maximum context length is 5 tokens"},
		{"a bare message", "", `{"message":"Internal server error"}`, "server", "Internal server error"},
		{"content policy", "error", `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, "content_policy", "Output blocked by content filtering policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, info, err := anthropic.NewStream(public).Event(nil, []byte(tt.event), []byte(tt.data))
			if err != nil || info.Fault == nil || !info.Drop || len(out) > 0 {
				t.Fatalf("got %+v, %q, %v", info, out, err)
			}
			if got := info.Fault; got.Kind.String() != tt.kind || got.Message != tt.message {
				t.Errorf("got %v: %q", got.Kind, got.Message)
			}
		})
	}
}

// TestStreamKeepsTheRest compares all events of the recorded streams that need
// no mending, but for the model.
func TestStreamKeepsTheRest(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		if strings.Contains(rec.File, "message-start") || strings.Contains(rec.File, "incomplete") {
			continue
		}
		body := readFile(t, rec.File)
		if !bytes.HasSuffix(body, []byte("\n\n")) {
			body = append(body, '\n', '\n')
		}
		f := follow(t, bytes.NewReader(body))
		if diff := cmp.Diff(values(t, body), values(t, f.out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rec.File, diff)
		}
	}
}

// values returns the data of all events with the model replaced.
func values(t *testing.T, body []byte) (all []map[string]any) {
	t.Helper()
	r := sse.NewReader(bytes.NewReader(body), maxEvent)
	for {
		ev, err := r.Next()
		if err != nil {
			return all
		}
		var v map[string]any
		if err := json.Unmarshal(ev.Data, &v); err != nil {
			t.Fatal(err)
		}
		if m, ok := v["message"].(map[string]any); ok {
			m["model"] = public
		}
		all = append(all, v)
	}
}

func TestEventAllocates(t *testing.T) {
	s := anthropic.NewStream(public)
	for _, ev := range []string{start, text0} {
		if _, _, err := s.Event(nil, nil, []byte(ev)); err != nil {
			t.Fatal(err)
		}
	}
	dst, name, data := make([]byte, 0, 1<<10), []byte("content_block_delta"), []byte(hello)
	if got := testing.AllocsPerRun(100, func() {
		if _, _, err := s.Event(dst, name, data); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("got %v allocations an event, want 0", got)
	}
}
