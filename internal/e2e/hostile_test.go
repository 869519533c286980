package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const hostileRest = `
models: {m: {deployments: [a]}}
limits: {body: 4MiB}
`

// TestHostileRequests sends what no client should: each is refused for what it
// is, no upstream hears of it, and it costs no memory.
func TestHostileRequests(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(hostileRest)), t.TempDir())
	_ = ask(t, gw)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	cases := []struct {
		name   string
		raw    string
		status int
		code   string
	}{
		{"headers of more than 64 KiB", gw.head() + "X: " + strings.Repeat("x", 65<<10) + "\r\n\r\n", 431, "request_header_fields_too_large"},
		{"ten thousand headers", gw.head() + strings.Repeat("X: y\r\n", 12_000) + "\r\n", 431, "request_header_fields_too_large"},
		{"an announced body that is too large", gw.head() + "Content-Length: 1073741824\r\n\r\n{", 413, "request_too_large"},
		{"chunks that are too large together", gw.head() + "Transfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 65), 413, "request_too_large"},
		{"JSON 100,000 deep", gw.post(deep), 400, "invalid_json"},
		{"JSON 100,000 deep in a field", gw.post(`{"model": "m", "extra": ` + deep + `}`), 400, "invalid_json"},
		{"no JSON", gw.post("hello"), 400, "invalid_json"},
		{"a million choices", gw.post(`{"model": "m", "n": 1000000, "messages": [{"role": "user", "content": "x"}]}`), 400, "invalid_value"},
		{"more tokens than there are", gw.post(`{"model": "m", "max_tokens": 1e99, "messages": [{"role": "user", "content": "x"}]}`), 400, "invalid_value"},
		{"a model twice", gw.post(`{"model": "m", "model": "n", "messages": [{"role": "user", "content": "x"}]}`), 400, "duplicate_parameter"},
		{"a gzip bomb", gw.post(bomb(t, 1024), "Content-Encoding: gzip"), 413, "request_too_large"},
		{"gzip in name only", gw.post(question(""), "Content-Encoding: gzip"), 400, "invalid_request"},
		{"an encoding that is not taken", gw.post(question(""), "Content-Encoding: br"), 415, "unsupported_media_type"},
		{"a form", strings.Replace(gw.post(question("")), "application/json", "application/x-www-form-urlencoded", 1), 415, "unsupported_media_type"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := gw.usage(t)
			if calls := sim.during(func() {
				got, rest := gw.exchange(t, c.raw)
				if got.status != c.status || got.errorCode(t) != c.code || rest > 0 {
					t.Errorf("status %d, %s, %d bytes behind it; want %d %s", got.status, got.body, rest, c.status, c.code)
				}
				if kind := got.header.Get("Content-Type"); kind != "application/json" {
					t.Errorf("content type %q", kind)
				}
			}); calls != "" {
				t.Errorf("calls = %s, want none", calls)
			}
			if grown := gw.usage(t).rss - before.rss; grown > 32<<20 {
				t.Errorf("memory grew by %d bytes, want at most 32 MiB", grown)
			}
		})
	}
	if got := ask(t, gw); got != "a/m" {
		t.Errorf("a healthy request afterwards: %s", got)
	}
}

// post is a whole chat request that closes its connection, as bytes.
func (p *process) post(body string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sConnection: close\r\nContent-Length: %d\r\n", p.head(), len(body))
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n" + body
}

// bomb is a gzip of so many MiB of blanks: many small ones behind each other.
func bomb(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte{' '}, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Repeat(b.String(), size)
}

// TestSmuggling sends requests that two readers could take for different ones.
// Each gets one 400 and the end of its connection; what hides behind it is not
// read.
func TestSmuggling(t *testing.T) {
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(hostileRest)), t.TempDir())
	head, chunked := gw.head(), gw.head()+"Transfer-Encoding: chunked\r\n\r\n"
	hidden := gw.post(question(""))
	shapes := map[string]string{
		"length and chunks":             head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks and length":             head + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"chunked twice":                 head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunked and identity":          head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"xchunked":                      head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"chunked behind a vertical tab": head + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
		"chunked on a folded line":      head + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"gzip, chunked":                 head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"chunked in HTTP/1.0":           strings.Replace(chunked, "HTTP/1.1", "HTTP/1.0", 1) + "0\r\n\r\n",
		"two lengths":                   head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"one length twice":              head + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
		"a list of lengths":             head + "Content-Length: 5, 5\r\n\r\nhello",
		"a length with a plus":          head + "Content-Length: +5\r\n\r\nhello",
		"a negative length":             head + "Content-Length: -5\r\n\r\nhello",
		"a hexadecimal length":          head + "Content-Length: 0x5\r\n\r\nhello",
		"a length that overflows":       head + "Content-Length: 99999999999999999999\r\n\r\nhello",
		"an empty length":               head + "Content-Length: \r\n\r\nhello",
		"a bare line feed":              head + "Content-Length: 5\nX: y\r\n\r\nhello",
		"bare line feeds at the end":    head + "Content-Length: 5\n\nhello",
		"a folded header":               head + "X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello",
		"a blank before the colon":      head + "Content-Length : 5\r\n\r\nhello",
		"a blank in a name":             head + "X Y: z\r\n\r\n",
		"a NUL in a value":              head + "X: a\x00b\r\n\r\n",
		"a carriage return in a value":  head + "X: a\rb\r\n\r\n",
		"a chunk that overflows":        chunked + "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
		"a chunk extension":             chunked + "5;a=b\r\nhello\r\n0\r\n\r\n",
		"a chunk size with 0x":          chunked + "0x5\r\nhello\r\n0\r\n\r\n",
		"a chunk longer than its size":  chunked + "5\r\nhelloXX\r\n0\r\n\r\n",
		"a length behind the body":      chunked + "0\r\nContent-Length: 5\r\n\r\n",
		"two hosts":                     head + "Host: other\r\nContent-Length: 0\r\n\r\n",
		"no host":                       "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"another host in the target":    strings.Replace(head, "POST /", "POST http://other.example/", 1) + "Content-Length: 0\r\n\r\n",
		"HTTP/0.9":                      "GET /v1/models\r\n\r\n",
		"HTTP/2 without TLS":            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	}
	for name, raw := range shapes {
		t.Run(name, func(t *testing.T) {
			if calls := sim.during(func() {
				got, rest := gw.exchange(t, raw+hidden)
				if got.status != http.StatusBadRequest || got.errorCode(t) != "invalid_request" || rest > 0 {
					t.Errorf("status %d, %s, %d bytes behind it; want 400 alone", got.status, got.body, rest)
				}
			}); calls != "" {
				t.Errorf("calls = %s, want none", calls)
			}
		})
	}
}
