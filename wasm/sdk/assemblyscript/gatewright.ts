// Gatewright's SDK for AssemblyScript: policies as WebAssembly modules, contract
// version 1.
//
// A policy is one file that imports this one, describes itself in a comment and
// exports its functions. An admission:
//
//   /* gatewright.manifest
//   {"name": "eu-only", "version": "1", "kind": "admission", "abi": "1.0",
//    "reasons": ["region"]}
//   */
//   import { Request, OK, admission } from "./gatewright";
//   export { gw_abi_version, gw_alloc } from "./gatewright";
//
//   const REGION: u32 = 1; // 1 + the index into reasons
//
//   function admit(r: Request): i32 {
//     for (let i: u32 = 0; i < r.count; i++) {
//       const c = r.candidate(i);
//       if (!c.region.startsWith("eu-")) c.remove(REGION);
//     }
//     return OK;
//   }
//   export function gw_admit(at: u32, len: u32): i32 {
//     return admission(at, len, admit);
//   }
//
// A ranking exports gw_rank in place of gw_admit, with ranking in place of
// admission, and calls score or order. admission.ts and ranking.ts beside this
// file are whole examples. Build with
//
//   asc policy.ts -O3 --runtime stub --use abort= --maximumMemory 64 \
//     --transform ./manifest.mjs -o policy.wasm
//
// Parts: layout (what there is to read), texts, answers, parameters, exports.
// What a call allocates is gone after it, so the runtime without a collector is
// enough; with `stateful: true` it is not, so allocate in configure alone then.

// ---- made by go generate ./wasm/abi: do not edit below ----

// The version of the contract: major in the upper 16 bits, minor in the lower.
export const ABI_VERSION: u32 = 65536;
export const MAGIC: u32 = 827348807; // "GWP1"
export const MAX_RECORDS: u32 = 1024; // candidates of one request

// Numbers of 64 bits with a meaning of their own.
export const UNKNOWN: i64 = i64.MIN_VALUE; // nobody knows
export const NO_LIMIT: i64 = 9223372036854775807; // the caller has no budget

// The same in 32 bits.
export const UNKNOWN_COUNT: u32 = 0xffffffff;
export const NO_LIMIT_COUNT: u32 = 0xffffffff; // the caller has no such rate

// What a policy returns.
export const OK: i32 = 0;
export const BAD_VERSION: i32 = -1; // the version of the buffer is not known
export const BAD_INPUT: i32 = -2; // the input or the parameters make no sense
export const FAILED: i32 = -3; // the policy failed
export const OWN: i32 = -100; // this and below are the policy's own

// Flags: what a request needs, what a candidate supports. From affinity on, what a candidate is.
export const STREAM: u32 = 1;
export const TOOLS: u32 = 2;
export const VISION: u32 = 4;
export const JSON_SCHEMA: u32 = 8;
export const REASONING: u32 = 16;
export const AUDIO: u32 = 32;
export const AFFINITY: u32 = 256; // the session was served here
export const PREFERRED: u32 = 512; // the caller prefers its provider
export const LOCKED: u32 = 1024; // the caller named its provider

// States of a candidate's circuit breaker.
export const CIRCUIT_CLOSED: u32 = 0;
export const CIRCUIT_HALF_OPEN: u32 = 1;
export const CIRCUIT_OPEN: u32 = 2;

// Why a candidate is not in the pool; 0 = it is. Numbers are only added.
export const SKIPPED_DISABLED: u32 = 1;
export const SKIPPED_ZERO_WEIGHT: u32 = 2;
export const SKIPPED_MODEL_NOT_ALLOWED: u32 = 3;
export const SKIPPED_PROVIDER_NOT_ALLOWED: u32 = 4;
export const SKIPPED_SUPPLY_TIER: u32 = 5;
export const SKIPPED_PROTOCOL: u32 = 6;
export const SKIPPED_CAPABILITY: u32 = 7;
export const SKIPPED_CONTEXT_WINDOW: u32 = 8;
export const SKIPPED_POLICY: u32 = 9;
export const SKIPPED_COOLDOWN: u32 = 10;
export const SKIPPED_QUOTA_EXHAUSTED: u32 = 11;
export const SKIPPED_NO_CREDENTIAL: u32 = 12;
export const SKIPPED_LATENCY_CAP: u32 = 13;
export const SKIPPED_COST_CAP: u32 = 14;
export const SKIPPED_ALREADY_TRIED: u32 = 15;

