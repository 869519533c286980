//! Gatewright's SDK for Rust: policies as WebAssembly modules, contract version 1.
//!
//! A policy is a crate of type `cdylib` without the standard library. It takes
//! this file as a module, describes itself and names its functions. An
//! admission:
//!
//! ```
//! #![no_std]
//! #[macro_use]
//! mod gatewright;
//! use gatewright::*;
//!
//! manifest!(r#"{"name": "eu-only", "version": "1", "kind": "admission",
//!     "abi": "1.0", "reasons": ["region"]}"#);
//! const REGION: u32 = 1; // 1 + the index into reasons
//!
//! fn admit(r: &Request) -> Answer {
//!     for c in r.candidates() {
//!         if !c.region.starts_with("eu-") {
//!             c.remove(REGION);
//!         }
//!     }
//!     Ok(())
//! }
//! admission!(admit);
//! ```
//!
//! A ranking has `ranking!` in place of `admission!`, and calls `score` or
//! `order`. admission.rs and ranking.rs beside this file are whole examples. Build
//! for wasm32-unknown-unknown with `-C opt-level=3 -C panic=abort -C
//! strip=symbols -C link-args="--stack-first -zstack-size=8192
//! --initial-memory=65536 --max-memory=4194304"`.
//!
//! Parts: layout (what there is to read), texts, answers, parameters, exports.
//! All memory behind the static data is the SDK's: use no allocator.
#![allow(dead_code)]

use core::cell::{Cell, UnsafeCell};

// ---- made by go generate ./wasm/abi: do not edit below ----

// The version of the contract: major in the upper 16 bits, minor in the lower.
pub const ABI_VERSION: u32 = 65536;
pub const MAGIC: u32 = 827348807; // "GWP1"
pub const MAX_RECORDS: u32 = 1024; // candidates of one request

// Numbers of 64 bits with a meaning of their own.
pub const UNKNOWN: i64 = i64::MIN; // nobody knows
pub const NO_LIMIT: i64 = 9223372036854775807; // the caller has no budget

// The same in 32 bits.
pub const UNKNOWN_COUNT: u32 = 0xffffffff;
pub const NO_LIMIT_COUNT: u32 = 0xffffffff; // the caller has no such rate

// What a policy returns.
pub const OK: i32 = 0;
pub const BAD_VERSION: i32 = -1; // the version of the buffer is not known
pub const BAD_INPUT: i32 = -2; // the input or the parameters make no sense
pub const FAILED: i32 = -3; // the policy failed
pub const OWN: i32 = -100; // this and below are the policy's own

// Flags: what a request needs, what a candidate supports. From affinity on, what a candidate is.
pub const STREAM: u32 = 1;
pub const TOOLS: u32 = 2;
pub const VISION: u32 = 4;
pub const JSON_SCHEMA: u32 = 8;
pub const REASONING: u32 = 16;
pub const AUDIO: u32 = 32;
pub const AFFINITY: u32 = 256; // the session was served here
pub const PREFERRED: u32 = 512; // the caller prefers its provider
pub const LOCKED: u32 = 1024; // the caller named its provider

// States of a candidate's circuit breaker.
pub const CIRCUIT_CLOSED: u32 = 0;
pub const CIRCUIT_HALF_OPEN: u32 = 1;
pub const CIRCUIT_OPEN: u32 = 2;

// Why a candidate is not in the pool; 0 = it is. Numbers are only added.
pub const SKIPPED_DISABLED: u32 = 1;
pub const SKIPPED_ZERO_WEIGHT: u32 = 2;
pub const SKIPPED_MODEL_NOT_ALLOWED: u32 = 3;
pub const SKIPPED_PROVIDER_NOT_ALLOWED: u32 = 4;
pub const SKIPPED_SUPPLY_TIER: u32 = 5;
pub const SKIPPED_PROTOCOL: u32 = 6;
pub const SKIPPED_CAPABILITY: u32 = 7;
pub const SKIPPED_CONTEXT_WINDOW: u32 = 8;
pub const SKIPPED_POLICY: u32 = 9;
pub const SKIPPED_COOLDOWN: u32 = 10;
pub const SKIPPED_QUOTA_EXHAUSTED: u32 = 11;
pub const SKIPPED_NO_CREDENTIAL: u32 = 12;
pub const SKIPPED_LATENCY_CAP: u32 = 13;
pub const SKIPPED_COST_CAP: u32 = 14;
pub const SKIPPED_ALREADY_TRIED: u32 = 15;

