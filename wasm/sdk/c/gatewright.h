// Gatewright's SDK for C: policies as WebAssembly modules, contract version 1.
//
// A policy is one C file that includes this header, describes itself and names
// its functions. An admission:
//
//   #include "gatewright.h"
//
//   GW_MANIFEST({"name": "eu-only", "version": "1", "kind": "admission",
//                "abi": "1.0", "reasons": ["region"]})
//   enum { REGION = 1 };  // 1 + the index into reasons
//
//   static int32_t admit(gw_request *r) {
//     for (uint32_t i = 0; i < r->count; i++) {
//       gw_candidate *c = gw_at(r, i);
//       if (!gw_begins(c->region, "eu-")) gw_remove(c, REGION);
//     }
//     return GW_OK;
//   }
//   GW_ADMIT(admit)
//
// A ranking has GW_RANK in place of GW_ADMIT, and calls gw_score or gw_order.
// admission.c and ranking.c beside this file are whole examples. Build with
//
//   clang --target=wasm32-unknown-unknown -O2 -mbulk-memory -ffreestanding \
//     -nostdlib -Wl,--no-entry -Wl,--strip-all -Wl,--stack-first \
//     -Wl,-z,stack-size=8192 -Wl,--max-memory=4194304 -o policy.wasm policy.c
//
// Parts: layout (what there is to read), texts, answers, parameters, exports.
// All memory behind the static data is the SDK's: link no allocator.
#ifndef GATEWRIGHT_H
#define GATEWRIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// gw_text is a text, UTF-8, not terminated: gw_bytes says where it is.
typedef struct {
  uint32_t off, len;
} gw_text;

// clang-format off
// ---- made by go generate ./wasm/abi: do not edit below ----

// The version of the contract: major in the upper 16 bits, minor in the lower.
#define GW_ABI_VERSION 65536u
#define GW_MAGIC 827348807u // "GWP1"
#define GW_MAX_RECORDS 1024u // candidates of one request

// Numbers of 64 bits with a meaning of their own.
#define GW_UNKNOWN INT64_MIN // nobody knows
#define GW_NO_LIMIT INT64_C(9223372036854775807) // the caller has no budget

// The same in 32 bits.
#define GW_UNKNOWN_COUNT 0xffffffffu
#define GW_NO_LIMIT_COUNT 0xffffffffu // the caller has no such rate

// What a policy returns.
#define GW_OK (0)
#define GW_BAD_VERSION (-1) // the version of the buffer is not known
#define GW_BAD_INPUT (-2) // the input or the parameters make no sense
#define GW_FAILED (-3) // the policy failed
#define GW_OWN (-100) // this and below are the policy's own

// Flags: what a request needs, what a candidate supports. From affinity on, what a candidate is.
#define GW_STREAM 1u
#define GW_TOOLS 2u
#define GW_VISION 4u
#define GW_JSON_SCHEMA 8u
#define GW_REASONING 16u
#define GW_AUDIO 32u
#define GW_AFFINITY 256u // the session was served here
#define GW_PREFERRED 512u // the caller prefers its provider
#define GW_LOCKED 1024u // the caller named its provider

// States of a candidate's circuit breaker.
#define GW_CIRCUIT_CLOSED 0u
#define GW_CIRCUIT_HALF_OPEN 1u
#define GW_CIRCUIT_OPEN 2u

// Why a candidate is not in the pool; 0 = it is. Numbers are only added.
#define GW_SKIPPED_DISABLED 1u
#define GW_SKIPPED_ZERO_WEIGHT 2u
#define GW_SKIPPED_MODEL_NOT_ALLOWED 3u
#define GW_SKIPPED_PROVIDER_NOT_ALLOWED 4u
#define GW_SKIPPED_SUPPLY_TIER 5u
#define GW_SKIPPED_PROTOCOL 6u
#define GW_SKIPPED_CAPABILITY 7u
#define GW_SKIPPED_CONTEXT_WINDOW 8u
#define GW_SKIPPED_POLICY 9u
#define GW_SKIPPED_COOLDOWN 10u
#define GW_SKIPPED_QUOTA_EXHAUSTED 11u
#define GW_SKIPPED_NO_CREDENTIAL 12u
#define GW_SKIPPED_LATENCY_CAP 13u
#define GW_SKIPPED_COST_CAP 14u
#define GW_SKIPPED_ALREADY_TRIED 15u

