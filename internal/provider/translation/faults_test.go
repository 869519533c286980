package translation_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/wire/translate"
)

// status answers with an error.
func status(code int, header http.Header, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		maps.Copy(w.Header(), header)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}
}

// refusals are error answers of an upstream, in its protocol's words.
var refusals = []struct {
	name   string
	up     translate.Protocol
	status int
	header http.Header
	body   string

	class string // and what the caller gets
	want  int
	code  string
}{
	{"too long", translate.Messages, 400, nil, anthropicError("invalid_request_error", "prompt is too long: 200251 tokens > 200000 maximum"), "context_window", 400, engine.CodeContextLengthExceeded},
	{"not too long", translate.Messages, 400, nil, anthropicError("invalid_request_error", "max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens for x"), "client", 400, ""},
	{"content policy", translate.Messages, 400, nil, anthropicError("invalid_request_error", "Output blocked by content filtering policy"), "content_policy", 400, "content_filter"},
	{"no credit", translate.Messages, 400, nil, anthropicError("invalid_request_error", "Your credit balance is too low to access the Anthropic API"), "quota", 502, engine.CodeUpstreamBilling},
	{"wrong key", translate.Messages, 401, nil, anthropicError("authentication_error", "invalid x-api-key"), "auth", 502, engine.CodeUpstreamAuth},
	{"unknown model", translate.Messages, 404, nil, anthropicError("not_found_error", "model: x"), "not_found", 502, engine.CodeUpstreamModelNotFound},
	{"too large", translate.Messages, 413, nil, anthropicError("request_too_large", "Request exceeds the maximum size"), "context_window", 400, engine.CodeContextLengthExceeded},
	{"too fast", translate.Messages, 429, nil, anthropicError("rate_limit_error", "slow down"), "rate_limit", 429, "rate_limit_exceeded"},
	{"too fast, with a time", translate.Messages, 429, http.Header{"Retry-After": {"30"}}, anthropicError("rate_limit_error", "slow down"), "rate_limit_timed", 429, "rate_limit_exceeded"},
	{"overloaded", translate.Messages, 529, nil, anthropicError("overloaded_error", "Overloaded"), "server", 529, engine.CodeUpstreamError},
	{"failed", translate.Messages, 500, nil, anthropicError("api_error", "Internal server error"), "server", 500, engine.CodeUpstreamError},
	{"timed out", translate.Messages, 408, nil, anthropicError("timeout_error", "timed out"), "conflict", 504, engine.CodeUpstreamTimeout},
	{"error in a 200", translate.Messages, 200, nil, anthropicError("overloaded_error", "Overloaded"), "server", 503, engine.CodeUpstreamError},

	{"too long", translate.Gemini, 400, nil, geminiError(400, "INVALID_ARGUMENT", "The input token count (2097153) exceeds the maximum number of tokens allowed (1048576).", ""), "context_window", 400, engine.CodeContextLengthExceeded},
	{"bad request", translate.Gemini, 400, nil, geminiError(400, "INVALID_ARGUMENT", "Invalid value at 'contents'", ""), "client", 400, ""},
	{"bad key", translate.Gemini, 400, nil, geminiError(400, "INVALID_ARGUMENT", "API key not valid.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), "auth", 502, engine.CodeUpstreamAuth},
	{"no permission", translate.Gemini, 403, nil, geminiError(403, "PERMISSION_DENIED", "denied", ""), "auth", 502, engine.CodeUpstreamAuth},
	{"unknown model", translate.Gemini, 404, nil, geminiError(404, "NOT_FOUND", "models/x is not found", ""), "not_found", 502, engine.CodeUpstreamModelNotFound},
	{"too fast", translate.Gemini, 429, nil, geminiError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details", ""), "rate_limit", 429, "rate_limit_exceeded"},
	{
		"too fast, with a time in the body", translate.Gemini, 429, nil,
		geminiError(429, "RESOURCE_EXHAUSTED", "quota", `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"47s"}`),
		"rate_limit_timed", 429, "rate_limit_exceeded",
	},
	{"overloaded", translate.Gemini, 503, nil, geminiError(503, "UNAVAILABLE", "The model is overloaded.", ""), "server", 503, engine.CodeUpstreamError},
	{"error in a 200", translate.Gemini, 200, nil, geminiError(429, "RESOURCE_EXHAUSTED", "quota", ""), "rate_limit", 429, "rate_limit_exceeded"},
	{"in an array", translate.Gemini, 500, nil, "[" + geminiError(500, "INTERNAL", "internal", "") + "]", "server", 500, engine.CodeUpstreamError},

	{"too long", translate.Chat, 400, nil, `{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, "context_window", 400, engine.CodeContextLengthExceeded},
	{"bad request", translate.Chat, 422, nil, `{"error":{"message":"no","type":"invalid_request_error","param":"messages","code":"invalid_value"}}`, "client", 422, ""},
	{"no money", translate.Chat, 429, nil, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, "quota", 429, engine.CodeUpstreamBilling},
	{"failed", translate.Responses, 500, nil, `{"error":{"message":"failed","type":"server_error"}}`, "server", 500, ""},
	{"failed in a 200", translate.Responses, 200, nil, `{"id":"r","object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"},"output":[]}`, "rate_limit", 429, "rate_limit_exceeded"},
	{"a page", translate.Messages, 200, http.Header{"Content-Type": {"text/html"}}, "<html>hello</html>", "server", 502, engine.CodeUpstreamError},
	{"a redirect", translate.Gemini, 307, http.Header{"Location": {"http://127.0.0.1/"}}, "", "server", 502, engine.CodeUpstreamError},
	{"nothing", translate.Gemini, 200, nil, "", "server", 502, engine.CodeUpstreamError},
	{"no JSON", translate.Messages, 200, nil, `{"type":"message","content":[`, "server", 502, engine.CodeUpstreamError},
	{"no answer", translate.Gemini, 200, nil, `{"candidates":[]}`, "server", 502, engine.CodeUpstreamError},
	{"not decodable", translate.Messages, 200, http.Header{"Content-Encoding": {"zip"}}, `{}`, "server", 502, engine.CodeUpstreamError},
}

func anthropicError(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

func geminiError(code int, status, message, details string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"status":%q,"message":%q,"details":[%s]}}`, code, status, message, details)
}

// TestRefusals plays every error answer to every client: the next deployment
// serves where it may, and otherwise the caller gets an error that fits.
func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		for _, client := range clients {
			for _, streams := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/%s to %v, stream %v", tt.up, tt.name, client, streams), func(t *testing.T) {
					t.Parallel()
					bad := func(id string) upstream {
						return upstream{id: id, protocol: tt.up, handler: status(tt.status, tt.header, tt.body)}
					}
					r := newRig(t, bad("a"), speaks(t, translate.Chat, says("instead")).upstream("b"))
					out, d, err := r.ask(client, body(client, streams, ""))
					moves := classNamed(tt.class).Rule().Next
					if moves && (err != nil || attempts(d) != "a:"+tt.class+" b:ok" || !strings.Contains(out.out.String(), "instead")) {
						t.Errorf("%v (%s)", err, attempts(d))
					}
					if !moves && attempts(d) != "a:"+tt.class {
						t.Errorf("attempts %s", attempts(d))
					}
					if cooled := !r.first().CooldownUntil.IsZero(); cooled != (tt.class == "rate_limit_timed") {
						t.Errorf("cooldown %v", cooled)
					}
					_, d, err = newRig(t, bad("a")).ask(client, body(client, streams, ""))
					u := upstreamError(t, err)
					if u.Status != tt.want || tt.code != "" && u.Code != tt.code || u.Message == "" || strings.ContainsAny(u.Message, "<>") && tt.name == "a page" {
						t.Errorf("error %+v, want status %d, code %q", u, tt.want, tt.code)
					}
					if tt.up != client && u.Param != "" {
						t.Errorf("the caller is told of the field %q, which it did not write", u.Param)
					}
					if got := attempts(d); got != "a:"+tt.class {
						t.Errorf("attempts %s", got)
					}
				})
			}
		}
	}
}

