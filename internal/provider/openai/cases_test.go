package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewright/engine"
	"gatewright/internal/provider"
	wire "gatewright/internal/wire/openai"
)

// TestClientErrorsPunishNobody sends a hundred requests that the upstream
// judges to be wrong.
func TestClientErrorsPunishNobody(t *testing.T) {
	r := newRig(t, rigOptions{}, "always: http-400", "{}")
	for range 100 {
		_, _, err := r.ask(t.Context(), false)
		if u := upstreamError(t, err); u.Status != 400 {
			t.Fatalf("error %+v", u)
		}
	}
	if n := r.fake.Calls("b"); n != 0 {
		t.Errorf("b was called %d times", n)
	}
	if s := r.stats("a"); s.Circuit != "closed" || s.FailuresInRow != 0 || !s.CooldownUntil.IsZero() {
		t.Errorf("health %+v", s)
	}
}

// TestFirstEventIsAnError fails over a hundred times on kept connections.
func TestFirstEventIsAnError(t *testing.T) {
	r := newRig(t, rigOptions{retry: engine.RetryPolicy{MaxAttempts: 1}}, "always: error-first", "{}")
	for range 100 {
		s, d, err := r.ask(t.Context(), true)
		if err != nil || attempts(d) != "a:server b:ok" {
			t.Fatalf("%s: %v", attempts(d), err)
		}
		if got := s.read(t, true); got.Text != "this is upstream b speaking" || !got.Done {
			t.Fatalf("reply %+v", got)
		}
	}
}

// TestCutAfterContent keeps what came, and replays nothing.
func TestCutAfterContent(t *testing.T) {
	for _, fault := range []string{"{fault: reset-mid-body, after: 20}", "{fault: eof-after-content, after: 20}"} {
		r := newRig(t, rigOptions{}, "{answer: {tokens: 40}, always: "+fault+"}", "{}")
		s, d, err := r.ask(t.Context(), true)
		u := upstreamError(t, err)
		got := s.read(t, true)
		if !u.Committed || got.Done || got.Finish != "" || got.Chunks < 20 {
			t.Errorf("%s: error %+v, reply %+v", fault, u, got)
		}
		if n := r.fake.Calls("b"); n != 0 || !d.Result.Truncated || r.stats("a").FailuresInRow != 1 {
			t.Errorf("%s: %d calls of b, result %+v, health %+v", fault, n, d.Result, r.stats("a"))
		}
	}
}

// TestUsageIsNotAddedUp takes the last of several counts.
func TestUsageIsNotAddedUp(t *testing.T) {
	r := newRig(t, rigOptions{}, "{answer: {usage: {completion: 20}}, always: usage-repeated}", "{}")
	_, d, err := r.ask(t.Context(), true)
	if err != nil || d.Result.Usage.Output != 20 {
		t.Errorf("usage %+v, %v", d.Result.Usage, err)
	}
}

// TestUsageIsAskedFor lets the client see usage only if it asked, while the
// gateway always knows it.
func TestUsageIsAskedFor(t *testing.T) {
	for _, asked := range []bool{false, true} {
		r := newRig(t, rigOptions{}, "{}", "{}")
		body := strings.Replace(requestBody(true), `"stream":true`, fmt.Sprintf(`"stream":true,"stream_options":{"include_usage":%v}`, asked), 1)
		s, d, err := r.serve(t.Context(), request(t, wire.Chat, body, nil))
		if err != nil || !d.Result.Usage.Known {
			t.Fatalf("usage %+v, %v", d.Result.Usage, err)
		}
		if got := s.read(t, true); got.Usage != asked {
			t.Errorf("asked %v, got %v", asked, got.Usage)
		}
		if sent := string(r.fake.Requests("a")[0].Body); !strings.Contains(sent, `"include_usage":true`) {
			t.Errorf("upstream was not asked: %s", sent)
		}
	}
}

// TestCooldown leaves a deployment alone for as long as it asked, and says how
// long when all did.
func TestCooldown(t *testing.T) {
	r := newRig(t, rigOptions{}, `always: {fault: http-429, retry_after: "30"}`, `always: {fault: http-429, retry_after: "12"}`)
	_, _, err := r.ask(t.Context(), false)
	if u := upstreamError(t, err); u.Status != 429 || u.RetryAfter != "12" {
		t.Errorf("error %+v", u)
	}
	for id, want := range map[string]time.Duration{"a": 30 * time.Second, "b": 12 * time.Second} {
		left := time.Until(r.stats(id).CooldownUntil)
		if left > want || left < want-10*time.Second {
			t.Errorf("%s cools down for %v more, want about %v", id, left, want)
		}
	}
}

