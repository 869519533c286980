package health

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
)

// answers lets n calls of a deployment succeed.
func (r *rig) answers(id string, n int, o Outcome) {
	r.t.Helper()
	o.Now = r.clock.now()
	for range n {
		c, ok := r.tracker.Begin(deployment(id), o.Now, false)
		if !ok {
			r.t.Fatalf("Begin of %s refused", id)
		}
		c.End(o)
	}
}

// nothing is what is known of a deployment that was never called.
func nothing() engine.Signals {
	return engine.Signals{
		TTFT: engine.UnknownDuration, LatencyP50: engine.UnknownDuration, LatencyP95: engine.UnknownDuration,
		Throughput: engine.Unknown, SuccessPPM: engine.Unknown,
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.05*want }

func TestSignalsOfNothing(t *testing.T) {
	r := newRig(t)
	unknown := nothing()
	if diff := cmp.Diff(unknown, r.signals()); diff != "" {
		t.Errorf("of a deployment never called (-want +got):\n%s", diff)
	}
	c := r.begin()
	running := unknown
	running.InFlight = 1
	if diff := cmp.Diff(running, r.signals()); diff != "" {
		t.Errorf("while its first call runs (-want +got):\n%s", diff)
	}
	r.end(c, engine.ClassCancelled)
	if diff := cmp.Diff(unknown, r.signals()); diff != "" {
		t.Errorf("after a call that was cancelled (-want +got):\n%s", diff)
	}
}

// TestSignalsOverwrite reads into candidates that hold signals of another time.
func TestSignalsOverwrite(t *testing.T) {
	r := newRig(t)
	quota := &engine.Quota{TakenAt: start}
	dirty := engine.Signals{
		Circuit: engine.CircuitOpen, CircuitUntil: start, ProbeTaken: true, CooldownUntil: start, InFlight: 9, TTFT: 9, LatencyP50: 9, LatencyP95: 9,
		Throughput: 9, SuccessPPM: 9, Samples: 9, TokensThisMinute: 9, LastSuccess: start, Quota: quota,
	}
	r.end(r.begin(), engine.ClassClient)
	pool := []engine.Candidate{
		{Deployment: r.d, Signals: dirty},
		{Deployment: deployment("never called"), Signals: dirty},
	}
	r.tracker.Signals(r.clock.now(), pool)
	want := nothing()
	for i := range pool {
		if diff := cmp.Diff(want, pool[i].Signals); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pool[i].ID, diff)
		}
	}
}

// TestTimeToFirstToken shows which times are compared in one pool.
func TestTimeToFirstToken(t *testing.T) {
	streams := Outcome{Stream: true, TTFT: 300 * time.Millisecond, Duration: 5 * time.Second}
	whole := Outcome{Duration: 4 * time.Second}
	type calls struct{ streams, whole int }
	cases := []struct {
		name string
		of   []calls
		want []time.Duration // 0 = unknown
	}{
		{"streams alone", []calls{{streams: 20}, {streams: 20}}, []time.Duration{300 * time.Millisecond, 300 * time.Millisecond}},
		{"nobody streams", []calls{{whole: 20}, {whole: 20}}, []time.Duration{4 * time.Second, 4 * time.Second}},
		{"both kinds: streams", []calls{{20, 20}, {20, 50}}, []time.Duration{300 * time.Millisecond, 300 * time.Millisecond}},
		{"never mixed in one pool", []calls{{streams: 20}, {whole: 20}}, []time.Duration{300 * time.Millisecond, 0}},
		{"the kind that more are known by", []calls{{20, 20}, {0, 20}, {19, 20}}, []time.Duration{4 * time.Second, 4 * time.Second, 4 * time.Second}},
		{"too few of either", []calls{{19, 19}}, []time.Duration{0}},
		{"no calls", []calls{{}, {streams: 20}}, []time.Duration{0, 300 * time.Millisecond}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			var pool []engine.Candidate
			for i, n := range c.of {
				id := string(rune('a' + i))
				r.answers(id, n.streams, streams)
				r.answers(id, n.whole, whole)
				pool = append(pool, engine.Candidate{Deployment: deployment(id)})
			}
			r.tracker.Signals(r.clock.now(), pool)
			for i, want := range c.want {
				got := pool[i].TTFT
				if want == 0 && got != engine.UnknownDuration || want != 0 && !near(float64(got), float64(want)) {
					t.Errorf("candidate %d: %v, want %v", i, got, want)
				}
			}
		})
	}
}

