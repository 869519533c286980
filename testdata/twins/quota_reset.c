// The twin of the built-in sort key quota_reset.
//
// When the longest window of the quota resets: the earlier the better. Who has no
// such instant gets no score.
#include "gatewright.h"

GW_MANIFEST({
  "name": "quota_reset", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].quota_reset_unix_ms"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->quota_reset_unix_ms)) gw_score(c, (double)c->quota_reset_unix_ms);
  }
  return GW_OK;
}
GW_RANK(rank)
