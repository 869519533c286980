// The twin of the built-in check cost_cap. A policy does not see the caps of the
// configuration: its own is the parameter max_cost_nusd, 0 = none.
//
// A candidate on which the request is likely to cost more may not serve. A price
// that nobody knows removes nobody.
#include "gatewright.h"

GW_MANIFEST({
  "name": "cost_cap", "version": "1.0.0", "kind": "admission", "abi": "1.0", "reasons": ["cost_cap"],
  "inputs": ["candidates[].est_cost_nusd"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {
    "max_cost_nusd": {"type": "integer", "minimum": 0, "default": 0, "description": "what one request may cost, in nano-USD; 0 = anything"}}}
})
enum { COST_CAP = 1 };  // 1 + the index into reasons

static int64_t most;

static int32_t configure(void) {
  most = gw_int("max_cost_nusd", 0, 0, INT64_MAX);
  return GW_OK;
}
GW_CONFIGURE(configure)

static int32_t admit(gw_request *r) {
  for (uint32_t i = 0; i < r->count && most > 0; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known(c->est_cost_nusd) && c->est_cost_nusd > most) gw_remove(c, COST_CAP);
  }
  return GW_OK;
}
GW_ADMIT(admit)
