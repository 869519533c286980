// Uses what the worked examples of the SDK do not; features_test.go says what it
// must answer.
import { Candidate, FAILED, Level, OK, OWN, Params, Request, configured, knownCount, log, ranking } from "../../../../wasm/sdk/assemblyscript/gatewright";
export { gw_abi_version, gw_alloc } from "../../../../wasm/sdk/assemblyscript/gatewright";

/* gatewright.manifest
{"name": "features", "version": "1", "kind": "ranking", "abi": "1.0"}
*/

let word = "";
let words: string[] = [];
let number: i64 = 0;
let flag = false;

function configure(p: Params): i32 {
  flag = p.bool("flag", false);
  word = p.text("word", "");
  words = p.texts("words");
  number = p.int("number", 5, -10, 10);
  return number == 7 ? OWN : OK;
}

function scoreTexts(r: Request, c: Candidate): void {
  const region = r.attr("meta.region");
  let score = c.upstreamModel.startsWith("grün-") ? 1 : c.upstreamModel.same(c.model) ? 2 : region && region.same(c.region) ? 3 : 4;
  if (knownCount(c.contextLimit)) score += 10;
  if (c.supplyTier.equals("直接🚀")) score += 20;
  if (c.tag("")) score += 40;
  c.score = score;
}

function listed(c: Candidate): bool {
  for (let i = 0; i < words.length; i++) {
    if (c.provider.equals(words[i])) return true;
  }
  return false;
}

function rank(r: Request): i32 {
  const tag = r.attr("tag.do");
  const what = tag ? tag.toString() : "";
  if (what == "fail") return r.fail(OWN - 1, "no table");
  if (what == "long") return r.fail(FAILED, "x" + "é".repeat(200));
  if (what == "log") {
    log(Level.Warn, "look here");
    log(Level.Debug, "grün");
  }
  for (let i = <i32>r.count - 1; i >= 0; i--) {
    const c = r.candidate(i);
    if (what == "order" && !listed(c)) r.order(c);
    if (what == "again") {
      r.order(c);
      r.order(c);
    }
    if (what == "texts") scoreTexts(r, c);
    if (what == "header") {
      c.score = <f64>(r.seed % 1000) + 1000 * <f64>(r.tpmLeft + r.hour + r.day) + r.endpoint.length;
    }
    if (what == "parameters") {
      c.score = <f64>number + 100 * <f64>flag + 1000 * <f64>String.UTF8.byteLength(word) + 10000 * <f64>words.length;
    }
  }
  return OK;
}

export function gw_configure(at: u32, len: u32): i32 {
  return configured(at, len, configure);
}

export function gw_rank(at: u32, len: u32): i32 {
  return ranking(at, len, rank);
}