/// What is asked: the header of the buffer.
#[repr(C)]
pub struct Request {
    magic: u32,
    abi: u32,
    /// records, at most 1,024
    pub count: u32,
    record_size: u32,
    records_off: u32,
    strings_off: u32,
    /// the only randomness there is: the same for all turns of a session
    pub seed: u64,
    /// when the request came; the only clock there is
    pub now_unix_ms: i64,
    /// estimate that errs low; 0 = not known
    pub input_tokens: u32,
    /// output tokens that the caller allows; 0 = not named
    pub max_output_tokens: u32,
    /// what the request needs, see the flags
    pub request_flags: u32,
    /// 0 to 23, UTC
    pub hour: u8,
    /// 0 = Sunday to 6 = Saturday, UTC
    pub weekday: u8,
    /// 1 to 12, UTC
    pub month: u8,
    /// of the month, 1 to 31, UTC
    pub day: u8,
    /// nano-USD left to the caller; the largest number = no limit
    pub budget_left_nusd: i64,
    /// the caller's organisation
    pub org: Text,
    /// the caller's team
    pub team: Text,
    /// the name of the caller's key, never the key
    pub key: Text,
    /// the model as the caller named it
    pub model: Text,
    /// names the conversation, the same for all its turns; empty = none
    pub session: Text,
    order_off: u32,
    order_count: Cell<u32>,
    error_off: u32,
    error_cap: u32,
    error_len: Cell<u32>,
    attrs_off: u32,
    refusal_status: Cell<u32>,
    refusal_retry_after_s: Cell<u32>,
    refusal_reason: Cell<u32>,
    /// calls of upstreams that the request may make
    pub attempt_budget: u32,
    /// requests left in this minute; the largest number = no limit
    pub rpm_left: u32,
    /// tokens left in this minute; the largest number = no limit
    pub tpm_left: u32,
    /// what was called: chat, completions, embeddings, messages, …
    pub endpoint: Text,
}

const _: [(); 160] = [(); core::mem::size_of::<Request>()];

/// One deployment that could serve the request.
#[repr(C)]
pub struct Candidate {
    /// place of the record, from 0; what an order is made of
    pub index: u32,
    /// what the candidate supports and is, see the flags
    pub flags: u32,
    /// why it is not in the pool, by number; 0 = it is. No policy can bring it back
    pub skipped: u32,
    /// 0 = the highest priority in this pool, then 1, …
    pub tier: u32,
    /// the larger, the earlier
    pub priority: u32,
    /// its share among equals
    pub weight: u32,
    /// tokens of input and output; may be unknown
    pub context_limit: u32,
    /// tokens of output; may be unknown
    pub max_output: u32,
    verdict: Cell<u32>,
    /// 0 closed, 1 half_open, 2 open
    pub circuit: u32,
    /// nano-USD per million tokens of input; may be unknown
    pub price_in: i64,
    /// nano-USD per million tokens of output; may be unknown
    pub price_out: i64,
    /// median time to the first token, in milliseconds; may be unknown
    pub ttft_ms: i64,
    /// median time to the whole answer, in milliseconds; may be unknown
    pub latency_p50_ms: i64,
    /// the same that 95 of 100 answers keep to; may be unknown
    pub latency_p95_ms: i64,
    /// share of requests that succeeded, in millionths; may be unknown
    pub success_ppm: i64,
    /// output, in thousandths of a token per second; may be unknown
    pub throughput_tps_milli: i64,
    /// share of its quota that is left, in millionths; may be unknown
    pub quota_left_ppm: i64,
    /// when the quota is full again; may be unknown
    pub quota_reset_unix_ms: i64,
    /// when it comes back by itself
    pub skipped_until_unix_ms: i64,
    /// requests that it is serving now
    pub in_flight: u32,
    /// requests that these figures rest on; 0 = nothing is measured
    pub samples: u32,
    /// when it last succeeded; may be unknown
    pub last_success_unix_ms: i64,
    /// of the deployment
    pub id: Text,
    /// who serves it
    pub provider: Text,
    /// the public name of the model
    pub model: Text,
    /// of the provider; empty = not known
    pub region: Text,
    /// of the provider; empty = none
    pub supply_tier: Text,
    tags_off: u32,
    reserved: u32,
    score: Cell<f64>,
    until_unix_ms: Cell<i64>,
    /// what the request is likely to cost, in nano-USD; may be unknown
    pub est_cost_nusd: i64,
    /// the provider's name of the model
    pub upstream_model: Text,
    /// 3 × price_in + price_out, as the gateway compares it: rounded once where a sale applies; may be unknown
    pub price: i64,
}

