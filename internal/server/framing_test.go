package server

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// post begins a request whose framing is to be tested.
const post = "POST /v1/echo HTTP/1.1\r\nHost: gw\r\n"

// shape is one form of a request on the wire.
type shape struct {
	name, raw string
	// byUs says that net/http alone would serve it, so that only framing
	// refuses it; the others are refused by both.
	byUs bool
}

// smuggling are requests that two readers could take for different ones, or
// that no reader should take.
var smuggling = []shape{
	{"content-length and transfer-encoding", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
	{"transfer-encoding and content-length", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", true},
	{"transfer-encoding twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding chunked and identity", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding identity", post + "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding with a vertical tab", post + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding with a parameter", post + "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", false},
	{"transfer-encoding on a folded line", post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", true},
	{"transfer-encoding in HTTP/1.0", "POST /v1/echo HTTP/1.0\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
	{"two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", false},
	{"one length twice", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", true},
	{"a list of lengths", post + "Content-Length: 5, 5\r\n\r\nhello", false},
	{"length with a plus", post + "Content-Length: +5\r\n\r\nhello", false},
	{"length with a minus", post + "Content-Length: -5\r\n\r\nhello", false},
	{"hexadecimal length", post + "Content-Length: 0x5\r\n\r\nhello", false},
	{"length with an underscore", post + "Content-Length: 1_0\r\n\r\nhello", false},
	{"no length", post + "Content-Length: \r\n\r\nhello", false},
	{"length that overflows", post + "Content-Length: 99999999999999999999\r\n\r\nhello", false},
	{"bare line feed behind a header", post + "Content-Length: 5\nX: y\r\n\r\nhello", true},
	{"bare line feeds at the end", post + "Content-Length: 5\n\nhello", true},
	{"bare line feed behind the request line", "POST /v1/echo HTTP/1.1\nHost: gw\r\n\r\n", true},
	{"folded header", post + "X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello", true},
	{"folded with a tab", post + "X: a\r\n\tb\r\nContent-Length: 5\r\n\r\nhello", true},
	{"blank before the first header", "POST /v1/echo HTTP/1.1\r\n Host: gw\r\n\r\n", false},
	{"blank before the colon", post + "Content-Length : 5\r\n\r\nhello", false},
	{"blank in a name", post + "X Y: z\r\n\r\n", false},
	{"control character in a name", post + "X\x01: z\r\n\r\n", false},
	{"no name", post + ": z\r\n\r\n", false},
	{"no colon", post + "Xz\r\n\r\n", false},
	{"NUL in a value", post + "X: a\x00b\r\n\r\n", false},
	{"carriage return in a value", post + "X: a\rb\r\n\r\n", false},
	{"carriage returns alone", "POST /v1/echo HTTP/1.1\rHost: gw\r\r\n\r\n", false},
	{"chunk size that overflows", post + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n", false},
	{"chunk extension", post + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n", true},
	{"chunk size with 0x", post + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", false},
	{"chunk size with a plus", post + "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", false},
	{"chunk size and a blank", post + "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n", true},
	{"chunk without a size", post + "Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n", false},
	{"chunk size behind a bare line feed", post + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", false},
	{"chunk longer than its size", post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX\r\n0\r\n\r\n", false},
	{"length behind the body", post + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", true},
	{"folded trailer", post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n b\r\n\r\n", true},
	{"target of another host", "POST http://other/v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 0\r\n\r\n", true},
	{"target with a user", "POST http://gw@other/v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 0\r\n\r\n", true},
	{"no host", "POST /v1/echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n", false},
	{"two hosts", post + "Host: other\r\nContent-Length: 0\r\n\r\n", false},
	{"HTTP/0.9", "GET /v1/echo\r\n\r\n", false},
	{"HTTP/1.2", "GET /v1/echo HTTP/1.2\r\nHost: gw\r\n\r\n", true},
	{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false},
	{"http in small letters", "GET /v1/echo http/1.1\r\nHost: gw\r\n\r\n", false},
	{"two blanks in the request line", "GET  /v1/echo HTTP/1.1\r\nHost: gw\r\n\r\n", false},
	{"tabs in the request line", "GET\t/v1/echo\tHTTP/1.1\r\nHost: gw\r\n\r\n", false},
	{"empty line before the request", "\r\nGET /v1/echo HTTP/1.1\r\nHost: gw\r\n\r\n", false},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", false},
}

// plain are requests that must pass.
var plain = []shape{
	{name: "length", raw: post + "Content-Length: 5\r\n\r\nhello"},
	{name: "length in small letters, no blank", raw: post + "content-length:5\r\n\r\nhello"},
	{name: "length 0", raw: post + "Content-Length: 0\r\n\r\n"},
	{name: "no body", raw: "GET /v1/models HTTP/1.1\r\nHost: gw\r\n\r\n"},
	{name: "chunks", raw: post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00aB\r\n" + strings.Repeat("x", 0xab) + "\r\n0\r\n\r\n"},
	{name: "chunked in capitals", raw: post + "Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n"},
	{name: "a trailer", raw: post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX-Checksum: 1\r\n\r\n"},
	{name: "line feeds in a body", raw: post + "Content-Length: 4\r\n\r\n\n\r\x00\n"},
	{name: "line feeds in a chunk", raw: post + "Transfer-Encoding: chunked\r\n\r\n4\r\n\n\r\x00\n\r\n0\r\n\r\n"},
	{name: "HTTP/1.0", raw: "GET /healthz HTTP/1.0\r\n\r\n"},
	{name: "target with its host", raw: "GET http://GW/v1/models HTTP/1.1\r\nHost: gw\r\n\r\n"},
	{name: "a URL in the query", raw: "GET /v1/models?u=http://other/ HTTP/1.1\r\nHost: gw\r\n\r\n"},
	{name: "two requests", raw: post + "Content-Length: 5\r\n\r\nhello" + post + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{name: "an empty line between", raw: post + "Content-Length: 5\r\n\r\nhello\r\n" + post + "Content-Length: 0\r\n\r\n"},
	{name: "empty value", raw: post + "X:\r\n\r\n"},
	{name: "bytes above ASCII in a value", raw: post + "X: \xc3\xa9\xff\r\n\r\n"},
}

const testHeaderLimit = 8 << 10

func newFraming() *framing {
	return &framing{limit: func() int { return testHeaderLimit }}
}

// feedIn feeds raw in pieces and returns how many bytes passed.
func feedIn(f *framing, raw string, size int) (passed int, e *Error) {
	for len(raw) > 0 {
		n := min(size, len(raw))
		ok, e := f.feed([]byte(raw[:n]))
		passed += ok
		if e != nil {
			return passed, e
		}
		raw = raw[n:]
	}
	return passed, nil
}

var pieces = []int{1 << 20, 1, 2, 3, 7, 64}

func TestFramingRefuses(t *testing.T) {
	for _, c := range smuggling {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range pieces {
				_, e := feedIn(newFraming(), c.raw, size)
				if e == nil {
					t.Errorf("in pieces of %d bytes: passed", size)
				} else if e.HTTPStatus() != http.StatusBadRequest || e.Code != CodeInvalidRequest || !e.close {
					t.Errorf("in pieces of %d bytes: %+v", size, e)
				}
			}
		})
	}
}

func TestFramingPasses(t *testing.T) {
	for _, c := range plain {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range pieces {
				f := newFraming()
				passed, e := feedIn(f, c.raw, size)
				if e != nil || passed != len(c.raw) {
					t.Errorf("in pieces of %d bytes: %d of %d bytes passed, then %v", size, passed, len(c.raw), e)
				}
				if f.state != atRequestLine || len(f.line) > 0 {
					t.Errorf("in pieces of %d bytes: the request has not ended (state %d)", size, f.state)
				}
			}
		})
	}
}

// TestNetHTTPAlone documents which of the shapes net/http would serve: framing
// can go when there are none left.
func TestNetHTTPAlone(t *testing.T) {
	for _, c := range smuggling {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(c.raw)))
			if err == nil {
				_, err = io.Copy(io.Discard, r.Body)
			}
			served := err == nil && r.ProtoMajor == 1 && r.Host != "" && validNames(r.Header)
			if served != c.byUs {
				t.Errorf("net/http serves it: %v (%v), the table says %v", served, err, c.byUs)
			}
		})
	}
}

// validNames stands for what net/http's server checks after parsing.
func validNames(h http.Header) bool {
	for name := range h {
		for _, c := range []byte(name) {
			if !isToken(c) {
				return false
			}
		}
	}
	return true
}

func TestFramingBoundsHeaders(t *testing.T) {
	fits := post + "X: " + strings.Repeat("x", testHeaderLimit-len(post)-len("X: \r\n\r\n")) + "\r\n\r\n"
	for _, c := range []struct {
		name, raw string
		ok        bool
	}{
		{"just fits", fits, true},
		{"one byte more", strings.Replace(fits, "X: ", "X: x", 1), false},
		{"many headers", post + strings.Repeat("X: y\r\n", testHeaderLimit/6), false},
		{"a line without end", post + strings.Repeat("x", testHeaderLimit), false},
		{"the request line", "GET /" + strings.Repeat("x", testHeaderLimit) + " HTTP/1.1\r\n", false},
		{"trailers", post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", testHeaderLimit/6), false},
		{"each request anew", fits + fits + fits, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range pieces {
				f := newFraming()
				_, e := feedIn(f, c.raw, size)
				switch {
				case c.ok && e != nil:
					t.Errorf("in pieces of %d bytes: %v", size, e)
				case !c.ok && (e == nil || e.HTTPStatus() != http.StatusRequestHeaderFieldsTooLarge || e.Code != CodeHeaderTooLarge):
					t.Errorf("in pieces of %d bytes: %v, want %s", size, e, CodeHeaderTooLarge)
				}
				if len(f.line) > testHeaderLimit {
					t.Errorf("in pieces of %d bytes: %d bytes are held", size, len(f.line))
				}
			}
		})
	}
}

// FuzzFraming checks that the verdict does not depend on how the bytes are cut,
// and that net/http ends each request that passes where framing ends it.
func FuzzFraming(f *testing.F) {
	for _, c := range smuggling {
		f.Add([]byte(c.raw), uint8(3))
	}
	for _, c := range plain {
		f.Add([]byte(c.raw), uint8(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, size uint8) {
		whole := newFraming()
		passed, e := feedIn(whole, string(raw), len(raw)+1)
		cut := newFraming()
		passedCut, eCut := feedIn(cut, string(raw), int(size)+1)
		if (e == nil) != (eCut == nil) || (e != nil && e.Code != eCut.Code) {
			t.Fatalf("whole: %v, in pieces of %d bytes: %v", e, int(size)+1, eCut)
		}
		if e == nil && (passed != passedCut || whole.state != cut.state || whole.left != cut.left) {
			t.Fatalf("whole: state %d, %d left; in pieces: state %d, %d left", whole.state, whole.left, cut.state, cut.left)
		}
		ends := requestEnds(raw[:passed])
		in := bytes.NewReader(raw[:passed])
		br := bufio.NewReader(in)
		for i, end := range ends {
			skipEmptyLine(br)
			r, err := http.ReadRequest(br)
			if err != nil {
				return // net/http is stricter there
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			if at := passed - in.Len() - br.Buffered(); at != end && r.Method != http.MethodConnect {
				t.Fatalf("request %d ends at byte %d for framing and at %d for net/http: %s", i, end, at, strconv.Quote(string(raw)))
			}
		}
	})
}

func skipEmptyLine(br *bufio.Reader) {
	if next, err := br.Peek(2); err == nil && string(next) == "\r\n" {
		_, _ = br.Discard(len(next))
	}
}

// requestEnds returns the offsets behind each whole request.
func requestEnds(raw []byte) []int {
	f := newFraming()
	var ends []int
	open := false
	for i := range raw {
		if _, e := f.feed(raw[i : i+1]); e != nil {
			break
		}
		if f.state != atRequestLine {
			open = true
		} else if open {
			ends, open = append(ends, i+1), false
		}
	}
	return ends
}
