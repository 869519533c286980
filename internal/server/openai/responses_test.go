package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/internal/server/openai"
	oai "gatewright/internal/wire/openai"
	wire "gatewright/internal/wire/responses"
)

// owners knows who issued what, by the caller's key, kind and id. It is written
// before requests come.
type owners map[string]string

var _ openai.Owners = owners(nil)

func ownerKey(key string, i engine.Issue) string { return fmt.Sprintf("%s %d %q", key, i.Kind, i.ID) }

// Find implements [openai.Owners].
func (o owners) Find(c *engine.Caller, i engine.Issue) (string, bool) {
	d, ok := o[ownerKey(c.Key, i)]
	return d, ok
}

// Claimed implements [openai.Owners].
func (o owners) Claimed(i engine.Issue) bool {
	_, ok := o[ownerKey("", i)]
	return ok
}

// put says that a deployment issued something to the callers of a key.
func (o owners) put(key, deployment string, i engine.Issue) { o[ownerKey(key, i)] = deployment }

// sealed is the fingerprint of an encrypted content.
func sealed(t *testing.T, content string) engine.Issue {
	t.Helper()
	found, err := wire.ScanRequest(wire.Create, []byte(`{"model":"m","input":[{"type":"reasoning","encrypted_content":"`+content+`"}]}`), 10)
	if err != nil || len(found.Owned.Encrypted) != 1 {
		t.Fatalf("%+v: %v", found, err)
	}
	return engine.Sealed(found.Owned.Encrypted[0])
}

const (
	answers = "/v1/responses"
	issuer  = "b/model-m"
)

// answer commits and says what was asked for.
func answer(_ context.Context, r *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
	d := p.Order[0].Deployment
	if err := sink.Commit(engine.Answer{Status: http.StatusOK, Deployment: d, Attempts: 1, Cost: engine.Unknown}); err != nil {
		return engine.Result{}, err
	}
	text := ""
	switch payload := r.Payload.(type) {
	case *wire.Payload:
		text = payload.Endpoint.String() + " " + string(payload.Body)
	case *oai.Stored:
		text = fmt.Sprintf("%s %s %s?%s", payload.Action.Method(), payload.ID, payload.Action.Suffix(), payload.Query.Encode())
	}
	_, err := io.WriteString(sink, text)
	return engine.Result{Status: http.StatusOK, Deployment: d.ID, Cost: engine.Unknown}, err
}

// TestResponsesClients sends what real clients sent.
func TestResponsesClients(t *testing.T) {
	for file, want := range map[string]want{
		"ai-sdk-openai-responses": {engine.EndpointResponses, false, 0, 0, "prompt_cache_key"},
		"codex-cli-responses":     {engine.EndpointResponses, true, engine.CapTools, 0, "prompt_cache_key"},
		"openai-go-responses":     {engine.EndpointResponses, false, 0, 0, "opening"},
		"openai-node-responses":   {engine.EndpointResponses, false, 0, 0, "prompt_cache_key"},
		"promptfoo-responses":     {engine.EndpointResponses, false, 0, 0, "opening"},
	} {
		t.Run(file, func(t *testing.T) {
			r := start(t, answer)
			rec := recordedFrom(t, "responses/clients/"+file+".json")
			body := withModel(t, rec.Request.Body, "m")
			var headers [][2]string
			for _, h := range rec.Request.Headers {
				if !strings.EqualFold(h[0], "Accept-Encoding") {
					headers = append(headers, h)
				}
			}
			status, _, got := r.do(rec.Request.Method, rec.Request.Path, keyAll, body, headers...)
			if status != http.StatusOK || got != "responses "+body {
				t.Fatalf("status %d, the executor saw %.200q", status, got)
			}
			q := r.last()
			if diff := cmp.Diff(want, wantOf(q)); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if q.Owner != "" || q.Async || q.Model != "m" || !q.Deadline.After(q.Now) {
				t.Errorf("request %+v", q)
			}
		})
	}
}

