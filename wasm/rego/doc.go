// Package rego turns a policy in Rego into a Wasm module, judges it before it
// may run, and evaluates it natively where that is asked for.
//
// What lives here: [Compile], from source or an OPA bundle to a [Module]; the
// frozen dialect (which built-ins exist, where they run, which never do); the
// analysis that finds what a policy reads and where an undefined value would
// turn a refusal into a permission; the built-ins that the host serves,
// [Builtin]; the answer that a policy gives, [Answer]; [Native], the same policy
// in OPA's own evaluator, to explain and to compare; [Test], which runs
// `_test.rego` files.
//
// What never lives here: a Wasm engine, an engine of the gateway, a clock, a
// file, a socket. A policy is never evaluated in part: that can take the
// process with it.
//
// # Why so strict
//
// A compiled policy has no strict mode. A misspelt field, a wrong type, a
// built-in that fails: each makes the rule around it undefined, and a `deny`
// that is undefined allows. So nothing of the kind may be left when a policy
// runs. The types of all values are followed from the contract's input through
// every rule and function; a built-in that can still fail on a value runs at
// the host, where a failure is a fault; and a test that fails silently when a
// value is absent is refused with a way to write it. hazard.go has the list.
//
// Read compile.go first, then infer.go for the analysis and answer.go for what
// a policy may say.
package rego
