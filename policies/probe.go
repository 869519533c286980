package policies

import (
	"fmt"
	"time"

	"gatewright/wasm/abi"
)

// probeCounts are how many candidates the made-up requests have with which a
// policy is tried before it is accepted.
var probeCounts = [...]int{0, 1, 20}

// probes are made-up requests in the JSON form. Without parameters there are
// none: they may be what the policy lives on.
func probes(kind Kind, r *abi.Reads, withParameters bool) [][]byte {
	if !withParameters {
		return nil
	}
	var list [][]byte
	for _, n := range probeCounts {
		text, err := abi.AppendJSON(nil, probeInput(n), stageOf(kind), r)
		if err == nil { // of so few it cannot fail
			list = append(list, text)
		}
	}
	return list
}

// probeInput is a request for a model with n candidates, of which some are not
// in the pool and of some little is known.
func probeInput(n int) *abi.Input {
	in := &abi.Input{
		ID: "probe", Key: "probe", Endpoint: "chat", Model: "probe", Session: "probe", Flags: abi.Stream,
		InputTokens: 1000, MaxOutputTokens: 500, AttemptBudget: 4, NowUnixMS: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).UnixMilli(), Seed: 1,
		BudgetLeft: abi.NoLimit, RPMLeft: abi.NoLimitCount, TPMLeft: abi.NoLimitCount,
	}
	for i := range n {
		k := int64(i)
		c := abi.Candidate{
			ID: fmt.Sprintf("probe-%d", i), Provider: fmt.Sprintf("provider-%d", i%5), Model: "probe", UpstreamModel: "probe",
			Region: [...]string{"eu", "us", ""}[i%3], SupplyTier: "official", Flags: abi.Stream | abi.Tools,
			Circuit: abi.Circuit(i % 3), SkippedUntil: abi.Unknown, Tier: uint32(i % 2), Weight: 1,
			ContextLimit: 128_000, MaxOutput: 4096, InFlight: uint32(i), Samples: 50,
			PriceIn: 1_000_000_000 + k, PriceOut: 4_000_000_000, Price: 7_000_000_000 + 3*k, EstCost: 3_000_000,
			TTFT: 300 + k, LatencyP50: 900, LatencyP95: 2000, Throughput: 50_000, Success: 990_000, QuotaLeft: 500_000, QuotaReset: abi.Unknown, LastSuccess: abi.Unknown,
		}
		if i%7 == 3 {
			c.Skipped = abi.SkipOf("cooldown")
		}
		if i%5 == 4 {
			c.Samples, c.ContextLimit, c.MaxOutput = 0, abi.UnknownCount, abi.UnknownCount
			c.PriceIn, c.PriceOut, c.Price, c.EstCost, c.TTFT = abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown
			c.LatencyP50, c.LatencyP95, c.Throughput, c.Success, c.QuotaLeft = abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown, abi.Unknown
		}
		in.Records = append(in.Records, c)
	}
	return in
}
