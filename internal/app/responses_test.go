package app

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"gatewright/internal/provider/fake"
)

const responsesRest = `
models:
  m:
    deployments:
      - {provider: a, endpoints: [chat, responses, responses_input_tokens]}
      - {provider: b, endpoints: [chat, responses, responses_input_tokens]}
  n: {deployments: [{provider: a, endpoints: [responses]}, {provider: b, endpoints: [responses]}]}
  chat-only: {deployments: [{provider: b, endpoints: [chat]}]}
  translated: {deployments: [b]}
keys:
  alice: {secret: "${ALICE}", expose_routing: true}
  bob: {secret: "${BOB}", expose_routing: true}
`

// asked is what came of a request.
type asked struct {
	status     int
	deployment string
	id, code   string
	text       string
}

// ask sends a request of a key; of JSON in the answer the id and the code of an
// error are read.
func ask(t *testing.T, address, key, method, path, body string) asked {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-long-value-of-"+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		ID    string
		Error *struct{ Code string }
	}
	_ = json.Unmarshal(text, &out) // a stream is none
	a := asked{status: resp.StatusCode, deployment: resp.Header.Get("X-Gatewright-Deployment"), id: out.ID, text: string(text)}
	if out.Error != nil {
		a.code = out.Error.Code
	}
	return a
}

// TestResponsesStayWithTheirOwner continues an answer at the deployment that
// made it, through a restart, and shows it to nobody else.
func TestResponsesStayWithTheirOwner(t *testing.T) {
	upstreams, address := upstream(t)
	dir := t.TempDir()
	text := strings.Replace(configOf(address, responsesRest), "models: {m: {deployments: [a, b]}}\n", "", 1)
	gateway, stop := run(t, Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: dir})

	// a comes first, and b made the answer.
	if err := upstreams.Set("a", fake.Behaviour{Always: fake.Fault{Name: "http-503"}}); err != nil {
		t.Fatal(err)
	}
	first := ask(t, gateway, "ALICE", "POST", "/v1/responses", `{"model":"m","input":"hello"}`)
	if first.status != http.StatusOK || first.deployment != "b/m" || first.id == "" {
		t.Fatalf("first %+v", first)
	}
	if err := upstreams.Set("a", fake.Behaviour{}); err != nil {
		t.Fatal(err)
	}
	check := func(when, gateway string) {
		t.Helper()
		next := `{"model":"m","input":"more","previous_response_id":"` + first.id + `"}`
		calls := upstreams.Calls("a")
		for _, tc := range []struct{ method, path, body, owner string }{
			{"POST", "/v1/responses", next, "b/m"},
			{"POST", "/v1/responses/input_tokens", next, "b/m"},
			{"POST", "/v1/responses", strings.Replace(next, `"m"`, `"n"`, 1), "b/n"},
			{"GET", "/v1/responses/" + first.id, "", "b/m"},
			{"GET", "/v1/responses/" + first.id + "?stream=true", "", "b/m"},
			{"GET", "/v1/responses/" + first.id + "/input_items", "", "b/m"},
		} {
			if got := ask(t, gateway, "ALICE", tc.method, tc.path, tc.body); got.status != http.StatusOK || got.deployment != tc.owner {
				t.Errorf("%s: %s %s: %+v", when, tc.method, tc.path, got)
			}
		}
		for path, want := range map[string]string{"/v1/responses": "previous_response_not_found", "/v1/responses/input_tokens": "previous_response_not_found"} {
			if got := ask(t, gateway, "BOB", "POST", path, next); got.status != http.StatusNotFound || got.code != want {
				t.Errorf("%s: another key at %s: %+v", when, path, got)
			}
		}
		for _, method := range []string{"GET", "DELETE"} {
			if got := ask(t, gateway, "BOB", method, "/v1/responses/"+first.id, ""); got.status != http.StatusNotFound || got.code != "response_not_found" {
				t.Errorf("%s: another key's %s: %+v", when, method, got)
			}
		}
		if n := upstreams.Calls("a"); n != calls {
			t.Errorf("%s: a was called %d times", when, n-calls)
		}
	}
	check("at first", gateway)
	stop()
	gateway, stop = run(t, Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: dir})
	check("after a restart", gateway)

	// A broken owner is asked all the same, and nobody instead of it.
	if err := upstreams.Set("b", fake.Behaviour{Always: fake.Fault{Name: "http-500"}}); err != nil {
		t.Fatal(err)
	}
	for range 5 { // its circuit opens on the way
		if got := ask(t, gateway, "ALICE", "GET", "/v1/responses/"+first.id, ""); got.status != http.StatusInternalServerError {
			t.Errorf("with a broken owner: %+v", got)
		}
	}
	if err := upstreams.Set("b", fake.Behaviour{}); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, gateway, "ALICE", "DELETE", "/v1/responses/"+first.id, ""); got.status != http.StatusOK {
		t.Errorf("deleted: %+v", got)
	}
	if got := ask(t, gateway, "ALICE", "GET", "/v1/responses/"+first.id, ""); got.status != http.StatusNotFound || got.code != "response_not_found" {
		t.Errorf("after that: %+v", got)
	}
	if got := ask(t, gateway, "ALICE", "POST", "/v1/responses", `{"model":"chat-only","input":"x"}`); got.status != http.StatusForbidden || got.code != "no_eligible_candidate" {
		t.Errorf("where nobody serves responses: %+v", got)
	}
	stop()
}