/** The fields of a request. A text is two of them, which its getter puts together. */
@unmanaged
class RequestFields {
  /** (of the SDK) "GWP1" */
  magic: u32;
  /** (of the SDK) the version of the contract, major in the upper 16 bits */
  abi: u32;
  /** records, at most 1,024 */
  count: u32;
  /** (of the SDK) bytes from one record to the next */
  recordSize: u32;
  /** (of the SDK) where the first record is */
  recordsOff: u32;
  /** (of the SDK) where the texts begin */
  stringsOff: u32;
  /** the only randomness there is: the same for all turns of a session */
  seed: u64;
  /** when the request came; the only clock there is */
  nowUnixMs: i64;
  /** estimate that errs low; 0 = not known */
  inputTokens: u32;
  /** output tokens that the caller allows; 0 = not named */
  maxOutputTokens: u32;
  /** what the request needs, see the flags */
  requestFlags: u32;
  /** 0 to 23, UTC */
  hour: u8;
  /** 0 = Sunday to 6 = Saturday, UTC */
  weekday: u8;
  /** 1 to 12, UTC */
  month: u8;
  /** of the month, 1 to 31, UTC */
  day: u8;
  /** nano-USD left to the caller; the largest number = no limit */
  budgetLeftNusd: i64;
  private orgOff: u32;
  private orgLen: u32;
  private teamOff: u32;
  private teamLen: u32;
  private keyOff: u32;
  private keyLen: u32;
  private modelOff: u32;
  private modelLen: u32;
  private sessionOff: u32;
  private sessionLen: u32;
  /** (of the SDK) where a ranking writes its order: u32 indexes, the first is tried first */
  orderOff: u32;
  /** (of the SDK) entries written there */
  orderCount: u32;
  /** (of the SDK) where a message may be written, UTF-8 */
  errorOff: u32;
  /** (of the SDK) room for it, in bytes */
  errorCap: u32;
  /** (of the SDK) bytes written there */
  errorLen: u32;
  /** (of the SDK) where the attributes are; 0 = none */
  attrsOff: u32;
  /** (of the SDK) admission: 400, 402, 403 or 429 refuses the whole request; 0 = no refusal */
  refusalStatus: u32;
  /** (of the SDK) seconds after which to come back; 0 = not said */
  refusalRetryAfterS: u32;
  /** (of the SDK) 1 + index into the manifest's reasons: the error code; 0 = policy */
  refusalReason: u32;
  /** calls of upstreams that the request may make */
  attemptBudget: u32;
  /** requests left in this minute; the largest number = no limit */
  rpmLeft: u32;
  /** tokens left in this minute; the largest number = no limit */
  tpmLeft: u32;
  private endpointOff: u32;
  private endpointLen: u32;
  /** the caller's organisation */
  get org(): Text {
    return textAt(changetype<usize>(this) + 64);
  }
  /** the caller's team */
  get team(): Text {
    return textAt(changetype<usize>(this) + 72);
  }
  /** the name of the caller's key, never the key */
  get key(): Text {
    return textAt(changetype<usize>(this) + 80);
  }
  /** the model as the caller named it */
  get model(): Text {
    return textAt(changetype<usize>(this) + 88);
  }
  /** names the conversation, the same for all its turns; empty = none */
  get session(): Text {
    return textAt(changetype<usize>(this) + 96);
  }
  /** what was called: chat, completions, embeddings, messages, … */
  get endpoint(): Text {
    return textAt(changetype<usize>(this) + 152);
  }
}
if (offsetof<RequestFields>() != 160) ERROR("the layout of a request");

