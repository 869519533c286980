package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func httpCases() []faultCase {
	return []faultCase{
		{fault: "length-too-long", check: broken(0, io.ErrUnexpectedEOF)},
		{fault: "{fault: length-too-long, after: 4}", stream: true, check: broken(4, io.ErrUnexpectedEOF)},
		{fault: "length-too-short", check: notJSON},
		{fault: "length-too-short", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			if got := tell(t, r.body); r.readErr != nil || got.texts == 0 || got.done != 0 {
				t.Errorf("got %+v, %v", got, r.readErr)
			}
		}},
		{fault: "header-malformed", check: noAnswer(nil)},
		{fault: "header-huge", check: func(t *testing.T, r reply) {
			t.Helper()
			// net/http's client refuses more than 10 MiB only.
			answered(t, r)
			if got := len(r.header.Get("X-Simulated-Padding")); got != 2<<20 {
				t.Errorf("the header has %d bytes", got)
			}
		}},
		{fault: "{fault: header-huge, size: 1KiB}", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if got := len(r.header.Get("X-Simulated-Padding")); got != 1024 {
				t.Errorf("the header has %d bytes", got)
			}
		}},
		{fault: "headers-many", check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if len(r.header) < 10_000 {
				t.Errorf("%d headers", len(r.header))
			}
		}},
		{fault: "{fault: headers-many, count: 7}", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if r.header.Get("X-Simulated-6") == "" || r.header.Get("X-Simulated-7") != "" {
				t.Errorf("headers %v", r.header)
			}
		}},
		{fault: "close-delimited", check: answered},
		{fault: "close-delimited", stream: true, check: answered},
		{fault: "trailers", check: trailed},
		{fault: "trailers", stream: true, check: trailed},
		{fault: "byte-writes", check: answered},
		{fault: "byte-writes", stream: true, check: answered},
		{fault: "split-writes", stream: true, check: answered},
	}
}

func trailed(t *testing.T, r reply) {
	t.Helper()
	answered(t, r)
	want := http.Header{"X-Simulated-Trailer": {"done"}, "Grpc-Status": {"13"}}
	if diff := cmp.Diff(want, r.trailer); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}

func TestRawForms(t *testing.T) {
	for _, c := range []struct {
		fault, body string
		check       func(got []byte) bool
	}{
		{"close-delimited", chatBody, func(got []byte) bool {
			head, body, _ := bytes.Cut(got, []byte("\r\n\r\n"))
			return bytes.HasPrefix(head, []byte("HTTP/1.0 200 OK\r\n")) && !bytes.Contains(head, []byte("Length")) && json.Valid(body)
		}},
		{"length-too-short", chatBody, func(got []byte) bool {
			_, body, _ := bytes.Cut(got, []byte("\r\n\r\n"))
			return json.Valid(body)
		}},
		{"not-http", chatBody, func(got []byte) bool { return bytes.HasPrefix(got, []byte("-ERR ")) }},
		{"close", chatBody, func(got []byte) bool { return len(got) == 0 }},
		// One byte a write is one byte a chunk.
		{"byte-writes", streamBody, func(got []byte) bool {
			return bytes.Contains(got, []byte("\r\n1\r\nd\r\n1\r\na\r\n1\r\nt\r\n1\r\na\r\n"))
		}},
		{"{fault: split-writes, size: 5B}", streamBody, func(got []byte) bool { return bytes.Contains(got, []byte("\r\n5\r\ndata:\r\n")) }},
		{"no-last-chunk", streamBody, func(got []byte) bool { return !bytes.HasSuffix(got, []byte("0\r\n\r\n")) }},
	} {
		t.Run(c.fault, func(t *testing.T) {
			r := newRig(t, oneUpstream("always: "+c.fault), Options{})
			got, err := r.raw(t, c.body)
			if err != nil || !c.check(got) {
				t.Errorf("got %.400q, %v", got, err)
			}
		})
	}
}

func TestResetOnTheWire(t *testing.T) {
	r := newRig(t, oneUpstream("always: reset-mid-body\nanswer: {tokens: 20}"), Options{})
	got, err := r.raw(t, streamBody)
	if err == nil || errors.Is(err, io.EOF) || strings.Count(string(got), `"content":"`) != 4 { // the role's, and three
		t.Errorf("got %q, %v; want three events and a reset", got, err)
	}
}
