// Removes candidates more than once, and refuses; features_test.go says what
// becomes of it.
#include "gatewright.h"

GW_MANIFEST({"name": "removals", "version": "1", "kind": "admission", "abi": "1.0", "reasons": ["one", "two"]})

static int32_t admit(gw_request *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_is(c->provider, "later")) gw_remove(c, 1), gw_remove_until(c, 2, 5);
    if (gw_is(c->provider, "lasting")) gw_remove_until(c, 2, 5), gw_remove(c, 1);
    if (gw_is(c->provider, "none")) gw_remove(c, 0);
  }
  if (gw_is(r->session, "refuse")) gw_refuse(r, 429, 2, 7, "grün");
  if (gw_is(r->session, "bare")) gw_refuse(r, 403, 0, 0, "");
  return GW_OK;
}
GW_ADMIT(admit)