/** The fields of a candidate. A text is two of them, which its getter puts together. */
@unmanaged
class CandidateFields {
  /** place of the record, from 0; what an order is made of */
  index: u32;
  /** what the candidate supports and is, see the flags */
  flags: u32;
  /** why it is not in the pool, by number; 0 = it is. No policy can bring it back */
  skipped: u32;
  /** 0 = the highest priority in this pool, then 1, … */
  tier: u32;
  /** the larger, the earlier */
  priority: u32;
  /** its share among equals */
  weight: u32;
  /** tokens of input and output; may be unknown */
  contextLimit: u32;
  /** tokens of output; may be unknown */
  maxOutput: u32;
  /** (of the SDK) admission: 1 + index into the manifest's reasons removes the candidate; 0 = keep */
  verdict: u32;
  /** 0 closed, 1 half_open, 2 open */
  circuit: u32;
  /** nano-USD per million tokens of input; may be unknown */
  priceIn: i64;
  /** nano-USD per million tokens of output; may be unknown */
  priceOut: i64;
  /** median time to the first token, in milliseconds; may be unknown */
  ttftMs: i64;
  /** median time to the whole answer, in milliseconds; may be unknown */
  latencyP50Ms: i64;
  /** the same that 95 of 100 answers keep to; may be unknown */
  latencyP95Ms: i64;
  /** share of requests that succeeded, in millionths; may be unknown */
  successPpm: i64;
  /** output, in thousandths of a token per second; may be unknown */
  throughputTpsMilli: i64;
  /** share of its quota that is left, in millionths; may be unknown */
  quotaLeftPpm: i64;
  /** when the quota is full again; may be unknown */
  quotaResetUnixMs: i64;
  /** when it comes back by itself */
  skippedUntilUnixMs: i64;
  /** requests that it is serving now */
  inFlight: u32;
  /** requests that these figures rest on; 0 = nothing is measured */
  samples: u32;
  /** when it last succeeded; may be unknown */
  lastSuccessUnixMs: i64;
  private idOff: u32;
  private idLen: u32;
  private providerOff: u32;
  private providerLen: u32;
  private modelOff: u32;
  private modelLen: u32;
  private regionOff: u32;
  private regionLen: u32;
  private supplyTierOff: u32;
  private supplyTierLen: u32;
  /** (of the SDK) where its tags are, a list like the attributes; 0 = none */
  tagsOff: u32;
  /** (of the SDK) 0 */
  reserved: u32;
  /** (of the SDK) ranking: the lower, the earlier; NaN = none, goes behind those that have one */
  score: f64;
  /** (of the SDK) admission: when the removal ends; the smallest number = it lasts */
  untilUnixMs: i64;
  /** what the request is likely to cost, in nano-USD; may be unknown */
  estCostNusd: i64;
  private upstreamModelOff: u32;
  private upstreamModelLen: u32;
  /** 3 × price_in + price_out, as the gateway compares it: rounded once where a sale applies; may be unknown */
  price: i64;
  /** of the deployment */
  get id(): Text {
    return textAt(changetype<usize>(this) + 136);
  }
  /** who serves it */
  get provider(): Text {
    return textAt(changetype<usize>(this) + 144);
  }
  /** the public name of the model */
  get model(): Text {
    return textAt(changetype<usize>(this) + 152);
  }
  /** of the provider; empty = not known */
  get region(): Text {
    return textAt(changetype<usize>(this) + 160);
  }
  /** of the provider; empty = none */
  get supplyTier(): Text {
    return textAt(changetype<usize>(this) + 168);
  }
  /** the provider's name of the model */
  get upstreamModel(): Text {
    return textAt(changetype<usize>(this) + 208);
  }
}
if (offsetof<CandidateFields>() != 224) ERROR("the layout of a candidate");

// ---- made by go generate ./wasm/abi: do not edit above ----

/** Says whether anybody knows the number. */
export function known(n: i64): bool {
  return n != UNKNOWN;
}

/** The same for contextLimit and maxOutput. */
export function knownCount(n: u32): bool {
  return n != UNKNOWN_COUNT;
}

/** What is asked: the header of the buffer. */
@unmanaged
export class Request extends RequestFields {
  /** Candidate i of count; those that are skipped are among them. */
  candidate(i: u32): Candidate {
    return changetype<Candidate>(changetype<usize>(this) + this.recordsOff + i * this.recordSize);
  }

