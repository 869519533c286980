package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError marks a command line that was wrong, for the exit status.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default handling is back: a second one quits.
	context.AfterFunc(ctx, stop)
	status := run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// run runs one command line and returns its exit status.
func run(ctx context.Context, args []string) int {
	root := newRoot() //nolint:contextcheck // cobra hands the context to the verbs
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintf(os.Stderr, "gatewright: %v\n", err)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// errSaid fails a command that has told the user why by itself.
var errSaid = errors.New("failed")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "gatewright",
		Short:         "A programmable gateway for LLM traffic",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
	})
	root.AddCommand(newServe(), newDemo(), newCheck(), newSimulate(), newStore(), newPolicy(), newBind(), newVet(), newVersion())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// noArgs refuses arguments as wrong usage.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("unknown argument %q for %s; see %s --help", args[0], c.CommandPath(), c.CommandPath())}
}
