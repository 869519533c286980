//go:build wasip1

// An admission by region and budget.
//
//   - Who has nothing left of the budget is refused until midnight, UTC.
//   - A request with the tag "residency" is served in that region: "eu" means eu
//     and whatever begins with "eu-". Without the tag it is served in the regions
//     of the parameter, or anywhere if that is empty. A candidate with the tag
//     "residency" = "any" is in every region.
//   - A candidate that is likely to cost more than a share of what is left is too
//     dear. Where nobody knows the cost it may serve.
//   - A candidate without any quota left is away until the quota is full again.
package main

import (
	"slices"
	"strings"

	"gatewright/wasm/sdk/go/gatewright"
)

/* gatewright.manifest
{
  "name": "region-budget", "version": "1.0.0", "kind": "admission", "abi": "1.0",
  "reasons": ["region", "too_dear", "quota_empty", "budget_empty"],
  "inputs": ["request.tags.residency", "request.now_unix_ms", "caller.budget_left_nusd",
    "candidates[].region", "candidates[].tags.residency", "candidates[].est_cost_nusd",
    "candidates[].quota_left_ppm", "candidates[].quota_reset_unix_ms", "candidates[].skipped"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "regions": {"type": "array", "items": {"type": "string"}, "description": "where requests may be served; empty = anywhere"},
    "share_ppm": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000000,
      "description": "share of the budget left that one request may cost, in millionths"}}}
}
*/

// 1 + the index into reasons.
const (
	outOfRegion = 1 + iota
	tooDear
	quotaEmpty
	budgetEmpty
)

var (
	regions []string
	share   int64
)

func main() {}

//go:wasmexport gw_configure
func configure(at, size uint32) int32 {
	return gatewright.Configure(at, size, func(p *gatewright.Params) error {
		regions = p.Texts("regions")
		share = p.Int("share_ppm", 1_000_000, 1, 1_000_000)
		return nil
	})
}

//go:wasmexport gw_admit
func decide(at, size uint32) int32 { return gatewright.Admission(at, size, admit) }

func admit(r *gatewright.Request) error {
	left, now := r.BudgetLeftNUSD, max(r.NowUnixMS, 0)
	if left <= 0 {
		r.Refuse(402, budgetEmpty, uint32(86_400-now/1000%86_400), "the budget is used up")
		return nil
	}
	most := left
	if left != gatewright.NoLimit {
		most = left/1_000_000*share + left%1_000_000*share/1_000_000
	}
	residency, _ := r.Attr("tag.residency")

	for c := range r.Candidates() {
		switch {
		case c.Skipped != 0:
		case !inRegion(c, residency):
			c.Remove(outOfRegion)
		case gatewright.Known(c.EstCostNUSD) && c.EstCostNUSD > most:
			c.Remove(tooDear)
		case c.QuotaLeftPPM == 0 && gatewright.Known(c.QuotaResetUnixMS) && c.QuotaResetUnixMS > now:
			c.RemoveUntil(quotaEmpty, c.QuotaResetUnixMS)
		}
	}
	return nil
}

func inRegion(c *gatewright.Candidate, residency string) bool {
	if own, _ := c.Tag("residency"); own == "any" {
		return true
	}
	region := c.Region.String()
	if residency == "" {
		return len(regions) == 0 || slices.Contains(regions, region)
	}
	rest, ok := strings.CutPrefix(region, residency)
	return ok && (rest == "" || rest[0] == '-')
}
