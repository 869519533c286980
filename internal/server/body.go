package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	// minBodyRate is the least that a body must come with on average, in bytes a
	// second, once Timeouts.Body has passed.
	minBodyRate = 4 << 10
	// firstBody is how much room a body gets at most before any of it has come,
	// leastBody at least.
	firstBody = 64 << 10
	leastBody = 4 << 10
	// maxPooledBody is the largest buffer that is kept for the next request.
	maxPooledBody = 1 << 20
)

// ReadJSON reads the request's body, which must be labelled JSON or not at all,
// plain or gzip. The bytes are valid until the handler returns; a longer use
// needs a copy. The error is for the handler to return.
func (x *Exchange) ReadJSON() ([]byte, error) {
	if e := jsonMediaType(x.Request.Header); e != nil {
		return nil, e
	}
	return x.read()
}

// ReadUpload reads the request's body, which may be labelled as a form
// (multipart/form-data) too, and returns the content type of a form as it was
// sent; "" means JSON. Everything else is as with ReadJSON.
func (x *Exchange) ReadUpload() (body []byte, formType string, err error) {
	if values := x.Request.Header[headerContentType]; len(values) == 1 && isForm(values[0]) {
		formType = values[0]
	} else if e := jsonMediaType(x.Request.Header); e != nil {
		e.Message += ", or a form as Content-Type: multipart/form-data"
		return nil, "", e
	}
	body, err = x.read()
	return body, formType, err
}

// read reads the body, whatever it holds.
func (x *Exchange) read() ([]byte, error) {
	zipped, e := gzipped(x.Request.Header)
	if e != nil {
		return nil, e
	}
	if x.Request.ContentLength > x.limits.Body {
		return nil, x.tooLarge()
	}
	x.body, _ = x.server.bodies.Get().(*[]byte)
	body, err := x.readBody((*x.body)[:0])
	*x.body = body
	if err != nil {
		return nil, err
	}
	if zipped {
		return x.unzip(body)
	}
	return body, nil
}

// releaseBody gives the buffer back, unless it has grown too large to keep.
func (x *Exchange) releaseBody() {
	if x.body == nil {
		return
	}
	if cap(*x.body) <= maxPooledBody {
		x.server.bodies.Put(x.body)
	}
	x.body = nil
}

// readBody appends the body to dst. It waits Timeouts.Body for the next bytes,
// and no longer in all than minBodyRate allows.
func (x *Exchange) readBody(dst []byte) ([]byte, error) {
	wait := x.server.timeouts.Body
	began := x.armed
	armed := began
	for {
		if len(dst) == cap(dst) {
			dst = grow(dst, x.Request.ContentLength)
		}
		n, err := x.Request.Body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if int64(len(dst)) > x.limits.Body {
			return dst, x.tooLarge()
		}
		if err == io.EOF {
			x.readDeadline(time.Time{})
			return dst, nil
		}
		if err != nil {
			return dst, x.bodyError(err)
		}
		if time.Since(armed) > wait/8 {
			now := time.Now()
			armed = now
			next := now.Add(wait)
			if last := began.Add(wait + time.Duration(len(dst))*time.Second/minBodyRate); last.Before(next) {
				next = last
			}
			x.readDeadline(next)
		}
	}
}

// readDeadline bounds the wait for more of the body; the zero time ends that.
func (x *Exchange) readDeadline(t time.Time) {
	// Not every writer has deadlines; the connections of Serve do.
	_ = x.control.SetReadDeadline(t)
}

// grow makes room: doubled, but no more than the announced length needs, and
// little before anything has come, since an announcement costs the client
// nothing.
func grow(b []byte, announced int64) []byte {
	size := max(2*int64(cap(b)), firstBody)
	if announced > 0 && announced < size {
		size = max(announced+1, leastBody) // one more, so that the end shows without growing again
	}
	if size <= int64(cap(b)) {
		size = 2*int64(cap(b)) + 1
	}
	return append(make([]byte, 0, size), b...)
}

// bodyError says why a body could not be read.
func (x *Exchange) bodyError(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		return &Error{
			Code: CodeRequestTimeout, close: true,
			Message: fmt.Sprintf("the body came too slowly: send more of it at least every %s", x.server.timeouts.Body),
		}
	}
	return &Error{Code: CodeInvalidRequest, close: true, Message: "the body ended before it was complete: send all that Content-Length or the chunks announce"}
}

func (x *Exchange) tooLarge() *Error {
	return &Error{
		Code: CodeRequestTooLarge, close: true,
		Message: fmt.Sprintf("the body is larger than %d bytes: send less, or let the operator raise limits.body", x.limits.Body),
	}
}

// unzip decodes a gzip body, at most limits.Body bytes of it. It decodes twice,
// first only to learn the size, so that a bomb costs no memory.
func (x *Exchange) unzip(zipped []byte) ([]byte, error) {
	size, err := inflate(io.Discard, zipped, x.limits.Body)
	if err != nil {
		return nil, &Error{Code: CodeInvalidRequest, Message: "the body is labelled gzip and is not: leave Content-Encoding out, or send gzip"}
	}
	if size > x.limits.Body {
		return nil, x.tooLarge()
	}
	plain := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := inflate(plain, zipped, x.limits.Body); err != nil {
		return nil, fmt.Errorf("decode a gzip body for the second time: %w", err)
	}
	return plain.Bytes(), nil
}

// inflate decodes into w and returns the size, which is above limit when there
// is more.
func inflate(w io.Writer, zipped []byte, limit int64) (int64, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return 0, err
	}
	return io.Copy(w, io.LimitReader(r, limit+1))
}

// isForm reports whether a content type is that of a form, with whatever
// parameters.
func isForm(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "multipart/form-data")
}

// jsonMediaType accepts a body that is labelled JSON in UTF-8, or not labelled.
func jsonMediaType(h http.Header) *Error {
	values := h[headerContentType]
	if len(values) == 0 || (len(values) == 1 && (values[0] == jsonType[0] || values[0] == "")) {
		return nil
	}
	refuse := func(what string) *Error {
		return newError(CodeUnsupportedMediaType, what+": send JSON as Content-Type: application/json")
	}
	if len(values) > 1 {
		return refuse("there are two Content-Type headers")
	}
	kind, parameters, err := mime.ParseMediaType(values[0])
	if err != nil {
		return refuse("Content-Type " + quoted(values[0]) + " cannot be read")
	}
	if kind != jsonType[0] && (!strings.HasPrefix(kind, "application/") || !strings.HasSuffix(kind, "+json")) {
		return refuse("Content-Type " + quoted(kind) + " is not taken")
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return refuse("charset " + quoted(charset) + " is not taken, JSON is UTF-8")
	}
	return nil
}

// gzipped reports whether the body is gzip; any other encoding is refused.
func gzipped(h http.Header) (bool, *Error) {
	values := h["Content-Encoding"]
	if len(values) == 0 {
		return false, nil
	}
	switch encoding := strings.ToLower(strings.Join(values, ", ")); encoding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	default:
		return false, newError(CodeUnsupportedMediaType, "Content-Encoding "+quoted(encoding)+" is not taken: send the body plain or as gzip")
	}
}
