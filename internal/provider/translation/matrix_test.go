package translation_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider/fake"
	"gatewright/internal/wire/translate"
)

// row is one fault of an upstream, for a request that is not streamed and one that
// is. class, status and code are those of the failure; where it is transferred the
// next deployment serves, and status and code are what the caller gets if none is
// left.
type row struct {
	fault         string // YAML below "always"
	plain, stream outcome
	class         string
	status        int
	code          string
	only          []translate.Protocol // upstreams; nil = all
}

func transferred(fault, class string, status int, code string) row {
	return row{fault: fault, plain: fails, stream: fails, class: class, status: status, code: code}
}

func returned(fault, class string, status int, code string) row {
	return row{fault: fault, plain: given, stream: given, class: class, status: status, code: code}
}

func good(fault string) row { return row{fault: fault, plain: served, stream: served} }

func plainOnly(r row) row  { r.stream = none; return r }
func streamOnly(r row) row { r.plain = none; return r }
func broken(r row) row     { r.stream = truncated; return r }

func at(r row, only ...translate.Protocol) row { r.only = only; return r }

func rows() []row {
	const (
		lost    = engine.CodeUpstreamConnect
		late    = engine.CodeUpstreamTimeout
		useless = engine.CodeUpstreamError
		limited = "rate_limit_exceeded"
	)
	gemini := []translate.Protocol{translate.Gemini}
	others := []translate.Protocol{translate.Chat, translate.Messages}
	return []row{
		transferred("close", "connect", 502, lost),
		transferred("reset", "connect", 502, lost),
		transferred("silent", "timeout", 504, late),
		transferred("headers-dripped", "timeout", 504, late),
		transferred("stall-after-headers", "timeout", 504, late),
		streamOnly(transferred("{fault: comments-only, delay: 20ms}", "timeout", 504, late)),
		good("{fault: slow-first-token, delay: 50ms}"),
		transferred("reset-after-headers", "server", 502, useless),
		broken(transferred("{fault: reset-mid-body, after: 3}", "server", 502, useless)),
		broken(transferred("{fault: length-too-long, after: 3}", "server", 502, useless)),
		broken(transferred("{fault: no-last-chunk, after: 3}", "server", 502, useless)),
		broken(transferred("{fault: stall, after: 3}", "timeout", 504, late)),
		streamOnly(good("{fault: long-stream, count: 20, delay: 20ms}")),
		streamOnly(transferred("error-first", "server", 0, "")),
		streamOnly(transferred("{fault: error-first, code: 429}", "rate_limit", 429, limited)),
		streamOnly(transferred("role-then-error", "server", 0, "")),
		streamOnly(broken(transferred("{fault: content-then-error, code: 429}", "", 0, ""))),
		streamOnly(broken(transferred("eof-after-content", "", 0, ""))),
		streamOnly(transferred("eof-no-events", "server", 502, useless)),
		streamOnly(transferred("eof-after-role", "server", 502, useless)),
		streamOnly(good("no-done")),
		streamOnly(good("stall-after-finish")),
		streamOnly(good("after-done")),
		streamOnly(transferred("{fault: malformed-event, after: 0}", "server", 502, useless)),
		streamOnly(broken(transferred("{fault: malformed-event, after: 3}", "", 0, ""))),
		streamOnly(good("{fault: huge-event, size: 65KiB}")),
		streamOnly(transferred("{fault: huge-event, size: 2MiB}", "server", 502, useless)),
		good("{fault: split-writes, size: 7}"),
		streamOnly(good("sse-cr")),
		streamOnly(good("sse-no-space")),
		streamOnly(good("sse-multiline")),
		streamOnly(good("sse-bom")),
		streamOnly(good("sse-fields")),
		streamOnly(good("sse-comments")),
		transferred(`{fault: http-429, retry_after: "30"}`, "rate_limit_timed", 429, limited),
		at(transferred(`{fault: http-429, retry_after: "0"}`, "rate_limit", 429, limited), others...),
		transferred("http-429", "rate_limit", 429, limited),
		at(transferred("rate-limit-hint", "rate_limit", 429, limited), others...),
		at(transferred("rate-limit-hint", "rate_limit_timed", 429, limited), gemini...),
		transferred("http-500", "server", 500, ""),
		transferred("http-503", "server", 503, ""),
		transferred("http-529", "server", 529, ""),
		transferred("overloaded", "server", 0, ""),
		returned("http-400", "client", 400, ""),
		returned("http-422", "client", 422, ""),
		returned("context-length", "context_window", 400, engine.CodeContextLengthExceeded),
		returned("http-413", "context_window", 400, engine.CodeContextLengthExceeded),
		at(returned("content-filter", "content_policy", 400, ""), others...),
		at(good("content-filter"), gemini...),
		good("refusal"),
		good("filtered"),
		good("window-full"),
		transferred("http-401", "auth", 502, engine.CodeUpstreamAuth),
		transferred("invalid-key", "auth", 502, engine.CodeUpstreamAuth),
		transferred("insufficient-quota", "quota", 0, engine.CodeUpstreamBilling),
		transferred("credit-balance", "quota", 502, engine.CodeUpstreamBilling),
		transferred("model-not-found", "not_found", 502, engine.CodeUpstreamModelNotFound),
		transferred("http-408", "conflict", 504, late),
		transferred("http-307", "server", 502, useless),
		good("http-103"),
		transferred("http-101", "server", 502, useless),
		transferred("http-204", "server", 502, useless),
		transferred("empty", "server", 502, useless),
		transferred("error-200", "server", 0, ""),
		transferred("{fault: error-200, code: 429}", "rate_limit", 429, limited),
		transferred("choices-null", "server", 502, useless),
		at(transferred("choices-empty", "server", 502, useless), translate.Chat, translate.Gemini), // an empty message is one
		transferred("choices-missing", "server", 502, useless),
		transferred("not-object", "server", 502, useless),
		good("empty-content"),
		at(transferred("malformed-call", "server", 502, useless), gemini...),
		transferred("html", "server", 502, useless),
		transferred("text", "server", 502, useless),
		plainOnly(transferred("invalid-json", "server", 502, useless)),
		plainOnly(transferred("truncated-json", "server", 502, useless)),
		good("gzip"),
		good("br"),
		good("zstd"),
		broken(transferred("{fault: gzip-truncated, after: 3}", "server", 502, useless)),
		transferred("gzip-mislabeled", "server", 502, useless),
		transferred("encoding-unknown", "server", 502, useless),
		plainOnly(transferred("{fault: gzip-bomb, size: 16MiB}", "server", 502, useless)),
		plainOnly(transferred("{fault: huge-body, size: 2MiB}", "server", 502, useless)),
		plainOnly(good("sse-for-json")),
		streamOnly(good("json-for-stream")),
		good("close-delimited"),
	}
}