// TestResponsesRoutes leads each path to its endpoint.
func TestResponsesRoutes(t *testing.T) {
	r := start(t, answer)
	r.owners.put("all", issuer, engine.Issue{Kind: engine.IssueResponse, ID: "resp_1"})
	const body = `{"model":"m","stream":true,"background":true,"input":"hello there","tools":[{"type":"function","name":"f"}],` +
		`"text":{"format":{"type":"json_schema"}},"reasoning":{"effort":"low"},"max_output_tokens":7,"disable_fallbacks":true}`
	needs := engine.CapTools | engine.CapJSONSchema | engine.CapReasoning
	cases := []struct {
		method, path, body string
		endpoint           engine.Endpoint
		stream, async      bool
		needs              engine.Capabilities
		owner, got         string
	}{
		{"POST", answers, body, engine.EndpointResponses, true, true, needs, "", "responses " + body},
		{"POST", answers + "/compact", body, engine.EndpointCompact, false, false, needs, "", "compact " + body},
		{"POST", answers + "/input_tokens", body, engine.EndpointInputTokens, false, false, needs, "", "input_tokens " + body},
		{"GET", answers + "/resp_1?include[]=a&include[]=b", "", engine.EndpointStored, false, false, 0, issuer, "GET resp_1 ?include%5B%5D=a&include%5B%5D=b"},
		{"GET", answers + "/resp_1?stream=true&starting_after=3", "", engine.EndpointStored, true, false, 0, issuer, "GET resp_1 ?starting_after=3&stream=true"},
		{"GET", answers + "/resp_1?stream=false", "", engine.EndpointStored, false, false, 0, issuer, "GET resp_1 ?stream=false"},
		{"DELETE", answers + "/resp_1", "", engine.EndpointStored, false, false, 0, issuer, "DELETE resp_1 ?"},
		{"POST", answers + "/resp_1/cancel", "", engine.EndpointStored, false, false, 0, issuer, "POST resp_1 cancel?"},
		{"POST", answers + "/resp_1/cancel", "{}", engine.EndpointStored, false, false, 0, issuer, "POST resp_1 cancel?"},
		{"GET", answers + "/resp_1/input_items?order=asc", "", engine.EndpointStored, false, false, 0, issuer, "GET resp_1 input_items?order=asc"},
	}
	for _, tc := range cases {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			status, header, got := r.do(tc.method, tc.path, keyAll, tc.body)
			if status != http.StatusOK || got != tc.got {
				t.Fatalf("status %d: %s", status, got)
			}
			q := r.last()
			if q.Endpoint != tc.endpoint || q.Stream != tc.stream || q.Async != tc.async || q.Needs != tc.needs || q.Owner != tc.owner {
				t.Errorf("request %+v", q)
			}
			if tc.owner == "" && (q.MaxOutput != 7 || q.InputTokens == 0 || !q.DisableFallbacks || q.Session.Source != "opening") {
				t.Errorf("request %+v", q)
			}
			if kind := header.Get("Content-Type"); strings.HasPrefix(kind, "text/event-stream") != tc.stream {
				t.Errorf("content type %q", kind)
			}
		})
	}
	for _, tc := range []struct{ method, path, allow string }{
		{"POST", answers + "/resp_1", "DELETE, GET, HEAD"},
		{"GET", answers + "/resp_1/cancel", "POST"},
		{"DELETE", answers + "/resp_1/input_items", "GET, HEAD"},
	} {
		if status, header, _ := r.do(tc.method, tc.path, keyAll, ""); status != http.StatusMethodNotAllowed || header.Get("Allow") != tc.allow {
			t.Errorf("%s %s: status %d, allowed %q", tc.method, tc.path, status, header.Get("Allow"))
		}
	}
}

// TestCountingFollowsGeneration: counting draws the same order and remembers for
// the same affinity as generating.
func TestCountingFollowsGeneration(t *testing.T) {
	r := start(t, answer)
	const body = `{"model":"m","input":"hello","prompt_cache_key":"conversation"}`
	var seen []*engine.Request
	for _, path := range []string{answers, answers + "/input_tokens", answers + "/compact"} {
		if status, _, got := r.do("POST", path, keyAll, body); status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", path, status, got)
		}
		seen = append(seen, r.last())
	}
	for _, q := range seen[1:] {
		if q.Seed != seen[0].Seed || q.Session != seen[0].Session || q.Endpoint.Family() != seen[0].Endpoint.Family() {
			t.Errorf("%s: seed %d, session %v, family %s", q.Endpoint, q.Seed, q.Session, q.Endpoint.Family())
		}
	}
}

