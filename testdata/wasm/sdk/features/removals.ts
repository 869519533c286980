// Removes candidates more than once, and refuses; features_test.go says what
// becomes of it.
import { OK, Request, admission } from "../../../../wasm/sdk/assemblyscript/gatewright";
export { gw_abi_version, gw_alloc } from "../../../../wasm/sdk/assemblyscript/gatewright";

/* gatewright.manifest
{"name": "removals", "version": "1", "kind": "admission", "abi": "1.0", "reasons": ["one", "two"]}
*/

function admit(r: Request): i32 {
  for (let i: u32 = 0; i < r.count; i++) {
    const c = r.candidate(i);
    if (c.provider.equals("later")) {
      c.remove(1);
      c.removeUntil(2, 5);
    }
    if (c.provider.equals("lasting")) {
      c.removeUntil(2, 5);
      c.remove(1);
    }
    if (c.provider.equals("none")) c.remove(0);
  }
  if (r.session.equals("refuse")) r.refuse(429, 2, 7, "grün");
  if (r.session.equals("bare")) r.refuse(403, 0, 0, "");
  return OK;
}

export function gw_admit(at: u32, len: u32): i32 {
  return admission(at, len, admit);
}
