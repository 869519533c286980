package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/load"
	"gatewright/internal/bench/proc"
	"gatewright/internal/bench/report"
)

// The sizes of request bodies, in bytes.
const (
	smallBody = 2 << 10
	largeBody = 100 << 10
)

// work is something to measure: once a pass.
type work struct {
	name     string // for the command line
	measures []report.Measure
	steady   bool // on processes that live through the run
	run      func(ctx context.Context, b *bench, w *work, pass int) error
}

// works lists all works in the order of a pass.
func works() []work {
	cpu := func(id, label, goal string) []report.Measure {
		return []report.Measure{{ID: id, Label: label, Unit: report.CPUSeconds, Relative: true, Goal: goal}}
	}
	return []work{
		{
			name: "c32", steady: true, run: closedLoop(load.Job{Connections: 32, BodyBytes: smallBody, Duration: 3 * time.Second}),
			measures: cpu("c32", "32 connections, 2 KB request, 1 KB answer: CPU per 1,000", "≤ 0.7 / 0.85; limit 1 / 1.25"),
		},
		{
			name: "stream", steady: true,
			run:      closedLoop(load.Job{Connections: 32, BodyBytes: smallBody, Stream: true, Duration: 3500 * time.Millisecond}),
			measures: cpu("stream", "32 streams of 30 events 3 ms apart: CPU per 1,000", "≤ 0.95 / 1.05; limit 1.05 / 1.15"),
		},
		{
			name: "body", steady: true, run: closedLoop(load.Job{Connections: 8, BodyBytes: largeBody, Duration: 3 * time.Second}),
			measures: cpu("body", "8 connections, 100 KB request: CPU per 1,000", "≤ 1.1 / 1.2; limit 1.25 / 1.4"),
		},
		{
			name: "rate", steady: true, run: addedLatency,
			measures: []report.Measure{{ID: "added_p50", Label: "added median latency at 300 requests/s", Unit: report.Microseconds, Relative: true, Goal: "≤ 1.0 / 1.2; limit 1.2 / 1.4"}},
		},
		{
			name: "fresh", run: freshProcess,
			measures: []report.Measure{
				{ID: "start", Label: "start to first answer", Unit: report.Seconds, Goal: "≤ 60 / 150 ms"},
				{ID: "idle_anonymous", Label: "anonymous memory, idle", Unit: report.Bytes, Goal: "15 / 30 MB"},
				{ID: "peak_c256", Label: "peak memory at 256 connections", Unit: report.Bytes, Goal: "60 / 100 MB"},
			},
		},
		{
			name: "limited", run: limitedUpstream,
			measures: slices.Concat(
				limitedMeasures("hinted", "429 with Retry-After", "≤ 4"), limitedMeasures("limited", "429 without", "≤ 6")),
		},
	}
}

func limitedMeasures(id, label, attempts string) []report.Measure {
	return []report.Measure{
		{ID: id + "_calls", Label: label + " first, 400 requests on 4 connections: calls of it", Unit: report.Count, Goal: attempts},
		{ID: id + "_errors", Label: label + ": errors that clients saw", Unit: report.Count, Goal: "0"},
		{ID: id + "_cost", Label: label + ": CPU afterwards, against two healthy", Unit: report.Multiple, Goal: "≤ 1.1"},
	}
}

// Works lists the names of all works.
func Works() []string {
	var names []string
	for _, w := range works() {
		names = append(names, w.name)
	}
	return names
}

// closedLoop measures what a request costs when each connection sends its next
// as soon as it has its answer.
func closedLoop(j load.Job) func(context.Context, *bench, *work, int) error {
	return func(ctx context.Context, b *bench, w *work, pass int) error {
		j := j
		j.Duration = b.scaled(j.Duration)
		for _, i := range b.turn(pass) {
			b.say(pass, w.name, i.name)
			result, err := b.must(ctx, i, j)
			if err != nil {
				return err
			}
			// A stream that came all at once at its end was no stream. On a machine
			// that is busy with other things it begins late, and still takes its time.
			took := float64((dialog.Chunks * dialog.Gap).Microseconds())
			if j.Stream && result.LatencyP50-result.FirstP50 < took/2 {
				return i.explain(fmt.Errorf("streams are held back: half of them began after %.0f µs and had ended after %.0f µs", result.FirstP50, result.LatencyP50))
			}
			b.report.Add(w.measures[0].ID, i.name, cost(result))
		}
		return nil
	}
}

