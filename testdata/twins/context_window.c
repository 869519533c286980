// The twin of the built-in check context_window.
//
// A candidate whose context limit is smaller than the estimated input and the
// requested output together may not serve. A limit that nobody knows removes
// nobody; the limit of embeddings is for each of their inputs, not for all.
#include "gatewright.h"

GW_MANIFEST({
  "name": "context_window", "version": "1.0.0", "kind": "admission", "abi": "1.0", "reasons": ["context_window"],
  "inputs": ["request.endpoint", "request.input_tokens", "request.max_output_tokens", "candidates[].context_limit"]
})
enum { CONTEXT_WINDOW = 1 };  // 1 + the index into reasons

static int32_t admit(gw_request *r) {
  if (gw_is(r->endpoint, "embeddings")) return GW_OK;
  uint64_t tokens = (uint64_t)r->input_tokens + r->max_output_tokens;
  for (uint32_t i = 0; i < r->count; i++) {
    gw_candidate *c = gw_at(r, i);
    if (gw_known_count(c->context_limit) && tokens > c->context_limit) gw_remove(c, CONTEXT_WINDOW);
  }
  return GW_OK;
}
GW_ADMIT(admit)
