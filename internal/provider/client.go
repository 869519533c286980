package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/http1"
)

// Bounds of an upstream's answer before its body.
const (
	maxHeaderBytes = 1 << 20
	maxHeaderCount = 1000
)

const (
	defaultConnect = 10 * time.Second
	defaultIdle    = 512              // idle connections kept for one host
	idleTimeout    = 50 * time.Second // many servers close after 60: better to be first
	probeEvery     = 30 * time.Second // between TCP's probes
	pingAfter      = 30 * time.Second // silence on an HTTP/2 connection
	pingTimeout    = 15 * time.Second

	// staleWithin is how soon a connection that the upstream had already closed
	// shows it: one round trip. What breaks later had a server behind it.
	staleWithin = time.Second
	// Where net/http makes a call, a request of a coding agent's usual size goes out
	// in one write, and an answer comes in with few reads. Each connection keeps
	// both buffers.
	writeBuffer = 16 << 10
	readBuffer  = 8 << 10
)

// ClientOptions say how connections to a provider are made. Zero fields have
// the defaults.
type ClientOptions struct {
	// Connect bounds making a connection, and again the TLS handshake on it;
	// default 10 s.
	Connect time.Duration
	// RootCAs are the authorities that are trusted; nil = the system's.
	RootCAs *x509.CertPool
	// IdlePerHost is how many unused connections are kept; default 512.
	IdlePerHost int
}

// Client makes the HTTP calls of one provider and keeps its connections. It
// follows no redirect, keeps no cookie, and decodes no body. Its methods may
// run in parallel.
//
// Upstreams that are spoken to in plain HTTP and directly are called by package
// http1, which costs a fraction of what net/http does. All others are called by
// net/http.
type Client struct {
	dialer dialer
	idle   int
	pooled *http.Transport
	fresh  *http.Transport // a new connection for each call

	last atomic.Pointer[route] // that was used last: mostly there is but one
	mu   sync.Mutex
	all  map[string]*route // by authority
	over bool
}

// route is how the upstream of an authority is called.
type route struct {
	authority string
	origin    *http1.Origin // nil = by net/http
}

// dialer makes connections.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// NewClient returns a client. Proxies come from the environment (HTTPS_PROXY,
// NO_PROXY, …).
func NewClient(o ClientOptions) *Client {
	if o.Connect <= 0 {
		o.Connect = defaultConnect
	}
	if o.IdlePerHost <= 0 {
		o.IdlePerHost = defaultIdle
	}
	c := &Client{idle: o.IdlePerHost, all: make(map[string]*route)}
	c.dialer = (&net.Dialer{Timeout: o.Connect, KeepAlive: probeEvery}).DialContext
	c.pooled, c.fresh = c.transport(o), c.transport(o)
	c.fresh.DisableKeepAlives = true
	return c
}

// transport returns one of net/http's.
func (c *Client) transport(o ClientOptions) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    o.IdlePerHost,
		WriteBufferSize:        writeBuffer,
		ReadBufferSize:         readBuffer,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}

func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return c.dialer(ctx, network, address)
}

// Close closes the connections that no call uses, and keeps none of package
// http1's from now on. Calls that are running go on.
func (c *Client) Close() {
	c.pooled.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, r := range c.all {
		if r.origin != nil {
			r.origin.Close()
		}
	}
}

// origin returns the origin that a URL is called at; nil = net/http makes the
// call.
func (c *Client) origin(u *url.URL) *http1.Origin {
	if u.Scheme != "http" || u.Opaque != "" {
		return nil
	}
	r := c.last.Load()
	if r == nil || r.authority != u.Host {
		r = c.route(u)
		c.last.Store(r)
	}
	return r.origin
}

// route finds the route to an upstream, or decides on it.
func (c *Client) route(u *url.URL) *route {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.all[u.Host]
	if r == nil {
		r = &route{authority: u.Host, origin: c.direct(u)}
		if r.origin != nil && c.over {
			r.origin.Close()
		}
		c.all[u.Host] = r
	}
	return r
}

// direct returns the origin of an upstream that package http1 can call.
func (c *Client) direct(u *url.URL) *http1.Origin {
	if proxy, err := c.pooled.Proxy(&http.Request{URL: u}); proxy != nil || err != nil || !http1.Available {
		return nil
	}
	o, err := http1.NewOrigin(u.Host, http1.Options{
		Dial: c.dial, MaxIdle: c.idle, IdleTimeout: idleTimeout,
		MaxHead: maxHeaderBytes, MaxFields: maxHeaderCount,
	})
	if err != nil {
		return nil // a name in other letters, say: net/http knows what to do
	}
	return o
}

// Outgoing is one request to an upstream. Its URL, Header and Body are only
// read, and must not be written afterwards.
type Outgoing struct {
	Method string // "" = POST
	URL    *url.URL
	Header http.Header
	Body   *Body // nil = none
	// Once says that the request must not reach the upstream twice: it goes on a
	// connection of its own, which cannot have been closed before.
	Once bool
	// Again is asked before a request that went out on a closed connection is
	// sent once more; nil = it may be.
	Again func() bool
	// Reached is set by Send: the upstream may have got the request, or a part of
	// it.
	Reached bool
}

// Post sends body to u: see Send.
func (c *Client) Post(ctx context.Context, u *url.URL, header http.Header, body *Body) (*http.Response, error) {
	return c.Send(ctx, &Outgoing{URL: u, Header: header, Body: body})
}

// Send makes a request and returns the answer once its headers are there. The
// error is a *Failure, or the context's. The caller closes the answer's body.
//
// A call that fails because the upstream had closed a kept connection is sent
// once more on a new one, if Again allows it. That is no attempt of its own: as
// far as can be told the upstream has not seen the first.
func (c *Client) Send(ctx context.Context, o *Outgoing) (*http.Response, error) {
	began := time.Now()
	resp, t, err := c.trip(ctx, o, o.Once)
	o.Reached = t.reached
	if err != nil && ctx.Err() == nil && t.stale(err) && time.Since(began) < staleWithin && (o.Again == nil || o.Again()) {
		resp, t, err = c.trip(ctx, o, true)
		o.Reached = o.Reached || t.reached
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, t.failure(err)
	}
	if f := refuseHead(resp); f != nil {
		_ = resp.Body.Close()
		return nil, f
	}
	return resp, nil
}

// refuseHead judges what stands before the body, as far as every protocol
// agrees.
func refuseHead(resp *http.Response) *Failure {
	n := 0
	for _, values := range resp.Header {
		n += len(values)
	}
	switch {
	case n > maxHeaderCount:
		return &Failure{Class: engine.ClassServer, Message: "the upstream sent too many response headers"}
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return &Failure{Class: engine.ClassServer, Message: "the upstream asked to switch protocols"}
	}
	return nil
}
