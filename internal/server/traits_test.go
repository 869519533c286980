package server

import (
	"net/http"
	"strings"
	"testing"
)

// odd is a room whose clients bring keys and look for ids in headers of their
// own.
type odd struct{ testRoom }

func (odd) Traits() Traits {
	return Traits{
		KeyHeader: "X-Odd-Key", IDHeader: "Odd-Id",
		Speaks: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/odd") },
	}
}

func (odd) AppendError(dst []byte, e *Error) []byte {
	return append(dst, "odd "+e.Code+" "+e.RequestID+" "+e.Message...)
}

func say(text string) func(*Exchange) error {
	return func(x *Exchange) error { x.WriteJSON([]byte(text)); return nil }
}

func oddRig(t *testing.T) *rig {
	t.Helper()
	return listen(t, setup{options: Options{Rooms: []Room{
		testRoom{[]Route{{Method: "GET", Path: "/v1/shared", Handle: say("plain")}}},
		odd{testRoom{[]Route{
			{Method: "GET", Path: "/odd/x", Handle: say("odd")},
			{Method: "GET", Path: "/v1/shared", Header: "Odd-Version", Handle: say("odd")},
		}}},
	}}})
}

func TestKeyHeader(t *testing.T) {
	r := oddRig(t)
	const good, bad = testKey, "gw-nobody"
	for _, c := range []struct {
		name, path    string
		bearer, other string
		status        int
	}{
		{"its own header", "/odd/x", "", good, 200},
		{"bearer", "/odd/x", good, "", 200},
		{"both: its own counts", "/odd/x", bad, good, 200},
		{"both: its own counts, and is wrong", "/odd/x", good, bad, 401},
		{"an empty one is none", "/odd/x", good, " ", 200},
		{"neither", "/odd/x", "", "", 401},
		{"not for another protocol", "/v1/shared", "", good, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{"Authorization", ""}
			if c.bearer != "" {
				headers[1] = "Bearer " + c.bearer
			}
			if c.other != "" {
				headers = append(headers, "X-Odd-Key", c.other)
			}
			resp, body := r.do(http.MethodGet, c.path, "", headers...)
			if resp.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, c.status, body)
			}
			if c.status == http.StatusUnauthorized && strings.HasPrefix(c.path, "/odd") && !strings.Contains(body, "x-odd-key: KEY") {
				t.Errorf("the message does not name the header: %s", body)
			}
		})
	}
	if answer := r.raw("GET /odd/x HTTP/1.1\r\nHost: gw\r\nConnection: close\r\nX-Odd-Key: " + good + "\r\nX-Odd-Key: " + good + "\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 401") {
		t.Errorf("two keys: %.40q, want 401", answer)
	}
}

func TestSpokenProtocol(t *testing.T) {
	r := oddRig(t)
	for _, c := range []struct {
		name, method, path string
		headers            []string
		odd                bool
	}{
		{"its own route", "GET", "/odd/x", nil, true},
		{"no such path, its clients", "GET", "/odd/y", nil, true},
		{"wrong method, its clients", "DELETE", "/odd/x", nil, true},
		{"no such path", "GET", "/v1/y", nil, false},
		{"a shared path without its header", "GET", "/v1/shared", nil, false},
		{"a shared path with its header", "GET", "/v1/shared", []string{"Odd-Version", "7"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := r.do(c.method, c.path, "", c.headers...)
			id := resp.Header.Get("X-Request-Id")
			if got := strings.HasPrefix(body, "odd"); got != c.odd {
				t.Errorf("answer %q, want it in the odd protocol: %v", body, c.odd)
			}
			if got := resp.Header.Get("Odd-Id"); (got == id) != c.odd || !c.odd && got != "" {
				t.Errorf("odd id %q, request id %q", got, id)
			}
			if c.odd && resp.StatusCode >= 400 && !strings.Contains(body, " "+id+" ") {
				t.Errorf("the error %q lacks the request id %s", body, id)
			}
		})
	}
}

// TestEstimateHeader lets an adapter say that an answer is the gateway's own.
func TestEstimateHeader(t *testing.T) {
	if !mayPass("X-Gatewright-Estimate") || mayPass("X-Gatewright-Cost") {
		t.Error("only the mark of an estimate is an adapter's to set")
	}
}