// addedLatency measures what a request waits longer than without anything
// between client and upstream.
func addedLatency(ctx context.Context, b *bench, w *work, pass int) error {
	j := load.Job{Connections: 64, BodyBytes: smallBody, Rate: 300, Duration: b.scaled(2500 * time.Millisecond)}
	b.say(pass, w.name, "without a proxy")
	direct, err := b.must(ctx, &instance{name: "upstream", address: b.upstream}, j)
	if err != nil {
		return err
	}
	for _, i := range b.turn(pass) {
		b.say(pass, w.name, i.name)
		result, err := b.must(ctx, i, j)
		if err != nil {
			return err
		}
		b.report.Add(w.measures[0].ID, i.name, result.LatencyP50-direct.LatencyP50)
	}
	return nil
}

// settle is how long a fresh process is left alone before its memory is read.
const settle = 500 * time.Millisecond

// freshProcess starts everything anew, for what depends on the past of a
// process: how long it takes to its first answer, what it holds then, and what
// it holds at most with many connections.
func freshProcess(ctx context.Context, b *bench, w *work, pass int) error {
	one := func(start func() (*instance, error)) error {
		i, err := start()
		if err != nil {
			return err
		}
		defer i.stop()
		if err := pause(ctx, settle); err != nil {
			return err
		}
		idle, err := proc.MemoryOf(i.process.PID())
		if err != nil {
			return i.explain(err)
		}
		result, err := b.must(ctx, i, load.Job{Connections: 256, BodyBytes: smallBody, Duration: b.scaled(3 * time.Second)})
		if err != nil {
			return err
		}
		b.report.Add("start", i.name, i.took.Seconds())
		b.report.Add("idle_anonymous", i.name, float64(idle.Anonymous))
		b.report.Add("peak_c256", i.name, float64(result.PeakBytes))
		return nil
	}
	b.say(pass, w.name, report.Yardstick)
	err := one(func() (*instance, error) { return b.startRef(ctx) })
	for _, g := range b.options.Gateways {
		if err != nil {
			return err
		}
		b.say(pass, w.name, g.Name)
		err = one(func() (*instance, error) { return b.startGateway(ctx, g, false) })
	}
	return err
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// limitedUpstream measures what a first deployment that refuses costs: the
// calls of it, the errors that clients see, and the CPU once it is known.
func limitedUpstream(ctx context.Context, b *bench, w *work, pass int) error {
	for _, g := range b.options.Gateways {
		b.say(pass, w.name, g.Name)
		for _, v := range []struct{ id, model string }{{"hinted", modelHinted}, {"limited", modelLimited}} {
			if err := b.limited(ctx, g, pass, v.id, v.model); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) limited(ctx context.Context, g Gateway, pass int, id, model string) error {
	i, err := b.startGateway(ctx, g, true) // nothing is known of the upstream yet
	if err != nil {
		return err
	}
	defer i.stop()
	before, err := b.stats(ctx)
	if err != nil {
		return err
	}
	result, err := b.load(ctx, i, load.Job{Model: model, Connections: 4, Count: 400, BodyBytes: smallBody, Duration: time.Minute})
	if err != nil {
		return err
	}
	after, err := b.stats(ctx)
	if err != nil {
		return err
	}
	if result.Requests == 0 {
		return i.explain(errors.New("no request was answered: " + result.FirstError))
	}
	costs := map[string]float64{}
	order := []string{modelPair, model}
	if pass%2 == 1 {
		slices.Reverse(order)
	}
	for _, m := range order {
		r, err := b.must(ctx, i, load.Job{Model: m, Connections: 32, BodyBytes: smallBody, Duration: b.scaled(2 * time.Second)})
		if err != nil {
			return err
		}
		costs[m] = cost(r)
	}
	b.report.Add(id+"_calls", g.Name, float64(after.Limited+after.Hinted-before.Limited-before.Hinted))
	b.report.Add(id+"_errors", g.Name, float64(result.Errors))
	b.report.Add(id+"_cost", g.Name, costs[model]/costs[modelPair])
	return nil
}