// TestServiceUnavailable passes a Retry-After of a 503 on, and cools nothing.
func TestServiceUnavailable(t *testing.T) {
	r := newRig(t, rigOptions{}, `always: {fault: http-503, retry_after: "9"}`, `always: {fault: http-503, retry_after: "9"}`)
	_, _, err := r.ask(t.Context(), false)
	if u := upstreamError(t, err); u.Status != 503 || u.RetryAfter != "9" {
		t.Errorf("error %+v", u)
	}
}

// TestRefusal takes another model when a chain says so.
func TestRefusal(t *testing.T) {
	for _, fault := range []string{"refusal", "filtered", "content-filter"} {
		for _, streams := range []bool{false, true} {
			o := rigOptions{chains: map[engine.Chain][]string{engine.ChainContent: {"other"}}}
			r := newRig(t, o, "always: "+fault, "{}")
			s, d, err := r.ask(t.Context(), streams)
			if err != nil || attempts(d) != "a:content_policy b:ok" {
				t.Errorf("%s, stream %v: %s, %v", fault, streams, attempts(d), err)
				continue
			}
			if got := s.read(t, streams); got.Model != "other" || got.Text != "this is upstream b speaking" {
				t.Errorf("%s, stream %v: reply %+v", fault, streams, got)
			}
		}
	}
}

// TestHeaders checks what each side sees of the other.
func TestHeaders(t *testing.T) {
	configured := http.Header{"X-Team": {"llm"}}
	a := `{answer: {text: fine}, always: {fault: http-200, headers: {Set-Cookie: "s=1", Server: "up", X-Powered-By: "y", Openai-Processing-Ms: "12",
		X-Ratelimit-Remaining-Requests: "7", Anthropic-Version: "z", X-Request-Id: "req-of-upstream", X-Gatewright-Deployment: "forged"}}}`
	r := newRig(t, rigOptions{config: func(_ string, c *Config) { c.Header = configured }}, a, "{}")
	client := http.Header{
		"Authorization": {"Bearer client-key"}, "X-Api-Key": {"client-key"}, "Api-Key": {"client-key"}, "Cookie": {"c=1"},
		"Proxy-Authorization": {"x"}, "X-Forwarded-For": {"10.0.0.1"}, "X-Gatewright-Session": {"s"}, "User-Agent": {"client/1"},
		"Accept-Encoding": {"zstd"}, "Openai-Organization": {"org-of-client"}, "Idempotency-Key": {"k"}, "X-Team": {"client"},
		"Openai-Beta": {"assistants=v2"}, "Traceparent": {"00-1-1-00"}, "Tracestate": {"v=1"},
	}
	s, d, err := r.serve(t.Context(), request(t, wire.Chat, requestBody(false), client))
	if err != nil {
		t.Fatal(err)
	}
	sent := r.fake.Requests("a")[0].Header
	sent.Del("Content-Length")
	want := map[string]string{
		"Authorization": "Bearer " + secretKey, "Content-Type": "application/json", "Accept": "application/json",
		"User-Agent": "gatewright", "X-Team": "llm", "Openai-Beta": "assistants=v2", "Traceparent": "00-1-1-00", "Tracestate": "v=1",
	}
	for name, value := range want {
		if got := sent.Get(name); got != value {
			t.Errorf("upstream sees %s: %q, want %q", name, got, value)
		}
	}
	for name := range sent {
		if want[name] == "" {
			t.Errorf("upstream sees %s: %q", name, sent[name])
		}
	}
	passed := []string{"Content-Type", "Content-Length", "Openai-Processing-Ms", "Openai-Version", "X-Ratelimit-Remaining-Requests", "Anthropic-Version"}
	if len(s.answer.Header) != len(passed) {
		t.Errorf("client sees %v", s.answer.Header)
	}
	for _, name := range passed {
		if len(s.answer.Header[name]) != 1 {
			t.Errorf("client does not see %s", name)
		}
	}
	if got := d.Attempts[0].UpstreamRequestID; got != "req-of-upstream" {
		t.Errorf("upstream's request id %q", got)
	}
}

// TestNoCredential sends none rather than the client's.
func TestNoCredential(t *testing.T) {
	r := newRig(t, rigOptions{config: func(_ string, c *Config) { c.Keys = nil }}, "{}", "{}")
	client := http.Header{"Authorization": {"Bearer client-key"}, "X-Api-Key": {"client-key"}}
	if _, _, err := r.serve(t.Context(), request(t, wire.Chat, requestBody(false), client)); err != nil {
		t.Fatal(err)
	}
	for name, values := range r.fake.Requests("a")[0].Header {
		if strings.Contains(fmt.Sprint(values), "client-key") {
			t.Errorf("upstream sees %s: %s", name, values)
		}
	}
}

