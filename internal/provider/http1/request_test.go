package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text is a body.
type text string

func (s text) Bytes() []byte { return []byte(s) }
func (text) Written()        {}

// seen is what a server makes of a request.
type seen struct {
	Method, Target, Host string
	Header               http.Header
	Length               int64
	Body                 string
}

func parsed(t *testing.T, raw []byte) seen {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(raw))
	r, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || in.Buffered() != 0 {
		t.Fatalf("%q: %v, %d bytes are left", raw, err, in.Buffered())
	}
	return seen{r.Method, r.RequestURI, r.Host, r.Header, r.ContentLength, string(body)}
}

// TestRequests writes what net/http does.
func TestRequests(t *testing.T) {
	many := http.Header{}
	for i := range 3 * manyFields {
		many.Set("X-"+strings.Repeat("a", 1+i), "x")
	}
	for _, tc := range []struct {
		name, method, url string
		header            http.Header
		body              Body
	}{
		{"usual", "POST", "http://up.example/v1/chat/completions", http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer x"}}, text(`{"a":1}`)},
		{"no header", "GET", "http://up.example", nil, nil},
		{"query", "GET", "http://up.example/a?b=c&d=%20", nil, nil},
		{"empty query", "GET", "http://up.example/a?", nil, nil},
		{"query without a path", "DELETE", "http://up.example?x", nil, nil},
		{"escaped path", "POST", "http://up.example/a%2Fb/c%20d/\u00e9", nil, text("x")},
		{"port", "POST", "http://up.example:8080/", nil, text("x")},
		{"IPv6", "POST", "http://[::1]:8080/", nil, text("x")},
		{"user", "POST", "http://user:secret@up.example/", nil, text("x")},
		{"empty body", "POST", "http://up.example/", nil, text("")},
		{"no body", "POST", "http://up.example/", nil, nil},
		{"no body with PUT", "PUT", "http://up.example/", nil, nil},
		{"agent", "POST", "http://up.example/", http.Header{"User-Agent": {"gatewright"}}, text("x")},
		{"no agent", "POST", "http://up.example/", http.Header{"User-Agent": {""}}, text("x")},
		{"several values", "POST", "http://up.example/", http.Header{"X-A": {"1", "2"}, "X-B": {}}, text("x")},
		{"blanks around a value", "POST", "http://up.example/", http.Header{"X-A": {" \t1 2\t"}}, text("x")},
		{"UTF-8 in a value", "POST", "http://up.example/", http.Header{"X-A": {"caf\u00e9"}}, text("x")},
		{"host and length of its own", "POST", "http://up.example/", http.Header{"Host": {"other"}, "Content-Length": {"7"}}, text("x")},
		{"connection", "POST", "http://up.example/", http.Header{"Connection": {"close"}}, text("x")},
		{"many fields", "POST", "http://up.example/", many, text("x")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u, err := url.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			theirs := &http.Request{Method: tc.method, URL: u, Host: u.Host, Header: tc.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
			r := &Request{Method: tc.method, URL: u, Header: tc.header, Body: tc.body}
			length := 0
			if tc.body != nil {
				length = len(tc.body.Bytes())
				theirs.Body, theirs.ContentLength = io.NopCloser(bytes.NewReader(tc.body.Bytes())), int64(length)
			}
			if length == 0 {
				theirs.Body = http.NoBody
			}
			var want bytes.Buffer
			if err := theirs.Write(&want); err != nil {
				t.Fatal(err)
			}
			got, closes, err := r.appendHead(nil, u.Host, length)
			if err != nil {
				t.Fatal(err)
			}
			if tc.body != nil {
				got = append(got, tc.body.Bytes()...)
			}
			if diff := cmp.Diff(parsed(t, want.Bytes()), parsed(t, got)); diff != "" {
				t.Errorf("(-net/http +ours):\n%s", diff)
			}
			if want := tc.header["Connection"] != nil; closes != want {
				t.Errorf("closes %t, want %t", closes, want)
			}
			again, _, _ := r.appendHead(nil, u.Host, length)
			if !bytes.HasPrefix(got, again) {
				t.Errorf("the order of fields is not always the same:\n%s\n%s", got, again)
			}
		})
	}
}

// TestBadRequests writes nothing that could be read as two requests, and shows
// no value.
func TestBadRequests(t *testing.T) {
	root := &url.URL{Path: "/"}
	field := func(name string, values ...string) Request {
		return Request{Method: "POST", URL: root, Header: http.Header{name: values}}
	}
	for name, r := range map[string]Request{
		"no method":                    {URL: root},
		"method with a blank":          {Method: "GET /", URL: root},
		"method with a line break":     {Method: "GET\r\n", URL: root},
		"query with a line break":      {Method: "GET", URL: &url.URL{Path: "/", RawQuery: "a\r\nX: y"}},
		"query with a blank":           {Method: "GET", URL: &url.URL{Path: "/", RawQuery: "a b"}},
		"query with NUL":               {Method: "GET", URL: &url.URL{Path: "/", RawQuery: "a\x00"}},
		"value with a line break":      field("X-A", "canary\r\nX-B: c"),
		"value with a line feed":       field("X-A", "1", "canary\nX-B: c"),
		"value with a carriage return": field("X-A", "canary\rX"),
		"value with NUL":               field("X-A", "canary\x00"),
		"value with DEL":               field("X-A", "canary\x7f"),
		"no name":                      field("", "canary"),
		"name with a blank":            field("X A", "canary"),
		"name with a colon":            field("X:A", "canary"),
		"name with a line break":       field("X\r\nA", "canary"),
		"name in other letters":        field("X-\u00e9", "canary"),
		"a coding":                     field("Transfer-Encoding", "chunked"),
		"an upgrade":                   field("Upgrade", "h2c"),
		"an expectation":               field("Expect", "100-continue"),
		"a trailer":                    field("Trailer", "X"),
	} {
		_, _, err := r.appendHead(nil, "up.example", 0)
		if !errors.Is(err, errRequest) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	// What stands in the path is escaped.
	r := Request{Method: "GET", URL: &url.URL{Path: "/a b\r\nX: y"}}
	if got, _, err := r.appendHead(nil, "up.example", 0); err != nil || !bytes.HasPrefix(got, []byte("GET /a%20b%0D%0AX:%20y HTTP/1.1\r\n")) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestOrigins takes the authorities that can be dialled as they are.
func TestOrigins(t *testing.T) {
	for authority, address := range map[string]string{
		"up.example": "up.example:80", "up.example:8080": "up.example:8080", "up.example:": "up.example:80",
		"127.0.0.1:1": "127.0.0.1:1", "[::1]": "[::1]:80", "[::1]:81": "[::1]:81", "my_host-1": "my_host-1:80",
	} {
		o, err := NewOrigin(authority, Options{})
		if err != nil || o.address != address {
			t.Errorf("%s: got %+v, %v; want %s", authority, o, err, address)
		}
	}
	for _, authority := range []string{
		"", ":80", "up.example:x", "up.example:65536", "up.example:-1", "up example", "up.example\r\n", "b\u00fccher.example",
		"::1", "[::1", "[::1]x", "[127.0.0.1]", "[fe80::1%eth0]:80", "user@up.example", "up.example/a", "[]", "[::1]]:80",
	} {
		if o, err := NewOrigin(authority, Options{}); err == nil {
			t.Errorf("%q is taken: %q", authority, o.address)
		}
	}
}

// FuzzRequest never lets a field become more than that.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/v1/x", "a=b", "X-A", "value")
	f.Add("GET", "/ \r\n", "\r\n", "X-A\r\nX-B", "a\r\nX-C: d")
	f.Add("GET", "*", "?", "connection", "close, x")
	f.Fuzz(func(t *testing.T, method, path, query, name, value string) {
		r := Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{name: {value}}, Body: text("body")}
		raw, _, err := r.appendHead(nil, "up.example", len("body"))
		if err != nil {
			return
		}
		head, rest, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
		lines := bytes.Split(head, []byte("\r\n"))
		if len(rest) > 0 || len(lines) > 5 || bytes.ContainsAny(bytes.Join(lines, nil), "\r\n\x00") {
			t.Fatalf("%q is more than one request of one field", raw)
		}
		if fields := bytes.Fields(lines[0]); len(fields) != 3 || string(fields[0]) != method {
			t.Errorf("request line %q", lines[0])
		}
	})
}
