package anthropic_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/server"
	"gatewright/internal/server/anthropic"
)

func TestBadBodies(t *testing.T) {
	r := start(t, nil)
	const all = `{"model":"claude-a","max_tokens":1,"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		name, path, body, code, says string
	}{
		{"empty", messages, "", "invalid_json", "JSON"},
		{"no JSON", messages, "hello", "invalid_json", "JSON"},
		{"cut off", messages, all, "invalid_json", "JSON"},
		{"an array", count, "[]", "invalid_json", "JSON object"},
		{"nested too deeply", messages, all + `,"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", "invalid_json", "nested"},
		{"no model", messages, `{"max_tokens":1,"messages":[{}]}`, "missing_required_parameter", "model"},
		{"no messages", messages, `{"model":"m","max_tokens":1}`, "missing_required_parameter", "messages"},
		{"no max_tokens", messages, `{"model":"m","messages":[{}]}`, "missing_required_parameter", "max_tokens"},
		{"max_tokens of a text", messages, `{"model":"m","max_tokens":"1","messages":[{}]}`, "invalid_type", "max_tokens"},
		{"max_tokens below 0", messages, `{"model":"m","max_tokens":-1,"messages":[{}]}`, "invalid_value", "max_tokens"},
		{"model twice", messages, all + `,"model":"n"}`, "duplicate_parameter", "model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, header, body := r.do(http.MethodPost, c.path, keyAll, c.body)
			e := toldIn(t, body, header)
			if status != http.StatusBadRequest || e.Error.Type != "invalid_request_error" || e.Error.Details.Code != c.code || !strings.Contains(e.Error.Message, c.says) {
				t.Errorf("status %d, %+v; want 400 %s", status, e, c.code)
			}
		})
	}
	if r.last() != nil {
		t.Errorf("the executor was called with %+v", r.last())
	}
}

// TestUnserved covers what ends before any upstream is thought of.
func TestUnserved(t *testing.T) {
	r := start(t, nil)
	version := [2]string{"anthropic-version", "2023-06-01"}
	for _, c := range []struct {
		name, method, path, key string
		headers                 [][2]string
		status                  int
		typ, code               string
	}{
		{"no key", "POST", messages, "", nil, 401, "authentication_error", "invalid_api_key"},
		{"no such key", "POST", count, "gw-nobody", nil, 401, "authentication_error", "invalid_api_key"},
		{"the wrong of two keys", "POST", messages, "gw-nobody", [][2]string{{"Authorization", "Bearer " + keyAll}}, 401, "authentication_error", "invalid_api_key"},
		{"no such model", "POST", messages, keyAll, nil, 404, "not_found_error", "model_not_found"},
		{"no such path", "POST", "/v1/messages/batches", keyAll, nil, 404, "not_found_error", "not_found"},
		{"no such path, by the version", "POST", "/v1/complete", keyAll, [][2]string{version}, 404, "not_found_error", "not_found"},
		{"wrong method", "GET", messages, keyAll, nil, 405, "invalid_request_error", "method_not_allowed"},
		{"no JSON by its label", "POST", messages, keyAll, [][2]string{{"Content-Type", "text/plain"}}, 415, "invalid_request_error", "unsupported_media_type"},
		{"a cap that is none", "POST", messages, keyAll, [][2]string{{"X-Gatewright-Max-Cost", "much"}}, 400, "invalid_request_error", "invalid_header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := "claude-a"
			if c.code == "model_not_found" {
				model = "claude-9"
			}
			status, header, body := r.do(c.method, c.path, c.key, asking(model), c.headers...)
			e := toldIn(t, body, header)
			if status != c.status || e.Error.Type != c.typ || e.Error.Details.Code != c.code {
				t.Errorf("status %d, %+v; want %d %s %s", status, e, c.status, c.typ, c.code)
			}
		})
	}
	if status, _, body := r.do(http.MethodGet, "/v1/nothing", keyAll, ""); status != http.StatusNotFound || body != "other: not_found" {
		t.Errorf("status %d, %q; want another protocol's error for another's client", status, body)
	}
}

