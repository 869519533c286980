package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatewright/internal/config"
	"gatewright/policies"
	"gatewright/policies/conform"
	"gatewright/wasm/rego"
)

const (
	regoSuffix = ".rego"
	testSuffix = "_test.rego"
)

func newPolicyTest() *cobra.Command {
	var out output
	var verbose bool
	var flags moduleFlags
	c := &cobra.Command{
		Use:   "test PATH…",
		Short: "Run the tests of policies in Rego, and hold Wasm modules to the contract",
		Long: `Run the tests of policies in Rego: the rules that begin with test_ in files that end
in _test.rego, as OPA knows them. Each runs twice, in OPA's own evaluator and in the
compiled form in the gateway's sandbox, and must pass in both.

A file is one policy, and its tests stand beside it: office.rego and office_test.rego.
A folder or a bundle (.tar.gz) is one policy with all that is in it.

A module (.wasm) is asked some hundred times: pools of all sizes, figures that nobody
knows, ties, odd texts. Each clause of docs/wasm-abi.md that it breaks is named, and
what its calls cost is measured. Give it the parameters of its binding.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return usageError{fmt.Errorf("%s takes files or folders; see %s --help", c.CommandPath(), c.CommandPath())}
		},
		RunE: func(c *cobra.Command, args []string) error {
			suites, modules, err := findSuites(args)
			if err != nil {
				return err
			}
			if err := flags.resolve(c, modules); err != nil {
				return err
			}
			return runSuites(c, &out, suites, &flags, verbose)
		},
	}
	out.add(c)
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "list the tests and the clauses that pass too, and what tests print")
	flags.add(c)
	return c
}

// suite is one policy with its tests.
type suite struct {
	path   string
	source rego.Source
	place  func(string) string
}

// findSuites makes suites of paths, and returns those of modules apart. A policy
// that is named twice, by itself and by its tests, is one.
func findSuites(paths []string) (list []suite, modules []string, err error) {
	for _, path := range paths {
		if stem, ok := strings.CutSuffix(path, testSuffix); ok {
			path = stem + regoSuffix
		}
		if slices.ContainsFunc(list, func(s suite) bool { return s.path == path }) {
			continue
		}
		if format, _ := config.PolicyFormatOf(path); format == config.PolicyWasm {
			modules = append(modules, path)
			continue
		}
		u, err := readUpload(path)
		if err != nil {
			return nil, nil, err
		}
		s := suite{path: path, source: regoSource(u), place: u.place}
		if s.source.Files != nil {
			if err := s.beside(); err != nil {
				return nil, nil, err
			}
		}
		list = append(list, s)
	}
	return list, modules, nil
}

// beside adds the tests that stand beside a file.
func (s *suite) beside() error {
	file := strings.TrimSuffix(s.path, regoSuffix) + testSuffix
	text, err := os.ReadFile(file) //nolint:gosec // beside a file that the user names
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const name = "policy" + testSuffix // which no message shows
	s.source.Files[name] = string(text)
	policy := s.place
	s.place = func(f string) string {
		if f == name {
			return file
		}
		return policy(f)
	}
	return nil
}

// testReport is what became of all tests, for JSON.
type testReport struct {
	OK       bool               `json:"ok"`
	Tests    []testLine         `json:"tests"`
	Modules  []moduleLine       `json:"modules"`
	Problems []policies.Problem `json:"problems"`
}

// testLine is one test in one form of its policy.
type testLine struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Name    string `json:"name"`
	Form    string `json:"form"` // native or compiled
	Outcome string `json:"outcome"`
	Message string `json:"message,omitempty"`
	Output  string `json:"output,omitempty"`
	Millis  int64  `json:"duration_ms"`
}

func runSuites(c *cobra.Command, o *output, suites []suite, modules *moduleFlags, verbose bool) error {
	report := testReport{Tests: []testLine{}, Modules: []moduleLine{}, Problems: []policies.Problem{}}
	for i := range suites {
		if err := suites[i].run(c.Context(), &report); err != nil {
			return err
		}
	}
	if err := modules.examine(c.Context(), &report); err != nil {
		return err
	}
	report.OK = len(report.Problems) == 0 && !slices.ContainsFunc(report.Modules, moduleLine.broken) && !slices.ContainsFunc(report.Tests, testLine.broken)
	var err error
	if o.json() {
		err = printJSON(c.OutOrStdout(), report)
	} else {
		err = report.print(c.OutOrStdout(), verbose, len(suites) > 0)
	}
	if err == nil && !report.OK {
		return errSaid
	}
	return err
}

// run runs one suite and adds what became of it.
func (s *suite) run(ctx context.Context, report *testReport) (err error) {
	kit, err := conform.New() //nolint:contextcheck // it lives until it is closed
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kit.Close(context.WithoutCancel(ctx))) }()
	results, err := kit.Test(ctx, s.source)
	if refused, ok := errors.AsType[*rego.Error](err); ok {
		report.Problems = append(report.Problems, regoProblems(refused.Problems, s.place)...)
		return nil
	}
	for _, r := range results {
		form := "native"
		if r.Compiled {
			form = "compiled"
		}
		report.Tests = append(report.Tests, testLine{
			File: s.place(r.File), Line: r.Line, Name: r.Name, Form: form, Outcome: r.Outcome.String(),
			Message: strings.ReplaceAll(r.Message, r.File+":", s.place(r.File)+":"), Output: r.Output, Millis: r.Duration.Milliseconds(),
		})
	}
	if err == nil && len(results) == 0 {
		report.Tests = append(report.Tests, testLine{File: s.path, Outcome: "skip", Message: "there are no tests: rules that begin with test_, in a file that ends in " + testSuffix})
	}
	return err
}

// broken reports whether the test must be looked at.
func (l testLine) broken() bool {
	return l.Outcome != rego.Passed.String() && l.Outcome != rego.Skipped.String()
}

func (r *testReport) print(w io.Writer, verbose, tests bool) error {
	for i := range r.Modules {
		if err := r.Modules[i].print(w, verbose); err != nil {
			return err
		}
	}
	if !tests {
		return nil
	}
	counts := map[string]int{}
	for _, l := range r.Tests {
		counts[l.Outcome]++
		if !l.broken() && !verbose && l.Name != "" {
			continue
		}
		_, _ = fmt.Fprintln(w, printable(l.String())) // the last line tells
		for line := range strings.Lines(l.Output) {
			_, _ = fmt.Fprintln(w, "    "+printable(strings.TrimRight(line, "\n")))
		}
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintln(w, printable(p.String()))
	}
	parts := []string{fmt.Sprintf("%d passed", counts[rego.Passed.String()])}
	for _, o := range []rego.Outcome{rego.Failed, rego.Errored, rego.Skipped} {
		if n := counts[o.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, map[rego.Outcome]string{
				rego.Failed: "failed", rego.Errored: "had an error", rego.Skipped: "skipped",
			}[o]))
		}
	}
	if n := len(r.Problems); n > 0 {
		parts = append(parts, count(n, "problem"))
	}
	_, err := fmt.Fprintln(w, strings.Join(parts, ", "))
	return err
}

// String shows the test on one line.
func (l testLine) String() string {
	if l.Name == "" {
		return l.File + ": " + l.Message
	}
	text := fmt.Sprintf("%s:%d: %s: %s (%s, %v)", l.File, l.Line, strings.ToUpper(l.Outcome), l.Name, l.Form, time.Duration(l.Millis)*time.Millisecond)
	if l.Message != "" {
		text += ": " + l.Message
	}
	return text
}
