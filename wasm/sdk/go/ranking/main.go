//go:build wasip1

// A ranking by price, latency and quota, all of them in money.
//
// The score of a candidate is what the request is likely to cost there, and what
// waiting for it is worth: until the first token if the answer is streamed, else
// until all of it. Below a floor of the quota the score grows, up to twofold when
// nothing is left. What nobody in the pool knows counts as nothing. Candidates
// that are skipped or whose circuit is open get no score.
//
// All numbers are bounded and whole, so every language finds the same score.
package main

import "gatewright/wasm/sdk/go/gatewright"

/* gatewright.manifest
{
  "name": "price-latency-quota", "version": "1.0.0", "kind": "ranking", "abi": "1.0",
  "inputs": ["request.stream", "candidates[].est_cost_nusd", "candidates[].ttft_ms", "candidates[].latency_p95_ms",
    "candidates[].quota_left_ppm", "candidates[].circuit", "candidates[].skipped"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "ms_nusd": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 1000,
      "description": "what a millisecond of waiting is worth, in nano-USD"},
    "quota_floor_ppm": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 100000,
      "description": "share of the quota below which a candidate is spared, in millionths"}}}
}
*/

const (
	mostCost = 1_000_000_000_000_000 // a million dollars
	mostWait = 3_600_000             // an hour
	full     = 1_000_000
)

var msNUSD, floorPPM int64

func main() {}

//go:wasmexport gw_configure
func configure(at, size uint32) int32 {
	return gatewright.Configure(at, size, func(p *gatewright.Params) error {
		msNUSD = p.Int("ms_nusd", 1000, 0, 1_000_000)
		floorPPM = p.Int("quota_floor_ppm", 100_000, 0, 1_000_000)
		return nil
	})
}

//go:wasmexport gw_rank
func decide(at, size uint32) int32 { return gatewright.Ranking(at, size, rank) }

func rank(r *gatewright.Request) error {
	for c := range r.Candidates() {
		if c.Skipped != 0 || c.Circuit == gatewright.CircuitOpen {
			continue
		}
		wait := c.LatencyP95MS
		if r.RequestFlags&gatewright.Stream != 0 {
			wait = c.TTFTMS
		}
		score := bounded(c.EstCostNUSD, mostCost, 0) + bounded(wait, mostWait, 0)*msNUSD
		if left := bounded(c.QuotaLeftPPM, full, full); left < floorPPM {
			score += score / floorPPM * (floorPPM - left)
		}
		c.SetScore(float64(score))
	}
	return nil
}

// bounded is n within 0 and most; fallback if nobody knows it.
func bounded(n, most, fallback int64) int64 {
	if !gatewright.Known(n) {
		return fallback
	}
	return max(0, min(n, most))
}
