// Package builtin lists the rules in Go that come with Gatewright: the checks
// of admission, the sort keys of ordering, the strategies made of those keys,
// and the constructor of combos, the strategies that users compose.
//
// Here are tables and data only. A rule's code is in builtin/admission or
// builtin/ordering; the two stages and the law between them are in package
// engine; rules that users write are none of this package's business. Nothing
// registers itself: what is not in a table here does not exist.
//
// Read builtin.go first, then combo.go.
package builtin
