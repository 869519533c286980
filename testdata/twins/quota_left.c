// The twin of the built-in sort key quota_left.
//
// The share of the quota that is left: the more the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "quota_left", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].quota_left_ppm"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->quota_left_ppm)) gw_score(c, (double)-c->quota_left_ppm);
  }
  return GW_OK;
}
GW_RANK(rank)
