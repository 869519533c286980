package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

var update = flag.Bool("update", false, "rewrite docs/errors.md")

func TestTable(t *testing.T) {
	if len(rows) != len(table) {
		t.Errorf("%d codes in %d rows: a code stands there twice", len(rows), len(table))
	}
	last := 0
	for _, r := range table {
		e := newError(r.code, "m")
		if e.OpenAIType() != r.openai || e.AnthropicType() != r.anthropic || r.anthropic == "" {
			t.Errorf("%s: types %s and %q", r.code, e.OpenAIType(), e.AnthropicType())
		}
		if got := StatusOf(r.code); got != r.status {
			t.Errorf("%s: status %d, want %d", r.code, got, r.status)
		}
		if r.meaning == "" || r.status != 0 && r.status < last {
			t.Errorf("%s: status %d behind %d, meaning %q", r.code, r.status, last, r.meaning)
		}
		last = max(last, r.status)
	}
	if got := StatusOf("office_hours"); got != 403 {
		t.Errorf("a policy's own code has status %d, want 403", got)
	}
}

// TestErrorsPage keeps docs/errors.md as the table says.
func TestErrorsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Errors

Every error that a client can get from the gateway. The body has the shape of the
client's protocol: OpenAI ` + "`{\"error\": {\"message\", \"type\", \"param\", \"code\"}}`" + `,
Anthropic ` + "`{\"type\": \"error\", \"error\": {\"type\", \"message\", \"details\": {\"error_code\"}}, \"request_id\"}`" + `.
Codes are never renamed. The answer's header ` + "`X-Request-Id`" + `, for clients of
Anthropic's protocol ` + "`request-id`" + ` too, is the id of the request in the log and of its
decision.

An upstream's refusal of the request itself keeps the upstream's status, type and
code; a policy may refuse with a code and status of its own (403 when it names
none). What is the gateway's or an upstream's fault never looks like the
caller's: no 401 stands for a credential of the gateway.

- Fails over: other deployments or fallback models were tried first, where there
  are any.
- Retry-After: the answer may say when it is worth trying again, in whole
  seconds.
- In band: the status had been sent. A stream ends with one event that holds the
  error and without ` + "`[DONE]`" + ` (of Messages with the event ` + "`error`" + ` and without
  ` + "`message_stop`" + `; of Responses with the event ` + "`error`" + ` and, where an answer had been
  announced, ` + "`response.failed`" + `); the connection of any other answer is broken off.

| status | code | OpenAI type | Anthropic type | fails over | Retry-After | when |
|---|---|---|---|---|---|---|
`)
	yes := map[bool]string{true: "yes"}
	for _, r := range table {
		status := strconv.Itoa(r.status)
		if r.status == 0 {
			status = "in band"
		}
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | `%s` | %s | %s | %s |\n",
			status, r.code, r.openai, r.anthropic, yes[r.failsOver], yes[r.retryAfter], r.meaning)
	}
	b.WriteString(`
Requests that cannot be read as HTTP at all, or could be read in two ways, get 400
` + "`invalid_request`" + ` and the end of the connection.

Written by ` + "`go test ./internal/server -run ErrorsPage -update`" + `.
`)
	path := filepath.Join("..", "..", "docs", "errors.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(page)); diff != "" {
		t.Errorf("docs/errors.md is stale, run the test with -update (-want +got):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	stopping, stop := context.WithCancelCause(t.Context())
	stop(errShuttingDown)
	contexts := map[string]context.Context{"": t.Context(), "gone": gone, "stopping": stopping}
	skipped := []engine.Skipped{{Deployment: "a/m", Reason: engine.ReasonCooldown}}
	for _, c := range []struct {
		name   string
		when   string // what became of the request's context
		err    error
		want   *Error // nil = nobody to tell
		status int
		typ    string
		fault  bool
	}{
		{
			"one of ours", "", fmt.Errorf("wrapped: %w", newError(CodeInvalidHeader, "m")),
			&Error{Code: CodeInvalidHeader, Message: "m"}, 400, typeInvalidRequest, false,
		},
		{
			"refused", "", &engine.RefusedError{Code: engine.CodeModelNotFound, Message: "m", Param: "model"},
			&Error{Code: engine.CodeModelNotFound, Message: "m", Param: "model"}, 404, typeInvalidRequest, false,
		},
		{
			"refused for a while", "",
			&engine.RefusedError{Code: engine.CodeAllCandidatesCooling, Message: "m", RetryAfter: 11_001 * time.Millisecond, Skipped: skipped},
			&Error{Code: engine.CodeAllCandidatesCooling, Message: "m", retryAfter: "12", Skipped: skipped}, 429, typeRateLimit, false,
		},
		{
			"refused for no time at all", "", &engine.RefusedError{Code: engine.CodeAllCircuitsOpen, RetryAfter: time.Nanosecond},
			&Error{Code: engine.CodeAllCircuitsOpen, retryAfter: "1"}, 503, typeUnavailable, false,
		},
		{
			"by a policy", "", &engine.RefusedError{Code: "office_hours", Message: "m"},
			&Error{Code: "office_hours", Message: "m"}, 403, typePermission, false,
		},
		{
			"by a policy with a status", "", &engine.RefusedError{Code: "too_dear", Status: 402, Message: "m"},
			&Error{Code: "too_dear", Status: 402, Message: "m"}, 402, typeBilling, false,
		},
		{
			"the upstream's own words", "",
			&engine.UpstreamError{Status: 400, Code: "unsupported_parameter", Type: "invalid_request_error", Param: "max_tokens", Message: "m"},
			&Error{Status: 400, Code: "unsupported_parameter", kind: "invalid_request_error", Param: "max_tokens", Message: "m"}, 400, typeInvalidRequest, false,
		},
		{
			"an odd status of the upstream", "", &engine.UpstreamError{Status: 529, Code: engine.CodeUpstreamError, RetryAfter: "7"},
			&Error{Status: 529, Code: engine.CodeUpstreamError, retryAfter: "7"}, 529, typeUpstream, false,
		},
		{
			"billing as a rate limit", "", &engine.UpstreamError{Status: 429, Code: engine.CodeUpstreamBilling},
			&Error{Status: 429, Code: engine.CodeUpstreamBilling}, 429, typeRateLimit, false,
		},
		{
			"truncated", "", &engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamTruncated, Committed: true},
			&Error{Status: 502, Code: engine.CodeUpstreamTruncated}, 502, typeUpstream, false,
		},
		{"the client left", "gone", context.Canceled, nil, 0, "", false},
		{"the client left, in other words", "gone", errors.New("write: broken pipe"), nil, 0, "", false},
		{
			"the gateway stops", "stopping", context.Canceled,
			&Error{
				Code: CodeShuttingDown, retryAfter: "1", close: true,
				Message: "the gateway is stopping and could not finish this request in time: send it again",
			}, 503, typeUnavailable, false,
		},
		{
			"anything else", "", errors.New("disk on fire"),
			&Error{
				Code:    CodeInternalError,
				Message: "the gateway met a fault of its own; its log says more under the request id of this answer",
			}, 500, typeServer, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault := explain(contexts[c.when], c.err)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(Error{})); diff != "" || fault != c.fault {
				t.Fatalf("fault %v, error (-want +got):\n%s", fault, diff)
			}
			if got != nil && (got.HTTPStatus() != c.status || got.OpenAIType() != c.typ) {
				t.Errorf("status %d, type %s; want %d, %s", got.HTTPStatus(), got.OpenAIType(), c.status, c.typ)
			}
		})
	}
}

