package policies

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/wasm/abi"
	"gatewright/wasm/rego"
)

// shipped are the policies that ship, with parameters that make them do something.
var shipped = map[string]string{
	"admission/allow_list":       `{"default": "internal"}`,
	"admission/budget_guard":     `{"low_nusd": 5000, "low_tiers": ["economy", "standard"]}`,
	"admission/residency":        `{"regions": {"eu": ["eu-west", "eu-central"], "us": ["us-east"]}}`,
	"admission/tier_by_team":     `{"teams": {"search": ["premium", "standard"], "none": []}, "default": ["economy"]}`,
	"admission/working_hours":    `{"zone": "Europe/Berlin", "exempt": ["oncall"]}`,
	"ordering/cheapest_reliable": `{"samples": 5}`,
	"ordering/drain_reset":       `{}`,
	"ordering/price_latency_cap": `{"ttft_ms": 300}`,
}

// said is what an evaluation came to, for comparing.
type said struct {
	Fault    bool
	Refusal  string
	Removals []string
	Scores   []string
}

func saidBy(v *verdict, err error) said {
	if err != nil {
		return said{Fault: true}
	}
	var s said
	if f := &v.refusal; f.status != 0 {
		s.Refusal = fmt.Sprint(f.status, f.code, f.message, f.retryAfter)
	}
	for i := range v.removals {
		m := &v.removals[i]
		s.Removals = append(s.Removals, fmt.Sprint(m.index, m.reason, m.until))
	}
	slices.Sort(s.Removals)
	for _, f := range v.scores {
		s.Scores = append(s.Scores, fmt.Sprintf("%016x", math.Float64bits(f)))
	}
	return s
}

// twins are one policy in both forms, with the same parameters.
type twins struct {
	unit   *unit // as requests are served
	native *rego.Native
	rule   *rule // what applies answers
}

func newTwins(t *testing.T, file, parameters string) *twins {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := newRoom(t)
	name := strings.TrimSuffix(filepath.Base(file), ".rego")
	if err := r.upload(name, body); err != nil {
		t.Fatal(err)
	}
	b := &Binding{ID: "1", Policy: name, Parameters: json.RawMessage(parameters)}
	p, err := r.state.Policy(name)
	if err != nil {
		t.Fatal(err)
	}
	u, _, release, err := r.library.load(t.Context(), p, p.Newest(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	m, err := rego.Compile(t.Context(), rego.Source{Files: map[string]string{name + ".rego": string(body)}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.Bind([]byte(parameters), nil)
	if err != nil {
		t.Fatal(err)
	}
	native, err := m.Native(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return &twins{unit: u, native: native, rule: &rule{kind: p.Kind, form: m.Form, outputs: m.Outputs}}
}

// natively evaluates the policy with all of the input, in OPA's own evaluator.
func (w *twins) natively(t *rapid.T, in *input) said {
	text, err := abi.AppendJSON(nil, &in.Input, stageOf(w.rule.kind), abi.All())
	if err != nil {
		t.Fatal(err)
	}
	var out verdict
	answer, err := w.native.Eval(t.Context(), text)
	if err == nil {
		err = out.answer.Read(answer, w.rule.outputs, in.find())
	}
	if err == nil {
		err = w.rule.apply(&out.answer, in, &out)
	}
	return saidBy(&out, err)
}

// The policies that ship never fault, and say the same natively, with every field
// of the input, and as they serve requests: compiled, given what they read, and
// from the cache.
func TestSoakTwins(t *testing.T) {
	files, err := filepath.Glob("*/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.rego") })
	if len(files) != len(shipped) {
		t.Errorf("%d policies ship, and %d are tested", len(files), len(shipped))
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			w := newTwins(t, file, shipped[filepath.ToSlash(strings.TrimSuffix(file, ".rego"))])
			var out verdict
			some := map[bool]int{}
			check := func(t *rapid.T) {
				in := drawInput(t)
				want := w.natively(t, in)
				if want.Fault {
					t.Fatal("it cannot decide")
				}
				for range 2 { // the second time it may be known
					out.reset()
					got := saidBy(&out, w.unit.decide(t.Context(), in, &out))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("natively -, compiled +\n%s", diff)
					}
				}
				some[want.Refusal != "" || len(want.Removals) > 0 || len(want.Scores) > 0]++
			}
			for range max(1, rounds(10, 500)/5) {
				rapid.Check(t, check)
			}
			if len(some) < 2 && w.rule.kind == Admission {
				t.Errorf("it always did the same: %v", some)
			}
		})
	}
}

