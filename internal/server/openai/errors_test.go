package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

const chat = "/v1/chat/completions"

// asking is a chat request for a model.
func asking(model string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"hi"}]}`
}

// TestNames walks through what a model's name can mean.
func TestNames(t *testing.T) {
	r := start(t, nil)
	for _, c := range []struct {
		model, key string
		status     int
		want       string // deployment, or code of the error
		says       string // part of the message
	}{
		{"model-n", keyAll, 200, "a/model-n", ""},
		{"llama3.1:70b", keyAll, 200, "/model-m", ""},
		{"x-v2:0", keyAll, 200, "a/x-v2:0", ""},
		{"openrouter/gpt-4", keyAll, 200, "b/openrouter/gpt-4", ""},
		{"b/m", keyAll, 200, "b/model-m", ""},
		{"b/up-model-m", keyAll, 200, "b/model-m", ""},
		{"m:b", keyAll, 200, "b/model-m", ""},
		{"llama3.1:70b:b", keyAll, 200, "b/model-m", ""},
		{"x-v2:0:a", keyAll, 200, "a/x-v2:0", ""},
		{"openrouter/gpt-4:b", keyAll, 200, "b/openrouter/gpt-4", ""},
		{"b/openrouter/gpt-4", keyAll, 200, "b/openrouter/gpt-4", ""},
		{"model-n:@price", keyAll, 200, "a/model-n", ""},
		{"model-n:@price", keyPlain, 400, "strategy_override_not_allowed", "allow_request_strategy"},
		{"model-n:@cheapest", keyAll, 400, "unknown_strategy", "balanced, price"},
		{"model-n:@cheapest", keyPlain, 400, "strategy_override_not_allowed", ""},
		{"m:a:@price", keyAll, 400, "conflicting_suffixes", ""},
		{"m:@price:a", keyAll, 400, "conflicting_suffixes", ""},
		{"a/m:b", keyAll, 400, "conflicting_suffixes", ""},
		{"a/m:@price", keyAll, 400, "conflicting_suffixes", ""},
		{"off/off", keyAll, 400, "provider_disabled", ""},
		{"off:off", keyAll, 400, "provider_disabled", ""},
		{"b/model-m", keyNarrow, 400, "provider_not_allowed", ""},
		{"gpt-9", keyAll, 404, "model_not_found", "GET /v1/models"},
		{"m:nobody", keyAll, 404, "model_not_found", ""},
		{"nobody/m", keyAll, 404, "model_not_found", ""},
		{"model-n:b", keyAll, 404, "model_not_found", "does not serve"},
		{":", keyAll, 404, "model_not_found", ""},
		{`\n\ndata: {\"choices\":[]}`, keyAll, 404, "model_not_found", ""},
		{strings.Repeat("x", 100_000), keyAll, 404, "model_not_found", ""},
	} {
		t.Run(c.key+" "+c.model[:min(len(c.model), 40)], func(t *testing.T) {
			before := len(r.seen)
			status, header, body := r.do(http.MethodPost, chat, c.key, asking(c.model))
			if status != c.status {
				t.Fatalf("status %d: %.300s", status, body)
			}
			if status == http.StatusOK {
				if got := header.Get("X-Gatewright-Deployment"); !strings.HasSuffix(got, c.want) {
					t.Errorf("served by %q, want %q", got, c.want)
				}
				return
			}
			e := toldIn(t, body)
			if e.code() != c.want || e.param() != "model" || e.Type != "invalid_request_error" || !strings.Contains(e.Message, c.says) {
				t.Errorf("told %+v, want %s", e, c.want)
			}
			if len(e.Message) > 2048 || strings.Contains(body, "\n") {
				t.Errorf("message of %d bytes: %.100q", len(e.Message), body)
			}
			if len(r.seen) != before {
				t.Error("the executor was called")
			}
		})
	}
}