  /** An attribute: "tag.NAME", "header.name", "meta.NAME", "id", or "text" where the binding grants it. */
  attr(key: string): Text | null {
    return find(this.attrsOff, key);
  }

  /**
   * Refuses the whole request: status is 400, 402, 403 or 429; retryAfterS is when to come back, 0 = not
   * said; message has at most 256 bytes.
   */
  refuse(status: u32, reason: u32, retryAfterS: u32, message: string): void {
    this.refusalStatus = status;
    this.refusalReason = reason;
    this.refusalRetryAfterS = retryAfterS;
    this.say(message);
  }

  /** Puts a candidate behind those that were put before it. With an order scores do not count. */
  order(c: Candidate): void {
    if (this.orderCount < this.count) {
      store<u32>(changetype<usize>(this) + this.orderOff + 4 * this.orderCount++, c.index);
    }
  }

  /** Says why there is no answer: return r.fail(OWN, "no table"). */
  fail(code: i32, message: string): i32 {
    this.say(message);
    return code;
  }

  private say(message: string): void {
    const bytes = changetype<usize>(String.UTF8.encode(message));
    let n = <u32>String.UTF8.byteLength(message);
    if (n > this.errorCap) {
      for (n = this.errorCap; n > 0 && (load<u8>(bytes + n) & 0xc0) == 0x80; ) n--; // no half of a character
    }
    memory.copy(changetype<usize>(this) + this.errorOff, bytes, n);
    this.errorLen = n;
  }
}

/** One deployment that could serve the request. */
@unmanaged
export class Candidate extends CandidateFields {
  /** The value of a tag. */
  tag(key: string): Text | null {
    return find(this.tagsOff, key);
  }

  /** Removes the candidate. reason is 1 + an index into the manifest's reasons. Of two removals the later one counts. */
  remove(reason: u32): void {
    if (this.verdict == 0 && reason != 0) removed++;
    this.verdict = reason;
    this.untilUnixMs = UNKNOWN;
  }

  /** Does so until an instant (1970 to 9999), which users are shown. */
  removeUntil(reason: u32, unixMs: i64): void {
    this.remove(reason);
    this.untilUnixMs = unixMs;
  }

  // To score a candidate, set `score`: the lower, the earlier. One without a score goes behind those that have one.
}

let removed: i32 = 0;

// ---- texts ----

let buffer: usize = 0; // where the buffer is: texts are counted from there

function textAt(at: usize): Text {
  return changetype<Text>(at);
}

/** A text of the buffer, UTF-8. Comparing it with a string allocates nothing. */
@unmanaged
export class Text {
  private off: u32;
  private len: u32;

  /** Its bytes. */
  get length(): u32 {
    return this.len;
  }

  equals(s: string): bool {
    return <u32>s.length <= this.len && this.compare(s, false) == 0;
  }

  startsWith(s: string): bool {
    return <u32>s.length <= this.len && this.compare(s, true) == 0;
  }

  same(other: Text): bool {
    return this.len == other.len && memory.compare(buffer + this.off, buffer + other.off, this.len) == 0;
  }

  /** A copy as a string, for what the functions above do not do. */
  toString(): string {
    return String.UTF8.decodeUnsafe(buffer + this.off, this.len);
  }

  /**
   * Below, at or above 0 as the text stands before, at or behind s in the order of lists, which is that of bytes.
   * What goes on behind s is behind it, or with head the same.
   */
  compare(s: string, head: bool): i32 {
    const p = buffer + this.off;
    const q = changetype<usize>(s);
    const n: u32 = s.length;
    const most = min(n, this.len);
    let i: u32 = 0;
    // The bytes of other characters than ASCII's are negative, and so no code of s.
    while (i < most && <u32>load<i8>(p + i) == load<u16>(q + 2 * i)) i++;
    if (i == n) return head || n == this.len ? 0 : 1;
    if (i == this.len) return -1;
    const b: i32 = load<u8>(p + i);
    const c: i32 = load<u16>(q + 2 * i);
    if (b < 0x80 || c < 0x80) return b - c;
    return compareRest(p + i, p + this.len, q + 2 * i, q + 2 * n, head);
  }
}

