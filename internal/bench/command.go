package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gatewright/internal/bench/proc"
	"gatewright/internal/bench/report"
	"gatewright/internal/bench/suite"
)

// errUsage marks a command line that is wrong.
var errUsage = errors.New("usage")

// The forms of a report.
const (
	outputMarkdown = "markdown"
	outputJSON     = "json"
)

// Bounds of what can be asked for.
const (
	maxPasses = 100
	minScale  = 0.05
	maxScale  = 20
)

// The gateways that are measured unasked: lean is always, policies unless it is
// turned off.
const (
	lean     = "lean"
	policies = "policies"
)

// command is what the command line asks for.
type command struct {
	options suite.Options
	output  string
	gateway string            // path of the binary; "" = built
	also    map[string]string // further binaries, by name
	extra   map[string]string // what is merged into a configuration, by name
	names   []string          // of gateways, as given
}

const usage = `Measures the gateway's CPU time per request as a multiple of a bare Go reverse
proxy's, and what else its users pay. Prints a table.

  go run -C internal/bench . [flags]

Paths are taken from the working directory, which with -C is internal/bench. To
choose the two cores, run it under taskset -c A,B: the first is measured.

`

func parse(args []string, stderr io.Writer) (*command, error) {
	c := &command{also: map[string]string{}, extra: map[string]string{}, names: []string{lean, policies}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // faults are told by main, once
	works, plain := "", false
	flags.BoolVar(&plain, "plain", false, "leave out the gateway with policies: a Rego admission and a Wasm ranking")
	flags.IntVar(&c.options.Passes, "passes", 5, "how often each work is measured; figures are medians")
	flags.Float64Var(&c.options.Scale, "scale", 1, "multiplies how long each work takes; below 0.3 the clock of CPU time is too coarse")
	flags.StringVar(&works, "phases", "", "`list` of works, comma separated, out of "+strings.Join(suite.Works(), ",")+" (default all)")
	flags.StringVar(&c.gateway, "gateway", "", "`path` of the gateway's binary (default: it is built)")
	flags.StringVar(&c.output, "o", outputMarkdown, "`format` of the report: markdown or json")
	flags.Func("also", "one more gateway: `name=path` of its binary; repeatable", func(text string) error { return c.name(c.also, text) })
	flags.Func("extra", "one more gateway: `name=file`, a JSON object that is merged into its configuration (lean=… changes the first, a name of -also that one); repeatable",
		func(text string) error { return c.name(c.extra, text) })
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(stderr, usage)
			flags.SetOutput(stderr)
			flags.PrintDefaults()
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if works != "" {
		c.options.Works = strings.Split(works, ",")
	}
	if plain && c.also[policies]+c.extra[policies] == "" {
		c.names = slices.DeleteFunc(c.names, func(name string) bool { return name == policies })
	}
	if err := c.check(flags.Args()); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return c, nil
}

// name takes over name=value.
func (c *command) name(into map[string]string, text string) error {
	name, value, ok := strings.Cut(text, "=")
	switch {
	case !ok || name == "" || value == "":
		return fmt.Errorf("%q is not name=path", text)
	case name == report.Yardstick:
		return fmt.Errorf("%q is the name of the reverse proxy", name)
	case into[name] != "":
		return fmt.Errorf("%q is there already", name)
	}
	into[name] = value
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
	return nil
}

// check says what is wrong with the command line, all of it.
func (c *command) check(rest []string) error {
	var errs []error
	if len(rest) > 0 {
		errs = append(errs, fmt.Errorf("unknown argument %q", rest[0]))
	}
	for _, w := range c.options.Works {
		if !slices.Contains(suite.Works(), w) {
			errs = append(errs, fmt.Errorf("-phases: there is no %q; there are %s", w, strings.Join(suite.Works(), ", ")))
		}
	}
	if c.options.Passes < 1 || c.options.Passes > maxPasses {
		errs = append(errs, fmt.Errorf("-passes: %d, want 1 to %d", c.options.Passes, maxPasses))
	}
	if !(c.options.Scale >= minScale && c.options.Scale <= maxScale) {
		errs = append(errs, fmt.Errorf("-scale: %g, want %g to %d", c.options.Scale, minScale, maxScale))
	}
	if c.output != outputMarkdown && c.output != outputJSON {
		errs = append(errs, fmt.Errorf("-o: unknown format %q; there are %s and %s", c.output, outputMarkdown, outputJSON))
	}
	if c.also[lean] != "" {
		errs = append(errs, fmt.Errorf("-also: %q is the first gateway; give its binary by -gateway", lean))
	}
	return errors.Join(errs...)
}

// prepare builds what has to be built and reads what has to be read.
func (c *command) prepare(ctx context.Context, dir string, progress io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.options.Self, c.options.Progress = self, progress
	binary := c.gateway
	if binary == "" {
		if binary, err = build(ctx, dir); err != nil {
			return err
		}
	}
	for _, name := range c.names {
		g := suite.Gateway{Name: name, Binary: binary}
		if path := c.also[name]; path != "" {
			g.Binary = path
		}
		if g.Binary, err = filepath.Abs(g.Binary); err != nil {
			return err
		}
		if _, err := os.Stat(g.Binary); err != nil { //nolint:gosec // the user's own path
			return fmt.Errorf("binary of %q: %w", name, err)
		}
		if g.Extra, err = c.extraOf(name); err != nil {
			return err
		}
		c.options.Gateways = append(c.options.Gateways, g)
	}
	return nil
}

// extraOf is what is merged into the configuration of a gateway.
func (c *command) extraOf(name string) (map[string]any, error) {
	path := c.extra[name]
	switch {
	case path == "" && name == policies:
		root, err := checkout()
		if err != nil {
			return nil, fmt.Errorf("the policies to measure with: %w; leave them out with -plain", err)
		}
		return suite.Policies(root), nil
	case path == "":
		return map[string]any{}, nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // the user's own path
	if err != nil {
		return nil, fmt.Errorf("-extra: %w", err)
	}
	extra, err := suite.ParseExtra(text)
	if err != nil {
		return nil, fmt.Errorf("-extra: %s: %w", path, err)
	}
	return extra, nil
}

// gatewayPackage is the gateway's command, below the root of its module.
var gatewayPackage = filepath.Join("cmd", "gatewright")

// checkout is the root of the gateway's module, of which the working directory is
// a part.
func checkout() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, gatewayPackage)); err == nil {
			return root, nil
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", fmt.Errorf("no folder above the working directory has %s", gatewayPackage)
		}
		root = parent
	}
}

