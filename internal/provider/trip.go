package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"

	"gatewright/engine"
	"gatewright/internal/provider/http1"
)

// trip is one way of a request to an upstream, as far as it came.
type trip struct {
	reached  bool // the upstream may have got a part of the request
	reused   bool // the connection had served before
	answered bool // a byte of the answer has come
}

// trip sends a request once; fresh asks for a connection that has not served
// before.
func (c *Client) trip(ctx context.Context, o *Outgoing, fresh bool) (*http.Response, trip, error) {
	method := o.Method
	if method == "" {
		method = http.MethodPost
	}
	origin := c.origin(o.URL)
	if origin == nil {
		return c.byTransport(ctx, o, method, fresh)
	}
	r := http1.Request{Method: method, URL: o.URL, Header: o.Header, Fresh: fresh}
	if o.Body != nil {
		o.Body.hold()
		r.Body = o.Body
	}
	resp, err := origin.Do(ctx, &r)
	return resp, trip{reached: r.Sent, reused: r.Reused, answered: r.Answered}, err
}

// trace is what net/http tells of a trip, from whatever goroutine.
type trace struct {
	connected atomic.Bool // there is a connection
	reused    atomic.Bool
	answered  atomic.Bool
}

// byTransport sends a request by net/http.
func (c *Client) byTransport(ctx context.Context, o *Outgoing, method string, fresh bool) (*http.Response, trip, error) {
	t := new(trace) // of this trip alone: a connection may still be writing another
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
		Method: method, URL: o.URL, Host: o.URL.Host, Header: o.Header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if body := o.Body; body != nil {
		req.Body, req.ContentLength = body.Reader(), int64(body.Len())
		req.GetBody = func() (io.ReadCloser, error) { return body.Reader(), nil }
	}
	via := c.pooled
	if fresh {
		via = c.fresh
	}
	resp, err := via.RoundTrip(req.WithContext(ctx))
	return resp, trip{reached: t.connected.Load(), reused: t.reused.Load(), answered: t.answered.Load()}, err
}

// stale reports whether the upstream had closed a kept connection before the
// request could reach it.
func (t trip) stale(err error) bool {
	if !t.reused || t.answered {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || // its reader saw the end while the request was being written
		err.Error() == "http: server closed idle connection"
}

// failure says what went wrong before there were headers, without addresses.
func (t trip) failure(err error) *Failure {
	if t.answered {
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
	case t.reused, errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
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
