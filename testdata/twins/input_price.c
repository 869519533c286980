// The twin of the built-in sort key input_price.
//
// What the caller pays for input alone: the lower the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "input_price", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].price_in"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->price_in)) gw_score(c, (double)c->price_in);
  }
  return GW_OK;
}
GW_RANK(rank)
