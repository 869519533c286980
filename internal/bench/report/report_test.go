package report

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name   string
		values []float64
		want   *Summary
	}{
		{"none", nil, nil},
		{"no number", []float64{nan, inf}, nil},
		{"one", []float64{3}, &Summary{3, 3, 3, []float64{3}}},
		{"odd", []float64{9, 1, 5}, &Summary{5, 1, 9, []float64{9, 1, 5}}},
		{"even", []float64{4, 1, 2, 9}, &Summary{3, 1, 9, []float64{4, 1, 2, 9}}},
		{"what is no number is left out", []float64{nan, 2, inf, 4}, &Summary{3, 2, 4, []float64{2, 4}}},
		{"negative", []float64{-2, 1, -4}, &Summary{-2, -4, 1, []float64{-2, 1, -4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.values)
			if got := summarize(tt.values); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if len(before) > 0 && !math.IsNaN(before[0]) && !slices.Equal(before, tt.values) {
				t.Errorf("the values were changed: %v, had %v", tt.values, before)
			}
		})
	}
}

func TestRatiosAreTakenPassByPass(t *testing.T) {
	for _, tt := range []struct {
		name         string
		values, refs []float64
		want         []float64
	}{
		{"each with its own pass", []float64{2, 30}, []float64{1, 10}, []float64{2, 3}},
		{"a pass without a yardstick has none", []float64{2, 30, 4}, []float64{0, 10, -1}, []float64{3}},
		{"a pass that is missing", []float64{2}, []float64{1, 10}, []float64{2}},
		{"none", nil, nil, []float64{}},
	} {
		if got := ratios(tt.values, tt.refs); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// example is a report in which the machine was half as quick in the second
// pass.
func example() *Report {
	r := &Report{
		Date: "2026-01-02", Machine: Machine{CPU: "Test CPU", Cores: 2, Kernel: "6.1", Go: "go1.26"}, Passes: 2, Scale: 0.5,
		Gateways: []Target{{"lean", "v1"}, {"policy", "v1, with p.json"}}, Notes: []string{"core 0"},
	}
	r.Declare(
		Measure{ID: "cpu", Label: "work", Unit: CPUSeconds, Relative: true, Goal: "≤ 1"},
		Measure{ID: "unused", Label: "nobody measured it", Unit: Count},
		Measure{ID: "added", Label: "latency", Unit: Microseconds, Relative: true},
		Measure{ID: "start", Label: "start", Unit: Seconds},
		Measure{ID: "rss", Label: "memory", Unit: Bytes},
		Measure{ID: "calls", Label: "calls", Unit: Count},
		Measure{ID: "cost", Label: "cost", Unit: Multiple},
	)
	for pass, slow := range []float64{1, 2} {
		r.Add("cpu", Yardstick, 0.05*slow)
		r.Add("cpu", "lean", 0.04*slow)
		r.Add("cpu", "policy", 0.06*slow)
		r.Add("added", Yardstick, float64(-10*(pass+1))) // not above zero: no ratio
		r.Add("added", "lean", 100)
		r.Add("start", "lean", 0.0123)
		r.Add("rss", Yardstick, 30<<20)
		r.Add("rss", "lean", 41<<20)
		r.Add("calls", "lean", 4+float64(pass))
		r.Add("cost", "lean", 1.02)
	}
	return r
}

func TestMarkdown(t *testing.T) {
	const want = `Measured 2026-01-02 on Test CPU, 2 cores, Linux 6.1, go1.26.
Median of 2 passes (least–most), scale 0.5.

- lean: v1
- policy: v1, with p.json
- core 0

| work | ref | lean | policy | goal: lean / with policies |
|---|---|---|---|---|
| work | 75.0 ms (50.0–100.0) | 0.80 × | 1.20 × | ≤ 1 |
| latency | -15 µs (-20–-10) | 100 µs | – | – |
| start | – | 12 ms | – | – |
| memory | 30 MiB | 41 MiB | – | – |
| calls | – | 4 (4–5) | – | – |
| cost | – | 1.02 × | – | – |
`
	var b strings.Builder
	if err := example().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	if err := example().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine Machine
		Passes  int
		Notes   []string
		Rows    []Row
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Passes != 2 || got.Machine.CPU != "Test CPU" || len(got.Notes) != 1 || len(got.Rows) != 6 {
		t.Fatalf("got %+v", got)
	}
	row := got.Rows[0]
	lean := row.Gateways["lean"]
	if row.ID != "cpu" || row.Unit != CPUSeconds || !near(row.Ref.Median, 0.075) || !near(lean.Value.Max, 0.08) || !near(lean.Multiple.Median, 0.8) {
		t.Errorf("got %+v, lean %+v", row, lean)
	}
	if f := got.Rows[1].Gateways["lean"]; f.Multiple != nil {
		t.Errorf("a multiple of a yardstick that is not above zero: %+v", f.Multiple)
	}
}

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
