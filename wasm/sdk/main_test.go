package sdk_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"gatewright/wasm"
	"gatewright/wasm/check"
)

// languages are the SDKs. What Go makes is too large for the repository, so the
// tests build it.
var languages = []string{"c", "rust", "assemblyscript", "go"}

// scratch is a folder for as long as the tests run: modules that are built, and
// the engine's cache, since compiling Go's runtime takes seconds.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "gatewright-sdk"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(scratch)
		os.Exit(code)
	}))
}

const built = "../../testdata/wasm/sdk"

// build runs build.sh.
func build(tb testing.TB, args ...string) error {
	tb.Helper()
	text, err := exec.CommandContext(context.Background(), "sh", append([]string{"build.sh"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build.sh %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return nil
}

var goModules = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(scratch, "go")
	if err != nil {
		return "", err
	}
	text, err := exec.CommandContext(context.Background(), "sh", "build.sh", "-o", dir, "go").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build.sh go: %w\n%s", err, text)
	}
	return dir, nil
})

// module is a policy in a language.
func module(tb testing.TB, language, policy string) []byte {
	tb.Helper()
	dir := built
	if language == "go" {
		if testing.Short() {
			tb.Skip("builds and compiles modules of 2 MB")
		}
		var err error
		if dir, err = goModules(); err != nil {
			tb.Fatal(err)
		}
	}
	return read(tb, filepath.Join(dir, language+"-"+policy+".wasm"))
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// rules are what the modules of a language are held to.
func rules(language string) (wasm.Profile, check.Profile) {
	if language == "go" {
		return wasm.ProfileGo, check.Go()
	}
	return wasm.ProfileSmall, check.Small()
}

func newRuntime(tb testing.TB) *wasm.Runtime { tb.Helper(); return logging(tb, nil) }

// logging is a runtime with a log.
func logging(tb testing.TB, log *slog.Logger) *wasm.Runtime {
	tb.Helper()
	r, err := wasm.NewRuntime(wasm.Config{CacheDir: filepath.Join(scratch, "cache"), Log: log})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// load makes a policy ready; params "" = none.
func load(tb testing.TB, r *wasm.Runtime, language, policy, params string) *wasm.Module {
	tb.Helper()
	profile, _ := rules(language)
	s := wasm.Source{Name: language + "-" + policy, Bytes: module(tb, language, policy), Profile: profile, Instances: 1}
	if params != "" {
		s.Params = []byte(params)
	}
	m, err := r.Load(context.Background(), s)
	if err != nil {
		tb.Fatalf("%s: %v", language, err)
	}
	return m
}
