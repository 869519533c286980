package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatewright/policies"
)

func newPolicyInspect() *cobra.Command {
	var flags asking
	var profile string
	c := &cobra.Command{
		Use:   "inspect NAME|FILE|FOLDER",
		Short: "Show a policy of the gateway, or what a file of one is made of",
		Long: `Show a policy of the gateway, or what a file of one is made of.

A FILE (.rego, .wasm, .tar.gz) or FOLDER is checked here, without a gateway: of a
module imports, exports, ABI, memory and limits; of Rego what it answers and what it
reads. Anything else is the name of a policy, which the gateway is asked about.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usageError{fmt.Errorf("%s takes the name of a policy, a file or a folder; see %s --help", c.CommandPath(), c.CommandPath())}
		},
		RunE: func(c *cobra.Command, args []string) error {
			if known := choices["profile"]; profile != "" && !slices.Contains(known, profile) {
				return usageError{fmt.Errorf("--profile %q: there are %s", profile, strings.Join(known, ", "))}
			}
			if isSource(args[0]) {
				return inspectSource(c, &flags.output, args[0], profile)
			}
			return flags.inspect(c, args[0])
		},
	}
	flags.add(c)
	c.Flags().StringVar(&profile, "profile", "", "`profile` of the sandbox to check a module against: small, opa or go (default: the one that fits)")
	return c
}

// isSource tells a file or a folder from the name of a policy, which holds no
// slash and ends in no extension of one.
func isSource(arg string) bool {
	if strings.ContainsRune(arg, os.PathSeparator) || strings.HasSuffix(arg, ".rego") || strings.HasSuffix(arg, ".wasm") || strings.HasSuffix(arg, ".tar.gz") {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && info.IsDir()
}

// inspect shows a policy of the gateway with its versions.
func (a *asking) inspect(c *cobra.Command, name string) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	var p policyView
	whole, err := api.get(c.Context(), &p, "policies", name)
	if err != nil {
		return told(c, &a.output, err, nil)
	}
	entries, err := api.list(c.Context(), "policies", name, "versions")
	if err != nil {
		return told(c, &a.output, err, nil)
	}
	bindings, err := api.bindingsOf(c.Context(), name)
	if err != nil {
		return told(c, &a.output, err, nil)
	}
	if a.json() {
		return printJSON(c.OutOrStdout(), map[string]any{"policy": json.RawMessage(whole.body), "versions": entries, "bindings": bindings})
	}
	return printPolicy(c.OutOrStdout(), &p, entries, bindings)
}

// bindingsOf lists the bindings of one policy, each as it came.
func (c *client) bindingsOf(ctx context.Context, policy string) ([]json.RawMessage, error) {
	all, err := c.list(ctx, "bindings")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(text json.RawMessage) bool {
		var b bindingView
		return json.Unmarshal(text, &b) != nil || b.Policy != policy
	}), nil
}

func printPolicy(w io.Writer, p *policyView, versions, bindings []json.RawMessage) error {
	from := "uploaded"
	if p.Managed {
		from = "of the configuration file"
	}
	_, _ = fmt.Fprintf(w, "%s, %s, %s\n", printable(p.Name), p.Kind, from) // the tables tell
	_, _ = fmt.Fprintln(w, printable(p.now()))
	if s := p.Status; s != nil && s.LastFault != "" {
		at := ""
		if s.LastFaultAt != nil {
			at = " at " + s.LastFaultAt.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(w, "last fault%s: %s\n", at, printable(s.LastFault))
	}
	for _, text := range bindings {
		var b bindingView
		if err := json.Unmarshal(text, &b); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "bound by %s: %s, %s\n", printable(b.ID), printable(b.scope()), b.OnFault)
	}
	rows := [][]string{{"VERSION", "STATE", "FORMAT", "PROFILE", "BYTES", "UPLOADED", "ASKED", "FAULTS", "DIFFERS"}}
	var notes []string
	for _, text := range versions {
		row, err := versionRow(text)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		var v versionView
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		notes = append(notes, v.notes()...)
	}
	if err := table(w, rows); err != nil {
		return err
	}
	for _, n := range notes {
		_, _ = fmt.Fprintln(w, printable(n))
	}
	return nil
}

// notes say what a table has no room for: of a version that is used or may be.
func (v *versionView) notes() []string {
	if v.State == policies.StageRetired {
		return nil
	}
	var list []string
	for _, n := range [...]struct {
		what  string
		names []string
	}{{"reads", v.Inputs}, {"reasons", v.Reasons}} {
		if len(n.names) > 0 {
			list = append(list, short(v.Version)+" "+n.what+": "+strings.Join(n.names, ", "))
		}
	}
	for _, w := range v.Warnings {
		list = append(list, short(v.Version)+" warning: "+w)
	}
	return list
}

// sourceReport is what a file of a policy is made of.
type sourceReport struct {
	OK       bool               `json:"ok"`
	File     string             `json:"file"`
	Format   string             `json:"format"`
	Kind     string             `json:"kind,omitempty"`
	Facts    []fact             `json:"facts,omitempty"`
	Problems []policies.Problem `json:"problems"`
}

// fact is one thing that is known of a source.
type fact struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

func (r *sourceReport) fact(name string, values ...string) {
	if len(values) > 0 && !slices.Equal(values, []string{""}) {
		r.Facts = append(r.Facts, fact{name, values})
	}
}

// inspectSource checks a file or a folder, and prints what it is made of.
func inspectSource(c *cobra.Command, o *output, path, profile string) error {
	u, err := readUpload(path)
	if err != nil {
		return err
	}
	report := &sourceReport{File: path, Problems: []policies.Problem{}}
	if u.media == medias["wasm"] {
		inspectModule(report, u.body, profile)
	} else {
		if profile != "" {
			return usageError{errors.New("--profile is for .wasm modules; Rego has its own")}
		}
		if err := inspectRego(c.Context(), report, u); err != nil {
			return err
		}
	}
	report.OK = len(report.Problems) == 0
	if err := report.print(c.OutOrStdout(), o); err != nil {
		return err
	}
	if !report.OK {
		return errSaid
	}
	return nil
}

func (r *sourceReport) print(w io.Writer, o *output) error {
	if o.json() {
		return printJSON(w, r)
	}
	title := r.File + ": " + r.Format
	if r.Kind != "" {
		title += ", " + r.Kind
	}
	if _, err := fmt.Fprintln(w, printable(title)); err != nil {
		return err
	}
	width := 0
	for _, f := range r.Facts {
		width = max(width, len(f.Name))
	}
	for _, f := range r.Facts {
		for i, v := range f.Values {
			name := f.Name
			if i > 0 {
				name = ""
			}
			_, _ = fmt.Fprintf(w, "  %-*s  %s\n", width, name, printable(v)) // the last line tells
		}
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintln(w, printable(p.String()))
	}
	verdict := "ok"
	if n := len(r.Problems); n > 0 {
		verdict = count(n, "problem")
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// of writes a number beside the most that it may be.
func of(n, most int) string { return strconv.Itoa(n) + " of " + strconv.Itoa(most) }
