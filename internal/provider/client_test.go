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
	"gatewright/internal/provider/http1"
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
			c.dialer = func(context.Context, string, string) (net.Conn, error) { return nil, tc.err }
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
			if n := body.refs.Load(); n != 0 {
				t.Errorf("%d holds on a body that nobody will write", n)
			}
		})
	}
}

// TestPostCancelled returns why the context ended.
func TestPostCancelled(t *testing.T) {
	c := NewClient(ClientOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	c.dialer = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel(errFirstToken)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	body := NewBody(NewBuffer())
	defer body.Release()
	_, err := c.Post(ctx, &url.URL{Scheme: "http", Host: "up.example", Path: "/"}, http.Header{}, body) //nolint:bodyclose // there is no answer
	if !errors.Is(err, errFirstToken) {
		t.Errorf("got %v", err)
	}
}

// TestRoutes makes calls by package http1 only where nothing stands in between
// and nothing has to be known but HTTP/1.1.
func TestRoutes(t *testing.T) {
	proxied := func(r *http.Request) (*url.URL, error) {
		switch r.URL.Hostname() {
		case "proxied.example":
			return &url.URL{Scheme: "http", Host: "proxy.example"}, nil
		case "unsaid.example":
			return nil, errors.New("no proxy can be told")
		}
		return nil, nil //nolint:nilnil // as net/http's own
	}
	for _, tc := range []struct {
		name   string
		url    url.URL
		direct bool
	}{
		{"plain", url.URL{Scheme: "http", Host: "up.example", Path: "/v1"}, true},
		{"port", url.URL{Scheme: "http", Host: "up.example:8080"}, true},
		{"address", url.URL{Scheme: "http", Host: "[::1]:8080"}, true},
		{"user", url.URL{Scheme: "http", Host: "up.example", User: url.User("x")}, true},
		{"TLS", url.URL{Scheme: "https", Host: "up.example"}, false},
		{"no scheme", url.URL{Host: "up.example"}, false},
		{"no host", url.URL{Scheme: "http", Path: "/v1"}, false},
		{"opaque", url.URL{Scheme: "http", Host: "up.example", Opaque: "//up.example/v1"}, false},
		{"zone", url.URL{Scheme: "http", Host: "[fe80::1%en0]:80"}, false},
		{"name in other letters", url.URL{Scheme: "http", Host: "b\u00fccher.example"}, false},
		{"proxy", url.URL{Scheme: "http", Host: "proxied.example"}, false},
		{"proxy unknown", url.URL{Scheme: "http", Host: "unsaid.example"}, false},
	} {
		c := NewClient(ClientOptions{})
		c.pooled.Proxy = proxied
		first := c.origin(&tc.url)
		if (first != nil) != (tc.direct && http1.Available) {
			t.Errorf("%s: direct %t, want %t", tc.name, first != nil, tc.direct)
		}
		other := c.origin(&url.URL{Scheme: "http", Host: "other.example"})
		if again := c.origin(&tc.url); again != first || first == other && first != nil {
			t.Errorf("%s: not the same origin each time, or the same as another's", tc.name)
		}
		c.Close()
	}
}
