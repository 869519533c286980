// Package ordering holds the built-in sort keys: the rules in Go that give each
// candidate a value to be ordered by. One file and one test file a key.
//
// A key writes one number per candidate, in the unit that its type documents,
// and NaN for what is not known; combos write tolerances, enough and max in
// that unit. It neither adds nor removes, and it does not sort: bands, missing
// values and the draw are the engine's. Keys keep no state, read no clock, do
// no I/O and allocate nothing.
//
// The table of all keys, and the strategies made of them, are in package
// builtin. Read price.go first for the shape of a key, then quota.go for what a
// quota snapshot says.
package ordering