const _: [(); 224] = [(); core::mem::size_of::<Candidate>()];

// ---- made by go generate ./wasm/abi: do not edit above ----

/// The number, if anybody knows it.
pub fn known(n: i64) -> Option<i64> {
    if n == UNKNOWN {
        None
    } else {
        Some(n)
    }
}

/// The same for context_limit and max_output.
pub fn known_count(n: u32) -> Option<u32> {
    if n == UNKNOWN_COUNT {
        None
    } else {
        Some(n)
    }
}

// ---- texts ----

/// A text of the buffer. It can be used like a `&str`.
#[repr(C)]
pub struct Text {
    off: u32,
    len: u32,
}

impl core::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        // The gateway writes valid UTF-8 and its true place.
        unsafe { text(base() + self.off, self.len) }
    }
}

unsafe fn text<'a>(at: u32, len: u32) -> &'a str {
    core::str::from_utf8_unchecked(core::slice::from_raw_parts(
        at as usize as *const u8,
        len as usize,
    ))
}

/// The buffer is always at the same place, and texts are counted from there.
fn base() -> u32 {
    extern "C" {
        static __heap_base: u8; // the linker's: here the free memory begins
    }
    (unsafe { &__heap_base as *const u8 } as u32 + 15) & !15
}

/// The value of a key in a list of attributes or tags, which is sorted.
fn find<'a>(list: u32, key: &str) -> Option<&'a str> {
    if list == 0 {
        return None;
    }
    let at = (base() + list) as usize;
    let pairs: &'a [[Text; 2]] =
        unsafe { core::slice::from_raw_parts((at + 4) as *const _, *(at as *const u32) as usize) };
    let i = pairs.binary_search_by(|p| (*p[0]).cmp(key)).ok()?;
    pairs.get(i).map(|p| &*p[1])
}

impl Request {
    /// All candidates, also those that are skipped.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        let (first, size) = (
            self as *const Request as u32 + self.records_off,
            self.record_size,
        );
        (0..self.count).map(move |i| unsafe { &*((first + i * size) as usize as *const Candidate) })
    }

    /// An attribute: "tag.NAME", "header.name", "meta.NAME", "id", or "text"
    /// where the binding grants it.
    pub fn attr(&self, key: &str) -> Option<&str> {
        find(self.attrs_off, key)
    }
}

impl Candidate {
    /// The value of a tag.
    pub fn tag(&self, key: &str) -> Option<&str> {
        find(self.tags_off, key)
    }
}

// ---- answers ----

/// What a policy returns: its answer is in the buffer, or there is none.
pub type Answer = Result<(), Fail>;

/// Why there is no answer: BAD_INPUT, FAILED, or OWN and below.
pub struct Fail(pub i32);

static REMOVED: Global<i32> = Global::new(0);

impl Candidate {
    /// Removes the candidate. `reason` is 1 + an index into the manifest's
    /// reasons. Of two removals the later one counts.
    pub fn remove(&self, reason: u32) {
        if self.verdict.get() == 0 && reason != 0 {
            REMOVED.set(REMOVED.get() + 1);
        }
        self.verdict.set(reason);
        self.until_unix_ms.set(UNKNOWN);
    }

    /// Does so until an instant (1970 to 9999), which users are shown.
    pub fn remove_until(&self, reason: u32, unix_ms: i64) {
        self.remove(reason);
        self.until_unix_ms.set(unix_ms);
    }

    /// Scores the candidate: the lower, the earlier. One without a score goes
    /// behind those that have one.
    pub fn score(&self, score: f64) {
        self.score.set(score);
    }
}

