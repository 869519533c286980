package health

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"gatewright/engine"
)

// seen is what the reference remembers of one call.
type seen struct {
	at      time.Time
	success bool
	took    time.Duration
}

// inWindow reports whether a call of long ago is in the window at now: in the
// current quarter of an hour or one of the 95 before it.
func inWindow(at, now time.Time) bool {
	return !at.Before(now.Truncate(slotLength).Add(-(slotCount - 1) * slotLength))
}

// TestWindow compares the statistics with a reference that keeps every call,
// over random times, failures and restarts.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &rig{t: t, clock: newClock(), d: deployment("p/m")}
		r.options = Options{Clock: r.clock.now, Statistics: newTable(), MinSamples: rapid.IntRange(1, 12).Draw(rt, "least")}
		r.start()
		defer func() { r.close() }()
		stream, factor := rapid.Bool().Draw(rt, "stream"), int64(1)
		if stream {
			factor = 2
		}
		var calls []seen
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"calls", "calls", "wait", "wait long", "restart"}).Draw(rt, "step") {
			case "calls":
				for range rapid.IntRange(1, 15).Draw(rt, "n") {
					c := seen{at: r.clock.now(), success: rapid.IntRange(0, 3).Draw(rt, "fate") > 0}
					c.took = time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Minute)).Draw(rt, "took"))
					calls = append(calls, c)
					o := Outcome{Duration: c.took, Now: c.at, Stream: stream}
					if stream {
						o.TTFT, o.Duration = c.took, 2*c.took
					}
					if !c.success {
						o.Class = engine.ClassServer
					}
					r.begin().End(o)
				}
			case "wait":
				r.clock.move(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "wait")))
			case "wait long":
				r.clock.move(rapid.SampledFrom([]time.Duration{slotLength, 11 * time.Hour, 23*time.Hour + slotLength, 24 * time.Hour}).Draw(rt, "wait"))
			case "restart":
				r.restart(time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(rt, "down")))
			}
			r.clock.move(recomputeAfter)
			if err := compareWindow(calls, r.clock.now(), r.signals(), r.options.MinSamples, factor); err != nil {
				rt.Fatalf("%v", err)
			}
		}
	})
}

// compareWindow tells where the statistics differ from what was seen. Whole answers
// took factor times as long as their first token.
func compareWindow(calls []seen, now time.Time, s engine.Signals, least int, factor int64) error {
	var good, all int64
	var times []int64
	for _, c := range calls {
		if !inWindow(c.at, now) {
			continue
		}
		all++
		if c.success {
			good++
			times = append(times, int64(c.took))
		}
	}
	if s.Samples != all {
		return fmt.Errorf("%d outcomes, want %d", s.Samples, all)
	}
	rate := engine.Unknown
	if all >= int64(least) {
		rate = good * 1_000_000 / all
	}
	if s.SuccessPPM != rate {
		return fmt.Errorf("success rate %d ppm, want %d", s.SuccessPPM, rate)
	}
	if len(times) < least {
		if s.TTFT != engine.UnknownDuration || s.LatencyP50 != engine.UnknownDuration || s.LatencyP95 != engine.UnknownDuration {
			return fmt.Errorf("median %v of %d samples, want unknown below %d", s.TTFT, len(times), least)
		}
		return nil
	}
	if want := exactMedian(times); math.Abs(float64(s.TTFT)-want) > 0.05*want {
		return fmt.Errorf("median %v, want %v within 5 %%", s.TTFT, time.Duration(want))
	}
	for i := range times {
		times[i] *= factor
	}
	if want := exactMedian(times); math.Abs(float64(s.LatencyP50)-want) > 0.05*want {
		return fmt.Errorf("median latency %v, want %v within 5 %%", s.LatencyP50, time.Duration(want))
	}
	if want := exactSlowest(times); math.Abs(float64(s.LatencyP95)-want) > 0.05*want {
		return fmt.Errorf("slowest latency %v, want %v within 5 %%", s.LatencyP95, time.Duration(want))
	}
	return nil
}

