package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatewright/policies/conform"
)

// moduleFlags say which modules are tested, and as whose.
type moduleFlags struct {
	profile    string
	stateful   bool
	parameters objectFlags

	paths  []string
	params []byte
}

func (f *moduleFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.profile, "profile", "", "`profile` of the sandbox for .wasm modules: small or go (default: small)")
	c.Flags().BoolVar(&f.stateful, "stateful", false, "the .wasm modules keep state on purpose, and so will their bindings")
	f.parameters.add(c)
}

// resolve reads what the flags name.
func (f *moduleFlags) resolve(c *cobra.Command, modules []string) error {
	f.paths = modules
	if len(modules) == 0 {
		for _, name := range []string{"profile", "stateful", "param", "params"} {
			if c.Flags().Changed(name) {
				return usageError{fmt.Errorf("--%s is for .wasm modules, and none is named; a test in Rego sets data.params itself", name)}
			}
		}
		return nil
	}
	if f.profile != "" && f.profile != "small" && f.profile != "go" {
		return usageError{fmt.Errorf("--profile %q: there are small and go", f.profile)}
	}
	params, err := f.parameters.object(c.InOrStdin())
	if err != nil || params == nil {
		return err
	}
	f.params, err = json.Marshal(params)
	return err
}

// moduleLine is what became of one module, for JSON.
type moduleLine struct {
	File    string       `json:"file"`
	OK      bool         `json:"ok"`
	Kind    string       `json:"kind,omitempty"`
	Profile string       `json:"profile"`
	Budget  int64        `json:"budget_units,omitempty"`
	Clauses []clauseLine `json:"clauses"`
	Costs   []costLine   `json:"costs"`
	Advice  []string     `json:"advice"`
}

func (m moduleLine) broken() bool { return !m.OK }

// clauseLine is one clause.
type clauseLine struct {
	Clause  string `json:"clause"`
	Demand  string `json:"demand"`
	Outcome string `json:"outcome"` // ok, broken or skipped
	Asked   int    `json:"asked"`
	Failed  int    `json:"failed"`
	Detail  string `json:"detail,omitempty"`
}

// costLine is what one call took.
type costLine struct {
	Candidates int     `json:"candidates"`
	Units      int64   `json:"units"`
	Share      float64 `json:"budget_share"`
	Micros     float64 `json:"duration_us"`
	Fault      string  `json:"fault,omitempty"`
}

// examine tests the modules and adds what became of them.
func (f *moduleFlags) examine(ctx context.Context, report *testReport) (err error) {
	if len(f.paths) == 0 {
		return nil
	}
	kit, err := conform.New() //nolint:contextcheck // it lives until it is closed
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kit.Close(context.WithoutCancel(ctx))) }()
	for _, path := range f.paths {
		body, err := os.ReadFile(path) //nolint:gosec // the user names the file
		if err != nil {
			return err
		}
		r, err := kit.Examine(ctx, conform.Subject{
			Name: strings.TrimSuffix(filepath.Base(path), ".wasm"), Bytes: body, Profile: f.profile, Params: f.params, Stateful: f.stateful,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		report.Modules = append(report.Modules, lineOf(path, r))
	}
	return nil
}

func lineOf(path string, r *conform.Report) moduleLine {
	m := moduleLine{
		File: path, OK: r.OK(), Kind: r.Kind, Profile: r.Profile, Budget: r.Budget,
		Clauses: make([]clauseLine, len(r.Findings)), Costs: make([]costLine, len(r.Costs)), Advice: append([]string{}, r.Advice...),
	}
	for i, f := range r.Findings {
		m.Clauses[i] = clauseLine{string(f.Clause), f.Demand, string(f.Outcome), f.Asked, f.Failed, f.Detail}
	}
	for i, c := range r.Costs {
		m.Costs[i] = costLine{c.Candidates, c.Units, float64(c.Units) / float64(r.Budget), float64(c.Took.Nanoseconds()) / 1000, c.Fault}
	}
	return m
}

// print shows the clauses, those that are kept in short, and the costs.
func (m moduleLine) print(w io.Writer, verbose bool) error {
	title := m.File + ": profile " + m.Profile
	if m.Kind != "" {
		title = m.File + ": " + m.Kind + ", profile " + m.Profile
	}
	_, _ = fmt.Fprintln(w, printable(title)) // the last line tells
	rows := [][]string{{"CLAUSE", "RESULT", "ASKED", "BROKEN", "WHAT IT SAYS"}}
	counts := map[string]int{}
	var details []string
	for _, c := range m.Clauses {
		counts[c.Outcome]++
		if c.Outcome == string(conform.Broken) {
			details = append(details, c.Clause+" is broken: "+c.Detail+more(c.Failed))
		}
		if c.Outcome == string(conform.Broken) || verbose {
			rows = append(rows, []string{c.Clause, c.Outcome, strconv.Itoa(c.Asked), strconv.Itoa(c.Failed), c.Demand})
		}
		if c.Outcome == string(conform.Skipped) && verbose {
			details = append(details, c.Clause+" is skipped: "+c.Detail)
		}
	}
	if len(rows) > 1 {
		if err := table(w, rows); err != nil {
			return err
		}
	}
	for _, d := range details {
		_, _ = fmt.Fprintln(w, printable(d))
	}
	if err := m.printCosts(w); err != nil {
		return err
	}
	for _, a := range m.Advice {
		_, _ = fmt.Fprintln(w, printable("note: "+a))
	}
	parts := []string{count(counts[string(conform.Kept)], "clause") + " kept"}
	for _, o := range []conform.Outcome{conform.Broken, conform.Skipped} {
		if n := counts[string(o)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(parts, ", "))
	return err
}

// more says how often something happened besides the time that is shown.
func more(failed int) string {
	if failed < 2 {
		return ""
	}
	return fmt.Sprintf(" (and %s)", count(failed-1, "more time"))
}

func (m moduleLine) printCosts(w io.Writer) error {
	if len(m.Costs) == 0 {
		return nil
	}
	rows := [][]string{{"CANDIDATES", "UNITS", "OF THE BUDGET", "TIME"}}
	for _, c := range m.Costs {
		if c.Fault != "" {
			rows = append(rows, []string{strconv.Itoa(c.Candidates), "", "", c.Fault})
			continue
		}
		rows = append(rows, []string{
			strconv.Itoa(c.Candidates), strconv.FormatInt(c.Units, 10), strconv.FormatFloat(c.Share*100, 'f', 1, 64) + " %",
			strconv.FormatFloat(c.Micros, 'f', 1, 64) + " µs",
		})
	}
	return table(w, rows)
}
