package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the gateway in scripts.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"gatewright": func() { os.Exit(run(context.Background(), os.Args[1:])) },
	})
}

// leakChecked runs the tests of this process and then looks for goroutines
// that they left.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		println(err.Error())
		return 1
	}
	return code
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		for _, name := range []string{"CLANG", "ASC"} {
			if value := os.Getenv(name); value != "" {
				env.Setenv(name, value)
			}
		}
		cache, err := goCache()
		if err != nil {
			return err
		}
		env.Setenv("GOCACHE", cache)
		if rustc := rustc(); rustc != "" {
			env.Setenv("RUSTC", rustc)
		}
		return serveAdmin(env)
	}, Condition: hasToolchain})
}

// hasToolchain is the condition toolchain:LANGUAGE of scripts: a policy in that
// language can be built here.
func hasToolchain(condition string) (bool, error) {
	language, ok := strings.CutPrefix(condition, "toolchain:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	_, missing := exec.LookPath("make")
	return missing == nil && exec.CommandContext(context.Background(), "sh", "../../wasm/sdk/build.sh", "-n", language).Run() == nil, nil
}

// rustc is the compiler that builds for Wasm; "" = none does. The system's own
// may stand behind another of the same name.
func rustc() string {
	for _, name := range []string{os.Getenv("RUSTC"), "rustc", "/usr/bin/rustc"} {
		if name == "" {
			continue
		}
		text, err := exec.CommandContext(context.Background(), name, "--print", "target-libdir", "--target", "wasm32-unknown-unknown").Output()
		if err != nil {
			continue
		}
		if _, err := os.Stat(strings.TrimSpace(string(text))); err == nil {
			return name
		}
	}
	return ""
}

// goCache is where Go keeps what it has built: the home of scripts has none.
func goCache() (string, error) {
	text, err := exec.CommandContext(context.Background(), "go", "env", "GOCACHE").Output()
	return strings.TrimSpace(string(text)), err
}
