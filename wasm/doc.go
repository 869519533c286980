// Package wasm is the sandbox in which users' policies run: bytes in, a verified
// answer out, bounded in memory and instructions. It does not know what a request
// is for, who made it or what becomes of the answer.
//
// A [Runtime] is one trust domain. [Runtime.Load] takes the bytes of a module
// through every step that must come before it may run (the structure check, the
// engine's own validation, the instruction budget, compiling, a probe) in one
// background worker, and returns a [Module]: a pool of instances that are made
// ahead. A call borrows one, and gives it back as it was before the call: memory
// and globals are put back, so nothing of one request reaches the next. An
// instance that faulted is closed, and another is made in the background.
//
// What went wrong with a policy is a [*Fault]; what was wrong with its bytes is a
// [*LoadError]. Nothing here writes files but the engine's cache of compiled
// code, and nothing blocks on the network.
//
// Read load.go for the steps, then module.go and call.go for what happens to a
// request.
package wasm
