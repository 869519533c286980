//! An admission by region and budget.
//!
//! - Who has nothing left of the budget is refused until midnight, UTC.
//! - A request with the tag "residency" is served in that region: "eu" means eu
//!   and whatever begins with "eu-". Without the tag it is served in the regions
//!   of the parameter, or anywhere if that is empty. A candidate with the tag
//!   "residency" = "any" is in every region.
//! - A candidate that is likely to cost more than a share of what is left is too
//!   dear. Where nobody knows the cost it may serve.
//! - A candidate without any quota left is away until the quota is full again.
#![no_std]

#[macro_use]
mod gatewright;
use gatewright::*;

manifest!(
    r#"{
  "name": "region-budget", "version": "1.0.0", "kind": "admission", "abi": "1.0",
  "reasons": ["region", "too_dear", "quota_empty", "budget_empty"],
  "inputs": ["request.tags.residency", "request.now_unix_ms", "caller.budget_left_nusd",
    "candidates[].region", "candidates[].tags.residency", "candidates[].est_cost_nusd",
    "candidates[].quota_left_ppm", "candidates[].quota_reset_unix_ms", "candidates[].skipped"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "regions": {"type": "array", "items": {"type": "string"}, "description": "where requests may be served; empty = anywhere"},
    "share_ppm": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000000,
      "description": "share of the budget left that one request may cost, in millionths"}}}
}"#
);

// 1 + the index into reasons
const REGION: u32 = 1;
const TOO_DEAR: u32 = 2;
const QUOTA_EMPTY: u32 = 3;
const BUDGET_EMPTY: u32 = 4;

static REGIONS: Global<List> = Global::new(List::NONE);
static SHARE: Global<i64> = Global::new(0);

fn configure(p: &Params) -> Answer {
    REGIONS.set(p.texts("regions"));
    SHARE.set(p.int("share_ppm", 1_000_000, 1, 1_000_000));
    Ok(())
}
configure!(configure);

fn in_region(c: &Candidate, residency: &str) -> bool {
    if c.tag("residency") == Some("any") {
        return true;
    }
    if residency.is_empty() {
        return REGIONS.get().is_empty() || REGIONS.get().has(&c.region);
    }
    match c.region.strip_prefix(residency) {
        Some(rest) => rest.is_empty() || rest.starts_with('-'),
        None => false,
    }
}

fn admit(r: &Request) -> Answer {
    let (left, now) = (r.budget_left_nusd, r.now_unix_ms.max(0));
    if left <= 0 {
        r.refuse(
            402,
            BUDGET_EMPTY,
            (86_400 - now / 1000 % 86_400) as u32,
            "the budget is used up",
        );
        return Ok(());
    }
    let share = SHARE.get();
    let most = if left == NO_LIMIT {
        left
    } else {
        left / 1_000_000 * share + left % 1_000_000 * share / 1_000_000
    };
    let residency = r.attr("tag.residency").unwrap_or("");

    for c in r.candidates().filter(|c| c.skipped == 0) {
        let reset = known(c.quota_reset_unix_ms).unwrap_or(0);
        if !in_region(c, residency) {
            c.remove(REGION);
        } else if known(c.est_cost_nusd).map_or(false, |cost| cost > most) {
            c.remove(TOO_DEAR);
        } else if c.quota_left_ppm == 0 && reset > now {
            c.remove_until(QUOTA_EMPTY, reset);
        }
    }
    Ok(())
}
admission!(admit);
