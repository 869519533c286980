package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/http1"
)

// The paths below which an upstream is called; /chat/completions follows.
const (
	Healthy = "/v1"             // answers
	Limited = "/limited/v1"     // 429 without a hint
	Hinted  = "/limited-for/v1" // 429 with Retry-After
	// StatsPath is where the counts are, as a JSON object of [Stats].
	StatsPath = "/stats"
)

// Options say how an upstream answers.
type Options struct {
	Gap        time.Duration // between the events of a stream
	RetryAfter time.Duration // what [Hinted] asks for, in whole seconds
}

// Stats is how many chat requests came to each path.
type Stats struct {
	Healthy int64 `json:"healthy"`
	Limited int64 `json:"limited"`
	Hinted  int64 `json:"hinted"`
	Refused int64 `json:"refused"` // what is not a benchmark's request
}

// Upstream is the upstream. Its methods may be called in parallel.
type Upstream struct {
	options Options
	routes  []*route
	refused atomic.Int64
}

// route is one path that chat requests come to.
type route struct {
	path  string
	count atomic.Int64
	fixed []byte // the whole answer to each request; nil = it is served
}

// New returns an upstream.
func New(o Options) *Upstream {
	hint := fmt.Sprintf("Retry-After: %d\r\n", int(o.RetryAfter.Seconds()))
	return &Upstream{options: o, routes: []*route{
		{path: Healthy},
		{path: Limited, fixed: limitedResponse("")},
		{path: Hinted, fixed: limitedResponse(hint)},
	}}
}

// Stats returns what was counted.
func (u *Upstream) Stats() Stats {
	return Stats{
		Healthy: u.routes[0].count.Load(), Limited: u.routes[1].count.Load(), Hinted: u.routes[2].count.Load(),
		Refused: u.refused.Load(),
	}
}

// Serve serves connections until ctx ends or the listener fails. When it
// returns every connection is closed.
func (u *Upstream) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("accept: %w", err)
		}
		running.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer stop()
			defer func() { _ = c.Close() }()
			newConn(u, c).serve()
		})
	}
}

// conn is one connection, for one goroutine.
type conn struct {
	upstream *Upstream
	net      net.Conn
	in       *http1.Reader
	head     http1.Head
	body     http1.Body
	script   *script
	timer    *time.Timer
}

func newConn(u *Upstream, c net.Conn) *conn {
	return &conn{upstream: u, net: c, in: http1.NewReader(c), script: newScript()}
}

// serve answers requests until the connection ends. Errors of a connection are
// for the other side to see.
func (c *conn) serve() {
	for {
		if err := c.read(); err != nil {
			if errors.Is(err, http1.ErrMalformed) {
				_ = c.refuse(err) // the connection ends all the same
			}
			return
		}
		if err := c.answer(); err != nil || c.head.Close {
			return
		}
	}
}

func (c *conn) read() error {
	if err := c.in.ReadHead(&c.head); err != nil {
		return err
	}
	if c.head.Expect {
		if err := c.write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return err
		}
	}
	return c.in.ReadRequestBody(&c.head, &c.body)
}

func (c *conn) write(b []byte) error {
	_, err := c.net.Write(b)
	return err
}

// answer answers the request that was read. An error ends the connection.
func (c *conn) answer() error {
	method, path, err := c.head.Target()
	switch {
	case err != nil:
		return errors.Join(err, c.refuse(err))
	case string(method) == http.MethodGet && string(path) == StatsPath:
		text, err := json.Marshal(c.upstream.Stats())
		if err != nil {
			return err
		}
		return c.write(response(http.StatusOK, "", string(text)))
	}
	route := c.upstream.route(path)
	if route == nil || string(method) != http.MethodPost {
		return c.refuse(fmt.Errorf("no such path: %.80q", path))
	}
	asked, err := dialog.Read(c.body.Bytes)
	if err != nil {
		return c.refuse(err)
	}
	route.count.Add(1)
	if route.fixed != nil {
		return c.write(route.fixed)
	}
	if asked.Stream {
		return c.stream(asked)
	}
	return c.write(c.script.answer.with(asked.Mark))
}

// route returns where a path leads; nil = nowhere.
func (u *Upstream) route(path []byte) *route {
	base, ok := bytes.CutSuffix(path, []byte("/chat/completions"))
	if !ok {
		return nil
	}
	for _, r := range u.routes {
		if string(base) == r.path {
			return r
		}
	}
	return nil
}

// refuse answers what no benchmark sends: a proxy has spoiled it.
func (c *conn) refuse(why error) error {
	c.upstream.refused.Add(1)
	const status = http.StatusBadRequest
	text, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": strings.ToValidUTF8(why.Error(), "?"), "type": "invalid_request_error", "param": nil, "code": nil,
	}})
	if err != nil {
		return err
	}
	return c.write(response(status, "", string(text)))
}

// stream sends a stream: each event is a write of its own; finish, usage and end
// come together.
func (c *conn) stream(asked dialog.Asked) error {
	if err := c.write(streamHead); err != nil {
		return err
	}
	for i, event := range c.script.events {
		if i > 0 {
			c.pause()
		}
		if err := c.write(event.with(asked.Mark)); err != nil {
			return err
		}
	}
	if asked.Usage {
		return c.write(c.script.endWithUsage.with(asked.Mark))
	}
	return c.write(c.script.end.with(asked.Mark))
}

// pause waits for the gap between two events. It is short, so nothing ends it.
func (c *conn) pause() {
	gap := c.upstream.options.Gap
	if gap <= 0 {
		return
	}
	if c.timer == nil {
		c.timer = time.NewTimer(gap)
	} else {
		c.timer.Reset(gap)
	}
	<-c.timer.C
}
