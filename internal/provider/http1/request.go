package http1

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// Request is one request, and what became of it.
type Request struct {
	Method string
	// URL is where path and query are taken from; the rest belongs to the Origin.
	URL *url.URL
	// Header is only read. The fields Host and Content-Length of it are passed
	// over, as the request has its own. Of those that belong to a connection only
	// Connection may be among it.
	Header http.Header
	Body   Body // nil = none
	// Fresh asks for a connection that has not served before.
	Fresh bool

	// Do sets these, whether or not it fails.

	// Sent says that the upstream may have got the request, or a part of it.
	Sent bool
	// Reused says that the connection had served before.
	Reused bool
	// Answered says that a byte of an answer has come.
	Answered bool
}

// Body is the body of a request, in memory.
type Body interface {
	// Bytes returns the body. It is read until Written is called, and not changed.
	Bytes() []byte
	// Written says that nobody reads Bytes any more. It is called once for each
	// call of Do: before that returns, or afterwards, from another goroutine, where
	// the answer has come before the request was written whole.
	Written()
}

// errRequest is wrapped by the errors of a request that cannot be written.
var errRequest = errors.New("request cannot be sent")

// defaultAgent is sent when the request names none, as net/http does.
const defaultAgent = "Go-http-client/1.1"

// manyFields is how many different fields are put in order without allocating.
const manyFields = 32

// appendHead appends what stands before the body: length bytes if the request
// has one. closes says that the connection ends with the answer.
func (r *Request) appendHead(dst []byte, authority string, length int) (_ []byte, closes bool, err error) {
	if !isToken(r.Method) {
		return dst, false, fmt.Errorf("%w: method %q is no token", errRequest, r.Method)
	}
	dst = append(dst, r.Method...)
	dst = append(dst, ' ')
	if dst, err = appendTarget(dst, r.URL); err != nil {
		return dst, false, err
	}
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, authority...)
	dst = append(dst, "\r\n"...)
	if _, given := r.Header["User-Agent"]; !given {
		dst = append(dst, "User-Agent: "+defaultAgent+"\r\n"...)
	}
	if length > 0 || r.Body != nil || sendsLength(r.Method) {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(length), 10)
		dst = append(dst, "\r\n"...)
	}
	var room [manyFields]string
	for _, name := range sorted(room[:0], r.Header) {
		if dst, err = appendField(dst, name, r.Header[name]); err != nil {
			return dst, false, err
		}
		closes = closes || name == "Connection" && hasToken(r.Header[name], "close")
	}
	return append(dst, "\r\n"...), closes, nil
}

// sendsLength reports whether a request of the method says its length even if
// there is no body.
func sendsLength(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// appendTarget appends path and query.
func appendTarget(dst []byte, u *url.URL) ([]byte, error) {
	start := len(dst)
	path := u.EscapedPath()
	if path == "" || path[0] != '/' {
		dst = append(dst, '/')
	}
	dst = append(dst, path...)
	if u.ForceQuery || u.RawQuery != "" {
		dst = append(dst, '?')
		dst = append(dst, u.RawQuery...)
	}
	for _, c := range dst[start:] {
		if c <= ' ' || c == 0x7f {
			return dst, fmt.Errorf("%w: the address holds a blank or a control character", errRequest)
		}
	}
	return dst, nil
}

// sorted returns the names of the fields in order, in dst if there is room.
func sorted(dst []string, h http.Header) []string {
	if len(h) > cap(dst) {
		return slices.Sorted(maps.Keys(h))
	}
	for name := range h {
		i := len(dst)
		dst = append(dst, name)
		for ; i > 0 && dst[i-1] > name; i-- {
			dst[i] = dst[i-1]
		}
		dst[i] = name
	}
	return dst
}

// appendField appends a field, a line for each value.
func appendField(dst []byte, name string, values []string) ([]byte, error) {
	switch name {
	case "Host", "Content-Length":
		return dst, nil
	case "Expect", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return dst, fmt.Errorf("%w: the field %s belongs to the connection", errRequest, name)
	case "User-Agent":
		if len(values) > 0 && values[0] == "" {
			return dst, nil // a way to send none
		}
	}
	if !isToken(name) {
		return dst, fmt.Errorf("%w: %q cannot be the name of a field", errRequest, name)
	}
	for _, v := range values {
		for len(v) > 0 && isBlank(v[0]) {
			v = v[1:]
		}
		for len(v) > 0 && isBlank(v[len(v)-1]) {
			v = v[:len(v)-1]
		}
		dst = append(dst, name...)
		dst = append(dst, ": "...)
		start := len(dst)
		dst = append(dst, v...)
		if !isValue(dst[start:]) {
			// The value may be a credential: it is not shown.
			return dst, fmt.Errorf("%w: the field %s holds a control character", errRequest, name)
		}
		dst = append(dst, "\r\n"...)
	}
	return dst, nil
}
