// Package conform tests policies before they are uploaded. It runs the tests that
// stand beside a policy in Rego, in OPA's own evaluator and in the compiled form
// in the sandbox, as the gateway runs it. And it examines Wasm modules: it asks
// them some hundred times, names the clauses of the contract that they break
// (package wasm/abi has the list) and says what they cost.
//
// Nothing here touches a running gateway, and no configuration is read. Read
// conform.go for Rego; for modules exam.go, then question.go for what they are
// asked.
package conform
