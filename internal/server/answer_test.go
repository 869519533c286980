package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

func TestCaps(t *testing.T) {
	var got *engine.Request
	r := listen(t, setup{execute: func(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		got = r
		return answerWith("1")(ctx, r, p, sink)
	}})
	for _, c := range []struct {
		header, value string
		ttft          time.Duration
		cost          int64
		ok            bool
	}{
		{"X-Gatewright-Max-TTFT-Ms", "1500", 1500 * time.Millisecond, 0, true},
		{"X-Gatewright-Max-TTFT-Ms", "86400000", 24 * time.Hour, 0, true},
		{"X-Gatewright-Max-TTFT-Ms", "86400001", 0, 0, false},
		{"X-Gatewright-Max-TTFT-Ms", "0", 0, 0, false},
		{"X-Gatewright-Max-TTFT-Ms", "-1", 0, 0, false},
		{"X-Gatewright-Max-TTFT-Ms", "1.5", 0, 0, false},
		{"X-Gatewright-Max-TTFT-Ms", "1s", 0, 0, false},
		{"X-Gatewright-Max-TTFT-Ms", "99999999999999999999", 0, 0, false},
		{"X-Gatewright-Max-Cost", "0.05", 0, 50_000_000, true},
		{"X-Gatewright-Max-Cost", "2", 0, 2_000_000_000, true},
		{"X-Gatewright-Max-Cost", "0.000000001", 0, 1, true},
		{"X-Gatewright-Max-Cost", "0", 0, 0, false},
		{"X-Gatewright-Max-Cost", "0.0000000001", 0, 0, false},
		{"X-Gatewright-Max-Cost", "-1", 0, 0, false},
		{"X-Gatewright-Max-Cost", "1e3", 0, 0, false},
		{"X-Gatewright-Max-Cost", "$1", 0, 0, false},
		{"X-Gatewright-Max-Cost", ".5", 0, 0, false},
		{"X-Gatewright-Max-Cost", "5.", 0, 0, false},
		{"X-Gatewright-Max-Cost", "NaN", 0, 0, false},
		{"X-Gatewright-Max-Cost", "99999999999999", 0, 0, false},
	} {
		t.Run(c.header+" "+c.value, func(t *testing.T) {
			resp, body := r.do("POST", "/v1/relay", "{}", c.header, c.value)
			if !c.ok {
				e := toldIn(t, body)
				if resp.StatusCode != http.StatusBadRequest || e.Code != CodeInvalidHeader || e.Param != c.header || !strings.Contains(e.Message, c.header) {
					t.Errorf("status %d, %+v; want 400 that names the header", resp.StatusCode, e)
				}
				return
			}
			if resp.StatusCode != http.StatusOK || got.MaxTTFT != c.ttft || got.MaxCost != c.cost {
				t.Errorf("status %d, caps %s and %d; want %s and %d", resp.StatusCode, got.MaxTTFT, got.MaxCost, c.ttft, c.cost)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	const limit = 10 * time.Minute
	for _, c := range []struct {
		name   string
		values []string
		want   time.Duration
	}{
		{"none", nil, limit},
		{"shorter", []string{"60"}, time.Minute},
		{"a fraction", []string{"1.5"}, 1500 * time.Millisecond},
		{"longer", []string{"3600"}, limit},
		{"zero", []string{"0"}, limit},
		{"negative", []string{"-5"}, limit},
		{"not given", []string{"NOT_GIVEN"}, limit},
		{"infinite", []string{"Inf"}, limit},
		{"no number", []string{"NaN"}, limit},
		{"two", []string{"1", "2"}, limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := patience(http.Header{"X-Stainless-Timeout": c.values}, limit); got != c.want {
				t.Errorf("patience = %s, want %s", got, c.want)
			}
		})
	}
	began := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	var got *engine.Request
	r := listen(t, setup{
		limits:  engine.Limits{Request: limit},
		options: Options{Clock: func() time.Time { return began }},
		execute: func(ctx context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
			got = r
			return answerWith("1")(ctx, r, p, sink)
		},
	})
	r.do("POST", "/v1/relay", "{}", "X-Stainless-Timeout", "90")
	if want := began.Add(90 * time.Second); !got.Deadline.Equal(want) || !got.Now.Equal(began) {
		t.Errorf("now %s, deadline %s; want %s, %s", got.Now, got.Deadline, began, want)
	}
}

func TestUSD(t *testing.T) {
	for _, c := range []struct {
		nano int64
		want string
	}{
		{0, "0"},
		{1, "0.000000001"},
		{12_345, "0.000012345"},
		{50_000_000, "0.05"},
		{1_000_000_000, "1"},
		{2_500_000_000, "2.5"},
		{-1_500_000_000, "-1.5"},
	} {
		if got := formatUSD(c.nano); got != c.want {
			t.Errorf("formatUSD(%d) = %q, want %q", c.nano, got, c.want)
		}
		if c.nano > 0 {
			if got, ok := parseUSD(c.want); !ok || got != c.nano {
				t.Errorf("parseUSD(%q) = %d, %v, want %d", c.want, got, ok, c.nano)
			}
		}
	}
}

// TestAnswerHeaders checks what reaches a client of an answer's headers, and
// who sees routing.
func TestAnswerHeaders(t *testing.T) {
	upstream := map[string][]string{
		"Openai-Processing-Ms": {"12"}, "X-Ratelimit-Limit-Requests": {"100"}, "Anthropic-Ratelimit-Requests-Limit": {"5"},
		"Set-Cookie": {"a=b"}, "Server": {"cloud"}, "Connection": {"X-Internal"}, "Keep-Alive": {"5"}, "X-Internal": {"1"},
		"Transfer-Encoding": {"chunked"}, "X-Request-Id": {"req_up"}, "X-Gatewright-Deployment": {"forged"}, "Via": {"1.1 x"},
		"Content-Encoding": {"gzip"}, "Strict-Transport-Security": {"max-age=1"}, "Openai-Injected": {"a\r\nX-Evil: b"},
	}
	answer := func(a engine.Answer, body string) execute {
		return func(_ context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
			a.Deployment = p.Order[0].Deployment
			if err := sink.Commit(a); err != nil {
				return engine.Result{}, err
			}
			if err := sink.Commit(a); !errors.Is(err, errCommittedTwice) {
				t.Errorf("second commit: %v", err)
			}
			_, err := io.WriteString(sink, body)
			return engine.Result{Status: 200}, err
		}
	}
	fixed := map[string]string{
		"Content-Type": "application/json", "Openai-Processing-Ms": "12", "X-Ratelimit-Limit-Requests": "100",
		"Anthropic-Ratelimit-Requests-Limit": "5", "Openai-Injected": "a  X-Evil: b", "Content-Length": "2",
	}
	with := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range []map[string]string{fixed, more} {
			for k, v := range m {
				if all[k] = v; v == "" {
					delete(all, k)
				}
			}
		}
		return all
	}
	for _, c := range []struct {
		name, path string
		answer     engine.Answer
		hidden     bool // the caller may not see routing
		want       map[string]string
	}{
		{
			"whole", "/v1/relay",
			engine.Answer{Attempts: 2, Cost: 12_345, Usage: engine.Usage{Known: true}},
			false,
			with(map[string]string{"X-Gatewright-Deployment": "a/m", "X-Gatewright-Attempts": "2", "X-Gatewright-Cost": "0.000012345"}),
		},
		{
			"cost not known", "/v1/relay",
			engine.Answer{Attempts: 1, Cost: engine.Unknown, Usage: engine.Usage{Known: true}},
			false,
			with(map[string]string{"X-Gatewright-Deployment": "a/m", "X-Gatewright-Attempts": "1"}),
		},
		{"whole, routing hidden", "/v1/relay", engine.Answer{Attempts: 2, Cost: 5, Usage: engine.Usage{Known: true}}, true, fixed},
		{
			"stream", "/v1/relay/stream",
			engine.Answer{Attempts: 1, Cost: engine.Unknown},
			true,
			with(map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.answer.Status, c.answer.Header = 200, upstream
			r := listen(t, setup{
				execute: answer(c.answer, "{}"),
				keys:    keys{testKey: {Key: "test", ExposeRouting: !c.hidden}},
			})
			resp, _ := r.do("POST", c.path, "{}")
			got := map[string]string{}
			for name, values := range resp.Header {
				if name != "Date" && name != "X-Request-Id" {
					got[name] = strings.Join(values, " | ")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			if resp.Header.Get("X-Request-Id") == "req_up" {
				t.Error("the upstream's request id is shown as ours")
			}
		})
	}
}

// TestDeploymentNameInHeader keeps odd names out of the header's syntax.
func TestDeploymentNameInHeader(t *testing.T) {
	x := &Exchange{Caller: &engine.Caller{ExposeRouting: true}, writer: httptest.NewRecorder()}
	s := &sink{x: x}
	d := &engine.Deployment{ID: "a\r\nX-Evil: 1/mé"}
	if err := s.Commit(engine.Answer{Status: 200, Deployment: d, Cost: engine.Unknown}); err != nil {
		t.Fatal(err)
	}
	if got, want := x.writer.Header().Get("X-Gatewright-Deployment"), "a??X-Evil: 1/m?"; got != want {
		t.Errorf("header %q, want %q", got, want)
	}
}

// TestExecutorsLabels takes over what the executor says of the body.
func TestExecutorsLabels(t *testing.T) {
	for _, c := range []struct {
		name, path string
		header     map[string][]string
		kind, size string
		stream     bool
	}{
		{"whole with its length", "/v1/relay", map[string][]string{"Content-Type": {"application/json; charset=utf-8"}, "Content-Length": {"2"}}, "application/json; charset=utf-8", "2", false},
		{"a length that is none", "/v1/relay", map[string][]string{"Content-Length": {"-2"}}, "application/json", "2", false},
		{"two lengths", "/v1/relay", map[string][]string{"Content-Length": {"2", "3"}}, "application/json", "2", false},
		{"a stream has no length", "/v1/relay/stream", map[string][]string{"Content-Type": {"text/event-stream"}, "Content-Length": {"2"}}, "text/event-stream", "", true},
		{"a stream nobody asked for", "/v1/relay", map[string][]string{"Content-Type": {"text/event-stream; charset=utf-8"}}, "text/event-stream; charset=utf-8", "", true},
		{"no stream although asked for", "/v1/relay/stream", map[string][]string{"Content-Type": {"application/json"}}, "application/json", "2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rigged *sink
			r := listen(t, setup{execute: func(_ context.Context, _ *engine.Request, p *engine.Plan, out engine.Sink) (engine.Result, error) {
				rigged, _ = out.(*sink)
				err := out.Commit(engine.Answer{Status: http.StatusOK, Header: c.header, Deployment: p.Order[0].Deployment, Cost: engine.Unknown})
				if err == nil {
					_, err = io.WriteString(out, "{}")
				}
				if err == nil && c.stream {
					err = out.Flush()
				}
				return engine.Result{Status: http.StatusOK}, err
			}})
			resp, body := r.do(http.MethodPost, c.path, "{}")
			if got := resp.Header.Get("Content-Type"); got != c.kind || body != "{}" {
				t.Errorf("content type %q, body %q; want %q", got, body, c.kind)
			}
			if got := resp.Header.Get("Content-Length"); got != c.size {
				t.Errorf("content length %q, want %q", got, c.size)
			}
			if rigged.stream != c.stream || rigged.broken() == c.stream {
				t.Errorf("stream %v, want %v", rigged.stream, c.stream)
			}
		})
	}
}
