// Uses what the worked examples of the SDK do not; features_test.go says what it
// must answer.
#include "gatewright.h"

GW_MANIFEST({"name": "features", "version": "1", "kind": "ranking", "abi": "1.0"})

static gw_text word;
static gw_list words;
static int64_t number;
static bool flag;

static int32_t configure(void) {
  flag = gw_bool("flag", false);
  word = gw_text_param("word");
  words = gw_texts("words");
  number = gw_int("number", 5, -10, 10);
  return number == 7 ? GW_OWN : GW_OK;
}
GW_CONFIGURE(configure)

#define FORTY "éééééééééééééééééééééééééééééééééééééééé"

static void score_texts(gw_request *r, gw_candidate *c) {
  const gw_text *region = gw_attr(r, "meta.region");
  double score = gw_begins(c->upstream_model, "grün-") ? 1 : gw_same(c->upstream_model, c->model) ? 2 : region && gw_same(*region, c->region) ? 3 : 4;
  if (gw_known_count(c->context_limit)) score += 10;
  if (gw_is(c->supply_tier, "直接🚀")) score += 20;
  if (gw_tag(c, "")) score += 40;
  gw_score(c, score);
}

static int32_t rank(gw_request *r) {
  const gw_text *what = gw_attr(r, "tag.do");
  if (!what) return GW_OK;
  if (gw_is(*what, "fail")) return gw_fail(r, GW_OWN - 1, "no table");
  if (gw_is(*what, "long")) return gw_fail(r, GW_FAILED, "x" FORTY FORTY FORTY FORTY FORTY);
  if (gw_is(*what, "log")) gw_log(GW_WARN, "look here"), gw_log(GW_DEBUG, "grün");
  for (uint32_t i = r->count; i-- > 0;) {
    gw_candidate *c = gw_at(r, i);
    if (gw_is(*what, "order") && !gw_has(words, c->provider)) gw_order(r, c);
    if (gw_is(*what, "again")) gw_order(r, c), gw_order(r, c);
    if (gw_is(*what, "texts")) score_texts(r, c);
    if (gw_is(*what, "header")) gw_score(c, (double)(r->seed % 1000) + 1000 * (r->tpm_left + r->hour + r->day) + r->endpoint.len);
    if (gw_is(*what, "parameters")) gw_score(c, (double)number + 100 * flag + 1000 * word.len + 10000 * words.count);
  }
  return GW_OK;
}
GW_RANK(rank)