func classNamed(name string) engine.FailureClass {
	for c := engine.ClassNone; c <= engine.ClassTruncated; c++ {
		if c.String() == name {
			return c
		}
	}
	return engine.ClassNone
}

// mangled is a way to spoil the answer of an upstream.
type mangled struct {
	name          string
	spoil         func(w http.ResponseWriter, r *http.Request, answer []byte)
	plain, stream outcome
}

type outcome uint8

const (
	none      outcome = iota // does not apply
	served                   // the client gets the whole answer
	fails                    // the next one serves
	truncated                // part of it has gone out; then an error in band
	given                    // the error goes to the client at once
)

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// half is where an answer is cut: behind something that is shown.
func half(answer []byte) []byte { return answer[:strings.Index(string(answer), "speaking")] }

// silence waits until the gateway gives up.
func silence(r *http.Request) { <-r.Context().Done() }

func spoiled() []mangled {
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	return []mangled{
		{"closes at once", func(w http.ResponseWriter, r *http.Request, _ []byte) { abort(w, r) }, fails, fails},
		{"is silent", func(_ http.ResponseWriter, r *http.Request, _ []byte) { silence(r) }, fails, fails},
		{"is silent after its headers", func(w http.ResponseWriter, r *http.Request, _ []byte) { flush(w); silence(r) }, fails, fails},
		{"sends comments alone", func(w http.ResponseWriter, r *http.Request, _ []byte) { repeat(w, r, ": still here\n\n") }, none, fails},
		{"sends pings alone", func(w http.ResponseWriter, r *http.Request, _ []byte) {
			repeat(w, r, "event: ping\ndata: {\"type\": \"ping\"}\n\n")
		}, none, fails},
		{"breaks off", func(w http.ResponseWriter, r *http.Request, answer []byte) {
			_, _ = w.Write(half(answer))
			flush(w)
			abort(w, r)
		}, fails, truncated},
		{"ends early", func(w http.ResponseWriter, _ *http.Request, answer []byte) { _, _ = w.Write(half(answer)) }, fails, truncated},
		{"stalls", func(w http.ResponseWriter, r *http.Request, answer []byte) {
			_, _ = w.Write(half(answer))
			flush(w)
			silence(r)
		}, fails, truncated},
		{"ends before it begins", func(http.ResponseWriter, *http.Request, []byte) {}, fails, fails},
		{"errs in the middle", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			cut := answer[:strings.LastIndex(string(half(answer)), "\n\n")+2]
			_, _ = w.Write(append(slices.Clip(cut), "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"...))
		}, none, truncated},
		{"errs at first", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			_, _ = w.Write([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"))
		}, none, fails},
		{"sends a damaged event", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			cut := answer[:strings.LastIndex(string(half(answer)), "\n\n")+2]
			_, _ = w.Write(append(slices.Clip(cut), "data: {\"type\":\n\n"...))
		}, none, truncated},
		{"sends noise", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			at := strings.LastIndex(string(half(answer)), "\n\n") + 2
			_, _ = w.Write([]byte(string(answer[:at]) + "data: keep-alive\n\n" + string(answer[at:])))
		}, none, served},
		{"writes byte by byte", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			for i := range answer {
				_, _ = w.Write(answer[i : i+1])
				flush(w)
			}
		}, served, served},
		{"ends its lines with CRLF", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			_, _ = w.Write([]byte(strings.ReplaceAll(string(answer), "\n", "\r\n")))
		}, none, served},
		{"forgets the last blank line", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			_, _ = w.Write([]byte(strings.TrimRight(string(answer), "\n")))
		}, none, served},
		{"says more after the end", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			_, _ = w.Write(append(slices.Clip(answer), ": bye\n\n"...))
		}, none, served},
		{"stalls after the end", func(w http.ResponseWriter, r *http.Request, answer []byte) {
			_, _ = w.Write(answer)
			flush(w)
			silence(r)
		}, none, served},
		{"compresses", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(answer)
			_ = z.Close()
		}, served, served},
		{"sends too much", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			_, _ = w.Write([]byte(`data: {"x":"` + strings.Repeat("x", 2<<20) + `"}`))
		}, fails, fails},
	}
}