// TestRefusals covers what admission and the executor can end a request with.
func TestRefusals(t *testing.T) {
	until := func(r *engine.Request, pool []engine.Candidate, out *engine.Refusals) {
		for i := range pool {
			out.RemoveUntil(i, engine.ReasonCooldown, "for now", r.Now.Add(time.Duration(12+10*i)*time.Second))
		}
	}
	remove := func(_ *engine.Request, pool []engine.Candidate, out *engine.Refusals) {
		for i := range pool {
			out.Remove(i, engine.ReasonProtocol, "it does not serve messages")
		}
	}
	upstream := func(status int, code, typ string) execute {
		return fail(&engine.UpstreamError{Status: status, Code: code, Type: typ, Message: "m"})
	}
	for _, c := range []struct {
		name       string
		check      check
		run        execute
		status     int
		typ, code  string
		retryAfter string
		skipped    int
	}{
		{"cooling", until, nil, 429, "rate_limit_error", "all_candidates_cooling", "12", 2},
		{"protocol", remove, nil, 403, "permission_error", "no_eligible_candidate", "", 2},
		{"circuits", nil, fail(&engine.RefusedError{Code: engine.CodeAllCircuitsOpen, RetryAfter: time.Minute}), 503, "overloaded_error", "all_circuits_open", "60", 0},
		{"a policy with a status", nil, fail(&engine.RefusedError{Code: "broke", Status: 402}), 402, "billing_error", "broke", "", 0},
		{"connect", nil, upstream(502, engine.CodeUpstreamConnect, ""), 502, "api_error", "upstream_connect", "", 0},
		{"timeout", nil, upstream(504, engine.CodeUpstreamTimeout, ""), 504, "timeout_error", "upstream_timeout", "", 0},
		{"overloaded", nil, upstream(529, engine.CodeUpstreamError, "overloaded_error"), 529, "overloaded_error", "upstream_error", "", 0},
		{"overloaded, in other words", nil, upstream(529, engine.CodeUpstreamError, "server_error"), 529, "overloaded_error", "upstream_error", "", 0},
		{"the caller's own", nil, upstream(422, "bad_tool", "invalid_request_error"), 422, "invalid_request_error", "bad_tool", "", 0},
		{"a type of another protocol", nil, upstream(429, "rate_limit_exceeded", "tokens"), 429, "rate_limit_error", "rate_limit_exceeded", "", 0},
		{"without a code", nil, upstream(413, "", ""), 413, "request_too_large", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var checks []engine.Check
			if c.check != nil {
				checks = append(checks, c.check)
			}
			r := start(t, c.run, checks...)
			for _, key := range []string{keyAll, keyPlain} {
				for _, path := range []string{messages, count} {
					status, header, body := r.do(http.MethodPost, path, key, asking("claude-a"))
					e := toldIn(t, body, header)
					if status != c.status || e.Error.Type != c.typ || e.Error.Details.Code != c.code || header.Get("Retry-After") != c.retryAfter {
						t.Errorf("status %d, retry after %q, %+v; want %d %s %s", status, header.Get("Retry-After"), e, c.status, c.typ, c.code)
					}
					if want := map[string]int{keyAll: c.skipped, keyPlain: 0}[key]; len(e.Error.Skipped) != want {
						t.Errorf("%d skipped candidates for %s, want %d", len(e.Error.Skipped), key, want)
					}
				}
			}
		})
	}
}

// TestBrokenStream ends with one error event, whatever the upstream's message
// says, and with nothing that would look like an orderly end.
func TestBrokenStream(t *testing.T) {
	const begun = "event: message_start\ndata: {}\n\n"
	r := start(t, func(_ context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if err := sink.Commit(engine.Answer{Status: http.StatusOK, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		if _, err := io.WriteString(sink, begun); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{Status: http.StatusOK, Truncated: true}, &engine.UpstreamError{
			Status: http.StatusBadGateway, Code: engine.CodeUpstreamTruncated, Committed: true,
			Message: "cut\n\nevent: message_stop\r\n\r\ndata: x\u2028",
		}
	})
	body := strings.Replace(asking("claude-a"), "{", `{"stream":true,`, 1)
	status, header, got := r.do(http.MethodPost, messages, keyAll, body)
	if status != http.StatusOK || header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("status %d, content type %q", status, header.Get("Content-Type"))
	}
	event, ok := strings.CutPrefix(got, begun+"event: error\ndata: ")
	if !ok || !strings.HasSuffix(event, "\n\n") || strings.Count(event, "\n") != 2 || strings.Contains(event, "\r") {
		t.Fatalf("stream %q, want one more event", got)
	}
	e := toldIn(t, strings.TrimSuffix(event, "\n\n"), header)
	if e.Error.Type != "api_error" || e.Error.Details.Code != "upstream_truncated" || !strings.HasPrefix(e.Error.Message, "cut\n\nevent:") {
		t.Errorf("told %+v", e)
	}
}

// TestTooLong uses the words that clients of the protocol know, once.
func TestTooLong(t *testing.T) {
	for message, want := range map[string]string{
		"maximum context length is 8192":                     "prompt is too long: maximum context length is 8192",
		"Prompt is too long: 200251 tokens > 200000 maximum": "Prompt is too long: 200251 tokens > 200000 maximum",
	} {
		var e told
		if err := json.Unmarshal(anthropic.New().AppendError(nil, &server.Error{Code: engine.CodeContextLengthExceeded, Message: message}), &e); err != nil {
			t.Fatal(err)
		}
		if e.Error.Message != want {
			t.Errorf("told %q, want %q", e.Error.Message, want)
		}
	}
}

// FuzzError checks that whatever an error holds, its body is one line of JSON
// that says the same, and its event one event.
func FuzzError(f *testing.F) {
	f.Add("upstream_error", "boom", "r-1", 529)
	f.Add("context_length_exceeded", "a\n\ndata: b", "", 0)
	f.Add("", "\xff\u2028<script>", "r", 400)
	f.Fuzz(func(t *testing.T, code, message, id string, status int) {
		room := anthropic.New()
		source := &server.Error{Code: code, Message: message, Status: status, RequestID: id}
		body := string(room.AppendError(nil, source))
		var e told
		if err := json.Unmarshal([]byte(body), &e); err != nil || strings.ContainsAny(body, "\n\r") {
			t.Fatalf("body %q: %v", body, err)
		}
		if e.Type != "error" || e.Error.Type == "" || !strings.HasSuffix(e.Error.Message, strings.ToValidUTF8(message, "\ufffd")) && strings.ToValidUTF8(message, "") == message {
			t.Fatalf("told %+v of %q", e, message)
		}
		if event := string(room.AppendErrorEvent(nil, source)); event != "event: error\ndata: "+body+"\n\n" {
			t.Fatalf("event %q", event)
		}
	})
}
