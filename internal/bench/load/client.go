package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/http1"
)

// sessionField names the conversation that a request belongs to: each has its
// own.
const sessionField = "X-Gatewright-Session: "

// client is one kept connection and the request that goes over it, for one
// goroutine.
type client struct {
	address  string
	stream   bool
	request  []byte
	marks    [2]int // where the request's mark stands: session and body
	verifier *dialog.Verifier

	conn net.Conn
	in   *http1.Reader
	head http1.Head
	body http1.Body
}

func newClient(j *Job) *client {
	body, mark := dialog.Request(j.Model, j.BodyBytes, j.Stream)
	head := fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: */*\r\nUser-Agent: gatewright-bench\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n%s",
		j.Address, j.Key, len(body), sessionField)
	session := len(head)
	head = fmt.Appendf(head, "%0*d\r\n\r\n", dialog.MarkLength, 0)
	return &client{
		address: j.Address, stream: j.Stream, verifier: dialog.NewVerifier(),
		request: slices.Concat(head, body), marks: [2]int{session, len(head) + mark},
	}
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// Once sends one request of a job over a connection of its own, and verifies its
// answer.
func Once(j Job) error {
	if err := j.check(); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	c := newClient(&j)
	defer c.close()
	_, err := c.do(rand.Uint64()) //nolint:gosec // tells requests apart, guards nothing
	return err
}

// timing is how long one answer took.
type timing struct {
	first time.Duration // until the first byte of its body
	total time.Duration
}

// do sends the request with the mark n, and reads and verifies its answer.
func (c *client) do(n uint64) (timing, error) {
	if err := c.connect(); err != nil {
		return timing{}, err
	}
	for _, at := range c.marks {
		dialog.PutMark(c.request[at:], n)
	}
	sent := time.Now()
	t, err := c.exchange(sent)
	if err != nil {
		c.close()
		return timing{}, err
	}
	if c.head.Close {
		c.close()
	}
	return t, nil
}

func (c *client) connect() error {
	if c.conn != nil {
		return nil
	}
	conn, err := net.DialTimeout("tcp", c.address, requestTimeout) //nolint:noctx // a connection of loopback, with a limit
	if err != nil {
		return err
	}
	c.conn = conn
	if c.in == nil {
		c.in = http1.NewReader(conn)
	} else {
		c.in.Reset(conn)
	}
	return nil
}

func (c *client) exchange(sent time.Time) (timing, error) {
	if err := c.conn.SetDeadline(sent.Add(requestTimeout)); err != nil {
		return timing{}, err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return timing{}, fmt.Errorf("send: %w", err)
	}
	if err := c.in.ReadHead(&c.head); err != nil {
		return timing{}, fmt.Errorf("read the head of an answer: %w", err)
	}
	if err := c.in.ReadResponseBody(&c.head, &c.body); err != nil {
		return timing{}, fmt.Errorf("read the body of an answer after %d bytes: %w", len(c.body.Bytes), err)
	}
	t := timing{first: c.body.First.Sub(sent), total: time.Since(sent)}
	return t, c.verify()
}

var errNoContent = errors.New("no content")

func (c *client) verify() error {
	status, err := c.head.Status()
	if err != nil {
		return err
	}
	mark := c.request[c.marks[0] : c.marks[0]+dialog.MarkLength]
	switch {
	case status != http.StatusOK:
		return fmt.Errorf("status %d: %.300q", status, c.body.Bytes)
	case len(c.body.Bytes) == 0:
		return errNoContent
	case c.stream:
		return c.verifier.Stream(mark, c.body.Bytes)
	}
	return c.verifier.Answer(mark, c.body.Bytes)
}
