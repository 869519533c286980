package fake

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refused wants a status and a JSON error of these words.
func refused(status int, typ, code any) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.err != nil || r.readErr != nil {
			t.Fatalf("errors %v, %v", r.err, r.readErr)
		}
		if r.status != status || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("got %d %q, want %d", r.status, r.header.Get("Content-Type"), status)
		}
		e := errorObject(t, r.body)
		if e["type"] != typ || e["code"] != code || e["message"] == "" {
			t.Errorf("got error %v, want type %v code %v", e, typ, code)
		}
		if _, ok := e["param"]; !ok {
			t.Errorf("no param in %v", e)
		}
	}
}

// answered wants the normal answer, plain or streamed.
func answered(t *testing.T, r reply) {
	t.Helper()
	if r.err != nil || r.readErr != nil || r.status < 200 || r.status > 299 {
		t.Fatalf("status %d, errors %v, %v", r.status, r.err, r.readErr)
	}
	if r.header.Get("Content-Type") == contentStream {
		wholeStream(t, r.body)
		return
	}
	wholeAnswer(t, r.body)
}

func wholeAnswer(t *testing.T, body []byte) {
	t.Helper()
	var v struct {
		Choices []struct {
			Message      struct{ Content string }
			FinishReason string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %.200q", err, body)
	}
	if len(v.Choices) != 1 || v.Choices[0].FinishReason != "stop" || v.Choices[0].Message.Content == "" {
		t.Errorf("not a whole answer: %.200q", body)
	}
}

func wholeStream(t *testing.T, body []byte) {
	t.Helper()
	got := tell(t, body)
	if got.roles < 1 || got.texts < 1 || got.finish != "stop" || got.done != 1 || len(got.usages) == 0 || got.errorSeen {
		t.Errorf("not a whole stream: %+v", got)
	}
}

// headerIs wants an answer with a header of exactly these values.
func headerIs(status int, name string, values ...string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.status != status {
			t.Errorf("status %d, want %d (%v)", r.status, status, r.err)
		}
		if diff := cmp.Diff(values, r.header[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// bare wants a status without a body.
func bare(status int) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.status != status || len(r.body) != 0 || r.err != nil || r.readErr != nil {
			t.Errorf("got %d with %d bytes, errors %v, %v; want a bare %d", r.status, len(r.body), r.err, r.readErr, status)
		}
	}
}

func statusCases() []faultCase {
	cases := []faultCase{
		{fault: "http-400", check: refused(400, "invalid_request_error", nil)},
		{fault: "http-401", check: refused(401, "invalid_request_error", "invalid_api_key")},
		{fault: "http-402", check: refused(402, "billing_error", "insufficient_credits")},
		{fault: "http-403", check: refused(403, "permission_error", "permission_denied")},
		{fault: "http-404", check: refused(404, "invalid_request_error", "model_not_found")},
		{fault: "http-408", check: refused(408, "timeout_error", nil)},
		{fault: "http-413", check: refused(413, "invalid_request_error", "request_too_large")},
		{fault: "http-418", check: refused(418, "invalid_request_error", nil)},
		{fault: "http-429", check: refused(429, "requests", "rate_limit_exceeded")},
		{fault: "http-429", stream: true, check: refused(429, "requests", "rate_limit_exceeded")},
		{fault: "http-500", check: refused(500, "server_error", nil)},
		{fault: "http-503", stream: true, check: refused(503, "service_unavailable_error", "server_is_overloaded")},
		{fault: "http-529", check: refused(529, "overloaded_error", nil)},
		{fault: "http-599", check: refused(599, "server_error", nil)},
		{name: "own words", fault: "{fault: http-500, code: 502, type: t, message: x}", check: refused(500, "t", 502.0)},
		{name: "embeddings", fault: "http-502", path: "/a/v1/embeddings", body: embeddingBody, check: refused(502, "server_error", nil)},
		{fault: "context-length", check: refused(400, "invalid_request_error", "context_length_exceeded")},
		{fault: "content-filter", check: refused(400, nil, "content_filter")},
		{fault: "content-policy", check: refused(400, "invalid_request_error", "invalid_prompt")},
		{fault: "insufficient-quota", check: refused(429, "insufficient_quota", "insufficient_quota")},
		{fault: "credit-balance", check: refused(400, "invalid_request_error", nil)},
		{fault: "model-not-found", check: refused(404, "invalid_request_error", "model_not_found")},
		{fault: "invalid-key", check: refused(401, "invalid_request_error", "invalid_api_key")},
		{fault: "overloaded", check: refused(503, "service_unavailable_error", "server_is_overloaded")},
		{fault: "rate-limit-hint", check: func(t *testing.T, r reply) {
			t.Helper()
			refused(429, "tokens", "rate_limit_exceeded")(t, r)
			if e := errorObject(t, r.body); e["resets_in_seconds"] != 52.0 || r.header.Get("Retry-After") != "" {
				t.Errorf("got %v and header %q, want the hint in the body alone", e, r.header.Get("Retry-After"))
			}
		}},
		{name: "own body", fault: `{fault: http-503, body: "<html>", headers: {Content-Type: text/html, X-A: [b, c]}}`, check: func(t *testing.T, r reply) {
			t.Helper()
			headerIs(503, "X-A", "b", "c")(t, r)
			if string(r.body) != "<html>" || r.header.Get("Content-Type") != "text/html" {
				t.Errorf("got %q %q", r.header.Get("Content-Type"), r.body)
			}
		}},
		{fault: "http-302", check: headerIs(302, "Location", "/a/redirected")},
		{fault: "{fault: http-307, location: \"http://other.example/v1\"}", stream: true, check: headerIs(307, "Location", "http://other.example/v1")},
		{fault: "http-308", check: bare(308)},
		{fault: "http-204", check: bare(204)},
		{fault: "http-205", check: bare(205)},
		{fault: "http-304", stream: true, check: bare(304)},
		{fault: "http-206", check: func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 206 || r.header.Get("Content-Range") == "" || json.Valid(r.body) || len(r.body) == 0 {
				t.Errorf("got %d %q %.100q", r.status, r.header.Get("Content-Range"), r.body)
			}
		}},
		{fault: "http-201", check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			headerIs(201, "Content-Type", contentJSON)(t, r)
		}},
		{name: "own body", fault: "{fault: http-200, body: \"{}\"}", check: func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 200 || string(r.body) != "{}" {
				t.Errorf("got %d %q", r.status, r.body)
			}
		}},
		{fault: "http-100", check: answered},
		{fault: "http-102", stream: true, check: answered},
		{fault: "{fault: http-103, headers: {X-Early: \"yes\"}}", check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if r.header.Get("X-Early") != "" || r.header.Get("Link") != "" {
				t.Errorf("the early headers came again: %v", r.header)
			}
		}},
		{fault: "http-101", check: func(t *testing.T, r reply) {
			t.Helper()
			if r.status != 101 || r.header.Get("Upgrade") != "simulated" {
				t.Errorf("got %d %v, %v", r.status, r.header, r.err)
			}
		}},
	}
	return append(cases, retryAfterCases()...)
}