/** The same of the rest of a text, from p to to, and the rest of a string, from q to end. */
function compareRest(p: usize, to: usize, q: usize, end: usize, head: bool): i32 {
  while (q < end) {
    let c: u32 = load<u16>(q);
    q += 2;
    if ((c & 0xfc00) == 0xd800 && q < end) {
      c = 0x10000 + ((c & 0x3ff) << 10) + (load<u16>(q) & 0x3ff);
      q += 2;
    }
    let shift = c < 0x80 ? 0 : c < 0x800 ? 8 : c < 0x10000 ? 16 : 24;
    for (c = encoded(c); shift >= 0; shift -= 8) {
      if (p == to) return -1;
      const difference = <i32>load<u8>(p++) - <i32>((c >> shift) & 0xff);
      if (difference != 0) return difference;
    }
  }
  return head || p == to ? 0 : 1;
}

/** The bytes of a character, the last at the bottom. */
function encoded(c: u32): u32 {
  if (c < 0x80) return c;
  if (c < 0x800) return 0xc080 | ((c >> 6) << 8) | (c & 63);
  if (c < 0x10000) return 0xe08080 | ((c >> 12) << 16) | (((c >> 6) & 63) << 8) | (c & 63);
  return 0xf0808080 | ((c >> 18) << 24) | (((c >> 12) & 63) << 16) | (((c >> 6) & 63) << 8) | (c & 63);
}

