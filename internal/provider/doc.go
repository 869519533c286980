// Package provider runs plans. The [Dispatcher] is the engine's Executor: it
// calls the deployments of a plan, and of its fallbacks, until one has served,
// and brings that answer to the client. An [Adapter] speaks the protocol of one
// kind of upstream; each has a package of its own below this one.
//
//	Execute ─▶ walk: which candidate, again, next, fallback, last resort
//	             └─▶ attempt: one call, its limits of time, its record, its outcome
//	                   ├─▶ Adapter.Do: HTTP, decoding, the caller's protocol
//	                   └─▶ pump: a stream is held, committed, passed on, ended
//
// What lives here: waiting, holding, failing over, keeping a silent stream
// alive, the budget of repeats, the mapping of failures to what the caller
// sees, and the HTTP plumbing that adapters share ([Client], [Body],
// [RetryAfter], the lists of headers that may pass).
//
// What never does: a protocol's text (that is in the adapters and in the wire
// packages), the choice of a deployment (engine), circuits and cooldowns
// (health).
//
// # Limits of time
//
// A stream must show its first content within the deployment's first_token, or
// else the retry policy's timeout, counted from the start of the call. An
// answer that is not streamed must be there, whole, within answer. Both end at
// the request's deadline too; a call that ends for that reason alone counts
// against nobody, because a caller with a short deadline must not open circuits
// for others. After the commit only silence is bounded: idle between two
// events. A comment of the upstream is no event, before the commit and after
// it: it shows that a connection lives, not that an answer grows. Time that a
// slow client takes is not the upstream's. A body that is no stream of events
// (sound, say) must begin within answer, and is then bounded by silence like a
// stream; nothing is put between its pieces. After the last finish reason the end
// of the stream is awaited for one second and then supplied.
//
// Read dispatcher.go first, then walk.go, attempt.go and stream.go.
package provider