// TestKeysTakeTurns uses the keys of a provider one after the other.
func TestKeysTakeTurns(t *testing.T) {
	var keys []*provider.Credential
	for _, k := range []string{"key-one", "key-two", "key-three"} {
		c, err := provider.NewCredential("api-key", "", k)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, c)
	}
	ring := provider.NewKeyring(keys...)
	r := newRig(t, rigOptions{config: func(_ string, c *Config) { c.Keys = ring }}, "{}", "{}")
	for range 6 {
		if _, _, err := r.ask(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, seen := range r.fake.Requests("a") {
		got = append(got, seen.Header.Get("Api-Key"))
	}
	if want := "key-one key-two key-three key-one key-two key-three"; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}

// TestSecretsStayHere lets an upstream echo what it was called with.
func TestSecretsStayHere(t *testing.T) {
	// None of the three looks like a secret.
	const inURL, inHeader, inKey = "swallows-in-the-url", "swallows-in-a-header", "swallows-in-the-key"
	said := `message: "no ` + inURL + `, ` + inHeader + `, ` + inKey + `", code: "` + inKey + `", type: "` + inURL + `"`
	echo := `always: {fault: http-404, ` + said + `}`
	wrong := `always: {fault: http-400, ` + said + `}`
	key, err := provider.NewCredential("Authorization", "Bearer ", inKey)
	if err != nil {
		t.Fatal(err)
	}
	config := func(_ string, c *Config) {
		c.BaseURL += "?key=" + url.QueryEscape(inURL)
		c.Header = http.Header{"X-Secret": {inHeader}}
		c.Keys = provider.NewKeyring(key)
	}
	for name, a := range map[string]string{"not found": echo, "bad request": wrong} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{config: config}, a, a)
			_, d, err := r.ask(t.Context(), false)
			all := fmt.Sprintf("%+v %+v", upstreamError(t, err), d.Attempts)
			if strings.Contains(all, "swallows") {
				t.Errorf("a secret is in %s", all)
			}
			if got := r.fake.Requests("a")[0].Query; !strings.Contains(got, inURL) {
				t.Errorf("query %q", got)
			}
		})
	}
}

// TestSecretsInHeaders leaves headers out that repeat a secret, of good answers
// and of errors.
func TestSecretsInHeaders(t *testing.T) {
	const secret = "swallows-in-the-key"
	key, err := provider.NewCredential("Authorization", "Bearer ", secret)
	if err != nil {
		t.Fatal(err)
	}
	config := func(_ string, c *Config) { c.Keys = provider.NewKeyring(key) }
	for _, status := range []string{"http-200", "http-429"} {
		a := `always: {fault: ` + status + `, headers: {X-Ratelimit-Key: "Bearer ` + secret + `", Openai-Organization: fine}}`
		r := newRig(t, rigOptions{config: config}, a, a)
		s, _, err := r.ask(t.Context(), false)
		h := http.Header(s.answer.Header)
		if err != nil {
			h = upstreamError(t, err).Header
		}
		if got := fmt.Sprint(h); strings.Contains(got, "swallows") || h.Get("Openai-Organization") != "fine" {
			t.Errorf("%s: headers %s", status, got)
		}
	}
}

// TestClientLeaves closes the upstream's connection at once, in every phase.
func TestClientLeaves(t *testing.T) {
	const within = 100 * time.Millisecond
	cases := []struct {
		name, fault string
		streams     bool
	}{
		{name: "before the headers", fault: "silent"},
		{name: "before the headers of a stream", fault: "silent", streams: true},
		{name: "before the body", fault: "stall-after-headers"},
		{name: "before the first token", fault: "{fault: stall, after: 0}", streams: true},
		{name: "in the middle", fault: "{fault: stall, after: 3}", streams: true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			long := engine.Timeouts{FirstToken: time.Minute, Idle: time.Minute, Answer: time.Minute}
			r := newRig(t, rigOptions{timeouts: long}, "always: "+tc.fault, "{}")
			ctx, cancel := context.WithCancel(t.Context())
			var left atomic.Int64
			go func() {
				for r.fake.InFlight("a") == 0 {
					<-time.After(time.Millisecond)
				}
				<-time.After(20 * time.Millisecond) // the upstream has sent what it will send
				left.Store(time.Now().UnixNano())
				cancel()
			}()
			_, d, err := r.ask(ctx, tc.streams)
			if !errors.Is(err, context.Canceled) || attempts(d) != "a:cancelled" || !d.Result.Cancelled {
				t.Errorf("got %v, %s", err, attempts(d))
			}
			deadline := time.Unix(0, left.Load()).Add(10 * within) // the goal is one; a loaded machine gets ten
			for r.fake.InFlight("a") > 0 && time.Now().Before(deadline) {
				<-time.After(time.Millisecond)
			}
			if n := r.fake.InFlight("a"); n != 0 || !r.fake.Requests("a")[0].Cancelled {
				t.Errorf("the upstream still has %d requests", n)
			}
			if s := r.stats("a"); s.FailuresInRow != 0 || s.Failed != 0 || s.InFlight != 0 || r.fake.Calls("b") != 0 {
				t.Errorf("health %+v", s)
			}
		})
	}
}