/** The value of a key in a list of attributes or tags, which is sorted. */
function find(list: u32, key: string): Text | null {
  if (list == 0) return null;
  const at = buffer + list;
  let low: u32 = 0;
  let high = load<u32>(at);
  while (low < high) {
    const middle = (low + high) / 2;
    const pair = at + 4 + 16 * middle;
    const order = textAt(pair).compare(key, false);
    if (order == 0) return textAt(pair + 8);
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return null;
}

/** Levels of the log. */
export enum Level { Debug, Info, Warn, Error }

@external("gw", "log")
declare function hostLog(level: i32, at: usize, len: usize): void;

/** Writes to the gateway's log: at most 16 lines of 1 KiB for each call. */
export function log(level: Level, message: string): void {
  const bytes = String.UTF8.encode(message);
  hostLog(level, changetype<usize>(bytes), bytes.byteLength);
}

// ---- parameters ----
//
// The binding's parameters are a JSON object of whole numbers, texts, true,
// false, and lists of texts. A policy that has some exports gw_configure and
// reads each of them into a variable of its own:
//
//   let most: i64 = 0;
//   let regions: string[] = [];
//   function configure(p: Params): i32 {
//     most = p.int("most", 5, 0, 100);
//     regions = p.texts("regions");
//     return OK;
//   }
//   export function gw_configure(at: u32, len: u32): i32 {
//     return configured(at, len, configure);
//   }
//
// What is of another type, out of range or read by nobody is refused, and the
// log says which.

const IS_INT: i32 = 0;
const IS_BOOL: i32 = 1;
const IS_TEXT: i32 = 2;

class Param {
  used: bool = false;
  kind: i32 = IS_INT;
  number: i64 = 0; // 1 for true
  text: string = "";
  constructor(
    public name: string,
    public listed: bool,
  ) {}
}

/** The parameters, while they are read. */
export class Params {
  private list: Param[] = [];
  private at: i32 = 0;
  /** What is wrong with the first parameter that is; empty = nothing. */
  wrong: string = "";

  constructor(private json: string) {}

  /** A whole number of a range; fallback when the binding does not name it. */
  int(name: string, fallback: i64, least: i64, most: i64): i64 {
    const found = this.take(name, IS_INT, false, "is not a whole number");
    if (found.length == 0) return fallback;
    const n = found[0].number;
    if (n < least) this.blame(name, "is too small");
    if (n > most) this.blame(name, "is too large");
    return n;
  }

  bool(name: string, fallback: bool): bool {
    const found = this.take(name, IS_BOOL, false, "is neither true nor false");
    return found.length == 0 ? fallback : found[0].number != 0;
  }

  text(name: string, fallback: string): string {
    const found = this.take(name, IS_TEXT, false, "is not a text");
    return found.length == 0 ? fallback : found[0].text;
  }

  /** A list of texts, or one text; empty when the binding does not name it. */
  texts(name: string): string[] {
    const found = this.take(name, IS_TEXT, true, "is not a list of texts");
    const texts: string[] = [];
    for (let i = 0; i < found.length; i++) texts.push(found[i].text);
    return texts;
  }

  /** All values of a name, which are marked as read. */
  private take(name: string, kind: i32, list: bool, wanted: string): Param[] {
    const found: Param[] = [];
    for (let i = 0; i < this.list.length; i++) {
      const p = this.list[i];
      if (p.name != name) continue;
      p.used = true;
      if (p.kind != kind || (p.listed && !list)) this.blame(name, wanted);
      found.push(p);
    }
    return found;
  }

  private blame(name: string, what: string): void {
    if (this.wrong.length == 0) this.wrong = name.substring(0, 100) + " " + what;
  }

  /** Looks for what nobody has read. */
  finish(): void {
    for (let i = 0; i < this.list.length; i++) {
      if (!this.list[i].used) this.blame(this.list[i].name, "is not a parameter of this policy");
    }
  }

  // The reader. The gateway has checked that it is JSON.

  read(): void {
    if (!this.skip(0x7b /* { */)) this.wrong = "parameters must be an object";
    while (this.peek() == 0x22 /* " */ && this.wrong.length == 0) {
      const name = this.string();
      for (let i = 0; i < this.list.length; i++) {
        if (this.list[i].name == name) this.blame(name, "stands twice");
      }
      this.skip(0x3a /* : */);
      if (this.peek() == 0x6e /* n */) {
        this.at += 4; // null: as if it were not there
      } else if (this.skip(0x5b /* [ */)) {
        while (!this.skip(0x5d /* ] */) && this.peek() != 0 && this.wrong.length == 0) {
          this.value(name, true);
          this.skip(0x2c /* , */);
        }
      } else {
        this.value(name, false);
      }
      this.skip(0x2c /* , */);
    }
  }

  private here(): i32 {
    return this.at < this.json.length ? this.json.charCodeAt(this.at) : 0;
  }

  /** What follows the blanks. */
  private peek(): i32 {
    while (this.here() == 0x20 || (this.here() >= 0x09 && this.here() <= 0x0d)) this.at++;
    return this.here();
  }

  private skip(c: i32): bool {
    const is = this.peek() == c;
    if (is) this.at++;
    return is;
  }

  private value(name: string, listed: bool): void {
    const p = new Param(name, listed);
    const c = this.peek();
    if (c == 0x22 /* " */) {
      p.kind = IS_TEXT;
      p.text = this.string();
    } else if (c == 0x74 /* t */ || c == 0x66 /* f */) {
      p.kind = IS_BOOL;
      p.number = c == 0x74 ? 1 : 0;
      while (this.here() >= 0x61 && this.here() <= 0x7a) this.at++;
    } else if (c == 0x2d /* - */ || (c >= 0x30 && c <= 0x39)) {
      p.number = this.number(name);
    } else {
      this.blame(name, "is neither a number, a text, true, false nor a list of them");
      return;
    }
    this.list.push(p);
  }

  private number(name: string): i64 {
    const negative = this.skip(0x2d /* - */);
    let n: i64 = 0;
    for (; this.here() >= 0x30 && this.here() <= 0x39; this.at++) {
      const digit = <i64>(this.here() - 0x30);
      if (n > (i64.MAX_VALUE - digit) / 10) {
        this.blame(name, "is too large");
        n = 0;
      }
      n = n * 10 + digit;
    }
    const c = this.here();
    if (c == 0x2e /* . */ || c == 0x65 /* e */ || c == 0x45 /* E */) this.blame(name, "is not a whole number");
    return negative ? -n : n;
  }

  private string(): string {
    let s = "";
    let from = ++this.at;
    while (this.here() != 0x22 /* " */ && this.at < this.json.length) {
      if (this.here() != 0x5c /* \ */) {
        this.at++;
        continue;
      }
      s += this.json.substring(from, this.at++);
      s += this.escape();
      from = this.at;
    }
    s += this.json.substring(from, this.at++);
    return s;
  }

  /** What stands behind a backslash. */
  private escape(): string {
    const c = this.here();
    this.at++;
    switch (c) {
      case 0x6e: return "\n";
      case 0x74: return "\t";
      case 0x72: return "\r";
      case 0x62: return "\b";
      case 0x66: return "\f";
      case 0x75: {
        const high = this.hex();
        if ((high & 0xf800) != 0xd800) return String.fromCharCode(high);
        if (high < 0xdc00 && this.here() == 0x5c) {
          const back = this.at++;
          if (this.here() == 0x75) {
            this.at++;
            const low = this.hex();
            if ((low & 0xfc00) == 0xdc00) return String.fromCharCode(high, low);
          }
          this.at = back;
        }
        return "\ufffd"; // half of a pair
      }
    }
    return String.fromCharCode(c);
  }

  private hex(): i32 {
    let v = 0;
    for (let i = 0; i < 4; i++, this.at++) {
      v = (v << 4) | ((this.here() & 15) + (this.here() > 0x39 ? 9 : 0));
    }
    return v;
  }
}

/** What gw_configure returns, when f is what reads the parameters. */
export function configured(at: u32, len: u32, f: (p: Params) => i32): i32 {
  const p = new Params(String.UTF8.decodeUnsafe(at, len));
  p.read();
  if (p.wrong.length == 0) {
    const code = f(p);
    if (code < 0) return code;
    p.finish();
  }
  if (p.wrong.length == 0) return OK;
  log(Level.Error, p.wrong);
  return BAD_INPUT;
}

// ---- exports ----

/** The policy's entry file exports it. */
export function gw_abi_version(): u32 {
  return ABI_VERSION;
}

let room: u32 = 0; // bytes at buffer

/**
 * What a call may allocate before the memory grows. An instance whose memory has grown is replaced after the
 * call, which takes its time: a policy should allocate little, and nothing for each candidate.
 */
const SPARE: u32 = 16 << 10;

/** The policy's entry file exports it: a block for the gateway, a larger one when it needs more. */
export function gw_alloc(size: u32): u32 {
  if (room != 0) {
    if (size <= room) return <u32>buffer;
    heap.free(buffer); // unless something lies behind it
  }
  const wanted = max<u32>(size, 16 << 10);
  const top = heap.alloc(0);
  const end: u64 = (<u64>top) + wanted + SPARE;
  const have: u64 = (<u64>memory.size()) << 16;
  if (end > have && memory.grow(<i32>((end - have - 1) >> 16) + 1) < 0) return 0;
  heap.free(top);
  buffer = heap.alloc(wanted);
  room = wanted;
  return <u32>buffer;
}

/** Says whether the buffer is one that this file describes. */
function open(at: u32, len: u32): i32 {
  const r = changetype<Request>(at);
  if (len < offsetof<Request>() || r.magic != MAGIC) return BAD_INPUT;
  if (r.abi >> 16 != ABI_VERSION >> 16) return BAD_VERSION;
  if (r.count > MAX_RECORDS || r.recordSize < offsetof<Candidate>()) return BAD_INPUT;
  if (r.recordsOff > len || (len - r.recordsOff) / r.recordSize < r.count) return BAD_INPUT;
  return OK;
}

/** What gw_admit returns, when f decides: it returns OK or what fail gives. */
export function admission(at: u32, len: u32, f: (r: Request) => i32): i32 {
  let code = open(at, len);
  removed = 0;
  if (code == OK) code = f(changetype<Request>(at));
  return code < 0 ? code : removed;
}

/** What gw_rank returns, when f decides: it returns OK or what fail gives. */
export function ranking(at: u32, len: u32, f: (r: Request) => i32): i32 {
  let code = open(at, len);
  if (code == OK) code = f(changetype<Request>(at));
  return code < 0 ? code : <i32>changetype<Request>(at).orderCount;
}