// gw_request is what is asked: the header of the buffer.
typedef struct {
  uint32_t magic; // (of the SDK) "GWP1"
  uint32_t abi; // (of the SDK) the version of the contract, major in the upper 16 bits
  uint32_t count; // records, at most 1,024
  uint32_t record_size; // (of the SDK) bytes from one record to the next
  uint32_t records_off; // (of the SDK) where the first record is
  uint32_t strings_off; // (of the SDK) where the texts begin
  uint64_t seed; // the only randomness there is: the same for all turns of a session
  int64_t now_unix_ms; // when the request came; the only clock there is
  uint32_t input_tokens; // estimate that errs low; 0 = not known
  uint32_t max_output_tokens; // output tokens that the caller allows; 0 = not named
  uint32_t request_flags; // what the request needs, see the flags
  uint8_t hour; // 0 to 23, UTC
  uint8_t weekday; // 0 = Sunday to 6 = Saturday, UTC
  uint8_t month; // 1 to 12, UTC
  uint8_t day; // of the month, 1 to 31, UTC
  int64_t budget_left_nusd; // nano-USD left to the caller; the largest number = no limit
  gw_text org; // the caller's organisation
  gw_text team; // the caller's team
  gw_text key; // the name of the caller's key, never the key
  gw_text model; // the model as the caller named it
  gw_text session; // names the conversation, the same for all its turns; empty = none
  uint32_t order_off; // (of the SDK) where a ranking writes its order: u32 indexes, the first is tried first
  uint32_t order_count; // (of the SDK) entries written there
  uint32_t error_off; // (of the SDK) where a message may be written, UTF-8
  uint32_t error_cap; // (of the SDK) room for it, in bytes
  uint32_t error_len; // (of the SDK) bytes written there
  uint32_t attrs_off; // (of the SDK) where the attributes are; 0 = none
  uint32_t refusal_status; // (of the SDK) admission: 400, 402, 403 or 429 refuses the whole request; 0 = no refusal
  uint32_t refusal_retry_after_s; // (of the SDK) seconds after which to come back; 0 = not said
  uint32_t refusal_reason; // (of the SDK) 1 + index into the manifest's reasons: the error code; 0 = policy
  uint32_t attempt_budget; // calls of upstreams that the request may make
  uint32_t rpm_left; // requests left in this minute; the largest number = no limit
  uint32_t tpm_left; // tokens left in this minute; the largest number = no limit
  gw_text endpoint; // what was called: chat, completions, embeddings, messages, …
} gw_request;
_Static_assert(sizeof(gw_request) == 160, "the layout of a request");

// gw_candidate is one deployment that could serve the request.
typedef struct {
  uint32_t index; // place of the record, from 0; what an order is made of
  uint32_t flags; // what the candidate supports and is, see the flags
  uint32_t skipped; // why it is not in the pool, by number; 0 = it is. No policy can bring it back
  uint32_t tier; // 0 = the highest priority in this pool, then 1, …
  uint32_t priority; // the larger, the earlier
  uint32_t weight; // its share among equals
  uint32_t context_limit; // tokens of input and output; may be unknown
  uint32_t max_output; // tokens of output; may be unknown
  uint32_t verdict; // (of the SDK) admission: 1 + index into the manifest's reasons removes the candidate; 0 = keep
  uint32_t circuit; // 0 closed, 1 half_open, 2 open
  int64_t price_in; // nano-USD per million tokens of input; may be unknown
  int64_t price_out; // nano-USD per million tokens of output; may be unknown
  int64_t ttft_ms; // median time to the first token, in milliseconds; may be unknown
  int64_t latency_p50_ms; // median time to the whole answer, in milliseconds; may be unknown
  int64_t latency_p95_ms; // the same that 95 of 100 answers keep to; may be unknown
  int64_t success_ppm; // share of requests that succeeded, in millionths; may be unknown
  int64_t throughput_tps_milli; // output, in thousandths of a token per second; may be unknown
  int64_t quota_left_ppm; // share of its quota that is left, in millionths; may be unknown
  int64_t quota_reset_unix_ms; // when the quota is full again; may be unknown
  int64_t skipped_until_unix_ms; // when it comes back by itself
  uint32_t in_flight; // requests that it is serving now
  uint32_t samples; // requests that these figures rest on; 0 = nothing is measured
  int64_t last_success_unix_ms; // when it last succeeded; may be unknown
  gw_text id; // of the deployment
  gw_text provider; // who serves it
  gw_text model; // the public name of the model
  gw_text region; // of the provider; empty = not known
  gw_text supply_tier; // of the provider; empty = none
  uint32_t tags_off; // (of the SDK) where its tags are, a list like the attributes; 0 = none
  uint32_t reserved; // (of the SDK) 0
  double score; // (of the SDK) ranking: the lower, the earlier; NaN = none, goes behind those that have one
  int64_t until_unix_ms; // (of the SDK) admission: when the removal ends; the smallest number = it lasts
  int64_t est_cost_nusd; // what the request is likely to cost, in nano-USD; may be unknown
  gw_text upstream_model; // the provider's name of the model
  int64_t price; // 3 × price_in + price_out, as the gateway compares it: rounded once where a sale applies; may be unknown
} gw_candidate;
_Static_assert(sizeof(gw_candidate) == 224, "the layout of a candidate");

