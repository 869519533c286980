package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatewright/engine"
)

// script is what an executor does to its sink: a text is written, "" flushes.
type script []string

func (s script) execute(_ context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
	answer := engine.Answer{
		Status: http.StatusOK, Header: map[string][]string{"Content-Type": eventType},
		Deployment: p.Order[0].Deployment, Cost: engine.Unknown,
	}
	if err := sink.Commit(answer); err != nil {
		return engine.Result{}, err
	}
	for _, text := range s {
		if text == "" {
			if err := sink.Flush(); err != nil {
				return engine.Result{}, err
			}
		} else if n, err := io.WriteString(sink, text); err != nil || n != len(text) {
			return engine.Result{}, fmt.Errorf("wrote %d of %d: %w", n, len(text), err)
		}
	}
	return engine.Result{Status: http.StatusOK}, nil
}

// TestChunks: whatever is written and flushed, the client reads all of it, in its
// order, and its connection can be used again.
func TestChunks(t *testing.T) {
	var now script
	r := listen(t, setup{execute: func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		return now.execute(ctx, q, p, sink)
	}})
	piece := rapid.Custom(func(t *rapid.T) string {
		size := rapid.SampledFrom([]int{0, 0, 1, 9, 15, 16, 240, 255, 256, 2047, 2048, chunkBytes - 1, chunkBytes, chunkBytes + 1, 5000, 20_000}).Draw(t, "size")
		return strings.Repeat(string(rapid.ByteRange('a', 'z').Draw(t, "byte")), size)
	})
	rapid.Check(t, func(t *rapid.T) {
		now = rapid.SliceOfN(piece, 0, 12).Draw(t, "script")
		want := strings.Join(now, "")
		resp, body := r.do("POST", "/v1/relay/stream", "{}")
		if resp.StatusCode != http.StatusOK || resp.Close || body != want {
			t.Fatalf("status %d, close %v, %d bytes, want %d, for %d", resp.StatusCode, resp.Close, len(body), len(want), sizes(now))
		}
	})
}

func sizes(s script) (list []int) {
	for _, text := range s {
		list = append(list, len(text))
	}
	return list
}

// TestChunksOnTheWire: an event that is flushed is one chunk of its own, and what is
// not goes out with the last one. A client of HTTP/1.0 gets no chunks at all.
func TestChunksOnTheWire(t *testing.T) {
	r := listen(t, setup{execute: script{"one", "", "two and ", "three", "", "", strings.Repeat("x", 300), "", "four", "five"}.execute})
	long := strings.Repeat("x", 300)
	for proto, want := range map[string]string{
		"1.1": "3\r\none\r\n" + "d\r\ntwo and three\r\n" + "12c\r\n" + long + "\r\n" + "8\r\nfourfive\r\n" + "0\r\n\r\n",
		"1.0": "onetwo and three" + long + "fourfive",
	} {
		got := r.raw("POST /v1/relay/stream HTTP/" + proto + "\r\n" + authorized + "Connection: close\r\nContent-Length: 2\r\n\r\n{}")
		if _, body, _ := strings.Cut(got, "\r\n\r\n"); body != want {
			t.Errorf("HTTP/%s: got %q, want %q", proto, body, want)
		}
	}
}

// TestChunksEndWithAnError: an error that is told in band follows what was written.
func TestChunksEndWithAnError(t *testing.T) {
	r := listen(t, setup{execute: func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if _, err := (script{"one", "", "two"}).execute(ctx, q, p, sink); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{}, &engine.UpstreamError{Committed: true, Code: engine.CodeUpstreamTruncated, Message: "broken", InBand: []byte("told")}
	}})
	if _, body := r.do("POST", "/v1/relay/stream", "{}"); body != "onetwotold" {
		t.Errorf("got %q", body)
	}
}
