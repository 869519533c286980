package http1

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readResponse reads one response of a connection that says text.
func readResponse(r io.Reader) (h Head, b Body, err error) {
	in := NewReader(r)
	if err := in.ReadHead(&h); err != nil {
		return h, b, err
	}
	return h, b, in.ReadResponseBody(&h, &b)
}

func TestReadResponse(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, tt := range []struct {
		name, text string
		body       string
		frames     int
		closes     bool
		err        error
	}{
		{"with a length", ok + "content-length: 5\r\n\r\nhello", "hello", 1, false, nil},
		{"with a length, and more behind", ok + "Content-Length: 5\r\n\r\nhelloHTTP/1.1", "hello", 1, false, nil},
		{"in chunks", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n", "hello world", 2, false, nil},
		{"in chunks with a trailer", ok + "transfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n", "0123456789", 1, false, nil},
		{"empty", ok + "Content-Length: 0\r\nConnection: close\r\n\r\n", "", 0, true, nil},
		{"up to the end", ok + "\r\nhello", "hello", 1, true, nil},
		{"up to the end, empty", ok + "\r\n", "", 0, true, nil},
		{"lines end with a line feed alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nab", "ab", 1, false, nil},
		{"body cut off", ok + "Content-Length: 5\r\n\r\nhel", "", 0, false, io.ErrUnexpectedEOF},
		{"no body", ok + "Content-Length: 5\r\n\r\n", "", 0, false, io.ErrUnexpectedEOF},
		{"chunk cut off", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "", 0, false, io.ErrUnexpectedEOF},
		{"without the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "", 0, false, io.ErrUnexpectedEOF},
		{"without the end of the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "", 0, false, io.ErrUnexpectedEOF},
		{"head cut off", ok + "Content-Le", "", 0, false, io.ErrUnexpectedEOF},
		{"head without an end", ok + "Content-Length: 5\r\n", "", 0, false, io.ErrUnexpectedEOF},
		{"nothing", "", "", 0, false, io.EOF},
		{"chunk longer than it says", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", "", 0, false, ErrMalformed},
		{"chunk without a size", ok + "Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n", "", 0, false, ErrMalformed},
		{"negative length", ok + "Content-Length: -1\r\n\r\n", "", 0, false, ErrMalformed},
		{"length is no number", ok + "Content-Length: 5x\r\n\r\nhello", "", 0, false, ErrMalformed},
		{"another coding", ok + "Transfer-Encoding: gzip\r\n\r\n", "", 0, false, ErrMalformed},
		{"field without a colon", ok + "Content-Length 5\r\n\r\n", "", 0, false, ErrMalformed},
		{"line without an end", ok + "X: " + strings.Repeat("y", 2*lineLimit), "", 0, false, ErrMalformed},
		{"too many fields", ok + strings.Repeat("X: y\r\n", headerLimit+1) + "\r\n", "", 0, false, ErrMalformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"at once": strings.NewReader(tt.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.text)),
			} {
				h, b, err := readResponse(r)
				if tt.err != nil || err != nil {
					if !errors.Is(err, tt.err) || (tt.err == io.EOF && err != io.EOF) { //nolint:errorlint // io.EOF is returned as it is
						t.Errorf("%s: error: got %v, want %v", name, err, tt.err)
					}
					continue
				}
				if string(b.Bytes) != tt.body || b.Frames != tt.frames || h.Close != tt.closes || (tt.body != "" && b.First.IsZero()) {
					t.Errorf("%s: got %q in %d frames, close %t, first byte %v; want %q in %d, close %t", name, b.Bytes, b.Frames, h.Close, b.First, tt.body, tt.frames, tt.closes)
				}
				if status, err := h.Status(); status != 200 || err != nil {
					t.Errorf("%s: status: got %d, %v", name, status, err)
				}
			}
		})
	}
}

func TestReadRequests(t *testing.T) {
	in := NewReader(strings.NewReader("POST /a/b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi" +
		"GET /c HTTP/1.1\r\nConnection: Close\r\n\r\n"))
	var h Head
	var b Body
	for _, want := range []struct {
		method, path, body string
		closes, expect     bool
	}{
		{"POST", "/a/b", "hi", false, true},
		{"GET", "/c", "", true, false},
	} {
		if err := in.ReadHead(&h); err != nil {
			t.Fatal(err)
		}
		if err := in.ReadRequestBody(&h, &b); err != nil {
			t.Fatal(err)
		}
		method, path, err := h.Target()
		if err != nil || string(method) != want.method || string(path) != want.path || string(b.Bytes) != want.body || h.Close != want.closes || h.Expect != want.expect {
			t.Errorf("got %s %s %q, close %t, expect %t, %v; want %+v", method, path, b.Bytes, h.Close, h.Expect, err, want)
		}
	}
	if err := in.ReadHead(&h); err != io.EOF { //nolint:errorlint // io.EOF is returned as it is
		t.Errorf("after the last: got %v, want io.EOF", err)
	}
}

func TestStartLines(t *testing.T) {
	for _, start := range []string{"", "HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 abc OK", "HTTP/2 200 all right", "ICY 200 OK, go on"} {
		if status, err := (&Head{Start: []byte(start)}).Status(); !errors.Is(err, ErrMalformed) {
			t.Errorf("status of %q: got %d, %v; want ErrMalformed", start, status, err)
		}
	}
	for _, start := range []string{"", "GET", "GET /", "GET / HTTP/2", "GET / a HTTP/1.1"} {
		if method, path, err := (&Head{Start: []byte(start)}).Target(); !errors.Is(err, ErrMalformed) {
			t.Errorf("target of %q: got %s %s, %v; want ErrMalformed", start, method, path, err)
		}
	}
}

func FuzzReadResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 429 Too Many Requests\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"))
	f.Add([]byte("HTTP/1.0 200\n\nrest"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, b, err := readResponse(strings.NewReader(string(text)))
		if err == nil && len(b.Bytes) > len(text) {
			t.Errorf("%d bytes of body out of %d", len(b.Bytes), len(text))
		}
		_, _ = h.Status()
	})
}