// ---- made by go generate ./wasm/abi: do not edit above ----
// clang-format on

// gw_at is candidate i of r->count.
static inline gw_candidate *gw_at(gw_request *r, uint32_t i) {
  return (gw_candidate *)((uint8_t *)r + r->records_off + i * r->record_size);
}

// gw_known says whether anybody knows the number; gw_known_count is the same
// for context_limit and max_output.
static inline bool gw_known(int64_t n) { return n != GW_UNKNOWN; }
static inline bool gw_known_count(uint32_t n) { return n != GW_UNKNOWN_COUNT; }

// ---- texts ----
//
// Literals are written as such: gw_is(c->provider, "acme").

extern uint8_t __heap_base;  // the linker's: here the free memory begins

// The buffer is always at the same place, and texts are counted from there.
static inline uint32_t gw_base(void) { return ((uint32_t)(uintptr_t)&__heap_base + 15) & ~15u; }

static inline const char *gw_bytes(gw_text t) { return (const char *)(uintptr_t)(gw_base() + t.off); }

static inline bool gw_starts_with(gw_text t, const char *bytes, uint32_t n) {
  const char *p = gw_bytes(t);
  if (t.len < n) return false;
  for (uint32_t i = 0; i < n; i++)
    if (p[i] != bytes[i]) return false;
  return true;
}
static inline bool gw_equals(gw_text t, const char *bytes, uint32_t n) { return t.len == n && gw_starts_with(t, bytes, n); }

#define gw_is(text, literal) gw_equals(text, literal, sizeof(literal) - 1)
#define gw_begins(text, literal) gw_starts_with(text, literal, sizeof(literal) - 1)
static inline bool gw_same(gw_text a, gw_text b) { return gw_equals(a, gw_bytes(b), b.len); }

// gw_attr is an attribute of the request: "tag.NAME", "header.name",
// "meta.NAME", "id", or "text" where the binding grants it; gw_tag is a tag of a
// candidate. NULL = there is none.
#define gw_attr(r, key) gw_find((r)->attrs_off, key, sizeof(key) - 1)
#define gw_tag(c, key) gw_find((c)->tags_off, key, sizeof(key) - 1)

// gw_compare is below, at or above 0 as the text stands before, at or behind the
// bytes in the order of lists.
static inline int32_t gw_compare(gw_text t, const char *bytes, uint32_t n) {
  const uint8_t *p = (const uint8_t *)gw_bytes(t);
  for (uint32_t i = 0, most = t.len < n ? t.len : n; i < most; i++)
    if (p[i] != (uint8_t)bytes[i]) return p[i] < (uint8_t)bytes[i] ? -1 : 1;
  return t.len < n ? -1 : t.len > n;
}

