package server

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestSmuggling sends every shape over a real connection: each gets one JSON
// 400 and the end of the connection, and what hides behind it is not served.
func TestSmuggling(t *testing.T) {
	const hidden = "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer " + testKey + "\r\nContent-Length: 8\r\n\r\n\"hidden\""
	r := listen(t, setup{})
	for _, c := range smuggling {
		t.Run(c.name, func(t *testing.T) {
			raw := strings.Replace(c.raw, "Host: gw\r\n", "Host: gw\r\nAuthorization: Bearer "+testKey+"\r\n", 1)
			for _, request := range []string{raw, raw + hidden} {
				answer := r.raw(request)
				in := bufio.NewReader(strings.NewReader(answer))
				resp, body := mustRead(t, in)
				if resp.StatusCode != http.StatusBadRequest || !resp.Close {
					t.Errorf("status %d, close %v, want 400 and close", resp.StatusCode, resp.Close)
				}
				if e := toldIn(t, body); e.Code != CodeInvalidRequest {
					t.Errorf("code %q, want %q", e.Code, CodeInvalidRequest)
				}
				if resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" {
					t.Errorf("header = %v", resp.Header)
				}
				if in.Buffered() > 0 || strings.Contains(answer, "hidden") {
					t.Errorf("more than one answer: %q", answer)
				}
			}
		})
	}
}

func TestPlainShapesAreServed(t *testing.T) {
	r := listen(t, setup{})
	for _, c := range plain {
		t.Run(c.name, func(t *testing.T) {
			conn := r.dial()
			raw := strings.ReplaceAll(c.raw, "Host: gw\r\n", "Host: gw\r\nAuthorization: Bearer "+testKey+"\r\n")
			if _, err := conn.Write([]byte(raw)); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			for i := range strings.Count(c.raw, "HTTP/1.") {
				resp, _ := mustRead(t, in)
				if resp.StatusCode == http.StatusBadRequest || resp.StatusCode >= 500 {
					t.Errorf("answer %d: status %d", i, resp.StatusCode)
				}
			}
		})
	}
}

// TestUnreadable covers what net/http itself refuses, in plain text: clients
// see JSON there too.
func TestUnreadable(t *testing.T) {
	r := listen(t, setup{})
	for _, c := range []struct{ name, raw string }{
		{"control character in a value", post + "X: a\x01b\r\n\r\n"},
		{"blank in the host", "GET /v1/echo HTTP/1.1\r\nHost: a b\r\n\r\n"},
		{"user in the host", "GET /v1/echo HTTP/1.1\r\nHost: a@b\r\n\r\n"},
		{"control character in the target", "GET /v1/\x01 HTTP/1.1\r\nHost: gw\r\n\r\n"},
		{"broken escape in the target", "GET /v1/%zz HTTP/1.1\r\nHost: gw\r\n\r\n"},
		{"target without a slash", "GET v1 HTTP/1.1\r\nHost: gw\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := bufio.NewReader(strings.NewReader(r.raw(c.raw)))
			resp, body := mustRead(t, in)
			if e := toldIn(t, body); resp.StatusCode != http.StatusBadRequest || e.Code != CodeInvalidRequest || !resp.Close || in.Buffered() > 0 {
				t.Errorf("status %d, close %v, %+v", resp.StatusCode, resp.Close, e)
			}
		})
	}
}

func TestHeaderTooLarge(t *testing.T) {
	r := listen(t, setup{})
	for _, size := range []int{64 << 10, 68 << 10, 1 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			answer := r.raw("GET /v1/echo HTTP/1.1\r\nHost: gw\r\nX: " + strings.Repeat("x", size) + "\r\n\r\n")
			resp, body := mustRead(t, bufio.NewReader(strings.NewReader(answer)))
			if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge || !resp.Close {
				t.Errorf("status %d, close %v, want 431 and close", resp.StatusCode, resp.Close)
			}
			if e := toldIn(t, body); e.Code != CodeHeaderTooLarge {
				t.Errorf("code %q", e.Code)
			}
		})
	}
}

func TestExpectation(t *testing.T) {
	r := listen(t, setup{})
	head := "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer " + testKey + "\r\nConnection: close\r\nContent-Length: 4\r\n"
	t.Run("100-continue", func(t *testing.T) {
		c := r.dial()
		if _, err := c.Write([]byte(head + "Expect: 100-continue\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		if resp, _ := mustRead(t, in); resp.StatusCode != http.StatusContinue {
			t.Fatalf("status %d, want 100", resp.StatusCode)
		}
		if _, err := c.Write([]byte(`"ok"`)); err != nil {
			t.Fatal(err)
		}
		if resp, _ := mustRead(t, in); resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d, want 200", resp.StatusCode)
		}
	})
	t.Run("100-continue and too large", func(t *testing.T) {
		answer := r.raw(strings.Replace(head, "Content-Length: 4", "Content-Length: 99999999999", 1) + "Expect: 100-continue\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 413 ") {
			t.Errorf("answer %q, want 413 at once", answer)
		}
	})
	t.Run("another", func(t *testing.T) {
		answer := r.raw(head + "Expect: miracles\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 417 ") || !strings.Contains(answer, CodeInvalidRequest) {
			t.Errorf("answer %q, want 417", answer)
		}
	})
}
