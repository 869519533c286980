package app

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/policies"
)

const operatorToken = "gwa_of-the-test-0123456789"

// policyGateway is a gateway with an admin API.
type policyGateway struct {
	t                *testing.T
	address, admin   string
	decisions        *decisions
	stop             func()
	dir, upstreamURL string
}

func startPolicyGateway(t *testing.T, dir, upstream, rest string, more ...string) *policyGateway {
	t.Helper()
	g := &policyGateway{t: t, decisions: &decisions{}, dir: dir, upstreamURL: upstream}
	ready := make(chan string, 1)
	text := configOf(upstream, "admin: {"+strings.Join(append(more, "listen: \"127.0.0.1:0\"", "token: "+operatorToken), ", ")+"}\n"+rest)
	var log buffer
	g.address, g.stop = run(t, Options{
		File: parse(t, text), Logger: slog.New(slog.NewJSONHandler(&log, nil)), DataDir: dir, Recorder: g.decisions,
		AdminReady: func(a string) { ready <- a },
	})
	g.admin = <-ready
	return g
}

// call makes one request of the admin API and returns the answer's JSON.
func (g *policyGateway) call(method, path, body string, want int) map[string]any {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, "http://"+g.admin+"/admin/v1"+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+operatorToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	if resp.StatusCode != want {
		g.t.Fatalf("%s %s: got %d %s, want %d", method, path, resp.StatusCode, text, want)
	}
	if len(text) == 0 {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		g.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return out
}

// ask sends a chat request and returns its status, who served, and the decision.
func (g *policyGateway) ask() (int, string, *engine.Decision) {
	g.t.Helper()
	status, served := chat(g.t, g.address)
	g.decisions.mu.Lock()
	defer g.decisions.mu.Unlock()
	return status, served, g.decisions.list[len(g.decisions.list)-1]
}

func (g *policyGateway) want(status int, served string) *engine.Decision {
	g.t.Helper()
	gotStatus, gotServed, d := g.ask()
	if gotStatus != status || gotServed != served {
		g.t.Fatalf("got %d by %q, want %d by %q; policies %+v", gotStatus, gotServed, status, served, d.Policies)
	}
	return d
}

const noA = `package gatewright.admission

exclude contains {"id": c.id, "reason": "not_a"} if {
	some c in input.candidates
	c.provider == "a"
}
`

const noneAtAll = `package gatewright.admission

deny contains {"code": "closed", "message": "nobody today", "status": 402} if input.request.stream == false
`

const bFirst = `package gatewright.ranking

score[c.id] := 1 if {
	some c in input.candidates
	c.provider == "b"
}
`

func TestUploadedPoliciesAreObeyed(t *testing.T) {
	_, upstream := upstream(t)
	g := startPolicyGateway(t, t.TempDir(), upstream, "")
	g.want(200, "a/m")

	first := g.call("POST", "/policies?name=guard&kind=admission", noA, 201)
	g.want(200, "a/m") // a draft changes nothing
	g.call("PUT", "/bindings/guard", `{"policy":"guard"}`, 200)
	g.want(200, "a/m") // nor a binding of a draft
	g.call("POST", "/policies/guard/activate", "", 200)
	d := g.want(200, "b/m")
	if len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeRemoved || d.Policies[0].Version != first["version"] {
		t.Errorf("recorded %+v", d.Policies)
	}
	if len(d.Skipped) != 1 || d.Skipped[0].Reason != "policy:guard" || d.Skipped[0].Detail != "not_a" {
		t.Errorf("skipped %+v", d.Skipped)
	}

	g.call("POST", "/policies?name=guard&kind=admission", noneAtAll, 201)
	g.call("POST", "/policies/guard/activate", "{}", 200)
	if d := g.want(402, ""); d.Result.Code != "closed" {
		t.Errorf("code %q", d.Result.Code)
	}
	g.call("POST", "/policies/guard/rollback", "", 200)
	g.want(200, "b/m")

	problems := g.call("POST", "/policies?name=guard&kind=admission", strings.Replace(noA, "c.provider", "c.providr", 1), 422)
	list, _ := problems["problems"].([]any)
	if len(list) == 0 || list[0].(map[string]any)["line"] != float64(5) {
		t.Errorf("got %v, want a problem in line 5", problems)
	}
	g.want(200, "b/m")
	g.call("DELETE", "/bindings/guard", "", 204)
	g.want(200, "a/m")

	g.call("POST", "/policies?name=rank", bFirst, 201)
	g.call("POST", "/policies/rank/activate", "", 200)
	g.call("PUT", "/bindings/rank", `{"policy":"rank","model":"m"}`, 200)
	d = g.want(200, "a/m") // priority comes before the strategy
	if d.Strategy != "policy:rank" || len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeRanked {
		t.Errorf("strategy %q, policies %+v", d.Strategy, d.Policies)
	}
	g.call("POST", "/policies/rank/try", `{"input":{"candidates":[{"id":"x","provider":"a"},{"id":"y","provider":"b"}]}}`, 200)
	g.call("DELETE", "/policies/rank", "", 409)

	// Everything is there after a restart.
	g.call("PUT", "/bindings/guard", `{"policy":"guard","key":""}`, 200)
	g.stop()
	g = startPolicyGateway(t, g.dir, upstream, "")
	d = g.want(200, "b/m")
	if len(d.Policies) != 2 {
		t.Errorf("after a restart: %+v", d.Policies)
	}
	audit := g.call("GET", "/audit", "", 200)
	if entries, _ := audit["data"].([]any); len(entries) != 11 {
		t.Errorf("%d entries of the audit log: %v", len(entries), audit)
	}
}

func TestUploadedModulesAreObeyed(t *testing.T) {
	_, upstream := upstream(t)
	g := startPolicyGateway(t, t.TempDir(), upstream, "")
	put := func(name, file string) map[string]any {
		t.Helper()
		module, err := os.ReadFile(filepath.Join("../../testdata/wasm/guests", file))
		if err != nil {
			t.Fatal(err)
		}
		v := g.call("POST", "/policies?name="+name, string(module), 201)
		g.call("POST", "/policies/"+name+"/activate", "", 200)
		g.call("PUT", "/bindings/"+name, `{"policy":"`+name+`"}`, 200)
		return v
	}
	put("rank", "rank.wasm")
	if d := g.want(200, "a/m"); len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeRanked || d.SelectionSource != "router" {
		t.Errorf("source %q, policies %+v", d.SelectionSource, d.Policies)
	}
	put("admit", "admit.wasm") // it wants regions, which these deployments have not
	if d := g.want(403, ""); len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeRemoved || len(d.Skipped) != 2 {
		t.Errorf("skipped %+v, policies %+v", d.Skipped, d.Policies)
	}
	g.call("DELETE", "/bindings/admit", "", 204)
	g.call("DELETE", "/bindings/rank", "", 204)
	if v := put("opa", "opa-rank.wasm"); v["profile"] != "opa" || v["kind"] != "ranking" {
		t.Errorf("got %v", v)
	}
	if d := g.want(200, "a/m"); len(d.Policies) != 1 || d.Policies[0].Outcome != engine.OutcomeRanked {
		t.Errorf("policies %+v", d.Policies)
	}
}

func TestPoliciesOfTheFile(t *testing.T) {
	_, upstream := upstream(t)
	dir := t.TempDir()
	guard := filepath.Join(dir, "guard.rego")
	if err := os.WriteFile(guard, []byte(noA), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rank.rego"), []byte(bFirst), 0o600); err != nil {
		t.Fatal(err)
	}
	rest := `
policies:
  guard: {file: "` + guard + `"}
  rank: {file: "` + filepath.Join(dir, "rank.rego") + `"}
bindings:
  - {policy: guard}
strategies:
  mixed: [{key: score, policy: rank, tolerance: 0.5}, {key: price}]
router: {selection: mixed}
`
	g := startPolicyGateway(t, dir, upstream, rest)
	d := g.want(200, "b/m")
	names := []string{}
	for _, p := range d.Policies {
		names = append(names, p.Name+":"+string(p.Outcome))
	}
	if !slices.Equal(names, []string{"guard:removed", "rank:ranked"}) {
		t.Errorf("policies %v", names)
	}
	g.call("POST", "/policies/guard/activate", "", 409)
	g.call("POST", "/policies?name=guard&kind=admission", noA, 409)
	if err := os.WriteFile(guard, []byte("package gatewright.admission\nexclude contains 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), parse(t, configOf(upstream, rest))); err == nil || !strings.Contains(err.Error(), "policies.guard") {
		t.Errorf("got %v, want the broken policy named", err)
	}
}

// TestActivationsUnderLoad activates versions while requests run: none fails, and
// each sees one version.
func TestActivationsUnderLoad(t *testing.T) {
	_, upstream := upstream(t)
	g := startPolicyGateway(t, t.TempDir(), upstream, "")
	var versions []string
	for _, reason := range []string{"one", "two", "three"} {
		v := g.call("POST", "/policies?name=guard&kind=admission", strings.Replace(noA, "not_a", reason, 1), 201)
		versions = append(versions, v["version"].(string))
	}
	g.call("POST", "/policies/guard/activate", "", 200)
	g.call("PUT", "/bindings/guard", `{"policy":"guard"}`, 200)
	var enough atomic.Bool
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for !enough.Load() {
				if status, served := chat(t, g.address); status != 200 || served != "b/m" {
					t.Errorf("got %d by %q", status, served)
				}
			}
		})
	}
	for i := range 60 {
		g.call("POST", "/policies/guard/activate", `{"version":"`+versions[i%3]+`"}`, 200)
		if i%10 == 0 {
			g.call("POST", "/policies?name=guard&kind=admission", "broken", 422)
		}
	}
	enough.Store(true)
	running.Wait()
	g.decisions.mu.Lock()
	defer g.decisions.mu.Unlock()
	reasons := map[string]string{versions[0]: "one", versions[1]: "two", versions[2]: "three"}
	seen := map[string]int{}
	for _, d := range g.decisions.list {
		if len(d.Policies) != 1 || len(d.Skipped) != 1 || d.Skipped[0].Detail != reasons[d.Policies[0].Version] {
			t.Fatalf("a request saw more than one version: %+v %+v", d.Policies, d.Skipped)
		}
		seen[d.Policies[0].Version]++
	}
	if len(seen) != 3 {
		t.Errorf("versions seen: %v", seen)
	}
}

