package meter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"gatewright/engine"
	"gatewright/internal/meter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var began = time.Date(2026, 11, 29, 12, 0, 0, 123_456_789, time.UTC)

// served is the decision of a request that one deployment failed and another
// served.
func served() *engine.Decision {
	return &engine.Decision{
		ID: "0194-id", Time: began, Model: "m", Resolved: "alias", Snapshot: 7,
		Request: &engine.Request{
			ID: "0194-id", Model: "m-alias", Endpoint: engine.EndpointChat, Stream: true,
			Caller:      &engine.Caller{Key: "ci", Team: "web", Org: "acme"},
			Session:     engine.Session{Key: [16]byte{0xab, 0xcd}, Source: "prompt_cache_key"},
			Needs:       engine.CapTools | engine.CapVision,
			InputTokens: 12, MaxOutput: 100, Payload: "PROMPT",
		},
		Strategy: "price", SelectionSource: "key",
		Candidates: []engine.CandidateRecord{
			{Deployment: "a/m", Keys: []string{"price", "latency"}, Values: []float64{2.5, math.NaN()}, Draw: 0.25},
			{Deployment: "b/m", Keys: []string{"price", "latency"}, Values: []float64{3, 120}, Draw: 1.5, Position: 1, Circuit: engine.CircuitHalfOpen},
		},
		Skipped: []engine.Skipped{
			{Deployment: "c/m", Reason: engine.ReasonCooldown, Detail: "30s left", Until: began.Add(30 * time.Second)},
			{Deployment: "d/m", Reason: engine.ReasonDisabled},
		},
		Order: []string{"a/m", "b/m"},
		Attempts: []engine.Attempt{
			{
				Deployment: "a/m", SelectionSource: "strategy", Start: began, Duration: 40 * time.Millisecond,
				Class: engine.ClassServer, Status: 503, Message: "PROMPT quoted by the upstream", Note: "retry budget used up",
			},
			{
				Deployment: "b/m", SelectionSource: "strategy", Start: began.Add(40 * time.Millisecond), Duration: 60 * time.Millisecond,
				FirstByte: 20 * time.Millisecond, Status: 200, UpstreamRequestID: "req_1",
				Usage: engine.Usage{Known: true, Input: 11, Output: 5, Cached: 3},
			},
		},
		FallbackPath: []string{"n"},
		Result: engine.Result{
			Status: 200, Deployment: "b/m", Model: "m", Cost: 123,
			Usage: engine.Usage{Known: true, Input: 11, Output: 5, Cached: 3},
		},
		Duration: 101 * time.Millisecond, Upstream: 100 * time.Millisecond,
	}
}

// lines records the decisions and returns what was logged.
func lines(t *testing.T, level slog.Level, status func(string) int, list ...*engine.Decision) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: level}))
	r := meter.New(meter.Options{Logger: logger, Status: status})
	for _, d := range list {
		r.Record(d)
	}
	r.Close()
	var got []map[string]any
	for line := range bytes.Lines(out.Bytes()) {
		var entry map[string]any
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		got = append(got, entry)
	}
	return got
}

