package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"gatewright/internal/bench/load"
	"gatewright/internal/bench/mock"
	"gatewright/internal/bench/proc"
	"gatewright/internal/bench/report"
)

// Options say what to run.
type Options struct {
	Self     string    // path of this program, for its other parts
	Gateways []Gateway // to measure, each with a name of its own
	Works    []string  // their names; empty = all
	Passes   int
	Scale    float64   // multiplies how long each work takes
	Progress io.Writer // one line a step
}

// bench is a run.
type bench struct {
	options  Options
	cores    proc.Cores
	dir      string      // everything that is written; removed at the end
	upstream string      // its address
	steady   []*instance // that live through the run: the yardstick first
	report   *report.Report
	others   []float64 // shares of the gateway's core that others used, a job each
}

// Run measures. It writes figures into r, which is not to be used when there is
// an error. When it returns, every process that it started has ended.
func Run(ctx context.Context, o Options, r *report.Report) error {
	chosen := works()
	if len(o.Works) > 0 {
		chosen = slices.DeleteFunc(chosen, func(w work) bool { return !slices.Contains(o.Works, w.name) })
	}
	cores, err := proc.Plan()
	if err != nil {
		return err
	}
	b := &bench{options: o, cores: cores, report: r}
	if b.dir, err = os.MkdirTemp("", "gatewright-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	upstream, address, err := b.role(ctx, cores.Load, "mock")
	if err != nil {
		return err
	}
	defer upstream.Stop(stopGrace)
	b.upstream = address
	defer func() {
		for _, i := range b.steady {
			i.stop()
		}
	}()
	if slices.ContainsFunc(chosen, func(w work) bool { return w.steady }) {
		if err := b.startSteady(ctx); err != nil {
			return err
		}
	}
	for _, w := range chosen {
		r.Declare(w.measures...)
	}
	for pass := range o.Passes {
		for _, w := range chosen {
			if err := w.run(ctx, b, &w, pass); err != nil {
				return fmt.Errorf("pass %d, %s: %w", pass+1, w.name, err)
			}
		}
	}
	b.note()
	return nil
}

// startSteady starts what lives through the run, and warms it: pools and heaps
// are then as large as they get.
func (b *bench) startSteady(ctx context.Context) error {
	i, err := b.startRef(ctx)
	if err != nil {
		return err
	}
	b.steady = append(b.steady, i)
	for _, g := range b.options.Gateways {
		if i, err = b.startGateway(ctx, g, false); err != nil {
			return err
		}
		b.steady = append(b.steady, i)
	}
	for _, i := range b.steady {
		for _, stream := range []bool{false, true} {
			j := load.Job{Connections: 32, BodyBytes: smallBody, Stream: stream, Duration: b.scaled(time.Second)}
			if _, err := b.must(ctx, i, j); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
	}
	b.others = nil
	return nil
}

// turn returns the steady instances in the order of a pass: another one is
// first each time, so that a drift of the machine favours none.
func (b *bench) turn(pass int) []*instance {
	k := pass % len(b.steady)
	return slices.Concat(b.steady[k:], b.steady[:k])
}

// scaled returns how long something takes in this run.
func (b *bench) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * b.options.Scale)
}

func (b *bench) say(pass int, work, what string) {
	_, _ = fmt.Fprintf(b.options.Progress, "pass %d of %d: %s, %s\n", pass+1, b.options.Passes, work, what)
}

// stats asks the upstream what it counted.
func (b *bench) stats(ctx context.Context) (mock.Stats, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.upstream+mock.StatsPath, http.NoBody)
	if err != nil {
		return mock.Stats{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return mock.Stats{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var s mock.Stats
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		return mock.Stats{}, fmt.Errorf("read the upstream's counts: %w", err)
	}
	return s, nil
}

// noisy is the share of the measured core from which on others make figures
// doubtful, moving the part by which the yardstick's cost differs between passes.
const (
	noisy  = 0.05
	moving = 0.15
)

// note writes down what a reader should know of the machine.
func (b *bench) note() {
	c := b.cores
	if c.Gateway != proc.Unpinned {
		b.remark("core %d for what is measured, core %d for load and upstream", c.Gateway, c.Load)
	}
	if c.Note != "" {
		b.remark("%s", c.Note)
	}
	doubtful := false
	if len(b.others) > 0 {
		slices.Sort(b.others)
		median, most := b.others[len(b.others)/2], b.others[len(b.others)-1]
		b.remark("others used %.0f %% or more of the measured core (median of the steps; %.0f %% in the worst)", median*percent, most*percent)
		doubtful = median > noisy
	}
	if spread := b.spread(); spread > 0 {
		b.remark("the cost of ref moved by up to %.0f %% between passes", spread*percent)
		doubtful = doubtful || spread > moving
	}
	if doubtful {
		b.remark("the machine was not quiet, so these figures are preliminary")
	}
}

const percent = 100

// spread returns by which part of its median the cost of the yardstick moved
// between passes, at most.
func (b *bench) spread() (most float64) {
	for _, row := range b.report.Rows() {
		if s := row.Ref; row.Unit == report.CPUSeconds && s != nil && s.Median > 0 {
			most = max(most, (s.Max-s.Min)/s.Median)
		}
	}
	return most
}

func (b *bench) remark(format string, args ...any) {
	b.report.Notes = append(b.report.Notes, fmt.Sprintf(format, args...))
}