impl Request {
    /// Refuses the whole request: `status` is 400, 402, 403 or 429;
    /// `retry_after_s` is when to come back, 0 = not said; `message` has at most
    /// 256 bytes.
    pub fn refuse(&self, status: u32, reason: u32, retry_after_s: u32, message: &str) {
        self.refusal_status.set(status);
        self.refusal_reason.set(reason);
        self.refusal_retry_after_s.set(retry_after_s);
        self.say(message);
    }

    /// Puts a candidate behind those that were put before it. With an order
    /// scores do not count.
    pub fn order(&self, c: &Candidate) {
        let n = self.order_count.get();
        if n < self.count {
            let at = self as *const Request as u32 + self.order_off + 4 * n;
            unsafe { *(at as usize as *mut u32) = c.index };
            self.order_count.set(n + 1);
        }
    }

    /// Says why there is no answer: `return Err(r.fail(OWN, "no table"))`.
    pub fn fail(&self, code: i32, message: &str) -> Fail {
        self.say(message);
        Fail(code)
    }

    fn say(&self, message: &str) {
        let mut n = self.error_cap.min(message.len() as u32);
        while !message.is_char_boundary(n as usize) {
            n -= 1;
        }
        let at = self as *const Request as u32 + self.error_off;
        unsafe {
            core::ptr::copy_nonoverlapping(message.as_ptr(), at as usize as *mut u8, n as usize)
        };
        self.error_len.set(n);
    }
}

/// Levels of the log.
pub const DEBUG: i32 = 0;
pub const INFO: i32 = 1;
pub const WARN: i32 = 2;
pub const ERROR: i32 = 3;

/// Writes to the gateway's log: at most 16 lines of 1 KiB for each call.
pub fn log(level: i32, message: &str) {
    #[link(wasm_import_module = "gw")]
    extern "C" {
        #[link_name = "log"]
        fn host_log(level: i32, at: *const u8, len: usize);
    }
    unsafe { host_log(level, message.as_ptr(), message.len()) }
}

/// A variable of the whole policy, for what `configure` finds.
pub struct Global<T>(Cell<T>);

unsafe impl<T> Sync for Global<T> {} // a module has one thread

impl<T: Copy> Global<T> {
    pub const fn new(value: T) -> Self {
        Global(Cell::new(value))
    }
    pub fn get(&self) -> T {
        self.0.get()
    }
    pub fn set(&self, value: T) {
        self.0.set(value)
    }
}

// ---- parameters ----
//
// The binding's parameters are a JSON object of whole numbers, texts, true,
// false, and lists of texts. A policy that has some names a function, which
// reads each of them into a variable of its own:
//
//     static MOST: Global<i64> = Global::new(0);
//     static REGIONS: Global<List> = Global::new(List::NONE);
//     fn configure(p: &Params) -> Answer {
//         MOST.set(p.int("most", 5, 0, 100));
//         REGIONS.set(p.texts("regions"));
//         Ok(())
//     }
//     configure!(configure);
//
// What is of another type, out of range or read by nobody is refused, and the
// log says which.

const PARAMS_SIZE: usize = 2048; // bytes of JSON
const PARAMS_COUNT: usize = 64; // values, with those in lists

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Int(i64),
    Bool(bool),
    Text(&'static str),
}

#[derive(Clone, Copy)]
struct Param {
    name: &'static str,
    value: Value,
    listed: bool,
    used: bool,
}

/// The parameters, while they are read.
pub struct Params {
    list: UnsafeCell<[Param; PARAMS_COUNT]>,
    count: Cell<usize>,
    wrong: Cell<Option<(&'static str, &'static str)>>, // the first: its name, what is wrong
    json: UnsafeCell<[u8; PARAMS_SIZE]>,
}

unsafe impl Sync for Params {} // a module has one thread

static PARAMS: Params = Params {
    list: UnsafeCell::new(
        [Param {
            name: "",
            value: Value::Int(0),
            listed: false,
            used: false,
        }; PARAMS_COUNT],
    ),
    count: Cell::new(0),
    wrong: Cell::new(None),
    json: UnsafeCell::new([0; PARAMS_SIZE]),
};

/// A list of texts.
#[derive(Clone, Copy)]
pub struct List {
    first: usize,
    count: usize,
}

