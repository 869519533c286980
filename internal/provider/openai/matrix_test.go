package openai

import (
	"strings"
	"testing"
	"time"

	"gatewright/engine"
)

// cell says what is right when upstream a has a fault.
type cell uint8

const (
	none      cell = iota // does not apply
	transfers             // b answers
	returned              // the error goes to the client at once
	served                // a's answer is right, or made right
	truncated             // committed, then an error in band
)

// row is one fault of upstream a, for a request that is not streamed and one
// that is. status and code are what the client gets when b has the same fault.
type row struct {
	id            string
	fault         string // YAML below "always"
	plain, stream cell
	class         string
	status        int
	code          string
}

func refused(id, fault, class string, status int, code string) row {
	return row{id: id, fault: fault, plain: transfers, stream: transfers, class: class, status: status, code: code}
}

func good(id, fault string) row { return row{id: id, fault: fault, plain: served, stream: served} }

func plainOnly(r row) row  { r.stream = none; return r }
func streamOnly(r row) row { r.plain = none; return r }
func broken(r row) row     { r.stream = truncated; return r }

func rows() []row {
	const (
		lost    = engine.CodeUpstreamConnect
		late    = engine.CodeUpstreamTimeout
		useless = engine.CodeUpstreamError
	)
	return []row{
		refused("F05", "close", "connect", 502, lost),
		refused("F06", "reset", "connect", 502, lost),
		refused("F06", "not-http", "server", 502, useless),
		refused("F06", "header-malformed", "server", 502, useless),
		refused("F07", "silent", "timeout", 504, late),
		refused("F08", "headers-dripped", "timeout", 504, late),
		refused("F09", "stall-after-headers", "timeout", 504, late),
		streamOnly(refused("F10", "{fault: comments-only, delay: 50ms}", "timeout", 504, late)),
		good("F11", "{fault: slow-first-token, delay: 50ms}"),
		refused("F12", "reset-after-headers", "server", 502, useless),
		broken(refused("F12", "{fault: reset-mid-body, after: 3}", "server", 502, useless)),
		refused("F12", "{fault: reset-mid-body, after: 0}", "server", 502, useless),
		broken(refused("F13", "{fault: length-too-long, after: 3}", "server", 502, useless)),
		plainOnly(refused("F13", "length-too-short", "server", 502, useless)),
		broken(refused("F14", "{fault: no-last-chunk, after: 3}", "server", 502, useless)),
		broken(refused("F14", "{fault: bad-chunk, after: 3}", "server", 502, useless)),
		broken(refused("F15", "{fault: stall, after: 3}", "timeout", 504, late)),
		refused("F15", "{fault: stall, after: 0}", "timeout", 504, late),
		streamOnly(good("F16", "{fault: long-stream, count: 20, delay: 40ms}")),
		streamOnly(refused("F17", "error-first", "server", 502, "")),
		streamOnly(refused("F17", "{fault: error-first, code: 429}", "rate_limit", 429, "rate_limit_exceeded")),
		streamOnly(refused("F18", "role-then-error", "server", 502, "")),
		streamOnly(broken(refused("F19", "{fault: content-then-error, code: 429}", "", 0, ""))),
		streamOnly(broken(refused("F20", "eof-after-content", "", 0, ""))),
		streamOnly(refused("F21", "eof-no-events", "server", 502, useless)),
		streamOnly(refused("F21", "done-only", "server", 502, useless)),
		streamOnly(refused("F22", "eof-after-role", "server", 502, useless)),
		streamOnly(good("F23", "no-done")),
		streamOnly(good("F23", "stall-after-finish")),
		streamOnly(good("F24", "after-done")),
		streamOnly(refused("F25", "{fault: malformed-event, after: 0}", "server", 502, useless)),
		streamOnly(broken(refused("F25", "{fault: malformed-event, after: 3}", "", 0, ""))),
		streamOnly(good("F26", "{fault: huge-event, size: 65KiB}")),
		streamOnly(good("F26", "{fault: huge-event, size: 8MiB}")),
		streamOnly(refused("F26", "{fault: huge-event, size: 10MiB}", "server", 502, useless)),
		good("F27", "byte-writes"),
		good("F27", "{fault: split-writes, size: 7}"),
		streamOnly(good("F27", "sse-crlf")),
		streamOnly(good("F27", "sse-cr")),
		streamOnly(good("F27", "sse-no-space")),
		streamOnly(good("F27", "sse-multiline")),
		streamOnly(good("F27", "sse-bom")),
		streamOnly(good("F27", "sse-fields")),
		streamOnly(good("F27", "sse-comments")),
		refused("F28", `{fault: http-429, retry_after: "30"}`, "rate_limit_timed", 429, "rate_limit_exceeded"),
		refused("F30", `{fault: http-429, retry_after: "0"}`, "rate_limit", 429, "rate_limit_exceeded"),
		refused("F31", `{fault: http-429, retry_after: ["7", "8"]}`, "rate_limit", 429, "rate_limit_exceeded"),
		refused("F32", "http-429", "rate_limit", 429, "rate_limit_exceeded"),
		refused("F33", "rate-limit-hint", "rate_limit", 429, ""),
		refused("F34", "http-500", "server", 500, ""),
		refused("F34", "http-502", "server", 502, ""),
		refused("F34", "http-503", "server", 503, ""),
		refused("F34", "http-504", "server", 504, ""),
		refused("F35", `{fault: http-503, retry_after: "9"}`, "server", 503, ""),
		refused("F36", "http-520", "server", 520, ""),
		refused("F36", "http-529", "server", 529, ""),
		refused("F36", "http-599", "server", 599, ""),
		{id: "F37", fault: "http-400", plain: returned, stream: returned, class: "client", status: 400},
		{id: "F37", fault: "http-422", plain: returned, stream: returned, class: "client", status: 422},
		{id: "F38", fault: "context-length", plain: returned, stream: returned, class: "context_window", status: 400, code: engine.CodeContextLengthExceeded},
		{id: "F38", fault: "http-413", plain: returned, stream: returned, class: "context_window", status: 400, code: engine.CodeContextLengthExceeded},
		{id: "F39", fault: "content-filter", plain: returned, stream: returned, class: "content_policy", status: 400, code: "content_filter"},
		{id: "F39", fault: "content-policy", plain: returned, stream: returned, class: "content_policy", status: 400, code: "invalid_prompt"},
		good("F39", "refusal"),
		good("F39", "filtered"),
		refused("F40", "http-401", "auth", 502, engine.CodeUpstreamAuth),
		refused("F40", "http-403", "auth", 502, engine.CodeUpstreamAuth),
		refused("F40", "invalid-key", "auth", 502, engine.CodeUpstreamAuth),
		refused("F41", "http-402", "quota", 502, engine.CodeUpstreamBilling),
		refused("F41", "insufficient-quota", "quota", 429, engine.CodeUpstreamBilling),
		refused("F41", "credit-balance", "quota", 502, engine.CodeUpstreamBilling),
		refused("F42", "model-not-found", "not_found", 502, engine.CodeUpstreamModelNotFound),
		refused("F42", "http-405", "not_found", 502, engine.CodeUpstreamModelNotFound),
		refused("F42", "http-410", "not_found", 502, engine.CodeUpstreamModelNotFound),
		refused("F43", "http-408", "conflict", 504, late),
		refused("F43", "http-409", "conflict", 502, useless),
		refused("F43", "http-425", "conflict", 502, useless),
		{id: "F44", fault: "http-418", plain: returned, stream: returned, class: "client", status: 418},
		{id: "F44", fault: "http-451", plain: returned, stream: returned, class: "client", status: 451},
		refused("F45", "http-301", "server", 502, useless),
		refused("F45", "http-302", "server", 502, useless),
		refused("F45", "http-307", "server", 502, useless),
		refused("F45", "http-308", "server", 502, useless),
		good("F46", "http-100"),
		good("F46", "http-103"),
		refused("F46", "http-101", "server", 502, useless),
		refused("F47", "http-204", "server", 502, useless),
		refused("F47", "http-205", "server", 502, useless),
		refused("F47", "http-206", "server", 502, useless),
		refused("F47", "http-304", "server", 502, useless),
		refused("F48", "empty", "server", 502, useless),
		refused("F49", "error-200", "server", 502, ""),
		refused("F49", "{fault: error-200, code: 429}", "rate_limit", 429, "rate_limit_exceeded"),
		{id: "F49", fault: "{fault: error-200, code: 400, type: invalid_request_error}", plain: returned, stream: returned, class: "client", status: 400},
		refused("F50", "choices-null", "server", 502, useless),
		refused("F50", "choices-empty", "server", 502, useless),
		refused("F50", "choices-missing", "server", 502, useless),
		refused("F50", "not-object", "server", 502, useless),
		good("F50", "empty-content"),
		refused("F51", "html", "server", 502, useless),
		refused("F51", "text", "server", 502, useless),
		refused("F51", "{fault: html, status: 502}", "server", 502, useless),
		plainOnly(refused("F52", "invalid-json", "server", 502, useless)),
		plainOnly(refused("F52", "truncated-json", "server", 502, useless)),
		plainOnly(refused("F52", "nan-json", "server", 502, useless)),
		good("F53", "gzip"),
		good("F53", "deflate"),
		good("F53", "br"),
		good("F53", "zstd"),
		refused("F53", "gzip-twice", "server", 502, useless),
		broken(refused("F53", "{fault: gzip-truncated, after: 3}", "server", 502, useless)),
		broken(refused("F53", "{fault: gzip-corrupt, after: 3}", "server", 502, useless)),
		refused("F53", "gzip-mislabeled", "server", 502, useless),
		refused("F53", "gzip-unlabeled", "server", 502, useless),
		refused("F53", "encoding-unknown", "server", 502, useless),
		plainOnly(refused("F53", "{fault: gzip-bomb, size: 16MiB}", "server", 502, useless)),
		refused("F54", "header-huge", "server", 502, useless),
		refused("F54", "headers-many", "server", 502, useless),
		plainOnly(refused("F54", "{fault: huge-body, size: 2MiB}", "server", 502, useless)),
		plainOnly(good("F55", "sse-for-json")),
		streamOnly(good("F55", "json-for-stream")),
		good("F56", "close-delimited"),
		good("F56", "trailers"),
		streamOnly(good("usage", "usage-repeated")),
		streamOnly(good("usage", "usage-on-finish")),
		streamOnly(good("role", "role-repeated")),
		streamOnly(good("prelude", "prelude")),
	}
}

