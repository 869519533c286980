// An admission guest for tests: candidates outside the regions of a list, or
// too dear for what is left of the budget, are removed. Built by build.sh.
typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define EXPORT(name) __attribute__((export_name(#name)))

static u8 arena[48 * 1024] __attribute__((aligned(16)));

EXPORT(gw_abi_version) u32 gw_abi_version(void) { return 0x00010000; }

EXPORT(gw_alloc) u32 gw_alloc(u32 size) { return size <= sizeof arena ? (u32)(unsigned long)arena : 0; }

static u32 get(const u8 *p) { return *(const u32 *)p; }
static i64 get64(const u8 *p) { return *(const i64 *)p; }

static int same(const u8 *base, const u8 *str, const char *word, u32 n) {
  if (get(str + 4) != n) return 0;
  const u8 *text = base + get(str);
  for (u32 i = 0; i < n; i++)
    if (text[i] != (u8)word[i]) return 0;
  return 1;
}

static int european(const u8 *base, const u8 *str) {
  return same(base, str, "eu-central", 10) || same(base, str, "eu-west", 7) || same(base, str, "eu-north", 8);
}

EXPORT(gw_admit) i32 gw_admit(u32 ptr, u32 len) {
  u8 *base = (u8 *)(unsigned long)ptr;
  if (len < 160 || get(base) != 0x31505747) return -2;
  u32 count = get(base + 8), size = get(base + 12);
  u8 *r = base + get(base + 16);
  i64 left = get64(base + 56);
  i32 removed = 0;
  for (u32 i = 0; i < count; i++, r += size) {
    u32 verdict = 0;
    if (!european(base, r + 160)) verdict = 1;
    else if (get64(r + 200) > left) verdict = 2;
    *(u32 *)(r + 32) = verdict;
    removed += verdict != 0;
  }
  return removed;
}
