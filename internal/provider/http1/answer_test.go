package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// textConn is a connection that can be closed, and no more.
type textConn struct{ net.Conn }

func (textConn) Close() error { return nil }

const (
	testMaxHead   = 64 << 10
	testMaxFields = 100
)

// outcome is what a reader makes of an answer.
type outcome struct {
	Refused bool // the head
	Status  int
	Text    string // of the status line
	Minor   int
	Header  http.Header
	Length  int64
	Coding  []string
	Close   bool // the connection ends with the answer
	Body    string
	Broken  bool // the body
	Cut     bool // head or body, by the end of the connection
}

func outcomeOf(a *http.Response, err error) outcome {
	if err != nil {
		return outcome{Refused: true, Cut: errors.Is(err, io.ErrUnexpectedEOF)}
	}
	body, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	return outcome{
		Status: a.StatusCode, Text: a.Status, Minor: a.ProtoMinor, Header: a.Header, Length: a.ContentLength,
		Coding: a.TransferEncoding, Close: a.Close, Body: string(body), Broken: err != nil, Cut: errors.Is(err, io.ErrUnexpectedEOF),
	}
}

// ours reads an answer by this package. kept says that the connection could be
// used again.
func ours(tb testing.TB, r io.Reader, method string) (out outcome, kept bool) {
	tb.Helper()
	o := &Origin{options: Options{MaxHead: testMaxHead, MaxFields: testMaxFields, MaxIdle: 1, IdleTimeout: math.MaxInt64}}
	defer o.Close()
	x := &exchange{
		origin: o, ctx: tb.Context(), unhang: func() bool { return true },
		conn: &conn{Conn: textConn{}, in: r}, in: buffer{b: make([]byte, 512)},
	}
	err := x.receive(method)
	out = outcomeOf(&x.answer, err)
	return out, len(o.idle) == 1
}

// theirs reads it by net/http, and skips informational answers as its transport
// does.
func theirs(r io.Reader, method string) (out outcome) {
	in := bufio.NewReader(r)
	for {
		a, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil || a.StatusCode/100 != 1 || a.StatusCode == http.StatusSwitchingProtocols {
			out = outcomeOf(a, err)
			break
		}
	}
	for name := range out.Header {
		if hop(name) {
			delete(out.Header, name)
		}
	}
	return out
}

// deliveries are ways in which the same bytes may come.
var deliveries = map[string]func(io.Reader) io.Reader{
	"at once":             func(r io.Reader) io.Reader { return r },
	"byte by byte":        iotest.OneByteReader,
	"in halves":           iotest.HalfReader,
	"the end with a byte": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
}

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	chunky  = ok + "Transfer-Encoding: chunked\r\n\r\n"
	noColon = "this line has no colon"
)

type answerCase struct {
	name, text string
	method     string // "" = POST
	kept       bool
	stricter   bool // refused here, taken by net/http
}