// build builds the gateway of the checkout.
func build(ctx context.Context, dir string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", fmt.Errorf("%w; name a binary with -gateway", err)
	}
	binary := filepath.Join(dir, "gatewright")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./"+filepath.ToSlash(gatewayPackage)) //nolint:gosec // a path of our own
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the gateway: %w\n%s", err, out)
	}
	return binary, nil
}

// report returns a report that says what is measured and where.
func (c *command) report(ctx context.Context) *report.Report {
	r := &report.Report{
		Date: time.Now().UTC().Format(time.DateOnly), Machine: machine(),
		Passes: c.options.Passes, Scale: c.options.Scale,
	}
	for _, g := range c.options.Gateways {
		out, _ := exec.CommandContext(ctx, g.Binary, "version").Output() //nolint:gosec // what the user asked to measure
		version := strings.TrimSpace(string(out))
		if path := c.extra[g.Name]; path != "" {
			version += ", with " + filepath.Base(path)
		}
		r.Gateways = append(r.Gateways, report.Target{Name: g.Name, Version: version})
	}
	return r
}

func machine() report.Machine {
	m := report.Machine{CPU: runtime.GOARCH, Go: runtime.Version()}
	if cores, err := proc.Allowed(); err == nil {
		m.Cores = len(cores)
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	return m
}