// pairs are clients at the upstreams of other protocols, and one of its own.
var pairs = [][2]translate.Protocol{
	{translate.Messages, translate.Messages},
	{translate.Chat, translate.Messages},
	{translate.Responses, translate.Messages},
	{translate.Chat, translate.Gemini},
	{translate.Messages, translate.Gemini},
	{translate.Responses, translate.Gemini},
	{translate.Messages, translate.Chat},
	{translate.Responses, translate.Chat},
}

// TestMatrix plays the faults of simulated upstreams.
func TestMatrix(t *testing.T) {
	for _, tt := range rows() {
		for _, pair := range pairs {
			if tt.only != nil && !slices.Contains(tt.only, pair[1]) {
				continue
			}
			for _, streams := range []bool{false, true} {
				want := tt.plain
				if streams {
					want = tt.stream
				}
				if want == none {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v at %v, stream %v", tt.fault, pair[0], pair[1], streams), func(t *testing.T) {
					t.Parallel()
					tt.play(t, pair[0], pair[1], streams, want)
				})
			}
		}
	}
}

func (tt *row) play(t *testing.T, client, up translate.Protocol, streams bool, want outcome) {
	t.Helper()
	a := simulated(t, "always: "+tt.fault+"\n")
	first := upstream{id: "a", protocol: up, handler: a.ServeHTTP, limits: tt.limits()}
	b := speaks(t, translate.Messages, says("instead"))
	r := newRig(t, first, b.upstream("b"))
	out, d, err := r.ask(client, body(client, streams, ""))
	switch want {
	case served:
		tt.wantServed(t, out, d, err, client, streams)
	case truncated:
		u := upstreamError(t, err)
		if attempts(d) != "a:truncated" || !u.Committed || !d.Result.Truncated {
			t.Errorf("got %+v (%s)", u, attempts(d))
		}
		if got := out.read(t, client, true); got.Over || got.Reason != "" || got.Text == "" {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
	case fails:
		if err != nil || attempts(d) != "a:"+tt.class+" b:ok" || !strings.Contains(out.out.String(), "instead") {
			t.Fatalf("%v (%s, want %s)", err, attempts(d), tt.class)
		}
		_, d, err = newRig(t, first).ask(client, body(client, streams, ""))
		tt.wantError(t, d, err)
	case given:
		tt.wantError(t, d, err)
	case none:
	}
	for i := range d.Attempts {
		if m := d.Attempts[i].Message; strings.Contains(m, "127.0.0.1") || strings.Contains(m, secretKey) {
			t.Errorf("message %q", m)
		}
	}
}

// limits are short where the fault is to wait.
func (tt *row) limits() engine.Timeouts {
	const long = 30 * time.Second
	switch {
	case strings.Contains(tt.fault, "fault: stall,"):
		return engine.Timeouts{FirstToken: long, Idle: shortLimit, Answer: shortLimit}
	case slices.ContainsFunc([]string{"silent", "dripped", "stall-after-headers", "comments-only"}, func(s string) bool { return strings.Contains(tt.fault, s) }):
		return engine.Timeouts{FirstToken: shortLimit, Idle: long, Answer: shortLimit}
	}
	return engine.Timeouts{}
}

func (tt *row) wantServed(t *testing.T, out *sink, d *engine.Decision, err error, client translate.Protocol, streams bool) {
	t.Helper()
	if err != nil || attempts(d) != "a:ok" {
		t.Fatalf("%v (%s)", err, attempts(d))
	}
	got := out.read(t, client, streams)
	if got.Reason == "" || !got.Over || got.Failed {
		t.Errorf("got %+v of %s", got, out.out.String())
	}
	special := slices.ContainsFunc([]string{"refusal", "filter", "window-full", "empty-content", "huge-event", "long-stream"}, func(s string) bool { return strings.Contains(tt.fault, s) })
	if !special && got.Text != simulatedText {
		t.Errorf("text %q", got.Text)
	}
	if !d.Result.Usage.Known && tt.fault != "sse-for-json" {
		t.Error("the usage is not known")
	}
}

func (tt *row) wantError(t *testing.T, d *engine.Decision, err error) {
	t.Helper()
	u := upstreamError(t, err)
	if attempts(d) != "a:"+tt.class || tt.status != 0 && u.Status != tt.status || tt.code != "" && u.Code != tt.code || u.Message == "" || strings.Contains(u.Message, "<") {
		t.Errorf("got %+v (%s), want %s, %d, %q", u, attempts(d), tt.class, tt.status, tt.code)
	}
}

const simulatedText = "this is upstream a speaking"

// simulated serves a behaviour (YAML, as below an upstream's name).
func simulated(t *testing.T, text string) http.Handler {
	t.Helper()
	behaviour, err := fake.ParseBehaviour("a", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if behaviour.Answer.Text == "" {
		behaviour.Answer.Text = simulatedText
	}
	up := fake.New(&fake.Script{Upstreams: map[string]fake.Behaviour{"a": behaviour}}, fake.Options{})
	t.Cleanup(func() {
		if err := up.Close(); err != nil {
			t.Error(err)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/a" + r.URL.Path
		r.RequestURI = "/a" + r.RequestURI
		up.ServeHTTP(w, r)
	})
}
