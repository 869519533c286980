package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"gatewright/internal/app"
	"gatewright/internal/config"
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
				if err := app.Check(file); err != nil {
					problems = append(problems, config.Problem{File: path, Message: err.Error()})
				}
			}
			return printCheck(c, path, output, file, problems)
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	return c
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
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s: ok, %s, %s\n", path, count(len(file.Models), "model"), count(len(file.Providers), "provider"))
		return err
	}
	return nil
}