func TestAdminToken(t *testing.T) {
	_, upstream := upstream(t)
	dir := t.TempDir()
	var tokens []string
	for range 2 {
		var log buffer
		ready := make(chan string, 1)
		file, problems := config.Parse("test.yaml", []byte(configOf(upstream, "admin: {listen: \"127.0.0.1:0\"}\n")), config.Options{
			Env: func(string) (string, bool) { return "", false },
		})
		if file == nil {
			t.Fatal(problems)
		}
		_, stop := run(t, Options{
			File: file, DataDir: dir,
			Logger:     slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			AdminReady: func(a string) { ready <- a }, AdminToken: func(token string) { tokens = append(tokens, token) },
		})
		address := <-ready
		for token, want := range map[string]int{tokens[0]: 200, tokens[0] + "x": 401, "": 401} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/admin/v1/policies", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != want {
				t.Errorf("got %d, %v, want %d", resp.StatusCode, err, want)
			}
		}
		stop()
		if strings.Contains(log.String(), tokens[0]) {
			t.Error("the log holds the token")
		}
	}
	if len(tokens) != 1 {
		t.Fatalf("%d tokens were made, want one", len(tokens))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(tokens[0])) {
			t.Errorf("%s holds the token", f)
		}
	}
}

var _ policies.Sources = (*fileSources)(nil)
