// The twin of the built-in sort key throughput.
//
// The median speed of output: the higher the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "throughput", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].throughput_tps_milli"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->throughput_tps_milli)) gw_score(c, (double)-c->throughput_tps_milli);
  }
  return GW_OK;
}
GW_RANK(rank)
