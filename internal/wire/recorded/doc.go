// Package recorded reads the recorded answers of real services in testdata/wire
// and what a right reader makes of each, cuts them as networks do, and reads what
// a client was given as plain clients of each protocol read. It is for tests, of
// several packages and of the built binary; no package of the product imports it.
// And it imports no package of the product: what it wants of an answer does not
// depend on how the gateway reads one.
//
// Never here: how an answer is served, which is each test's own, and the details of
// one protocol alone, which the tests of its package read from the index themselves.
//
// Read index.go first (the files), then answer.go (an answer and its right
// reading), judge.go (what a client may see of it), ask.go and reading.go (how clients
// ask and read).
package recorded
