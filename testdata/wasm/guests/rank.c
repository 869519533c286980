// A ranking guest for tests: price, latency and quota in one score, a draw by
// the request's seed, and the order by merge sort. Built by build.sh.
typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define EXPORT(name) __attribute__((export_name(#name)))
#define MAX 1024

typedef struct {
  u32 magic, abi, count, record_size, records_off, strings_off;
  u64 seed;
  i64 now;
  u32 input_tokens, max_output_tokens, flags;
  u8 hour, weekday, month, day;
  i64 budget_left;
  u32 text[10];
  u32 order_off, order_count, error_off, error_cap, error_len, attrs_off;
  u32 refusal[3], attempt_budget, rpm_left, tpm_left;
  u32 endpoint[2];
} header;
_Static_assert(sizeof(header) == 160, "header");

typedef struct {
  u32 index, flags, skipped, tier, priority, weight, context_limit, max_output, verdict, circuit;
  i64 price_in, price_out, ttft, p50, p95, success, throughput, quota_left, quota_reset, skipped_until;
  u32 in_flight, samples;
  i64 last_success;
  u32 text[10];
  u32 tags_off, reserved;
  double score;
  i64 until, est_cost;
  u32 upstream_model[2];
} record;
_Static_assert(sizeof(record) == 216, "record");

static u8 arena[48 * 1024] __attribute__((aligned(16)));

EXPORT(gw_abi_version) u32 gw_abi_version(void) { return 0x00010000; }

EXPORT(gw_alloc) u32 gw_alloc(u32 size) { return size <= sizeof arena ? (u32)(unsigned long)arena : 0; }

typedef struct {
  double score;
  u32 index;
} item;

static item items[MAX], spare[MAX];

static double fraction(u64 seed, u32 index) {
  u64 z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return (double)(z >> 11) / 9007199254740992.0;
}

static int before(const item *a, const item *b) {
  return a->score < b->score || (a->score == b->score && a->index < b->index);
}

static void sort(item *a, item *t, u32 n) {
  if (n <= 8) {
    for (u32 i = 1; i < n; i++) {
      item x = a[i];
      u32 j = i;
      for (; j > 0 && before(&x, &a[j - 1]); j--) a[j] = a[j - 1];
      a[j] = x;
    }
    return;
  }
  u32 m = n / 2, i = 0, j = m, k = 0;
  sort(a, t, m);
  sort(a + m, t, n - m);
  while (i < m && j < n) t[k++] = before(&a[j], &a[i]) ? a[j++] : a[i++];
  while (i < m) t[k++] = a[i++];
  while (j < n) t[k++] = a[j++];
  __builtin_memcpy(a, t, n * sizeof *a);
}

static i32 fail(header *h, const char *message) {
  u8 *area = (u8 *)h + h->error_off;
  u32 n = 0;
  for (; message[n] && n < h->error_cap; n++) area[n] = (u8)message[n];
  h->error_len = n;
  return -2;
}

EXPORT(gw_rank) i32 gw_rank(u32 ptr, u32 len) {
  header *h = (header *)(unsigned long)ptr;
  if (len < sizeof *h || h->magic != 0x31505747) return -2;
  if (h->abi >> 16 != 1) return -1;
  if (h->count > MAX || h->records_off + h->count * h->record_size > len) return fail(h, "too many candidates");
  u8 *base = (u8 *)h + h->records_off;
  u32 *order = (u32 *)((u8 *)h + h->order_off);
  for (u32 i = 0; i < h->count; i++) {
    record *r = (record *)(base + i * h->record_size);
    double cost = (double)r->price_in * h->input_tokens + (double)r->price_out * h->max_output_tokens;
    double slow = (double)(r->p50 + r->p95) * (1 + r->in_flight);
    double quota = (double)r->quota_left / 1000000.0;
    r->score = cost / 1e6 + slow * 3 + (1 - quota) * 500 + fraction(h->seed, i) * 20;
    if (r->circuit == 2) r->score *= 8;
    items[i].score = r->score;
    items[i].index = i;
  }
  sort(items, spare, h->count);
  for (u32 i = 0; i < h->count; i++) order[i] = items[i].index;
  h->order_count = h->count;
  return (i32)h->count;
}