func answerCases() []answerCase {
	return []answerCase{
		{name: "length", text: ok + "Content-Length: 5\r\nContent-Type: application/json\r\n\r\nhello", kept: true},
		{name: "length, more behind it", text: ok + "Content-Length: 2\r\n\r\nhello"},
		{name: "another answer behind it", text: ok + "Content-Length: 2\r\n\r\nhi" + ok + "\r\n"},
		{name: "length 0", text: ok + "Content-Length: 0\r\n\r\n", kept: true},
		{name: "length with blanks", text: ok + "Content-Length: \t 5 \t\r\n\r\nhello", kept: true},
		{name: "length twice, the same", text: ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", kept: true},
		{name: "lengths that differ", text: ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"},
		{name: "lengths in a list", text: ok + "Content-Length: 5, 5\r\n\r\nhello"},
		{name: "length with a sign", text: ok + "Content-Length: +5\r\n\r\nhello"},
		{name: "negative length", text: ok + "Content-Length: -5\r\n\r\nhello"},
		{name: "length in hexadecimal", text: ok + "Content-Length: 0x5\r\n\r\nhello"},
		{name: "empty length", text: ok + "Content-Length: \r\n\r\nhello"},
		{name: "length beyond 64 bits", text: ok + "Content-Length: 18446744073709551621\r\n\r\nhello"},
		{name: "body cut", text: ok + "Content-Length: 9\r\n\r\nhello"},
		{name: "no body at all", text: ok + "Content-Length: 9\r\n\r\n"},

		{name: "up to the end", text: ok + "Content-Type: text/plain\r\n\r\nhello"},
		{name: "up to the end, empty", text: ok + "\r\n"},
		{name: "HTTP/1.0", text: "HTTP/1.0 200 OK\r\n\r\nhello"},
		{name: "HTTP/1.0 with a length", text: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{name: "HTTP/1.0, kept", text: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello", kept: true},
		{name: "HTTP/1.0, kept and closed", text: "HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 5\r\n\r\nhello"},
		{name: "HTTP/1.0, kept, up to the end", text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhello"},
		{name: "HTTP/1.0 in chunks", text: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", stricter: true},
		{name: "closed", text: ok + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"},
		{name: "closed, in a list", text: ok + "Connection: x ,\tCLOSE\r\nContent-Length: 5\r\n\r\nhello"},
		{name: "closed, in a second field", text: ok + "Connection: keep-alive\r\nconnection: close\r\nContent-Length: 5\r\n\r\nhello"},
		{name: "disclosed", text: ok + "Connection: disclose\r\nContent-Length: 5\r\n\r\nhello", kept: true},

		{name: "chunks", text: chunky + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", kept: true},
		{name: "chunks, coding in other letters", text: ok + "transfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n000\r\n\r\n", kept: true},
		{name: "chunks, more behind them", text: chunky + "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"},
		{name: "chunks, closed", text: ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		{name: "no chunk", text: chunky + "0\r\n\r\n", kept: true},
		{name: "extensions", text: chunky + "5;a=b\r\nhello\r\n6; c=\"d\"\r\n world\r\n0;e\r\n\r\n", kept: true},
		{name: "blanks behind a size", text: chunky + "5 \t\r\nhello\r\n0\r\n\r\n", kept: true},
		{name: "a blank before an extension", text: chunky + "5 ;a\r\nhello\r\n0\r\n\r\n"},
		{name: "a blank before a size", text: chunky + " 5\r\nhello\r\n0\r\n\r\n"},
		{name: "trailer", text: ok + "Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: b\r\nx-c: d\r\n\r\n", kept: true},
		{name: "trailer with a length", text: chunky + "5\r\nhello\r\n0\r\nContent-Length: 7\r\n\r\n", kept: true},
		{name: "trailer without a colon", text: chunky + "5\r\nhello\r\n0\r\n" + noColon + "\r\n\r\n"},
		{name: "trailer that is cut", text: chunky + "5\r\nhello\r\n0\r\nX-A: b\r\n"},
		{name: "trailer that is folded", text: chunky + "5\r\nhello\r\n0\r\nX-A: b\r\n c\r\n\r\n", stricter: true},
		{name: "trailer with a line feed alone", text: chunky + "5\r\nhello\r\n0\r\nX-A: b\nX-B: c\r\n\r\n", stricter: true},
		{name: "trailer without an end", text: chunky + "5\r\nhello\r\n0\r\n" + strings.Repeat("X-A: b\r\n", 4000)},
		{name: "long trailer", text: chunky + "5\r\nhello\r\n0\r\n" + strings.Repeat("X-A: b\r\n", 1500) + "\r\n"},
		{name: "chunk cut", text: chunky + "5\r\nhel"},
		{name: "cut behind a chunk", text: chunky + "5\r\nhello"},
		{name: "cut in the end of a chunk", text: chunky + "5\r\nhello\r"},
		{name: "without the last chunk", text: chunky + "5\r\nhello\r\n"},
		{name: "without the end of the last chunk", text: chunky + "5\r\nhello\r\n0\r\n"},
		{name: "cut in a size", text: chunky + "5"},
		{name: "chunk longer than its size", text: chunky + "2\r\nhello\r\n0\r\n\r\n"},
		{name: "chunk shorter than its size", text: chunky + "6\r\nhello\r\n0\r\n\r\n"},
		{name: "no size", text: chunky + "\r\nhello\r\n0\r\n\r\n"},
		{name: "size is no number", text: chunky + "zz\r\nhello\r\n0\r\n\r\n"},
		{name: "size with a sign", text: chunky + "+5\r\nhello\r\n0\r\n\r\n"},
		{name: "size with a prefix", text: chunky + "0x5\r\nhello\r\n0\r\n\r\n"},
		{name: "size of 16 digits", text: chunky + "0000000000000005\r\nhello\r\n0\r\n\r\n", kept: true},
		{name: "size of 17 digits", text: chunky + "00000000000000005\r\nhello\r\n0\r\n\r\n"},
		{name: "size beyond 64 bits", text: chunky + "ffffffffffffffff\r\n"},
		{name: "size, line feed alone", text: chunky + "5\nhello\r\n0\r\n\r\n"},
		{name: "chunk, line feed alone", text: chunky + "5\r\nhello\n0\r\n\r\n"},
		{name: "carriage return in a size", text: chunky + "5\r;\r\nhello\r\n0\r\n\r\n"},
		{name: "an extension without an end", text: chunky + "5;" + strings.Repeat("x", 5000) + "\r\nhello\r\n0\r\n\r\n"},
		{name: "nothing but extensions", text: chunky + strings.Repeat("1;"+strings.Repeat("x", 200)+"\r\nx\r\n", 200) + "0\r\n\r\n"},
		{name: "a byte a chunk", text: chunky + strings.Repeat("1\r\nx\r\n", 5000) + "0\r\n\r\n", kept: true},

		{name: "chunks and a length", text: ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", stricter: true},
		{name: "another coding", text: ok + "Transfer-Encoding: gzip\r\n\r\nhello"},
		{name: "another coding and chunks", text: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		{name: "chunks twice", text: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		{name: "chunks and identity", text: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		{name: "coding with a tab in it", text: ok + "Transfer-Encoding: \x0bchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},

		{name: "204", text: "HTTP/1.1 204 No Content\r\n\r\n", kept: true},
		{name: "204 with a length", text: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"},
		{name: "304 with a length", text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", kept: true},
		{name: "205", text: "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", kept: true},
		{name: "answer to HEAD", method: http.MethodHead, text: ok + "Content-Length: 5\r\n\r\n", kept: true},
		{name: "answer to HEAD without a length", method: http.MethodHead, text: ok + "\r\n", kept: true},
		{name: "answer to HEAD in chunks", method: http.MethodHead, text: ok + "Transfer-Encoding: chunked\r\n\r\n", kept: true},
		{name: "100 before it", text: "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", kept: true},
		{name: "100, 102 and 103 before it", text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nContent-Length: 7\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", kept: true},
		{name: "nothing behind 100", text: "HTTP/1.1 100 Continue\r\n\r\n"},
		{name: "101", text: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello"},
		{name: "status 599", text: "HTTP/1.1 599 \r\nContent-Length: 2\r\n\r\nhi", kept: true},
		{name: "status 999", text: "HTTP/1.1 999\r\nContent-Length: 2\r\n\r\nhi", kept: true},
		{name: "no reason", text: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", kept: true},
		{name: "two blanks", text: "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi", kept: true},
		{name: "status of two digits", text: "HTTP/1.1 20 OK\r\n\r\n"},
		{name: "status of four digits", text: "HTTP/1.1 2000 OK\r\n\r\n"},
		{name: "status is no number", text: "HTTP/1.1 2x0 OK\r\n\r\n"},
		{name: "status with a sign", text: "HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n", stricter: true},
		{name: "status below 100", text: "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n", stricter: true},
		{name: "NUL in the status line", text: "HTTP/1.1 200 O\x00K\r\nContent-Length: 0\r\n\r\n", stricter: true},
		{name: "HTTP/2", text: "HTTP/2 200 OK\r\n\r\n"},
		{name: "HTTP/2.0", text: "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", stricter: true},
		{name: "HTTP/0.9", text: "HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n", stricter: true},
		{name: "in small letters", text: "http/1.1 200 OK\r\n\r\n"},
		{name: "another protocol", text: "ICY 200 OK\r\n\r\n"},
		{name: "no HTTP", text: "-ERR this port does not speak HTTP\r\n\r\n"},
		{name: "an empty line first", text: "\r\n" + ok + "Content-Length: 0\r\n\r\n"},
		{name: "nothing", text: ""},
		{name: "cut in the status line", text: "HTTP/1.1 20"},
		{name: "cut in a field", text: ok + "Content-Le"},
		{name: "cut behind a field", text: ok + "Content-Length: 5\r\n"},

		{name: "line feeds alone", text: "HTTP/1.1 200 OK\nContent-Length: 5\nA: b\n\nhello", kept: true},
		{name: "line feeds now and then", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello", kept: true},
		{name: "line feeds alone, and CR LF twice in the body", text: "HTTP/1.1 200 OK\nContent-Length: 9\n\nhel\r\n\r\nlo", kept: true},
		{name: "many fields", text: ok + strings.Repeat("A-b: c\r\n", 90) + "Content-Length: 2\r\n\r\nhi", kept: true},
		{name: "a field that is larger than the buffer", text: ok + "A: " + strings.Repeat("x", 40<<10) + "\r\nContent-Length: 2\r\n\r\nhi", kept: true},
		{name: "values", text: ok + "content-type:text/plain\r\nX-EMPTY:\r\nx-request-ID:   a b\tc  \r\nX-UTF: caf\u00e9 \xff\r\nx_y: 1\r\n!#$%&'*+-.^_`|~: 2\r\nContent-Length: 0\r\n\r\n", kept: true},
		{name: "a colon in a value", text: ok + "A: b:c: d\r\nContent-Length: 0\r\n\r\n", kept: true},
		{name: "no colon", text: ok + noColon + "\r\nContent-Length: 0\r\n\r\n"},
		{name: "no name", text: ok + ": x\r\nContent-Length: 0\r\n\r\n"},
		{name: "blank behind a name", text: ok + "Content-Length : 5\r\n\r\nhello", stricter: true},
		{name: "tab behind a name", text: ok + "Content-Length\t: 5\r\n\r\nhello"},
		{name: "blank in a name", text: ok + "Content Length: 5\r\n\r\nhello", stricter: true},
		{name: "blank before the first name", text: ok + " A: b\r\nContent-Length: 0\r\n\r\n"},
		{name: "folded", text: ok + "A: b\r\n c\r\nContent-Length: 0\r\n\r\n", stricter: true},
		{name: "folded length", text: ok + "Content-Length:\r\n 5\r\n\r\nhello", stricter: true},
		{name: "NUL in a name", text: ok + "A\x00: b\r\nContent-Length: 0\r\n\r\n"},
		{name: "NUL in a value", text: ok + "A: b\x00\r\nContent-Length: 0\r\n\r\n"},
		{name: "DEL in a value", text: ok + "A: b\x7fc\r\nContent-Length: 0\r\n\r\n"},
		{name: "carriage return in a value", text: ok + "A: b\rc\r\nContent-Length: 0\r\n\r\n"},
		{name: "carriage return at a line's end", text: ok + "A: b\r\r\nContent-Length: 0\r\n\r\n"},
		{name: "a line of a carriage return", text: ok + "Content-Length: 0\r\n\r\r\n\r\n"},
		{name: "a name of other letters", text: ok + "\u017fet-Cookie: x\r\nContent-Length: 0\r\n\r\n"},
	}
}

// TestAnswers reads answers byte for byte as net/http does, however they come,
// but where they could be misunderstood.
func TestAnswers(t *testing.T) {
	for _, tc := range answerCases() {
		if tc.method == "" {
			tc.method = http.MethodPost
		}
		t.Run(tc.name, func(t *testing.T) {
			want := theirs(strings.NewReader(tc.text), tc.method)
			for how, deliver := range deliveries {
				got, kept := ours(t, deliver(strings.NewReader(tc.text)), tc.method)
				if tc.stricter {
					if want.Refused || want.Broken || !got.Refused && !got.Broken || kept {
						t.Errorf("%s: got %+v, kept %t; want it refused, although net/http takes it: %+v", how, got, kept, want)
					}
					continue
				}
				compare(t, how, &want, &got)
				// What follows the answer may come later than it.
				if kept != tc.kept && (how == "at once" || tc.kept || want.Refused || want.Broken) {
					t.Errorf("%s: kept %t, want %t", how, kept, tc.kept)
				}
			}
		})
	}
}

// compare reports where two readers differ.
func compare(t *testing.T, how string, want, got *outcome) {
	t.Helper()
	w, g := *want, *got
	if w.Refused || w.Broken {
		// Which error comes first is a matter of how far a reader looks ahead.
		w.Cut, g.Cut = false, false
	}
	if w.Status == http.StatusSwitchingProtocols || w.Status == http.StatusNoContent {
		w.Close, g.Close = false, false // here nothing that claims to have a body is trusted
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s (-net/http +ours):\n%s", how, diff)
	}
}

// readFunc is a reader that is a function.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestCloseWithinRead does not keep a connection that is being closed, though
// the answer ends well.
func TestCloseWithinRead(t *testing.T) {
	o := &Origin{options: Options{MaxHead: testMaxHead, MaxFields: testMaxFields, MaxIdle: 1, IdleTimeout: math.MaxInt64}}
	x := &exchange{origin: o, ctx: t.Context(), unhang: func() bool { return true }, in: buffer{b: make([]byte, 512)}}
	rest := []string{ok + "Content-Length: 5\r\n\r\nhel", "lo"}
	x.conn = &conn{Conn: textConn{}, in: readFunc(func(p []byte) (int, error) {
		n := copy(p, rest[0])
		if rest = rest[1:]; len(rest) == 0 {
			_ = x.Close()
		}
		return n, nil
	})}
	if err := x.receive(http.MethodPost); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(x)
	if string(got) != "hello" || !errors.Is(err, http.ErrBodyReadAfterClose) || len(o.idle) != 0 {
		t.Errorf("got %q, %v, %d kept", got, err, len(o.idle))
	}
}

// TestCut tells an answer that the connection has cut from one that is wrong.
func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		cut  bool
	}{
		{"HTTP/1.1 20", true},
		{ok + "Content-Length: 5\r\n", true},
		{ok + "Content-Length: 5\r\n\r\nhel", true},
		{chunky + "5\r\nhel", true},
		{chunky + "5\r\nhello", true},
		{chunky + "5\r\nhello\r\n0\r\n", true},
		{chunky + "zz\r\nhello", false},
		{ok + noColon + "\r\n\r\n", false},
	} {
		for how, deliver := range deliveries {
			if out, _ := ours(t, deliver(strings.NewReader(tc.text)), "POST"); out.Cut != tc.cut || !out.Refused && !out.Broken {
				t.Errorf("%s: %q: got %+v, want cut %t", how, tc.text, out, tc.cut)
			}
		}
	}
}

// TestHeadBounds refuses heads that are too large, with the informational ones
// before them.
func TestHeadBounds(t *testing.T) {
	const length = "Content-Length: 0\r\n\r\n"
	fit := strings.Repeat("x", testMaxHead-len(ok)-len("A: \r\n")-len(length))
	hint := "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	for _, tc := range []struct {
		name, text string
		err        error
	}{
		{"as large as can be", ok + "A: " + fit + "\r\n" + length, nil},
		{"a byte more", ok + "A: x" + fit + "\r\n" + length, ErrTooLarge},
		{"without an end", ok + "A: " + strings.Repeat("x", 10*testMaxHead), ErrTooLarge},
		{"as many fields as can be", ok + strings.Repeat("A: b\r\n", testMaxFields-1) + length, nil},
		{"a field more", ok + strings.Repeat("A: b\r\n", testMaxFields) + length, ErrTooLarge},
		{"some hints", strings.Repeat(hint, 100) + ok + length, nil},
		{"hints without an end", strings.Repeat(hint, 10_000), ErrTooLarge},
	} {
		for how, deliver := range deliveries {
			o := &Origin{options: Options{MaxHead: testMaxHead, MaxFields: testMaxFields}}
			x := &exchange{
				origin: o, ctx: t.Context(), unhang: func() bool { return true },
				conn: &conn{Conn: textConn{}, in: deliver(strings.NewReader(tc.text))}, in: buffer{b: make([]byte, 512)},
			}
			if err := x.receive("POST"); !errors.Is(err, tc.err) || (err != nil) != (tc.err != nil) {
				t.Errorf("%s, %s: got %v, want %v", tc.name, how, err, tc.err)
			}
		}
	}
}

// FuzzAnswer reads whatever comes: never more kindly than net/http, and where
// both take it the same. How it comes makes no difference.
func FuzzAnswer(f *testing.F) {
	for _, tc := range answerCases() {
		if len(tc.text) < 1000 {
			f.Add([]byte(tc.text), tc.method == http.MethodHead)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool) {
		method := http.MethodPost
		if head {
			method = http.MethodHead
		}
		got, kept := ours(t, bytes.NewReader(text), method)
		for how, deliver := range deliveries {
			again, keptAgain := ours(t, deliver(bytes.NewReader(text)), method)
			if diff := cmp.Diff(got, again); diff != "" && (!got.Broken || !again.Broken) || kept && !keptAgain {
				t.Errorf("%s (-at once +so), kept %t and %t:\n%s", how, kept, keptAgain, diff)
			}
		}
		if got.Refused || got.Broken {
			return
		}
		want := theirs(bytes.NewReader(text), method)
		compare(t, "at once", &want, &got)
	})
}
