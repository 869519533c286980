package rego

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// evaluator runs compiled tests on the test host.
func evaluator(tb testing.TB) Evaluator {
	tb.Helper()
	var last *instance
	var of string
	return func(ctx context.Context, module []byte, entry string, data, input []byte) ([]byte, error) {
		if key := string(module) + string(data); last == nil || of != key {
			last, of = newInstance(context.WithoutCancel(ctx), tb, module, string(data)), key
		}
		value, err := last.eval(ctx, entry, string(input))
		if errors.Is(err, errUndefined) {
			err = ErrUndefined
		}
		return []byte(value), err
	}
}

// The policies that ship compile, and their tests pass natively and compiled.
func TestShippedPolicies(t *testing.T) {
	files, err := filepath.Glob("../../policies/*/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	policies := 0
	for _, file := range files {
		name, ok := strings.CutSuffix(file, ".rego")
		if !ok || strings.HasSuffix(name, "_test") {
			continue
		}
		policies++
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(name), func(t *testing.T) {
			s := Source{Files: map[string]string{}, Data: []byte("{}")}
			for _, f := range []string{file, name + "_test.rego"} {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				s.Files[filepath.Base(f)] = string(text)
			}
			results, err := Test(t.Context(), s, evaluator(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(results) < 4 {
				t.Errorf("%d results: a policy that ships has tests", len(results))
			}
			for _, r := range results {
				if r.Outcome != Passed {
					t.Errorf("%s (compiled: %v): %v: %s", r.Name, r.Compiled, r.Outcome, r.Message)
				}
			}
		})
	}
	if policies < 8 {
		t.Errorf("%d policies", policies)
	}
}
