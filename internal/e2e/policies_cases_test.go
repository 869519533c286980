package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStreamsOutliveChanges lets streams run while broken policies are uploaded and
// good ones are switched 20 times a second: every stream completes.
func TestStreamsOutliveChanges(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	gw := gateway(t, write(t, "g.yaml", sim.config(adminRest+"\nmodels: {m: {deployments: [a]}}\n")), t.TempDir())
	o := operate(t, gw)
	versions := []string{o.upload("guard", only("a")), o.upload("guard", testdata(t, "wasm", "sdk", "c-admission.wasm"))}
	o.activate("guard", versions[0])
	o.call("PUT", "/bindings/guard", `{"policy":"guard"}`, http.StatusOK)
	count, length := 50, either(3*time.Second, 50*time.Second) // a client waits for a minute at most
	const apart = 100 * time.Millisecond
	pieces := int(length / apart)
	over := streams(t, sim, gw, count, pieces, apart)
	began, changes, refused := time.Now(), 0, 0
	for ; time.Since(began) < length-500*time.Millisecond; changes++ {
		o.activate("guard", versions[changes%2])
		if refused < 20 && changes%2 == 0 {
			refused++
			if got := o.try("POST", "/policies?name=guard", []byte("package gatewright.admission\nexclude contains")); got.status != http.StatusUnprocessableEntity {
				t.Errorf("a broken upload: %d %s", got.status, got.body)
			}
		}
		wait(t, began.Add(time.Duration(changes)*50*time.Millisecond))
	}
	whole := 0
	for _, r := range over() {
		if r.served() && r.done && r.chunks == pieces {
			whole++
		}
	}
	t.Logf("%d activations and %d broken uploads under %d streams of %s: %d whole", changes, refused, count, length, whole)
	if whole != count {
		t.Errorf("%d of %d streams are whole", whole, count)
	}
	if changes < 20 || refused < 10 {
		t.Errorf("%d activations, %d broken uploads: too few", changes, refused)
	}
}

// TestARankingThatFails is served in the order that there was without it: one that
// never ends, and one that traps on every other call.
func TestARankingThatFails(t *testing.T) {
	t.Parallel()
	sim := simulate(t)
	for name, source := range map[string]string{
		"never ends": `package gatewright.ranking
score[c.id] := count([1 | some a in input.candidates; some b in input.candidates; some d in l; some e in l; a.price + b.price + d + e > 0]) if some c in input.candidates
l := [i | some i in LIST]`,
		"has no answer at times": `package gatewright.ranking
score[c.id] := to_number(substring(c.id, 0, 1)) if some c in input.candidates`,
	} {
		t.Run(name, func(t *testing.T) {
			gw := gateway(t, write(t, "g.yaml", sim.config(adminRest+"\nmodels: {m: {deployments: [a, b]}}\n")), t.TempDir())
			o := operate(t, gw)
			list := strings.TrimSuffix(strings.Repeat("1, ", 900), ", ")
			got := o.try("POST", "/policies?name=rank", []byte(strings.Replace(source, "LIST", "["+list+"]", 1)))
			if got.status == http.StatusUnprocessableEntity { // seen before it could do harm
				if !strings.Contains(string(got.body), `"problems"`) {
					t.Errorf("refused without a reason: %s", got.body)
				}
				return
			}
			o.call("POST", "/policies/rank/activate", "", http.StatusOK)
			o.call("PUT", "/bindings/rank", `{"policy":"rank"}`, http.StatusOK)
			for n := range 10 {
				if served := ask(t, gw); served != "a/m" && served != "b/m" {
					t.Fatalf("request %d is answered by %s", n, served)
				}
			}
			status, _ := o.call("GET", "/policies/rank", "", http.StatusOK)["status"].(map[string]any)
			if fmt.Sprint(status["faults"]) == "0" || status["suspended_until"] == nil {
				t.Errorf("it failed and nobody says so: %v", status)
			}
			if line := gw.wait("request", 10*time.Second); line["policies"] == nil {
				t.Errorf("the log line does not tell of it: %v", line)
			}
		})
	}
}
