// The twin of the built-in sort key reliability.
//
// The success rate: the higher the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "reliability", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].success_ppm"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->success_ppm)) gw_score(c, (double)-c->success_ppm);
  }
  return GW_OK;
}
GW_RANK(rank)