// TestMatrix plays every fault, for requests that are streamed and not, with b
// healthy and with b at fault too.
func TestMatrix(t *testing.T) {
	for _, tc := range rows() {
		for _, mode := range []struct {
			name    string
			streams bool
			want    cell
		}{{"plain", false, tc.plain}, {"stream", true, tc.stream}} {
			if mode.want == none {
				continue
			}
			t.Run(tc.id+"/"+tc.fault+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				tc.play(t, mode.streams, mode.want, "{}")
				if mode.want == transfers {
					tc.play(t, mode.streams, mode.want, "always: "+tc.fault)
				}
			})
		}
	}
}

// limits are short where the fault is to wait, and generous elsewhere: a loaded
// machine must not look like a slow upstream.
func (tc *row) limits() engine.Timeouts {
	limit := 30 * time.Second
	for _, slow := range []string{"silent", "dripped", "stall", "comments-only"} {
		if strings.Contains(tc.fault, slow) {
			limit = shortLimit
		}
	}
	return engine.Timeouts{FirstToken: limit, Idle: limit, Answer: limit}
}

func (tc *row) play(t *testing.T, streams bool, want cell, b string) {
	t.Helper()
	r := newRig(t, rigOptions{timeouts: tc.limits()}, "always: "+tc.fault, b)
	alone := b != "{}"
	s, d, err := r.ask(t.Context(), streams)
	switch {
	case want == served:
		tc.wantServed(t, r, "a", s, d, err, streams)
	case want == truncated:
		tc.wantTruncated(t, s, d, err)
	case want == transfers && !alone:
		if got, want := attempts(d), "a:"+tc.class+" b:ok"; got != want {
			t.Errorf("attempts %q, want %q", got, want)
		}
		tc.wantServed(t, r, "b", s, d, err, streams)
	default:
		tc.wantError(t, r, s, d, err, alone)
	}
	tc.wantClean(t, r, s, d, err)
}