func fromJSON(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCountedInput tells a count from an estimate, and what it took.
func TestCountedInput(t *testing.T) {
	d := served()
	d.CountedTokens, d.Counting = d.Request.InputTokens, 2500*time.Microsecond
	line := lines(t, slog.LevelInfo, nil, d)[0]
	request, ok := line["request"].(map[string]any)
	if !ok || request["input_tokens_counted"] != 12.0 || request["input_tokens_estimate"] != nil || line["counting_ms"] != 2.5 {
		t.Errorf("line %v", line)
	}
}

func TestLine(t *testing.T) {
	got := lines(t, slog.LevelInfo, nil, served())
	want := fromJSON(t, `{
		"time": "2026-11-29T12:00:00.224456789Z", "level": "INFO", "msg": "request", "id": "0194-id",
		"request": {"model": "m-alias", "endpoint": "chat", "stream": true, "key": "ci", "team": "web", "org": "acme",
			"session": "abcd000000000000", "session_source": "prompt_cache_key", "needs": "tools vision",
			"input_tokens_estimate": 12, "max_output_tokens": 100},
		"model": "m", "resolved_by": "alias", "strategy": "price", "selection_source": "key", "snapshot": 7,
		"order": ["a/m", "b/m"],
		"skipped_candidates": [
			{"deployment": "c/m", "reason": "cooldown", "detail": "30s left", "until": "2026-11-29T12:00:30Z"},
			{"deployment": "d/m", "reason": "disabled"}],
		"attempts": [
			{"deployment": "a/m", "selection_source": "strategy", "class": "server", "status": 503,
				"start": "2026-11-29T12:00:00.123Z", "duration_ms": 40, "note": "retry budget used up"},
			{"deployment": "b/m", "selection_source": "strategy", "class": "ok", "status": 200,
				"start": "2026-11-29T12:00:00.163Z", "duration_ms": 60, "first_byte_ms": 20, "upstream_request_id": "req_1",
				"usage": {"input_tokens": 11, "output_tokens": 5, "cached_tokens": 3}}],
		"fallback_path": ["n"],
		"result": {"status": 200, "deployment": "b/m", "model": "m", "cost_nusd": 123,
			"usage": {"input_tokens": 11, "output_tokens": 5, "cached_tokens": 3}},
		"duration_ms": 101, "overhead_ms": 1}`)
	if diff := cmp.Diff([]map[string]any{want}, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestLineAtDebug(t *testing.T) {
	got := lines(t, slog.LevelDebug, nil, served())[0]["candidates"]
	want := fromJSON(t, `{"x": [
		{"deployment": "a/m", "position": 0, "draw": 0.25, "values": {"price": 2.5}},
		{"deployment": "b/m", "position": 1, "draw": 1.5, "values": {"price": 3, "latency": 120}, "circuit": "half_open"}]}`)["x"]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
}

func TestResult(t *testing.T) {
	status := func(code string) int {
		return map[string]int{"model_not_found": 404, "internal_error": 500}[code]
	}
	for _, c := range []struct {
		name   string
		err    error
		result engine.Result
		want   string
	}{
		{
			"a refusal without a status", &engine.RefusedError{Code: "model_not_found"},
			engine.Result{Code: "model_not_found", Cost: engine.Unknown},
			`{"status": 404, "code": "model_not_found"}`,
		},
		{
			"a refusal with its own", &engine.RefusedError{Code: "office_hours", Status: 429},
			engine.Result{Code: "office_hours", Status: 429, Cost: engine.Unknown},
			`{"status": 429, "code": "office_hours"}`,
		},
		{"a fault of ours", errors.New("SECRET"), engine.Result{Cost: engine.Unknown}, `{"status": 500, "code": "internal_error"}`},
		{
			"the client left", context.Canceled,
			engine.Result{Cancelled: true, Cost: engine.Unknown},
			`{"status": 0, "cancelled": true}`,
		},
		{
			"cut off", &engine.UpstreamError{Code: "upstream_truncated", Committed: true},
			engine.Result{Status: 200, Code: "upstream_truncated", Truncated: true, Cost: 0, Usage: engine.Usage{Known: true, Output: 2, Reasoning: 1, CacheWrite: 4}},
			`{"status": 200, "code": "upstream_truncated", "upstream_truncated": true, "cost_nusd": 0,
				"usage": {"input_tokens": 0, "output_tokens": 2, "reasoning_tokens": 1, "cache_write_tokens": 4}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &engine.Decision{Request: &engine.Request{}, Err: c.err, Result: c.result}
			got := lines(t, slog.LevelInfo, status, d)[0]["result"]
			if diff := cmp.Diff(any(fromJSON(t, c.want)), got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsAndMends(t *testing.T) {
	d := served()
	d.LawMended = true
	d.Faults = []engine.RuleFault{{Rule: "score", Err: errors.New("no answer")}}
	got := lines(t, slog.LevelInfo, nil, d)[0]
	if got["law_mended"] != true {
		t.Errorf("law_mended = %v", got["law_mended"])
	}
	want := fromJSON(t, `{"x": [{"rule": "score", "fault": "no answer"}]}`)["x"]
	if diff := cmp.Diff(want, got["rule_faults"]); diff != "" {
		t.Errorf("rule_faults (-want +got):\n%s", diff)
	}
}

func TestLineHoldsNoContent(t *testing.T) {
	d := served()
	d.Err = errors.New("SECRET")
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var out bytes.Buffer
		r := meter.New(meter.Options{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))})
		r.Record(d)
		r.Close()
		for _, word := range []string{"PROMPT", "SECRET"} {
			if strings.Contains(out.String(), word) {
				t.Errorf("%s: the line holds %s: %s", level, word, &out)
			}
		}
	}
}

func TestListsAreCut(t *testing.T) {
	d := served()
	d.Order = nil
	for i := range 500 {
		d.Order = append(d.Order, fmt.Sprintf("deployment-%03d", i))
	}
	got := lines(t, slog.LevelInfo, nil, d)[0]
	shown, _ := got["order"].([]any)
	cut, _ := got["order_cut"].(float64)
	if len(shown) < 10 || len(shown)+int(cut) != 500 || shown[0] != "deployment-000" {
		t.Errorf("order shows %d from %v and cuts %v of 500", len(shown), shown[0], cut)
	}
}

// hostile draws text that handlers have to escape, up to 2,000 bytes.
func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		unit := rapid.SampledFrom([]string{`"`, `\`, "\x00", "\n", "é", "😀", "\xff", "\u2028", "<", "a"}).Draw(t, "unit")
		return strings.Repeat(unit, rapid.IntRange(0, 500).Draw(t, "times"))
	})
}

func TestLineIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string { return hostile().Draw(t, label) }
		n := rapid.IntRange(0, 40).Draw(t, "n")
		d := &engine.Decision{
			ID: text("id"), Model: text("model"), Resolved: text("resolved"), Snapshot: math.MaxUint64,
			Strategy: text("strategy"), SelectionSource: text("source"),
			Request: &engine.Request{
				Model: text("asked"), Needs: math.MaxUint16, InputTokens: math.MaxInt64, MaxOutput: math.MaxInt64,
				Caller:  &engine.Caller{Key: text("key"), Team: text("team"), Org: text("org")},
				Session: engine.Session{Source: text("session")},
			},
			Result: engine.Result{
				Status: 200, Code: text("code"), Deployment: text("served"), Model: text("served model"), Cost: math.MaxInt64,
				Usage: engine.Usage{Known: true, Input: math.MaxInt64, Output: math.MaxInt64, Cached: math.MaxInt64, CacheWrite: math.MaxInt64, Reasoning: math.MaxInt64},
			},
			Duration: math.MaxInt64, LawMended: true, CountedTokens: math.MaxInt64, Counting: math.MaxInt64,
		}
		name := text("name")
		for range n {
			d.Order = append(d.Order, name)
			d.FallbackPath = append(d.FallbackPath, name)
			d.Skipped = append(d.Skipped, engine.Skipped{Deployment: name, Reason: engine.Reason(name), Detail: name, Until: began})
			d.Attempts = append(d.Attempts, engine.Attempt{Deployment: name, SelectionSource: name, UpstreamRequestID: name, Note: name, Usage: d.Result.Usage})
			d.Faults = append(d.Faults, engine.RuleFault{Rule: name, Err: errors.New(name)})
			d.Candidates = append(d.Candidates, engine.CandidateRecord{Deployment: name, Keys: []string{name}, Values: []float64{math.MaxFloat64}, Draw: math.Inf(1)})
		}
		for form, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"json": func(b *bytes.Buffer) slog.Handler {
				return slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})
			},
			"text": func(b *bytes.Buffer) slog.Handler {
				return slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})
			},
		} {
			var out bytes.Buffer
			r := meter.New(meter.Options{Logger: slog.New(handler(&out))})
			r.Record(d)
			r.Close()
			const most = 10_000
			if out.Len() > most {
				t.Fatalf("the line as %s has %d bytes, at most %d are allowed:\n%s", form, out.Len(), most, &out)
			}
			if bytes.Count(out.Bytes(), []byte{'\n'}) != 1 {
				t.Fatalf("the line as %s has %d line ends:\n%q", form, bytes.Count(out.Bytes(), []byte{'\n'}), &out)
			}
			if form == "json" && !json.Valid(out.Bytes()) {
				t.Fatalf("the line is not JSON:\n%s", &out)
			}
		}
	})
}

