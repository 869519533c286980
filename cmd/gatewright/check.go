package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"gatewright/internal/app"
	"gatewright/internal/config"
	"gatewright/policies"
)

func newCheck() *cobra.Command {
	var flags common
	var output string
	c := &cobra.Command{
		Use:   "check",
		Short: "Check a configuration: every fault with its place and what to write instead",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return usageError{fmt.Errorf("unknown output %q; there are text and json", output)}
			}
			load, path, err := flags.loader()
			if err != nil {
				return err
			}
			file, problems := load()
			if file != nil {
				if err := app.Check(c.Context(), file); err != nil {
					problems = append(problems, problemsOf(file, err, "")...)
				}
			}
			return printCheck(c, path, output, file, problems)
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	return c
}

// problemsOf lists what keeps a configuration from being run: of its policies each
// problem at its place in their own files. context is what errors around err say.
func problemsOf(file *config.File, err error, context string) config.Problems {
	if source, ok := err.(*policies.SourceError); ok { //nolint:errorlint // what it is, not what it wraps
		return sourceProblems(file, source, boundBy.FindString(context))
	}
	switch e := err.(type) { //nolint:errorlint // one step down
	case interface{ Unwrap() []error }:
		if parts := e.Unwrap(); isJoin(err, parts) {
			var list config.Problems
			for _, p := range parts {
				list = append(list, problemsOf(file, p, context)...)
			}
			return list
		}
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		if before, ok := strings.CutSuffix(err.Error(), inner.Error()); ok {
			return problemsOf(file, inner, context+before)
		}
	}
	return config.Problems{{File: file.Name, Message: context + err.Error()}}
}

// isJoin tells a list of errors from one error that is two things.
func isJoin(err error, parts []error) bool {
	lines := make([]string, len(parts))
	for i, p := range parts {
		lines[i] = p.Error()
	}
	return err.Error() == strings.Join(lines, "\n")
}

// boundBy finds the binding that an error is about.
var boundBy = regexp.MustCompile(`binding "[^"]*": `)

// sourceProblems are the problems of a policy's source, in all cases or for the
// parameters of one binding.
func sourceProblems(file *config.File, source *policies.SourceError, binding string) config.Problems {
	list := make(config.Problems, len(source.Problems))
	for i, p := range source.Problems {
		list[i] = config.Problem{
			File: policyFile(file, source.Name, p.File), Line: p.Line, Column: p.Column,
			Path: "policies." + source.Name, Message: binding + p.Message, Fix: p.Fix,
		}
	}
	return list
}

// policyFile is where a file that a problem of a policy names is: the policy's own
// file, or one in its bundle.
func policyFile(file *config.File, policy, named string) string {
	for i := range file.Policies {
		p := &file.Policies[i]
		switch {
		case p.Name != policy:
		case p.Format == config.PolicyBundle && named != p.File:
			return filepath.Join(p.Path, filepath.FromSlash(named))
		default:
			return p.Path
		}
	}
	return named
}

func printCheck(c *cobra.Command, path, output string, file *config.File, problems config.Problems) error {
	failed := len(problems.Errors()) > 0
	if output == "json" {
		if problems == nil {
			problems = config.Problems{}
		}
		if err := json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"ok": !failed, "problems": problems}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			_, _ = fmt.Fprintln(c.OutOrStdout(), p)
		}
	}
	if failed {
		if output == "text" {
			_, _ = fmt.Fprintln(c.ErrOrStderr(), count(len(problems.Errors()), "error"))
		}
		return errSaid
	}
	if output == "text" {
		if path == "" {
			path = "environment"
		}
		what := []string{count(len(file.Models), "model"), count(len(file.Providers), "provider")}
		if n := len(file.Policies); n == 1 {
			what = append(what, "1 policy")
		} else if n > 1 {
			what = append(what, fmt.Sprintf("%d policies", n))
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s: ok, %s\n", path, strings.Join(what, ", "))
		return err
	}
	return nil
}