// TestWhatIsMeasured shows which outcomes are samples of what.
func TestWhatIsMeasured(t *testing.T) {
	usage := engine.Usage{Known: true, Input: 1000, Output: 101}
	cases := []struct {
		name           string
		o              Outcome
		ttft           time.Duration // 0 = unknown
		latency        time.Duration // 0 = unknown
		tokensPerMilli float64       // milli-tokens per second; 0 = unknown
		success        int64         // ppm
	}{
		{
			"a stream",
			Outcome{Stream: true, TTFT: time.Second, Duration: 3 * time.Second, Usage: usage},
			time.Second, 3 * time.Second, 50_000, 1_000_000,
		},
		{"an answer in whole", Outcome{Duration: 2 * time.Second, Usage: usage}, 2 * time.Second, 2 * time.Second, 50_500, 1_000_000},
		{
			"a stream that the upstream held back",
			Outcome{Stream: true, TTFT: 2 * time.Second, Duration: 2*time.Second + time.Millisecond, Usage: usage},
			2 * time.Second, 2 * time.Second, 50_500, 1_000_000,
		},
		{
			"a stream with reasoning",
			Outcome{Stream: true, TTFT: time.Second, Duration: 2 * time.Second, Usage: engine.Usage{Known: true, Output: 101, Reasoning: 90}},
			time.Second, 2 * time.Second, 50_500, 1_000_000,
		},
		{
			"too few tokens for a speed",
			Outcome{Stream: true, TTFT: time.Second, Duration: 2 * time.Second, Usage: engine.Usage{Known: true, Output: leastOutput - 1}},
			time.Second, 2 * time.Second, 0, 1_000_000,
		},
		{"usage not known", Outcome{Stream: true, TTFT: time.Second, Duration: 2 * time.Second}, time.Second, 2 * time.Second, 0, 1_000_000},
		{"durations not known", Outcome{Usage: usage}, 0, 0, 0, 1_000_000},
		{"a stream without content", Outcome{Stream: true, Duration: time.Second}, 0, time.Second, 0, 1_000_000},
		{
			"a stream that broke",
			Outcome{Class: engine.ClassTruncated, Stream: true, TTFT: time.Second, Duration: 3 * time.Second, Usage: usage},
			time.Second, 0, 0, 0,
		},
		{"a failure", Outcome{Class: engine.ClassServer, Duration: time.Second, Usage: usage}, 0, 0, 0, 0},
		{"a rate limit that names its end", Outcome{Class: engine.ClassRateLimitTimed, Duration: time.Second}, 0, 0, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.answers(r.d.ID, DefaultMinSamples-1, c.o)
			if s := r.signals(); s.TTFT != engine.UnknownDuration || s.LatencyP50 != engine.UnknownDuration ||
				s.LatencyP95 != engine.UnknownDuration || s.Throughput != engine.Unknown || s.SuccessPPM != engine.Unknown {
				t.Errorf("known from %d samples: %+v", DefaultMinSamples-1, s)
			}
			r.answers(r.d.ID, 1, c.o)
			s := r.signals()
			if c.ttft == 0 && s.TTFT != engine.UnknownDuration || c.ttft != 0 && !near(float64(s.TTFT), float64(c.ttft)) {
				t.Errorf("time to first token %v, want %v", s.TTFT, c.ttft)
			}
			for _, got := range []time.Duration{s.LatencyP50, s.LatencyP95} {
				if c.latency == 0 && got != engine.UnknownDuration || c.latency != 0 && !near(float64(got), float64(c.latency)) {
					t.Errorf("latency %v, want %v", got, c.latency)
				}
			}
			if c.tokensPerMilli == 0 && s.Throughput != engine.Unknown || c.tokensPerMilli != 0 && !near(float64(s.Throughput), c.tokensPerMilli) {
				t.Errorf("throughput %d, want %.0f", s.Throughput, c.tokensPerMilli)
			}
			if s.SuccessPPM != c.success || s.Samples != DefaultMinSamples {
				t.Errorf("success %d ppm of %d, want %d of %d", s.SuccessPPM, s.Samples, c.success, DefaultMinSamples)
			}
		})
	}
}

// TestLatencies mixes streams and answers in whole.
func TestLatencies(t *testing.T) {
	r := newRig(t)
	for _, o := range []Outcome{
		{Duration: time.Second}, {Stream: true, TTFT: time.Millisecond, Duration: 4 * time.Second},
	} {
		r.answers(r.d.ID, 9, o)
	}
	r.answers(r.d.ID, 2, Outcome{Stream: true, TTFT: time.Millisecond, Duration: time.Minute})
	s := r.signals()
	if !near(float64(s.LatencyP50), float64(4*time.Second)) || !near(float64(s.LatencyP95), float64(time.Minute)) {
		t.Errorf("latency %v and %v, want 4s and 1m of nine answers of 1s, nine of 4s and two of 1m", s.LatencyP50, s.LatencyP95)
	}
	r.answers(r.d.ID, 180, Outcome{Duration: time.Second})
	r.clock.move(recomputeAfter)
	if s := r.signals(); !near(float64(s.LatencyP50), float64(time.Second)) || !near(float64(s.LatencyP95), float64(4*time.Second)) {
		t.Errorf("latency %v and %v with 180 more of 1s, want 1s and 4s", s.LatencyP50, s.LatencyP95)
	}
}

