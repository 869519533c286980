package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for a release.
var version = "0.1.0-dev"

// build is what `gatewright version` says.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Commit  string `json:"commit"`
}

func newVersion() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go release and the commit",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := build{Version: version, Go: runtime.Version(), Commit: commit()}
			switch output {
			case "json":
				return json.NewEncoder(c.OutOrStdout()).Encode(b)
			case "text":
				_, err := fmt.Fprintf(c.OutOrStdout(), "gatewright %s (%s, commit %s)\n", b.Version, b.Go, b.Commit)
				return err
			}
			return usageError{fmt.Errorf("unknown output %q; there are text and json", output)}
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	return c
}

// commit is the revision that the binary was built from, if the build knew it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return revision + dirty
}