// wantServed checks the answer of one upstream.
func (tc *row) wantServed(t *testing.T, r *rig, id string, s *sink, d *engine.Decision, err error, streams bool) {
	t.Helper()
	if err != nil {
		t.Fatalf("error %v; attempts %s", err, attempts(d))
	}
	if n := r.fake.Calls(id); n != 1 {
		t.Errorf("%s was called %d times", id, n)
	}
	got := s.read(t, streams)
	special := tc.fault == "refusal" || tc.fault == "filtered" || tc.fault == "empty-content" ||
		strings.Contains(tc.fault, "huge-event") || strings.Contains(tc.fault, "long-stream")
	if id == "b" || !special {
		if want := "this is upstream " + id + " speaking"; got.Text != want {
			t.Errorf("text %q, want %q", got.Text, want)
		}
	}
	if got.Model != publicModel || got.Finish == "" || got.Done != streams {
		t.Errorf("reply %+v", got)
	}
	if streams && got.Usage && tc.id != "usage" { // an upstream that tells it unasked, beside something else
		t.Error("the client gets usage that it did not ask for")
	}
	if !d.Result.Usage.Known && tc.fault != "sse-for-json" { // which nobody asked for usage
		t.Error("the usage is not known")
	}
	kind := "application/json"
	if streams {
		kind = "text/event-stream"
	}
	if h := s.answer.Header["Content-Type"]; len(h) != 1 || h[0] != kind {
		t.Errorf("content type %q", h)
	}
	if _, labelled := s.answer.Header["Content-Encoding"]; labelled {
		t.Error("a content encoding is passed on")
	}
}

