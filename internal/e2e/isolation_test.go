package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The credentials of this test. Canary stands in everything that a client sends
// and no upstream may see.
const (
	clientKey = "sk-client-canary"
	canary    = "canary"
)

// witness is an upstream that writes down what it was sent.
type witness struct {
	server *httptest.Server
	fails  bool

	mu   sync.Mutex
	seen []string // as sent: URL, headers, body
	head []http.Header
}

func newWitness(t *testing.T, fails bool) *witness {
	t.Helper()
	w := &witness{fails: fails}
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	return w
}

// ServeHTTP implements [http.Handler].
func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what has come is written down
	w.mu.Lock()
	w.seen = append(w.seen, fmt.Sprintf("%s %s\n%v\n%s", r.Host, r.URL, r.Header, body))
	w.head = append(w.head, r.Header.Clone())
	w.mu.Unlock()
	out.Header().Set("Content-Type", "application/json")
	if w.fails {
		out.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprint(out, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)
}

// take returns what came since the last time.
func (w *witness) take() (seen []string, head []http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen, head, w.seen, w.head = w.seen, w.head, nil, nil
	return seen, head
}

// TestCredentialIsolation sends random headers, with secrets in places where
// they are and where they are not expected: each upstream sees its own
// credential and what is allowed to pass, also the one that is failed over to.
func TestCredentialIsolation(t *testing.T) {
	t.Parallel()
	r := dice(seed(t), 4)
	first, second, open := newWitness(t, true), newWitness(t, false), newWitness(t, false)
	gw := gateway(t, write(t, "g.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
providers:
  first: {protocol: openai, base_url: %q, api_key: sk-first, priority: 1}
  second: {protocol: openai, base_url: %q, api_key: sk-second, headers: {X-Team: llm}}
  open: {protocol: openai, base_url: %q, auth: none}
models:
  m: {deployments: [first, second]}
  o: {deployments: [open]}
router: {retry_policy: {max_attempts: 1, timeout_seconds: 10, failure_threshold: 0, cooldown_seconds: 60}}
keys: {test: {secret: %s}}
`, first.server.URL+"/v1", second.server.URL+"/v1", open.server.URL+"/v1", clientKey)), t.TempDir())
	clients := newCaller(t, gw, 1)
	sets, served := either(500, 10_000), 0
	for i := range sets {
		model := "m"
		if i%4 == 0 {
			model = "o"
		}
		headers := randomHeaders(r)
		got := clients.send(t, say(model, "hello", false), headers)
		switch {
		case got.status == http.StatusOK:
			served++
		case got.status != http.StatusBadRequest: // a value of ours that is not understood
			t.Fatalf("status %d: %s\nheaders %q", got.status, got.body, headers)
		}
		for _, w := range []struct {
			*witness
			credential string
		}{{first, "Bearer sk-first"}, {second, "Bearer sk-second"}, {open, ""}} {
			seen, heads := w.take()
			for k, text := range seen {
				if strings.Contains(text, canary) || heads[k].Get("Authorization") != w.credential {
					t.Fatalf("an upstream with the credential %q was sent\n%s\nthe client had sent %q", w.credential, text, headers)
				}
				for name := range heads[k] {
					if !strings.Contains(mayPass, " "+name+" ") {
						t.Fatalf("an upstream was sent the header %s: %q", name, heads[k][name])
					}
				}
			}
		}
	}
	t.Logf("%d sets of headers, %d requests served", sets, served)
	if served < sets*9/10 {
		t.Errorf("%d of %d requests were served: the headers spoil the test", served, sets)
	}
	if strings.Contains(gw.log(), clientKey) || strings.Contains(gw.log(), "sk-first") {
		t.Errorf("a key is in the log:\n%s", gw.log())
	}
}

// mayPass is all that an upstream may be sent.
const mayPass = " Accept Authorization Content-Length Content-Type Openai-Beta Traceparent Tracestate User-Agent X-Team "

// pair is one header as the client writes it, in any case.
type pair struct{ name, value string }

// send sends headers as they are, beside the client's key.
func (c *caller) send(t *testing.T, body string, headers []pair) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+clientKey)
	for _, h := range headers {
		req.Header[h.name] = append(req.Header[h.name], h.value) // not in its canonical form
	}
	resp, err := c.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// randomHeaders are some headers that clients, proxies and attackers send.
func randomHeaders(r *rand.Rand) []pair {
	known := []string{
		"X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization", "Proxy-Connection", "X-Forwarded-For", "X-Forwarded-Host",
		"X-Forwarded-Proto", "Forwarded", "Via", "X-Real-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Openai-Organization", "Openai-Project",
		"Anthropic-Version", "Anthropic-Beta", "X-Gatewright-Session", "X-Gatewright-Deployment", "X-Request-Id", "X-Client-Request-Id",
		"X-Internal-Token", "Idempotency-Key", "Referer", "X-Session-Id", "Session-Id", "X-Amz-Security-Token", "Authorization-Upstream",
		"X-Authorization", "Accept-Language", "Te", "Trailer", "Keep-Alive", "Range", "If-None-Match", "Cache-Control", "X-Team", "User-Agent", "Baggage",
	}
	var out []pair
	for range 1 + r.IntN(12) {
		name := known[r.IntN(len(known))]
		if r.IntN(3) == 0 {
			name = token(r)
		}
		out = append(out, pair{anyCase(r, name), canary + "-" + token(r)})
	}
	if r.IntN(3) == 0 { // what stands in Connection is for this hop alone
		out = append(out, pair{"Connection", out[0].name})
	}
	if r.IntN(5) == 0 { // what may pass
		out = append(out, pair{"Openai-Beta", "assistants=v2"}, pair{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	}
	return out
}

// token is a random name.
func token(r *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	b := make([]byte, 2+r.IntN(20))
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return "x" + string(b)
}

func anyCase(r *rand.Rand, name string) string {
	b := []byte(strings.ToLower(name))
	for i := range b {
		if r.IntN(2) == 0 {
			b[i] = strings.ToUpper(name)[i]
		}
	}
	return string(b)
}
