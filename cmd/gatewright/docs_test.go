package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/rego"
)

var (
	shownCommand = regexp.MustCompile(`(?m)^(?: {4})?(gatewright .*)$`)
	shownRego    = regexp.MustCompile("(?s)```rego(?: [a-z]+\\.rego)?\n(.*?)```")
)

// What the documents tell people to type is what the program takes.
func TestDocumentedCommands(t *testing.T) {
	for file, least := range map[string]int{"README.md": 5, "docs/policies.md": 25, "docs/simulate.md": 1} {
		lines := shownCommand.FindAllStringSubmatch(document(t, file), -1)
		if len(lines) < least {
			t.Errorf("%s: %d commands", file, len(lines))
		}
		for _, line := range lines {
			command, _, _ := strings.Cut(line[1], " #")
			words := strings.Fields(strings.NewReplacer("'", "", `\`, "").Replace(command))[1:]
			c, rest, err := newRoot().Find(words)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", file, command, err)
			}
		}
	}
}

// The policies that the documents show are policies, and so are their tests.
func TestDocumentedPolicies(t *testing.T) {
	blocks := shownRego.FindAllStringSubmatch(document(t, "docs/policies.md"), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d policies", len(blocks))
	}
	for i, block := range blocks {
		files := map[string]string{"shown.rego": block[1]}
		if strings.Contains(block[1], "_test\n") {
			files = map[string]string{"shown.rego": blocks[0][1], "shown_test.rego": block[1]}
		}
		results, err := rego.Test(context.Background(), rego.Source{Files: files, Data: []byte("{}")}, nil)
		if err != nil {
			t.Errorf("block %d: %v", i, err)
		}
		if len(files) > 1 && len(results) == 0 {
			t.Errorf("block %d has no test", i)
		}
		for _, r := range results {
			if r.Outcome != rego.Passed {
				t.Errorf("block %d, %s: %v %s", i, r.Name, r.Outcome, r.Message)
			}
		}
	}
}

// What brings a compiler on Debian is the same in the tutorial and in the Makefile of
// a new policy.
func TestDocumentedCompilers(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^(?:#\t)?(apt-get install --no-install-recommends .* make)$`)
	var shown, headed []string
	for _, line := range lines.FindAllStringSubmatch(document(t, "docs/policies.md"), -1) {
		shown = append(shown, line[1])
	}
	for _, language := range languageNames() {
		if language == "rego" {
			continue
		}
		text, err := templates.ReadFile("templates/module/" + language + ".mk")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines.FindAllStringSubmatch(string(text), -1) {
			headed = append(headed, line[1])
		}
	}
	slices.Sort(shown)
	slices.Sort(headed)
	if diff := cmp.Diff(headed, shown); diff != "" || len(shown) != len(moduleLanguages) {
		t.Errorf("of the tutorial (-Makefiles +tutorial), %d lines:\n%s", len(shown), diff)
	}
}

func document(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