// wantTruncated checks an answer that broke after the commit.
func (tc *row) wantTruncated(t *testing.T, s *sink, d *engine.Decision, err error) {
	t.Helper()
	if got := attempts(d); got != "a:truncated" {
		t.Errorf("attempts %q", got)
	}
	if u := upstreamError(t, err); !u.Committed || u.Code != engine.CodeUpstreamTruncated {
		t.Errorf("error %+v", u)
	}
	got := s.read(t, true)
	if got.Done || got.Finish != "" || got.Text == "" || !d.Result.Truncated {
		t.Errorf("reply %+v, result %+v", got, d.Result)
	}
}

// wantError checks a failure that reaches the client before anything was
// committed.
func (tc *row) wantError(t *testing.T, r *rig, s *sink, d *engine.Decision, err error, both bool) {
	t.Helper()
	want := "a:" + tc.class
	if both {
		want += " b:" + tc.class
	} else if n := r.fake.Calls("b"); n != 0 {
		t.Errorf("b was called %d times", n)
	}
	if got := attempts(d); got != want {
		t.Errorf("attempts %q, want %q", got, want)
	}
	u := upstreamError(t, err)
	if u.Status != tc.status || (tc.code != "" && u.Code != tc.code) || u.Committed || u.Message == "" {
		t.Errorf("error %+v, want status %d, code %q", u, tc.status, tc.code)
	}
	if strings.Contains(u.Message, "<") {
		t.Errorf("markup in the message %q", u.Message)
	}
	if s.commits != 0 || s.out.Len() != 0 {
		t.Errorf("%d commits, output %.100q", s.commits, s.out.String())
	}
}

// wantClean checks what holds whatever happened.
func (tc *row) wantClean(t *testing.T, r *rig, s *sink, d *engine.Decision, err error) {
	t.Helper()
	sums := map[string]bool{}
	for _, id := range []string{"a", "b"} {
		stats := r.stats(id)
		if stats.InFlight != 0 {
			t.Errorf("%s: %d in flight", id, stats.InFlight)
		}
		for _, seen := range r.fake.Requests(id) {
			sums[seen.BodySHA256] = true
			if got := seen.Header.Get("Authorization"); got != "Bearer "+secretKey {
				t.Errorf("%s got the credential %q", id, got)
			}
		}
		if n := r.fake.Calls(id); n > 1 {
			t.Errorf("%s was called %d times", id, n)
		}
	}
	if len(sums) > 1 {
		t.Errorf("%d different bodies were sent", len(sums))
	}
	for i := range d.Attempts {
		a := &d.Attempts[i]
		counted := a.Class.Rule().Circuit
		if got := r.stats(a.Deployment).FailuresInRow; (got == 1) != counted {
			t.Errorf("%s (%s): %d failures in a row", a.Deployment, a.Class, got)
		}
		if strings.Contains(a.Message, "127.0.0.1") || strings.Contains(a.Message, secretKey) {
			t.Errorf("message %q", a.Message)
		}
	}
	cooled := tc.class == "rate_limit_timed"
	if got := !r.stats("a").CooldownUntil.IsZero(); got != cooled {
		t.Errorf("cooldown %v, want %v", got, cooled)
	}
	if err != nil && strings.Contains(err.Error(), secretKey) {
		t.Errorf("the error holds a credential: %v", err)
	}
	if strings.Contains(s.out.String(), "up-model") {
		t.Error("the client sees the upstream's model name")
	}
}