// TestOwners sends what an upstream can continue to the one that issued it, and
// nowhere what does not belong to the caller.
func TestOwners(t *testing.T) {
	response := func(id string) engine.Issue { return engine.Issue{Kind: engine.IssueResponse, ID: id} }
	item := func(id string) engine.Issue { return engine.Issue{Kind: engine.IssueItem, ID: id} }
	conversation := func(id string) engine.Issue { return engine.Issue{Kind: engine.IssueConversation, ID: id} }
	const other = "a/model-m"
	cases := []struct {
		name, members string
		owner         string // "" = anybody
		status        int    // of a refusal
		code, param   string
	}{
		{"nothing", `"input":"x"`, "", 0, "", ""},
		{"a response", `"input":"x","previous_response_id":"resp_own"`, issuer, 0, "", ""},
		{"no response", `"input":"x","previous_response_id":null`, "", 0, "", ""},
		{"an unknown response", `"input":"x","previous_response_id":"resp_0"`, "", 404, "previous_response_not_found", "previous_response_id"},
		{"another key's response", `"input":"x","previous_response_id":"resp_foreign"`, "", 404, "previous_response_not_found", "previous_response_id"},
		{"a conversation", `"input":"x","conversation":{"id":"conv_own"}`, issuer, 0, "", ""},
		{"a new conversation", `"input":"x","conversation":"conv_new"`, "", 0, "", ""},
		{"another key's conversation", `"input":"x","conversation":"conv_foreign"`, "", 404, "conversation_not_found", "conversation"},
		{"a reference", `"input":[{"type":"item_reference","id":"msg_own"}]`, issuer, 0, "", ""},
		{"a bare reference", `"input":[{"id":"msg_own"}]`, issuer, 0, "", ""},
		{"an unknown reference", `"input":[{"type":"message","role":"user","id":"msg_own","content":"x"},{"id":"msg_0","type":"item_reference"}]`, "", 404, "item_not_found", "input"},
		{"another key's reference", `"input":[{"type":"item_reference","id":"msg_foreign"}]`, "", 404, "item_not_found", "input"},
		{"another key's reference in other letters", `"input":[{"type":"item\u005freference","id":"msg_foreign"}]`, "", 404, "item_not_found", "input"},
		{"another key's bare reference", `"input":[{"id":"msg_foreign"}]`, "", 404, "item_not_found", "input"},
		{"one id hidden behind another", `"input":[{"type":"item_reference","id":"msg_foreign","id":"msg_own"}]`, "", 404, "item_not_found", "input"},
		{"a reference beside a response", `"previous_response_id":"resp_own","input":[{"type":"item_reference","id":"msg_foreign"}]`, "", 404, "item_not_found", "input"},
		{"an item", `"input":[{"type":"message","role":"assistant","id":"msg_own","content":"x"}]`, issuer, 0, "", ""},
		{"an item of the client's", `"input":[{"type":"message","role":"assistant","id":"msg_made_up","content":"x"}]`, "", 0, "", ""},
		{"another key's item, held", `"input":[{"type":"message","role":"assistant","id":"msg_foreign","content":"x"}]`, "", 0, "", ""},
		{"sealed", `"input":[{"type":"reasoning","encrypted_content":"own"}]`, issuer, 0, "", ""},
		{"sealed elsewhere", `"input":[{"type":"reasoning","encrypted_content":"unknown"}]`, "", 0, "", ""},
		{"the newest counts", `"input":[{"type":"reasoning","encrypted_content":"older"},{"type":"reasoning","encrypted_content":"own"}]`, issuer, 0, "", ""},
		{"sealed counts before items", `"input":[{"type":"reasoning","encrypted_content":"own"},{"type":"message","role":"assistant","id":"msg_other","content":"x"}]`, issuer, 0, "", ""},
		{"the response counts first", `"previous_response_id":"resp_own","input":[{"type":"reasoning","encrypted_content":"older"}]`, issuer, 0, "", ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := start(t, answer)
			for i, deployment := range map[engine.Issue]string{
				response("resp_own"): issuer, conversation("conv_own"): issuer, item("msg_own"): issuer, item("msg_other"): other,
				sealed(t, "own"): issuer, sealed(t, "older"): other,
			} {
				r.owners.put("all", deployment, i)
			}
			for _, i := range []engine.Issue{response("resp_foreign"), conversation("conv_foreign"), item("msg_foreign")} {
				r.owners.put("plain", other, i)
			}
			r.owners.put("", other, conversation("conv_foreign"))
			for _, path := range []string{answers, answers + "/input_tokens"} {
				status, header, body := r.do("POST", path, keyAll, `{"model":"m",`+tc.members+`}`)
				if tc.status != 0 {
					if e := toldIn(t, body); status != tc.status || e.code() != tc.code || e.param() != tc.param || e.Type != "invalid_request_error" {
						t.Errorf("status %d, error %+v", status, e)
					}
					if r.last() != nil {
						t.Error("the request reached the executor")
					}
					continue
				}
				if status != http.StatusOK || r.last().Owner != tc.owner {
					t.Fatalf("status %d, owner %q, want %q: %s", status, r.last().Owner, tc.owner, body)
				}
				if got := header.Get("X-Gatewright-Deployment"); tc.owner != "" && got != tc.owner {
					t.Errorf("served by %s", got)
				}
			}
		})
	}
}

