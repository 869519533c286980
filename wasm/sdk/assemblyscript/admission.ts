// An admission by region and budget.
//
// - Who has nothing left of the budget is refused until midnight, UTC.
// - A request with the tag "residency" is served in that region: "eu" means eu
//   and whatever begins with "eu-". Without the tag it is served in the regions
//   of the parameter, or anywhere if that is empty. A candidate with the tag
//   "residency" = "any" is in every region.
// - A candidate that is likely to cost more than a share of what is left is too
//   dear. Where nobody knows the cost it may serve.
// - A candidate without any quota left is away until the quota is full again.
import { Candidate, NO_LIMIT, OK, Params, Request, Text, admission, configured, known } from "./gatewright";
export { gw_abi_version, gw_alloc } from "./gatewright";

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

// 1 + the index into reasons
const REGION: u32 = 1;
const TOO_DEAR: u32 = 2;
const QUOTA_EMPTY: u32 = 3;
const BUDGET_EMPTY: u32 = 4;

let regions: string[] = [];
let share: i64 = 0;

function configure(p: Params): i32 {
  regions = p.texts("regions");
  share = p.int("share_ppm", 1_000_000, 1, 1_000_000);
  return OK;
}

function listed(region: Text): bool {
  for (let i = 0; i < regions.length; i++) {
    if (region.equals(regions[i])) return true;
  }
  return regions.length == 0;
}

function inRegion(c: Candidate, residency: string, within: string): bool {
  const own = c.tag("residency");
  if (own && own.equals("any")) return true;
  if (residency.length == 0) return listed(c.region);
  return c.region.equals(residency) || c.region.startsWith(within);
}

function admit(r: Request): i32 {
  const left = r.budgetLeftNusd;
  const now = max<i64>(r.nowUnixMs, 0);
  if (left <= 0) {
    r.refuse(402, BUDGET_EMPTY, <u32>(86_400 - ((now / 1000) % 86_400)), "the budget is used up");
    return OK;
  }
  const most = left == NO_LIMIT ? left : (left / 1_000_000) * share + ((left % 1_000_000) * share) / 1_000_000;
  const tag = r.attr("tag.residency");
  const residency = tag ? tag.toString() : "";
  const within = residency + "-"; // once, and not for each candidate

  for (let i: u32 = 0; i < r.count; i++) {
    const c = r.candidate(i);
    if (c.skipped != 0) continue;
    if (!inRegion(c, residency, within)) {
      c.remove(REGION);
    } else if (known(c.estCostNusd) && c.estCostNusd > most) {
      c.remove(TOO_DEAR);
    } else if (c.quotaLeftPpm == 0 && known(c.quotaResetUnixMs) && c.quotaResetUnixMs > now) {
      c.removeUntil(QUOTA_EMPTY, c.quotaResetUnixMs);
    }
  }
  return OK;
}

export function gw_configure(at: u32, len: u32): i32 {
  return configured(at, len, configure);
}

export function gw_admit(at: u32, len: u32): i32 {
  return admission(at, len, admit);
}
