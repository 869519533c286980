// The twin of the built-in sort key in_flight.
//
// Requests running now: the fewer the better.
#include "gatewright.h"

GW_MANIFEST({
  "name": "in_flight", "version": "1.0.0", "kind": "ranking", "abi": "1.0", "inputs": ["candidates[].in_flight"]
})

static int32_t rank(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    gw_score(c, (double)c->in_flight);
  }
  return GW_OK;
}
GW_RANK(rank)
