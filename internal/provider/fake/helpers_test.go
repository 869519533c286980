package fake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const (
	chatBody      = `{"model":"m","messages":[{"role":"user","content":"hello there"}]}`
	streamBody    = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello there"}]}`
	embeddingBody = `{"model":"m","input":"hello"}`
	chatPath      = "/a/v1/chat/completions"
)

// mustParse reads a script.
func mustParse(t *testing.T, script string) *Script {
	t.Helper()
	s, err := Parse("script", []byte(script))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return s
}

// rig is a simulation on a loopback port, and a client of its own.
type rig struct {
	*Upstreams
	url    string
	client *http.Client
}

// newRig serves a script until the test ends.
func newRig(t *testing.T, script string, opts Options) *rig {
	t.Helper()
	u := New(mustParse(t, script), opts)
	srv := httptest.NewServer(u)
	tr := &http.Transport{DisableCompression: true}
	r := &rig{Upstreams: u, url: srv.URL, client: &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(func() {
		closing(t, u)
		tr.CloseIdleConnections()
		srv.Close()
	})
	return r
}

// reply is an answer as a client saw it.
type reply struct {
	status  int
	header  http.Header
	trailer http.Header
	body    []byte
	err     error // of the request
	readErr error // of the body
}

// send makes one request and reads the answer to its end.
func (r *rig) send(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	return do(t.Context(), r.client, method, r.url+path, body, header...)
}

func do(ctx context.Context, client *http.Client, method, url, body string, header ...string) reply {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return reply{err: err}
	}
	got, readErr := io.ReadAll(resp.Body)
	readErr = errors.Join(readErr, resp.Body.Close())
	return reply{status: resp.StatusCode, header: resp.Header, trailer: resp.Trailer, body: got, readErr: readErr}
}

// raw makes one request on a connection of its own and returns every byte of
// the answer, and whether the connection ended by a reset.
func (r *rig) raw(t *testing.T, body string) (got []byte, err error) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, conn)
	req, err := http.NewRequest(http.MethodPost, r.url+chatPath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	return io.ReadAll(conn)
}

// newBubble serves a script over pipes, for tests in a synctest bubble, where
// time is made up.
func newBubble(t *testing.T, script string) *rig {
	t.Helper()
	u := New(mustParse(t, script), Options{})
	ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: u}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	tr := &http.Transport{DialContext: ln.dial, DisableCompression: true}
	t.Cleanup(func() {
		closing(t, u)
		tr.CloseIdleConnections()
		closing(t, srv)
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return &rig{Upstreams: u, url: "http://sim", client: &http.Client{Transport: tr}}
}

// closing closes what must close without an error.
func closing(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// pipeListener hands out the far ends of pipes.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// events reads the data of each event of a stream, as the standard says:
// whatever the line ends, comments and other fields left out.
func events(stream []byte) []string {
	text := strings.TrimPrefix(string(stream), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	var out []string
	var data []string
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			if data != nil {
				out = append(out, strings.Join(data, "\n"))
			}
			data = nil
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	return out
}

// chunk is what the tests read of an event.
type chunk struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index int
		Delta struct {
			Role             string
			Content          *string
			Refusal          *string
			ReasoningContent string `json:"reasoning_content"`
			ToolCalls        []struct {
				Index    int
				ID       string
				Type     string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Text         string
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Error *struct {
		Message, Type string
		Param, Code   any
	}
}

// told is what a stream says, put together.
type told struct {
	roles, texts     int // events with a role, with content
	content          string
	finish           string
	usages           []int // completion tokens, as reported
	broken           int   // events that are no JSON
	done, behindDone int
	errorCode        any
	errorSeen        bool
}

func tell(t *testing.T, stream []byte) told {
	t.Helper()
	var out told
	for _, data := range events(stream) {
		if out.done > 0 {
			out.behindDone++
		}
		if data == "[DONE]" {
			out.done++
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			out.broken++
			continue
		}
		out.add(&c)
	}
	return out
}

func (o *told) add(c *chunk) {
	if c.Error != nil {
		o.errorSeen, o.errorCode = true, c.Error.Code
	}
	if c.Usage != nil {
		o.usages = append(o.usages, c.Usage.Completion)
	}
	for _, ch := range c.Choices {
		if ch.Delta.Role != "" {
			o.roles++
		}
		if ch.Delta.Content != nil && *ch.Delta.Content != "" {
			o.texts++
			o.content += *ch.Delta.Content
		}
		if ch.FinishReason != nil {
			o.finish = *ch.FinishReason
		}
	}
}

// errorObject reads {"error": {…}}.
func errorObject(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var v struct{ Error map[string]any }
	if err := json.Unmarshal(body, &v); err != nil || v.Error == nil {
		t.Fatalf("no error object in %.200q: %v", body, err)
	}
	return v.Error
}

// indent makes a one-upstream script: behaviour is YAML in flow or block style
// below the upstream's name.
func oneUpstream(behaviour string) string {
	var b bytes.Buffer
	b.WriteString("seed: 1\nupstreams:\n  a:\n")
	for line := range strings.SplitSeq(behaviour, "\n") {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}
