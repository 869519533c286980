// The twin of the built-in sort key latency.
//
// The median time to first token: the lower the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "latency", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].ttft_ms"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->ttft_ms)) gw_score(c, (double)c->ttft_ms);
  }
  return GW_OK;
}
GW_RANK(rank)
