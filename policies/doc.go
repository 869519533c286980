// Package policies is the room of rules that users write, in Rego or as Wasm
// modules: what turns one into an engine.Check or an engine.SortKey, whom it
// serves, and its life from draft to active.
//
//	upload ─▶ Library.Judge ─▶ a Version in a State (draft, shadow, canary, active)
//	                                  │  and Bindings: whom it serves, and how
//	                                  ▼
//	         Library.Rules ─▶ gate (every admission) and score (a ranking), for one
//	                          snapshot of the engine
//	                                  │  a request
//	                                  ▼
//	         fill ─▶ program (guest: the contract's ABI; rule: Rego) ─▶ verdict
//
// A [State] is data that is never changed: each step of a life makes a new one,
// and whoever owns it stores it and has rules made of it. What a policy answers is
// read by the contract and applied by the engine's law; a fault of it becomes what
// its binding says, is counted, and suspends it when there are too many. The
// policies of one request share their input: the desk of a snapshot fills it once for
// each pool.
//
// What never lives here: HTTP, files, the store, and the sandbox itself. Read
// state.go for the life, then rules.go, gate.go and score.go for what a request
// meets, and desk.go for what they share.
package policies