impl List {
    pub const NONE: List = List { first: 0, count: 0 };

    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        PARAMS
            .all()
            .iter()
            .skip(self.first)
            .take(self.count)
            .map(|p| match p.value {
                Value::Text(t) => t,
                _ => "",
            })
    }
    pub fn has(&self, text: &str) -> bool {
        self.iter().any(|t| t == text)
    }
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Params {
    /// A whole number of a range; `fallback` when the binding does not name it.
    pub fn int(&self, name: &str, fallback: i64, least: i64, most: i64) -> i64 {
        match self.single(name, "is not a whole number", |v| {
            matches!(v, Value::Int(_))
        }) {
            Some(Value::Int(n)) => {
                if n < least {
                    self.blame(name, "is too small");
                } else if n > most {
                    self.blame(name, "is too large");
                }
                n
            }
            _ => fallback,
        }
    }

    pub fn bool(&self, name: &str, fallback: bool) -> bool {
        match self.single(name, "is neither true nor false", |v| {
            matches!(v, Value::Bool(_))
        }) {
            Some(Value::Bool(b)) => b,
            _ => fallback,
        }
    }

    pub fn text(&self, name: &str, fallback: &'static str) -> &'static str {
        match self.single(name, "is not a text", |v| matches!(v, Value::Text(_))) {
            Some(Value::Text(t)) => t,
            _ => fallback,
        }
    }

    /// A list of texts, or one text; empty when the binding does not name it.
    pub fn texts(&self, name: &str) -> List {
        let mut list = List::NONE;
        self.take(
            name,
            "is not a list of texts",
            |v| matches!(v, Value::Text(_)),
            |i, _| {
                if list.count == 0 {
                    list.first = i;
                }
                list.count = i + 1 - list.first;
            },
        );
        list
    }

    fn single(&self, name: &str, wanted: &'static str, fits: fn(&Value) -> bool) -> Option<Value> {
        let mut found = None;
        self.take(name, wanted, fits, |_, p| {
            if p.listed {
                self.blame(p.name, wanted);
            }
            found = found.or(Some(p.value));
        });
        found
    }

    /// Marks all values of a name as read and hands them on.
    fn take(
        &self,
        name: &str,
        wanted: &'static str,
        fits: fn(&Value) -> bool,
        mut each: impl FnMut(usize, &Param),
    ) {
        let list = unsafe { &mut *self.list.get() };
        for (i, p) in list
            .iter_mut()
            .take(self.count.get())
            .enumerate()
            .filter(|(_, p)| p.name == name)
        {
            p.used = true;
            if !fits(&p.value) {
                self.blame(p.name, wanted);
            }
            each(i, p);
        }
    }

    fn all(&self) -> &'static [Param] {
        unsafe { (*PARAMS.list.get()).get(..self.count.get()).unwrap_or(&[]) }
    }

    fn blame(&self, name: &str, what: &'static str) {
        if self.wrong.get().is_none() {
            let own = self
                .all()
                .iter()
                .find(|p| p.name == name)
                .map_or("", |p| p.name);
            self.wrong.set(Some((own, what)));
        }
    }
}

/// The reader of the JSON text, which is its own. Texts are decoded in place: what
/// they say is never longer than how it is written. The gateway has checked that
/// it is JSON.
struct Reader {
    text: &'static mut [u8],
    at: usize,
    params: &'static Params,
}

impl Reader {
    fn peek(&self) -> u8 {
        *self.text.get(self.at).unwrap_or(&0)
    }

    fn blank(&mut self) -> u8 {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.peek()
    }

    fn skip(&mut self, c: u8) -> bool {
        let is = self.blank() == c;
        self.at += is as usize;
        is
    }

    fn object(&mut self) {
        if !self.skip(b'{') {
            self.params
                .wrong
                .set(Some(("", "parameters must be an object")));
            return;
        }
        while self.blank() == b'"' && self.params.wrong.get().is_none() {
            let name = self.string();
            if self.params.all().iter().any(|p| p.name == name) {
                self.params.wrong.set(Some((name, "stands twice")));
            }
            self.skip(b':');
            match self.blank() {
                b'n' => self.at += 4, // null: as if it were not there
                b'[' => {
                    self.at += 1;
                    while !self.skip(b']') && self.peek() != 0 && self.params.wrong.get().is_none()
                    {
                        self.value(name, true);
                        self.skip(b',');
                    }
                }
                _ => self.value(name, false),
            }
            self.skip(b',');
        }
    }