// TestMedianIsCached adds samples one by one: many samples are not recounted
// for each new one, and still none is ignored for longer than a second.
func TestMedianIsCached(t *testing.T) {
	w := newWindow(0)
	for range 1000 {
		w.add(firstToken, int64(time.Second))
	}
	w.refresh(0)
	for range 50 {
		w.add(firstToken, int64(time.Minute))
		w.refresh(int64(recomputeAfter) - 1)
	}
	if w.added != 50 {
		t.Errorf("%d samples wait for a recount, want 50", w.added)
	}
	w.refresh(int64(recomputeAfter))
	if w.added != 0 {
		t.Errorf("%d samples wait for a recount after a second, want none", w.added)
	}
	w.add(firstToken, int64(time.Minute))
	w.refresh(0) // a clock that was set back does not keep it waiting
	if w.added != 0 {
		t.Errorf("%d samples wait for a recount after the clock was set back, want none", w.added)
	}
	for range 2000 {
		w.add(firstToken, int64(time.Minute))
		w.refresh(int64(recomputeAfter))
	}
	if got, _ := w.median(firstToken, 1); got < int64(50*time.Second) {
		t.Errorf("median %v within the second that changed it, want about a minute", time.Duration(got))
	}
}

// TestMedianForgets lets samples fall out of the window with nothing new.
func TestMedianForgets(t *testing.T) {
	w := newWindow(0)
	for range 100 {
		w.add(firstToken, int64(time.Minute))
	}
	w.advance(int64(slotLength))
	for range 50 {
		w.add(firstToken, int64(time.Second))
	}
	w.refresh(int64(slotLength))
	w.refresh(slotCount * int64(slotLength))
	if got, _ := w.median(firstToken, 50); !near(float64(got), float64(time.Second)) {
		t.Errorf("median %v, want a second", time.Duration(got))
	}
}

// TestStatisticsAcrossClockSteps restarts with a clock that was set back:
// nothing is counted twice or lost, and nothing stays for longer than a day and
// the step.
func TestStatisticsAcrossClockSteps(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.end(r.begin(), engine.ClassNone)
		r.clock.move(slotLength)
	}
	r.end(r.begin(), engine.ClassNone)
	want := func(n int64) {
		t.Helper()
		if got := r.signals().Samples; got != n {
			t.Fatalf("%d outcomes at %v, want %d", got, r.clock.now(), n)
		}
	}
	want(4)
	for range 3 {
		r.restart(-time.Hour)
		want(4)
	}
	r.end(r.begin(), engine.ClassNone)
	for range 3 {
		r.restart(slotLength)
		want(5)
	}
	r.clock.move(24 * time.Hour)
	want(0)
	r.restart(0)
	want(0)
}

// TestMemory is what the documentation says of the size of a window.
func TestMemory(t *testing.T) {
	typical, worst := newWindow(0), newWindow(0)
	size := func(w *window) (n int) {
		for i := range w.closed {
			n += cap(w.closed[i].payload)
		}
		return n
	}
	for slot := range int64(slotCount) {
		at := slotStart(slot)
		typical.advance(at)
		worst.advance(at)
		for i := range int64(1000) {
			typical.succeed(at)
			typical.add(firstToken, int64(300*time.Millisecond)+i*int64(time.Millisecond))
			typical.add(throughput, 40e6+i*40e3)
			typical.add(latency, int64(time.Second)+i*int64(10*time.Millisecond))
		}
		for k := range kindCount {
			for _, b := range bounds {
				worst.add(k, b)
			}
		}
		for k := range worst.open.kinds {
			for i := range worst.open.kinds[k] {
				worst.open.kinds[k][i] = math.MaxUint32
			}
		}
	}
	const kib = 1 << 10
	if got := unsafe.Sizeof(window{}) + unsafe.Sizeof(state{}); got > 13*kib {
		t.Errorf("the fixed part takes %d bytes, want at most 13 KiB", got)
	}
	if got := size(typical); got > 20*kib {
		t.Errorf("a busy day takes %d bytes beside the fixed part, want at most 20 KiB", got)
	}
	if got := size(worst); got > 455*kib {
		t.Errorf("the worst day takes %d bytes beside the fixed part, want at most 455 KiB", got)
	}
}
