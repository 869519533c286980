package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// simulator is a running `gatewright simulate`.
type simulator struct{ *process }

// simulate starts upstreams a, b and c that serve anything, at once.
func simulate(t *testing.T) simulator {
	t.Helper()
	script := "seed: 7\nupstreams: {a: {}, b: {}, c: {}, d: {}}\n"
	return simulator{start(t, "simulate", "--listen", "127.0.0.1:0", write(t, "sim.yaml", script))}
}

// behave gives an upstream a new behaviour, as YAML.
func (s simulator) behave(name, behaviour string) {
	s.t.Helper()
	if got := post(s.t, s.url("/_sim/upstreams/"+name), behaviour); got.status != http.StatusOK {
		s.t.Fatalf("set the behaviour of %s: %d %s", name, got.status, got.body)
	}
}

// calls returns how many requests each upstream has had so far.
func (s simulator) calls() map[string]int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url("/_sim/state"), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var state struct {
		Upstreams map[string]struct{ Calls int }
	}
	if err := json.Unmarshal(text, &state); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	out := map[string]int{}
	for name, u := range state.Upstreams {
		out[name] = u.Calls
	}
	return out
}

// during returns how many calls each upstream got while f ran; upstreams
// without a call are left out.
func (s simulator) during(f func()) string {
	s.t.Helper()
	before := s.calls()
	f()
	after := s.calls()
	var parts []string
	for _, name := range []string{"a", "b", "c", "d"} {
		if n := after[name] - before[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", name, n))
		}
	}
	return strings.Join(parts, " ")
}

// config is a configuration with providers a to d at the simulator, and the
// rest as given.
func (s simulator) config(rest string) string {
	var b strings.Builder
	b.WriteString("listen: 127.0.0.1:0\nproviders:\n")
	for _, name := range []string{"a", "b", "c", "d"} {
		fmt.Fprintf(&b, "  %s: {protocol: openai, base_url: \"http://%s/%s/v1\", auth: none}\n", name, s.address, name)
	}
	return b.String() + rest
}

// gateway starts a gateway with the configuration; dir keeps its data.
func gateway(t *testing.T, path, dir string) *process {
	t.Helper()
	return start(t, "serve", "--config", path, "--data-dir", dir)
}

// questions counts what was asked, so that each question begins another
// conversation: one that begins alike would be the same session.
var questions atomic.Int64

// question is a chat request for m; members are put in front of the messages.
func question(members string) string {
	return fmt.Sprintf(`{"model": "m", %s "messages": [{"role": "user", "content": "question %d"}]}`, members, questions.Add(1))
}

// ask sends a chat request for m and returns the deployment that served, or
// the status and the error code.
func ask(t *testing.T, gw *process, headers ...string) string {
	t.Helper()
	return askBody(t, gw, question(""), headers...)
}

func askBody(t *testing.T, gw *process, body string, headers ...string) string {
	t.Helper()
	got := post(t, gw.url("/v1/chat/completions"), body, headers...)
	if got.status == http.StatusOK {
		return got.header.Get("X-Gatewright-Deployment")
	}
	return fmt.Sprintf("%d %s", got.status, got.errorCode(t))
}
