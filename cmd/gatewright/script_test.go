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

// TestMain lets the test binary stand in for the gateway in scripts, and where a
// gateway starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == vetVerb {
		os.Exit(run(context.Background(), os.Args[1:]))
	}
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
		for language, name := range map[string]string{"c": "CLANG", "rust": "RUSTC", "assemblyscript": "ASC"} {
			if found, err := compiler(language); err == nil {
				env.Setenv(name, found)
			}
		}
		cache, err := goCache()
		if err != nil {
			return err
		}
		env.Setenv("GOCACHE", cache)
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
	_, noMake := exec.LookPath("make")
	_, none := compiler(language)
	return noMake == nil && none == nil, nil
}

// compiler is what the SDK's own examples in that language are built with.
func compiler(language string) (string, error) {
	text, err := exec.CommandContext(context.Background(), "sh", "../../wasm/sdk/build.sh", "-n", language).Output()
	return strings.TrimSpace(string(text)), err
}

// goCache is where Go keeps what it has built: the home of scripts has none.
func goCache() (string, error) {
	text, err := exec.CommandContext(context.Background(), "go", "env", "GOCACHE").Output()
	return strings.TrimSpace(string(text)), err
}