func TestBadBodies(t *testing.T) {
	r := start(t, nil)
	const all = `{"model":"m","messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		name, path, body, code, param string
	}{
		{"empty", chat, "", "invalid_json", ""},
		{"no JSON", chat, "hello", "invalid_json", ""},
		{"cut off", chat, all, "invalid_json", ""},
		{"an array", chat, "[]", "invalid_json", ""},
		{"two values", chat, all + "} {}", "invalid_json", ""},
		{"nested too deeply", chat, all + `,"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", "invalid_json", ""},
		{"not UTF-8 outside of text", chat, "{\xff}", "invalid_json", ""},
		{"no model", chat, `{"messages":[{"role":"user","content":"hi"}]}`, "missing_required_parameter", "model"},
		{"empty model", chat, asking(""), "missing_required_parameter", "model"},
		{"no messages", chat, `{"model":"m"}`, "missing_required_parameter", "messages"},
		{"empty messages", chat, `{"model":"m","messages":[]}`, "missing_required_parameter", "messages"},
		{"no prompt", "/v1/completions", `{"model":"m"}`, "missing_required_parameter", "prompt"},
		{"no input", "/v1/embeddings", `{"model":"m"}`, "missing_required_parameter", "input"},
		{"model is a number", chat, strings.Replace(all, `"m"`, "7", 1) + "}", "invalid_type", "model"},
		{"stream is a text", chat, all + `,"stream":"true"}`, "invalid_type", "stream"},
		{"messages are a text", chat, `{"model":"m","messages":"hi"}`, "invalid_type", "messages"},
		{"n of a million", chat, all + `,"n":1000000}`, "invalid_value", "n"},
		{"n of 0", chat, all + `,"n":0}`, "invalid_value", "n"},
		{"max_tokens of 1e99", chat, all + `,"max_tokens":1e99}`, "invalid_value", "max_tokens"},
		{"max_completion_tokens below 0", chat, all + `,"max_completion_tokens":-1}`, "invalid_value", "max_completion_tokens"},
		{"model twice", chat, all + `,"model":"n"}`, "duplicate_parameter", "model"},
		{"model in capitals too", chat, all + `,"MODEL":"n"}`, "duplicate_parameter", "MODEL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, body := r.do(http.MethodPost, c.path, keyAll, c.body)
			e := toldIn(t, body)
			if status != http.StatusBadRequest || e.code() != c.code || e.param() != c.param || e.Type != "invalid_request_error" || e.Message == "" {
				t.Errorf("status %d, %+v; want 400 %s of %q", status, e, c.code, c.param)
			}
		})
	}
	if r.last() != nil {
		t.Errorf("the executor was called with %+v", r.last())
	}
}

// TestUnservedPaths covers what no route answers, in the protocol's shape.
func TestUnservedPaths(t *testing.T) {
	r := start(t, nil)
	for _, c := range []struct {
		name, method, path, key string
		status                  int
		code, typ, allow        string
	}{
		{"path without /v1", "POST", "/chat/completions", keyAll, 404, "not_found", "invalid_request_error", ""},
		{"another endpoint", "POST", "/v1/nothing", keyAll, 404, "not_found", "invalid_request_error", ""},
		{"wrong method", "GET", chat, keyAll, 405, "method_not_allowed", "invalid_request_error", "POST"},
		{"wrong method of models", "DELETE", "/v1/models/m", keyAll, 405, "method_not_allowed", "invalid_request_error", "GET, HEAD"},
		{"no such key", "POST", chat, "gw-nobody", 401, "invalid_api_key", "authentication_error", ""},
		{"no such key, models", "GET", "/v1/models", "gw-nobody", 401, "invalid_api_key", "authentication_error", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, header, body := r.do(c.method, c.path, c.key, "")
			e := toldIn(t, body)
			if status != c.status || e.code() != c.code || e.Type != c.typ || header.Get("Allow") != c.allow {
				t.Errorf("status %d, allow %q, %+v; want %d %s", status, header.Get("Allow"), e, c.status, c.code)
			}
		})
	}
}

