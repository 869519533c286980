package sdk_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// rebuilt are the languages whose modules are not taken from the repository but
// built anew from their sources: every test is about those then.
var rebuilt = strings.Fields(os.Getenv("GATEWRIGHT_REBUILD"))

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

// builds build the modules of a language from their sources, once, and say in which
// folder they are.
var builds = map[string]func() (string, error){
	"c": building("c"), "rust": building("rust"), "assemblyscript": building("assemblyscript"), "go": building("go"),
}

func building(language string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(scratch, language)
		if err != nil {
			return "", err
		}
		text, err := exec.CommandContext(context.Background(), "sh", "build.sh", "-o", dir, language).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("build.sh %s: %w\n%s", language, err, text)
		}
		return dir, nil
	})
}

// module is a policy in a language.
func module(tb testing.TB, language, policy string) []byte {
	tb.Helper()
	if language == "go" && testing.Short() {
		tb.Skip("builds and compiles modules of 2 MB")
	}
	if language == "go" || slices.Contains(rebuilt, language) {
		return fresh(tb, language, policy)
	}
	return kept(tb, language, policy)
}

// kept is a policy as the repository has it, fresh one that was built from its source.
func kept(tb testing.TB, language, policy string) []byte {
	tb.Helper()
	return read(tb, filepath.Join(built, language+"-"+policy+".wasm"))
}

func fresh(tb testing.TB, language, policy string) []byte {
	tb.Helper()
	dir, err := builds[language]()
	if err != nil {
		tb.Fatal(err)
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
	return ready(tb, r, language, policy, params, module(tb, language, policy))
}

func ready(tb testing.TB, r *wasm.Runtime, language, policy, params string, body []byte) *wasm.Module {
	tb.Helper()
	profile, _ := rules(language)
	s := wasm.Source{Name: language + "-" + policy, Bytes: body, Profile: profile, Instances: 1}
	if params != "" {
		s.Params = []byte(params)
	}
	m, err := r.Load(context.Background(), s)
	if err != nil {
		tb.Fatalf("%s: %v", language, err)
	}
	return m
}
