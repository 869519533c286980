package responses_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/sse"
)

// reading is what came of a stream.
type reading struct {
	client            *client
	out               string // what the client got
	events, drops     int
	firstContent      int // number of the event, from 1
	finished, refused bool
	fault             *fault.Fault
	usage             responses.Usage
	owned             responses.Owned
}

// readStream takes a stream as the gateway does and gives a client what the
// client gets.
func readStream(t *testing.T, body io.Reader) *reading {
	t.Helper()
	r := &reading{client: newClient()}
	s := responses.NewStream(public)
	events := sse.NewReader(body, maxEvent)
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !ev.HasData {
			continue
		}
		r.events++
		out, info, err := s.Event(nil, ev.Name, ev.Data)
		if err != nil {
			t.Fatalf("event %d: %v", r.events, err)
		}
		if info.Drop {
			r.drops++
		}
		if info.Drop != (len(out) == 0) {
			t.Errorf("event %d: dropped %v, gave %q", r.events, info.Drop, out)
		}
		if info.Content && r.firstContent == 0 {
			r.firstContent = r.events
		}
		if info.Fault != nil && r.fault == nil {
			r.fault = info.Fault
		}
		r.refused = r.refused || info.Refusal
		r.give(t, out)
	}
	r.finished, r.usage, r.owned = s.Finished(), s.Usage(), s.Owned()
	return r
}

// give gives a client framed events.
func (r *reading) give(t *testing.T, framed []byte) {
	t.Helper()
	r.out += string(framed)
	events := sse.NewReader(bytes.NewReader(framed), maxEvent)
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		r.client.read(t, ev)
	}
}

