package server

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

func TestKeys(t *testing.T) {
	r := listen(t, setup{keys: keys{testKey: {Key: "test"}, "tëst 🔑": {Key: "odd"}}})
	refused := told{
		Code: CodeInvalidAPIKey, Type: "authentication_error",
		Message: "the API key is missing or not valid: send one as Authorization: Bearer KEY",
	}
	for _, c := range []struct {
		name   string
		values []string
		ok     bool
	}{
		{"the key", []string{"Bearer " + testKey}, true},
		{"scheme in small letters", []string{"bearer " + testKey}, true},
		{"more blanks", []string{"Bearer   " + testKey + "  "}, true},
		{"a key beyond ASCII", []string{"Bearer tëst 🔑"}, true},
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"no secret", []string{"Bearer "}, false},
		{"no scheme", []string{testKey}, false},
		{"another scheme", []string{"Basic " + testKey}, false},
		{"scheme run together", []string{"Bearer" + testKey}, false},
		{"unknown", []string{"Bearer gw-nobody"}, false},
		{"twice", []string{"Bearer " + testKey, "Bearer " + testKey}, false},
		{"a list", []string{"Bearer " + testKey + ", Bearer " + testKey}, false},
		{"quotes", []string{`Bearer "` + testKey + `"`}, false},
		{"injection", []string{"Bearer ' OR 1=1 --"}, false},
		{"template", []string{"Bearer {{7*7}}"}, false},
		{"emoji", []string{"Bearer 🔑🔑🔑"}, false},
		{"not UTF-8", []string{"Bearer \xff\xfe"}, false},
		{"as long as headers may be", []string{"Bearer " + strings.Repeat("k", 60<<10)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var head strings.Builder
			for _, v := range c.values {
				head.WriteString("Authorization: " + v + "\r\n")
			}
			answer := r.raw("GET /v1/echo HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n" + head.String() + "\r\n")
			resp, body := mustRead(t, bufio.NewReader(strings.NewReader(answer)))
			if c.ok {
				if resp.StatusCode != http.StatusOK {
					t.Errorf("status %d: %s", resp.StatusCode, body)
				}
				return
			}
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("status %d, header %v; want 401", resp.StatusCode, resp.Header)
			}
			if diff := cmp.Diff(refused, toldIn(t, body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
	for _, c := range []struct{ name, value, status string }{
		{"NUL", "Bearer " + testKey + "\x00", "400"},
		{"carriage return", "Bearer " + testKey + "\rX: y", "400"},
		{"1 MB", "Bearer " + strings.Repeat("k", 1<<20), "431"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := r.raw("GET /v1/echo HTTP/1.1\r\nHost: gw\r\nAuthorization: " + c.value + "\r\n\r\n")
			if !strings.HasPrefix(answer, "HTTP/1.1 "+c.status) || strings.Contains(answer, testKey) {
				t.Errorf("answer %.200q, want %s", answer, c.status)
			}
		})
	}
	if log := r.log.String(); strings.Contains(log, testKey) || strings.Contains(log, "gw-nobody") {
		t.Errorf("the log holds a secret:\n%s", log)
	}
}

// TestKeysAreNotReadFromElsewhere keeps to one place for the secret.
func TestKeysAreNotReadFromElsewhere(t *testing.T) {
	r := listen(t, setup{})
	for _, name := range []string{"X-Api-Key", "Api-Key", "Proxy-Authorization", "Cookie"} {
		resp, _ := r.do(http.MethodGet, "/v1/echo?key="+testKey, "", "Authorization", "", name, testKey)
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401", name, resp.StatusCode)
		}
	}
}

func TestWithoutKeys(t *testing.T) {
	request := func(edit func(*http.Request)) *http.Request {
		r := &http.Request{Host: "127.0.0.1:20128", RemoteAddr: "127.0.0.1:54321", Header: http.Header{}}
		edit(r)
		return r
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	remote := func(a string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = a } }
	for _, c := range []struct {
		name string
		edit func(*http.Request)
		want string // code; "" = served
	}{
		{"a program", func(*http.Request) {}, ""},
		{"a program with some key", header("Authorization", "Bearer sk-whatever"), ""},
		{"over IPv6", remote("[::1]:5"), ""},
		{"IPv4 in IPv6", remote("[::ffff:127.0.0.1]:5"), ""},
		{"localhost", host("localhost:20128"), ""},
		{"localhost in capitals", host("LOCALHOST."), ""},
		{"a name below localhost", host("gw.localhost"), ""},
		{"IPv6 host", host("[::1]:20128"), ""},
		{"IPv6 host without port", host("[::1]"), ""},
		{"no host", host(""), ""},
		{"node's fetch", header("Sec-Fetch-Mode", "cors"), ""},
		{"typed into a browser", header("Sec-Fetch-Site", "none"), ""},
		{"a page of this machine", header("Origin", "http://localhost:3000"), ""},
		{"a local proxy", header("X-Forwarded-For", "127.0.0.1, ::1"), ""},
		{"another machine", remote("192.168.1.7:5"), CodeLoopbackOnly},
		{"another machine over IPv6", remote("[2001:db8::1]:5"), CodeLoopbackOnly},
		{"no address", remote("pipe"), CodeLoopbackOnly},
		{"a proxy", header("X-Forwarded-For", "203.0.113.7"), CodeLoopbackOnly},
		{"two proxies", header("X-Forwarded-For", "127.0.0.1, 203.0.113.7"), CodeLoopbackOnly},
		{"a proxy that hides", header("X-Forwarded-For", "unknown"), CodeLoopbackOnly},
		{"another proxy", header("X-Real-Ip", "203.0.113.7"), CodeLoopbackOnly},
		{"a modern proxy", header("Forwarded", "for=203.0.113.7"), CodeLoopbackOnly},
		{"rebound DNS", host("evil.example:20128"), CodeBrowserRefused},
		{"a name like localhost", host("localhost.evil.example"), CodeBrowserRefused},
		{"an address like loopback", host("127.0.0.1.evil.example"), CodeBrowserRefused},
		{"its own address in the network", host("192.168.1.7:20128"), CodeBrowserRefused},
		{"a page of another site", header("Sec-Fetch-Site", "cross-site"), CodeBrowserRefused},
		{"an origin of another site", header("Origin", "https://evil.example"), CodeBrowserRefused},
		{"an origin like localhost", header("Origin", "http://localhost.evil.example"), CodeBrowserRefused},
		{"an opaque origin", header("Origin", "null"), CodeBrowserRefused},
		{"an empty origin", header("Origin", ""), CodeBrowserRefused},
		{"a garbled origin", header("Origin", "http://[::1"), CodeBrowserRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller, e := authenticate(keys{}, request(c.edit), "")
			switch {
			case c.want == "" && (e != nil || !caller.ExposeRouting || caller.Key != ""):
				t.Errorf("caller %+v, error %v; want it served", caller, e)
			case c.want != "" && (e == nil || e.Code != c.want || e.HTTPStatus() != http.StatusForbidden):
				t.Errorf("error %v, want 403 %s", e, c.want)
			case e != nil && !strings.Contains(e.Message, "define a key"):
				t.Errorf("the message does not say what to do: %s", e.Message)
			}
		})
	}
}

func TestWithoutKeysOverHTTP(t *testing.T) {
	r := listen(t, setup{keys: keys{}})
	if resp, body := r.do(http.MethodGet, "/v1/echo", "", "Authorization", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	resp, body := r.do(http.MethodGet, "/v1/echo", "", "Origin", "https://evil.example")
	if resp.StatusCode != http.StatusForbidden || toldIn(t, body).Type != "permission_error" {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
}

var _ engine.CallerTable = keys{}