// TestInNoDenominator ends calls in ways that are not the upstream's doing.
func TestInNoDenominator(t *testing.T) {
	for _, class := range []engine.FailureClass{
		engine.ClassCancelled, engine.ClassClient, engine.ClassContext, engine.ClassContent, engine.ClassLocal,
	} {
		t.Run(class.String(), func(t *testing.T) {
			r := newRig(t)
			before := r.signals()
			c := r.begin()
			c.Committed(r.clock.now(), time.Second)
			c.End(Outcome{Class: class, Policy: policy, Stream: true, TTFT: time.Second, Duration: 2 * time.Second, Now: r.clock.now()})
			if diff := cmp.Diff(before, r.signals()); diff != "" {
				t.Errorf("signals (-before +after):\n%s", diff)
			}
		})
	}
}

// TestCommittedTime gives the time to the first content at the commit alone.
func TestCommittedTime(t *testing.T) {
	r := newRig(t)
	for range DefaultMinSamples {
		c := r.begin()
		c.Committed(r.clock.now(), 700*time.Millisecond)
		c.End(Outcome{Stream: true, Duration: 2 * time.Second, Now: r.clock.now()})
	}
	if got := r.signals().TTFT; !near(float64(got), float64(700*time.Millisecond)) {
		t.Errorf("time to first token %v, want 700ms", got)
	}
}

func TestTokensThisMinute(t *testing.T) {
	r := newRig(t) // starts at a full minute
	want := func(n int64) {
		t.Helper()
		if got := r.signals().TokensThisMinute; got != n {
			t.Errorf("tokens at %v: %d, want %d", r.clock.now(), got, n)
		}
	}
	want(0)
	r.answers(r.d.ID, 1, Outcome{Usage: engine.Usage{Known: true, Input: 100, Output: 20, Cached: 50, Reasoning: 5}})
	want(120)
	r.clock.move(time.Minute - time.Millisecond)
	r.answers(r.d.ID, 1, Outcome{Class: engine.ClassCancelled, Usage: engine.Usage{Known: true, Input: 1, Output: 2}})
	r.answers(r.d.ID, 1, Outcome{Usage: engine.Usage{Input: 1000, Output: 1000}}) // not known
	want(123)
	r.clock.move(time.Millisecond)
	want(0)
	r.answers(r.d.ID, 1, Outcome{Usage: engine.Usage{Known: true, Input: 7}})
	want(7)
}

func TestStatsJSON(t *testing.T) {
	r := newRig(t)
	r.answers("busy", 30, Outcome{
		Stream: true, TTFT: 250 * time.Millisecond, Duration: 3 * time.Second, Usage: engine.Usage{Known: true, Input: 10, Output: 100},
	})
	r.d = deployment("broken")
	r.cool(engine.ClassRateLimitTimed, 90*time.Second)
	r.open()
	r.tracker.Keep(map[string]bool{"busy": true, "broken": true, "idle": true})
	got, err := json.MarshalIndent(r.tracker.Stats(), "", "  ")
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	const want = `[
  {
    "deployment": "broken",
    "circuit": "open",
    "circuit_until": "2026-03-01T12:01:00Z",
    "circuit_opened": 1,
    "probe_running": false,
    "failures_in_row": 3,
    "cooldown_until": "2026-03-01T12:01:30Z",
    "in_flight": 0,
    "tokens_this_minute": 0,
    "succeeded": 0,
    "failed": 4,
    "last_failure": "2026-03-01T12:00:00Z",
    "last_failure_class": "server"
  },
  {
    "deployment": "busy",
    "circuit": "closed",
    "circuit_opened": 0,
    "probe_running": false,
    "failures_in_row": 0,
    "in_flight": 0,
    "tokens_this_minute": 3300,
    "succeeded": 30,
    "failed": 0,
    "success_ppm": 1000000,
    "first_token_ms": 259.651336,
    "latency_p50_ms": 3094.570416,
    "latency_p95_ms": 3094.570416,
    "tokens_per_second": 35.086837,
    "last_success": "2026-03-01T12:00:00Z"
  },
  {
    "deployment": "idle",
    "circuit": "closed",
    "circuit_opened": 0,
    "probe_running": false,
    "failures_in_row": 0,
    "in_flight": 0,
    "tokens_this_minute": 0,
    "succeeded": 0,
    "failed": 0
  }
]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}
