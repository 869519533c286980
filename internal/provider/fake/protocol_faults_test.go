package fake

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// otherFault is how a fault sounds in Messages and in Gemini; a test that is nil does
// not look.
type otherFault struct {
	fault             string
	messages, google  func(t *testing.T, r reply) // an answer as JSON
	messageS, googleS func(t *testing.T, r reply) // a stream
}

// contains wants 200 and these texts.
func contains(texts ...string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.status != 200 {
			t.Errorf("status %d", r.status)
		}
		for _, text := range texts {
			if !strings.Contains(string(r.body), text) {
				t.Errorf("no %s in %.2000s", text, r.body)
			}
		}
	}
}

// ends wants a stream of these events: their names, or for events without one
// text, finish, block, usage, error.
func ends(names ...string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.status != 200 || r.readErr != nil {
			t.Fatalf("status %d, %v", r.status, r.readErr)
		}
		var got []string
		for _, e := range namedEvents(t, r.body) {
			if e.name == "" {
				e.name = kindOfChunk(e.data)
			}
			got = append(got, strings.TrimPrefix(e.name, "content_block_"))
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("(-want +got):\n%s\n%s", diff, r.body)
		}
	}
}

func kindOfChunk(data string) string {
	switch {
	case !json.Valid([]byte(data)):
		return "garbage"
	case strings.HasPrefix(data, `{"error"`):
		return "error"
	case strings.HasPrefix(data, `{"promptFeedback"`):
		return "block"
	case strings.Contains(data, `"finishReason"`):
		return "finish"
	case strings.HasPrefix(data, `{"usageMetadata"`):
		return "usage"
	}
	return "text"
}

func both(status int, typ, state string) otherFault {
	m, g := messagesError(status, typ, ""), geminiError(status, state, "")
	return otherFault{messages: m, messageS: m, google: g, googleS: g}
}

func (s otherFault) of(fault string) otherFault {
	s.fault = fault
	return s
}

