package http1

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say how connections are made and kept, and what an answer may be. All
// fields must be set.
type Options struct {
	// Dial makes a connection, and bounds the time that it takes.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// MaxIdle is how many connections are kept that no call uses, and IdleTimeout
	// for how long at most.
	MaxIdle     int
	IdleTimeout time.Duration
	// MaxHead bounds what stands before an answer's body, in bytes, informational
	// answers included; MaxFields how many fields it has.
	MaxHead   int
	MaxFields int
}

// Origin is an upstream: an address, and the connections to it. Its methods may
// run in parallel.
type Origin struct {
	options   Options
	authority string // as in the field Host
	address   string // that is dialled

	mu     sync.Mutex
	idle   []*conn // in the order of their last use
	now    uint32  // ticks since the start
	timer  *time.Timer
	closed bool
}

// idleTicks is how many ticks make the idle timeout. Nobody reads the clock to
// tell how long a connection has been idle: ticks are counted while there is one.
const idleTicks = 10

// NewOrigin returns the origin of an authority: a host name or an address, and a
// port where it is not 80. It makes no connection.
func NewOrigin(authority string, o Options) (*Origin, error) {
	host, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		host, port = authority[:i], authority[i+1:]
	}
	if port == "" {
		port = "80"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("authority %q: the port is no number below 65536", authority)
	}
	bare, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		bare = strings.TrimSuffix(bare, "]")
		if a, err := netip.ParseAddr(bare); err != nil || !a.Is6() || a.Zone() != "" || len(bare) != len(host)-len("[]") {
			return nil, fmt.Errorf("authority %q: what stands in brackets is no IPv6 address without a zone", authority)
		}
	} else if !isHost(bare) {
		return nil, fmt.Errorf("authority %q: the host is neither a name in ASCII nor an address", authority)
	}
	return &Origin{options: o, authority: authority, address: net.JoinHostPort(bare, port)}, nil
}

func isHost(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return name != ""
}

// Close closes the connections that no call uses, and keeps none from now on.
// Calls that are running go on.
func (o *Origin) Close() {
	o.mu.Lock()
	idle := o.idle
	o.idle, o.closed = nil, true
	if o.timer != nil {
		o.timer.Stop()
	}
	o.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
}

// Do sends a request and returns the answer once its head is there. The answer
// has no Request and no Trailer, and its Header lacks what belongs to the
// connection. Its body must be read to the end or closed; Close may run beside
// Read, and ends it.
//
// The end of ctx ends the call, and the reading of the body: both return its
// cause.
func (o *Origin) Do(ctx context.Context, r *Request) (*http.Response, error) {
	x := &exchange{origin: o, ctx: ctx}
	if err := x.run(r); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return &x.answer, nil
}

// connect returns a connection: the one that was used last, unless a fresh one
// is asked for.
func (o *Origin) connect(ctx context.Context, fresh bool) (*conn, error) {
	if !fresh {
		if c := o.take(); c != nil {
			return c, nil
		}
	}
	nc, err := o.options.Dial(ctx, "tcp", o.address)
	if err != nil {
		return nil, err
	}
	c, err := newConn(nc)
	if err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	return c, nil
}

// take returns the connection that was used last; nil = there is none.
func (o *Origin) take() *conn {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := len(o.idle) - 1
	if last < 0 {
		return nil
	}
	c := o.idle[last]
	o.idle[last] = nil
	o.idle = o.idle[:last]
	return c
}

// keep takes a connection back that can be used again.
func (o *Origin) keep(c *conn) {
	if !o.put(c) {
		_ = c.Close()
	}
}

func (o *Origin) put(c *conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.idle) >= o.options.MaxIdle {
		return false
	}
	c.used, c.since = true, o.now
	if o.idle = append(o.idle, c); len(o.idle) == 1 {
		o.arm()
	}
	return true
}

// arm sets the timer of the next tick, unless it runs. The caller holds mu.
func (o *Origin) arm() {
	if o.timer == nil {
		o.timer = time.AfterFunc(o.options.IdleTimeout/idleTicks, o.tick)
	}
}

// tick closes the connections that have been idle for too long.
func (o *Origin) tick() {
	for _, c := range o.expired() {
		_ = c.Close()
	}
}

// expired counts a tick and takes out what has seen enough of them.
func (o *Origin) expired() []*conn {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	o.now++
	n := 0
	for n < len(o.idle) && o.now-o.idle[n].since >= idleTicks {
		n++
	}
	if n < len(o.idle) {
		defer o.arm()
	}
	if n == 0 {
		return nil
	}
	old := make([]*conn, n)
	copy(old, o.idle)
	rest := copy(o.idle, o.idle[n:])
	clear(o.idle[rest:])
	o.idle = o.idle[:rest]
	return old
}
