package report

import (
	"fmt"
	"io"
	"strings"
)

// none stands where there is no figure.
const none = "–"

// WriteMarkdown writes the report as a table, with what a reader should know
// before it.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured %s on %s, %s, Linux %s, %s.\n", r.Date, r.Machine.CPU, cores(r.Machine.Cores), r.Machine.Kernel, r.Machine.Go)
	fmt.Fprintf(&b, "Median of %d passes (least–most), scale %g.\n\n", r.Passes, r.Scale)
	for _, g := range r.Gateways {
		fmt.Fprintf(&b, "- %s: %s\n", g.Name, g.Version)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	b.WriteString("\n| work | ref |")
	for _, g := range r.Gateways {
		fmt.Fprintf(&b, " %s |", g.Name)
	}
	b.WriteString(" goal: lean / with policies |\n|---|---|" + strings.Repeat("---|", len(r.Gateways)) + "---|\n")
	for _, row := range r.Rows() {
		fmt.Fprintf(&b, "| %s | %s |", row.Label, cell(row.Ref, row.Unit))
		for _, g := range r.Gateways {
			f := row.Gateways[g.Name]
			if f.Multiple != nil {
				fmt.Fprintf(&b, " %s |", cell(f.Multiple, Multiple))
			} else {
				fmt.Fprintf(&b, " %s |", cell(f.Value, row.Unit))
			}
		}
		goal := row.Goal
		if goal == "" {
			goal = none
		}
		fmt.Fprintf(&b, " %s |\n", goal)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", n)
}

// cell prints a summary: median, and least and most when they differ as
// printed.
func cell(s *Summary, u Unit) string {
	if s == nil {
		return none
	}
	median, unit := u.print(s.Median)
	low, _ := u.print(s.Min)
	high, _ := u.print(s.Max)
	text := median + unit
	if low != high {
		text += " (" + low + "–" + high + ")"
	}
	return text
}

// print returns a figure for people, and its unit with a space before it.
func (u Unit) print(v float64) (number, unit string) {
	switch u {
	case CPUSeconds:
		return fmt.Sprintf("%.1f", v*1e3), " ms"
	case Microseconds:
		return fmt.Sprintf("%.0f", v), " µs"
	case Seconds:
		return fmt.Sprintf("%.0f", v*1e3), " ms"
	case Bytes:
		return fmt.Sprintf("%.0f", v/(1<<20)), " MiB"
	case Multiple:
		return fmt.Sprintf("%.2f", v), " ×"
	case Count:
		return fmt.Sprintf("%.0f", v), ""
	}
	return fmt.Sprintf("%g", v), ""
}
