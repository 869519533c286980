package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/http1"
)

// start serves an upstream for the time of the test.
func start(t *testing.T, o Options) (u *Upstream, address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	u = New(o)
	ended := make(chan error, 1)
	go func() { ended <- u.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return u, l.Addr().String()
}

// talk is one connection.
type talk struct {
	t    *testing.T
	conn net.Conn
	in   *http1.Reader
	head http1.Head
	body http1.Body
}

func dial(t *testing.T, address string) *talk {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &talk{t: t, conn: c, in: http1.NewReader(c)}
}

// send sends a request and returns the status of its answer.
func (c *talk) send(method, path string, body []byte) int {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body); err != nil {
		c.t.Fatal(err)
	}
	if err := c.in.ReadHead(&c.head); err != nil {
		c.t.Fatal(err)
	}
	if err := c.in.ReadResponseBody(&c.head, &c.body); err != nil {
		c.t.Fatal(err)
	}
	status, err := c.head.Status()
	if err != nil {
		c.t.Fatal(err)
	}
	return status
}

// request returns a request's body and its mark.
func request(stream bool, n uint64) (body, mark []byte) {
	body, at := dialog.Request(dialog.Model, 1000, stream)
	dialog.PutMark(body[at:], n)
	return body, body[at : at+dialog.MarkLength]
}

const (
	healthy = Healthy + "/chat/completions"
	limited = Limited + "/chat/completions"
	hinted  = Hinted + "/chat/completions"
)

func TestAnswersCarryTheMarkOfTheirRequest(t *testing.T) {
	_, address := start(t, Options{})
	c := dial(t, address)
	v := dialog.NewVerifier()
	for n := range uint64(4) {
		streamed := n%2 == 1
		body, mark := request(streamed, n)
		if status := c.send(http.MethodPost, healthy, body); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, c.body.Bytes)
		}
		verify := v.Answer
		if streamed {
			verify = v.Stream
			// A chunk an event, and one for the end.
			if c.body.Frames != dialog.Chunks+1 {
				t.Errorf("frames of a stream: got %d, want %d", c.body.Frames, dialog.Chunks+1)
			}
		}
		if err := verify(mark, c.body.Bytes); err != nil {
			t.Error(err)
		}
	}
}

func TestStreamHasUsageWhenItIsAskedFor(t *testing.T) {
	_, address := start(t, Options{Gap: time.Microsecond})
	c := dial(t, address)
	body, _ := request(true, 7)
	body = append(bytes.TrimSuffix(body, []byte("}")), `,"stream_options":{"include_usage":true}}`...)
	c.send(http.MethodPost, healthy, body)
	usage := bytes.Index(c.body.Bytes, []byte(`"usage":{`))
	if done := bytes.Index(c.body.Bytes, []byte("[DONE]")); usage < 0 || done < usage {
		t.Errorf("usage at %d, end at %d of %q", usage, done, c.body.Bytes)
	}
}

func TestPaths(t *testing.T) {
	good, _ := request(false, 1)
	for _, tt := range []struct {
		name, method, path string
		body               []byte
		status             int
		want               Stats
	}{
		{"healthy", http.MethodPost, healthy, good, http.StatusOK, Stats{Healthy: 1}},
		{"limited", http.MethodPost, limited, good, http.StatusTooManyRequests, Stats{Limited: 1}},
		{"limited with a hint", http.MethodPost, hinted, good, http.StatusTooManyRequests, Stats{Hinted: 1}},
		{"another path", http.MethodPost, "/v2/chat/completions", good, http.StatusBadRequest, Stats{Refused: 1}},
		{"another endpoint", http.MethodPost, Healthy + "/embeddings", good, http.StatusBadRequest, Stats{Refused: 1}},
		{"another method", http.MethodPut, healthy, good, http.StatusBadRequest, Stats{Refused: 1}},
		{"a body that is not whole", http.MethodPost, healthy, good[:len(good)-1], http.StatusBadRequest, Stats{Refused: 1}},
		{"a body without a mark", http.MethodPost, healthy, []byte("{}"), http.StatusBadRequest, Stats{Refused: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, address := start(t, Options{RetryAfter: time.Minute})
			c := dial(t, address)
			if got := c.send(tt.method, tt.path, tt.body); got != tt.status {
				t.Errorf("status: got %d, want %d", got, tt.status)
			}
			if !json.Valid(c.body.Bytes) {
				t.Errorf("body is no JSON: %q", c.body.Bytes)
			}
			if got := u.Stats(); got != tt.want {
				t.Errorf("stats: got %+v, want %+v", got, tt.want)
			}
			c.send(http.MethodGet, StatsPath, nil)
			var got Stats
			if err := json.Unmarshal(c.body.Bytes, &got); err != nil || got != tt.want {
				t.Errorf("stats over HTTP: got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestRetryAfterStandsWhereItIsHinted(t *testing.T) {
	_, address := start(t, Options{RetryAfter: 5 * time.Minute})
	for path, want := range map[string]string{limited: "", hinted: "300"} {
		body, _ := request(false, 1)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Retry-After"); got != want {
			t.Errorf("%s: Retry-After: got %q, want %q", path, got, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestMalformedRequestIsToldSo(t *testing.T) {
	u, address := start(t, Options{})
	c := dial(t, address)
	if _, err := io.WriteString(c.conn, "POST "+healthy+" HTTP/1.1\r\nContent-Length: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c.conn)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
		t.Errorf("got %q, %v", text, err)
	}
	if got := u.Stats().Refused; got != 1 {
		t.Errorf("refused: got %d, want 1", got)
	}
}

func TestExpectIsAnswered(t *testing.T) {
	_, address := start(t, Options{})
	c := dial(t, address)
	body, mark := request(false, 3)
	if _, err := fmt.Fprintf(c.conn, "POST %s HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", healthy, len(body)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusContinue, http.StatusOK} {
		if err := c.in.ReadHead(&c.head); err != nil {
			t.Fatal(err)
		}
		if got, err := c.head.Status(); got != want || err != nil {
			t.Fatalf("status: got %d, %v; want %d", got, err, want)
		}
		if want == http.StatusContinue {
			if _, err := c.conn.Write(body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.in.ReadResponseBody(&c.head, &c.body); err != nil {
		t.Fatal(err)
	}
	if err := dialog.NewVerifier().Answer(mark, c.body.Bytes); err != nil {
		t.Error(err)
	}
}

func TestHammer(t *testing.T) {
	u, address := start(t, Options{})
	const clients, requests = 16, 20
	var running sync.WaitGroup
	for k := range uint64(clients) {
		c := dial(t, address)
		running.Go(func() {
			v := dialog.NewVerifier()
			for n := range uint64(requests) {
				body, mark := request(false, k<<32|n)
				c.send(http.MethodPost, healthy, body)
				if err := v.Answer(mark, c.body.Bytes); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if got := u.Stats(); got != (Stats{Healthy: clients * requests}) {
		t.Errorf("stats: got %+v, want %d healthy", got, clients*requests)
	}
}
