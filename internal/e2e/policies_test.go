package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// regionsRest gives a and b regions that the Wasm guest admit.wasm looks for: it
// lets those in Europe serve.
const regionsRest = adminRest + `
models: {m: {deployments: [a, b]}, s: {deployments: [a, b]}}
`

// regional is the configuration of two providers, of which a comes first.
func regional(sim simulator, rest string) string {
	return fmt.Sprintf(`listen: 127.0.0.1:0
providers:
  a: {protocol: openai, base_url: "http://%[1]s/a/v1", auth: none, region: us-east, priority: 2}
  b: {protocol: openai, base_url: "http://%[1]s/b/v1", auth: none, region: eu-west}
`, sim.address) + rest
}

// The next request obeys a rule that was uploaded and activated; the one after a
// rollback obeys the rule before. It is the same with a module, and after a
// restart.
func TestPoliciesByHTTP(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	path, dir := write(t, "g.yaml", regional(sim, regionsRest)), t.TempDir()
	gw := gateway(t, path, dir)
	o := operate(t, gw)
	wants := func(who string) {
		t.Helper()
		if got := ask(t, gw); got != who {
			t.Fatalf("served by %s, want %s", got, who)
		}
	}
	wants("a/m")
	first := o.upload("guard", only("b"))
	o.call("PUT", "/bindings/guard", `{"policy":"guard"}`, http.StatusOK)
	wants("a/m") // of a draft nothing is seen
	o.activate("guard", first)
	wants("b/m")
	if got := curl(t, o, "/policies?name=guard", only("a")); !strings.Contains(got, `"state":"draft"`) {
		t.Fatalf("curl got %s", got)
	}
	wants("b/m")
	o.call("POST", "/policies/guard/activate", "", http.StatusOK)
	wants("a/m")
	o.call("POST", "/policies/guard/rollback", "", http.StatusOK)
	wants("b/m")

	module := o.upload("guard", testdata(t, "wasm", "guests", "admit.wasm"))
	o.activate("guard", module)
	wants("b/m")
	o.activate("guard", o.upload("guard", only("nobody")))
	wants("403 no_eligible_candidate")
	o.call("POST", "/policies/guard/rollback", "", http.StatusOK)
	wants("b/m")
	o.call("DELETE", "/bindings/guard", "", http.StatusNoContent)
	wants("a/m")

	rank := o.upload("rank", testdata(t, "wasm", "guests", "rank.wasm"))
	o.activate("rank", rank)
	o.call("PUT", "/bindings/rank", `{"policy":"rank"}`, http.StatusOK)
	wants("a/m") // priority comes before any ranking
	if s, _ := o.call("GET", "/policies/rank/versions/"+rank, "", http.StatusOK)["status"].(map[string]any); s["evaluations"] != 1.0 || s["faults"] != 0.0 {
		t.Errorf("the status %v", s)
	}

	o.call("PUT", "/bindings/guard", `{"policy":"guard"}`, http.StatusOK)
	gw.kill()
	gw = gateway(t, path, dir)
	o = operate(t, gw)
	wants("b/m")
	if got := o.call("GET", "/policies/guard", "", http.StatusOK); got["active"] != module {
		t.Errorf("after a restart %v is active, want %s", got["active"], module)
	}
	if got := o.try("GET", "/policies/rank/versions/"+rank+"/source", nil); !bytes.Equal(got.body, testdata(t, "wasm", "guests", "rank.wasm")) {
		t.Errorf("%d bytes of source", len(got.body))
	}
}

// curl uploads with curl, or as it does where there is none.
func curl(t *testing.T, o *operator, path string, source []byte) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		got := o.try("POST", path, source)
		return string(got.body)
	}
	cmd := exec.CommandContext(t.Context(), "curl", "-sS", "--max-time", "60", "-H", "Authorization: Bearer "+adminSecret,
		"--data-binary", "@"+write(t, "guard.rego", string(source)), o.base+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("curl: %v\n%s", err, out)
	}
	return string(out)
}

// What is too large is refused unread; what is large and allowed costs a bounded
// time, and traffic does not notice.
func TestUploadLimits(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", regional(sim, regionsRest)), t.TempDir())
	o := operate(t, gw)
	began := time.Now()
	status := announce(t, strings.TrimPrefix(strings.TrimSuffix(o.base, "/admin/v1"), "http://"), 11<<20)
	took := time.Since(began)
	if status != http.StatusRequestEntityTooLarge {
		t.Errorf("an announced upload of 11 MiB: status %d", status)
	}
	t.Logf("refused unread after %s", took)
	if got := o.try("POST", "/policies?name=large", make([]byte, 11<<20)); got.status != http.StatusRequestEntityTooLarge && got.err == nil {
		t.Errorf("an upload of 11 MiB: status %d", got.status)
	}

	stop := traffic(t, gw)
	before := gw.usage(t)
	const head = "package gatewright.admission\n\ndeny contains {\"code\": \"x\"} if input.request.model == \"\"\n"
	for name, source := range map[string]string{
		"comments": head + strings.Repeat("# 0123456789\n", (250<<10)/13),
		"rules":    head + manyRules(900),
		"a module": string(testdata(t, "wasm", "guests", "opa-builtins.wasm")),
	} {
		began := time.Now()
		got := o.try("POST", "/policies?name=heavy&kind=admission", []byte(source))
		if got.err != nil || got.status != http.StatusCreated && got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s, %v", name, got.status, got.body, got.err)
		}
		took := time.Since(began)
		t.Logf("%s, %d bytes: status %d after %s %.300s", name, len(source), got.status, took, got.body)
		if took > 20*time.Second { // the goal is two, on a machine of its own
			t.Errorf("%s: it took %s", name, took)
		}
	}
	if grown := gw.usage(t).rss - before.rss; grown > 256<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	t.Logf("%d requests were served meanwhile", stop())
}

// manyRules are rules that use each other in a chain.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("\ndeny contains {\"code\": \"y\"} if r0\n\n")
	for i := range n {
		next := "input.request.hour > 3"
		if i+1 < n {
			next = fmt.Sprintf("r%d", i+1)
		}
		fmt.Fprintf(&b, "r%d if {\n\tinput.request.team != \"t%d\"\n\t%s\n}\n\n", i, i, next)
	}
	return b.String()
}

// announce says how much it will upload, sends nothing of it, and returns the
// status that comes back.
func announce(t *testing.T, address string, size int) int {
	t.Helper()
	p := &process{address: address}
	got, _ := p.exchange(t, fmt.Sprintf("POST /admin/v1/policies?name=large HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
		address, adminSecret, size))
	return got.status
}
