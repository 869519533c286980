package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"gatewright/internal/provider/fake"
)

func newSimulate() *cobra.Command {
	var listen string
	var verbose, faults bool
	c := &cobra.Command{
		Use:   "simulate [SCRIPT]",
		Short: "Run simulated upstreams, scripted by a YAML file",
		Long: `Run simulated upstreams: each answers below http://ADDRESS/NAME/v1 as OpenAI and
Anthropic do, and below http://ADDRESS/NAME/v1beta as Google does, with the latency,
the faults and the quotas of the script. Without a script it plays the three
upstreams of the demo. docs/simulate.md has the whole schema.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("one script at a time; see %s --help", c.CommandPath())}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if faults {
				return listFaults(c)
			}
			script, err := readScript(args)
			if err != nil {
				return err
			}
			logger := slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil))
			return simulate(c.Context(), script, listen, logger, verbose)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9101", "`address`, on loopback")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "log each request")
	c.Flags().BoolVar(&faults, "faults", false, "list the faults that a script can name, and end")
	return c
}

func listFaults(c *cobra.Command) error {
	for _, f := range fake.Faults() {
		if _, err := fmt.Fprintf(c.OutOrStdout(), "%-28s %s\n", f.Name, f.Does); err != nil {
			return err
		}
	}
	return nil
}

func readScript(args []string) (*fake.Script, error) {
	if len(args) == 0 {
		return fake.Parse("demo", fake.Demo())
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return nil, err
	}
	return fake.Parse(args[0], text)
}

// simulate serves the script until ctx ends. Loopback only: a simulated
// upstream takes orders from anyone who reaches it.
func simulate(ctx context.Context, script *fake.Script, listen string, logger *slog.Logger, verbose bool) error {
	if err := onLoopback(listen); err != nil {
		return err
	}
	var options fake.Options
	if verbose {
		options.Logger = logger
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	upstreams := fake.New(script, options)
	logger.InfoContext(ctx, "serving", slog.String("address", listener.Addr().String()), slog.Any("upstreams", upstreams.Names()))
	return serveUpstreams(ctx, listener, upstreams)
}

// serveUpstreams serves simulated upstreams until ctx ends, and closes them.
func serveUpstreams(ctx context.Context, listener net.Listener, upstreams *fake.Upstreams) error {
	defer func() { _ = upstreams.Close() }() // nothing is kept
	server := &http.Server{Handler: upstreams, ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func onLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return usageError{fmt.Errorf("--listen %q: %w", listen, err)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usageError{fmt.Errorf("--listen %q: simulated upstreams listen on loopback only, for example 127.0.0.1:9101", listen)}
	}
	return nil
}