    fn value(&mut self, name: &'static str, listed: bool) {
        let value = match self.peek() {
            b'"' => Value::Text(self.string()),
            b't' | b'f' => {
                let is = self.peek() == b't';
                while self.peek().is_ascii_lowercase() {
                    self.at += 1;
                }
                Value::Bool(is)
            }
            b'-' | b'0'..=b'9' => match self.number() {
                Ok(n) => Value::Int(n),
                Err(what) => return self.params.wrong.set(Some((name, what))),
            },
            _ => {
                return self.params.wrong.set(Some((
                    name,
                    "is neither a number, a text, true, false nor a list of them",
                )))
            }
        };
        let n = self.params.count.get();
        match unsafe { (*self.params.list.get()).get_mut(n) } {
            Some(p) => {
                *p = Param {
                    name,
                    value,
                    listed,
                    used: false,
                }
            }
            None => return self.params.wrong.set(Some((name, "is one value too many"))),
        }
        self.params.count.set(n + 1);
    }

    fn number(&mut self) -> Result<i64, &'static str> {
        let negative = self.skip(b'-');
        let mut n: i64 = 0;
        while self.peek().is_ascii_digit() {
            let digit = (self.peek() - b'0') as i64;
            n = n
                .checked_mul(10)
                .and_then(|n| n.checked_add(digit))
                .ok_or("is too large")?;
            self.at += 1;
        }
        match self.peek() {
            b'.' | b'e' | b'E' => Err("is not a whole number"),
            _ if negative => Ok(-n),
            _ => Ok(n),
        }
    }

    fn string(&mut self) -> &'static str {
        self.at += 1;
        let start = self.at;
        let mut end = start;
        while !matches!(self.peek(), b'"' | 0) {
            let mut c = self.next();
            if c == b'\\' {
                c = match self.next() {
                    b'u' => {
                        end = self.escape(end);
                        continue;
                    }
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 8,
                    b'f' => 12,
                    c => c,
                };
            }
            self.put(end, c);
            end += 1;
        }
        self.at += 1;
        unsafe {
            text(
                self.text.as_ptr() as u32 + start as u32,
                (end - start) as u32,
            )
        }
    }

    fn next(&mut self) -> u8 {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn put(&mut self, at: usize, c: u8) {
        if let Some(place) = self.text.get_mut(at) {
            *place = c;
        }
    }

    /// Reads what follows \u and writes it at `end`; a half of a pair that stands
    /// alone becomes U+FFFD.
    fn escape(&mut self, mut end: usize) -> usize {
        let mut v = self.hex();
        if v >> 10 == 0xd800 >> 10 && self.text.get(self.at..self.at + 2) == Some(b"\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.hex();
            if low >> 10 == 0xdc00 >> 10 {
                v = 0x10000 + ((v & 1023) << 10) + (low & 1023);
            } else {
                self.at = back;
            }
        }
        let mut bytes = [0; 4];
        for c in char::from_u32(v)
            .unwrap_or('\u{fffd}')
            .encode_utf8(&mut bytes)
            .bytes()
        {
            self.put(end, c);
            end += 1;
        }
        end
    }

    fn hex(&mut self) -> u32 {
        let mut v = 0;
        for _ in 0..4 {
            let c = self.next();
            v = v << 4 | (c as u32 & 15) + if c > b'9' { 9 } else { 0 };
        }
        v
    }
}

#[doc(hidden)]
pub fn configured(at: u32, len: u32, configure: fn(&Params) -> Answer) -> i32 {
    let json = unsafe { &mut *PARAMS.json.get() };
    let text = match json.get_mut(..len as usize) {
        Some(text) => text,
        None => {
            log(ERROR, "the parameters are too long for this policy");
            return BAD_INPUT;
        }
    };
    text.copy_from_slice(unsafe {
        core::slice::from_raw_parts(at as usize as *const u8, len as usize)
    });
    Reader {
        text,
        at: 0,
        params: &PARAMS,
    }
    .object();
    if PARAMS.wrong.get().is_none() {
        if let Err(Fail(code)) = configure(&PARAMS) {
            return code;
        }
        if let Some(p) = PARAMS.all().iter().find(|p| !p.used) {
            PARAMS.blame(p.name, "is not a parameter of this policy");
        }
    }
    let (name, what) = match PARAMS.wrong.get() {
        Some(wrong) => wrong,
        None => return OK,
    };
    let mut line = [0; 192];
    let mut n = 0;
    let gap = if name.is_empty() { "" } else { " " };
    for (place, c) in line.iter_mut().zip(
        name.bytes()
            .take(100)
            .chain(gap.bytes())
            .chain(what.bytes()),
    ) {
        *place = c;
        n += 1;
    }
    log(ERROR, unsafe { text_of(&line, n) });
    BAD_INPUT
}

