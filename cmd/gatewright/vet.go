package main

import (
	"log/slog"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"gatewright/internal/vetting"
)

// vetVerb is what the gateway starts itself with to judge an upload.
const vetVerb = "vet-upload"

// newVet is for the gateway alone: people have gatewright policy test.
func newVet() *cobra.Command {
	return &cobra.Command{
		Use:    vetVerb,
		Short:  "Judge an uploaded policy for a gateway that runs",
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			logger := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			return vetting.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), logger)
		},
	}
}

// vetCommand is how the gateway starts itself; nil if it cannot be told.
func vetCommand() []string {
	if runtime.GOOS == "linux" {
		// This is the binary that runs, even where another has taken its place.
		return []string{"/proc/self/exe", vetVerb}
	}
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{path, vetVerb}
}
