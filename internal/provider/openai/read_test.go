package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
	"gatewright/internal/wire/sse"
)

// answerTo reads an answer as if an upstream had sent it.
func answerTo(tb testing.TB, streams bool, status int, header http.Header, body io.Reader) (*provider.Response, error) {
	tb.Helper()
	a, err := New(Config{
		BaseURL: "http://localhost", Client: provider.NewClient(provider.ClientOptions{}), AnswerLimit: 1 << 16, EventLimit: 1 << 12,
	})
	if err != nil {
		tb.Fatal(err)
	}
	text := `{"model":"m","messages":[{"role":"user","content":"x"}]}`
	if streams {
		text = `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`
	}
	found, err := wire.ScanRequest(wire.Chat, []byte(text), 64)
	if err != nil {
		tb.Fatal(err)
	}
	resp := &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), ContentLength: -1}
	payload := &wire.Payload{Request: found}
	x := &chat{
		call: a.newCall(&provider.Call{
			Request: &engine.Request{Stream: streams, Payload: payload}, PublicModel: publicModel, Clock: time.Now, Waiting: func() {},
		}, nil),
		payload: payload,
	}
	x.Resp, x.Body = resp, resp.Body
	return x.Read(tb.Context(), x)
}

// play takes a stream to its end. It returns what the client gets, and the
// error, nil for an end that was told.
func play(s provider.Stream) (string, error) {
	var out strings.Builder
	for {
		ev, err := s.Next()
		if err != nil {
			return out.String(), err
		}
		out.Write(ev.Frame)
		if ev.Done {
			return out.String(), s.Close()
		}
	}
}

