package fake

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// choicesAre wants 200 with JSON whose choices member is this text; "" wants
// none.
func choicesAre(want string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		body := r.body
		if r.header.Get("Content-Type") == contentStream {
			all := events(r.body)
			if len(all) != 2 || all[1] != "[DONE]" {
				t.Fatalf("got events %q", all)
			}
			body = []byte(all[0])
		}
		var v map[string]json.RawMessage
		if err := json.Unmarshal(body, &v); err != nil || r.status != 200 {
			t.Fatalf("status %d, %v in %.200q", r.status, err, body)
		}
		if got := string(v["choices"]); got != want || v["usage"] == nil || v["id"] == nil {
			t.Errorf("got choices %q in %s, want %q", got, body, want)
		}
	}
}

func notJSON(t *testing.T, r reply) {
	t.Helper()
	if r.status != 200 || r.readErr != nil || r.header.Get("Content-Type") != contentJSON || len(r.body) == 0 || json.Valid(r.body) {
		t.Errorf("got %d %v %.100q, want a whole 200 that is no JSON", r.status, r.readErr, r.body)
	}
}

// saysNothing wants a right answer without content.
func saysNothing(finish, refusal string) func(t *testing.T, r reply) {
	return func(t *testing.T, r reply) {
		t.Helper()
		if r.header.Get("Content-Type") == contentStream {
			if got := tell(t, r.body); got.texts != 0 || got.finish != finish || got.done != 1 {
				t.Errorf("got %+v", got)
			}
			if refusal != "" && !bytes.Contains(r.body, []byte(`"refusal":"`+refusal)) {
				t.Errorf("no refusal in %s", r.body)
			}
			return
		}
		var v struct {
			Choices []struct {
				Message      struct{ Content, Refusal *string }
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(r.body, &v); err != nil || len(v.Choices) != 1 {
			t.Fatalf("%v in %s", err, r.body)
		}
		c := v.Choices[0]
		if c.FinishReason != finish || c.Message.Content != nil && *c.Message.Content != "" {
			t.Errorf("got %s", r.body)
		}
		if got := c.Message.Refusal; (refusal != "") != (got != nil) || got != nil && !strings.HasPrefix(*got, refusal) {
			t.Errorf("refusal in %s, want %q", r.body, refusal)
		}
	}
}

func answerCases() []faultCase {
	page := func(status int, contentType string) func(t *testing.T, r reply) {
		return func(t *testing.T, r reply) {
			t.Helper()
			if r.status != status || !strings.HasPrefix(r.header.Get("Content-Type"), contentType) || len(r.body) == 0 {
				t.Errorf("got %d %q %.100q", r.status, r.header.Get("Content-Type"), r.body)
			}
		}
	}
	return []faultCase{
		{fault: "empty", check: bare(200)},
		{fault: "empty", stream: true, check: bare(200)},
		{fault: "error-200", check: refused(200, "server_error", 502.0)},
		{fault: "{fault: error-200, code: 429}", stream: true, check: refused(200, "server_error", 429.0)},
		{fault: "{fault: error-200, code: invalid_prompt, type: t}", check: refused(200, "t", "invalid_prompt")},
		{fault: "choices-null", check: choicesAre("null")},
		{fault: "choices-null", stream: true, check: choicesAre("null")},
		{fault: "choices-empty", check: choicesAre("[]")},
		{fault: "choices-missing", check: choicesAre("")},
		{fault: "choices-missing", stream: true, check: choicesAre("")},
		{fault: "not-object", check: func(t *testing.T, r reply) {
			t.Helper()
			var v []any
			if err := json.Unmarshal(r.body, &v); err != nil || r.status != 200 {
				t.Errorf("got %d %q", r.status, r.body)
			}
		}},
		{fault: "empty-content", check: saysNothing("stop", "")},
		{fault: "empty-content", stream: true, check: saysNothing("stop", "")},
		{fault: "refusal", check: saysNothing("stop", "I cannot")},
		{fault: "{fault: refusal, message: never}", stream: true, check: saysNothing("stop", "never")},
		{fault: "filtered", check: saysNothing("content_filter", "")},
		{fault: "filtered", stream: true, check: saysNothing("content_filter", "")},
		{fault: "html", check: page(200, "text/html")},
		{fault: "{fault: html, status: 502}", stream: true, check: page(502, "text/html")},
		{fault: "{fault: text, status: 503, body: no healthy upstream}", check: page(503, "text/plain")},
		{fault: "invalid-json", check: notJSON},
		{fault: "truncated-json", check: notJSON},
		{fault: "nan-json", check: func(t *testing.T, r reply) {
			t.Helper()
			notJSON(t, r)
			if !json.Valid(bytes.Replace(r.body, []byte("NaN"), []byte("1"), 1)) {
				t.Errorf("more than NaN is wrong in %s", r.body)
			}
		}},
		{fault: "{fault: huge-body, size: 3MiB}", check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if len(r.body) < 3<<20 || len(r.body) > 3<<20+4096 {
				t.Errorf("got %d bytes", len(r.body))
			}
		}},
		{fault: "{fault: huge-body, size: 1MiB}", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			answered(t, r)
			if got := tell(t, r.body); len(got.content) != 1<<20 || got.texts != 64 {
				t.Errorf("got %d bytes in %d events", len(got.content), got.texts)
			}
		}},
		{fault: "json-for-stream", stream: true, check: func(t *testing.T, r reply) {
			t.Helper()
			if r.header.Get("Content-Type") != contentJSON {
				t.Errorf("content type %q", r.header.Get("Content-Type"))
			}
			wholeAnswer(t, r.body)
		}},
		{fault: "sse-for-json", check: func(t *testing.T, r reply) {
			t.Helper()
			if got := tell(t, r.body); got.finish != "stop" || got.done != 1 || r.header.Get("Content-Type") != contentStream {
				t.Errorf("got %q %+v", r.header.Get("Content-Type"), got)
			}
		}},
		{fault: "sse-for-json", path: "/a/v1/embeddings", body: embeddingBody, check: func(t *testing.T, r reply) {
			t.Helper()
			if all := events(r.body); len(all) != 2 || all[1] != "[DONE]" || !json.Valid([]byte(all[0])) {
				t.Errorf("got %.200q", r.body)
			}
		}},
	}
}