unsafe fn text_of(line: &[u8], n: usize) -> &str {
    text(line.as_ptr() as u32, n as u32)
}

// ---- exports ----

/// Puts a description of the policy, JSON, into the module, so that it can be read
/// without running it.
macro_rules! manifest {
    ($json:expr) => {
        #[used]
        #[link_section = "gatewright.manifest"]
        static MANIFEST: [u8; $json.len()] = gatewright::bytes($json);
    };
}

/// Makes a function the policy's admission: `fn(&Request) -> Answer`.
#[allow(unused_macros)]
macro_rules! admission {
    ($f:path) => {
        #[no_mangle]
        pub extern "C" fn gw_admit(at: u32, len: u32) -> i32 {
            gatewright::answer(at, len, $f, gatewright::removed)
        }
    };
}

/// Makes a function the policy's ranking: `fn(&Request) -> Answer`.
#[allow(unused_macros)]
macro_rules! ranking {
    ($f:path) => {
        #[no_mangle]
        pub extern "C" fn gw_rank(at: u32, len: u32) -> i32 {
            gatewright::answer(at, len, $f, gatewright::ordered)
        }
    };
}

/// Makes a function the reader of the parameters: `fn(&Params) -> Answer`.
#[allow(unused_macros)]
macro_rules! configure {
    ($f:path) => {
        #[no_mangle]
        pub extern "C" fn gw_configure(at: u32, len: u32) -> i32 {
            gatewright::configured(at, len, $f)
        }
    };
}

#[doc(hidden)]
pub const fn bytes<const N: usize>(text: &str) -> [u8; N] {
    let mut list = [0; N];
    let mut i = 0;
    while i < N {
        list[i] = text.as_bytes()[i];
        i += 1;
    }
    list
}

#[doc(hidden)]
pub fn answer(
    at: u32,
    len: u32,
    decide: fn(&Request) -> Answer,
    count: fn(&Request) -> i32,
) -> i32 {
    if (len as usize) < core::mem::size_of::<Request>() {
        return BAD_INPUT;
    }
    let r = unsafe { &*(at as usize as *const Request) };
    if r.magic != MAGIC {
        return BAD_INPUT;
    }
    if r.abi >> 16 != ABI_VERSION >> 16 {
        return BAD_VERSION;
    }
    if r.count > MAX_RECORDS || (r.record_size as usize) < core::mem::size_of::<Candidate>() {
        return BAD_INPUT;
    }
    if r.records_off > len || (len - r.records_off) / r.record_size < r.count {
        return BAD_INPUT;
    }
    REMOVED.set(0);
    match decide(r) {
        Ok(()) => count(r),
        Err(Fail(code)) => code,
    }
}

#[doc(hidden)]
pub fn removed(_: &Request) -> i32 {
    REMOVED.get()
}

#[doc(hidden)]
pub fn ordered(r: &Request) -> i32 {
    r.order_count.get() as i32
}

#[no_mangle]
pub extern "C" fn gw_abi_version() -> u32 {
    ABI_VERSION
}

/// Gives the gateway the memory behind the static data, more of it when it needs
/// more.
#[no_mangle]
pub extern "C" fn gw_alloc(size: u32) -> u32 {
    let (base, have) = (base(), (core::arch::wasm32::memory_size(0) as u32) << 16);
    let end = match base.checked_add(size) {
        Some(end) => end,
        None => return 0,
    };
    if end > have
        && core::arch::wasm32::memory_grow(0, ((end - have - 1 >> 16) + 1) as usize) == usize::MAX
    {
        return 0;
    }
    base
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
