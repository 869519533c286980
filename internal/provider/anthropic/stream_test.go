package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatewright/internal/provider"
	"gatewright/internal/provider/exchange"
	wire "gatewright/internal/wire/anthropic"
	"gatewright/internal/wire/sse"
)

// streamOf reads a text as if an upstream had sent it.
func streamOf(tb testing.TB, a *Adapter, c *provider.Call, text string) provider.Stream {
	tb.Helper()
	p, _ := c.Request.Payload.(*wire.Payload)
	x := &messages{Exchange: exchange.Exchange{Service: a.service, Call: c}, adapter: a, payload: p}
	x.Resp = &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
	x.Body = x.Resp.Body
	resp, err := x.Streamed(tb.Context(), strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	return resp.Stream
}

func testAdapter(tb testing.TB) *Adapter {
	tb.Helper()
	a, err := New(Config{BaseURL: "http://localhost", Model: "up-model", Client: provider.NewClient(provider.ClientOptions{}), EventLimit: 1 << 12})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// TestStreams reads streams that are not quite right.
func TestStreams(t *testing.T) {
	cut := func(before string) string {
		head, _, _ := strings.Cut(events, before)
		return head
	}
	const last = "event: message_delta"
	rest := strings.TrimPrefix(events, cut(last))
	const noise = "data: keep-alive\n\n"
	for _, tt := range []struct {
		name, body string
		done       bool
		err        string
	}{
		{"good", events, true, ""},
		{"without its end", cut("event: message_stop"), true, ""},
		{"without its last blank line", strings.TrimRight(events, "\n"), true, ""},
		{"without the reason of its end", cut(last), false, "EOF"},
		{"nothing", "", false, "EOF"},
		{"an end alone", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", false, "EOF"},
		{"noise at first", noise + events, false, "no event of the protocol"},
		{"noise in the middle", cut(last) + noise + rest, true, ""},
		{"a damaged event", cut(last) + "data: {\"type\":\n\n" + rest, false, "no event of the protocol"},
		{"cut inside an event", cut(`"delta":{"stop_reason"`), false, "broke off"},
		{"a second message", cut(last) + events, false, "no event of the protocol"},
		{"an error", cut(last) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", false, "Overloaded"},
		{"too large an event", cut(last) + "data: " + strings.Repeat("x", 1<<13) + "\n\n", false, "too large"},
		{"more after the end", events + "event: ping\ndata: {}\n\n", true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := streamOf(t, testAdapter(t), call(t, wire.Messages, asking, nil), tt.body)
			out, err := play(s)
			if ended := strings.Contains(out, "event: message_stop"); ended != tt.done {
				t.Errorf("ended: %v: %s", ended, out)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
}

// FuzzStream reads any bytes as a stream: it ends, and what the client gets is a
// stream of JSON events that begin once and name the public model.
func FuzzStream(f *testing.F) {
	f.Add([]byte(events))
	f.Add([]byte("event: error\r\ndata: {\"type\":\"error\",\"error\":{\"message\":\"x\"}}\r\n\r\n"))
	f.Add([]byte("data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: keep-alive\n\ndata: {\"type\":\"message_stop\"}"))
	f.Add([]byte("data: {\ndata: \"type\":\"ping\"}\n\n"))
	a := testAdapter(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		out, _ := play(streamOf(t, a, call(t, wire.Messages, asking, nil), string(body)))
		in := sse.NewReader(strings.NewReader(out), 1<<20)
		starts := 0
		for {
			ev, err := in.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatalf("client cannot read %q: %v", out, err)
				}
				return
			}
			var data struct {
				Type    string
				Message *struct{ Model *string }
			}
			if !json.Valid(ev.Data) {
				t.Fatalf("event %q of %q", ev.Data, out)
			}
			if json.Unmarshal(ev.Data, &data) == nil && data.Type == "message_start" {
				if starts++; starts > 1 || data.Message != nil && data.Message.Model != nil && *data.Message.Model != publicModel {
					t.Fatalf("event %q of %q", ev.Data, out)
				}
			}
		}
	})
}
