package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/sse"
)

func TestAppend(t *testing.T) {
	tests := []struct {
		name, event, data, want string
	}{
		{"data", "", `{"a":1}`, "data: {\"a\":1}\n\n"},
		{"name", "error", "x", "event: error\ndata: x\n\n"},
		{"empty", "", "", "data: \n\n"},
		{"line feed", "", "a\nb", "data: a\ndata: b\n\n"},
		{"forged event", "", "a\n\ndata: b\n\n", "data: a\ndata: \ndata: data: b\ndata: \ndata: \n\n"},
		{"forged with cr", "", "a\r\rdata: b\r\n", "data: a\ndata: \ndata: data: b\ndata: \n\n"},
		{"forged by the name", "x\ndata: y\n\n", "a", "event: x\ndata: a\n\n"},
		{"name that is a line end", "\r", "a", "data: a\n\n"},
		{"leading space", "", " a", "data:  a\n\n"},
		{"unicode line separator", "", "a\u2028b", "data: a\u2028b\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(sse.Append([]byte("kept;"), tt.event, []byte(tt.data)))
			if want := "kept;" + tt.want; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAppendComment(t *testing.T) {
	for text, want := range map[string]string{
		"":                  ":\n\n",
		"ping":              ": ping\n\n",
		"a\n\ndata: forged": ": a\n:\n: data: forged\n\n",
		"a\rdata: x\r\n":    ": a\n: data: x\n:\n\n",
	} {
		got := string(sse.AppendComment(nil, text))
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		events, err := readAll(strings.NewReader(got), 100)
		if diff := cmp.Diff([]event{{Comment: true}}, events); diff != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%q read again: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestAppendReadsBack(t *testing.T) {
	normal := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab: \r\n\u2028\x00")), 0, 20, -1)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z.]{0,8}`).Draw(t, "name")
		texts := rapid.SliceOfN(text, 1, 4).Draw(t, "texts")
		var body []byte
		var want []event
		for _, s := range texts {
			body = sse.Append(body, name, []byte(s))
			want = append(want, event{Name: name, Data: normal.Replace(s), HasData: true})
		}
		got, err := readAll(strings.NewReader(string(body)), 1<<10)
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, io.EOF) {
			t.Fatalf("read again: %v (-want +got):\n%s", err, diff)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	event := []byte("data: " + `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}` + "\n\n")
	r := sse.NewReader(&endless{event: event}, 1<<20)
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
