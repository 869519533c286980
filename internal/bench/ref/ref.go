// Package ref is the yardstick: the smallest sensible reverse proxy of Go's
// standard library. It reads nothing, decides nothing, counts nothing and logs
// nothing. What a gateway costs is told as a multiple of it.
//
// It never gets tuned: figures of different releases are compared by it.
package ref

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

const (
	connectTimeout = 5 * time.Second
	headerTimeout  = 10 * time.Second
	idleTimeout    = 90 * time.Second
	idleConns      = 512
	bufferSize     = 32 << 10
)

// Serve passes what comes to the listener on to the upstream at address, until
// ctx ends or the listener fails.
func Serve(ctx context.Context, l net.Listener, address string) error {
	upstream := &url.URL{Scheme: "http", Host: address}
	server := &http.Server{ReadHeaderTimeout: headerTimeout, Handler: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		FlushInterval: -1, // after each write
		BufferPool:    newBuffers(),
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
			MaxIdleConns:        idleConns,
			MaxIdleConnsPerHost: idleConns,
			IdleConnTimeout:     idleTimeout,
			DisableCompression:  true,
		},
	}}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// buffers is the pool of buffers that answers are copied through.
type buffers struct{ pool sync.Pool }

var _ httputil.BufferPool = (*buffers)(nil)

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}}
}

// Get implements [httputil.BufferPool].
func (b *buffers) Get() []byte {
	buf, _ := b.pool.Get().(*[]byte)
	return *buf
}

// Put implements [httputil.BufferPool].
func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }
