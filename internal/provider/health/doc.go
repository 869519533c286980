// Package health knows the state of each deployment now, keyed by deployment
// id: its circuit, its cooldown, what is running on it, and how it did over the
// last 24 hours. The engine reads it before it plans ([Tracker.Signals]); the
// dispatcher reports every call ([Tracker.Begin], [Call.Committed],
// [Call.End]). It outlives reloads, and through tables of bytes also restarts.
//
//	           failures in a row reach the threshold
//	closed ───────────────────────────────────────────▶ open ◀──────────────┐
//	   ▲                                                  │ its time is over │ probe fails:
//	   │                 probe succeeds                   ▼                  │ doubled time
//	   └────────────────────────────────────────────── half-open ────────────┘
//
// # Circuits
//
// The run of failures belongs to the deployment; the retry policy of the call
// whose failure is counted says whether the circuit opens, and for how long.
// Half-open lets one call through at a time, the probe. Three kinds of outcome
// are no evidence and change nothing: those that are not the upstream's doing
// (cancelled, the caller's error), a rate limit with its own end (it cools down
// instead), and outcomes of calls that began before the circuit last changed.
// The last rule works both ways. A late failure must not extend or double a
// circuit that opened meanwhile. A late success does not close it either: it
// tells that the upstream was well when that call got through, which is before
// the failures that opened the circuit; a stream that began an hour ago would
// otherwise close, with its last chunk, the circuit of an upstream that refuses
// every new call. Only a call that began after the opening tells: the probe, or
// one that the dispatcher was entitled to make ([Tracker.Repeat],
// [Tracker.BeginPinned]).
//
// A stream decides its probe with its first content, because it may run for an
// hour; any other call only counts as a success when it has ended well, so that
// an upstream that breaks every stream in the middle does open its circuit.
//
// # Statistics
//
// The window is the current quarter of an hour and the 95 before it. Each holds
// histograms whose cells grow by 10 %, so a median is within 5 % of the truth. A
// deployment that has served needs about 12 KiB and, when it is busy all day,
// some 20 KiB more; 350 KiB is the most that any traffic can make of it. One
// that never served needs less than 1 KiB.
//
//   - Time to first token: streams give the wait for the first content, answers
//     that are not streamed their whole time, which is when their first token
//     arrives. The two are kept apart and never mixed in one pool: Signals takes
//     the kind that is known of more candidates, streams when it is equal. So
//     routing by latency works for callers who never stream, and a deployment is
//     not slow for having answered in whole.
//   - Throughput: output tokens per second after the first content, of answers
//     with known usage and at least 16 output tokens. Over the whole duration when
//     the answer was not streamed, when it holds reasoning tokens (nobody knows
//     whether they came before the first content), and when the upstream sent it
//     all at once in the end.
//   - Reliability: successes / (successes + failures of the upstream). A 429 is a
//     failure here with or without Retry-After: the call was not served. Errors of
//     the caller, refusals of content and disconnects are in no denominator.
//   - Tokens of the current minute: input and output of whatever ended in this
//     minute of the clock (UTC), for any outcome whose usage is known.
//
// # Time
//
// Instants are read as distances from the start of the process, so with a
// monotonic clock a step of the wall clock moves nothing. Tables keep absolute
// instants. Where a clock runs backwards (a restart with a clock that was set
// back, or a clock without a monotonic reading), a circuit or a cooldown lasts
// at most its original length from there on.
//
// What never lives here: which deployment to try, what a failure means, calls
// to upstreams, prices, quota readings, files.
//
// Read circuit.go first, then call.go.
package health
