// Package health knows the state of each deployment now, keyed by deployment
// id: its circuit, its cooldown, what is running on it, how it did over the last
// 24 hours, and what is left of its provider's quotas. The engine reads it before
// it plans ([Tracker.Signals]); the dispatcher reports every call
// ([Tracker.Begin], [Call.Answered], [Call.Committed], [Call.End]). It outlives
// reloads, and through tables of bytes also restarts.
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
// deployment that has served needs about 13 KiB and, when it is busy all day,
// some 20 KiB more; 470 KiB is the most that any traffic can make of it. One
// that never served needs less than 1 KiB.
//
//   - Time to first token: streams give the wait for the first content, answers
//     that are not streamed their whole time, which is when their first token
//     arrives. The two are kept apart and never mixed in one pool: Signals takes
//     the kind that is known of more candidates, streams when it is equal. So
//     routing by latency works for callers who never stream, and a deployment is
//     not slow for having answered in whole.
//   - Latency: the time until the whole answer was there, of every answer that was
//     good, streamed or not: its median, and what 95 of 100 answers keep to. Counting
//     tokens, fetching what is stored and starting work in the background are no
//     answers in this sense.
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
// # Quotas
//
// Quota windows come from two sides. Nothing is ever asked for: both are by-products
// of calls that were made anyway.
//
//   - Reported: the rate-limit headers of every answer, good or bad
//     (quota_header.go). Makers limit each model by itself, so what an answer says
//     holds for the provider and the upstream model that were called; only the
//     windows of an Anthropic subscription (5h, 7d) are of the whole account. A
//     model that shares its limit with another is not told of by the other's
//     answer: that errs to the side of calling. A window counts for 10 minutes
//     after the answer that told of it.
//   - Counted: the windows of the configuration ([Tracker.Configure]), for the
//     models that they cover. The first call that counts opens one, and it ends a
//     period later, to the nanosecond, whatever the calendar says. Requests are
//     those that the upstream took up: it answered with a status of success, and
//     with something else than a rate limit. Tokens and costs are those of the usage
//     that is known, of failed calls too. Calls count when they end, so those that
//     run while a window fills up may go beyond it. These windows never grow old.
//
// What is handed out is one immutable [engine.Quota] for a deployment, kept until
// a window of it changes or grows old. Its TakenAt is that of the oldest window in
// it, or within a second of now when windows are counted here: then the reported
// ones have passed the same 10 minutes here.
//
// # Time
//
// Instants are read as distances from the start of the process, so with a
// monotonic clock a step of the wall clock moves nothing. Tables keep absolute
// instants. Where a clock runs backwards (a restart with a clock that was set
// back, or a clock without a monotonic reading), a circuit or a cooldown lasts
// at most its original length from there on.
//
// An upstream that tells of a reset as a time on the clock is taken to have the
// same clock. A window that is counted lasts, like a circuit, at most its length
// from a clock that was set back.
//
// What never lives here: which deployment to try, what a failure means, calls
// to upstreams, requests for prices or quotas, files.
//
// Read circuit.go first, then call.go; of quotas quota.go, then quota_view.go.
package health
