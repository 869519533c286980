package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"gatewright/engine"
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
	// A request of a coding agent's usual size goes out in one write, and an
	// answer comes in with few reads. Each connection keeps both buffers.
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
type Client struct {
	pooled *http.Transport
	fresh  *http.Transport // a new connection for each call
}

// NewClient returns a client. Proxies come from the environment (HTTPS_PROXY,
// NO_PROXY, …).
func NewClient(o ClientOptions) *Client {
	if o.Connect <= 0 {
		o.Connect = defaultConnect
	}
	if o.IdlePerHost <= 0 {
		o.IdlePerHost = defaultIdle
	}
	fresh := newTransport(o)
	fresh.DisableKeepAlives = true
	return &Client{pooled: newTransport(o), fresh: fresh}
}

func newTransport(o ClientOptions) *http.Transport {
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: probeEvery}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
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

// Close closes the connections that no call uses. Calls that are running go on.
func (c *Client) Close() {
	c.pooled.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
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
	via := c.pooled
	if o.Once {
		via = c.fresh
	}
	t := new(trip)
	began := time.Now()
	resp, err := t.send(ctx, via, o)
	if err != nil && ctx.Err() == nil && t.stale(err) && time.Since(began) < staleWithin && (o.Again == nil || o.Again()) {
		t = new(trip) // the first may still be written by its connection
		resp, err = t.send(ctx, c.fresh, o)
	}
	o.Reached = t.connected.Load()
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

// trip is one way of a request to an upstream, as the transport reports it.
type trip struct {
	connected atomic.Bool // there is a connection
	reused    atomic.Bool // the connection had served before
	answered  atomic.Bool // a byte of the answer has come
}

func (t *trip) send(ctx context.Context, via *http.Transport, o *Outgoing) (*http.Response, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			t.reused.Store(info.Reused)
			t.connected.Store(true)
		},
		GotFirstResponseByte: func() { t.answered.Store(true) },
		// After an error the same reader may be used again, on another
		// connection: only a success ends its use.
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil && o.Body != nil {
				o.Body.Written()
			}
		},
	})
	req := &http.Request{
		Method: o.Method, URL: o.URL, Host: o.URL.Host, Header: o.Header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if req.Method == "" {
		req.Method = http.MethodPost
	}
	if body := o.Body; body != nil {
		req.Body, req.ContentLength = body.Reader(), int64(body.Len())
		req.GetBody = func() (io.ReadCloser, error) { return body.Reader(), nil }
	}
	return via.RoundTrip(req.WithContext(ctx))
}

// stale reports whether the upstream had closed a kept connection before the
// request could reach it.
func (t *trip) stale(err error) bool {
	if !t.reused.Load() || t.answered.Load() {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || // its reader saw the end while the request was being written
		err.Error() == "http: server closed idle connection"
}

// failure says what went wrong before there were headers, without addresses.
func (t *trip) failure(err error) *Failure {
	if t.answered.Load() {
		return &Failure{Class: engine.ClassServer, Message: "the upstream's answer is not HTTP, or its headers are too large", Err: err}
	}
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return &Failure{Class: engine.ClassConnect, Message: "the upstream's host name could not be resolved", Err: err}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Failure{Class: engine.ClassTimeout, Message: "the upstream could not be reached in time", Err: err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Failure{Class: engine.ClassConnect, Message: "the upstream refused the connection", Err: err}
	case isTLS(err):
		return &Failure{Class: engine.ClassConnect, Message: "no secure connection to the upstream could be made", Err: err}
	case t.reused.Load(), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &Failure{Class: engine.ClassConnect, Message: "the upstream closed the connection before it answered", Err: err}
	}
	return &Failure{Class: engine.ClassConnect, Message: "the upstream could not be reached", Err: err}
}

func isTLS(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert)
}

// detail returns the text of an error of the network, for operators: it names
// addresses, and nothing that could hold a secret. Of other errors it returns
// "".
func detail(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e.Error()
	}
	return ""
}