func otherFaults() []otherFault {
	blocked := func(reason string) func(t *testing.T, r reply) {
		return contains(`"promptFeedback":{"blockReason":"`+reason+`"`, `"promptTokenCount":12`)
	}
	policy := messagesError(400, "invalid_request_error", "Output blocked by content filtering policy")
	return []otherFault{
		both(400, "invalid_request_error", "INVALID_ARGUMENT").of("http-400"),
		both(401, "authentication_error", "UNAUTHENTICATED").of("http-401"),
		both(402, "billing_error", "FAILED_PRECONDITION").of("http-402"),
		both(403, "permission_error", "PERMISSION_DENIED").of("http-403"),
		both(404, "not_found_error", "NOT_FOUND").of("http-404"),
		both(413, "request_too_large", "INVALID_ARGUMENT").of("http-413"),
		both(429, "rate_limit_error", "RESOURCE_EXHAUSTED").of("http-429"),
		both(500, "api_error", "INTERNAL").of("http-500"),
		both(503, "api_error", "UNAVAILABLE").of("http-503"),
		both(504, "timeout_error", "DEADLINE_EXCEEDED").of("http-504"),
		both(529, "overloaded_error", "UNKNOWN").of("http-529"),
		{
			fault: "overloaded", messages: messagesError(529, "overloaded_error", "Overloaded"), messageS: messagesError(529, "overloaded_error", ""),
			google: geminiError(503, "UNAVAILABLE", "overloaded"),
		},
		{fault: "context-length", messages: messagesError(400, "invalid_request_error", "prompt is too long: 200251 tokens > 200000 maximum"), google: geminiError(400, "INVALID_ARGUMENT", "exceeds the maximum number of tokens allowed")},
		{fault: "content-filter", messages: policy, google: blocked("SAFETY"), googleS: blocked("SAFETY")},
		{fault: "content-policy", messages: policy, google: blocked("PROHIBITED_CONTENT"), googleS: ends("block")},
		{fault: "insufficient-quota", messages: messagesError(429, "rate_limit_error", ""), google: geminiError(402, "FAILED_PRECONDITION", "")},
		{fault: "credit-balance", messages: messagesError(400, "invalid_request_error", ""), google: geminiError(400, "FAILED_PRECONDITION", "enable billing")},
		{fault: "model-not-found", messages: messagesError(404, "not_found_error", "model: m"), google: geminiError(404, "NOT_FOUND", "models/m is not found")},
		{fault: "invalid-key", messages: messagesError(401, "authentication_error", "invalid x-api-key"), google: geminiError(400, "INVALID_ARGUMENT", "API key not valid")},
		{fault: "rate-limit-hint", messages: messagesError(429, "rate_limit_error", ""), google: func(t *testing.T, r reply) {
			t.Helper()
			geminiError(429, "RESOURCE_EXHAUSTED", "quota")(t, r)
			if !strings.Contains(string(r.body), `"retryDelay":"52s"`) || !strings.Contains(string(r.body), "PerMinute") {
				t.Errorf("no hint in %s", r.body)
			}
		}},
		{fault: `{fault: http-429, retry_after: "1.5"}`, messages: headerIs(429, "Retry-After", "1.5"), google: func(t *testing.T, r reply) {
			t.Helper()
			if !strings.Contains(string(r.body), `google.rpc.RetryInfo","retryDelay":"1.5s"`) || r.header.Get("Retry-After") != "" {
				t.Errorf("%v %s", r.header, r.body)
			}
		}},
		{fault: "{fault: http-400, code: some_reason, message: x}", messages: func(t *testing.T, r reply) {
			t.Helper()
			messagesError(400, "invalid_request_error", "x")(t, r)
			if !strings.Contains(string(r.body), `"details":{"error_code":"some_reason"}`) {
				t.Errorf("%s", r.body)
			}
		}, google: func(t *testing.T, r reply) {
			t.Helper()
			geminiError(400, "INVALID_ARGUMENT", "x")(t, r)
			if !strings.Contains(string(r.body), `google.rpc.ErrorInfo","reason":"some_reason"`) {
				t.Errorf("%s", r.body)
			}
		}},
		{fault: "error-200", messages: contains(`{"type":"error","error":{"type":"api_error"`, `"request_id":"req_`), google: contains(`{"error":{"code":500,`, `"status":"INTERNAL"`)},
		{fault: "{fault: error-200, code: 429}", messages: contains(`"type":"rate_limit_error"`), google: contains(`{"error":{"code":429,`, `"status":"RESOURCE_EXHAUSTED"`)},

		{fault: "choices-null", messages: contains(`"content":null,"stop_reason"`), google: contains(`{"candidates":null,"usageMetadata"`)},
		{fault: "choices-empty", messages: contains(`"content":[],"stop_reason"`), google: contains(`{"candidates":[],"usageMetadata"`)},
		{fault: "choices-missing", messages: contains(`"model":"m","stop_reason"`), google: contains(`{"usageMetadata"`)},
		{fault: "empty-content", messages: contains(`"content":[],"stop_reason":"end_turn"`), google: contains(`"content":{"role":"model"},"finishReason":"STOP"`), messageS: ends("message_start", "ping", "message_delta", "message_stop"), googleS: ends("finish")},
		{
			fault:    "{fault: refusal, message: never}",
			messages: contains(`"content":[],"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"never"}`),
			google:   contains(`"finishReason":"SAFETY","finishMessage":"never","safetyRatings"`), messageS: contains(`"stop_reason":"refusal"`), googleS: contains(`"finishReason":"SAFETY"`),
		},
		{fault: "filtered", messages: contains(`"content":[],"stop_reason":"refusal"`), google: contains(`"finishReason":"PROHIBITED_CONTENT"`)},
		{fault: "window-full", messages: contains(`"text":"one"`, `"stop_reason":"model_context_window_exceeded"`), google: contains(`"text":"one"`, `"finishReason":"MAX_TOKENS"`)},
		{fault: "malformed-call", google: contains(`"content":{"role":"model"},"finishReason":"MALFORMED_FUNCTION_CALL"`), googleS: ends("finish")},
		{fault: "json-for-stream", messageS: contains(`{"id":"msg_`, `"stop_reason":"end_turn"`), googleS: contains(`{"candidates":[`, `"finishReason":"STOP"`)},
		{fault: "sse-for-json", messages: ends("message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_stop"), google: ends("text", "text", "finish")},

		{fault: "error-first", messageS: ends("error"), googleS: ends("error")},
		{fault: "{fault: error-first, code: 529}", messageS: contains("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"")},
		{fault: "{fault: error-first, code: 503}", googleS: contains(`{"error":{"code":503,`, `"status":"UNAVAILABLE"`)},
		{fault: "role-then-error", messageS: ends("message_start", "ping", "start", "error"), googleS: ends("error")},
		{fault: "{fault: content-then-error, after: 1}", messageS: ends("message_start", "ping", "start", "delta", "error"), googleS: ends("text", "error")},
		{fault: "{fault: eof-after-content, after: 1}", messageS: ends("message_start", "ping", "start", "delta"), googleS: ends("text")},
		{fault: "eof-no-events", messageS: ends([]string(nil)...), googleS: ends([]string(nil)...)},
		{fault: "done-only", messageS: ends("message_stop"), googleS: ends([]string(nil)...)},
		{fault: "eof-after-role", messageS: ends("message_start", "ping", "start"), googleS: ends([]string(nil)...)},
		{fault: "no-done", messageS: ends("message_start", "ping", "start", "delta", "delta", "stop", "message_delta"), googleS: ends("text", "text", "finish")},
		{fault: "after-done", messageS: ends("message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_stop", "delta", "garbage"), googleS: ends("text", "text", "finish", "text", "garbage")},
		{fault: "{fault: malformed-event, after: 1}", messageS: ends("message_start", "ping", "start", "delta", "delta", "delta", "stop", "message_delta", "message_stop"), googleS: ends("text", "garbage", "text", "finish")},
		{fault: "usage-repeated", messageS: ends("message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_delta", "message_stop"), googleS: ends("text", "text", "finish")},
		{fault: "usage-on-finish", messageS: contains(`"usage":{"input_tokens":0,`, `"usage":{"input_tokens":11,`), googleS: contains(`"index":0}],"modelVersion"`)},
		{fault: "role-repeated", messageS: ends("message_start", "message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_stop"), googleS: ends("text", "text", "finish")},
		{fault: "prelude", messageS: ends("ping", "message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_stop"), googleS: ends("usage", "text", "text", "finish")},
		{fault: "{fault: spliced, after: 1}", messageS: ends("message_start", "ping", "start", "delta", "message_start", "ping", "start", "delta", "delta", "stop", "message_delta", "message_stop"), googleS: ends("text", "text", "finish")},
	}
}

func TestFaultsInOtherProtocols(t *testing.T) {
	for _, c := range otherFaults() {
		t.Run(c.fault, func(t *testing.T) {
			r := newRig(t, oneUpstream("answer: {text: one two}\nalways: "+c.fault), Options{})
			if c.messages != nil {
				c.messages(t, r.messages(t, messagesPath, messagesBody))
			}
			if c.messageS != nil {
				c.messageS(t, r.messages(t, messagesPath, messagesStream))
			}
			if c.google != nil {
				c.google(t, r.generate(t, generatePath, generateBody))
			}
			if c.googleS != nil {
				c.googleS(t, r.generate(t, ssePath, generateBody))
			}
		})
	}
}

// Nothing that a fault says in another protocol is OpenAI's.
func TestFaultsSpeakTheirProtocol(t *testing.T) {
	for _, f := range Faults() {
		name := f.Name
		switch {
		case name == "http-NNN":
			name = "http-418"
		case strings.Contains(strings.Join(timedFaults, " "), name), name == "huge-body", name == "gzip-bomb", name == "headers-many":
			continue
		}
		r := newRig(t, oneUpstream("answer: {text: one two, reasoning: hm}\nalways: "+name), Options{})
		for i, got := range []reply{
			r.messages(t, messagesPath, messagesBody), r.messages(t, messagesPath, messagesStream),
			r.generate(t, generatePath, generateBody), r.generate(t, ssePath, generateBody),
			r.generate(t, strings.TrimSuffix(ssePath, "?alt=sse"), generateBody),
			r.messages(t, messagesPath+"/count_tokens", `{"model":"m","messages":[{"role":"user","content":"x"}]}`),
		} {
			for _, sign := range []string{"[DONE]", `"choices":[{"index"`, "chatcmpl", `"param"`, `"finish_reason"`} {
				if strings.Contains(string(got.body), sign) && name != "malformed-event" && name != "invalid-json" {
					t.Errorf("%s, request %d: %s in %.300s", name, i, sign, got.body)
				}
			}
		}
	}
}

// Every framing says the same.
func TestFramingsInOtherProtocols(t *testing.T) {
	read := func(fault string) [2][]namedEvent {
		r := newRig(t, oneUpstream("answer: {text: 'a, \"b\": c'}\nalways: "+fault), Options{})
		return [2][]namedEvent{
			readFramed(t, r.messages(t, messagesPath, messagesStream).body), readFramed(t, r.generate(t, ssePath, generateBody).body),
		}
	}
	want := read("ok")
	for _, f := range Faults() {
		if f.Class != "framing" || f.Name == "sse-separators" {
			continue
		}
		got := read(f.Name)
		for i := range want {
			if len(got[i]) != len(want[i]) {
				t.Errorf("%s: %d events, want %d", f.Name, len(got[i]), len(want[i]))
				continue
			}
			for n, e := range got[i] {
				if e.name != want[i][n].name || cmp.Diff(stripIDs(t, want[i][n].data), stripIDs(t, e.data)) != "" {
					t.Errorf("%s: event %d is %+v, want %+v", f.Name, n, e, want[i][n])
				}
			}
		}
	}
}

func stripIDs(t *testing.T, data string) any {
	t.Helper()
	return object(t, withoutIDs(withoutGoogleIDs(data)))
}

// readFramed reads SSE in all of its forms.
func readFramed(t *testing.T, body []byte) (out []namedEvent) {
	t.Helper()
	text := strings.TrimPrefix(string(body), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var e namedEvent
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && e.data != "":
			if e.name == "message" {
				e.name = ""
			}
			out = append(out, namedEvent{e.name, strings.TrimSuffix(e.data, "\n")})
			e = namedEvent{}
		case line == "":
			e = namedEvent{}
		case field == "data":
			e.data += value + "\n"
		case field == "event":
			e.name = value
		}
	}
	return out
}

func TestPingsKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, oneUpstream("always: {fault: comments-only, delay: 1s}"))
		go func() {
			<-time.After(2500 * time.Millisecond)
			closing(t, r.Upstreams)
		}()
		got := r.messages(t, messagesPath, messagesStream)
		if want := strings.Repeat("event: ping\ndata: {\"type\":\"ping\"}\n\n", 3); string(got.body) != want {
			t.Errorf("got %q", got.body)
		}
	})
}

func TestQuotaInOtherProtocols(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, oneUpstream("quota: {requests: 1, tokens: 1000, per: 1m, retry_after: true, headers: true}"))
		got := r.messages(t, messagesPath, messagesBody)
		h := got.header
		if h.Get("Anthropic-Ratelimit-Requests-Limit") != "1" || h.Get("Anthropic-Ratelimit-Requests-Remaining") != "0" ||
			h.Get("Anthropic-Ratelimit-Tokens-Remaining") == "" || h.Get("Anthropic-Ratelimit-Requests-Reset") != "2000-01-01T00:01:00Z" {
			t.Errorf("headers %v", h)
		}
		got = r.messages(t, messagesPath, messagesBody)
		messagesError(429, "rate_limit_error", "")(t, got)
		if got.header.Get("Retry-After") != "60" {
			t.Errorf("headers %v", got.header)
		}
		got = r.generate(t, generatePath, generateBody)
		geminiError(429, "RESOURCE_EXHAUSTED", "quota")(t, got)
		if !strings.Contains(string(got.body), `"retryDelay":"60s"`) || got.header.Get("Retry-After") != "" {
			t.Errorf("%v %s", got.header, got.body)
		}
	})
}
