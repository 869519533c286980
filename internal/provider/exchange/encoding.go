package exchange

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"gatewright/internal/provider"
)

// zstdWindow is the largest window that a frame may ask for: what RFC 8878 wants
// every decoder to support.
const zstdWindow = 8 << 20

var errEncoding = errors.New("content encoding is not known")

// Decode takes the content encoding off the body.
func (x *Exchange) Decode() error {
	body, err := decoded(x.Resp)
	if err != nil {
		return provider.BadAnswer("the upstream's answer could not be decoded", err)
	}
	x.Body = body
	return nil
}

// Over returns a body that reads from r and closes another one.
func Over(r io.Reader, body io.Closer) io.ReadCloser { return &decoder{Reader: r, body: body} }

// decoded returns the body of an answer without its content encoding. Decoding
// is lazy: what it reads, the caller bounds. Closing it closes the body.
func decoded(resp *http.Response) (io.ReadCloser, error) {
	values := resp.Header["Content-Encoding"]
	if len(values) == 0 {
		return resp.Body, nil
	}
	if len(values) > 1 {
		return nil, errEncoding
	}
	switch strings.ToLower(strings.TrimSpace(values[0])) {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, err
		}
		return &decoder{Reader: r, body: resp.Body}, nil
	case "deflate":
		r, err := inflate(resp.Body)
		if err != nil {
			return nil, err
		}
		return &decoder{Reader: r, body: resp.Body}, nil
	case "br":
		return &decoder{Reader: brotli.NewReader(resp.Body), body: resp.Body}, nil
	case "zstd":
		r, err := zstd.NewReader(resp.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return &decoder{Reader: r, body: resp.Body, free: r.Close}, nil
	}
	return nil, errEncoding
}

// inflate reads what the label deflate stands for: by the rules a zlib stream,
// by habit also a bare one.
func inflate(body io.Reader) (io.Reader, error) {
	in := bufio.NewReader(body)
	head, err := in.Peek(2)
	if err != nil {
		return nil, err
	}
	const method, deflate = 0x0f, 8
	if head[0]&method == deflate && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

// decoder is a decoding reader and the body below it.
type decoder struct {
	io.Reader
	body io.Closer
	free func() // nil = nothing
}

// Close closes the body.
func (d *decoder) Close() error {
	if d.free != nil {
		d.free()
	}
	return d.body.Close()
}
