package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A configuration that names a policy whose file is not there yet is refused; once the
// file comes it is used, though the configuration has not changed since.
func TestPolicyFileThatComesLater(t *testing.T) {
	sim := simulate(t)
	plain := regional(sim, adminRest+"\nmodels: {m: {deployments: [a, b]}}\n")
	path := write(t, "g.yaml", plain)
	gw := gateway(t, path, t.TempDir())
	if served := ask(t, gw); served != "a/m" {
		t.Fatalf("served by %s", served)
	}
	replace(t, path, plain+"policies: {late: {file: rules/late.rego}}\nbindings: [{policy: late}]\n")
	if gw.waitCount("configuration not reloaded: the one before stays", 1, 10*time.Second) == nil {
		t.Fatal("a configuration was taken that names a file which is not there")
	}
	folder := filepath.Join(filepath.Dir(path), "rules")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "late.rego"), only("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if gw.waitCount("configuration reloaded", 1, 10*time.Second) == nil {
		t.Fatal("the policy's file came, and the configuration was not read again")
	}
	if served := ask(t, gw); served != "b/m" {
		t.Errorf("served by %s, want what the policy leaves", served)
	}
}