func retryAfterCases() []faultCase {
	var out []faultCase
	for _, v := range []string{
		"7", "0", "Sun, 06 Nov 2033 08:49:37 GMT", "Sunday, 06-Nov-33 08:49:37 GMT", "Sun Nov  6 08:49:37 2033",
		"-5", "1.5", "soon", "", "999999999999999999999999999999",
	} {
		out = append(out, faultCase{
			name: "retry-after " + v, fault: "{fault: http-429, retry_after: \"" + v + "\"}",
			check: headerIs(429, "Retry-After", v),
		})
	}
	return append(out, faultCase{
		name: "two values", fault: "{fault: http-429, retry_after: [\"5\", \"10\"]}", check: headerIs(429, "Retry-After", "5", "10"),
	})
}

// The interim answer must be on the wire, which http.Client hides.
func TestInterimIsSent(t *testing.T) {
	r := newRig(t, oneUpstream("always: {fault: http-103, headers: {X-Early: \"1\"}}"), Options{})
	got, err := r.raw(t, chatBody)
	if err != nil {
		t.Fatal(err)
	}
	const want = "HTTP/1.1 103 Early Hints\r\nLink: </simulated.css>; rel=preload; as=style\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\n"
	if diff := cmp.Diff(want, string(got[:min(len(got), len(want))])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