// stuck is a log handler that waits until it is let go.
type stuck struct {
	slog.Handler
	entered chan struct{}
	release chan struct{}
}

func (s stuck) Handle(ctx context.Context, r slog.Record) error {
	s.entered <- struct{}{}
	<-s.release
	return s.Handler.Handle(ctx, r)
}

func TestFullQueueDropsAndReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		h := stuck{slog.NewJSONHandler(&out, nil), make(chan struct{}, 100), make(chan struct{})}
		r := meter.New(meter.Options{Logger: slog.New(h), Queue: 2})
		r.Record(served())
		<-h.entered // the goroutine holds the first, two more may wait
		for range 5 {
			r.Record(served())
		}
		if diff := cmp.Diff(meter.Stats{Recorded: 3, Dropped: 3}, r.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		close(h.release)
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of the bubble
		r.Close()
		r.Record(served())
		if diff := cmp.Diff(meter.Stats{Recorded: 3, Dropped: 4}, r.Stats()); diff != "" {
			t.Errorf("stats after Close (-want +got):\n%s", diff)
		}
		if n := strings.Count(out.String(), `"msg":"request"`); n != 3 {
			t.Errorf("%d lines were written, want 3", n)
		}
		if n := strings.Count(out.String(), `"level":"WARN","msg":"decisions dropped","dropped":3,"dropped_total":3`); n != 1 {
			t.Errorf("the loss was reported %d times, want once:\n%s", n, &out)
		}
		r.Close()
	})
}

func TestNothingIsQueuedWhenInfoIsOff(t *testing.T) {
	got := lines(t, slog.LevelWarn, nil, served())
	if len(got) != 0 {
		t.Errorf("logged %v", got)
	}
}

// TestRecorderHammer records from many goroutines while the recorder closes:
// every decision is either written or counted as dropped.
func TestRecorderHammer(t *testing.T) {
	const goroutines, each = 16, 200
	var out bytes.Buffer
	r := meter.New(meter.Options{Logger: slog.New(slog.NewJSONHandler(&out, nil)), Queue: 64})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range each {
				r.Record(served())
				r.Stats()
				if i == each/2 {
					go r.Close()
				}
			}
		})
	}
	wg.Wait()
	r.Close()
	stats := r.Stats()
	if stats.Recorded+stats.Dropped != goroutines*each {
		t.Errorf("%d recorded and %d dropped of %d", stats.Recorded, stats.Dropped, goroutines*each)
	}
	if n := strings.Count(out.String(), `"msg":"request"`); uint64(n) != stats.Recorded {
		t.Errorf("%d lines for %d recorded decisions", n, stats.Recorded)
	}
}
