//! Uses what the worked examples of the SDK do not; features_test.go says what it
//! must answer.
#![no_std]

#[macro_use]
#[path = "../../../../wasm/sdk/rust/gatewright.rs"]
mod gatewright;
use gatewright::*;

manifest!(r#"{"name": "features", "version": "1", "kind": "ranking", "abi": "1.0"}"#);

static WORD: Global<&str> = Global::new("");
static WORDS: Global<List> = Global::new(List::NONE);
static NUMBER: Global<i64> = Global::new(0);
static FLAG: Global<bool> = Global::new(false);

fn configure(p: &Params) -> Answer {
    FLAG.set(p.bool("flag", false));
    WORD.set(p.text("word", ""));
    WORDS.set(p.texts("words"));
    NUMBER.set(p.int("number", 5, -10, 10));
    if NUMBER.get() == 7 {
        Err(Fail(OWN))
    } else {
        Ok(())
    }
}
configure!(configure);

const LONG: &str = "xéééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé";

fn score_texts(r: &Request, c: &Candidate) {
    let mut score = if c.upstream_model.starts_with("grün-") {
        1.0
    } else if *c.upstream_model == *c.model {
        2.0
    } else if r.attr("meta.region") == Some(&c.region) {
        3.0
    } else {
        4.0
    };
    score += if known_count(c.context_limit).is_some() {
        10.0
    } else {
        0.0
    };
    score += if &*c.supply_tier == "直接🚀" {
        20.0
    } else {
        0.0
    };
    score += if c.tag("").is_some() { 40.0 } else { 0.0 };
    c.score(score);
}

fn rank(r: &Request) -> Answer {
    let what = r.attr("tag.do").unwrap_or("");
    match what {
        "fail" => return Err(r.fail(OWN - 1, "no table")),
        "long" => return Err(r.fail(FAILED, LONG)),
        "log" => {
            log(WARN, "look here");
            log(DEBUG, "grün");
        }
        "order" => {
            for i in (0..r.count).rev() {
                r.candidates()
                    .filter(|c| c.index == i && !WORDS.get().has(&c.provider))
                    .for_each(|c| r.order(c));
            }
        }
        _ => {}
    }
    for c in r.candidates() {
        match what {
            "again" => {
                r.order(c);
                r.order(c);
            }
            "texts" => score_texts(r, c),
            "header" => {
                let sum = (r.tpm_left + r.hour as u32 + r.day as u32) as f64;
                c.score((r.seed % 1000) as f64 + 1000.0 * sum + r.endpoint.len() as f64);
            }
            "parameters" => {
                let words = WORDS.get().iter().count() as f64;
                c.score(
                    NUMBER.get() as f64
                        + 100.0 * (FLAG.get() as u32 as f64)
                        + 1000.0 * WORD.get().len() as f64
                        + 10000.0 * words,
                );
            }
            _ => {}
        }
    }
    Ok(())
}
ranking!(rank);
