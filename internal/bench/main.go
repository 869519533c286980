package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/load"
	"gatewright/internal/bench/mock"
	"gatewright/internal/bench/ref"
	"gatewright/internal/bench/suite"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "bench: %v; -h lists the flags\n", err)
		os.Exit(exitUsage)
	}
	fmt.Fprintf(os.Stderr, "bench: %v\n", err)
	os.Exit(exitFailed)
}

// run directs a run, or plays one part in it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return direct(ctx, args, stdout, stderr)
	}
	switch args[0] {
	case "mock":
		upstream := mock.New(mock.Options{Gap: dialog.Gap, RetryAfter: dialog.RetryAfter})
		return listen(ctx, stdout, upstream.Serve)
	case "ref":
		if len(args) != 2 {
			return fmt.Errorf("%w: bench ref UPSTREAM", errUsage)
		}
		return listen(ctx, stdout, func(ctx context.Context, l net.Listener) error { return ref.Serve(ctx, l, args[1]) })
	case "load":
		if len(args) != 2 {
			return fmt.Errorf("%w: bench load JOB", errUsage)
		}
		return runJob(ctx, args[1], stdout)
	}
	return direct(ctx, args, stdout, stderr)
}

// listen serves on a free port of loopback, whose address it prints.
func listen(ctx context.Context, stdout io.Writer, serve func(context.Context, net.Listener) error) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return serve(ctx, l)
}

// runJob runs a job of the load and prints its result.
func runJob(ctx context.Context, text string, stdout io.Writer) error {
	var job load.Job
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	result, err := load.Run(ctx, job)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(result)
}

// direct directs a run and prints its report.
func direct(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gatewright-bench-build-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := c.prepare(ctx, dir, stderr); err != nil {
		return err
	}
	r := c.report(ctx)
	if err := suite.Run(ctx, c.options, r); err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted; every process was ended")
		}
		return err
	}
	if c.output == outputJSON {
		return r.WriteJSON(stdout)
	}
	return r.WriteMarkdown(stdout)
}
