// A ranking by price, latency and quota, all of them in money.
//
// The score of a candidate is what the request is likely to cost there, and what
// waiting for it is worth: until the first token if the answer is streamed, else
// until all of it. Below a floor of the quota the score grows, up to twofold when
// nothing is left. What nobody in the pool knows counts as nothing. Candidates
// that are skipped or whose circuit is open get no score.
//
// All numbers are bounded and whole, so every language finds the same score.
import { CIRCUIT_OPEN, OK, Params, Request, STREAM, configured, known, ranking } from "./gatewright";
export { gw_abi_version, gw_alloc } from "./gatewright";

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

const MOST_COST: i64 = 1_000_000_000_000_000; // a million dollars
const MOST_WAIT: i64 = 3_600_000; // an hour
const FULL: i64 = 1_000_000;

let msNusd: i64 = 0;
let floorPpm: i64 = 0;

function configure(p: Params): i32 {
  msNusd = p.int("ms_nusd", 1000, 0, 1_000_000);
  floorPpm = p.int("quota_floor_ppm", 100_000, 0, 1_000_000);
  return OK;
}

/** n within 0 and most; fallback if nobody knows it. */
function bounded(n: i64, most: i64, fallback: i64): i64 {
  return known(n) ? max<i64>(0, min<i64>(n, most)) : fallback;
}

function rank(r: Request): i32 {
  const stream = (r.requestFlags & STREAM) != 0;
  for (let i: u32 = 0; i < r.count; i++) {
    const c = r.candidate(i);
    if (c.skipped != 0 || c.circuit == CIRCUIT_OPEN) continue;
    const wait = bounded(stream ? c.ttftMs : c.latencyP95Ms, MOST_WAIT, 0);
    let score = bounded(c.estCostNusd, MOST_COST, 0) + wait * msNusd;
    const left = bounded(c.quotaLeftPpm, FULL, FULL);
    if (left < floorPpm) score += (score / floorPpm) * (floorPpm - left);
    c.score = <f64>score;
  }
  return OK;
}

export function gw_configure(at: u32, len: u32): i32 {
  return configured(at, len, configure);
}

export function gw_rank(at: u32, len: u32): i32 {
  return ranking(at, len, rank);
}
