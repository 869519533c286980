//! A ranking by price, latency and quota, all of them in money.
//!
//! The score of a candidate is what the request is likely to cost there, and what
//! waiting for it is worth: until the first token if the answer is streamed, else
//! until all of it. Below a floor of the quota the score grows, up to twofold when
//! nothing is left. What nobody in the pool knows counts as nothing. Candidates
//! that are skipped or whose circuit is open get no score.
//!
//! All numbers are bounded and whole, so every language finds the same score.
#![no_std]

#[macro_use]
mod gatewright;
use gatewright::*;

manifest!(
    r#"{
  "name": "price-latency-quota", "version": "1.0.0", "kind": "ranking", "abi": "1.0",
  "inputs": ["request.stream", "candidates[].est_cost_nusd", "candidates[].ttft_ms", "candidates[].latency_p95_ms",
    "candidates[].quota_left_ppm", "candidates[].circuit", "candidates[].skipped"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "ms_nusd": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 1000,
      "description": "what a millisecond of waiting is worth, in nano-USD"},
    "quota_floor_ppm": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 100000,
      "description": "share of the quota below which a candidate is spared, in millionths"}}}
}"#
);

const MOST_COST: i64 = 1_000_000_000_000_000; // a million dollars
const MOST_WAIT: i64 = 3_600_000; // an hour
const FULL: i64 = 1_000_000;

static MS_NUSD: Global<i64> = Global::new(0);
static FLOOR_PPM: Global<i64> = Global::new(0);

fn configure(p: &Params) -> Answer {
    MS_NUSD.set(p.int("ms_nusd", 1000, 0, 1_000_000));
    FLOOR_PPM.set(p.int("quota_floor_ppm", 100_000, 0, 1_000_000));
    Ok(())
}
configure!(configure);

fn rank(r: &Request) -> Answer {
    let floor = FLOOR_PPM.get();
    for c in r
        .candidates()
        .filter(|c| c.skipped == 0 && c.circuit != CIRCUIT_OPEN)
    {
        let wait = if r.request_flags & STREAM != 0 {
            c.ttft_ms
        } else {
            c.latency_p95_ms
        };
        let wait = known(wait).unwrap_or(0).clamp(0, MOST_WAIT);
        let mut score =
            known(c.est_cost_nusd).unwrap_or(0).clamp(0, MOST_COST) + wait * MS_NUSD.get();
        let left = known(c.quota_left_ppm).unwrap_or(FULL).clamp(0, FULL);
        if left < floor {
            score += score / floor * (floor - left);
        }
        c.score(score as f64);
    }
    Ok(())
}
ranking!(rank);
