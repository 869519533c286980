package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/load"
	"gatewright/internal/bench/proc"
	"gatewright/internal/bench/report"
)

const (
	startLimit = 60 * time.Second // for the first answer
	poll       = time.Millisecond // between looks for it
	stopGrace  = 10 * time.Second // for an orderly end
	tailLines  = 12               // of a log, in an error
	private    = 0o600            // files hold a key
)

// Gateway is a gateway to measure.
type Gateway struct {
	Name   string
	Binary string         // path
	Extra  map[string]any // merged into its configuration
}

// instance is a running gateway or yardstick.
type instance struct {
	name    string
	address string
	process *proc.Process
	took    time.Duration // from the start of the process to its first answer
	dir     string        // its own folder; "" = none
	log     string        // path; "" = none
}

// stop ends the instance and removes its folder.
func (i *instance) stop() {
	i.process.Stop(stopGrace)
	if i.dir != "" {
		_ = os.RemoveAll(i.dir)
	}
}

// explain adds the end of the instance's log to an error.
func (i *instance) explain(err error) error {
	err = fmt.Errorf("%s: %w", i.name, err)
	if i.log == "" {
		return err
	}
	text, readErr := os.ReadFile(i.log)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return fmt.Errorf("%w\nthe end of its log:\n%s", err, strings.Join(lines, "\n"))
}

// startRef starts the yardstick.
func (b *bench) startRef(ctx context.Context) (*instance, error) {
	i := &instance{name: report.Yardstick}
	began := time.Now()
	var err error
	if i.process, i.address, err = b.role(ctx, b.cores.Gateway, "ref", b.upstream); err != nil {
		return nil, err
	}
	return b.ready(ctx, i, began)
}

// role starts this program in another part, and returns the address that it
// prints.
func (b *bench) role(ctx context.Context, core int, args ...string) (*proc.Process, string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = r.Close() }()
	p, err := proc.Start(proc.Spec{Path: b.options.Self, Args: args, Core: core, Stdout: w, Stderr: os.Stderr})
	_ = w.Close()
	if err != nil {
		return nil, "", err
	}
	defer context.AfterFunc(ctx, func() { _ = r.Close() })()
	_ = r.SetReadDeadline(time.Now().Add(startLimit))
	address, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		p.Stop(stopGrace)
		return nil, "", errors.Join(fmt.Errorf("start %s: it did not say where it listens: %w", args[0], err), ctx.Err())
	}
	return p, strings.TrimSpace(address), nil
}

// startGateway starts a gateway with nothing in its data folder.
func (b *bench) startGateway(ctx context.Context, g Gateway, pools bool) (*instance, error) {
	dir, err := os.MkdirTemp(b.dir, "gateway-")
	if err != nil {
		return nil, err
	}
	i := &instance{name: g.Name, dir: dir, log: filepath.Join(dir, "log")}
	if i.address, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	config := merge(configuration(i.address, b.upstream, filepath.Join(dir, "data"), pools), g.Extra)
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "gateway.json")
	if err := os.WriteFile(file, text, private); err != nil {
		return nil, err
	}
	// Appending lets the log be cut while it is written.
	log, err := os.OpenFile(i.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, private)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	began := time.Now()
	i.process, err = proc.Start(proc.Spec{
		Path: g.Binary, Args: []string{"serve", "-c", file}, Dir: dir, Core: b.cores.Gateway, Stdout: log, Stderr: log,
	})
	if err != nil {
		return nil, err
	}
	return b.ready(ctx, i, began)
}

// freeAddress returns an address of loopback that nobody listens on. Somebody
// may take it before it is used; then the one who wants it says so.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// ready waits for the first answer of an instance.
func (b *bench) ready(ctx context.Context, i *instance, began time.Time) (*instance, error) {
	job := b.job(i, load.Job{BodyBytes: smallBody, Connections: 1, Duration: time.Second})
	if err := i.wait(ctx, func() error { return load.Once(job) }); err != nil {
		i.process.Stop(stopGrace)
		return nil, i.explain(err)
	}
	i.took = time.Since(began)
	return i, nil
}

// wait tries until try succeeds, the process ends, or it has taken too long.
func (i *instance) wait(ctx context.Context, try func() error) error {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	again := time.NewTicker(poll)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-i.process.Done():
			return errors.Join(proc.ErrEnded, i.process.Err())
		case <-limit.C:
			return fmt.Errorf("not ready after %s: %w", startLimit, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// job completes a job for an instance.
func (b *bench) job(i *instance, j load.Job) load.Job {
	j.Address, j.Key, j.Core = i.address, callerKey, b.cores.Gateway
	if j.Model == "" {
		j.Model = dialog.Model
	}
	if i.process != nil {
		j.PID = i.process.PID()
	}
	return j
}

// load runs a job against an instance, in a process of its own on the load's
// core.
func (b *bench) load(ctx context.Context, i *instance, j load.Job) (*load.Result, error) {
	j = b.job(i, j)
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	p, err := proc.Start(proc.Spec{Path: b.options.Self, Args: []string{"load", string(text)}, Core: b.cores.Load, Stdout: w, Stderr: os.Stderr})
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	defer p.Stop(0)
	ctx, cancel := context.WithTimeout(ctx, j.Duration+startLimit)
	defer cancel()
	defer context.AfterFunc(ctx, func() { p.Stop(0) })()
	out, err := io.ReadAll(r)
	if err := errors.Join(err, p.Err(), ctx.Err()); err != nil {
		return nil, i.explain(fmt.Errorf("load: %w", err))
	}
	var result load.Result
	if err := json.Unmarshal(out, &result); err != nil {
		return nil, i.explain(fmt.Errorf("load: %w", err))
	}
	if i.log != "" {
		// A line a request: what was logged so far has been written, and paid for.
		if err := os.Truncate(i.log, 0); err != nil {
			return nil, err
		}
	}
	if j.PID > 0 && j.Core >= 0 {
		b.others = append(b.others, result.OtherShare)
	}
	return &result, nil
}

// must runs a job whose requests must all be answered well.
func (b *bench) must(ctx context.Context, i *instance, j load.Job) (*load.Result, error) {
	result, err := b.load(ctx, i, j)
	switch {
	case err != nil:
		return nil, err
	case result.Errors > 0:
		return nil, i.explain(fmt.Errorf("%d of %d answers were wrong, the first: %s", result.Errors, result.Errors+result.Requests, result.FirstError))
	case result.Requests == 0:
		return nil, i.explain(errors.New("no request was answered"))
	}
	return result, nil
}

// cost returns the CPU seconds per 1,000 requests.
func cost(r *load.Result) float64 { return r.CPUSeconds / float64(r.Requests) * 1000 }