// TestAzure uses Azure's paths, header and version.
func TestAzure(t *testing.T) {
	key, err := provider.NewCredential("api-key", "", "azure-key-0123")
	if err != nil {
		t.Fatal(err)
	}
	o := rigOptions{config: func(_ string, c *Config) {
		c.BaseURL = strings.TrimSuffix(c.BaseURL, "/v1")
		c.DeploymentPaths, c.APIVersion, c.Model, c.Keys = true, "2024-10-21", "my gpt-4o", provider.NewKeyring(key)
	}}
	r := newRig(t, o, "{api_key: azure-key-0123, always: prelude}", "{}")
	s, d, err := r.ask(t.Context(), true)
	if err != nil || attempts(d) != "a:ok" {
		t.Fatalf("%s, %v", attempts(d), err)
	}
	if got := s.read(t, true); got.Model != publicModel || !got.Done {
		t.Errorf("reply %+v", got)
	}
	seen := r.fake.Requests("a")[0]
	if seen.Query != "api-version=2024-10-21" || seen.Header.Get("Authorization") != "" || !strings.HasPrefix(seen.Path, "/openai/deployments/") {
		t.Errorf("path %s, query %s, headers %v", seen.Path, seen.Query, seen.Header)
	}
}

// TestOtherEndpoints serves completions and embeddings.
func TestOtherEndpoints(t *testing.T) {
	cases := []struct {
		endpoint wire.Endpoint
		body     string
		path     string
	}{
		{wire.Completions, `{"model":"public-model","prompt":"say"}`, "/v1/completions"},
		{wire.Completions, `{"model":"public-model","prompt":"say","stream":true}`, "/v1/completions"},
		{wire.Embeddings, `{"model":"public-model","input":"hello"}`, "/v1/embeddings"},
	}
	for _, tc := range cases {
		r := newRig(t, rigOptions{}, "{}", "{}")
		s, d, err := r.serve(t.Context(), request(t, tc.endpoint, tc.body, nil))
		if err != nil || !d.Result.Usage.Known {
			t.Fatalf("%s: %v, usage %+v", tc.body, err, d.Result.Usage)
		}
		if out := s.out.String(); !strings.Contains(out, `"model":"public-model"`) || strings.Contains(out, "up-model") {
			t.Errorf("%s: %s", tc.body, out)
		}
		if got := r.fake.Requests("a")[0].Path; got != tc.path {
			t.Errorf("path %s, want %s", got, tc.path)
		}
	}
}

// TestHammer sends many requests at once to upstreams that fail in every way,
// and looks for a wrong answer.
func TestHammer(t *testing.T) {
	b := "{answer: {text: fine}, fail: {rate: 60%, with: [http-500, http-429, http-400, html, empty, choices-null, reset, close, error-200," +
		"error-first, eof-after-role, {fault: reset-mid-body, after: 1}, content-then-error, no-done, sse-for-json, json-for-stream, gzip, refusal]}}"
	long := engine.Timeouts{FirstToken: 30 * time.Second, Idle: 30 * time.Second, Answer: 30 * time.Second}
	r := newRig(t, rigOptions{timeouts: long, retry: engine.RetryPolicy{MaxAttempts: 2}}, b, b)
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 25 {
				streams := (worker+i)%2 == 0
				s, d, err := r.ask(t.Context(), streams)
				_, failed := errors.AsType[*engine.UpstreamError](err)
				switch {
				case err != nil && !failed:
					t.Errorf("%s: %v", attempts(d), err)
				case err == nil && s.read(t, streams).Finish == "":
					t.Errorf("%s: an answer without a finish: %s", attempts(d), s.out.String())
				case len(d.Attempts) > engine.MaxAttempts:
					t.Errorf("%d attempts", len(d.Attempts))
				}
			}
		})
	}
	wait.Wait()
	for _, id := range []string{"a", "b"} {
		if n := r.stats(id).InFlight; n != 0 {
			t.Errorf("%s: %d in flight", id, n)
		}
	}
}