// repeat writes something until the gateway gives up.
func repeat(w http.ResponseWriter, r *http.Request, text string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, _ = w.Write([]byte(text))
		flush(w)
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// several is an answer of two texts, so that a stream of it can be cut between
// things that are shown.
func several(*translate.Request) *translate.Answer {
	a := says("this is upstream a")(nil)
	a.Parts = append(a.Parts, translate.Part{Kind: translate.KindText, Text: "speaking"})
	return a
}

// TestFaults spoils the answer of each upstream for each client.
func TestFaults(t *testing.T) {
	for _, tt := range spoiled() {
		t.Run(tt.name, func(t *testing.T) {
			eachPair(t, func(t *testing.T, client, up translate.Protocol, streams bool) {
				t.Helper()
				want := tt.plain
				if streams {
					want = tt.stream
				}
				if want != none {
					playFault(t, &tt, client, up, streams, want)
				}
			})
		})
	}
}

func playFault(t *testing.T, tt *mangled, client, up translate.Protocol, streams bool, want outcome) {
	t.Helper()
	s := speaks(t, up, several)
	asked := &translate.Request{IncludeUsage: true}
	answer, kind := s.whole(asked), "application/json"
	if streams {
		answer, kind = s.streamed(asked), "text/event-stream"
	}
	spoils := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a client seen to go
		w.Header().Set("Content-Type", kind)
		tt.spoil(w, r, answer)
	}
	const long = 30 * time.Second
	limits := engine.Timeouts{FirstToken: long, Idle: long, Answer: long}
	switch {
	case strings.Contains(tt.name, "stalls"):
		limits.Idle, limits.Answer = shortLimit, shortLimit
	case strings.Contains(tt.name, "silent"), strings.Contains(tt.name, "alone"):
		limits.FirstToken, limits.Answer = shortLimit, shortLimit
	}
	r := newRig(t,
		upstream{id: "a", protocol: up, handler: spoils, limits: limits},
		speaks(t, translate.Messages, says("instead")).upstream("b"))
	out, d, err := r.ask(client, body(client, streams, ""))
	switch want {
	case served:
		if err != nil {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if got := out.read(t, client, streams); got.Text != "this is upstream aspeaking" || !got.Over || got.Failed {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
	case fails:
		if err != nil || len(d.Attempts) != 2 || d.Attempts[1].Class != engine.ClassNone || !strings.Contains(out.out.String(), "instead") {
			t.Fatalf("%v (%s)", err, attempts(d))
		}
		if r.first().FailuresInRow != 1 {
			t.Errorf("%+v", r.first())
		}
	case truncated:
		u := upstreamError(t, err)
		if attempts(d) != "a:truncated" || !u.Committed || u.Code != engine.CodeUpstreamTruncated || !d.Result.Truncated {
			t.Errorf("got %+v (%s)", u, attempts(d))
		}
		out.out.Write(u.InBand) // what the server sends
		got := out.read(t, client, true)
		if got.Over || got.Text != "this is upstream a" || got.Failed != (client == translate.Responses) {
			t.Errorf("got %+v of %s", got, out.out.String())
		}
	case none, given:
	}
}
