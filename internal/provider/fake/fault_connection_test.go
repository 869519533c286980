package fake

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// broken wants a body that ends with an error after some content.
func broken(content int, want error) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.err != nil || r.readErr == nil || !errors.Is(r.readErr, want) && r.readErr.Error() != want.Error() {
			t.Errorf("errors %v, %v; want %v while reading", r.err, r.readErr, want)
		}
		if r.header.Get("Content-Type") == contentStream {
			if got := tell(t, r.body); got.texts != content || got.finish != "" || got.done != 0 {
				t.Errorf("got %+v, want %d content events and no end", got, content)
			}
			return
		}
		if len(r.body) == 0 || bytes.HasSuffix(r.body, []byte("}")) {
			t.Errorf("got %.100q, want half an answer", r.body)
		}
	}
}

// noAnswer wants a request that fails.
func noAnswer(want error) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.err == nil || want != nil && !errors.Is(r.err, want) {
			t.Errorf("got status %d, error %v; want %v", r.status, r.err, want)
		}
	}
}

func connectionCases() []faultCase {
	return []faultCase{
		{fault: "close", check: noAnswer(io.EOF)},
		{fault: "close", stream: true, check: noAnswer(io.EOF)},
		{fault: "reset", check: noAnswer(syscall.ECONNRESET)},
		{fault: "reset", stream: true, check: noAnswer(syscall.ECONNRESET)},
		{fault: "reset", path: "/a/v1/embeddings", body: embeddingBody, check: noAnswer(syscall.ECONNRESET)},
		{fault: "reset-after-headers", check: func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 200 || !errors.Is(r.readErr, syscall.ECONNRESET) || len(r.body) != 0 {
				t.Errorf("got %d, %d bytes, errors %v, %v", r.status, len(r.body), r.err, r.readErr)
			}
		}},
		{fault: "reset-mid-body", check: broken(0, syscall.ECONNRESET)},
		{fault: "{fault: reset-mid-body, after: 20}", stream: true, check: broken(20, syscall.ECONNRESET)},
		{fault: "{fault: reset-mid-body, after: 0}", stream: true, check: broken(0, syscall.ECONNRESET)},
		{fault: "no-last-chunk", check: broken(0, io.ErrUnexpectedEOF)},
		{fault: "no-last-chunk", stream: true, check: broken(3, io.ErrUnexpectedEOF)},
		{fault: "bad-chunk", check: broken(0, errInvalidChunk)},
		{fault: "bad-chunk", stream: true, check: broken(3, errInvalidChunk)},
		{fault: "not-http", check: noAnswer(nil)},
	}
}

// errInvalidChunk stands for the error of net/http, which has no name.
var errInvalidChunk = errors.New("invalid byte in chunk length")

func TestBadChunkOnTheWire(t *testing.T) {
	r := newRig(t, oneUpstream("always: bad-chunk"), Options{})
	got, err := r.raw(t, streamBody)
	if err != nil || !bytes.HasSuffix(got, []byte("\r\nzz\r\nthis is no chunk\r\n")) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCloseOnReuse(t *testing.T) {
	for _, body := range []string{chatBody, streamBody} {
		r := newRig(t, oneUpstream("script: [close-on-reuse]"), Options{})
		first := r.send(t, "POST", chatPath, body)
		answered(t, first)
		if first.header.Get("Connection") == "close" {
			t.Error("the answer announces the close")
		}
		// The client can have the whole answer a moment before its handler is done.
		for end := time.Now().Add(10 * time.Second); r.InFlight("a") != 0; {
			if time.Now().After(end) {
				t.Fatalf("%d requests in flight after the answer", r.InFlight("a"))
			}
			<-time.After(time.Millisecond)
		}
		// POST is not repeated by net/http once it was written.
		second := r.send(t, "POST", chatPath, chatBody)
		if second.err == nil {
			t.Errorf("the next request on the connection got %d", second.status)
		}
		answered(t, r.send(t, "POST", chatPath, chatBody))
		if got := r.Calls("a"); got != 2 {
			t.Errorf("%d requests arrived, want 2: the one on the dead connection is lost", got)
		}
	}
}

// Over HTTP/2 a connection cannot be taken over: what can be said in HTTP/2 is
// said so, and the rest is refused in words.
func TestHTTP2(t *testing.T) {
	for _, c := range []struct {
		fault string
		check func(t *testing.T, r reply)
	}{
		{"reset-mid-body", func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 200 || r.readErr == nil || tell(t, r.body).texts != 3 {
				t.Errorf("got %d %q %v", r.status, r.body, r.readErr)
			}
		}},
		{"reset-after-headers", func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 200 || r.readErr == nil || len(r.body) != 0 {
				t.Errorf("got %d %q %v", r.status, r.body, r.readErr)
			}
		}},
		{"reset", noAnswer(nil)},
		{"not-http", func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 501 || !strings.Contains(string(r.body), "HTTP/1") {
				t.Errorf("got %d %q %v", r.status, r.body, r.err)
			}
		}},
		{"ok", answered},
	} {
		t.Run(c.fault, func(t *testing.T) {
			u := New(mustParse(t, oneUpstream("answer: {tokens: 9}\nscript: ["+c.fault+"]")), Options{})
			srv := httptest.NewUnstartedServer(u)
			srv.EnableHTTP2 = true
			srv.StartTLS()
			defer srv.Close()
			defer closing(t, u)
			client := srv.Client()
			defer client.CloseIdleConnections()
			got := do(t.Context(), client, http.MethodPost, srv.URL+chatPath, streamBody)
			c.check(t, got)
		})
	}
}

func TestResetBeneathTLS(t *testing.T) {
	u := New(mustParse(t, oneUpstream("always: reset-mid-body")), Options{})
	srv := httptest.NewTLSServer(u)
	defer srv.Close()
	defer closing(t, u)
	client := srv.Client()
	defer client.CloseIdleConnections()
	got := do(t.Context(), client, http.MethodPost, srv.URL+chatPath, streamBody)
	if got.status != 200 || !errors.Is(got.readErr, syscall.ECONNRESET) {
		t.Errorf("got %d, errors %v, %v", got.status, got.err, got.readErr)
	}
}
