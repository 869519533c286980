package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// simulator is a running `gatewright simulate`.
type simulator struct {
	*process
	names []string // of its upstreams
}

// simulate starts upstreams a, b, c and d that serve anything, at once.
func simulate(t *testing.T) simulator {
	t.Helper()
	return simulateScript(t, "seed: 7\nupstreams: {a: {}, b: {}, c: {}, d: {}}\n", "a", "b", "c", "d")
}

// simulateScript starts the upstreams of a script; names are all of them.
func simulateScript(t *testing.T, script string, names ...string) simulator {
	t.Helper()
	return simulator{start(t, "simulate", "--listen", "127.0.0.1:0", write(t, "sim.yaml", script)), names}
}

// behave gives an upstream a new behaviour, as YAML.
func (s simulator) behave(name, behaviour string) {
	s.t.Helper()
	if got := post(s.t, s.url("/_sim/upstreams/"+name), behaviour); got.status != http.StatusOK {
		s.t.Fatalf("set the behaviour of %s: %d %s", name, got.status, got.body)
	}
}

// upstream is what the simulator tells of one upstream. Requests, the newest, are
// told by seen alone.
type upstream struct {
	Calls     int
	InFlight  int `json:"in_flight"`
	Cancelled int
	Faults    map[string]int
	Requests  []struct {
		Time       time.Time
		DurationMS float64 `json:"duration_ms"`
		Cancelled  bool
		Finished   bool
		Stream     bool
	}
}

// state returns the counts of every upstream.
func (s simulator) state() map[string]upstream {
	s.t.Helper()
	var state struct{ Upstreams map[string]upstream }
	s.get("/_sim/state", &state)
	return state.Upstreams
}

// seen returns one upstream with its newest requests.
func (s simulator) seen(name string) (u upstream) {
	s.t.Helper()
	s.get("/_sim/upstreams/"+name, &u)
	return u
}

func (s simulator) get(path string, into any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url(path), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		s.t.Fatalf("GET %s: %v", path, err)
	}
}

// calls returns how many requests each upstream has had so far.
func (s simulator) calls() map[string]int {
	s.t.Helper()
	out := map[string]int{}
	for name, u := range s.state() {
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
	for _, name := range s.names {
		if n := after[name] - before[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", name, n))
		}
	}
	return strings.Join(parts, " ")
}

// config is a configuration with every upstream of the simulator as a provider,
// and the rest as given.
func (s simulator) config(rest string) string {
	var b strings.Builder
	b.WriteString("listen: 127.0.0.1:0\nproviders:\n")
	for _, name := range s.names {
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

// unique is a text that nobody has asked before.
func unique() string { return fmt.Sprintf("question %d", questions.Add(1)) }

// question is a chat request for m; members are put in front of the messages.
func question(members string) string {
	return fmt.Sprintf(`{"model": "m", %s "messages": [{"role": "user", "content": %q}]}`, members, unique())
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
