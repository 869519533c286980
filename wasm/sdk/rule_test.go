package sdk_test

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"gatewright/wasm/abi"
)

// document is the JSON form of an input, as far as the worked examples read it.
// The rules below judge it, so that a module, which reads the binary form, is
// held to what everybody else is given. Their arithmetic has no bounds.
type document struct {
	Request struct {
		Tags   map[string]string
		Stream bool
		Now    int64 `json:"now_unix_ms"`
	}
	Caller struct {
		Left int64 `json:"budget_left_nusd"`
	}
	Candidates []candidate
}

type candidate struct {
	Region     string
	Tags       map[string]string
	Circuit    string
	Skipped    *struct{ Reason string }
	EstCost    *int64 `json:"est_cost_nusd"`
	TTFT       *int64 `json:"ttft_ms"`
	LatencyP95 *int64 `json:"latency_p95_ms"`
	QuotaLeft  *int64 `json:"quota_left_ppm"`
	QuotaReset *int64 `json:"quota_reset_unix_ms"`
}

// failer is a test, of rapid's or not.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func documentOf(t failer, in *abi.Input, stage abi.Stage) *document {
	t.Helper()
	d := &document{}
	text, err := abi.AppendJSON(nil, in, stage, abi.All())
	if err == nil {
		err = json.Unmarshal(text, d)
	}
	if err != nil {
		t.Fatalf("the JSON form: %v\n%s", err, text)
	}
	return d
}

// limits are the parameters of the admission.
type limits struct {
	Regions []string `json:"regions,omitempty"`
	Share   int64    `json:"share_ppm,omitempty"` // 0 = 1,000,000
}

const (
	outOfRegion = 1 + iota
	tooDear
	quotaEmpty
	budgetEmpty
)

// admitted is the admission by region and budget.
func (p limits) admitted(d *document) *abi.Result {
	out := &abi.Result{}
	for range d.Candidates {
		out.Verdicts = append(out.Verdicts, abi.Verdict{Until: abi.Unknown})
	}
	now := max(d.Request.Now, 0)
	if d.Caller.Left <= 0 {
		out.Refusal = abi.Refusal{Status: 402, Reason: budgetEmpty, RetryAfter: uint32(86_400 - now/1000%86_400)}
		out.Message = []byte("the budget is used up")
		return out
	}
	most := big.NewInt(d.Caller.Left)
	if p.Share != 0 && d.Caller.Left != abi.NoLimit {
		most.Mul(most, big.NewInt(p.Share)).Quo(most, big.NewInt(1_000_000))
	}
	for i, c := range d.Candidates {
		v := &out.Verdicts[i]
		switch {
		case c.Skipped != nil:
		case !p.allows(d.Request.Tags["residency"], &c):
			v.Reason = outOfRegion
		case c.EstCost != nil && big.NewInt(*c.EstCost).Cmp(most) > 0:
			v.Reason = tooDear
		case c.QuotaLeft != nil && *c.QuotaLeft == 0 && c.QuotaReset != nil && *c.QuotaReset > now:
			v.Reason, v.Until = quotaEmpty, *c.QuotaReset
		}
		if v.Reason != 0 {
			out.Removed++
		}
	}
	return out
}

func (p limits) allows(residency string, c *candidate) bool {
	switch {
	case c.Tags["residency"] == "any":
		return true
	case residency != "":
		return c.Region == residency || strings.HasPrefix(c.Region, residency+"-")
	}
	return len(p.Regions) == 0 || slices.Contains(p.Regions, c.Region)
}

// weights are the parameters of the ranking.
type weights struct {
	MS    *int64 `json:"ms_nusd,omitempty"`         // nil = 1,000
	Floor *int64 `json:"quota_floor_ppm,omitempty"` // nil = 100,000
}

// ranked is the ranking by price, latency and quota.
func (p weights) ranked(d *document) *abi.Result {
	ms, floor := or(p.MS, 1000), or(p.Floor, 100_000)
	out := &abi.Result{}
	for _, c := range d.Candidates {
		if c.Skipped != nil || c.Circuit == "open" {
			out.Scores = append(out.Scores, math.NaN())
			continue
		}
		wait := c.LatencyP95
		if d.Request.Stream {
			wait = c.TTFT
		}
		score := big.NewInt(bounded(wait, 3_600_000, 0))
		score.Mul(score, big.NewInt(ms)).Add(score, big.NewInt(bounded(c.EstCost, 1_000_000_000_000_000, 0)))
		if left := bounded(c.QuotaLeft, 1_000_000, 1_000_000); left < floor {
			more := new(big.Int).Quo(score, big.NewInt(floor))
			score.Add(score, more.Mul(more, big.NewInt(floor-left)))
		}
		f, _ := new(big.Float).SetInt(score).Float64()
		out.Scores = append(out.Scores, f)
	}
	return out
}

func or(n *int64, fallback int64) int64 {
	if n == nil {
		return fallback
	}
	return *n
}

func bounded(n *int64, most, fallback int64) int64 { return max(0, min(or(n, fallback), most)) }

// sameAnswer says in what two answers differ. Scores are compared bit by bit.
func sameAnswer(got, want *abi.Result) string {
	bits := func(list []float64) (b []uint64) {
		for _, f := range list {
			if math.IsNaN(f) {
				f = math.NaN() // there are many
			}
			b = append(b, math.Float64bits(f))
		}
		return b
	}
	type answer struct {
		Verdicts []abi.Verdict
		Removed  int
		Refusal  abi.Refusal
		Order    []uint32
		Scores   []uint64
		Message  string
	}
	flat := func(r *abi.Result) answer {
		a := answer{Removed: r.Removed, Refusal: r.Refusal, Scores: bits(r.Scores), Message: string(r.Message)}
		a.Verdicts, a.Order = append(a.Verdicts, r.Verdicts...), append(a.Order, r.Order...)
		return a
	}
	return cmp.Diff(flat(want), flat(got))
}
