//! Removes candidates more than once, and refuses; features_test.go says what
//! becomes of it.
#![no_std]

#[macro_use]
#[path = "../../../../wasm/sdk/rust/gatewright.rs"]
mod gatewright;
use gatewright::*;

manifest!(
    r#"{"name": "removals", "version": "1", "kind": "admission", "abi": "1.0", "reasons": ["one", "two"]}"#
);

fn admit(r: &Request) -> Answer {
    for c in r.candidates() {
        match &*c.provider {
            "later" => {
                c.remove(1);
                c.remove_until(2, 5);
            }
            "lasting" => {
                c.remove_until(2, 5);
                c.remove(1);
            }
            "none" => c.remove(0),
            _ => {}
        }
    }
    match &*r.session {
        "refuse" => r.refuse(429, 2, 7, "grün"),
        "bare" => r.refuse(403, 0, 0, ""),
        _ => {}
    }
    Ok(())
}
admission!(admit);
