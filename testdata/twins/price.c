// The twin of the built-in sort key price.
//
// What the caller pays, three times input and once output: the lower the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "price", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].price"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->price)) gw_score(c, (double)c->price);
  }
  return GW_OK;
}
GW_RANK(rank)
