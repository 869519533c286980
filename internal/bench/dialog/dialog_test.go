package dialog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const testMark = "00000000000004d2" // 1234

// marked writes the test's mark into a template.
func marked(b []byte) []byte {
	for _, at := range Marks(b) {
		PutMark(b[at:], 1234)
	}
	return b
}

// stream returns a whole stream, an element an event.
func stream() []string {
	var events []string
	for i := range Chunks + 1 {
		events = append(events, string(marked(Event(i))))
	}
	return append(events, Done)
}

func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		size   int
		stream bool
	}{
		{"small", 2 << 10, false},
		{"small stream", 2 << 10, true},
		{"large", 100 << 10, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, at := Request("m", tt.size, tt.stream)
			if len(body) < tt.size/2 || len(body) > tt.size+512 {
				t.Errorf("length: got %d, want about %d", len(body), tt.size)
			}
			PutMark(body[at:], 1234)
			var got struct {
				Model    string `json:"model"`
				User     string `json:"user"`
				Stream   bool   `json:"stream"`
				Messages []any  `json:"messages"`
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if got.Model != "m" || got.User != testMark || got.Stream != tt.stream || len(got.Messages) < 2 {
				t.Errorf("got %+v", got)
			}
			asked, err := Read(body)
			if err != nil || string(asked.Mark) != testMark || asked.Stream != tt.stream || asked.Usage {
				t.Errorf("what the upstream reads: got %+v, %v", asked, err)
			}
		})
	}
}

func TestReadRequest(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		stream     bool
		usage      bool
		err        string
	}{
		{"plain", `{"model":"m","user":"` + testMark + `"}`, false, false, ""},
		{"usage asked for behind the messages", `{"user":"` + testMark + `","stream":true,"messages":["` + strings.Repeat("x", 1000) + `"],"stream_options":{"include_usage":true}}`, true, true, ""},
		{"usage without a stream", `{"user":"` + testMark + `","stream_options":{"include_usage":true}}`, false, false, ""},
		{"cut off", `{"user":"` + testMark + `","messages":[`, false, false, "not a whole JSON object"},
		{"empty", "", false, false, "not a whole JSON object"},
		{"no mark", `{"model":"m"}`, false, false, "mark"},
		{"mark cut off", `{"user":"12"}`, false, false, "mark"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read([]byte(tt.body))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error: got %v, want %q in it", err, tt.err)
				}
				return
			}
			if err != nil || string(got.Mark) != testMark || got.Stream != tt.stream || got.Usage != tt.usage {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestPutMark(t *testing.T) {
	for _, tt := range []struct {
		n    uint64
		want string
	}{
		{0, "0000000000000000"},
		{1234, testMark},
		{1<<64 - 1, "ffffffffffffffff"},
	} {
		b := []byte("[................]")
		if PutMark(b[1:], tt.n); string(b) != "["+tt.want+"]" {
			t.Errorf("PutMark(%d): got %s, want %s", tt.n, b, tt.want)
		}
	}
}

func TestAnswerIsOneThatClientsKnow(t *testing.T) {
	var got struct {
		ID      string
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Total int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal(marked(Answer()), &got); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(got.ID, testMark) || len(got.Choices) != 1 || got.Choices[0].Message.Content != Content || got.Usage.Total == 0 {
		t.Errorf("got %+v", got)
	}
	for _, event := range append(stream()[:Chunks+1], string(UsageEvent())) {
		if data, ok := strings.CutPrefix(event, "data: "); !ok || !json.Valid([]byte(data)) || !strings.HasSuffix(event, "\n\n") {
			t.Errorf("event is no JSON: %q", event)
		}
	}
}

func TestVerifyAnswer(t *testing.T) {
	good := string(marked(Answer()))
	for _, tt := range []struct {
		name, body string
		err        string
	}{
		{"whole", good, ""},
		{"of another request", string(Answer()), "another request"},
		{"without content", strings.Replace(good, Content, "", 1), "lacks"},
		{"without usage", strings.Replace(good, `"usage"`, `"other"`, 1), "lacks"},
		{"end lost", good[:len(good)-1], "cut off"},
		{"an error", `{"error":{"message":"no"}}`, "another request, or to none"},
		{"nothing", "", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hasError(t, NewVerifier().Answer([]byte(testMark), []byte(tt.body)), tt.err)
		})
	}
}

func TestVerifyStream(t *testing.T) {
	edit := func(change func(events []string) []string) string { return strings.Join(change(stream()), "") }
	for _, tt := range []struct {
		name, body string
		err        string
	}{
		{"whole", edit(func(e []string) []string { return e }), ""},
		{"with comments", edit(func(e []string) []string { return slices.Insert(e, 3, ": wait\n\n") }), ""},
		{"without its first event", edit(func(e []string) []string { return e[1:] }), "event 0"},
		{"without one in the middle", edit(func(e []string) []string { return slices.Delete(e, 7, 8) }), "event 7"},
		{"with one twice", edit(func(e []string) []string { return slices.Insert(e, 7, e[7]) }), "event 8"},
		{"two in the wrong order", edit(func(e []string) []string { e[4], e[5] = e[5], e[4]; return e }), "event 4"},
		{"with an event of another request", edit(func(e []string) []string { e[9] = string(Event(9)); return e }), "event 9"},
		{"without its finish", edit(func(e []string) []string { return slices.Delete(e, Chunks, Chunks+1) }), "event 30"},
		{"without its end", edit(func(e []string) []string { return e[:Chunks+1] }), "[DONE]"},
		{"with usage that nobody asked for", edit(func(e []string) []string { return slices.Insert(e, Chunks+1, string(UsageEvent())) }), "[DONE]"},
		{"that goes on after its end", edit(func(e []string) []string { return append(e, Done) }), "goes on"},
		{"an empty event", edit(func(e []string) []string { return slices.Insert(e, 2, "\n\n") }), "event 2"},
		{"an error", edit(func(e []string) []string { return append(e[:5], "data: {\"error\":{}}\n\n") }), "event 5"},
		{"nothing", "", "cut off after 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hasError(t, NewVerifier().Stream([]byte(testMark), []byte(tt.body)), tt.err)
		})
	}
}

func TestVerifyStreamFindsEveryCut(t *testing.T) {
	whole := []byte(strings.Join(stream(), ""))
	v := NewVerifier()
	for n := range whole {
		if v.Stream([]byte(testMark), whole[:n]) == nil {
			t.Fatalf("a stream that ends after %d of %d bytes passes: …%q", n, len(whole), whole[max(0, n-40):n])
		}
	}
	if !bytes.HasSuffix(whole, []byte(Done)) {
		t.Error("the stream of this test has no end")
	}
}

func hasError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v, want no error", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q in it", err, want)
	}
}