// TestTranslatedResponses: an upstream without Responses serves what holds the whole
// conversation. It keeps nothing, so what it answers pins nobody.
func TestTranslatedResponses(t *testing.T) {
	_, address := upstream(t)
	text := strings.Replace(configOf(address, responsesRest), "models: {m: {deployments: [a, b]}}\n", "", 1)
	gateway, stop := run(t, Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: t.TempDir()})
	defer stop()
	const whole = `{"model":"translated","input":[{"type":"message","id":"msg_1","role":"user","content":"hello"}]}`
	got := ask(t, gateway, "ALICE", "POST", "/v1/responses", whole)
	if got.status != http.StatusOK || got.deployment != "b/translated" || !strings.Contains(got.text, `"store":false`) {
		t.Errorf("a whole conversation: %+v", got)
	}
	const kept = `{"model":"translated","input":"and now?","background":true}`
	if got := ask(t, gateway, "ALICE", "POST", "/v1/responses", kept); got.status != http.StatusForbidden || got.code != "no_eligible_candidate" {
		t.Errorf("what only the protocol's own can serve: %+v", got)
	}
	if got := ask(t, gateway, "ALICE", "GET", "/v1/responses/"+got.id, ""); got.status != http.StatusNotFound || got.code != "response_not_found" {
		t.Errorf("the answer that nobody keeps: %+v", got)
	}
	if got := ask(t, gateway, "ALICE", "POST", "/v1/responses/input_tokens", whole); got.status != http.StatusOK || !strings.Contains(got.text, `"object":"response.input_tokens","input_tokens":`) {
		t.Errorf("its tokens: %+v", got)
	}
}

// TestOwnersThatAreRemoved: the caller gets the reason, for a time or for good.
func TestOwnersThatAreRemoved(t *testing.T) {
	upstreams, address := upstream(t)
	text := strings.Replace(configOf(address, responsesRest), "models: {m: {deployments: [a, b]}}\n", "", 1)
	dir := t.TempDir()
	gateway, stop := run(t, Options{File: parse(t, text), Logger: slog.New(slog.DiscardHandler), DataDir: dir})
	first := ask(t, gateway, "ALICE", "POST", "/v1/responses", `{"model":"m","input":"hello"}`)
	if first.deployment != "a/m" {
		t.Fatalf("first %+v", first)
	}
	next := `{"model":"m","input":"more","previous_response_id":"` + first.id + `"}`
	if err := upstreams.Set("a", fake.Behaviour{Always: fake.Fault{Name: "http-429", RetryAfter: []string{"30"}}}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first sets the cooldown, the second meets it
		if got := ask(t, gateway, "ALICE", "POST", "/v1/responses", next); got.status != http.StatusTooManyRequests {
			t.Errorf("a cooling owner: %+v", got)
		}
	}
	stop()
	off := strings.Replace(text, "priority: 1}", "priority: 1, enabled: false}", 1)
	gateway, stop = run(t, Options{File: parse(t, off), Logger: slog.New(slog.DiscardHandler), DataDir: dir})
	if got := ask(t, gateway, "ALICE", "POST", "/v1/responses", next); got.status != http.StatusForbidden || got.code != "no_eligible_candidate" {
		t.Errorf("an owner that is off: %+v", got)
	}
	if got := ask(t, gateway, "ALICE", "GET", "/v1/responses/"+first.id, ""); got.status != http.StatusForbidden {
		t.Errorf("an owner that is off, asked for the answer: %+v", got)
	}
	stop()
	if n := upstreams.Calls("b"); n != 0 {
		t.Errorf("b was called %d times", n)
	}
}
