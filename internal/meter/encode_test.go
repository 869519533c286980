package meter_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatewright/engine"
	"gatewright/internal/meter"
)

// direct is a log handler that takes finished lines.
type direct struct {
	slog.Handler
	form meter.Form
	out  *bytes.Buffer
}

func (d direct) Form() meter.Form { return d.form }

func (d direct) WriteLines(lines []byte) { d.out.Write(lines) }

// forms are the handlers of log/slog, each with the form that is the same.
func forms(level slog.Level) map[meter.Form]func(*bytes.Buffer) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	return map[meter.Form]func(*bytes.Buffer) slog.Handler{
		meter.FormJSON: func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, o) },
		meter.FormText: func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, o) },
	}
}

// written returns what a recorder makes of decisions with a handler.
func written(out *bytes.Buffer, h slog.Handler, list ...*engine.Decision) string {
	r := meter.New(meter.Options{Logger: slog.New(h), Status: func(code string) int { return 500 + len(code) }})
	for _, d := range list {
		r.Record(d)
	}
	r.Close()
	return out.String()
}

// word draws a text of a decision: what handlers quote or escape is in it.
func word() *rapid.Generator[string] {
	units := []string{"a", "model", "/", "-", "0", " ", "=", `"`, `\`, "\n", "\t", "\x00", "\x7f", "é", "😀", "\xff", "\u2028", "\u00a0", "\ufffd", "<", "&"}
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(units), 0, 6).Draw(t, "units"), "")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			s = string(bytes.Repeat([]byte(s), 60))
		}
		return s
	})
}

// decisions draws decisions of every shape.
func decisions() *rapid.Generator[*engine.Decision] {
	return rapid.Custom(func(t *rapid.T) *engine.Decision {
		text := func() string { return word().Draw(t, "text") }
		few := func() int { return rapid.SampledFrom([]int{0, 0, 1, 2, 40}).Draw(t, "few") }
		flag := func() bool { return rapid.Bool().Draw(t, "flag") }
		count := func() int64 { return rapid.Int64().Draw(t, "count") }
		span := func() time.Duration {
			return time.Duration(rapid.SampledFrom([]int64{0, 1, 499, 500, 1000, 1e6, 123_456_789, 1e9, 3.6e15, math.MaxInt64}).Draw(t, "span"))
		}
		at := func() time.Time {
			zone := rapid.SampledFrom([]*time.Location{time.UTC, time.FixedZone("", 5400), time.FixedZone("", -11*3600)}).Draw(t, "zone")
			return time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "unix"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano")).In(zone)
		}
		usage := func() engine.Usage {
			return engine.Usage{Known: flag(), Input: count(), Output: count(), Cached: count(), CacheWrite: rapid.Int64Range(0, 1).Draw(t, "written")}
		}
		d := &engine.Decision{
			ID: text(), Model: text(), Resolved: text(), Strategy: text(), SelectionSource: text(), Snapshot: rapid.Uint64().Draw(t, "snapshot"),
			Request: &engine.Request{
				Model: text(), Endpoint: engine.Endpoint(rapid.IntRange(0, 4).Draw(t, "endpoint")), Stream: flag(),
				Needs: engine.Capabilities(rapid.Uint16().Draw(t, "needs")), InputTokens: count(), MaxOutput: count(),
			},
			LawMended: flag(), Duration: span(), Upstream: span(), CountedTokens: rapid.Int64Range(0, 1).Draw(t, "counted"), Counting: span(),
			Result: engine.Result{
				Status: rapid.IntRange(0, 599).Draw(t, "status"), Code: text(), Deployment: text(), Model: text(),
				Usage: usage(), Cost: count(), Truncated: flag(), Cancelled: flag(),
			},
		}
		if flag() {
			d.Time = at()
		}
		if flag() {
			d.Err = errors.New(text())
		}
		if flag() {
			d.Request.Caller = &engine.Caller{Key: text(), Team: text(), Org: text()}
			d.Request.Session = engine.Session{Key: [16]byte{1, 2, byte(count())}, Source: text()}
		}
		for range few() {
			d.Order = append(d.Order, text())
			d.Skipped = append(d.Skipped, engine.Skipped{Deployment: text(), Reason: engine.Reason(text()), Detail: text(), Until: at()})
		}
		for range few() {
			d.Attempts = append(d.Attempts, engine.Attempt{
				Deployment: text(), SelectionSource: text(), Start: at(), Duration: span(), FirstByte: span(),
				Class: engine.FailureClass(rapid.IntRange(0, 5).Draw(t, "class")), Status: rapid.IntRange(0, 599).Draw(t, "status"),
				UpstreamRequestID: text(), Usage: usage(), Note: text(),
			})
			d.Faults = append(d.Faults, engine.RuleFault{Rule: text(), Err: d.Err})
			d.Candidates = append(d.Candidates, engine.CandidateRecord{
				Deployment: text(), Keys: []string{text(), "k"}, Values: []float64{rapid.Float64().Draw(t, "value"), math.NaN()}, Draw: rapid.Float64().Draw(t, "draw"),
			})
			d.FallbackPath = append(d.FallbackPath, text())
		}
		return d
	})
}

// TestLinesAreThoseOfSlog compares lines that the recorder writes itself with
// those that it has log/slog write, byte for byte.
func TestLinesAreThoseOfSlog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(decisions(), 1, 3).Draw(t, "decisions")
		level := rapid.SampledFrom([]slog.Level{slog.LevelInfo, slog.LevelDebug}).Draw(t, "level")
		for form, handler := range forms(level) {
			var a, b bytes.Buffer
			want := written(&a, handler(&a), list...)
			got := written(&b, direct{handler(&b), form, &b}, list...)
			if got != want {
				t.Fatalf("form %d:\n got %s\nwant %s", form, got, want)
			}
		}
	})
}

// TestFormChangesBetweenLines has a reload change the form.
func TestFormChangesBetweenLines(t *testing.T) {
	var out bytes.Buffer
	h := &turning{Handler: slog.NewJSONHandler(&out, nil), out: &out}
	r := meter.New(meter.Options{Logger: slog.New(h)})
	for range 3 {
		r.Record(served())
	}
	r.Close()
	var begins []string
	for line := range bytes.Lines(out.Bytes()) {
		begins = append(begins, string(line[:5]))
	}
	if got, want := fmt.Sprint(begins), fmt.Sprint([]string{`{"tim`, `{"tim`, "time="}); got != want {
		t.Errorf("lines begin with %v, want %v", got, want)
	}
}

// turning has another form at each line: its handler's own, JSON, text.
type turning struct {
	slog.Handler
	asked int
	out   *bytes.Buffer
}

func (h *turning) Form() meter.Form {
	h.asked++
	return []meter.Form{meter.FormNone, meter.FormJSON, meter.FormText}[h.asked-1]
}

func (h *turning) WriteLines(lines []byte) { h.out.Write(lines) }

func BenchmarkLine(b *testing.B) {
	for name, h := range map[string]slog.Handler{
		"slog":   slog.NewJSONHandler(new(discard), nil),
		"direct": thrown{direct{slog.NewJSONHandler(new(discard), nil), meter.FormJSON, nil}},
	} {
		b.Run(name, func(b *testing.B) {
			d := served()
			b.ReportAllocs()
			r := meter.New(meter.Options{Logger: slog.New(h), Queue: b.N + 1})
			for range b.N {
				r.Record(d)
			}
			r.Close()
		})
	}
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }

// thrown throws finished lines away.
type thrown struct{ direct }

func (thrown) WriteLines([]byte) {}
