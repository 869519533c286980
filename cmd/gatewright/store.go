package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gatewright/store"
)

func newStore() *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "Check or compact the file that keeps sessions, cooldowns and circuits",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newStoreCheck(), newStoreCompact())
	return c
}

// onePath takes exactly one argument: the file, or its folder.
func onePath(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usageError{fmt.Errorf("%s takes one path, a data folder or the file in it; see %s --help", c.CommandPath(), c.CommandPath())}
}

func newStoreCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check PATH",
		Short: "Read every record and say what is damaged; the file is not changed",
		Args:  onePath,
		RunE: func(c *cobra.Command, args []string) error {
			return store.Check(args[0], c.OutOrStdout())
		},
	}
}

func newStoreCompact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact PATH",
		Short: "Rewrite the file without its free space; the gateway must not be running",
		Args:  onePath,
		RunE: func(c *cobra.Command, args []string) error {
			before, after, err := store.Compact(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %d bytes before, %d after\n", args[0], before, after)
			return err
		},
	}
}