// drawInput makes an input that the shipped policies have something to say about.
func drawInput(t *rapid.T) *input {
	text := func(name string, list ...string) string { return rapid.SampledFrom(list).Draw(t, name) }
	number := func(name string, list ...int64) int64 {
		if n := rapid.IntRange(0, 3).Draw(t, name+"?"); n == 0 {
			return rapid.Int64Range(0, 1<<52).Draw(t, name)
		}
		return rapid.SampledFrom(list).Draw(t, name)
	}
	in := &input{}
	in.ID, in.Key, in.Endpoint, in.Model = "r", "k", "chat", text("model", "m", "é\"\\", "")
	in.Org, in.Team = text("org", "acme", ""), text("team", "search", "ads", "oncall", "none", "")
	tags := map[string]string{}
	for _, name := range []string{"residency", "data_class"} {
		if v := text(name, "-", "eu", "us", "uk", "internal", "public", "", "\u2028"); v != "-" {
			tags[name] = v
		}
	}
	in.Tags = abi.Tags(tags)
	in.InputTokens, in.AttemptBudget = uint32(rapid.IntRange(0, 1<<20).Draw(t, "tokens")), 4
	in.NowUnixMS = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + rapid.Int64Range(0, 400*24*60).Draw(t, "minute")*60_000
	in.Seed = rapid.Uint64().Draw(t, "seed")
	in.BudgetLeft = number("budget", 0, 1, 4999, 5000, abi.NoLimit)
	in.RPMLeft, in.TPMLeft = abi.NoLimitCount, 7
	for i := range rapid.IntRange(0, 8).Draw(t, "candidates") {
		tags := map[string]string{}
		if v := text("approved", "-", "public", "public,internal", "internal,", ""); v != "-" {
			tags["approved"] = v
		}
		c := abi.Candidate{
			ID: fmt.Sprintf("p%d/m", i), Provider: text("provider", "a", "b"), Model: "m", UpstreamModel: "m",
			Region: text("region", "eu-west", "eu-central", "us-east", ""), SupplyTier: text("tier", "premium", "standard", "economy", ""),
			Tags: abi.Tags(tags), SkippedUntil: abi.Unknown, Weight: 1, Tier: uint32(rapid.IntRange(0, 2).Draw(t, "place")),
			Samples: uint32(rapid.IntRange(0, 10).Draw(t, "samples")), Success: number("success", abi.Unknown, 0, 989_999, 990_000, 1_000_000),
			PriceIn: number("in", abi.Unknown, 0, 1000), PriceOut: number("out", abi.Unknown, 0, 4000), EstCost: number("cost", abi.Unknown, 0, 4999, 5001),
			TTFT: number("ttft", abi.Unknown, 0, 299, 300, 301), LatencyP50: number("p50", abi.Unknown, 0, 900), LatencyP95: number("p95", abi.Unknown, 900), Throughput: abi.Unknown,
			QuotaLeft: number("quota", abi.Unknown, 0, 20_000, 20_001), QuotaReset: number("reset", abi.Unknown, in.NowUnixMS, in.NowUnixMS+1),
			LastSuccess: abi.Unknown, ContextLimit: abi.UnknownCount, MaxOutput: abi.UnknownCount,
		}
		c.Price = abi.Blended(c.PriceIn, c.PriceOut)
		if rapid.IntRange(0, 4).Draw(t, "skipped") == 0 {
			c.Skipped = abi.SkipOf("cooldown")
		}
		in.Records = append(in.Records, c)
	}
	return in
}
