package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"gatewright/engine"
)

// TestPostFailures sorts out why a connection could not be made.
func TestPostFailures(t *testing.T) {
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443}, Err: err}
	}
	cases := []struct {
		name   string
		err    error
		class  engine.FailureClass
		detail string
	}{
		{"F01 refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), engine.ClassConnect, "192.0.2.1"},
		{"F02 no such host", dial(&net.DNSError{Err: "no such host", Name: "up.example", IsNotFound: true}), engine.ClassConnect, "up.example"},
		{"F02 no answer of the resolver", dial(&net.DNSError{Err: "i/o timeout", Name: "up.example", IsTimeout: true}), engine.ClassConnect, "up.example"},
		{"F03 black hole", dial(os.ErrDeadlineExceeded), engine.ClassTimeout, "192.0.2.1"},
		{"no route", dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), engine.ClassConnect, "192.0.2.1"},
		{"something else", errors.New("proxy http://user:canary@proxy.example is no good"), engine.ClassConnect, ""},
		{"cut", io.ErrUnexpectedEOF, engine.ClassConnect, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := NewClient(ClientOptions{})
			c.pooled.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, tc.err }
			body := NewBody(NewBuffer())
			_, err := c.Post(t.Context(), &url.URL{Scheme: "http", Host: "up.example", Path: "/"}, http.Header{}, body) //nolint:bodyclose // there is no answer
			body.Release()
			f, ok := errors.AsType[*Failure](err)
			if !ok || f.Class != tc.class || f.Status != 0 {
				t.Fatalf("got %#v, want class %s", err, tc.class)
			}
			if strings.Contains(f.Message, "192.0.2.1") || strings.Contains(f.Message, "example") {
				t.Errorf("message %q names an address", f.Message)
			}
			if got := detail(f.Err); tc.detail == "" && got != "" || !strings.Contains(got, tc.detail) {
				t.Errorf("detail %q", got)
			}
			if n := body.refs.Load(); n != 1 {
				t.Errorf("%d holds on a body that was not written, want one", n)
			}
		})
	}
}

// TestPostCancelled returns why the context ended.
func TestPostCancelled(t *testing.T) {
	c := NewClient(ClientOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan struct{})
	defer close(over) // a dial goes on for others who may want the connection
	c.pooled.DialContext = func(context.Context, string, string) (net.Conn, error) {
		cancel(errFirstToken)
		<-over
		return nil, errors.New("the test is over")
	}
	body := NewBody(NewBuffer())
	defer body.Release()
	_, err := c.Post(ctx, &url.URL{Scheme: "http", Host: "up.example", Path: "/"}, http.Header{}, body) //nolint:bodyclose // there is no answer
	if !errors.Is(err, errFirstToken) {
		t.Errorf("got %v", err)
	}
}
