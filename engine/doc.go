// Package engine walks one request through Gatewright: it resolves the model
// name, lets admission decide who may serve and ordering decide who is tried
// first, keeps the law between the two, and hands the plan to an executor.
//
//	model name ──resolve──▶ pool ──admission──▶ admitted ──ordering──▶ Plan ──▶ Executor
//	                              removes only            permutes only      │
//	                                                ▲                        │ Fallback(class)
//	                                                └────────────────────────┘
//
// It is rules and records only: standard library, no I/O, no clock and no
// randomness of its own. Time and seed come with the Request, what is known of
// each deployment comes from a SignalSource, and calls are made by an Executor.
//
// Read engine.go first (the whole walk), then admission.go, ordering.go and
// law.go.
package engine