// TestTypesByStatus covers codes that are not in the table.
func TestTypesByStatus(t *testing.T) {
	for status, want := range map[int]string{
		400: typeInvalidRequest, 402: typeBilling, 403: typePermission, 404: typeInvalidRequest, 413: typeInvalidRequest,
		418: typeInvalidRequest, 429: typeRateLimit, 500: typeUpstream, 503: typeUpstream, 504: typeUpstream, 529: typeUpstream,
	} {
		if got := (&Error{Code: "of_its_own", Status: status}).OpenAIType(); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	if got := (&Error{Code: engine.CodeUpstreamTruncated}).HTTPStatus(); got != 502 {
		t.Errorf("truncated before the commit has status %d, want 502", got)
	}
}

// TestAnthropicTypes covers errors whose type is not their code's.
func TestAnthropicTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Error
		want string
	}{
		{"an upstream's of the protocol", Error{Code: "of_its_own", Status: 400, kind: typeOverloaded}, typeOverloaded},
		{"an upstream's of another", Error{Code: CodeRateLimitExceeded, kind: "tokens"}, typeRateLimit},
		{"a code with another status", Error{Code: engine.CodeUpstreamError, Status: 529}, ""},
		{"a policy's own code", Error{Code: "office_hours"}, ""},
	} {
		if got := c.e.AnthropicType(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestErrorsOverHTTP checks what of an error goes out, and to whom.
func TestErrorsOverHTTP(t *testing.T) {
	long := strings.Repeat("é", 5000)
	refused := func(err error) execute {
		return func(context.Context, *engine.Request, *engine.Plan, engine.Sink) (engine.Result, error) {
			return engine.Result{}, err
		}
	}
	cooling := &engine.RefusedError{
		Code: engine.CodeAllCandidatesCooling, Message: "m", RetryAfter: 12 * time.Second,
		Skipped: []engine.Skipped{{Deployment: "a/m"}, {Deployment: "b/m"}},
	}
	for _, c := range []struct {
		name   string
		err    error
		hidden bool
		status int
		want   told
		header map[string]string
	}{
		{
			"skipped candidates for those who may see them", cooling, false, 429,
			told{engine.CodeAllCandidatesCooling, typeRateLimit, "", "m", 2},
			map[string]string{"Retry-After": "12", "X-Gatewright-Attempts": "0"},
		},
		{
			"not for others", cooling, true, 429,
			told{engine.CodeAllCandidatesCooling, typeRateLimit, "", "m", 0},
			map[string]string{"Retry-After": "12", "X-Gatewright-Attempts": ""},
		},
		{
			"an upstream's headers", &engine.UpstreamError{
				Status: 503, Code: engine.CodeUpstreamError, Message: "m", RetryAfter: "30",
				Header: map[string][]string{"X-Ratelimit-Limit-Requests": {"9"}, "Set-Cookie": {"a=b"}, "Content-Type": {"text/html"}},
			}, false, 503,
			told{engine.CodeUpstreamError, typeUpstream, "", "m", 0},
			map[string]string{"Retry-After": "30", "X-Ratelimit-Limit-Requests": "9", "Set-Cookie": "", "Content-Type": "application/json"},
		},
		{
			"texts without end", &engine.UpstreamError{Status: 400, Code: long, Type: long, Param: long, Message: long}, false, 400,
			told{strings.Repeat("é", 62) + "…", strings.Repeat("é", 62) + "…", strings.Repeat("é", 62) + "…", strings.Repeat("é", 1022) + "…", 0},
			nil,
		},
		{
			"a header that splits", &engine.UpstreamError{Status: 429, Code: "c", RetryAfter: "1\r\nX-Evil: 1", Message: "m"}, false, 429,
			told{"c", typeRateLimit, "", "m", 0},
			map[string]string{"X-Evil": ""},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := listen(t, setup{execute: refused(c.err), keys: keys{testKey: {Key: "test", ExposeRouting: !c.hidden}}})
			resp, body := r.do("POST", "/v1/relay", "{}")
			if diff := cmp.Diff(c.want, toldIn(t, body)); diff != "" || resp.StatusCode != c.status {
				t.Errorf("status %d, want %d; body (-want +got):\n%s", resp.StatusCode, c.status, diff)
			}
			for name, want := range c.header {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

// TestErrorsAfterTheCommit checks the two ways to say that an answer is not
// whole.
func TestErrorsAfterTheCommit(t *testing.T) {
	broken := execute(func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if _, err := streamOf(2)(ctx, q, p, sink); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{Status: 200}, &engine.UpstreamError{
			Status: 502, Code: engine.CodeUpstreamTruncated, Message: "broke off\n\ndata: forged", Committed: true,
		}
	})
	r := listen(t, setup{execute: broken})
	_, body := r.do("POST", "/v1/relay/stream", "{}")
	event, ok := strings.CutPrefix(body, "data: 0\n\ndata: 1\n\ndata: ")
	if !ok || strings.Contains(body, "\ndata: forged") {
		t.Fatalf("stream %q", body)
	}
	want := told{engine.CodeUpstreamTruncated, typeUpstream, "", "broke off\n\ndata: forged", 0}
	if diff := cmp.Diff(want, toldIn(t, strings.TrimSpace(event))); diff != "" {
		t.Errorf("last event (-want +got):\n%s", diff)
	}
	if _, body := r.do("POST", "/v1/relay", "{}"); !strings.HasSuffix(body, "[unexpected EOF]") {
		t.Errorf("the broken answer looks whole: %q", body)
	}
}

// TestStreamsEndInTheirOwnWords passes on how an executor ends a stream.
func TestStreamsEndInTheirOwnWords(t *testing.T) {
	const words = "event: error\ndata: {}\n\n"
	r := listen(t, setup{execute: func(ctx context.Context, q *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if _, err := streamOf(1)(ctx, q, p, sink); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{Status: 200}, &engine.UpstreamError{
			Status: 502, Code: engine.CodeUpstreamTruncated, Message: "broke off", Committed: true, InBand: []byte(words),
		}
	}})
	if _, body := r.do("POST", "/v1/relay/stream", "{}"); body != "data: 0\n\n"+words {
		t.Errorf("stream %q", body)
	}
}
