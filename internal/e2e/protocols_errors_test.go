package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// outcome is what a client is told: of an error its status and what names it,
// else how the answer ended.
type outcome struct {
	status int
	code   string // code in OpenAI's protocols, type in Anthropic's
	finish string
	text   string
}

// spokenFault is a fault of an upstream, whatever its protocol, and what becomes
// of it for the clients.
type spokenFault struct {
	fault             string
	openAI, anthropic outcome
	// but are the outcomes at single upstreams that differ, by client and model.
	but map[string]outcome
}

const sixWords = "one two three four five six"

func spokenFaults() []spokenFault {
	served := outcome{finish: "stop", text: sixWords}
	both := func(o outcome) spokenFault { return spokenFault{openAI: o, anthropic: o} }
	of := func(fault string, s spokenFault) spokenFault {
		s.fault = fault
		return s
	}
	failed := func(fault string, status int, code, typ string) spokenFault {
		return spokenFault{fault: fault, openAI: outcome{status: status, code: code}, anthropic: outcome{status: status, code: typ}}
	}
	with := func(s spokenFault, but map[string]outcome) spokenFault {
		s.but = but
		return s
	}
	return []spokenFault{
		failed("context-length", 400, "context_length_exceeded", "invalid_request_error"),
		failed("http-400", 400, "", "invalid_request_error"),
		failed("http-422", 422, "", "invalid_request_error"),
		failed("http-500", 500, "upstream_error", "api_error"),
		failed("invalid-key", 502, "upstream_auth", "api_error"),
		failed("model-not-found", 502, "upstream_model_not_found", "api_error"),
		with(failed("overloaded", 503, "upstream_error", "overloaded_error"), map[string]outcome{
			"openai on-openai": {status: 503, code: "server_is_overloaded"}, "openai on-anthropic": {status: 529, code: "upstream_error"},
			"anthropic on-anthropic": {status: 529, code: "overloaded_error"},
		}),
		with(failed("insufficient-quota", 429, "upstream_billing", "rate_limit_error"), map[string]outcome{
			"openai on-gemini": {status: 502, code: "upstream_billing"}, "anthropic on-gemini": {status: 502, code: "api_error"},
		}),
		of("filtered", both(outcome{finish: "refusal"})),
		of("empty-content", both(outcome{finish: "stop"})),
		with(of("window-full", both(outcome{finish: "length", text: "one two three"})), map[string]outcome{
			"anthropic on-anthropic": {finish: "window", text: "one two three"},
		}),
		// What is told in an unusual way is read all the same.
		of("json-for-stream", both(served)),
		of("sse-for-json", both(served)),
		of("no-done", both(served)),
		of("role-repeated", both(served)),
		of("usage-repeated", both(served)),
		of("prelude", both(served)),
		of("gzip", both(served)),
		of("sse-comments", both(served)),
	}
}

// Errors and odd answers mean the same to a client, whichever protocol the upstream
// told them in.
func TestErrorsOnEachProtocol(t *testing.T) {
	t.Parallel()
	gw, sim := protocolsGateway(t)
	for _, c := range spokenFaults() {
		for _, one := range protocolUpstreams {
			sim.behave(one, "api_key: sk-upstream-0123\nanswer: {text: "+sixWords+"}\nalways: "+c.fault)
		}
		for client, begin := range talkers {
			want, protocol := c.openAI, "openai"
			if strings.HasPrefix(client, "anthropic") {
				want, protocol = c.anthropic, "anthropic"
			}
			for _, model := range []string{"on-openai", "on-anthropic", "on-gemini"} {
				want := want
				if but, ok := c.but[protocol+" "+model]; ok {
					want = but
				}
				got := begin(gw, model).send(t.Context(), turn{text: "Hello?"})
				if o := (outcome{got.status, got.code, got.finish, got.text}); o != want || got.broken != nil {
					t.Errorf("%s, %s %s: got %+v, want %+v", c.fault, client, model, got, want)
				}
			}
		}
	}
}

// A stream that breaks off is an error for the client, never an answer.
func TestBrokenStreamsOnEachProtocol(t *testing.T) {
	t.Parallel()
	gw, sim := protocolsGateway(t)
	for _, fault := range []string{"content-then-error", "eof-after-content", "reset-mid-body", "no-last-chunk", "malformed-event"} {
		for _, one := range protocolUpstreams {
			sim.behave(one, "api_key: sk-upstream-0123\nanswer: {text: "+sixWords+"}\nalways: "+fault)
		}
		for client, begin := range talkers {
			if !strings.HasSuffix(client, "streamed") {
				continue
			}
			for _, model := range []string{"on-openai", "on-anthropic", "on-gemini"} {
				got := begin(gw, model).send(t.Context(), turn{text: "Hello?"})
				told := got.broken != nil || got.code == "api_error"
				if fault == "malformed-event" && got.text == sixWords && got.finish == "stop" {
					continue // such an event may be left out
				}
				if !told || got.finish != "" {
					t.Errorf("%s, %s %s: got %+v, want an error", fault, client, model, got)
				}
			}
		}
	}
}

// How long to wait is told in a header or in the body, and reaches the client.
func TestRetryAfterOnEachProtocol(t *testing.T) {
	t.Parallel()
	gw, sim := protocolsGateway(t)
	for _, one := range protocolUpstreams {
		sim.behave(one, `{api_key: sk-upstream-0123, always: {fault: http-429, retry_after: "30"}}`)
	}
	for _, model := range protocolModels {
		for _, again := range []bool{false, true} { // by the upstream, then for its cooldown
			got := post(t, gw.url("/v1/messages"), `{"model": "`+model+`", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello?"}]}`,
				"anthropic-version", "2023-06-01", "x-api-key", sdkKey)
			wait := got.header.Get("Retry-After")
			told := wait == "30" || again && wait == "29"
			if got.status != http.StatusTooManyRequests || !told || !strings.Contains(got.body, `"rate_limit_error"`) {
				t.Errorf("%s: %d, Retry-After %q, %s", model, got.status, wait, got.body)
			}
		}
	}
	if calls := sim.calls(); calls["oai"] != 1 || calls["ant"] != 2 || calls["gem"] != 2 {
		t.Errorf("calls %v, want one for each deployment", calls)
	}
}
