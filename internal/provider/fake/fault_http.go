package fake

import (
	"net/http"
	"strconv"
	"strings"
)

// httpFaults are about the form of HTTP: headers, lengths, trailers, writes.
func httpFaults() []faultDef {
	row := func(name, does string, play func(*exchange), p []string, matrix ...string) faultDef {
		return faultDef{
			FaultInfo: FaultInfo{Name: name, Class: "http", Does: does, Applies: AppliesAny, Params: p, Matrix: matrix},
			play:      play,
		}
	}
	headers := params("headers")
	return []faultDef{
		row("length-too-long", "half the answer (a stream: so many content events) under a content-length that promises more", playLengthLong, params("after", "headers"), "F13"),
		row("length-too-short", "a whole answer under a content-length of half of it", playLengthShort, headers, "F13", "F52"),
		row("header-malformed", "200 with a header line that has no colon", func(x *exchange) {
			x.raw(http.StatusOK, []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nthis line has no colon\r\nContent-Length: 2\r\n\r\n{}"))
		}, nil, "F06"),
		row("header-huge", "a normal answer with one header of size bytes (default 2MiB)", func(x *exchange) {
			x.w.Header().Set("X-Simulated-Padding", strings.Repeat("a", int(min(x.size(defaultHeader), maxHeader))))
			x.give()
		}, params("size", "headers"), "F54"),
		row("headers-many", "a normal answer with count more headers (default 10000)", func(x *exchange) {
			for i := range min(x.count(defaultHeaders), maxHeaders) {
				x.w.Header().Set("X-Simulated-"+strconv.Itoa(i), "x")
			}
			x.give()
		}, params("count", "headers"), "F54"),
		row("close-delimited", "a normal answer as HTTP/1.0: no length, ended by closing the connection", func(x *exchange) {
			h, body := x.rawAnswer()
			if x.raw(http.StatusOK, rawHead("HTTP/1.0", http.StatusOK, h)) {
				x.put(body)
			}
		}, headers, "F56"),
		row("trailers", "a normal answer, chunked, followed by trailers, one of which tells of an error", func(x *exchange) {
			h := x.w.Header()
			h.Set("Trailer", "X-Simulated-Trailer, Grpc-Status")
			x.give()
			h.Set("X-Simulated-Trailer", "done")
			h.Set("Grpc-Status", "13")
		}, headers, "F56"),
		row("byte-writes", "a normal answer, one byte a write", func(x *exchange) {
			x.chop = 1
			x.give()
		}, headers, "F27"),
		row("split-writes", "a normal answer, size bytes a write (default 7)", func(x *exchange) {
			x.chop = int(min(x.size(defaultSplit), maxHeader))
			x.give()
		}, params("size", "headers"), "F27"),
	}
}

// The measures of faults about headers and writes.
const (
	defaultHeader  = 2 << 20
	maxHeader      = 256 << 20
	defaultHeaders = 10_000
	maxHeaders     = 1_000_000
	defaultSplit   = 7
)

// playLengthLong promises a whole answer and sends a part of it. The server of
// net/http closes such a connection by itself.
func playLengthLong(x *exchange) {
	x.w.Header().Set("Content-Length", strconv.Itoa(len(x.render().buf)+1))
	x.sendPart()
}

// playLengthShort sends more than it promised; the connection is closed then.
func playLengthShort(x *exchange) {
	h, body := x.rawAnswer()
	h.Set("Content-Length", strconv.Itoa(len(body)/2))
	h.Set("Connection", "close")
	x.raw(http.StatusOK, append(rawHead("HTTP/1.1", http.StatusOK, h), body...))
}