// TestRefusals covers what admission and the executor can end a request with.
func TestRefusals(t *testing.T) {
	remove := func(reason engine.Reason) check {
		return func(_ *engine.Request, pool []engine.Candidate, out *engine.Refusals) {
			for i := range pool {
				out.Remove(i, reason, "because\n\ndata: x")
			}
		}
	}
	until := func(reason engine.Reason) check {
		return func(r *engine.Request, pool []engine.Candidate, out *engine.Refusals) {
			for i := range pool {
				out.RemoveUntil(i, reason, "for now", r.Now.Add(time.Duration(12+10*i)*time.Second))
			}
		}
	}
	whole := func(f engine.Refusal) check {
		return func(_ *engine.Request, _ []engine.Candidate, out *engine.Refusals) { out.Refuse(f) }
	}
	fail := func(err error) execute {
		return func(context.Context, *engine.Request, *engine.Plan, engine.Sink) (engine.Result, error) {
			return engine.Result{}, err
		}
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
		{"disabled", remove(engine.ReasonDisabled), nil, 403, "permission_error", "no_eligible_candidate", "", 2},
		{"not allowed", remove(engine.ReasonModelNotAllowed), nil, 403, "permission_error", "model_not_allowed", "", 2},
		{"too long", remove(engine.ReasonContextWindow), nil, 400, "invalid_request_error", "context_length_exceeded", "", 2},
		{"cooling", until(engine.ReasonCooldown), nil, 429, "rate_limit_error", "all_candidates_cooling", "12", 2},
		{"out of quota", until(engine.ReasonQuotaExhausted), nil, 429, "rate_limit_error", "all_quota_exhausted", "12", 2},
		{"a policy", whole(engine.Refusal{Code: "office_hours", Detail: "closed"}), nil, 403, "permission_error", "office_hours", "", 0},
		{
			"a policy with a status", whole(engine.Refusal{Code: "slow_down", Status: 429, RetryAfter: 1500 * time.Millisecond}),
			nil, 429, "rate_limit_error", "slow_down", "2", 0,
		},
		{
			"all circuits open", nil, fail(&engine.RefusedError{Code: engine.CodeAllCircuitsOpen, RetryAfter: 61 * time.Second}),
			503, "service_unavailable_error", "all_circuits_open", "61", 0,
		},
		{"a failed policy", nil, fail(&engine.RefusedError{Code: engine.CodePolicyError}), 503, "service_unavailable_error", "policy_error", "", 0},
		{"connect", nil, fail(&engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamConnect}), 502, "upstream_error", "upstream_connect", "", 0},
		{"auth", nil, fail(&engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamAuth}), 502, "upstream_error", "upstream_auth", "", 0},
		{"billing", nil, fail(&engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamBilling}), 502, "upstream_error", "upstream_billing", "", 0},
		{"no model", nil, fail(&engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamModelNotFound}), 502, "upstream_error", "upstream_model_not_found", "", 0},
		{"server", nil, fail(&engine.UpstreamError{Status: 503, Code: engine.CodeUpstreamError, RetryAfter: "9"}), 503, "upstream_error", "upstream_error", "9", 0},
		{"timeout", nil, fail(&engine.UpstreamError{Status: 504, Code: engine.CodeUpstreamTimeout}), 504, "upstream_error", "upstream_timeout", "", 0},
		{
			"the caller's own", nil, fail(&engine.UpstreamError{Status: 422, Code: "bad_tool", Type: "invalid_request_error", Param: "tools"}),
			422, "invalid_request_error", "bad_tool", "", 0,
		},
		{"without a code", nil, fail(&engine.UpstreamError{Status: 418}), 418, "invalid_request_error", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var checks []engine.Check
			if c.check != nil {
				checks = append(checks, c.check)
			}
			r := start(t, c.run, checks...)
			for _, key := range []string{keyAll, keyPlain} {
				status, header, body := r.do(http.MethodPost, chat, key, asking("m"))
				e := toldIn(t, body)
				if status != c.status || e.Type != c.typ || e.code() != c.code || header.Get("Retry-After") != c.retryAfter {
					t.Errorf("status %d, retry after %q, %+v; want %d %s %s", status, header.Get("Retry-After"), e, c.status, c.typ, c.code)
				}
				if e.Code == nil && c.code != "" || e.Code != nil && c.code == "" {
					t.Errorf("code in %s, want null for none", body)
				}
				if want := map[string]int{keyAll: c.skipped, keyPlain: 0}[key]; len(e.Skipped) != want {
					t.Errorf("%d skipped candidates for %s, want %d", len(e.Skipped), key, want)
				}
				if strings.Contains(body, "\n") {
					t.Errorf("body %q is not on one line", body)
				}
			}
		})
	}
}

func TestSkippedCandidates(t *testing.T) {
	now := time.Now()
	r := start(t, nil, check(func(_ *engine.Request, _ []engine.Candidate, out *engine.Refusals) {
		out.Remove(0, engine.ReasonZeroWeight, "weight 0")
		out.RemoveUntil(1, engine.ReasonCooldown, "for now", now.Add(time.Minute))
	}))
	_, _, body := r.do(http.MethodPost, chat, keyAll, asking("m"))
	want := []map[string]any{
		{"deployment": "a/model-m", "reason": "zero_weight", "detail": "weight 0"},
		{"deployment": "b/model-m", "reason": "cooldown", "detail": "for now", "until": now.Add(time.Minute).Format(time.RFC3339Nano)},
	}
	if diff := cmp.Diff(want, toldIn(t, body).Skipped); diff != "" {
		t.Errorf("skipped candidates (-want +got):\n%s", diff)
	}
}

// TestBrokenStream ends with one event that holds the error, whatever the
// upstream's message says.
func TestBrokenStream(t *testing.T) {
	r := start(t, func(_ context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if err := sink.Commit(engine.Answer{Status: http.StatusOK, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		_, err := io.WriteString(sink, "data: {\"choices\":[]}\n\n")
		if err != nil {
			return engine.Result{}, err
		}
		return engine.Result{Status: http.StatusOK, Truncated: true}, &engine.UpstreamError{
			Status: http.StatusBadGateway, Code: engine.CodeUpstreamTruncated, Committed: true,
			Message: "cut\n\ndata: [DONE]\r\n\r\nevent: x\u2028", Param: "a\nb",
		}
	})
	body := strings.Replace(asking("m"), "{", `{"stream":true,`, 1)
	status, header, got := r.do(http.MethodPost, chat, keyAll, body)
	if status != http.StatusOK || header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("status %d, content type %q", status, header.Get("Content-Type"))
	}
	event, ok := strings.CutPrefix(got, "data: {\"choices\":[]}\n\ndata: ")
	if !ok || !strings.HasSuffix(event, "\n\n") || strings.Count(event, "\n") != 2 || strings.Contains(event, "\r") {
		t.Fatalf("stream %q, want one more event", got)
	}
	if e := toldIn(t, event); e.code() != "upstream_truncated" || e.Type != "upstream_error" || !strings.HasPrefix(e.Message, "cut\n\ndata: [DONE]") {
		t.Errorf("told %+v", e)
	}
}
