package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// runBinary runs a verb to its end, without any provider key, in an empty
// folder. One that does not end in time is killed; its status is then -1.
func runBinary(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = t.TempDir()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasSuffix(name, "_API_KEY") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, _ := cmd.CombinedOutput() // the exit status is read below
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestServeWithoutAnythingExplainsItself(t *testing.T) {
	status, out := runBinary(t, "serve")
	if status != 1 {
		t.Errorf("exit status = %d, want 1", status)
	}
	for _, want := range []string{"OPENAI_API_KEY", "--config", "gatewright demo"} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}

func TestCheckNamesEveryFault(t *testing.T) {
	path := write(t, "bad.yaml", `
providers:
  a: {protocol: openai, base_url: "https://a.example/v1", api_key: "${E2E_UNSET}", wieght: 3}
models:
  m: {deployments: [a, b]}
router: {selection: prize}
`)
	status, out := runBinary(t, "check", "--config", path)
	if status != 1 {
		t.Errorf("exit status = %d, want 1", status)
	}
	for _, want := range []string{"bad.yaml:3:", "E2E_UNSET", "wieght", "weight", "bad.yaml:5:", "bad.yaml:6:", "price"} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"serve", "--nope"}, {"nope"}, {"check", "x", "y"}, {"simulate", "--listen", "0.0.0.0:1"}} {
		if status, out := runBinary(t, args...); status != 2 {
			t.Errorf("%v: exit status = %d, want 2\n%s", args, status, out)
		}
	}
}