func TestStreamRecordings(t *testing.T) {
	for _, rec := range recordings(t, ".sse") {
		t.Run(rec.File, func(t *testing.T) {
			want := rec.Expect
			body := readFile(t, rec.File)
			got := readStream(t, bytes.NewReader(body))
			if want.StreamError != nil {
				checkFault(t, &rec, got)
				return
			}
			c := got.client
			if !strings.HasSuffix(rec.File, "responses-phase.sse") { // whose pieces were left out
				want.Text.check(t, "text", c.text("message"))
			}
			want.Reasoning.check(t, "reasoning", c.text("reasoning"))
			if calls := c.calls(); len(calls)+len(want.ToolCalls) > 0 {
				if diff := cmp.Diff(want.ToolCalls, calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			}
			if c.status != want.Status || !c.types[want.TerminalEvent] || !got.finished || got.refused || got.fault != nil {
				t.Errorf("got status %q, finished %v, refused %v, fault %v", c.status, got.finished, got.refused, got.fault)
			}
			if got.usage != want.Usage.wire() {
				t.Errorf("got usage %+v, want %+v", got.usage, want.Usage.wire())
			}
			if diff := cmp.Diff(map[string]bool{public: true}, c.models); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
			for _, kind := range want.EventTypes {
				if !c.types[kind] {
					t.Errorf("the client got no %s", kind)
				}
			}
			if c.events != want.JSONEvents || got.owned.Response == "" || len(got.owned.Items) == 0 {
				t.Errorf("got %d events of %d, and %+v", c.events, want.JSONEvents, got.owned)
			}
			if first := firstDelta(t, body); got.firstContent != first {
				t.Errorf("event %d is the first with content, want %d", got.firstContent, first)
			}
			for name, other := range variants(body) {
				if other := readStream(t, other); other.out != got.out || other.usage != got.usage || !other.finished {
					t.Errorf("%s: the client gets something else", name)
				}
			}
			checkCuts(t, body)
		})
	}
}

// firstDelta returns the number of the first event of a stream that is a delta
// or announces a call.
func firstDelta(t *testing.T, body []byte) int {
	t.Helper()
	events := sse.NewReader(bytes.NewReader(body), maxEvent)
	for n := 1; ; {
		ev, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ev.HasData {
			continue
		}
		if bytes.Contains(ev.Data, []byte(`"delta":"`)) || bytes.Contains(ev.Data, []byte(`added","output_index":0,"item":{"type":"custom_tool_call"`)) {
			return n
		}
		n++
	}
}

func checkFault(t *testing.T, rec *recording, got *reading) {
	t.Helper()
	want := rec.Expect.StreamError
	if got.fault == nil || got.fault.Code != want.Code || got.fault.Message != want.Message || got.fault.Kind != fault.Quota || got.finished {
		t.Errorf("got %+v, finished %v; want %+v", got.fault, got.finished, want)
	}
	if got.firstContent != 0 {
		t.Errorf("event %d has content", got.firstContent)
	}
}

// variants are the same stream in other framings and cut in other places.
func variants(body []byte) map[string]io.Reader {
	crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	cut := bytes.IndexByte(crlf, '\r') + 1
	v := map[string]io.Reader{
		"one byte a read":   iotest.OneByteReader(bytes.NewReader(body)),
		"CRLF":              bytes.NewReader(crlf),
		"between CR and LF": io.MultiReader(bytes.NewReader(crlf[:cut]), bytes.NewReader(crlf[cut:])),
		"CR":                bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\r"))),
		"comments":          bytes.NewReader(bytes.ReplaceAll(body, []byte("data: "), []byte(": keep-alive\ndata: "))),
		"DONE at the end":   io.MultiReader(bytes.NewReader(body), strings.NewReader("data: [DONE]\n\n")),
	}
	if at := bytes.IndexFunc(body, func(r rune) bool { return r > 0x7f }); at >= 0 {
		v["inside a character"] = io.MultiReader(bytes.NewReader(body[:at+1]), bytes.NewReader(body[at+1:]))
	}
	return v
}

// checkCuts cuts a stream after each event but the last: it is not whole then,
// and the client gets an error.
func checkCuts(t *testing.T, body []byte) {
	t.Helper()
	events := bytes.SplitAfter(bytes.TrimSuffix(body, []byte("data: [DONE]\n\n")), []byte("\n\n"))
	for len(events[len(events)-1]) == 0 {
		events = events[:len(events)-1]
	}
	for n := 1; n < len(events); n++ {
		r := &reading{client: newClient()}
		s := responses.NewStream(public)
		reader := sse.NewReader(bytes.NewReader(bytes.Join(events[:n], nil)), maxEvent)
		for ev, err := reader.Next(); err == nil; ev, err = reader.Next() {
			if ev.HasData {
				out, _, _ := s.Event(nil, ev.Name, ev.Data)
				r.give(t, out)
			}
		}
		if s.Finished() {
			t.Fatalf("cut after event %d it is finished", n)
		}
		begun := r.client.events > 0
		r.give(t, s.AppendBroken(nil, "the upstream broke off", "upstream_error", "upstream_truncated"))
		c := r.client
		if c.failure == nil || c.failure.Code != "upstream_truncated" || c.failure.Message != "the upstream broke off" || begun && c.status != "failed" {
			t.Fatalf("cut after event %d the client gets status %q and %+v", n, c.status, c.failure)
		}
	}
}

func TestEventInfo(t *testing.T) {
	content := responses.EventInfo{Content: true}
	refusal := responses.EventInfo{Content: true, Refusal: true}
	ended := responses.EventInfo{Content: true, Finish: true}
	tests := []struct {
		name, data string
		want       responses.EventInfo
	}{
		{"created", `{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}`, responses.EventInfo{}},
		{"queued", `{"type":"response.queued","response":{"id":"r","status":"queued"}}`, responses.EventInfo{}},
		{"a message", `{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","content":[]}}`, responses.EventInfo{}},
		{"a thought", `{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"reasoning","summary":[]}}`, responses.EventInfo{}},
		{"an empty part", `{"type":"response.content_part.added","output_index":0,"part":{"type":"output_text","text":""}}`, responses.EventInfo{}},
		{"a call", `{"type":"response.output_item.added","output_index":0,"item":{"id":"f","type":"function_call","name":"f","arguments":""}}`, content},
		{"a search", `{"type":"response.output_item.added","output_index":0,"item":{"id":"w","type":"web_search_call"}}`, content},
		{"text", `{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, content},
		{"an empty text", `{"type":"response.output_text.delta","output_index":0,"delta":""}`, responses.EventInfo{}},
		{"thoughts", `{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"a"}`, content},
		{"arguments", `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{"}`, content},
		{"sound", `{"type":"response.audio.delta","delta":"AAAA"}`, content},
		{"an image", `{"type":"response.image_generation_call.partial_image","output_index":0,"partial_image_b64":"AAAA"}`, content},
		{"a refusal", `{"type":"response.refusal.delta","output_index":0,"delta":"no"}`, refusal},
		{"a whole refusal", `{"type":"response.refusal.done","output_index":0,"refusal":"no"}`, refusal},
		{"a text at once", `{"type":"response.output_text.done","output_index":0,"text":"a"}`, content},
		{"a message at once", `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`, content},
		{"a refusal at once", `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"a"}]}}`, refusal},
		{"an unknown delta", `{"type":"response.something.delta","delta":{"a":1}}`, content},
		{"unknown", `{"type":"response.something.happened","x":1}`, responses.EventInfo{}},
		{"a keep-alive", `{"type":"keepalive","sequence_number":9}`, responses.EventInfo{}},
		{"completed", `{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`, ended},
		{"cut off", `{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`, ended},
		{"filtered", `{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}`, responses.EventInfo{Content: true, Finish: true, Refusal: true}},
		{"filtered with text", `{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}}`, ended},
		{"an error that is null", `{"type":"response.in_progress","error":null,"response":{"id":"r","error":null}}`, responses.EventInfo{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := responses.NewStream(public)
			out, info, err := s.Event([]byte("kept"), nil, []byte(tt.data))
			if err != nil || info != tt.want {
				t.Errorf("got %+v, %v; want %+v", info, err, tt.want)
			}
			if !strings.HasPrefix(string(out), "keptevent: ") || !strings.HasSuffix(string(out), "\n\n") {
				t.Errorf("got %q", out)
			}
			if s.Finished() != tt.want.Finish {
				t.Errorf("finished %v", s.Finished())
			}
		})
	}
}

func TestEventsThatAreDropped(t *testing.T) {
	s := responses.NewStream(public)
	for _, data := range []string{"", "[DONE]", " [DONE]\n"} {
		if out, info, err := s.Event([]byte("kept"), nil, []byte(data)); string(out) != "kept" || info != (responses.EventInfo{Drop: true}) || err != nil {
			t.Errorf("%q: got %q, %+v, %v", data, out, info, err)
		}
	}
	for _, data := range []string{"x", "[1]", "7", "null", `{"type":"a"`, `{"type":"a"}}`, `{}`, `{"x":1}`, `{"delta":"a"}`, `{"type":7,"text":"a"}`, `{"type":"","refusal":"a"}`} {
		out, info, err := s.Event([]byte("kept"), nil, []byte(data))
		if string(out) != "kept" || info != (responses.EventInfo{Drop: true, Malformed: true}) || !errors.Is(err, fault.ErrUndecodable) {
			t.Errorf("%q: got %q, %+v, %v", data, out, info, err)
		}
	}
	const final = `{"type":"response.completed","response":{"id":"r","output":[]}}`
	if _, info, err := s.Event(nil, nil, []byte(final)); err != nil || !info.Finish {
		t.Fatalf("got %+v, %v", info, err)
	}
	if out, info, _ := s.Event(nil, nil, []byte(`{"type":"response.output_text.delta","delta":"late"}`)); len(out) > 0 || !info.Drop {
		t.Errorf("behind the end: got %q, %+v", out, info)
	}
}

func TestEventFault(t *testing.T) {
	tests := []struct {
		name, event, data string
		kind              fault.Kind
		code              string
	}{
		{"nested", "error", `{"type":"error","sequence_number":2,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no money","param":null}}`, fault.Quota, "insufficient_quota"},
		{"at top level", "error", `{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null,"sequence_number":2}`, fault.RateLimit, "rate_limit_exceeded"},
		{"too long", "error", `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}}`, fault.ContextLength, "context_length_exceeded"},
		{"failed", "response.failed", `{"type":"response.failed","response":{"id":"r","status":"failed","metadata":{"code":"invalid_prompt"},"error":{"code":"server_error","message":"boom"}}}`, fault.Server, "server_error"},
		{"failed without a word", "", `{"type":"response.failed","response":{"id":"r","status":"failed","error":null}}`, fault.Server, ""},
		{"refused", "", `{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"flagged"}}}`, fault.ContentPolicy, "invalid_prompt"},
		{"by its name", "error", `{"message":"overloaded"}`, fault.Overloaded, ""},
		{"without a type", "", `{"error":{"message":"boom","code":429}}`, fault.RateLimit, "429"},
		{"cancelled", "", `{"type":"response.cancelled","response":{"id":"r","status":"cancelled"}}`, fault.Server, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := responses.NewStream(public)
			out, info, err := s.Event(nil, []byte(tt.event), []byte(tt.data))
			if err != nil || len(out) > 0 || !info.Drop || info.Fault == nil {
				t.Fatalf("got %q, %+v, %v", out, info, err)
			}
			if f := info.Fault; f.Kind != tt.kind || tt.code != "" && f.Code != tt.code || f.Message == "" || f.Status < 400 {
				t.Errorf("got %+v, want %v with code %q", f, tt.kind, tt.code)
			}
			if s.Finished() {
				t.Error("the stream is finished")
			}
		})
	}
	s := responses.NewStream(public)
	_, _, _ = s.Event(nil, nil, []byte(`{"type":"response.failed","response":{"error":{"message":"x"},"usage":{"input_tokens":3,"output_tokens":1}}}`))
	if got := s.Usage(); got.InputTokens != 3 || !got.Known {
		t.Errorf("a failed answer told its usage: got %+v", got)
	}
}

func TestEventBytes(t *testing.T) {
	tests := []struct{ name, event, data, want string }{
		{"model", "", `{ "type":"response.created", "response" : {"id":"r","model" : "x","z":1}}`, "event: response.created\ndata: { \"type\":\"response.created\", \"response\" : {\"id\":\"r\",\"model\" : \"public/model-1\",\"z\":1}}\n\n"},
		{"no model", "", `{"type":"response.created","response":{"id":"r"}}`, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"public/model-1\",\"id\":\"r\"}}\n\n"},
		{"an empty answer", "", `{"type":"response.created","response":{}}`, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n"},
		{"a model elsewhere", "", `{"type":"a","model":"x"}`, "event: a\ndata: {\"type\":\"a\",\"model\":\"x\"}\n\n"},
		{"line breaks", "", "{\n\"type\":\"a\",\r\n\"x\":1}", "event: a\ndata: { \"type\":\"a\",  \"x\":1}\n\n"},
		{"a type from the name", "response.x", `{"x":1}`, "event: response.x\ndata: {\"type\":\"response.x\",\"x\":1}\n\n"},
		{"nothing but a name", "response.x", `{}`, "event: response.x\ndata: {\"type\":\"response.x\"}\n\n"},
		{"a type with a line break", "", `{"type":"a\ndata: x"}`, "data: {\"type\":\"a\\ndata: x\"}\n\n"},
		{"unknown members", "", `{"type":"a","b":{"c":[1.50,"\u00e9"]}}`, "event: a\ndata: {\"type\":\"a\",\"b\":{\"c\":[1.50,\"\\u00e9\"]}}\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, err := responses.NewStream(public).Event(nil, []byte(tt.event), []byte(tt.data))
			if err != nil || string(out) != tt.want {
				t.Errorf("got %q, %v; want %q", out, err, tt.want)
			}
		})
	}
}

// TestItemsKeepTheirIDs gives a stream whose item ids change from event to
// event: each item goes on under the id with which it was announced.
func TestItemsKeepTheirIDs(t *testing.T) {
	s := responses.NewStream(public)
	var out []byte
	for _, data := range []string{
		`{"type":"response.output_item.added","item":{"id":"a1","type":"reasoning"},"output_index":0}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"b1"}}`,
		`{"type":"response.reasoning_summary_text.delta","item_id":"a2","output_index":0,"delta":"x"}`,
		`{"type":"response.output_text.delta","output_index":1,"item_id":"b2","delta":"y"}`,
		`{"type":"response.output_item.done","item":{"id":"a3","type":"reasoning","encrypted_content":"e"},"output_index":0}`,
		`{"type":"response.output_text.delta","item_id":"c2","output_index":2,"delta":"not announced"}`,
		`{"type":"response.completed","response":{"id":"r","output":[{"id":"a4","type":"reasoning","encrypted_content":"e"},{"id":"b4","type":"message","content":[]}]}}`,
	} {
		var err error
		if out, _, err = s.Event(out, nil, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, gone := range []string{"a2", "a3", "b2"} {
		if bytes.Contains(out, []byte(gone)) {
			t.Errorf("%s is still there: %s", gone, out)
		}
	}
	if n := strings.Count(string(out), `"a1"`); n != 3 {
		t.Errorf("a1 stands there %d times: %s", n, out)
	}
	// The ids under which the upstream knows the items are all noted.
	o := s.Owned()
	for _, id := range []string{"a1", "b1", "a3", "a4", "b4"} {
		if !slices.Contains(o.Items, id) {
			t.Errorf("%s is not among %v", id, o.Items)
		}
	}
	if len(o.Encrypted) != 1 {
		t.Errorf("got %d fingerprints", len(o.Encrypted))
	}
}

// TestNumbersGoOnWithoutAGap: what the client does not get has no number.
func TestNumbersGoOnWithoutAGap(t *testing.T) {
	tests := []struct{ name, data string }{
		{"an error", `{"type":"error","sequence_number":1,"error":{"code":"server_error","message":"x"}}`},
		{"a failed answer", `{"type":"response.failed","sequence_number":1,"response":{"id":"r","error":{"code":"server_error","message":"x"}}}`},
		{"no event", `{"sequence_number":1,"delta":"a"}`},
		{"half an event", `{"sequence_number":1,"type":"response.`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := responses.NewStream(public)
			r := &reading{client: newClient()}
			out, _, err := s.Event(nil, nil, []byte(`{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","created_at":1}}`))
			if err != nil {
				t.Fatal(err)
			}
			r.give(t, out)
			if out, info, _ := s.Event(nil, nil, []byte(tt.data)); len(out) > 0 || !info.Drop {
				t.Fatalf("got %s", out)
			}
			r.give(t, s.AppendBroken(nil, "broken", "", ""))
			if want := 2; r.client.sequence != want || r.client.events != want+1 {
				t.Errorf("the last number is %d after %d events, want %d: %s", r.client.sequence, r.client.events, want, r.out)
			}
		})
	}
}

func TestBrokenBeforeItsBeginning(t *testing.T) {
	s := responses.NewStream(public)
	out := string(s.AppendBroken(nil, "a \"message\"\n", "", ""))
	want := "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,\"error\":{\"type\":null,\"code\":null,\"message\":\"a \\\"message\\\"\\n\",\"param\":null},\"code\":null,\"message\":\"a \\\"message\\\"\\n\",\"param\":null}\n\n"
	if out != want {
		t.Errorf("got %s", out)
	}
}
