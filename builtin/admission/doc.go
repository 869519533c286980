// Package admission holds the built-in checks: the rules in Go that decide who
// may serve a request. One file and one test file a rule; the type's name is
// the reason that it gives.
//
// A check reads the request and the candidates and removes; it never orders,
// waits, keeps state, reads a clock or does I/O. What is not known removes
// nobody. Every check judges each candidate on its own, whatever other checks
// said: which of several reasons is named is the engine's business. As long as
// nobody is removed a check allocates nothing.
//
// The table of all checks, in the order that they run, is in package builtin.
// Read disabled.go first for the shape of a rule, then detail.go for how it
// explains itself.
package admission
