package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// caller is a client that reads answers as closely as a test needs.
type caller struct {
	client *http.Client
	url    string
}

// newCaller returns a client of the gateway that keeps its connections until
// the test ends.
func newCaller(t *testing.T, gw *process, connections int) *caller {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{client: &http.Client{Transport: transport, Timeout: time.Minute}, url: gw.url("/v1/chat/completions")}
}

// reply is what came back for one request.
type reply struct {
	status     int // 0: no answer at all
	deployment string
	attempts   string
	retryAfter string
	text       string // all content, joined
	chunks     int    // events with content
	finish     string
	done       bool   // of a stream: [DONE] came
	code       string // of the error, in the body or in band
	broken     error  // the answer ended before it was complete
	took       time.Duration
}

// served reports whether a whole answer came.
func (r *reply) served() bool {
	return r.status == http.StatusOK && r.broken == nil && r.code == "" && r.finish != ""
}

func (r *reply) String() string {
	return fmt.Sprintf("status %d from %q, %d chunks, finish %q, done %v, code %q, %v", r.status, r.deployment, r.chunks, r.finish, r.done, r.code, r.broken)
}

// event is one chunk of a stream, one whole answer, or an error.
type event struct {
	Choices []struct {
		Delta, Message struct{ Content string }
		FinishReason   string `json:"finish_reason"`
	}
	Error *struct{ Code, Message string }
}

// chat sends a chat request and reads its answer to the end. seen, when it is
// not nil, is called after each event with content.
func (c *caller) chat(ctx context.Context, body string, seen func(chunks int), headers ...string) *reply {
	began := time.Now()
	r := &reply{}
	defer func() { r.took = time.Since(began) }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		r.broken = err
		return r
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.client.Do(req)
	if err != nil {
		r.broken = err
		return r
	}
	defer func() { _ = resp.Body.Close() }()
	r.status, r.deployment = resp.StatusCode, resp.Header.Get("X-Gatewright-Deployment")
	r.attempts, r.retryAfter = resp.Header.Get("X-Gatewright-Attempts"), resp.Header.Get("Retry-After")
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		r.readStream(resp.Body, seen)
	} else {
		r.readWhole(resp)
	}
	return r
}

func (r *reply) readWhole(resp *http.Response) {
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.broken = err
		return
	}
	if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
		r.broken = fmt.Errorf("content type %q", kind)
	}
	r.take(string(text))
}

// readStream reads events until the connection ends; nothing may follow [DONE]
// or an error.
func (r *reply) readStream(body io.Reader, seen func(chunks int)) {
	in := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) || line != "" {
				r.broken = fmt.Errorf("after %q: %w", line, err)
			}
			return
		}
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
		if !ok {
			continue
		}
		if r.done || r.code != "" {
			r.broken = fmt.Errorf("more after the end: %q", line)
			return
		}
		if data = strings.TrimSpace(data); data == "[DONE]" {
			r.done = true
			continue
		}
		before := r.chunks
		r.take(data)
		if seen != nil && r.chunks > before {
			seen(r.chunks)
		}
	}
}

// take reads one JSON object.
func (r *reply) take(data string) {
	var e event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		r.broken = fmt.Errorf("%q: %w", data, err)
		return
	}
	if e.Error != nil {
		r.code = e.Error.Code
		if r.code == "" {
			r.code = "?"
		}
		return
	}
	for _, choice := range e.Choices {
		if text := choice.Delta.Content + choice.Message.Content; text != "" {
			r.text += text
			r.chunks++
		}
		if choice.FinishReason != "" {
			r.finish = choice.FinishReason
		}
	}
}

// say is a chat request for a model with a text that an upstream with echo
// repeats.
func say(model, text string, stream bool) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text is refused
	}
	return fmt.Sprintf(`{"model": %q, "stream": %v, "messages": [{"role": "user", "content": %s}]}`, model, stream, quoted)
}
