package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// output is the flag that chooses between text for people and JSON.
type output struct{ format string }

func (o *output) add(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", "text", "`format`: text or json")
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.format != "text" && o.format != "json" {
			return usageError{fmt.Errorf("unknown output %q; there are text and json", o.format)}
		}
		return run(c, args)
	}
}

func (o *output) json() bool { return o.format == "json" }

// printJSON prints a value, indented.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table prints rows in columns; the first row is their names. A cell that is
// empty shows as a dash.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if cell == "" {
				cell = "-"
			}
			if i > 0 {
				_, _ = io.WriteString(t, "\t") // Flush tells
			}
			_, _ = io.WriteString(t, printable(cell))
		}
		_, _ = io.WriteString(t, "\n")
	}
	return t.Flush()
}

// printable keeps text of others from steering the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