static inline const gw_text *gw_find(uint32_t list, const char *key, uint32_t n) {
  if (list == 0) return NULL;
  const uint32_t *count = (const uint32_t *)(uintptr_t)(gw_base() + list);
  const gw_text *pairs = (const gw_text *)(count + 1);
  for (uint32_t low = 0, high = *count; low < high;) {
    uint32_t middle = (low + high) / 2;
    int32_t c = gw_compare(pairs[2 * middle], key, n);
    if (c == 0) return &pairs[2 * middle + 1];
    if (c < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

// ---- answers ----

static uint32_t gw_removed;

// gw_remove removes a candidate. reason is 1 + an index into the manifest's
// reasons. Of two removals the later one counts.
static inline void gw_remove(gw_candidate *c, uint32_t reason) {
  gw_removed += (c->verdict == 0) & (reason != 0);
  c->verdict = reason;
  c->until_unix_ms = GW_UNKNOWN;
}

// gw_remove_until does so until an instant (1970 to 9999), which users are shown.
static inline void gw_remove_until(gw_candidate *c, uint32_t reason, int64_t unix_ms) {
  gw_remove(c, reason);
  c->until_unix_ms = unix_ms;
}

static inline void gw_say(gw_request *r, const char *text, uint32_t n) {
  uint8_t *area = (uint8_t *)r + r->error_off;
  if (n > r->error_cap)
    for (n = r->error_cap; n > 0 && ((uint8_t)text[n] & 0xc0) == 0x80;) n--;  // no half of a character
  for (uint32_t i = 0; i < n; i++) area[i] = (uint8_t)text[i];
  r->error_len = n;
}

// gw_refuse refuses the whole request: status is 400, 402, 403 or 429;
// retry_after_s is when to come back, 0 = not said. The message is a literal of
// at most 256 bytes.
#define gw_refuse(r, status, reason, retry_after_s, message)                         \
  do {                                                                               \
    (r)->refusal_status = (status), (r)->refusal_reason = (reason);                  \
    (r)->refusal_retry_after_s = (retry_after_s);                                    \
    gw_say(r, message, sizeof(message) - 1);                                         \
  } while (0)

// gw_score scores a candidate: the lower, the earlier. One without a score goes
// behind those that have one.
static inline void gw_score(gw_candidate *c, double score) { c->score = score; }

// gw_order puts a candidate behind those that were put before it. With an order
// scores do not count.
static inline void gw_order(gw_request *r, const gw_candidate *c) {
  uint32_t *order = (uint32_t *)((uint8_t *)r + r->order_off);
  if (r->order_count < r->count) order[r->order_count++] = c->index;
}

// gw_fail says why there is no answer: return gw_fail(r, GW_OWN, "no table").
#define gw_fail(r, code, message) (gw_say(r, message, sizeof(message) - 1), (code))

enum { GW_DEBUG, GW_INFO, GW_WARN, GW_ERROR };

__attribute__((import_module("gw"), import_name("log"))) void gw_import_log(int32_t level, const char *text, uint32_t n);

// gw_log writes a literal to the gateway's log: at most 16 lines of 1 KiB for
// each call.
#define gw_log(level, message) gw_import_log(level, message, sizeof(message) - 1)

// ---- parameters ----
//
// The binding's parameters are a JSON object of whole numbers, texts, true,
// false, and lists of texts. A policy that has some names a function, which
// reads each of them into a variable of its own:
//
//   static int64_t most;
//   static gw_list regions;
//   static int32_t configure(void) {
//     most = gw_int("most", 5, 0, 100);
//     regions = gw_texts("regions");
//     return GW_OK;
//   }
//   GW_CONFIGURE(configure)
//
// What is of another type, out of range or read by nobody is refused, and the
// log says which.

#ifndef GW_PARAMS_SIZE
#define GW_PARAMS_SIZE 2048 // bytes of JSON
#endif
#ifndef GW_PARAMS_COUNT
#define GW_PARAMS_COUNT 64 // values, with those in lists
#endif

enum { GW_IS_INT, GW_IS_BOOL, GW_IS_TEXT };

static struct {
  gw_text name, text;
  int64_t number;
  uint8_t kind;
  bool listed, used;
} gw_params[GW_PARAMS_COUNT];

static uint32_t gw_param_count;
static char gw_json[GW_PARAMS_SIZE + 1];
static gw_text gw_wrong_name;      // of the first parameter that is wrong
static const char *gw_wrong_what;  // what is wrong with it; NULL = nothing

static inline void gw_wrong(gw_text name, const char *what) {
  if (gw_wrong_what) return;
  gw_wrong_name = name, gw_wrong_what = what;
}

// gw_param finds the first value of a name, and marks all as read.
static inline int32_t gw_param(const char *name, uint32_t n, uint32_t kind, const char *wanted) {
  int32_t found = -1;
  for (uint32_t i = gw_param_count; i-- > 0;) {
    if (!gw_equals(gw_params[i].name, name, n)) continue;
    gw_params[i].used = true;
    if (gw_params[i].kind != kind) gw_wrong(gw_params[i].name, wanted);
    found = (int32_t)i;
  }
  return found;
}

// gw_single is gw_param of what must not be a list.
static inline int32_t gw_single(const char *name, uint32_t n, uint32_t kind, const char *wanted) {
  int32_t i = gw_param(name, n, kind, wanted);
  if (i >= 0 && gw_params[i].listed) gw_wrong(gw_params[i].name, wanted);
  return i;
}

static inline int64_t gw_int_of(const char *name, uint32_t n, int64_t fallback, int64_t least, int64_t most) {
  int32_t i = gw_single(name, n, GW_IS_INT, "is not a whole number");
  if (i < 0) return fallback;
  if (gw_params[i].number < least) gw_wrong(gw_params[i].name, "is too small");
  if (gw_params[i].number > most) gw_wrong(gw_params[i].name, "is too large");
  return gw_params[i].number;
}
static inline bool gw_bool_of(const char *name, uint32_t n, bool fallback) {
  int32_t i = gw_single(name, n, GW_IS_BOOL, "is neither true nor false");
  return i < 0 ? fallback : gw_params[i].number != 0;
}
static inline gw_text gw_text_of(const char *name, uint32_t n) {
  int32_t i = gw_single(name, n, GW_IS_TEXT, "is not a text");
  return i < 0 ? (gw_text){0, 0} : gw_params[i].text;
}

// gw_list is a list of texts.
typedef struct {
  uint32_t first, count;
} gw_list;

static inline gw_list gw_texts_of(const char *name, uint32_t n) {
  gw_list list = {0, 0};
  int32_t i = gw_param(name, n, GW_IS_TEXT, "is not a list of texts");
  if (i < 0) return list;
  list.first = (uint32_t)i;
  while (list.first + list.count < gw_param_count && gw_equals(gw_params[list.first + list.count].name, name, n)) list.count++;
  return list;
}
static inline gw_text gw_item(gw_list list, uint32_t i) { return gw_params[list.first + i].text; }
static inline bool gw_has(gw_list list, gw_text t) {
  for (uint32_t i = 0; i < list.count; i++)
    if (gw_same(gw_item(list, i), t)) return true;
  return false;
}

// gw_int, gw_bool and gw_text_param give fallback, or the empty text, when the
// binding does not name the parameter; gw_texts gives an empty list. One text is
// a list of one.
#define gw_int(name, fallback, least, most) gw_int_of(name, sizeof(name) - 1, fallback, least, most)
#define gw_bool(name, fallback) gw_bool_of(name, sizeof(name) - 1, fallback)
#define gw_text_param(name) gw_text_of(name, sizeof(name) - 1)
#define gw_texts(name) gw_texts_of(name, sizeof(name) - 1)

// The reader works in gw_json, whose last byte is 0. Texts are decoded in place:
// what they say is never longer than how it is written.

static inline char *gw_blank(char *p) {
  while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
  return p;
}

static inline uint32_t gw_hex(const char *p) {
  uint32_t v = 0;
  for (uint32_t i = 0; i < 4 && p[i]; i++) v = v << 4 | (((uint32_t)p[i] & 15) + (p[i] > '9' ? 9 : 0));
  return v;
}

static inline char *gw_put(char *w, uint32_t c) {
  if (c < 0x80) return *w++ = (char)c, w;
  if (c < 0x800) return *w++ = (char)(0xc0 | c >> 6), *w++ = (char)(0x80 | (c & 63)), w;
  if (c < 0x10000) return *w++ = (char)(0xe0 | c >> 12), *w++ = (char)(0x80 | (c >> 6 & 63)), *w++ = (char)(0x80 | (c & 63)), w;
  *w++ = (char)(0xf0 | c >> 18), *w++ = (char)(0x80 | (c >> 12 & 63));
  return *w++ = (char)(0x80 | (c >> 6 & 63)), *w++ = (char)(0x80 | (c & 63)), w;
}

// gw_read_text reads a text that begins behind p and returns what follows it.
static inline char *gw_read_text(char *p, gw_text *t) {
  char *w = ++p;
  t->off = (uint32_t)(uintptr_t)p - gw_base();
  while (*p && *p != '"') {
    if (*p != '\\') {
      *w++ = *p++;
      continue;
    }
    char c = p[1];
    if (!c) break;
    p += 2;
    if (c != 'u') {
      *w++ = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      continue;
    }
    uint32_t v = gw_hex(p);
    for (uint32_t i = 0; i < 4 && *p; i++) p++;
    if (v >> 10 == 0xd800 >> 10 && p[0] == '\\' && p[1] == 'u' && gw_hex(p + 2) >> 10 == 0xdc00 >> 10) {
      v = 0x10000 + ((v & 1023) << 10) + (gw_hex(p + 2) & 1023);
      p += 6;
    } else if (v >> 11 == 0xd800 >> 11) {
      v = 0xfffd;  // half of a pair
    }
    w = gw_put(w, v);
  }
  t->len = (uint32_t)(uintptr_t)w - gw_base() - t->off;
  return *p ? p + 1 : p;
}

static inline char *gw_read_number(char *p, gw_text name, int64_t *number) {
  bool negative = *p == '-';
  int64_t v = 0;
  for (p += negative; *p >= '0' && *p <= '9'; p++) {
    int64_t digit = *p - '0';
    if (v > (INT64_MAX - digit) / 10) {
      gw_wrong(name, "is too large");
      v = 0;
    }
    v = v * 10 + digit;
  }
  if (*p == '.' || *p == 'e' || *p == 'E') gw_wrong(name, "is not a whole number");
  *number = negative ? -v : v;
  return p;
}

// gw_read_value reads one value, which is not a list, and keeps it.
static inline char *gw_read_value(char *p, gw_text name, bool listed) {
  if (gw_param_count == GW_PARAMS_COUNT) {
    gw_wrong(name, "is one value too many");
    return p;
  }
  uint32_t i = gw_param_count;
  gw_params[i].name = name, gw_params[i].listed = listed, gw_params[i].used = false;
  switch (*p) {
    case '"':
      gw_params[i].kind = GW_IS_TEXT;
      p = gw_read_text(p, &gw_params[i].text);
      break;
    case 't':
    case 'f':
      gw_params[i].kind = GW_IS_BOOL, gw_params[i].number = *p == 't';
      while (*p >= 'a' && *p <= 'z') p++;
      break;
    case '-':
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
      gw_params[i].kind = GW_IS_INT;
      p = gw_read_number(p, name, &gw_params[i].number);
      break;
    default:
      gw_wrong(name, "is neither a number, a text, true, false nor a list of them");
      return p;
  }
  gw_param_count++;
  return p;
}

// gw_read_params reads all parameters. The gateway has checked that they are
// JSON; what is no object ends the reading.
static inline void gw_read_params(void) {
  static const gw_text all = {0, 0};
  char *p = gw_blank(gw_json);
  if (*p != '{') gw_wrong(all, "parameters must be an object");
  for (p = gw_blank(p + 1); *p == '"' && !gw_wrong_what; p = gw_blank(p)) {
    gw_text name;
    p = gw_blank(gw_read_text(p, &name));
    for (uint32_t i = 0; i < gw_param_count; i++)
      if (gw_same(gw_params[i].name, name)) gw_wrong(name, "stands twice");
    p = gw_blank(*p ? p + 1 : p);  // the colon
    if (*p == '[') {
      p = gw_blank(p + 1);
      while (*p && *p != ']' && !gw_wrong_what) {
        p = gw_blank(gw_read_value(p, name, true));
        if (*p == ',') p = gw_blank(p + 1);
      }
      if (*p) p++;
    } else if (*p == 'n') {
      p += 4;  // null: as if it were not there
    } else {
      p = gw_read_value(p, name, false);
    }
    p = gw_blank(p);
    if (*p == ',') p++;
  }
}

// gw_configured reads the parameters, lets the policy take them, and looks for
// what nobody took.
static inline int32_t gw_configured(uint32_t ptr, uint32_t len, int32_t (*configure)(void)) {
  static const char too_long[] = "the parameters are too long for this policy";
  if (len > GW_PARAMS_SIZE) {
    gw_import_log(GW_ERROR, too_long, sizeof too_long - 1);
    return GW_BAD_INPUT;
  }
  for (uint32_t i = 0; i < len; i++) gw_json[i] = ((const char *)(uintptr_t)ptr)[i];
  gw_json[len] = 0;
  gw_read_params();
  int32_t code = gw_wrong_what ? GW_BAD_INPUT : configure();
  if (code < 0 && !gw_wrong_what) return code;
  for (uint32_t i = 0; i < gw_param_count; i++)
    if (!gw_params[i].used) gw_wrong(gw_params[i].name, "is not a parameter of this policy");
  if (!gw_wrong_what) return code;
  char line[192];
  uint32_t n = 0;
  for (uint32_t i = 0; i < gw_wrong_name.len && n < 100; i++) line[n++] = gw_bytes(gw_wrong_name)[i];
  if (n > 0) line[n++] = ' ';
  for (const char *s = gw_wrong_what; *s; s++) line[n++] = *s;
  gw_import_log(GW_ERROR, line, n);
  return GW_BAD_INPUT;
}

// ---- exports ----

#define GW_EXPORT(name) __attribute__((export_name(#name)))
#define GW_QUOTE(text) GW_QUOTED(text)
#define GW_QUOTED(text) #text

// GW_MANIFEST puts a description of the policy into the module, so that it can
// be read without running it.
#define GW_MANIFEST(...) GW_SECTION(GW_QUOTE(#__VA_ARGS__))
#define GW_SECTION(json) __asm__(".section .custom_section.gatewright.manifest,\"\",@\n.ascii " json "\n");

GW_EXPORT(gw_abi_version) uint32_t gw_abi_version(void) { return GW_ABI_VERSION; }

// gw_alloc gives the gateway the memory behind the static data, more of it when
// it needs more.
GW_EXPORT(gw_alloc) uint32_t gw_alloc(uint32_t size) {
  uint32_t base = gw_base(), end = (uint32_t)__builtin_wasm_memory_size(0) << 16;
  if (size > UINT32_MAX - base) return 0;
  if (base + size > end && __builtin_wasm_memory_grow(0, ((base + size - end - 1) >> 16) + 1) == SIZE_MAX) return 0;
  return base;
}

// gw_open looks whether the buffer is one that this header describes.
static inline int32_t gw_open(const gw_request *r, uint32_t len) {
  if (len < sizeof *r || r->magic != GW_MAGIC) return GW_BAD_INPUT;
  if (r->abi >> 16 != GW_ABI_VERSION >> 16) return GW_BAD_VERSION;
  if (r->count > GW_MAX_RECORDS || r->record_size < sizeof(gw_candidate)) return GW_BAD_INPUT;
  if (r->records_off > len || (len - r->records_off) / r->record_size < r->count) return GW_BAD_INPUT;
  return GW_OK;
}

// GW_ADMIT makes a function the policy's admission, GW_RANK its ranking: exactly
// one of them, int32_t f(gw_request *), which returns GW_OK or what gw_fail
// gives. GW_CONFIGURE makes int32_t f(void) the reader of its parameters.
#define GW_ADMIT(f)                                                      \
  GW_EXPORT(gw_admit) int32_t gw_admit(gw_request *r, uint32_t len) {    \
    int32_t code = gw_open(r, len);                                      \
    gw_removed = 0;                                                      \
    if (code == GW_OK) code = f(r);                                      \
    return code < 0 ? code : (int32_t)gw_removed;                        \
  }
#define GW_RANK(f)                                                       \
  GW_EXPORT(gw_rank) int32_t gw_rank(gw_request *r, uint32_t len) {      \
    int32_t code = gw_open(r, len);                                      \
    if (code == GW_OK) code = f(r);                                      \
    return code < 0 ? code : (int32_t)r->order_count;                    \
  }
#define GW_CONFIGURE(f) \
  GW_EXPORT(gw_configure) int32_t gw_configure(uint32_t ptr, uint32_t len) { return gw_configured(ptr, len, f); }

#endif
