// A ranking by price, latency and quota, all of them in money.
//
// The score of a candidate is what the request is likely to cost there, and what
// waiting for it is worth: until the first token if the answer is streamed, else
// until all of it. Below a floor of the quota the score grows, up to twofold when
// nothing is left. What nobody in the pool knows counts as nothing. Candidates
// that are skipped or whose circuit is open get no score.
//
// All numbers are bounded and whole, so every language finds the same score.
#include "gatewright.h"

GW_MANIFEST({
  "name": "price-latency-quota", "version": "1.0.0", "kind": "ranking", "abi": "1.0",
  "inputs": ["request.stream", "candidates[].est_cost_nusd", "candidates[].ttft_ms", "candidates[].latency_p95_ms",
    "candidates[].quota_left_ppm", "candidates[].circuit", "candidates[].skipped"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "ms_nusd": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 1000,
      "description": "what a millisecond of waiting is worth, in nano-USD"},
    "quota_floor_ppm": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 100000,
      "description": "share of the quota below which a candidate is spared, in millionths"}}}
})

static int64_t ms_nusd, floor_ppm;

static int32_t configure(void) {
  ms_nusd = gw_int("ms_nusd", 1000, 0, 1000000);
  floor_ppm = gw_int("quota_floor_ppm", 100000, 0, 1000000);
  return GW_OK;
}
GW_CONFIGURE(configure)

#define MOST_COST 1000000000000000  // a million dollars
#define MOST_WAIT 3600000           // an hour
#define FULL 1000000

// bounded is n within 0 and most; fallback if nobody knows it.
static int64_t bounded(int64_t n, int64_t most, int64_t fallback) {
  if (!gw_known(n)) return fallback;
  return n < 0 ? 0 : n > most ? most : n;
}

static int32_t rank(gw_request *r) {
  bool stream = r->request_flags & GW_STREAM;
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (c->skipped || c->circuit == GW_CIRCUIT_OPEN) continue;
    int64_t wait = bounded(stream ? c->ttft_ms : c->latency_p95_ms, MOST_WAIT, 0);
    int64_t score = bounded(c->est_cost_nusd, MOST_COST, 0) + wait * ms_nusd;
    int64_t left = bounded(c->quota_left_ppm, FULL, FULL);
    if (left < floor_ppm) score += score / floor_ppm * (floor_ppm - left);
    gw_score(c, (double)score);
  }
  return GW_OK;
}
GW_RANK(rank)
