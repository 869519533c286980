// Package conform tests policies before they are uploaded: it runs the tests that
// stand beside a policy in Rego, in OPA's own evaluator and in the compiled form
// in the sandbox, as the gateway runs it.
//
// Nothing here touches a running gateway, and no configuration is read. Read
// conform.go.
package conform