const (
	oneChunk  = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"up","choices":[{"index":0,"delta":{"content":"one"}}]}`
	lastChunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"up","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

// TestReadStream reads streams that are not quite right.
func TestReadStream(t *testing.T) {
	cases := []struct {
		name string
		body string
		text string
		err  string // of the failure; "EOF" for an end that says nothing
	}{
		{name: "good", body: "data: " + oneChunk + "\n\ndata: " + lastChunk + "\n\ndata: [DONE]\n\n", text: "one"},
		{name: "noise between events", body: "data: " + oneChunk + "\n\ndata: keep-alive\n\ndata: " + lastChunk + "\n\n", text: "one"},
		{name: "noise at first", body: "data: hello\n\ndata: " + oneChunk + "\n\n", err: "no JSON"},
		{name: "damaged chunk", body: "data: " + oneChunk + "\n\ndata: " + oneChunk[:50] + "\n\n", text: "one", err: "no JSON"},
		{name: "last event without a blank line", body: "data: " + oneChunk + "\n\ndata: " + lastChunk, text: "one"},
		{name: "cut inside the last event", body: "data: " + oneChunk + "\n\ndata: " + lastChunk[:60], text: "one", err: "broke off"},
		{name: "done without a finish", body: "data: " + oneChunk + "\n\ndata: [DONE]\n\n", text: "one"},
		{name: "done without content", body: "data: [DONE]\n\n", err: "EOF"},
		{name: "pretty-printed chunk", body: "data: {\ndata: \"choices\": [\ndata: {\"index\":0,\"delta\":{\"content\":\"one\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n", text: "one"},
		{name: "event named error", body: "event: error\ndata: {\"code\":\"server_error\",\"detail\":{}}\n\n", err: ""},
		{name: "error that looks like Anthropic's", body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", err: "Overloaded"},
		{name: "event too large", body: "data: " + strings.Repeat("x", 1<<13) + "\n\n", err: "too large"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := answerTo(t, true, 200, http.Header{"Content-Type": {"text/event-stream"}}, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			out, err := play(resp.Stream)
			s := &sink{}
			s.out.WriteString(out)
			got := s.read(t, true)
			if got.Text != tc.text {
				t.Errorf("text %q, want %q", got.Text, tc.text)
			}
			if tc.name == "event named error" {
				if _, ok := errors.AsType[*provider.Failure](err); !ok {
					t.Errorf("got %v, want a failure", err)
				}
				return
			}
			if tc.err == "" {
				if err != nil || got.Finish != "stop" || !got.Done {
					t.Errorf("got %v, %+v", err, got)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.err) || got.Done {
				t.Errorf("got %v, %+v; want %q", err, got, tc.err)
			}
		})
	}
}

// TestUnlabelled tells what an answer is that does not say so.
func TestUnlabelled(t *testing.T) {
	stream := "data: " + oneChunk + "\n\ndata: " + lastChunk + "\n\ndata: [DONE]\n\n"
	cases := []struct {
		name, kind, body string
		bad              bool
	}{
		{name: "stream without a type", body: stream},
		{name: "stream as plain text", kind: "text/plain", body: stream},
		{name: "stream that begins with a comment", kind: "text/plain", body: ": hello\n\n" + stream},
		{name: "stream that begins with empty lines", kind: "text/plain", body: "\n\n" + stream},
		{name: "JSON without a type", body: plainAnswer},
		{name: "JSON with a type of its own", kind: "application/problem+json", body: plainAnswer},
		{name: "plain text", kind: "text/plain", body: "upstream is down for maintenance", bad: true},
		{name: "page", kind: "text/html; charset=utf-8", body: stream, bad: true},
		{name: "nothing", kind: "", body: "", bad: true},
		{name: "JSON as a stream", kind: "text/event-stream", body: plainAnswer, bad: true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			if tc.kind != "" {
				h.Set("Content-Type", tc.kind)
			}
			resp, err := answerTo(t, true, 200, h, strings.NewReader(tc.body))
			var out string
			if err == nil {
				out, err = play(resp.Stream)
			}
			if (err != nil) != tc.bad {
				t.Fatalf("got %v, %q", err, out)
			}
			if !tc.bad && !strings.HasSuffix(out, tail) {
				t.Errorf("got %q", out)
			}
		})
	}
}

// TestEncodingTwice refuses a body that says two encodings in two headers.
func TestEncodingTwice(t *testing.T) {
	h := http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity", "gzip"}}
	if _, err := answerTo(t, false, 200, h, strings.NewReader(plainAnswer)); err == nil {
		t.Error("the answer is taken")
	}
}

// FuzzStream reads any bytes as a stream: it ends, and what the client gets is
// a stream of JSON chunks under the public model.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: " + oneChunk + "\n\ndata: " + lastChunk + "\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: " + oneChunk + "\r\n\r\n: ping\r\n\r\ndata: nonsense\r\n\r\n"))
	f.Add([]byte("event: error\ndata: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n"))
	f.Add([]byte("data: {\ndata: \"choices\":[]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte(plainAnswer))
	f.Fuzz(func(t *testing.T, body []byte) {
		resp, err := answerTo(t, true, 200, http.Header{}, bytes.NewReader(body))
		if err != nil {
			return
		}
		out, _ := play(resp.Stream)
		events := sse.NewReader(strings.NewReader(out), 1<<20)
		for {
			ev, err := events.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatalf("client cannot read %q: %v", out, err)
				}
				return
			}
			if string(ev.Data) == "[DONE]" {
				continue
			}
			var chunk struct{ Model *string }
			if json.Unmarshal(ev.Data, &chunk) != nil || chunk.Model != nil && *chunk.Model != publicModel {
				t.Fatalf("chunk %q of %q", ev.Data, out)
			}
		}
	})
}

// FuzzAnswer reads any bytes, under any status and encoding, as a whole answer.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "", []byte(plainAnswer))
	f.Add(200, "gzip", []byte("\x1f\x8b\x08\x00"))
	f.Add(200, "br", []byte("\x0b\x02\x80{}\x03"))
	f.Add(200, "zstd", []byte("\x28\xb5\x2f\xfd\x00\x58"))
	f.Add(200, "deflate", []byte("\x78\x9c\x03\x00"))
	f.Add(400, "", []byte(`{"error":{"message":"x"}}`))
	f.Fuzz(func(t *testing.T, status int, encoding string, body []byte) {
		h := http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {encoding}}
		resp, err := answerTo(t, false, status, h, bytes.NewReader(body))
		if err != nil {
			failure, ok := errors.AsType[*provider.Failure](err)
			if !ok || failure.Class == engine.ClassNone || failure.Message == "" {
				t.Fatalf("got %#v", err)
			}
			return
		}
		if !json.Valid(resp.Body) {
			t.Fatalf("the client gets %q", resp.Body)
		}
		resp.Release()
	})
}
