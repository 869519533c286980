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
#include "gatewright.h"

GW_MANIFEST({
  "name": "region-budget", "version": "1.0.0", "kind": "admission", "abi": "1.0",
  "reasons": ["region", "too_dear", "quota_empty", "budget_empty"],
  "inputs": ["request.tags.residency", "request.now_unix_ms", "caller.budget_left_nusd",
    "candidates[].region", "candidates[].tags.residency", "candidates[].est_cost_nusd",
    "candidates[].quota_left_ppm", "candidates[].quota_reset_unix_ms", "candidates[].skipped"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "regions": {"type": "array", "items": {"type": "string"}, "description": "where requests may be served; empty = anywhere"},
    "share_ppm": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000000,
      "description": "share of the budget left that one request may cost, in millionths"}}}
})

enum { REGION = 1, TOO_DEAR, QUOTA_EMPTY, BUDGET_EMPTY };  // 1 + the index into reasons

static gw_list regions;
static int64_t share;

static int32_t configure(void) {
  regions = gw_texts("regions");
  share = gw_int("share_ppm", 1000000, 1, 1000000);
  return GW_OK;
}
GW_CONFIGURE(configure)

static bool in_region(const gw_candidate *c, const gw_text *residency) {
  const gw_text *own = gw_tag(c, "residency");
  if (own && gw_is(*own, "any")) return true;
  if (!residency) return regions.count == 0 || gw_has(regions, c->region);
  gw_text head = c->region;
  if (head.len > residency->len) {
    head.len = residency->len;
    if (gw_bytes(c->region)[head.len] != '-') return false;
  }
  return gw_same(head, *residency);
}

static int32_t admit(gw_request *r) {
  int64_t left = r->budget_left_nusd, now = r->now_unix_ms > 0 ? r->now_unix_ms : 0;
  if (left <= 0) {
    gw_refuse(r, 402, BUDGET_EMPTY, (uint32_t)(86400 - now / 1000 % 86400), "the budget is used up");
    return GW_OK;
  }
  int64_t most = left;
  if (left != GW_NO_LIMIT) most = left / 1000000 * share + left % 1000000 * share / 1000000;

  const gw_text *residency = gw_attr(r, "tag.residency");
  if (residency && residency->len == 0) residency = NULL;

  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (c->skipped) continue;
    if (!in_region(c, residency))
      gw_remove(c, REGION);
    else if (gw_known(c->est_cost_nusd) && c->est_cost_nusd > most)
      gw_remove(c, TOO_DEAR);
    else if (c->quota_left_ppm == 0 && gw_known(c->quota_reset_unix_ms) && c->quota_reset_unix_ms > now)
      gw_remove_until(c, QUOTA_EMPTY, c->quota_reset_unix_ms);
  }
  return GW_OK;
}
GW_ADMIT(admit)
