package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gatewright/internal/config"
	"gatewright/internal/provider/fake"
)

//go:embed demo.yaml
var demoConfig []byte

// upstreamsVariable is what the demo's configuration calls the address of the
// simulated upstreams.
const upstreamsVariable = "DEMO_UPSTREAMS"

func newDemo() *cobra.Command {
	var flags common
	var listen string
	var traffic bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a gateway in front of three simulated upstreams",
		Long: `Run a gateway in front of three simulated upstreams: one cheap and slow, one quick
and dear, one flaky. Nothing leaves this machine and no key is needed. What the
gateway decides is printed, one line a request.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return demo(c, flags, listen, traffic)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&listen, "listen", "", "`address` of the gateway (default: the configuration's)")
	c.Flags().BoolVar(&traffic, "traffic", false, "send sample requests, two a second, until the demo ends")
	return c
}

func demo(c *cobra.Command, flags common, listen string, traffic bool) error {
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	dir := flags.dataDir
	if dir == "" {
		made, err := os.MkdirTemp("", "gatewright-demo-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(made) }()
		dir = made
	}
	path, err := demoFile(flags.config, dir)
	if err != nil {
		return err
	}
	upstreams, err := demoUpstreams(ctx)
	if err != nil {
		return err
	}
	load := func() (*config.File, config.Problems) {
		file, problems := loadDemo(path, upstreams)
		if file != nil {
			file.DataDir = dir
			if listen != "" {
				file.Listen = listen
			}
		}
		return file, problems
	}
	out := c.OutOrStdout()
	ready := func(address string) {
		introduce(out, address, path)
		if traffic {
			go drive(ctx, "http://"+address)
		}
	}
	return serve(c, load, serveOptions{path: path, dataDir: dir, recorder: story{out}, ready: ready, quiet: true})
}

// demoFile returns the configuration to run: the one that was named, or the
// demo's own, written where it can be edited.
func demoFile(named, dir string) (string, error) {
	if named != "" {
		return named, nil
	}
	path := filepath.Join(dir, "demo.yaml")
	if _, err := os.Stat(path); err == nil {
		return path, nil // edited in an earlier run
	}
	const private = 0o600
	return path, os.WriteFile(path, demoConfig, private)
}

// demoUpstreams starts the simulated upstreams on a free port of loopback and
// returns their address. They end with ctx.
func demoUpstreams(ctx context.Context) (string, error) {
	script, err := fake.Parse("demo", fake.Demo())
	if err != nil {
		return "", err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = serveUpstreams(ctx, listener, fake.New(script, fake.Options{})) }()
	return "http://" + listener.Addr().String(), nil
}

// loadDemo reads a configuration that may name the simulated upstreams.
func loadDemo(path, upstreams string) (*config.File, config.Problems) {
	return config.Load(path, config.Options{Env: demoEnvironment(upstreams)})
}

func demoEnvironment(upstreams string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == upstreamsVariable {
			return upstreams, true
		}
		return os.LookupEnv(name)
	}
}

func introduce(w io.Writer, address, path string) {
	_, _ = fmt.Fprintf(w, `Gatewright demo: one endpoint, three simulated upstreams.

  cheap   slow, a fraction of a dollar per million tokens
  quick   fast and dear
  flaky   the cheapest; one request in five fails

Ask it something:

  curl -s http://%s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model": "demo", "messages": [{"role": "user", "content": "Hello"}]}'

Other models: demo-cheapest, demo-quickest (once 20 streams have been measured), and
quick/demo, which asks that upstream alone.
Its configuration is %s: edit it, it is reloaded.
Who answered, and why, is printed below. Ctrl-C ends the demo.

`, address, path)
}

// quietLogger hides what is routine: the demo tells its own story.
func quietLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