// TestStoredOwners shows an answer to nobody but the caller it was given to.
func TestStoredOwners(t *testing.T) {
	r := start(t, answer)
	r.owners.put("all", issuer, engine.Issue{Kind: engine.IssueResponse, ID: "resp_1"})
	r.owners.put("all", "gone/model-m", engine.Issue{Kind: engine.IssueResponse, ID: "resp_gone"})
	for _, tc := range []struct {
		name, path, key string
		status          int
		code            string
	}{
		{"unknown", "/resp_0", keyAll, 404, "response_not_found"},
		{"another key's", "/resp_1", keyPlain, 404, "response_not_found"},
		{"its deployment is not configured", "/resp_gone", keyAll, 403, "no_eligible_candidate"},
		{"empty", "/", keyAll, 404, "not_found"},
		{"something else", "/resp_1/other", keyAll, 404, "not_found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, method := range []string{"GET", "DELETE"} {
				status, _, body := r.do(method, answers+tc.path, tc.key, "")
				if e := toldIn(t, body); status != tc.status || e.code() != tc.code {
					t.Errorf("%s: status %d, error %+v", method, status, e)
				}
			}
			if r.last() != nil {
				t.Error("the request reached the executor")
			}
		})
	}
}

// TestResponsesErrorEvent tells an error of which nothing is known but the
// error, in a stream that has begun.
func TestResponsesErrorEvent(t *testing.T) {
	r := start(t, func(_ context.Context, _ *engine.Request, p *engine.Plan, sink engine.Sink) (engine.Result, error) {
		if err := sink.Commit(engine.Answer{Status: 200, Deployment: p.Order[0].Deployment, Cost: engine.Unknown}); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{}, &engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamTruncated, Message: "broke off", Committed: true}
	})
	_, _, body := r.do("POST", answers, keyAll, `{"model":"m","stream":true,"input":"x"}`)
	data, ok := strings.CutPrefix(body, "event: error\ndata: ")
	var got struct {
		Type, Code, Message string
		Error               struct{ Type, Code, Message string }
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil || !ok || !strings.HasSuffix(body, "\n\n") {
		t.Fatalf("stream %q: %v", body, err)
	}
	if got.Type != "error" || got.Code != "upstream_truncated" || got.Message != "broke off" || got.Error.Code != got.Code || got.Error.Type != "upstream_error" {
		t.Errorf("event %+v", got)
	}
}

// TestResponsesBadBodies says what is wrong, before anything is called.
func TestResponsesBadBodies(t *testing.T) {
	r := start(t, answer)
	for body, code := range map[string]string{
		``:                                      "invalid_json",
		`{"input":"x"}`:                         "missing_required_parameter",
		`{"model":"m"}`:                         "missing_required_parameter",
		`{"model":"m","input":7}`:               "invalid_type",
		`{"model":"m","model":"n","input":"x"}`: "duplicate_parameter",
		`{"model":"m","input":"x","max_output_tokens":0}`: "invalid_value",
	} {
		for _, path := range []string{answers, answers + "/compact", answers + "/input_tokens"} {
			status, _, got := r.do("POST", path, keyAll, body)
			if e := toldIn(t, got); status != http.StatusBadRequest || e.code() != code {
				t.Errorf("%s: %s: status %d, error %+v", path, body, status, e)
			}
		}
	}
	if r.last() != nil {
		t.Error("a bad body reached the executor")
	}
}
