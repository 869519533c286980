package main

import (
	"context"
	"embed"
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

// demoFiles are the configuration of the demo and its policies. value.wasm is the
// ranking of wasm/sdk/c.
//
//go:embed demo
var demoFiles embed.FS

// demoConfig is the name of the configuration among them.
const demoConfig = "demo.yaml"

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
	var operators adminAccess
	ready := func(address string) {
		introduce(out, address, path, &operators)
		if traffic {
			go drive(ctx, "http://"+address)
		}
	}
	return serve(c, load, serveOptions{
		path: path, dataDir: dir, recorder: story{out}, ready: ready, quiet: true,
		adminReady: func(address string) { operators.address = address },
		adminToken: func(token string) { operators.token = token },
	})
}

// adminAccess is how the admin API of the demo is reached.
type adminAccess struct {
	address string // "" = it is off
	token   string // "" = it was shown by an earlier run, or is the user's own
}

// String says what to set, and what can be done then.
func (a *adminAccess) String() string {
	if a.address == "" {
		return fmt.Sprintf(`
It has no admin API, so no policy can be pushed: another process has %s, or
admin.listen turns it off.
`, config.DefaultAdminListen)
	}
	token := ""
	if a.token != "" {
		token = " " + config.AdminTokenVariable + "=" + a.token
	}
	return fmt.Sprintf(`
Its policies, and whom they serve, from another terminal:

  export %s=http://%s%s
  gatewright policy list
  gatewright bind list
`, adminVariable, a.address, token)
}

// demoFile returns the configuration to run: the one that was named, or the
// demo's own, written with its policies where they can be edited.
func demoFile(named, dir string) (string, error) {
	if named != "" {
		return named, nil
	}
	path := filepath.Join(dir, demoConfig)
	if _, err := os.Stat(path); err == nil {
		return path, nil // edited in an earlier run
	}
	const private = 0o700
	if err := os.MkdirAll(filepath.Join(dir, "policies"), private); err != nil {
		return "", err
	}
	for name, to := range map[string]string{
		"residency.rego": filepath.Join(dir, "policies", "residency.rego"),
		"value.wasm":     filepath.Join(dir, "policies", "value.wasm"),
		demoConfig:       path,
	} {
		text, err := demoFiles.ReadFile("demo/" + name)
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	return path, nil
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

func introduce(w io.Writer, address, path string, operators *adminAccess) {
	_, _ = fmt.Fprintf(w, `Gatewright demo: one endpoint, three simulated upstreams, two policies.

  cheap       in the eu; slow, a fraction of a dollar per million tokens
  quick       in the us; fast and dear
  flaky       in the eu; the cheapest; one request in five fails

  residency   Rego: keeps a request in the region that its metadata names
  value       Wasm: orders demo-value by what the request costs and what waiting is worth

Ask it something:

  curl -s http://%s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model": "demo-value", "metadata": {"residency": "eu"}, "messages": [{"role": "user", "content": "Hello"}]}'

Other models: demo, demo-cheapest, demo-quickest (once 20 streams have been measured),
and quick/demo, which asks that upstream alone.
Its configuration is %s.
Edit it, or policies/residency.rego beside it: what is saved is reloaded.
%s
Who answered, and why, is printed below. Ctrl-C ends the demo.

`, address, path, operators)
}

// quietLogger hides what is routine: the demo tells its own story.
func quietLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
