package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Run runs a job. Errors of single requests are part of the result; the error
// says that there is none.
func Run(ctx context.Context, j Job) (*Result, error) {
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	r := &run{job: &j, next: rand.Uint64(), gate: make(chan struct{})} //nolint:gosec // tells requests apart, guards nothing
	for range j.Connections {
		r.workers = append(r.workers, &worker{run: r, client: newClient(&j)})
	}
	return r.execute(ctx)
}

// run is a job that runs.
type run struct {
	job     *Job
	workers []*worker

	next    uint64        // the mark of the first request
	marks   atomic.Uint64 // given away
	counted atomic.Int64  // requests of a count or a rate that were given away
	failed  atomic.Int64

	gate  chan struct{} // closed when the measured time begins
	begin time.Time     // set before gate is closed
	end   time.Time
}

// execute lets each connection answer once, so that none is made in the measured
// time, then measures.
func (r *run) execute(ctx context.Context) (*Result, error) {
	var warm, done sync.WaitGroup
	for _, w := range r.workers {
		warm.Add(1)
		done.Go(func() {
			defer w.client.close()
			w.warm()
			warm.Done()
			<-r.gate
			w.loop(ctx)
		})
	}
	warm.Wait()
	account, err := open(r.job)
	r.begin = time.Now()
	r.end = r.begin.Add(r.job.Duration)
	if err != nil {
		r.end = r.begin
	}
	close(r.gate)
	done.Wait()
	if err != nil {
		return nil, err
	}
	result := &Result{Seconds: time.Since(r.begin).Seconds()}
	if err := account.close(result); err != nil {
		return nil, err
	}
	r.collect(result)
	return result, ctx.Err()
}

func (r *run) mark() uint64 { return r.next + r.marks.Add(1) }

// worker sends the requests of one connection.
type worker struct {
	run    *run
	client *client

	times  []timing
	frames int
	first  error
}

// warm sends a request that is not measured. Where the number of requests is
// exact there is none. What fails shows again when it counts.
func (w *worker) warm() {
	if w.run.job.Count == 0 {
		_, _ = w.client.do(w.run.mark())
	}
}

func (w *worker) loop(ctx context.Context) {
	limit := maxSamples / len(w.run.workers)
	for len(w.times) < limit && ctx.Err() == nil && w.run.failed.Load() < maxErrors {
		due, ok := w.run.claim()
		if !ok {
			return
		}
		late := w.await(ctx, due)
		t, err := w.client.do(w.run.mark())
		if err != nil {
			w.run.failed.Add(1)
			if w.first == nil {
				w.first = err
			}
			continue
		}
		t.first += late
		t.total += late
		w.times = append(w.times, t)
		w.frames += w.client.body.Frames
	}
}

// claim gives away the next request, and says when it is due: zero = now.
func (r *run) claim() (due time.Time, ok bool) {
	if !time.Now().Before(r.end) {
		return time.Time{}, false
	}
	switch j := r.job; {
	case j.Count > 0:
		return time.Time{}, r.counted.Add(1) <= int64(j.Count)
	case j.Rate > 0:
		n := r.counted.Add(1)
		due = r.begin.Add(time.Duration(float64(n) / j.Rate * float64(time.Second)))
		return due, due.Before(r.end)
	}
	return time.Time{}, true
}

// await waits until a request is due. It returns by how much the request is
// late because no connection was free: that counts as a wait of its client.
// That a timer of this process was late does not.
func (w *worker) await(ctx context.Context, due time.Time) (late time.Duration) {
	if due.IsZero() {
		return 0
	}
	wait := time.Until(due)
	if wait <= 0 {
		return -wait
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return 0
}

// collect puts together what the workers saw.
func (r *run) collect(to *Result) {
	var total, first []time.Duration
	frames := 0
	for _, w := range r.workers {
		for _, t := range w.times {
			total, first = append(total, t.total), append(first, t.first)
		}
		frames += w.frames
		if to.FirstError == "" && w.first != nil {
			to.FirstError = w.first.Error()
		}
	}
	to.Requests, to.Errors = len(total), int(r.failed.Load())
	if len(total) == 0 {
		return
	}
	to.FrameMean = float64(frames) / float64(len(total))
	slices.Sort(total)
	slices.Sort(first)
	to.LatencyP50, to.LatencyP99 = quantile(total, 50), quantile(total, 99)
	to.FirstP50 = quantile(first, 50)
}

// quantile returns the percentile p of a sorted list, in microseconds: the
// smallest value that p percent of the list do not exceed.
func quantile(sorted []time.Duration, p int) float64 {
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank-1, 0)]) / float64(time.Microsecond)
}
