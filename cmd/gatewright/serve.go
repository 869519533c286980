package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"gatewright/engine"
	"gatewright/internal/app"
	"gatewright/internal/config"
	"gatewright/policies"
)

// defaultConfig is the file that serve and check read when none is named.
const defaultConfig = "gatewright.yaml"

// common are the flags that several verbs share.
type common struct {
	config  string
	dataDir string
}

func (f *common) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.config, "config", "c", "", "configuration `file` (default "+defaultConfig+", if there is one)")
	c.Flags().StringVar(&f.dataDir, "data-dir", "", "`folder` for what outlives the process (default: the file's data_dir)")
}

func newServe() *cobra.Command {
	var flags common
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: `Run the gateway.

Without a configuration file it looks for provider keys in the usual environment
variables (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, …) and serves the
models of those providers.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			load, path, err := flags.loader()
			if err != nil {
				return err
			}
			return serve(c, load, serveOptions{path: path, dataDir: flags.dataDir, adminToken: func(token string) {
				_, _ = fmt.Fprintf(c.OutOrStdout(), "The token of the admin API is %s\n"+
					"It is shown this once: keep it, and set %s to it for gatewright policy and gatewright bind.\n", token, config.AdminTokenVariable)
			}})
		},
	}
	flags.add(c)
	return c
}

// loader returns what reads the configuration: the named file, the default
// file where it exists, or the environment (path is then "").
func (f *common) loader() (load app.Loader, path string, err error) {
	path = f.config
	if path == "" {
		switch _, err := os.Stat(defaultConfig); {
		case err == nil:
			path = defaultConfig
		case !errors.Is(err, fs.ErrNotExist):
			return nil, "", err
		}
	}
	if path == "" {
		return fromEnvironment, "", nil
	}
	return func() (*config.File, config.Problems) { return config.Load(path, config.Options{}) }, path, nil
}

// serveOptions say what differs between serve and demo.
type serveOptions struct {
	path     string // the configuration file, to be watched; "" = none
	dataDir  string // overrides the file's
	recorder engine.Recorder
	ready    func(address string)
	quiet    bool // log warnings and errors only

	adminReady func(address string) // the admin API listens there
	adminToken func(token string)   // the token that the first start has made
}

// serve loads the configuration once, says what is wrong with it, and runs the
// gateway until it is told to stop.
func serve(c *cobra.Command, load app.Loader, o serveOptions) error {
	file, problems := load()
	report(c.ErrOrStderr(), problems)
	if file == nil {
		return errSaid
	}
	options := app.Options{
		File: file, Load: load, Path: o.path, DataDir: o.dataDir, Recorder: o.recorder, Ready: o.ready,
		AdminReady: o.adminReady, AdminToken: o.adminToken, Vet: vetCommand(),
	}
	if o.quiet {
		options.Logger = quietLogger(c.ErrOrStderr())
	} else {
		lines := app.NewLogBuffer(c.ErrOrStderr())
		defer lines.Flush()
		options.Logger, options.Log = app.NewLogger(lines, file.Log)
	}
	err := app.Run(c.Context(), options)
	if _, ok := errors.AsType[*policies.SourceError](err); ok {
		report(c.ErrOrStderr(), problemsOf(file, err, ""))
		return errSaid
	}
	return err
}

// report prints problems, one a line, and how many there were.
func report(w io.Writer, problems config.Problems) {
	for _, p := range problems {
		_, _ = fmt.Fprintln(w, p)
	}
	if n := len(problems.Errors()); n > 0 {
		_, _ = fmt.Fprintf(w, "%s: nothing was started\n", count(n, "error"))
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
